// SPDX-License-Identifier: GPL-2.0
/*
 * Execution of requests between loopback peers: each is checked as a whole, copied and
 * completed at both ends, in the order of posting.
 *
 * Errors end the connection as over TCP: the end that detects one reports it to the
 * peer. So a request that the responder refuses completes successfully, as over the
 * wire, except for an RDMA Read.
 */
#include "queue/queue.h"
#include "stream/stream.h"
#include "internal.h"

/* Cost of a request without payload, as bytes of the budget. */
#define IWP_LOOPBACK_REQUEST_COST	1024

static bool iwp_send_receives(const struct iwp_send *send)
{
	return send->opcode == SIW_OP_SEND ||
	       send->opcode == SIW_OP_SEND_REMOTE_INV;
}

/* The requester's memory. */
static void iwp_loopback_set_local(struct iwp_loopback_dir *dir, struct iwp_send *send)
{
	bool inlined = send->flags & SIW_WQE_INLINE;

	dir->local = (struct iwp_sgl) {
		.pd = dir->from->ibqp.pd,
		.sge = inlined ? &dir->inlined : send->sge,
		.num_sge = send->num_sge,
		.access = iwp_send_reads(send) ? IB_ACCESS_LOCAL_WRITE : 0,
		.allow_no_stag = inlined || iwp_qp_kernel(dir->from),
	};
	dir->inlined.laddr = (uintptr_t)&send->sge[1];
	dir->inlined.length = send->length;
}

/* The responder's memory: what the request names, or a receive request. */
static void iwp_loopback_set_remote(struct iwp_loopback_dir *dir, const struct iwp_send *send)
{
	const struct iwp_qp *qp = dir->to;

	dir->remote = (struct iwp_sgl) {
		.pd = qp->ibqp.pd,
		.sge = &dir->range,
		.num_sge = 1,
		.access = iwp_send_reads(send) ? IB_ACCESS_REMOTE_READ :
						 IB_ACCESS_REMOTE_WRITE,
	};
	dir->range.laddr = send->raddr;
	dir->range.length = send->length;
	dir->range.lkey = send->rkey;
	if (!iwp_send_receives(send))
		return;
	dir->remote.pd = iwp_rq_pd(qp);
	dir->remote.sge = qp->rx.rqe.sge;
	dir->remote.num_sge = qp->rx.rqe.num_sge;
	dir->remote.access = IB_ACCESS_LOCAL_WRITE;
	dir->remote.allow_no_stag = iwp_qp_kernel(qp);
}

/**
 * struct iwp_loopback_move - destination of a copy
 * @to: memory that is written
 * @at: offset in it
 * @err: why access failed
 */
struct iwp_loopback_move {
	const struct iwp_sgl *to;
	u32 at;
	enum iwp_mem_err err;
};

static int iwp_loopback_move_bytes(void *ctx, void *to, size_t len)
{
	const u8 **from = ctx;

	iwp_copy(to, *from, len);
	*from += len;
	return 0;
}

/* Holds the locks of two regions, or of one twice: for reading only. */
static int iwp_loopback_move_span(void *ctx, void *span, size_t len)
{
	struct iwp_loopback_move *move = ctx;
	const u8 *from = span;

	if (!move->err)
		move->err = iwp_sgl_walk(move->to, move->at, len,
					 iwp_loopback_move_bytes, &from);
	move->at += len;
	return move->err ? -EFAULT : 0;
}

/* The request is done. */
static void iwp_loopback_request_done(struct iwp_loopback_dir *dir, struct iwp_send *send,
				      enum siw_wc_status status)
{
	dir->started = false;
	dir->at = 0;
	send->end = 0;
	send->status = status;
	send->state = IWP_SEND_DONE;
	dir->from->sq.next++;
	iwp_sq_reap(dir->from, 0);
}

/* Returns false, as all functions that end the connection. */
static bool iwp_loopback_fail_local(struct iwp_loopback_dir *dir, struct iwp_send *send,
				    enum siw_wc_status status)
{
	iwp_loopback_request_done(dir, send, status);
	iwp_loopback_fail(dir, dir->from, IWARP_E_RDMAP_LOCAL);
	return false;
}

static bool iwp_loopback_fail_remote(struct iwp_loopback_dir *dir, struct iwp_send *send,
				     enum iwarp_error error)
{
	if (!iwp_send_reads(send))
		iwp_loopback_request_done(dir, send, SIW_WC_SUCCESS);
	iwp_loopback_fail(dir, dir->to, error);
	return false;
}

/* The receive request does not fit the message. */
static bool iwp_loopback_fail_recv(struct iwp_loopback_dir *dir, struct iwp_send *send,
				   enum siw_wc_status status, enum iwarp_error error)
{
	dir->to->rx.status = status;
	return iwp_loopback_fail_remote(dir, send, error);
}

static bool iwp_loopback_local_error(struct iwp_loopback_dir *dir, struct iwp_send *send)
{
	return iwp_loopback_fail_local(dir, send, SIW_WC_LOC_PROT_ERR);
}

static bool iwp_loopback_remote_error(struct iwp_loopback_dir *dir, struct iwp_send *send,
				      enum iwp_mem_err err)
{
	if (iwp_send_receives(send))
		return iwp_loopback_fail_recv(dir, send, SIW_WC_LOC_PROT_ERR,
					      IWARP_E_DDP_LOCAL);
	return iwp_loopback_fail_remote(dir, send, iwp_send_reads(send) ?
					iwp_tx_read_error(err) : iwp_tagged_error(err));
}

/* If the responder holds, the request stays in the send queue. */
static bool iwp_loopback_wait_rqe(struct iwp_loopback_dir *dir)
{
	struct iwp_qp *qp = dir->to;

	WRITE_ONCE(dir->wait_rqe, true);
	/* Pairs with iwp_post_recv(): it sees wait_rqe, or we see its request. */
	smp_mb();
	if (!iwp_rx_take_rqe(qp)) {
		iwp_hold_start_poll(qp);
		return false;
	}
	WRITE_ONCE(dir->wait_rqe, false);
	return true;
}

static bool iwp_loopback_take_rqe(struct iwp_loopback_dir *dir, struct iwp_send *send)
{
	if (iwp_rx_take_rqe(dir->to)) {
		WRITE_ONCE(dir->wait_rqe, false);
		return true;
	}
	if (dir->to->rx.hold.enabled)
		return iwp_loopback_wait_rqe(dir);
	return iwp_loopback_fail_remote(dir, send, IWARP_E_UNTAGGED_NOBUF);
}

static bool iwp_loopback_begin_recv(struct iwp_loopback_dir *dir,
				    struct iwp_send *send)
{
	if (!iwp_loopback_take_rqe(dir, send))
		return false;
	return send->length <= dir->to->rx.rqe_len ||
	       iwp_loopback_fail_recv(dir, send, SIW_WC_LOC_LEN_ERR,
				      IWARP_E_UNTAGGED_LONG);
}

/* All memory must be accessible before any of it is touched. */
static bool iwp_loopback_check(struct iwp_loopback_dir *dir, struct iwp_send *send)
{
	enum iwp_mem_err err;

	iwp_loopback_set_local(dir, send);
	if (iwp_sgl_check(&dir->local, send->length))
		return iwp_loopback_local_error(dir, send);
	if (iwp_send_receives(send) && !iwp_loopback_begin_recv(dir, send))
		return false;
	iwp_loopback_set_remote(dir, send);
	err = iwp_sgl_check(&dir->remote, send->length);
	return !err || iwp_loopback_remote_error(dir, send, err);
}

/* As over TCP, user space cannot receive immediate data. */
static bool iwp_loopback_no_imm(const struct iwp_loopback_dir *dir,
				const struct iwp_send *send)
{
	return send->opcode == IWP_OP_WRITE_WITH_IMM &&
	       !iwp_qp_kernel(dir->to);
}

static bool iwp_loopback_begin(struct iwp_loopback_dir *dir, struct iwp_send *send)
{
	struct iwp_qp *qp = dir->from;

	if (send->status)
		return iwp_loopback_fail_local(dir, send, send->status);
	if (iwp_loopback_no_imm(dir, send))
		return iwp_loopback_fail_remote(dir, send, IWARP_E_OP_OPCODE);
	if (iwp_send_is_local(send)) {
		if (iwp_send_exec_local(qp, send))
			return iwp_loopback_local_error(dir, send);
	} else if (iwp_send_reads(send) && !qp->tx.stream.ord.max) {
		return iwp_loopback_fail_local(dir, send, SIW_WC_LOC_QP_OP_ERR);
	} else if (!iwp_loopback_check(dir, send)) {
		return false;
	}
	dir->started = true;
	return true;
}

/* Checks again: a region may have been invalidated meanwhile. */
static bool iwp_loopback_copy(struct iwp_loopback_dir *dir, struct iwp_send *send,
			      u32 len)
{
	bool reads = iwp_send_reads(send);
	struct iwp_loopback_move move = {
		.to = reads ? &dir->local : &dir->remote,
		.at = dir->at,
	};
	enum iwp_mem_err err, local, remote;

	if (!len)
		return true;
	err = iwp_sgl_walk(reads ? &dir->remote : &dir->local, dir->at, len,
			   iwp_loopback_move_span, &move);
	local = reads ? move.err : err;
	remote = reads ? err : move.err;
	if (local)
		return iwp_loopback_local_error(dir, send);
	if (remote)
		return iwp_loopback_remote_error(dir, send, remote);
	dir->at += len;
	return true;
}

static bool iwp_loopback_recv_done(struct iwp_loopback_dir *dir,
				   const struct iwp_send *send, u8 flags, u64 value)
{
	bool solicited = send->flags & SIW_WQE_SOLICITED;

	iwp_rx_complete(dir->to, solicited ? IWARP_SEND_SE : IWARP_SEND,
			SIW_WC_SUCCESS, send->length, flags, value);
	return true;
}

/* Returns whether the request is complete. */
static bool iwp_loopback_finish(struct iwp_loopback_dir *dir, struct iwp_send *send)
{
	switch (send->opcode) {
	case SIW_OP_SEND:
		return iwp_loopback_recv_done(dir, send, 0, 0);
	case SIW_OP_SEND_REMOTE_INV:
		if (iwp_mem_invalidate(dir->to->ibqp.pd, send->rkey, true))
			return iwp_loopback_fail_recv(dir, send,
						      SIW_WC_REM_INV_REQ_ERR,
						      IWARP_E_PROT_INVALIDATE);
		return iwp_loopback_recv_done(dir, send, SIW_WQE_REM_INVAL,
					      send->rkey);
	case SIW_OP_READ_LOCAL_INV:
		return !iwp_mem_invalidate(dir->from->ibqp.pd,
					   send->sge[0].lkey, false) ||
		       iwp_loopback_local_error(dir, send);
	case IWP_OP_WRITE_WITH_IMM:
		return iwp_loopback_take_rqe(dir, send) &&
		       iwp_loopback_recv_done(dir, send, IWP_CQE_IMM,
					      be32_to_cpu(send->imm));
	default:
		return true;
	}
}

static void iwp_loopback_count(const struct iwp_loopback_dir *dir,
			       const struct iwp_send *send)
{
	if (iwp_send_is_local(send))
		return;
	iwp_count(dir->from->dev, IWP_STAT_LOCAL_REQUESTS, 1);
	iwp_count(dir->from->dev, IWP_STAT_LOCAL_BYTES, send->length);
}

/**
 * iwp_loopback_execute() - execute the oldest request, or a chunk of it
 * @dir: direction that is usable
 * @budget: bytes that may be copied; decreased by what was
 *
 * Context: the direction's tasklet, or in its place.
 * Return: enum iwp_loopback_next.
 */
enum iwp_loopback_next iwp_loopback_execute(struct iwp_loopback_dir *dir, u32 *budget)
{
	struct iwp_send *send = iwp_sq_next(dir->from);
	u32 len;

	if (!send)
		return IWP_LOOPBACK_STOP;
	if (*budget < IWP_LOOPBACK_REQUEST_COST)
		return IWP_LOOPBACK_RESCHED;
	if (!dir->started && !iwp_loopback_begin(dir, send))
		return IWP_LOOPBACK_STOP;
	len = min3(send->length - dir->at, *budget, (u32)IWP_LOOPBACK_CHUNK);
	if (!iwp_loopback_copy(dir, send, len))
		return IWP_LOOPBACK_STOP;
	*budget -= min(max(len, (u32)IWP_LOOPBACK_REQUEST_COST), *budget);
	if (dir->at < send->length)
		return IWP_LOOPBACK_CONTINUE;
	if (!iwp_loopback_finish(dir, send))
		return IWP_LOOPBACK_STOP;
	iwp_loopback_count(dir, send);
	iwp_loopback_request_done(dir, send, SIW_WC_SUCCESS);
	return IWP_LOOPBACK_CONTINUE;
}
