// SPDX-License-Identifier: GPL-2.0
/* A shared receive queue, on the servers' device, and memory for its requests. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <stdlib.h>
#include <unistd.h>

#include "iwarp_share.h"

#define WORDS(type)	(sizeof(type) / sizeof(uint32_t))

static struct ibv_context *device(const struct iwarp_share *s)
{
	return s->at.id->verbs;
}

/* Who is bound to an address has its device open, as all in this process. */
static void device_open(struct iwarp_share *s)
{
	struct addr addr = server_addr(0);

	iwarp_channel(&s->at);
	CHECK_OK(rdma_create_id(s->at.channel, &s->at.id, NULL, RDMA_PS_TCP));
	CHECK_OK(rdma_bind_addr(s->at.id, &addr.sa));
	CHECK(device(s));
	CHECK_OK(fcntl(device(s)->async_fd, F_SETFL, O_NONBLOCK));
}

void share_open(struct iwarp_share *s, uint32_t wrs, uint32_t sges)
{
	struct ibv_srq_init_attr init = {
		.attr = {
			.max_wr = wrs,
			.max_sge = sges,
		},
	};

	memset(s, 0, sizeof(*s));
	device_open(s);
	s->pd = ibv_alloc_pd(device(s));
	CHECK(s->pd);
	s->mem = calloc(SHARE_SLOTS, SHARE_SLOT);
	CHECK(s->mem);
	s->mr = ibv_reg_mr(s->pd, s->mem, SHARE_SLOTS * SHARE_SLOT, IBV_ACCESS_LOCAL_WRITE);
	CHECK(s->mr);
	s->srq = ibv_create_srq(s->pd, &init);
	if (!s->srq)
		FAIL("no shared receive queue: %s", strerrorname_np(errno));
	iwarp_servers_share(s->srq);
}

void share_close(struct iwarp_share *s)
{
	iwarp_servers_share(NULL);
	CHECK_EQ(ibv_destroy_srq(s->srq), 0);
	CHECK_EQ(ibv_dereg_mr(s->mr), 0);
	CHECK_EQ(ibv_dealloc_pd(s->pd), 0);
	CHECK_OK(rdma_destroy_id(s->at.id));
	rdma_destroy_event_channel(s->at.channel);
	free(s->mem);
}

unsigned char *share_slot(const struct iwarp_share *s, uint64_t slot)
{
	CHECK(slot < SHARE_SLOTS);
	return s->mem + slot * SHARE_SLOT;
}

int share_post(struct iwarp_share *s, uint64_t slot, size_t len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)share_slot(s, slot),
		.length = len,
		.lkey = s->mr->lkey,
	};
	struct ibv_recv_wr *bad, wr = {
		.wr_id = slot,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return ibv_post_srq_recv(s->srq, &wr, &bad);
}

void share_post_first(struct iwarp_share *s, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		CHECK_EQ(share_post(s, i, SHARE_SLOT), 0);
}

int share_arm(struct iwarp_share *s, uint32_t limit)
{
	struct ibv_srq_attr attr = { .srq_limit = limit };

	return ibv_modify_srq(s->srq, &attr, IBV_SRQ_LIMIT);
}

struct ibv_srq_attr share_query(const struct iwarp_share *s)
{
	struct ib_uverbs_query_srq_resp answer = { 0 };
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_query_srq cmd;
	} call = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_QUERY_SRQ,
			.in_words = WORDS(call),
			.out_words = WORDS(answer),
		},
		.cmd = {
			.response = (uintptr_t)&answer,
			.srq_handle = s->srq->handle,
		},
	};

	CHECK_EQ(write(device(s)->cmd_fd, &call, sizeof(call)), sizeof(call));
	return (struct ibv_srq_attr){
		.max_wr = answer.max_wr,
		.max_sge = answer.max_sge,
		.srq_limit = answer.srq_limit,
	};
}

unsigned int share_events(struct iwarp_share *s, enum ibv_event_type type)
{
	struct ibv_async_event event;

	while (!ibv_get_async_event(device(s), &event)) {
		CHECK(event.event_type < SHARE_EVENTS);
		s->events[event.event_type]++;
		s->object[event.event_type] = event.element.srq;
		ibv_ack_async_event(&event);
	}
	CHECK_EQ(errno, EAGAIN);
	return s->events[type];
}
