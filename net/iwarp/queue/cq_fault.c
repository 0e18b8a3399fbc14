// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues of kernel consumers that do on request what they should not: completions
 * that are late or failed, and events that are late or lost.
 */
#include "queue.h"

/* A consumer may be told once too often. */
static void iwp_cq_fault_over(struct timer_list *timer)
{
	struct iwp_cq *cq = container_of(timer, struct iwp_cq, fault.timer);

	WRITE_ONCE(cq->fault.hidden, false);
	if (cq->ibcq.comp_handler)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
}

/**
 * iwp_cq_fault_init() - prepare a new completion queue
 * @cq: completion queue
 */
void iwp_cq_fault_init(struct iwp_cq *cq)
{
	timer_setup(&cq->fault.timer, iwp_cq_fault_over, 0);
}

/**
 * iwp_cq_fault_exit() - nothing is late any more
 * @cq: completion queue without users
 *
 * Context: may sleep.
 */
void iwp_cq_fault_exit(struct iwp_cq *cq)
{
	timer_delete_sync(&cq->fault.timer);
}

/**
 * iwp_cq_fault_put() - whether the event of a new completion is late or lost
 * @cq: completion queue, locked
 * @event: one is due
 *
 * With a completion that is late its event is, too.
 */
bool iwp_cq_fault_put(struct iwp_cq *cq, bool event)
{
	bool late;

	if (!rdma_is_kernel_res(&cq->ibcq.res))
		return false;
	late = iwp_fault(IWP_FAULT_CQE_LATE);
	if (late)
		WRITE_ONCE(cq->fault.hidden, true);
	late = late || (event && iwp_fault(IWP_FAULT_EVENT_LATE));
	if (late)
		mod_timer(&cq->fault.timer, jiffies + IWP_FAULT_DELAY * HZ);
	return late || (event && iwp_fault(IWP_FAULT_EVENT_LOST));
}

/**
 * iwp_cq_fault_polled() - have a completion say that its request has failed
 * @wc: completions that a consumer gets
 * @n: how many
 *
 * The queue pair is in error then, as every device's would be.
 *
 * Context: any, without the queue's lock.
 */
void iwp_cq_fault_polled(struct ib_wc *wc, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		if (wc[i].status != IB_WC_SUCCESS || wc[i].opcode != iwp_fault_opcode ||
		    !iwp_fault(IWP_FAULT_CQE_ERROR))
			continue;
		wc[i].status = iwp_fault_status;
		iwp_qp_fail(iwp_qp(wc[i].qp), IWARP_E_RDMAP_LOCAL);
	}
}
