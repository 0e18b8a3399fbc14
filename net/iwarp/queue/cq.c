// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues.
 */
#include <linux/error-injection.h>
#include <rdma/uverbs_ioctl.h>

#include "queue.h"

static const enum ib_wc_opcode iwp_wc_opcodes[IWP_NUM_OPCODES] = {
	[SIW_OP_WRITE] = IB_WC_RDMA_WRITE,
	[SIW_OP_READ] = IB_WC_RDMA_READ,
	[SIW_OP_READ_LOCAL_INV] = IB_WC_RDMA_READ,
	[SIW_OP_SEND] = IB_WC_SEND,
	[SIW_OP_SEND_WITH_IMM] = IB_WC_SEND,
	[SIW_OP_SEND_REMOTE_INV] = IB_WC_SEND,
	[SIW_OP_RECEIVE] = IB_WC_RECV,
	[SIW_OP_INVAL_STAG] = IB_WC_LOCAL_INV,
	[SIW_OP_REG_MR] = IB_WC_REG_MR,
	[IWP_OP_WRITE_WITH_IMM] = IB_WC_RDMA_WRITE,
	[IWP_OP_RECEIVE_IMM] = IB_WC_RECV_RDMA_WITH_IMM,
};

static const enum ib_wc_status iwp_wc_statuses[SIW_NUM_WC_STATUS] = {
	[SIW_WC_SUCCESS] = IB_WC_SUCCESS,
	[SIW_WC_LOC_LEN_ERR] = IB_WC_LOC_LEN_ERR,
	[SIW_WC_LOC_PROT_ERR] = IB_WC_LOC_PROT_ERR,
	[SIW_WC_LOC_QP_OP_ERR] = IB_WC_LOC_QP_OP_ERR,
	[SIW_WC_WR_FLUSH_ERR] = IB_WC_WR_FLUSH_ERR,
	[SIW_WC_BAD_RESP_ERR] = IB_WC_BAD_RESP_ERR,
	[SIW_WC_LOC_ACCESS_ERR] = IB_WC_LOC_ACCESS_ERR,
	[SIW_WC_REM_ACCESS_ERR] = IB_WC_REM_ACCESS_ERR,
	[SIW_WC_REM_INV_REQ_ERR] = IB_WC_REM_INV_REQ_ERR,
	[SIW_WC_GENERAL_ERR] = IB_WC_GENERAL_ERR,
};

static void iwp_cqe_fill(struct siw_cqe *cqe, struct ib_qp *ibqp,
			 const struct iwp_completion *done, bool kernel)
{
	cqe->id = done->id;
	cqe->opcode = done->opcode;
	cqe->status = done->status;
	cqe->bytes = done->bytes;
	cqe->imm_data = 0;
	if (done->flags & IWP_CQE_IMM)
		cqe->imm_data = (__force u32)done->imm;
	else if (done->flags & SIW_WQE_REM_INVAL)
		cqe->inval_stag = done->stag;
	if (kernel)
		cqe->base_qp = ibqp;
	else
		cqe->qp_id = ibqp->qp_num;
	/* Pairs with iwp_poll_cq() and user space, which read the flags first. */
	smp_store_release(&cqe->flags, SIW_WQE_VALID | done->flags);
}

/* One event for each notification request. */
static bool iwp_cq_wants_event(struct iwp_cq *cq, bool solicited)
{
	u32 wanted = SIW_NOTIFY_NEXT_COMPLETION;

	lockdep_assert_held(&cq->lock);
	if (solicited)
		wanted |= SIW_NOTIFY_SOLICITED;
	/*
	 * Write the completion before reading the flags; pairs with
	 * iwp_req_notify_cq().
	 */
	smp_mb();
	if (!(READ_ONCE(cq->ctrl->flags) & wanted))
		return false;
	WRITE_ONCE(cq->ctrl->flags, SIW_NOTIFY_NOT);
	return true;
}

static noinline void iwp_cq_overrun(struct iwp_cq *cq)
{
	struct ib_event event = {
		.device = cq->ibcq.device,
		.event = IB_EVENT_CQ_ERR,
		.element.cq = &cq->ibcq,
	};

	if (cq->ibcq.event_handler)
		cq->ibcq.event_handler(&event, cq->ibcq.cq_context);
}

/**
 * iwp_cq_put() - add a completion, and notify the consumer if requested
 * @cq: completion queue
 * @ibqp: queue pair of the request
 * @done: completion
 *
 * After an overrun the queue stays in error. It still takes completions that it has
 * room for, as a consumer may wait for the flush of its queue pair.
 *
 * Context: any; the consumer's handler is called without the queue's lock.
 * Return: false if the queue is in error, which ends the queue pairs that use it.
 */
bool iwp_cq_put(struct iwp_cq *cq, struct ib_qp *ibqp,
		const struct iwp_completion *done)
{
	bool event = false, report = false, overrun;
	unsigned long flags;
	struct siw_cqe *cqe;

	spin_lock_irqsave(&cq->lock, flags);
	cqe = &cq->ring[cq->put % cq->size];
	if (READ_ONCE(cqe->flags) & SIW_WQE_VALID) {
		report = !cq->overrun;
		cq->overrun = true;
		cqe = NULL;
	} else {
		iwp_cqe_fill(cqe, ibqp, done, rdma_is_kernel_res(&cq->ibcq.res));
		cq->put++;
		event = iwp_cq_wants_event(cq, done->solicited ||
					   done->status != SIW_WC_SUCCESS);
		event &= !iwp_cq_fault_put(cq, event);
	}
	overrun = cq->overrun;
	spin_unlock_irqrestore(&cq->lock, flags);
	if (event && cq->ibcq.comp_handler)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
	if (report)
		iwp_cq_overrun(cq);
	return !overrun;
}

static void iwp_cqe_read(const struct siw_cqe *cqe, u8 flags, struct ib_wc *wc)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = cqe->id;
	wc->status = iwp_wc_statuses[cqe->status];
	wc->opcode = iwp_wc_opcodes[cqe->opcode];
	wc->byte_len = cqe->bytes;
	wc->qp = cqe->base_qp;
	wc->port_num = 1;
	if (flags & IWP_CQE_IMM) {
		wc->wc_flags = IB_WC_WITH_IMM;
		wc->ex.imm_data = (__force __be32)cqe->imm_data;
	} else if (flags & SIW_WQE_REM_INVAL) {
		wc->wc_flags = IB_WC_WITH_INVALIDATE;
		wc->ex.invalidate_rkey = cqe->inval_stag;
	}
}

/* For kernel consumers; user space reads the ring itself. */
static int iwp_poll_cq(struct ib_cq *ibcq, int max, struct ib_wc *wc)
{
	struct iwp_cq *cq = iwp_cq(ibcq);
	unsigned long irq;
	int n = 0;

	spin_lock_irqsave(&cq->lock, irq);
	while (n < max && !iwp_cq_fault_hides(cq)) {
		struct siw_cqe *cqe = &cq->ring[cq->get % cq->size];
		u8 flags;

		/* Pairs with iwp_cqe_fill(). */
		flags = smp_load_acquire(&cqe->flags);
		if (!(flags & SIW_WQE_VALID))
			break;
		iwp_cqe_read(cqe, flags, wc + n++);
		WRITE_ONCE(cqe->flags, 0);
		cq->get++;
	}
	spin_unlock_irqrestore(&cq->lock, irq);
	iwp_cq_fault_polled(wc, n);
	return n;
}

/* For kernel consumers; user space writes the flags itself. */
static int iwp_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct iwp_cq *cq = iwp_cq(ibcq);
	u32 wanted = SIW_NOTIFY_SOLICITED;

	if ((flags & IB_CQ_SOLICITED_MASK) != IB_CQ_SOLICITED)
		wanted |= SIW_NOTIFY_NEXT_COMPLETION;
	/*
	 * Write the flags before looking for completions; pairs with
	 * iwp_cq_wants_event().
	 */
	smp_store_mb(cq->ctrl->flags, wanted);
	if (!(flags & IB_CQ_REPORT_MISSED_EVENTS))
		return 0;
	return READ_ONCE(cq->put) != READ_ONCE(cq->get) && !iwp_cq_fault_hides(cq);
}

static int iwp_cq_copy_uresp(struct iwp_cq *cq, struct ib_udata *udata, u64 key)
{
	struct siw_uresp_create_cq uresp = {
		.num_cqe = cq->size,
		.cq_key = key,
	};

	if (!udata)
		return 0;
	if (udata->outlen < sizeof(uresp))
		return -EINVAL;
	return ib_copy_to_udata(udata, &uresp, sizeof(uresp));
}

static int iwp_cq_alloc(struct iwp_cq *cq, struct ib_udata *udata)
{
	u64 key = SIW_INVAL_UOBJ_KEY;
	int err;

	err = iwp_queue_alloc(&cq->queue, cq->size * sizeof(*cq->ring) +
			      sizeof(*cq->ctrl), udata, &key);
	if (err)
		return err;
	cq->ring = cq->queue.mem;
	cq->ctrl = (struct siw_cq_ctrl *)&cq->ring[cq->size];
	cq->ibcq.cqe = cq->size;
	return iwp_cq_copy_uresp(cq, udata, key);
}

static void iwp_cq_free(struct iwp_cq *cq)
{
	iwp_cq_fault_exit(cq);
	iwp_queue_free(&cq->queue);
	atomic_dec(&iwp_device(cq->ibcq.device)->nr_cqs);
}

static int iwp_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
			 struct sdp_create_cq_attrs *attrs)
{
	struct ib_udata *udata = sdp_create_cq_udata(attrs);
	struct iwp_cq *cq = iwp_cq(ibcq);
	int err;

	if (attr->flags)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > IWP_MAX_CQE)
		return -EINVAL;
	if (!atomic_add_unless(&iwp_device(ibcq->device)->nr_cqs, 1, IWP_MAX_CQ))
		return -ENOMEM;
	spin_lock_init(&cq->lock);
	iwp_cq_fault_init(cq);
	cq->size = roundup_pow_of_two(attr->cqe);
	err = iwp_cq_alloc(cq, udata);
	if (err)
		iwp_cq_free(cq);
	return err;
}
ALLOW_ERROR_INJECTION(iwp_create_cq, ERRNO);

static int iwp_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	iwp_cq_free(iwp_cq(ibcq));
	return 0;
}

const struct ib_device_ops iwp_cq_dev_ops = {
	.create_cq = iwp_create_cq,
	.destroy_cq = iwp_destroy_cq,
	.poll_cq = iwp_poll_cq,
	.req_notify_cq = iwp_req_notify_cq,

	INIT_RDMA_OBJ_SIZE(ib_cq, iwp_cq, ibcq),
};
