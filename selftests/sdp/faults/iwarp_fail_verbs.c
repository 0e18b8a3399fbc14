// SPDX-License-Identifier: GPL-2.0
/*
 * A process's objects of our own iWARP devices, with each fault that making them may meet,
 * one at a time: the call fails with an errno that says so, the same call works then, and
 * nothing of the failed one is left when the device is closed.  Needs root, and a kernel
 * that injects faults.
 */
#define _GNU_SOURCE
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "sdp_inject.h"
#include "sdp_transfer.h"

#define ENTRIES	64
#define LEN	(256 * KIB)

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static unsigned char *mem;

static struct ibv_context *open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *found = NULL;
	int i;

	CHECK(list);
	for (i = 0; list[i] && !found; i++)
		if (!strncmp(ibv_get_device_name(list[i]), "iwarp", 5))
			found = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	if (!found)
		sdp_skip("the devices are not those of iwarp.ko");
	return found;
}

static void begin(void)
{
	ctx = open_device();
	pd = ibv_alloc_pd(ctx);
	cq = ibv_create_cq(ctx, ENTRIES, NULL, NULL, 0);
	CHECK(pd && cq);
	mem = memory(LEN, 0);
}

static void end(void)
{
	CHECK_EQ(ibv_destroy_cq(cq), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
	munmap(mem, LEN);
}

/**
 * struct kind - a kind of object
 * @create: makes one; NULL and errno if it fails
 * @destroy: its end; 0, or an errno
 */
struct kind {
	void *(*create)(void);
	int (*destroy)(void *object);
};

static const struct kind *kind;
static void *made;

static long call_create(struct scene *s)
{
	(void)s;
	made = kind->create();
	return made ? 0 : -1;
}

static void after_create(struct scene *s, long ret)
{
	if (ret < 0)
		CHECK_OK(call_create(s));
	CHECK_EQ(kind->destroy(made), 0);
}

static void try_kind(const struct kind *wanted)
{
	static const struct op op = { .call = call_create, .after = after_create };

	begin();
	kind = wanted;
	CHECK(inject_each(&op));
	end();
}

static void *new_pd(void)
{
	return ibv_alloc_pd(ctx);
}

static void *new_cq(void)
{
	return ibv_create_cq(ctx, ENTRIES, NULL, NULL, 0);
}

static void *new_mr(void)
{
	return ibv_reg_mr(pd, mem, LEN, IBV_ACCESS_LOCAL_WRITE);
}

static void *new_qp(void)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {
			.max_send_wr = ENTRIES,
			.max_recv_wr = ENTRIES,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.qp_type = IBV_QPT_RC,
	};

	return ibv_create_qp(pd, &attr);
}

static void *new_srq(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = ENTRIES, .max_sge = 1 } };

	return ibv_create_srq(pd, &attr);
}

#define CREATES(name, create, type, destroy)				\
static int end_of_##name(void *object)					\
{									\
	return destroy((type *)object);					\
}									\
									\
static void name(void)							\
{									\
	static const struct kind its = { create, end_of_##name };	\
									\
	try_kind(&its);							\
}

CREATES(alloc_pd, new_pd, struct ibv_pd, ibv_dealloc_pd)
CREATES(create_cq, new_cq, struct ibv_cq, ibv_destroy_cq)
CREATES(reg_mr, new_mr, struct ibv_mr, ibv_dereg_mr)
CREATES(create_qp, new_qp, struct ibv_qp, ibv_destroy_qp)
CREATES(create_srq, new_srq, struct ibv_srq, ibv_destroy_srq)

static const struct sdp_case cases[] = {
	CASE(alloc_pd, CASE_LONG),
	CASE(create_cq, CASE_LONG),
	CASE(reg_mr, CASE_LONG),
	CASE(create_qp, CASE_LONG),
	CASE(create_srq, CASE_LONG),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
