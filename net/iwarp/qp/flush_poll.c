// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that a process posts to a queue pair in error.
 *
 * They have to be flushed as those before, and a program that ends may wait for
 * that.  But a process writes into memory that it shares with us, and for what it
 * receives it rings no bell: so that is looked at once in a while, until the queue
 * pair is destroyed.  Nor does a process that posts all the time keep us for ever:
 * each time only so much is flushed as there was room for.
 */
#include "queue/queue.h"
#include "stream/stream.h"
#include "loopback/loopback.h"
#include "qp.h"

/*
 * In jiffies: soon at first, for a program that has just not seen that the end is
 * there, and rarely in the long run.
 */
#define IWP_LATE_MIN	1
#define IWP_LATE_MAX	HZ

static void iwp_late_look(struct iwp_qp *qp)
{
	bool sends = iwp_sq_shared_pending(&qp->sq);
	bool receives = !iwp_rq_empty(qp);

	qp->late.delay = sends || receives ?
				 IWP_LATE_MIN :
				 min(2 * qp->late.delay, IWP_LATE_MAX);
	if (sends && !iwp_loopback_kick_out(qp))
		iwp_sq_flush(qp);
	if (receives && !iwp_loopback_kick_in(qp))
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
	if (iwp_qp_kernel(qp) || READ_ONCE(qp->destroying))
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
