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

/* What the call has made. */
static void *made;

static long call_alloc_pd(struct scene *s)
{
	(void)s;
	made = ibv_alloc_pd(ctx);
	return made ? 0 : -1;
}

static void after_alloc_pd(struct scene *s, long ret)
{
	if (ret < 0)
		CHECK_OK(call_alloc_pd(s));
	CHECK_EQ(ibv_dealloc_pd(made), 0);
}

static void alloc_pd(void)
{
	static const struct op op = { .call = call_alloc_pd, .after = after_alloc_pd };

	begin();
	CHECK(inject_each(&op));
	end();
}

static long call_create_cq(struct scene *s)
{
	(void)s;
	made = ibv_create_cq(ctx, ENTRIES, NULL, NULL, 0);
	return made ? 0 : -1;
}

static void after_create_cq(struct scene *s, long ret)
{
	if (ret < 0)
		CHECK_OK(call_create_cq(s));
	CHECK_EQ(ibv_destroy_cq(made), 0);
}

static void create_cq(void)
{
	static const struct op op = { .call = call_create_cq, .after = after_create_cq };

	begin();
	CHECK(inject_each(&op));
	end();
}

static long call_reg_mr(struct scene *s)
{
	(void)s;
	made = ibv_reg_mr(pd, mem, LEN, IBV_ACCESS_LOCAL_WRITE);
	return made ? 0 : -1;
}

static void after_reg_mr(struct scene *s, long ret)
{
	if (ret < 0)
		CHECK_OK(call_reg_mr(s));
	CHECK_EQ(ibv_dereg_mr(made), 0);
}

static void reg_mr(void)
{
	static const struct op op = { .call = call_reg_mr, .after = after_reg_mr };

	begin();
	CHECK(inject_each(&op));
	end();
}

static long call_create_qp(struct scene *s)
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

	(void)s;
	made = ibv_create_qp(pd, &attr);
	return made ? 0 : -1;
}

static void after_create_qp(struct scene *s, long ret)
{
	if (ret < 0)
		CHECK_OK(call_create_qp(s));
	CHECK_EQ(ibv_destroy_qp(made), 0);
}

static void create_qp(void)
{
	static const struct op op = { .call = call_create_qp, .after = after_create_qp };

	begin();
	CHECK(inject_each(&op));
	end();
}

static long call_create_srq(struct scene *s)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = ENTRIES, .max_sge = 1 } };

	(void)s;
	made = ibv_create_srq(pd, &attr);
	return made ? 0 : -1;
}

static void after_create_srq(struct scene *s, long ret)
{
	if (ret < 0)
		CHECK_OK(call_create_srq(s));
	CHECK_EQ(ibv_destroy_srq(made), 0);
}

static void create_srq(void)
{
	static const struct op op = { .call = call_create_srq, .after = after_create_srq };

	begin();
	CHECK(inject_each(&op));
	end();
}

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
