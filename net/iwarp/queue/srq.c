// SPDX-License-Identifier: GPL-2.0
/*
 * Shared receive queues: queue pairs take requests from one queue, in the order in which
 * their messages arrive.
 *
 * The queue pairs have sockets of their own, which receive on any processor, so the lock
 * of a socket is not enough to take a request: that is done under the queue's lock. What
 * one has taken is its own, as if from a queue of its own, and is flushed with it. What
 * nobody has taken stays for the others.
 */
#include <rdma/uverbs_ioctl.h>

#include "queue.h"

/* Of @rq.flushing of a queue pair. */
#define IWP_RQ_LEFT	1

/* Whether fewer requests are posted than the consumer wants, who is to be told once. */
static bool iwp_srq_gets_low(struct iwp_srq *srq)
{
	struct iwp_rq *rq = &srq->rq;
	u32 last = rq->get + srq->limit - 1;

	lockdep_assert_held(&rq->lock);
	if (!srq->limit ||
	    iwp_flags_load(&rq->ring[last & (rq->size - 1)].flags) & SIW_WQE_VALID)
		return false;
	WRITE_ONCE(srq->limit, 0);
	srq->told = rq->get;
	return true;
}

/*
 * Verbs that end a queue pair, or set the limit, may report from within: as with completions,
 * a consumer in the kernel must not hold a lock there that its handler takes.
 */
static void iwp_srq_report_low(struct iwp_srq *srq)
{
	struct ib_event event = {
		.device = srq->ibsrq.device,
		.event = IB_EVENT_SRQ_LIMIT_REACHED,
		.element.srq = &srq->ibsrq,
	};

	if (srq->ibsrq.event_handler)
		srq->ibsrq.event_handler(&event, srq->ibsrq.srq_context);
}

/**
 * iwp_srq_take() - take the next request of a shared receive queue
 * @srq: shared receive queue
 * @rqe: filled in with a copy
 *
 * Tells the consumer if few requests are left, without the queue's lock.
 *
 * Context: any, of a queue pair that the queue belongs to.
 * Return: false if there is none.
 */
bool iwp_srq_take(struct iwp_srq *srq, struct siw_rqe *rqe)
{
	unsigned long flags;
	bool taken, low;

	spin_lock_irqsave(&srq->rq.lock, flags);
	taken = iwp_rq_take_own(&srq->rq, rqe);
	low = taken && iwp_srq_gets_low(srq);
	spin_unlock_irqrestore(&srq->rq.lock, flags);
	if (low)
		iwp_srq_report_low(srq);
	return taken;
}

/**
 * iwp_srq_leave() - a queue pair takes no more requests of its shared receive queue
 * @qp: queue pair in the error state, of which all taken requests are completed
 *
 * The consumer has no other way to know that nothing more completes. It is told once,
 * and not if it is destroying the queue pair.
 *
 * Context: any; calls the consumer's handler, maybe from within its ib_post_send().
 */
void iwp_srq_leave(struct iwp_qp *qp)
{
	struct ib_event event = {
		.device = qp->ibqp.device,
		.event = IB_EVENT_QP_LAST_WQE_REACHED,
		.element.qp = &qp->ibqp,
	};

	if (READ_ONCE(qp->destroying) || !qp->ibqp.event_handler ||
	    test_and_set_bit(IWP_RQ_LEFT, &qp->rq.flushing))
		return;
	qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
}

static int iwp_srq_copy_uresp(struct iwp_srq *srq, struct ib_udata *udata, u64 key)
{
	struct siw_uresp_create_srq uresp = {
		.num_rqe = srq->rq.size,
		.srq_key = key,
	};

	if (!udata)
		return 0;
	if (udata->outlen < sizeof(uresp))
		return -EINVAL;
	return ib_copy_to_udata(udata, &uresp, sizeof(uresp));
}

static int iwp_srq_alloc(struct iwp_srq *srq, struct ib_udata *udata)
{
	struct iwp_rq *rq = &srq->rq;
	u64 key = SIW_INVAL_UOBJ_KEY;
	int err;

	err = iwp_queue_alloc(&rq->queue, rq->size * sizeof(*rq->ring), udata, &key);
	if (err)
		return err;
	rq->ring = rq->queue.mem;
	return iwp_srq_copy_uresp(srq, udata, key);
}

static void iwp_srq_free(struct iwp_srq *srq)
{
	iwp_queue_free(&srq->rq.queue);
	atomic_dec(&iwp_device(srq->ibsrq.device)->nr_srqs);
}

/* As the verbs say, the limit is not looked at: it is set when requests are posted. */
static int iwp_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
			  struct ib_udata *udata)
{
	struct ib_srq_attr *attr = &init->attr;
	struct iwp_srq *srq = iwp_srq(ibsrq);
	int err;

	if (init->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	if (!attr->max_wr || attr->max_wr > IWP_MAX_WR || attr->max_sge > SIW_MAX_SGE)
		return -EINVAL;
	if (!atomic_add_unless(&iwp_device(ibsrq->device)->nr_srqs, 1, IWP_MAX_SRQ))
		return -ENOMEM;
	spin_lock_init(&srq->rq.lock);
	srq->rq.size = roundup_pow_of_two(attr->max_wr);
	srq->rq.max_sge = attr->max_sge;
	srq->told = srq->rq.get - 1;
	err = iwp_srq_alloc(srq, udata);
	if (err)
		iwp_srq_free(srq);
	else
		attr->max_wr = srq->rq.size;
	return err;
}

/*
 * If fewer are posted already, nobody might take the one that would tell. But who was told,
 * and has taken none since, is not told again: processes are told by the kernel's memory.
 */
static int iwp_srq_set_limit(struct iwp_srq *srq, u32 limit)
{
	unsigned long flags;
	bool low;

	if (limit > srq->rq.size)
		return -EINVAL;
	spin_lock_irqsave(&srq->rq.lock, flags);
	WRITE_ONCE(srq->limit, limit);
	low = srq->rq.get != srq->told && iwp_srq_gets_low(srq);
	spin_unlock_irqrestore(&srq->rq.lock, flags);
	if (low)
		iwp_srq_report_low(srq);
	return 0;
}

/* The size cannot be changed: a process has mapped the queue. */
static int iwp_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
			  enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	if (mask & IB_SRQ_MAX_WR)
		return -EOPNOTSUPP;
	if (mask & ~IB_SRQ_LIMIT)
		return -EINVAL;
	return mask ? iwp_srq_set_limit(iwp_srq(ibsrq), attr->srq_limit) : 0;
}

static int iwp_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	const struct iwp_srq *srq = iwp_srq(ibsrq);

	attr->max_wr = srq->rq.size;
	attr->max_sge = srq->rq.max_sge;
	attr->srq_limit = READ_ONCE(srq->limit);
	return 0;
}

/* The core has seen that no queue pair is left. */
static int iwp_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	iwp_srq_free(iwp_srq(ibsrq));
	return 0;
}

const struct ib_device_ops iwp_srq_dev_ops = {
	.create_srq = iwp_create_srq,
	.destroy_srq = iwp_destroy_srq,
	.modify_srq = iwp_modify_srq,
	.query_srq = iwp_query_srq,

	INIT_RDMA_OBJ_SIZE(ib_srq, iwp_srq, ibsrq),
};
