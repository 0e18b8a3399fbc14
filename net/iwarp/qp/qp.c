// SPDX-License-Identifier: GPL-2.0
/* Queue pairs: creation, states and destruction. */
#include <linux/error-injection.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <rdma/uverbs_ioctl.h>

#include "queue/queue.h"
#include "stream/stream.h"
#include "loopback/loopback.h"
#include "qp.h"

/*
 * iw_cm calls this after iwp_get_qp(), and keeps the reference that iwp_get_qp() took:
 * in between nothing else would keep the queue pair.
 */
static void iwp_qp_add_ref(struct ib_qp *ibqp)
{
	WARN_ON_ONCE(!refcount_read(&iwp_qp(ibqp)->refs));
}

static void iwp_qp_rem_ref(struct ib_qp *ibqp)
{
	iwp_qp_put(iwp_qp(ibqp));
}

/* Takes the reference for iwp_qp_add_ref(). Interrupts may be disabled. */
static struct ib_qp *iwp_get_qp(struct ib_device *ibdev, int qpn)
{
	struct iwp_qp *qp = iwp_qp_find(ibdev, qpn);

	return qp ? &qp->ibqp : NULL;
}

/**
 * iwp_qp_rts() - move to the RTS state
 * @qp: queue pair
 *
 * Context: socket lock held.
 * Return: 0, or -ECONNABORTED if the queue pair is in the error state.
 */
int iwp_qp_rts(struct iwp_qp *qp)
{
	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	return iwp_qp_change_state(qp, BIT(IWP_QP_IDLE), IWP_QP_RTS) ? 0 :
							      -ECONNABORTED;
}

/* The queue pair has just entered the error state. */
static void iwp_qp_flush(struct iwp_qp *qp)
{
	/*
	 * Pairs with post_send() and post_recv(): they see the state, or we see their
	 * requests.
	 */
	smp_mb();
	iwp_flush_poll_start(qp);
	if (!iwp_loopback_kick_out(qp))
		iwp_sq_flush(qp);
	if (iwp_loopback_kick_in(qp))
		return;
	iwp_rx_flush(qp);
	iwp_rq_flush(qp);
}

/* Checks the lock of the current endpoint. */
static void iwp_qp_assert_conn_locked(const struct iwp_qp *qp)
{
	lockdep_assert(!qp->ep || (qp->ep->sock ?
				   lockdep_sock_is_held(qp->ep->sock->sk) :
				   lockdep_is_held(&qp->ep->lock)));
}

/**
 * iwp_qp_error() - move to the error state, and flush all requests
 * @qp: queue pair
 *
 * Context: socket lock held, or the endpoint's lock while it has no socket.
 */
void iwp_qp_error(struct iwp_qp *qp)
{
	iwp_qp_assert_conn_locked(qp);
	if (qp->state == IWP_QP_RTS || qp->state == IWP_QP_CLOSING)
		iwp_tx_acked(qp);
	if (iwp_qp_change_state(qp, BIT(IWP_QP_ERROR) - 1, IWP_QP_ERROR))
		iwp_qp_flush(qp);
}

/*
 * Moves to the error state without a connection: none can be attached under qp->lock,
 * and later iwp_ep_attach() finds the error. Returns whether there is none.
 */
static bool iwp_qp_error_unconnected(struct iwp_qp *qp)
{
	bool alone, begins = false;
	unsigned long flags;

	spin_lock_irqsave(&qp->lock, flags);
	alone = !qp->ep;
	if (alone)
		begins = iwp_qp_change_state_locked(qp, BIT(IWP_QP_ERROR) - 1, IWP_QP_ERROR);
	spin_unlock_irqrestore(&qp->lock, flags);
	if (begins)
		iwp_qp_flush(qp);
	return alone;
}

/**
 * iwp_qp_report_error() - send an asynchronous event if an error ended the connection
 * @qp: queue pair
 *
 * Context: process.
 */
void iwp_qp_report_error(struct iwp_qp *qp)
{
	struct ib_event event = {
		.device = qp->ibqp.device,
		.event = IB_EVENT_QP_FATAL,
		.element.qp = &qp->ibqp,
	};

	if (READ_ONCE(qp->destroying) || !qp->ibqp.event_handler ||
	    (!qp->tx.term_len && !qp->rx.peer_error))
		return;
	if (qp->rx.peer_error)
		event.event = IB_EVENT_QP_ACCESS_ERR;
	qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
}

static const struct iwp_qp_ops iwp_qp_ops = {
	.loopback_kick = iwp_loopback_kick,
	.error = iwp_qp_error,
};

/*
 * Of a queue pair with a shared receive queue nothing is asked about receiving. A process's
 * requests are not for one of the kernel's, whose memory needs no key.
 */
static bool iwp_qp_recv_valid(const struct ib_qp *ibqp, const struct ib_qp_init_attr *attr)
{
	if (attr->srq)
		return attr->srq->device == ibqp->device &&
		       rdma_is_kernel_res(&attr->srq->res) == rdma_is_kernel_res(&ibqp->res);
	return attr->cap.max_recv_wr <= IWP_MAX_WR && attr->cap.max_recv_sge <= SIW_MAX_SGE;
}

static int iwp_qp_check(const struct ib_qp *ibqp, const struct ib_qp_init_attr *attr)
{
	const struct ib_qp_cap *cap = &attr->cap;

	if (attr->create_flags || attr->qp_type != IB_QPT_RC)
		return -EOPNOTSUPP;
	if (!attr->send_cq || !attr->recv_cq || !cap->max_send_wr ||
	    cap->max_send_wr > IWP_MAX_WR || cap->max_send_sge > SIW_MAX_SGE ||
	    cap->max_inline_data > SIW_MAX_INLINE || !iwp_qp_recv_valid(ibqp, attr))
		return -EINVAL;
	return 0;
}

static int iwp_sq_create(struct iwp_sq *sq, const struct ib_qp_init_attr *attr,
			 struct ib_udata *udata, u64 *key)
{
	spin_lock_init(&sq->lock);
	sq->size = roundup_pow_of_two(attr->cap.max_send_wr);
	sq->max_sge = attr->cap.max_send_sge;
	sq->sig_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	sq->ring = kvcalloc(sq->size, sizeof(*sq->ring), GFP_KERNEL_ACCOUNT);
	if (!sq->ring)
		return -ENOMEM;
	if (!udata)
		return 0;
	return iwp_queue_alloc(&sq->shared, sq->size * sizeof(struct siw_sqe),
			       udata, key);
}

static int iwp_rq_create(struct iwp_rq *rq, const struct ib_qp_init_attr *attr,
			 struct ib_udata *udata, u64 *key)
{
	int err;

	spin_lock_init(&rq->lock);
	/* siw's library takes an invalid key for an error, but does not map this one. */
	if (attr->srq) {
		*key = 0;
		return 0;
	}
	rq->max_sge = attr->cap.max_recv_sge;
	if (!attr->cap.max_recv_wr)
		return 0;
	rq->size = roundup_pow_of_two(attr->cap.max_recv_wr);
	err = iwp_queue_alloc(&rq->queue, rq->size * sizeof(*rq->ring), udata,
			      key);
	rq->ring = rq->queue.mem;
	return err;
}

static void iwp_qp_free(struct iwp_qp *qp)
{
	iwp_loopback_pair_put(qp->loopback.pair);
	iwp_stream_free(qp);
	iwp_queue_free(&qp->rq.queue);
	iwp_queue_free(&qp->sq.shared);
	kvfree(qp->sq.ring);
	atomic_dec(&qp->dev->nr_qps);
}

/* Reserves the number; lookups do not find the queue pair yet. */
static int iwp_qp_reserve(struct iwp_qp *qp)
{
	int err = xa_alloc_cyclic_irq(&qp->dev->qps, &qp->ibqp.qp_num, NULL,
				      XA_LIMIT(2, IWP_MAX_QPN),
				      &qp->dev->next_qpn, GFP_KERNEL_ACCOUNT);

	return min(err, 0);
}

/* Last step of creation: from now on lookups find the queue pair. */
static void iwp_qp_publish(struct iwp_qp *qp)
{
	/* The entry is reserved, so nothing is allocated. */
	WARN_ON_ONCE(xa_err(xa_store_irq(&qp->dev->qps, qp->ibqp.qp_num, qp,
					 GFP_KERNEL)));
}

/* First step of destruction; also releases the number after a failed creation. */
static void iwp_qp_unpublish(struct iwp_qp *qp)
{
	xa_erase_irq(&qp->dev->qps, qp->ibqp.qp_num);
}

static int iwp_qp_copy_uresp(struct iwp_qp *qp, struct ib_udata *udata,
			     struct siw_uresp_create_qp *uresp)
{
	if (!udata)
		return 0;
	uresp->qp_id = qp->ibqp.qp_num;
	uresp->num_sqe = qp->sq.size;
	uresp->num_rqe = qp->rq.size;
	if (udata->outlen < sizeof(*uresp))
		return -EINVAL;
	return ib_copy_to_udata(udata, uresp, sizeof(*uresp));
}

static int iwp_qp_create(struct iwp_qp *qp, const struct ib_qp_init_attr *attr,
			 struct ib_udata *udata)
{
	struct siw_uresp_create_qp uresp = {
		.sq_key = SIW_INVAL_UOBJ_KEY,
		.rq_key = SIW_INVAL_UOBJ_KEY,
	};
	int err;

	err = iwp_sq_create(&qp->sq, attr, udata, &uresp.sq_key);
	if (!err)
		err = iwp_rq_create(&qp->rq, attr, udata, &uresp.rq_key);
	if (!err)
		err = iwp_qp_reserve(qp);
	if (err)
		return err;
	err = iwp_qp_copy_uresp(qp, udata, &uresp);
	if (err)
		iwp_qp_unpublish(qp);
	return err;
}

static int iwp_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr,
			 struct ib_udata *udata)
{
	struct iwp_qp *qp = iwp_qp(ibqp);
	int err;

	err = iwp_qp_check(ibqp, attr);
	if (err)
		return err;
	qp->dev = iwp_device(ibqp->device);
	qp->ops = &iwp_qp_ops;
	if (!atomic_add_unless(&qp->dev->nr_qps, 1, IWP_MAX_QP))
		return -ENOMEM;
	qp->srq = attr->srq ? iwp_srq(attr->srq) : NULL;
	spin_lock_init(&qp->lock);
	refcount_set(&qp->refs, 1);
	init_completion(&qp->released);
	iwp_stream_init(qp);
	iwp_flush_poll_init(qp);
	qp->design = READ_ONCE(qp->dev->design);
	err = iwp_qp_create(qp, attr, udata);
	if (err) {
		iwp_qp_free(qp);
		return err;
	}
	attr->cap.max_inline_data = SIW_MAX_INLINE;
	iwp_qp_publish(qp);
	return 0;
}
ALLOW_ERROR_INJECTION(iwp_create_qp, ERRNO);

/*
 * Returns the endpoint, locked and with a reference, or NULL if there is none and the
 * queue pair is in the error state. An endpoint that failed before it had a socket has
 * left the queue pair free for another one, maybe while we waited for its lock.
 */
static struct iwp_ep *iwp_qp_lock_ep(struct iwp_qp *qp)
{
	struct iwp_ep *ep;

	for (;;) {
		ep = iwp_qp_ep(qp);
		if (!ep) {
			if (iwp_qp_error_unconnected(qp))
				return NULL;
			continue;
		}
		mutex_lock(&ep->lock);
		if (ep->qp == qp)
			return ep;
		mutex_unlock(&ep->lock);
		iwp_ep_put(ep);
	}
}

/* Aborts the connection; may wait for the socket lock. */
static void iwp_qp_abort_conn(struct iwp_qp *qp)
{
	struct iwp_ep *ep = iwp_qp_lock_ep(qp);

	if (!ep)
		return;
	/* A connecting endpoint may have no socket yet. */
	if (ep->sock)
		lock_sock(ep->sock->sk);
	iwp_qp_abort(qp);
	if (ep->sock)
		release_sock(ep->sock->sk);
	mutex_unlock(&ep->lock);
	iwp_ep_put(ep);
}

/*
 * The queue pair is unpublished first. Then wait for the references of those that
 * looked it up before: the endpoint's work, which closes the connection, and iw_cm,
 * which is told of that.
 */
static int iwp_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct iwp_qp *qp = iwp_qp(ibqp);

	iwp_qp_unpublish(qp);
	WRITE_ONCE(qp->destroying, true);
	iwp_qp_abort_conn(qp);
	iwp_qp_put(qp);
	wait_for_completion(&qp->released);
	WARN_ON_ONCE(qp->ep);
	iwp_stream_stop(qp);
	iwp_flush_poll_stop(qp);
	iwp_qp_free(qp);
	return 0;
}

/* Sends what was posted, then closes the connection. */
static void iwp_qp_disconnect(struct iwp_qp *qp)
{
	struct iwp_ep *ep = iwp_qp_ep(qp);

	if (!ep)
		return;
	mutex_lock(&ep->lock);
	if (ep->state != IWP_EP_FPDU)
		goto out;
	lock_sock(ep->sock->sk);
	if (ep->fpdu && iwp_qp_change_state(qp, BIT(IWP_QP_RTS), IWP_QP_CLOSING))
		iwp_tx_ready(qp);
	release_sock(ep->sock->sk);
out:
	mutex_unlock(&ep->lock);
	iwp_ep_put(ep);
}

/* Only the state can be changed; all else belongs to the connection. */
static int iwp_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
			 struct ib_udata *udata)
{
	struct iwp_qp *qp = iwp_qp(ibqp);

	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	if (!(mask & IB_QP_STATE))
		return 0;
	switch (attr->qp_state) {
	case IB_QPS_RESET:
	case IB_QPS_INIT:
	case IB_QPS_RTR:
		return READ_ONCE(qp->state) == IWP_QP_IDLE ? 0 : -EINVAL;
	case IB_QPS_RTS:
		return READ_ONCE(qp->state) == IWP_QP_RTS ? 0 : -EINVAL;
	case IB_QPS_SQD:
		iwp_qp_disconnect(qp);
		return 0;
	default:
		iwp_qp_abort_conn(qp);
		return 0;
	}
}

static enum ib_qp_state iwp_qp_ib_state(const struct iwp_qp *qp)
{
	static const enum ib_qp_state states[] = {
		[IWP_QP_IDLE] = IB_QPS_INIT,
		[IWP_QP_RTS] = IB_QPS_RTS,
		[IWP_QP_CLOSING] = IB_QPS_SQD,
		[IWP_QP_ERROR] = IB_QPS_ERR,
	};

	return states[READ_ONCE(qp->state)];
}

/* Fills in all attributes, whatever the mask. */
static int iwp_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
			struct ib_qp_init_attr *init)
{
	struct iwp_qp *qp = iwp_qp(ibqp);

	/* They come from the callers' stacks, and much of them goes to user space. */
	memset(attr, 0, sizeof(*attr));
	memset(init, 0, sizeof(*init));
	attr->qp_state = iwp_qp_ib_state(qp);
	attr->cur_qp_state = attr->qp_state;
	attr->cap.max_inline_data = SIW_MAX_INLINE;
	attr->cap.max_send_wr = qp->sq.size;
	attr->cap.max_send_sge = qp->sq.max_sge;
	attr->cap.max_recv_wr = qp->rq.size;
	attr->cap.max_recv_sge = qp->rq.max_sge;
	attr->path_mtu = ib_mtu_int_to_enum(READ_ONCE(qp->dev->netdev->mtu));
	attr->max_rd_atomic = qp->tx.stream.ord.max;
	attr->max_dest_rd_atomic = qp->tx.stream.ird.max;
	attr->qp_access_flags = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
				IB_ACCESS_REMOTE_READ;
	init->qp_type = ibqp->qp_type;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->srq = qp->srq ? &qp->srq->ibsrq : NULL;
	init->cap = attr->cap;
	init->sq_sig_type = qp->sq.sig_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	return 0;
}

const struct ib_device_ops iwp_qp_dev_ops = {
	.create_qp = iwp_create_qp,
	.destroy_qp = iwp_destroy_qp,
	.iw_add_ref = iwp_qp_add_ref,
	.iw_get_qp = iwp_get_qp,
	.iw_rem_ref = iwp_qp_rem_ref,
	.modify_qp = iwp_modify_qp,
	.query_qp = iwp_query_qp,

	INIT_RDMA_OBJ_SIZE(ib_qp, iwp_qp, ibqp),
};
