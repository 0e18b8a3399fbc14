// SPDX-License-Identifier: GPL-2.0
/*
 * Receive requests that a process posts to a queue pair in error.
 *
 * They have to be flushed as those before, and a program that ends may wait for
 * that.  But a process writes into memory that it shares with us, and rings no
 * bell: so that is looked at once in a while, until the queue pair is destroyed.
 */
#include "qp.h"

/*
 * In jiffies: soon at first, for a program that has just not seen that the end is
 * there, and rarely in the long run.
 */
#define IWP_LATE_MIN	1
#define IWP_LATE_MAX	HZ

static void iwp_late_look(struct iwp_qp *qp)
{
	if (iwp_rq_empty(qp)) {
		qp->late.delay = min(2 * qp->late.delay, IWP_LATE_MAX);
		return;
	}
	qp->late.delay = IWP_LATE_MIN;
	if (!iwp_local_receive(qp))
		iwp_rq_flush(qp);
}

static void iwp_late_work(struct work_struct *work)
{
	struct iwp_qp *qp = container_of(to_delayed_work(work), struct iwp_qp,
					 late.work);

	iwp_late_look(qp);
	iwp_tx_queue_later(&qp->late.work, qp->late.delay);
}

/**
 * iwp_late_init() - nothing is looked for yet
 * @qp: queue pair
 */
void iwp_late_init(struct iwp_qp *qp)
{
	INIT_DELAYED_WORK(&qp->late.work, iwp_late_work);
}

/**
 * iwp_late_start() - look for requests from now on
 * @qp: queue pair that is in error; nothing happens if its user is the kernel,
 *	which says what it posts
 *
 * Context: any.
 */
void iwp_late_start(struct iwp_qp *qp)
{
	if (iwp_qp_kernel(qp) || !qp->rq.size || READ_ONCE(qp->destroying))
		return;
	qp->late.delay = IWP_LATE_MIN;
	iwp_tx_queue_later(&qp->late.work, qp->late.delay);
}

/**
 * iwp_late_stop() - look no more
 * @qp: queue pair that is being destroyed, and that nobody else refers to
 *
 * Context: may sleep.
 */
void iwp_late_stop(struct iwp_qp *qp)
{
	cancel_delayed_work_sync(&qp->late.work);
}
