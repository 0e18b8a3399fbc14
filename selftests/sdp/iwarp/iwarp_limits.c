// SPDX-License-Identifier: GPL-2.0
/*
 * What a device says that it can do at most is what a queue pair may have, and no more
 * of any of it; requests beyond what a message may be, or a connection has agreed on; and
 * calls that leave no room for what it answers, as the library's never do. Needs root, and
 * our own iWARP devices.
 */
#define _GNU_SOURCE
#include <rdma/ib_user_verbs.h>
#include <rdma/siw-abi.h>
#include <unistd.h>

#include "iwarp_end.h"

static struct ibv_qp *new_qp(const struct iwarp_end *e, struct ibv_qp_cap cap)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = e->scq,
		.recv_cq = e->rcq,
		.cap = cap,
		.qp_type = IBV_QPT_RC,
	};

	return ibv_create_qp(e->pd, &attr);
}

static void refused(const struct iwarp_end *e, struct ibv_qp_cap cap)
{
	CHECK(!new_qp(e, cap));
	CHECK_EQ(errno, EINVAL);
}

static void one_too_many(const struct iwarp_end *e, struct ibv_qp_cap most)
{
	struct ibv_qp_cap cap;
	uint32_t *const each[] = {
		&cap.max_send_wr, &cap.max_recv_wr, &cap.max_send_sge, &cap.max_recv_sge,
		&cap.max_inline_data,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(each); i++) {
		cap = most;
		(*each[i])++;
		refused(e, cap);
	}
}

static void of_a_queue_pair(void)
{
	struct ibv_device_attr attr;
	struct ibv_qp_cap most = { 0 };
	struct iwarp_pair p;
	struct ibv_qp *qp;

	iwarp_join(false);
	iwarp_pair_open(&p);
	CHECK_EQ(ibv_query_device(p.client.id->verbs, &attr), 0);
	most.max_send_wr = attr.max_qp_wr;
	most.max_recv_wr = attr.max_qp_wr;
	most.max_send_sge = attr.max_sge;
	most.max_recv_sge = attr.max_sge;
	most.max_inline_data = SIW_MAX_INLINE;
	qp = new_qp(&p.client, most);
	CHECK(qp);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	one_too_many(&p.client, most);
	iwarp_pair_close(&p);
}

/* ---- requests that are not executed ---- */

static void both_ways(void (*run)(struct iwarp_end *e))
{
	struct iwarp_pair p;
	int i;

	for (i = 0; i < 2; i++) {
		iwarp_join(i);
		iwarp_pair_open(&p);
		run(&p.client);
		iwarp_wait_disconnected(&p.server);
		iwarp_pair_close(&p);
	}
}

static void read_unasked(struct iwarp_end *e)
{
	CHECK_EQ(iwarp_read(e, 0, 1, e->mr->rkey, iwarp_address(e, 0)), 0);
	iwarp_expect(e->scq, IBV_WC_LOC_QP_OP_ERR);
}

/* No more reads at a time than were agreed on. */
static void of_reads(void)
{
	iwarp_read_depth(0);
	both_ways(read_unasked);
}

/* Two pieces that are one too many for 31 bits. */
static void send_too_much(struct iwarp_end *e)
{
	struct ibv_sge half = { iwarp_address(e, 0), 1U << 30, e->mr->lkey };
	struct ibv_sge sge[] = { half, half };
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND,
		.sg_list = sge,
		.num_sge = 2,
	};

	CHECK_EQ(ibv_post_send(e->id->qp, &wr, &bad), 0);
	iwarp_expect(e->scq, IBV_WC_LOC_QP_OP_ERR);
}

static void of_a_message(void)
{
	both_ways(send_too_much);
}

/* ---- calls without room for what the provider says ---- */

/* The call begins with a header, and has so many bytes; those of the answer are the core's. */
static void refused_call(const struct iwarp_end *e, uint32_t command, void *call, size_t len,
			 size_t answer)
{
	*(struct ib_uverbs_cmd_hdr *)call = (struct ib_uverbs_cmd_hdr){
		command, len / sizeof(uint32_t), answer / sizeof(uint32_t)
	};
	CHECK_ERR(write(e->id->verbs->cmd_fd, call, len), EINVAL);
}

static void no_room_for_a_queue(const struct iwarp_end *e)
{
	struct ib_uverbs_create_cq_resp answer;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_cq cmd;
	} call = {
		.cmd = { .response = (uintptr_t)&answer, .cqe = 1, .comp_channel = -1 },
	};

	refused_call(e, IB_USER_VERBS_CMD_CREATE_CQ, &call, sizeof(call), sizeof(answer));
}

static void no_room_for_a_queue_pair(const struct iwarp_end *e)
{
	struct ib_uverbs_create_qp_resp answer;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_qp cmd;
	} call = {
		.cmd = {
			.response = (uintptr_t)&answer,
			.pd_handle = e->pd->handle,
			.send_cq_handle = e->scq->handle,
			.recv_cq_handle = e->rcq->handle,
			.max_send_wr = 1,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.qp_type = IBV_QPT_RC,
		},
	};

	refused_call(e, IB_USER_VERBS_CMD_CREATE_QP, &call, sizeof(call), sizeof(answer));
}

/* The call has so many bytes: with what our provider wants to know, or without. */
static void no_room_for_a_region(const struct iwarp_end *e, size_t told)
{
	struct ib_uverbs_reg_mr_resp answer;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_reg_mr cmd;
		struct siw_ureq_reg_mr ours;
	} call = {
		.cmd = {
			.response = (uintptr_t)&answer,
			.start = (uintptr_t)e->mem,
			.length = 1,
			.hca_va = (uintptr_t)e->mem,
			.pd_handle = e->pd->handle,
		},
	};

	refused_call(e, IB_USER_VERBS_CMD_REG_MR, &call, told, sizeof(answer));
}

static void of_an_answer(void)
{
	struct iwarp_pair p;

	iwarp_join(false);
	iwarp_pair_open(&p);
	no_room_for_a_queue(&p.client);
	no_room_for_a_queue_pair(&p.client);
	no_room_for_a_region(&p.client, sizeof(struct ib_uverbs_cmd_hdr) +
			     sizeof(struct ib_uverbs_reg_mr));
	no_room_for_a_region(&p.client, sizeof(struct ib_uverbs_cmd_hdr) +
			     sizeof(struct ib_uverbs_reg_mr) + sizeof(struct siw_ureq_reg_mr));
	iwarp_pair_close(&p);
}

static const struct sdp_case cases[] = {
	CASE(of_a_queue_pair, 0),
	CASE(of_reads, 0),
	CASE(of_a_message, 0),
	CASE(of_an_answer, 0),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
