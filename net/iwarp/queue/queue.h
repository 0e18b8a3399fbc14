/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Completion queues.
 */
#ifndef _IWP_CQ_H
#define _IWP_CQ_H

#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>
#include <rdma/siw-abi.h>

#include "mem/mem.h"

/* Operations of kernel users that the shared layout has no number for. */
enum iwp_opcode {
	IWP_OP_WRITE_WITH_IMM = SIW_NUM_OPCODES,
	IWP_OP_RECEIVE_IMM,
	IWP_NUM_OPCODES
};

/* In the flags of a completion for a kernel user: immediate data is there. */
#define IWP_CQE_IMM		BIT(7)

/**
 * struct iwp_cq - a completion queue
 * @ibcq: what the RDMA core knows; first, as the core allocates it
 * @lock: orders those who put completions, and kernel users who take them
 * @queue: memory
 * @ring: the elements in it
 * @ctrl: behind them: what the user wants to be told
 * @size: how many elements
 * @put: where the next completion goes, not wrapped
 * @get: where a kernel user takes the next, not wrapped
 * @lost: a completion found no room, which has been reported; under @lock
 */
struct iwp_cq {
	struct ib_cq ibcq;
	spinlock_t lock; /* of put and get */
	struct iwp_queue queue;
	struct siw_cqe *ring;
	struct siw_cq_ctrl *ctrl;
	u32 size;
	u32 put;
	u32 get;
	bool lost;
};

static inline struct iwp_cq *iwp_cq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct iwp_cq, ibcq);
}

/**
 * struct iwp_completion - what a completion says
 * @id: the user's name for the request
 * @opcode: enum siw_opcode or enum iwp_opcode
 * @status: enum siw_wc_status
 * @bytes: received or read
 * @flags: SIW_WQE_REM_INVAL or IWP_CQE_IMM
 * @stag: that the peer has had invalidated
 * @imm: immediate data
 * @solicited: the peer asked for an event
 */
struct iwp_completion {
	u64 id;
	u8 opcode;
	u8 status;
	u8 flags;
	bool solicited;
	u32 bytes;
	u32 stag;
	__be32 imm;
};

bool iwp_cq_put(struct iwp_cq *cq, struct ib_qp *ibqp,
		const struct iwp_completion *done);

int iwp_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		  struct sdp_create_cq_attrs *attrs);
int iwp_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int iwp_poll_cq(struct ib_cq *ibcq, int max, struct ib_wc *wc);
int iwp_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);

#endif /* _IWP_CQ_H */
