// SPDX-License-Identifier: GPL-2.0
/* Posting of work requests by kernel consumers, and the doorbell of user space. */
#include <linux/error-injection.h>

#include "mem/mem.h"
#include "queue/queue.h"
#include "stream/stream.h"
#include "loopback/loopback.h"
#include "verbs.h"

static int iwp_post_sges(struct iwp_send *send, const struct ib_send_wr *wr,
			 u8 max_sge)
{
	u64 length = 0;
	int i;

	if (wr->num_sge > max_sge)
		return -EINVAL;
	for (i = 0; i < wr->num_sge; i++) {
		send->sge[i].laddr = wr->sg_list[i].addr;
		send->sge[i].length = wr->sg_list[i].length;
		send->sge[i].lkey = wr->sg_list[i].lkey;
		length += wr->sg_list[i].length;
	}
	if (length > S32_MAX)
		return -EINVAL;
	send->num_sge = wr->num_sge;
	send->length = length;
	return 0;
}

/* Inline data replaces all scatter/gather elements but the first. */
static int iwp_post_inline(struct iwp_send *send, const struct ib_send_wr *wr)
{
	u8 *room = (u8 *)&send->sge[1];
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		if (sge->length > SIW_MAX_INLINE - send->length)
			return -EINVAL;
		memcpy(room + send->length, (void *)(uintptr_t)sge->addr,
		       sge->length);
		send->length += sge->length;
	}
	send->flags |= SIW_WQE_INLINE;
	send->num_sge = 1;
	send->sge[0].length = send->length;
	return 0;
}

static int iwp_post_data(struct iwp_send *send, const struct ib_send_wr *wr,
			 u8 max_sge)
{
	if (wr->send_flags & IB_SEND_INLINE)
		return iwp_post_inline(send, wr);
	return iwp_post_sges(send, wr, max_sge);
}

static int iwp_post_rdma(struct iwp_send *send, const struct ib_send_wr *wr,
			 u8 max_sge)
{
	send->raddr = rdma_wr(wr)->remote_addr;
	send->rkey = rdma_wr(wr)->rkey;
	return iwp_post_data(send, wr, max_sge);
}

static int iwp_post_read(struct iwp_send *send, const struct ib_send_wr *wr,
			 u8 max_sge)
{
	/* The only element is the one to be invalidated. */
	if (send->opcode == SIW_OP_READ_LOCAL_INV && wr->num_sge != 1)
		return -EINVAL;
	send->raddr = rdma_wr(wr)->remote_addr;
	send->rkey = rdma_wr(wr)->rkey;
	return iwp_post_sges(send, wr, max_sge);
}

static int iwp_post_reg(struct iwp_send *send, const struct ib_reg_wr *wr)
{
	send->mr = iwp_mr(wr->mr);
	send->rkey = wr->key;
	send->access = wr->access;
	return 0;
}

static void iwp_post_flags(const struct iwp_qp *qp, struct iwp_send *send,
			   int flags)
{
	if (flags & IB_SEND_SIGNALED || qp->sq.sig_all)
		send->flags |= SIW_WQE_SIGNALLED;
	if (flags & IB_SEND_SOLICITED)
		send->flags |= SIW_WQE_SOLICITED;
	if (flags & IB_SEND_FENCE)
		send->flags |= SIW_WQE_READ_FENCE;
}

static int iwp_post_fill(const struct iwp_qp *qp, struct iwp_send *send,
			 const struct ib_send_wr *wr)
{
	memset(send, 0, offsetof(struct iwp_send, sge));
	send->id = wr->wr_id;
	iwp_post_flags(qp, send, wr->send_flags);
	switch (wr->opcode) {
	case IB_WR_SEND:
		send->opcode = SIW_OP_SEND;
		return iwp_post_data(send, wr, qp->sq.max_sge);
	case IB_WR_SEND_WITH_INV:
		send->opcode = SIW_OP_SEND_REMOTE_INV;
		send->rkey = wr->ex.invalidate_rkey;
		return iwp_post_data(send, wr, qp->sq.max_sge);
	case IB_WR_RDMA_WRITE:
		send->opcode = SIW_OP_WRITE;
		return iwp_post_rdma(send, wr, qp->sq.max_sge);
	case IB_WR_RDMA_WRITE_WITH_IMM:
		send->opcode = IWP_OP_WRITE_WITH_IMM;
		send->imm = wr->ex.imm_data;
		return iwp_post_rdma(send, wr, qp->sq.max_sge);
	case IB_WR_RDMA_READ:
		send->opcode = SIW_OP_READ;
		return iwp_post_read(send, wr, qp->sq.max_sge);
	case IB_WR_RDMA_READ_WITH_INV:
		send->opcode = SIW_OP_READ_LOCAL_INV;
		return iwp_post_read(send, wr, qp->sq.max_sge);
	case IB_WR_REG_MR:
		send->opcode = SIW_OP_REG_MR;
		return iwp_post_reg(send, reg_wr(wr));
	case IB_WR_LOCAL_INV:
		send->opcode = SIW_OP_INVAL_STAG;
		send->rkey = wr->ex.invalidate_rkey;
		return 0;
	default:
		return -EINVAL;
	}
}

/* So many bytes of the request's payload are not in its list. */
static int iwp_sq_add(struct iwp_qp *qp, const struct ib_send_wr *wr, u32 elsewhere)
{
	struct iwp_sq *sq = &qp->sq;
	struct iwp_send *send = &sq->ring[sq->put & (sq->size - 1)];
	int err;

	lockdep_assert_held(&sq->lock);
	if (sq->put - iwp_index_load(&sq->done) == sq->size)
		return -ENOMEM;
	err = iwp_post_fill(qp, send, wr);
	if (err)
		return err;
	send->length += elsewhere;
	iwp_index_store(&sq->put, sq->put + 1);
	return 0;
}

/* A request posted during a change to the error state is flushed here. */
static void iwp_sq_posted(struct iwp_qp *qp)
{
	/* Pairs with iwp_qp_flush(): write the request, then read the state. */
	smp_mb();
	if (iwp_loopback_kick_out(qp))
		return;
	if (READ_ONCE(qp->state) == IWP_QP_ERROR)
		iwp_sq_flush(qp);
	else
		iwp_tx_kick(qp);
}

/**
 * iwp_post_send() - post send requests
 * @ibqp: queue pair
 * @wr: list of requests; NULL for a doorbell of user space
 * @bad_wr: set to the first request that was not posted
 *
 * Context: any, interrupts may be disabled.
 * Return: 0 or a negative error number.
 */
int iwp_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad_wr)
{
	struct iwp_qp *qp = iwp_qp(ibqp);
	unsigned long flags;
	int err = 0;

	if ((wr && qp->sq.shared.mem) ||
	    READ_ONCE(qp->state) == IWP_QP_IDLE) {
		*bad_wr = wr;
		return -EINVAL;
	}
	if (wr) {
		spin_lock_irqsave(&qp->sq.lock, flags);
		for (; wr && !err; wr = err ? wr : wr->next)
			err = iwp_sq_add(qp, wr, 0);
		spin_unlock_irqrestore(&qp->sq.lock, flags);
	}
	if (err)
		*bad_wr = wr;
	iwp_sq_posted(qp);
	return err;
}

static int iwp_post_iter_now(struct iwp_qp *qp, const struct ib_send_wr *wr,
			     struct iov_iter *from, u32 len)
{
	unsigned long flags;
	int err;

	if (!iwp_tx_takes_iter(qp))
		return -EAGAIN;
	spin_lock_irqsave(&qp->sq.lock, flags);
	err = iwp_sq_add(qp, wr, len);
	spin_unlock_irqrestore(&qp->sq.lock, flags);
	if (err)
		return err == -ENOMEM ? -EAGAIN : err;
	return iwp_tx_iter(qp, from);
}

/* Whether it is a request of data, with nothing in its list that is not inline. */
static bool iwp_post_iter_valid(const struct iwp_qp *qp, const struct ib_send_wr *wr)
{
	return iwp_qp_kernel(qp) && !wr->next && wr->send_flags & IB_SEND_INLINE &&
	       (wr->opcode == IB_WR_SEND || wr->opcode == IB_WR_SEND_WITH_INV ||
		wr->opcode == IB_WR_RDMA_WRITE || wr->opcode == IB_WR_RDMA_WRITE_WITH_IMM);
}

/**
 * iwp_post_iter() - execute a request whose payload a process has
 * @qp: queue pair of a kernel consumer, who does not post anything else meanwhile
 * @wr: one request of data, which has its list inline
 * @from: payload behind that; advanced behind it
 * @len: bytes of it
 *
 * Context: process context without spinlocks; does not wait for the memory.
 * Return: 0; -EAGAIN if it has to be posted instead; -EOPNOTSUPP if all have to, as the
 * peer is in this kernel; -EFAULT if the memory is not there; -EINVAL if it is no such
 * request.
 */
int iwp_post_iter(struct iwp_qp *qp, const struct ib_send_wr *wr, struct iov_iter *from,
		  size_t len)
{
	struct iwp_ep *ep;
	struct sock *sk;
	int err = -EAGAIN;

	if (!iwp_post_iter_valid(qp, wr) || len > IWP_POST_ITER_MAX || len > iov_iter_count(from))
		return -EINVAL;
	if (READ_ONCE(qp->loopback.pair))
		return -EOPNOTSUPP;
	/* An endpoint that is not connected may have no socket. */
	if (READ_ONCE(qp->state) != IWP_QP_RTS)
		return -EAGAIN;
	ep = iwp_qp_ep(qp);
	if (!ep)
		return -EAGAIN;
	sk = ep->sock->sk;
	local_bh_disable();
	bh_lock_sock(sk);
	if (!sock_owned_by_user(sk) && ep->fpdu)
		err = iwp_post_iter_now(qp, wr, from, len);
	bh_unlock_sock(sk);
	local_bh_enable();
	iwp_ep_put(ep);
	return err;
}
ALLOW_ERROR_INJECTION(iwp_post_iter, ERRNO);

static int iwp_rq_add(struct iwp_rq *rq, const struct ib_recv_wr *wr)
{
	struct siw_rqe *rqe;
	int i;

	lockdep_assert_held(&rq->lock);
	if (!rq->size || wr->num_sge > rq->max_sge)
		return -EINVAL;
	rqe = &rq->ring[rq->put & (rq->size - 1)];
	if (iwp_flags_load(&rqe->flags))
		return -ENOMEM;
	rqe->id = wr->wr_id;
	rqe->num_sge = wr->num_sge;
	for (i = 0; i < wr->num_sge; i++) {
		rqe->sge[i].laddr = wr->sg_list[i].addr;
		rqe->sge[i].length = wr->sg_list[i].length;
		rqe->sge[i].lkey = wr->sg_list[i].lkey;
	}
	iwp_flags_store(&rqe->flags, SIW_WQE_VALID);
	rq->put++;
	return 0;
}

static int iwp_rq_add_all(struct iwp_rq *rq, const struct ib_recv_wr *wr,
			  const struct ib_recv_wr **bad_wr)
{
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&rq->lock, flags);
	for (; wr && !err; wr = err ? wr : wr->next)
		err = iwp_rq_add(rq, wr);
	spin_unlock_irqrestore(&rq->lock, flags);
	if (err)
		*bad_wr = wr;
	return err;
}

/**
 * iwp_post_recv() - post receive requests
 * @ibqp: queue pair of a kernel consumer, which does not share its receive queue
 * @wr: list of requests
 * @bad_wr: set to the first request that was not posted
 *
 * Context: any, interrupts may be disabled.
 * Return: 0 or a negative error number.
 */
int iwp_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad_wr)
{
	struct iwp_qp *qp = iwp_qp(ibqp);
	int err;

	if (qp->sq.shared.mem || qp->srq) {
		*bad_wr = wr;
		return -EINVAL;
	}
	err = iwp_rq_add_all(&qp->rq, wr, bad_wr);
	/*
	 * Pairs with iwp_qp_flush(), iwp_hold_spills() and iwp_loopback_wait_rqe():
	 * write the request, then read the state and the waiters' flags.
	 */
	smp_mb();
	if (READ_ONCE(qp->state) == IWP_QP_ERROR && !iwp_loopback_kick_in(qp))
		iwp_rq_flush(qp);
	else if (READ_ONCE(qp->rx.hold.waiting))
		iwp_tx_kick(qp);
	else
		iwp_loopback_rq_posted(qp);
	return err;
}

/**
 * iwp_post_srq_recv() - post receive requests to a shared receive queue
 * @ibsrq: shared receive queue of a kernel consumer
 * @wr: list of requests
 * @bad_wr: set to the first request that was not posted
 *
 * No message waits for them, and no queue pair flushes them.
 *
 * Context: any, interrupts may be disabled.
 * Return: 0 or a negative error number.
 */
int iwp_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad_wr)
{
	struct iwp_srq *srq = iwp_srq(ibsrq);

	/* A process posts to the memory that it has mapped. */
	if (srq->rq.queue.entry) {
		*bad_wr = wr;
		return -EINVAL;
	}
	return iwp_rq_add_all(&srq->rq, wr, bad_wr);
}
