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
#define IWP_FLUSH_POLL_MIN	1
#define IWP_FLUSH_POLL_MAX	HZ

static void iwp_flush_poll_once(struct iwp_qp *qp)
{
	bool sends = iwp_sq_shared_pending(&qp->sq);
	bool receives = !iwp_rq_empty(qp);

	qp->flush_poll.delay = sends || receives ?
				 IWP_FLUSH_POLL_MIN :
				 min(2 * qp->flush_poll.delay, IWP_FLUSH_POLL_MAX);
	if (sends && !iwp_loopback_kick_out(qp))
		iwp_sq_flush(qp);
	if (receives && !iwp_loopback_kick_in(qp))
		iwp_rq_flush(qp);
}

static void iwp_flush_poll_work(struct work_struct *work)
{
	struct iwp_qp *qp = container_of(to_delayed_work(work), struct iwp_qp,
					 flush_poll.work);

	iwp_flush_poll_once(qp);
	iwp_tx_queue_later(&qp->flush_poll.work, qp->flush_poll.delay);
}

/**
 * iwp_flush_poll_init() - nothing is looked for yet
 * @qp: queue pair
 */
void iwp_flush_poll_init(struct iwp_qp *qp)
{
	INIT_DELAYED_WORK(&qp->flush_poll.work, iwp_flush_poll_work);
}

/**
 * iwp_flush_poll_start() - look for requests from now on
 * @qp: queue pair that is in error; nothing happens if its user is the kernel,
 *	which says what it posts
 *
 * Context: any.
 */
void iwp_flush_poll_start(struct iwp_qp *qp)
{
	if (iwp_qp_kernel(qp) || READ_ONCE(qp->destroying))
		return;
	qp->flush_poll.delay = IWP_FLUSH_POLL_MIN;
	iwp_tx_queue_later(&qp->flush_poll.work, qp->flush_poll.delay);
}

/**
 * iwp_flush_poll_stop() - look no more
 * @qp: queue pair that is being destroyed, and that nobody else refers to
 *
 * Context: may sleep.
 */
void iwp_flush_poll_stop(struct iwp_qp *qp)
{
	cancel_delayed_work_sync(&qp->flush_poll.work);
}
