// SPDX-License-Identifier: GPL-2.0
/*
 * Send and receive queues: requests are taken by the transmit and receive paths,
 * completed in order, and flushed in the error state.
 *
 * User space can change its requests at any time. They are copied once, and only the
 * copy is used.
 */
#include "queue.h"

/* Keeps only the wr_id, for an error completion. */
static void iwp_send_set_invalid(struct iwp_send *send)
{
	send->opcode = SIW_OP_SEND;
	send->num_sge = 0;
	send->status = SIW_WC_LOC_QP_OP_ERR;
}

static bool iwp_send_valid(const struct iwp_send *send, u8 max_sge)
{
	switch (send->opcode) {
	case SIW_OP_WRITE:
	case SIW_OP_READ:
	case SIW_OP_SEND:
	case SIW_OP_SEND_REMOTE_INV:
		break;
	default:
		return false;
	}
	if (send->flags & SIW_WQE_INLINE)
		return send->opcode != SIW_OP_READ && send->sge[0].length <= SIW_MAX_INLINE;
	return send->num_sge <= max_sge;
}

/* Returns false if the sum exceeds the maximum message length. */
static bool iwp_send_sum(struct iwp_send *send)
{
	u64 length = 0;
	u8 i;

	for (i = 0; i < send->num_sge; i++)
		length += send->sge[i].length;
	send->length = length;
	return length <= S32_MAX;
}

/*
 * An inline request of siw's library has one element, followed by the data, of however many
 * elements that was made. Each field is read once.
 */
static void iwp_send_import(struct iwp_qp *qp, struct iwp_send *send,
			    const struct siw_sqe *sqe, u16 flags)
{
	u8 num_sge, i;

	memset(send, 0, offsetof(struct iwp_send, sge));
	send->id = READ_ONCE(sqe->id);
	send->opcode = READ_ONCE(sqe->opcode);
	send->flags = flags;
	send->num_sge = flags & SIW_WQE_INLINE ? 1 : READ_ONCE(sqe->num_sge);
	send->rkey = READ_ONCE(sqe->rkey);
	send->raddr = READ_ONCE(sqe->raddr);
	num_sge = flags & SIW_WQE_INLINE ?
			  SIW_MAX_SGE : min_t(u8, send->num_sge, SIW_MAX_SGE);
	for (i = 0; i < num_sge; i++)
		send->sge[i] = sqe->sge[i];
	if (!iwp_send_valid(send, qp->sq.max_sge) || !iwp_send_sum(send))
		iwp_send_set_invalid(send);
}

/* Copies one request of user space to the kernel's ring. */
static bool iwp_sq_import(struct iwp_qp *qp)
{
	struct iwp_sq *sq = &qp->sq;
	struct siw_sqe *ring = sq->shared.mem;
	struct siw_sqe *sqe = &ring[sq->shared_get & (sq->size - 1)];
	u16 flags;

	if (sq->put - READ_ONCE(sq->done) == sq->size)
		return false;
	flags = iwp_flags_load(&sqe->flags);
	if (!(flags & SIW_WQE_VALID))
		return false;
	iwp_send_import(qp, &sq->ring[sq->put & (sq->size - 1)], sqe, flags);
	iwp_flags_store(&sqe->flags, 0);
	sq->shared_get++;
	iwp_index_store(&sq->put, sq->put + 1);
	return true;
}

/**
 * iwp_sq_next() - get the first request that is not started
 * @qp: queue pair
 *
 * Context: socket lock held; with loopback, in the outgoing direction's tasklet or its
 * place.
 * Return: the request, still in the queue, or NULL.
 */
struct iwp_send *iwp_sq_next(struct iwp_qp *qp)
{
	struct iwp_sq *sq = &qp->sq;

	if (sq->next == iwp_index_load(&sq->put) &&
	    (!sq->shared.mem || !iwp_sq_import(qp)))
		return NULL;
	return &sq->ring[sq->next & (sq->size - 1)];
}

/* Results are lost in an overrun, so all queue pairs of the completion queue fail. */
static void iwp_complete(struct iwp_qp *qp, struct ib_cq *ibcq,
			 const struct iwp_completion *done)
{
	if (!iwp_cq_put(iwp_cq(ibcq), &qp->ibqp, done))
		iwp_qp_fail(qp, IWARP_E_RDMAP_LOCAL);
}

/* Removes the oldest request, with a completion if signaled or failed. */
static void iwp_sq_pop(struct iwp_qp *qp, enum siw_wc_status status)
{
	struct iwp_sq *sq = &qp->sq;
	struct iwp_send *send = &sq->ring[sq->done & (sq->size - 1)];
	struct iwp_completion done = {
		.id = send->id,
		.opcode = send->opcode,
		.status = status,
		.bytes = iwp_send_reads(send) ? send->length : 0,
	};
	bool report = sq->sig_all || send->flags & SIW_WQE_SIGNALLED || status;

	iwp_index_store(&sq->done, sq->done + 1);
	if (report)
		iwp_complete(qp, qp->ibqp.send_cq, &done);
}

/**
 * iwp_sq_reap() - complete finished send requests
 * @qp: queue pair
 * @acked: stream position that the peer's TCP has acknowledged
 *
 * A request completes after all before it, and not before the peer's TCP has
 * acknowledged its last byte.
 *
 * Context: as iwp_sq_next(), state not %IWP_QP_ERROR.
 */
void iwp_sq_reap(struct iwp_qp *qp, u64 acked)
{
	struct iwp_sq *sq = &qp->sq;

	while (sq->done != sq->next) {
		struct iwp_send *send = &sq->ring[sq->done & (sq->size - 1)];

		if (send->state != IWP_SEND_DONE || send->end > acked ||
		    send->status)
			return;
		iwp_sq_pop(qp, SIW_WC_SUCCESS);
	}
}

/* From user space takes at most as many as the queue has entries, so that it ends. */
static void iwp_sq_flush_all(struct iwp_qp *qp)
{
	struct iwp_sq *sq = &qp->sq;
	u32 left = sq->shared.mem ? sq->size : 0;

	WARN_ON_ONCE(!test_bit(0, &sq->flushing));
	for (;;) {
		struct iwp_send *send;

		if (left && iwp_sq_import(qp))
			left--;
		if (sq->done == iwp_index_load(&sq->put))
			return;
		send = &sq->ring[sq->done & (sq->size - 1)];
		iwp_sq_pop(qp, send->status ? send->status :
					      SIW_WC_WR_FLUSH_ERR);
	}
}

static bool iwp_sq_empty(struct iwp_qp *qp)
{
	return READ_ONCE(qp->sq.done) == READ_ONCE(qp->sq.put);
}

/**
 * iwp_sq_flush() - flush all send requests
 * @qp: queue pair in the error state; nothing is being sent any more
 *
 * Posting in this state calls it, too. If a flush is running, it checks the
 * queue again before it ends, and finds the caller's request. What user space posts
 * meanwhile is flushed later, see qp/flush_poll.c.
 *
 * Context: any.
 */
void iwp_sq_flush(struct iwp_qp *qp)
{
	do {
		if (test_and_set_bit_lock(0, &qp->sq.flushing))
			return;
		iwp_sq_flush_all(qp);
		clear_bit_unlock(0, &qp->sq.flushing);
		/* A poster that found the bit set has posted before. */
		smp_mb__after_atomic();
	} while (!iwp_sq_empty(qp));
}

/* A copy, as user space may change what is in the ring. */
static bool iwp_rq_copy(const struct iwp_rq *rq, u32 ahead, struct siw_rqe *rqe)
{
	const struct siw_rqe *slot;

	if (ahead >= rq->size)
		return false;
	slot = &rq->ring[(rq->get + ahead) & (rq->size - 1)];
	if (!(iwp_flags_load(&slot->flags) & SIW_WQE_VALID))
		return false;
	*rqe = *slot;
	rqe->num_sge = min_t(u8, READ_ONCE(slot->num_sge), rq->max_sge);
	return true;
}

/**
 * iwp_rq_peek() - copy a receive request without taking it
 * @qp: queue pair
 * @ahead: number of requests to be taken before
 * @rqe: filled in with a copy
 *
 * User space may still change the request, so what depends on its contents must be
 * checked again when it is taken.
 *
 * Context: socket lock held, or flushing.
 * Return: false if it is not posted yet, or nobody knows who will take it, as the queue
 * is shared.
 */
bool iwp_rq_peek(struct iwp_qp *qp, u32 ahead, struct siw_rqe *rqe)
{
	return iwp_rq_copy(&qp->rq, ahead, rqe);
}

/**
 * iwp_rq_take_own() - take the next request of a queue that the caller has for itself
 * @rq: receive queue
 * @rqe: filled in with a copy
 *
 * Context: as iwp_rq_take() if the queue is a queue pair's; its lock held if it is
 * shared.
 * Return: false if there is none.
 */
bool iwp_rq_take_own(struct iwp_rq *rq, struct siw_rqe *rqe)
{
	if (!iwp_rq_copy(rq, 0, rqe))
		return false;
	iwp_flags_store(&rq->ring[rq->get & (rq->size - 1)].flags, 0);
	rq->get++;
	return true;
}

/**
 * iwp_rq_take() - take the next receive request, from the queue pair's queue or from
 * the one that it shares
 * @qp: queue pair
 * @rqe: filled in with a copy
 *
 * Context: socket lock held, or flushing; with loopback, in the incoming direction's
 * tasklet or its place.
 * Return: false if there is none.
 */
bool iwp_rq_take(struct iwp_qp *qp, struct siw_rqe *rqe)
{
	return qp->srq ? iwp_srq_take(qp->srq, rqe) : iwp_rq_take_own(&qp->rq, rqe);
}

/**
 * iwp_rq_complete() - complete a receive request
 * @qp: queue pair
 * @done: completion
 *
 * Context: any.
 */
void iwp_rq_complete(struct iwp_qp *qp, const struct iwp_completion *done)
{
	iwp_complete(qp, qp->ibqp.recv_cq, done);
}

/* At most as many as the queue has entries, as iwp_sq_flush_all(). */
static void iwp_rq_flush_all(struct iwp_qp *qp)
{
	u32 left = qp->rq.size;
	struct siw_rqe rqe;

	WARN_ON_ONCE(!test_bit(0, &qp->rq.flushing));
	for (; left && iwp_rq_take_own(&qp->rq, &rqe); left--) {
		struct iwp_completion done = {
			.id = rqe.id,
			.opcode = SIW_OP_RECEIVE,
			.status = SIW_WC_WR_FLUSH_ERR,
		};

		iwp_rq_complete(qp, &done);
	}
}

/**
 * iwp_rq_empty() - whether there is no receive request of the queue pair's own
 * @qp: queue pair
 *
 * Context: any.
 */
bool iwp_rq_empty(struct iwp_qp *qp)
{
	struct iwp_rq *rq = &qp->rq;
	u32 get = READ_ONCE(rq->get);

	return !rq->size ||
	       !(READ_ONCE(rq->ring[get & (rq->size - 1)].flags) &
		 SIW_WQE_VALID);
}

/**
 * iwp_rq_flush() - flush all receive requests, but not those that others may take
 * @qp: queue pair in the error state; nothing is being received any more
 *
 * See iwp_sq_flush().
 *
 * Context: any.
 */
void iwp_rq_flush(struct iwp_qp *qp)
{
	if (qp->srq) {
		iwp_srq_leave(qp);
		return;
	}
	do {
		if (test_and_set_bit_lock(0, &qp->rq.flushing))
			return;
		iwp_rq_flush_all(qp);
		clear_bit_unlock(0, &qp->rq.flushing);
		/* A poster that found the bit set has posted before. */
		smp_mb__after_atomic();
	} while (iwp_qp_kernel(qp) && !iwp_rq_empty(qp));
}
