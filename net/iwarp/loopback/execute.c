// SPDX-License-Identifier: GPL-2.0
/*
 * Requests between queue pairs that are joined: each is checked as a whole,
 * copied, and reported at both ends, in the order in which they were posted.
 *
 * What is wrong ends as it does on the wire: who finds out tells the peer.  So
 * a request that the peer refuses has completed, as the wire's would have, but
 * for one to read.
 */
#include "queue/queue.h"
#include "stream/stream.h"
#include "internal.h"

/* What a request costs without its bytes, in bytes. */
#define IWP_LOCAL_REQUEST	1024

static bool iwp_send_receives(const struct iwp_send *send)
{
	return send->opcode == SIW_OP_SEND ||
	       send->opcode == SIW_OP_SEND_REMOTE_INV;
}

/* Memory of him who posted the request. */
static void iwp_lane_set_own(struct iwp_lane *lane, struct iwp_send *send)
{
	bool inlined = send->flags & SIW_WQE_INLINE;

	lane->own = (struct iwp_pieces) {
		.pd = lane->from->ibqp.pd,
		.sge = inlined ? &lane->inlined : send->sge,
		.num_sge = send->num_sge,
		.access = iwp_send_reads(send) ? IB_ACCESS_LOCAL_WRITE : 0,
		.unnamed = inlined || iwp_qp_kernel(lane->from),
	};
	lane->inlined.laddr = (uintptr_t)&send->sge[1];
	lane->inlined.length = send->length;
}

/* Memory of the peer: what the request names, or what takes a message. */
static void iwp_lane_set_far(struct iwp_lane *lane, const struct iwp_send *send)
{
	const struct iwp_qp *qp = lane->to;

	lane->far = (struct iwp_pieces) {
		.pd = qp->ibqp.pd,
		.sge = &lane->range,
		.num_sge = 1,
		.access = iwp_send_reads(send) ? IB_ACCESS_REMOTE_READ :
						 IB_ACCESS_REMOTE_WRITE,
	};
	lane->range.laddr = send->raddr;
	lane->range.length = send->length;
	lane->range.lkey = send->rkey;
	if (!iwp_send_receives(send))
		return;
	lane->far.sge = qp->rx.rqe.sge;
	lane->far.num_sge = qp->rx.rqe.num_sge;
	lane->far.access = IB_ACCESS_LOCAL_WRITE;
	lane->far.unnamed = iwp_qp_kernel(qp);
}

/**
 * struct iwp_move - a copy that is under way
 * @to: memory that is written
 * @at: where in it
 * @err: what is wrong with it
 */
struct iwp_move {
	const struct iwp_pieces *to;
	u32 at;
	enum iwp_mem_err err;
};

static int iwp_move_bytes(void *ctx, void *to, size_t len)
{
	const u8 **from = ctx;

	iwp_copy(to, *from, len);
	*from += len;
	return 0;
}

/* The locks of two regions are held here, or one twice: only for reading. */
static int iwp_move_span(void *ctx, void *span, size_t len)
{
	struct iwp_move *move = ctx;
	const u8 *from = span;

	if (!move->err)
		move->err = iwp_pieces_walk(move->to, move->at, len,
					    iwp_move_bytes, &from);
	move->at += len;
	return move->err ? -EFAULT : 0;
}

/* The request has left the queue. */
static void iwp_lane_done(struct iwp_lane *lane, struct iwp_send *send,
			  enum siw_wc_status status)
{
	lane->begun = false;
	lane->at = 0;
	send->end = 0;
	send->status = status;
	send->state = IWP_SEND_DONE;
	lane->from->sq.next++;
	iwp_sq_reap(lane->from, 0);
}

/* Returns false, as all does that ends a connection. */
static bool iwp_lane_reject(struct iwp_lane *lane, struct iwp_send *send,
			    enum siw_wc_status status)
{
	iwp_lane_done(lane, send, status);
	iwp_local_fail(lane, lane->from, IWARP_E_RDMAP_LOCAL);
	return false;
}

static bool iwp_lane_refuse(struct iwp_lane *lane, struct iwp_send *send,
			    enum iwarp_error error)
{
	if (!iwp_send_reads(send))
		iwp_lane_done(lane, send, SIW_WC_SUCCESS);
	iwp_local_fail(lane, lane->to, error);
	return false;
}

/* A receive request cannot take what came. */
static bool iwp_lane_spoil(struct iwp_lane *lane, struct iwp_send *send,
			   enum siw_wc_status status, enum iwarp_error error)
{
	lane->to->rx.status = status;
	return iwp_lane_refuse(lane, send, error);
}

static bool iwp_lane_own_error(struct iwp_lane *lane, struct iwp_send *send)
{
	return iwp_lane_reject(lane, send, SIW_WC_LOC_PROT_ERR);
}

static bool iwp_lane_far_error(struct iwp_lane *lane, struct iwp_send *send,
			       enum iwp_mem_err err)
{
	if (iwp_send_receives(send))
		return iwp_lane_spoil(lane, send, SIW_WC_LOC_PROT_ERR,
				      IWARP_E_DDP_LOCAL);
	return iwp_lane_refuse(lane, send, iwp_send_reads(send) ?
			       iwp_tx_read_error(err) : iwp_tagged_error(err));
}

/* A receiver that holds has the request wait where it is. */
static bool iwp_lane_starve(struct iwp_lane *lane)
{
	struct iwp_qp *qp = lane->to;

	WRITE_ONCE(lane->starved, true);
	/* Who posts sees that, or we see what he posted. */
	smp_mb();
	if (!iwp_rx_take_rqe(qp)) {
		iwp_hold_look_later(qp);
		return false;
	}
	WRITE_ONCE(lane->starved, false);
	return true;
}

static bool iwp_lane_take_rqe(struct iwp_lane *lane, struct iwp_send *send)
{
	if (iwp_rx_take_rqe(lane->to)) {
		WRITE_ONCE(lane->starved, false);
		return true;
	}
	if (lane->to->rx.hold.on)
		return iwp_lane_starve(lane);
	return iwp_lane_refuse(lane, send, IWARP_E_UNTAGGED_NOBUF);
}

static bool iwp_lane_begin_receive(struct iwp_lane *lane,
				   struct iwp_send *send)
{
	if (!iwp_lane_take_rqe(lane, send))
		return false;
	return send->length <= lane->to->rx.rqe_len ||
	       iwp_lane_spoil(lane, send, SIW_WC_LOC_LEN_ERR,
			      IWARP_E_UNTAGGED_LONG);
}

/* All of the memory has to be accessible, or none is touched. */
static bool iwp_lane_check(struct iwp_lane *lane, struct iwp_send *send)
{
	enum iwp_mem_err err;

	iwp_lane_set_own(lane, send);
	if (iwp_pieces_check(&lane->own, send->length))
		return iwp_lane_own_error(lane, send);
	if (iwp_send_receives(send) && !iwp_lane_begin_receive(lane, send))
		return false;
	iwp_lane_set_far(lane, send);
	err = iwp_pieces_check(&lane->far, send->length);
	return !err || iwp_lane_far_error(lane, send, err);
}

/* As on the wire a process does not get immediate data. */
static bool iwp_lane_speechless(const struct iwp_lane *lane,
				const struct iwp_send *send)
{
	return send->opcode == IWP_OP_WRITE_WITH_IMM &&
	       !iwp_qp_kernel(lane->to);
}

static bool iwp_lane_begin(struct iwp_lane *lane, struct iwp_send *send)
{
	struct iwp_qp *qp = lane->from;

	if (send->status)
		return iwp_lane_reject(lane, send, send->status);
	if (iwp_lane_speechless(lane, send))
		return iwp_lane_refuse(lane, send, IWARP_E_OP_OPCODE);
	if (iwp_send_is_here(send)) {
		if (iwp_send_here(qp, send))
			return iwp_lane_own_error(lane, send);
	} else if (iwp_send_reads(send) && !qp->tx.stream.ord.max) {
		return iwp_lane_reject(lane, send, SIW_WC_LOC_QP_OP_ERR);
	} else if (!iwp_lane_check(lane, send)) {
		return false;
	}
	lane->begun = true;
	return true;
}

/* A region may have become invalid since it was checked. */
static bool iwp_lane_copy(struct iwp_lane *lane, struct iwp_send *send,
			  u32 len)
{
	bool reads = iwp_send_reads(send);
	struct iwp_move move = {
		.to = reads ? &lane->own : &lane->far,
		.at = lane->at,
	};
	enum iwp_mem_err err, own, far;

	if (!len)
		return true;
	err = iwp_pieces_walk(reads ? &lane->far : &lane->own, lane->at, len,
			      iwp_move_span, &move);
	own = reads ? move.err : err;
	far = reads ? err : move.err;
	if (own)
		return iwp_lane_own_error(lane, send);
	if (far)
		return iwp_lane_far_error(lane, send, far);
	lane->at += len;
	return true;
}

static bool iwp_lane_received(struct iwp_lane *lane,
			      const struct iwp_send *send, u8 flags, u64 value)
{
	bool solicited = send->flags & SIW_WQE_SOLICITED;

	iwp_rx_complete(lane->to, solicited ? IWARP_SEND_SE : IWARP_SEND,
			SIW_WC_SUCCESS, send->length, flags, value);
	return true;
}

/* Returns whether the request has done all that it is for. */
static bool iwp_lane_end(struct iwp_lane *lane, struct iwp_send *send)
{
	switch (send->opcode) {
	case SIW_OP_SEND:
		return iwp_lane_received(lane, send, 0, 0);
	case SIW_OP_SEND_REMOTE_INV:
		if (iwp_mem_invalidate(lane->to->ibqp.pd, send->rkey, true))
			return iwp_lane_spoil(lane, send,
					      SIW_WC_REM_INV_REQ_ERR,
					      IWARP_E_PROT_INVALIDATE);
		return iwp_lane_received(lane, send, SIW_WQE_REM_INVAL,
					 send->rkey);
	case SIW_OP_READ_LOCAL_INV:
		return !iwp_mem_invalidate(lane->from->ibqp.pd,
					   send->sge[0].lkey, false) ||
		       iwp_lane_own_error(lane, send);
	case IWP_OP_WRITE_WITH_IMM:
		return iwp_lane_take_rqe(lane, send) &&
		       iwp_lane_received(lane, send, IWP_CQE_IMM,
					 be32_to_cpu(send->imm));
	default:
		return true;
	}
}

static void iwp_lane_count(const struct iwp_lane *lane,
			   const struct iwp_send *send)
{
	if (iwp_send_is_here(send))
		return;
	iwp_count(lane->from->dev, IWP_STAT_LOCAL_REQUESTS, 1);
	iwp_count(lane->from->dev, IWP_STAT_LOCAL_BYTES, send->length);
}

/**
 * iwp_lane_execute() - execute the oldest request, or a part of it
 * @lane: which is usable
 * @budget: bytes that may be copied; lessened by what was
 *
 * Context: the lane's tasklet, or in its place.
 * Return: how it goes on.
 */
enum iwp_lane_next iwp_lane_execute(struct iwp_lane *lane, u32 *budget)
{
	struct iwp_send *send = iwp_sq_next(lane->from);
	u32 len;

	if (!send)
		return IWP_LANE_STOP;
	if (*budget < IWP_LOCAL_REQUEST)
		return IWP_LANE_MORE;
	if (!lane->begun && !iwp_lane_begin(lane, send))
		return IWP_LANE_STOP;
	len = min3(send->length - lane->at, *budget, (u32)IWP_LOCAL_PIECE);
	if (!iwp_lane_copy(lane, send, len))
		return IWP_LANE_STOP;
	*budget -= min(max(len, (u32)IWP_LOCAL_REQUEST), *budget);
	if (lane->at < send->length)
		return IWP_LANE_DONE;
	if (!iwp_lane_end(lane, send))
		return IWP_LANE_STOP;
	iwp_lane_count(lane, send);
	iwp_lane_done(lane, send, SIW_WC_SUCCESS);
	return IWP_LANE_DONE;
}
