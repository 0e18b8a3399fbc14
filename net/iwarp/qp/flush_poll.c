// SPDX-License-Identifier: GPL-2.0
/*
 * Flushing of requests that user space posts to a queue pair in the error state.
 *
 * They have to be flushed as all others, and a program may wait for that before it
 * exits. But user space posts to shared memory, and rings no doorbell for receive
 * requests. So the queues are polled until the queue pair is destroyed. Each run
 * flushes at most as many requests as the queue has entries, and the queue pairs of all
 * programs have one thread of ordinary priority, so that one that posts all the time
 * keeps no processor busy which others need.
 */
#include "queue/queue.h"
#include "stream/stream.h"
#include "loopback/loopback.h"
#include "qp.h"

/*
 * Jiffies: short at first, for a program that posts before it has seen the error, and
 * up to a second later.
 */
#define IWP_FLUSH_POLL_MIN	1
#define IWP_FLUSH_POLL_MAX	HZ

static struct workqueue_struct *iwp_flush_wq;

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
	queue_delayed_work(iwp_flush_wq, &qp->flush_poll.work, qp->flush_poll.delay);
}

/**
 * iwp_flush_poll_init() - prepare a new queue pair
 * @qp: queue pair
 */
void iwp_flush_poll_init(struct iwp_qp *qp)
{
	INIT_DELAYED_WORK(&qp->flush_poll.work, iwp_flush_poll_work);
}

/**
 * iwp_flush_poll_start() - start polling
 * @qp: queue pair in the error state; no effect for kernel consumers, whose post_send()
 *	and post_recv() flush
 *
 * Context: any.
 */
void iwp_flush_poll_start(struct iwp_qp *qp)
{
	if (iwp_qp_kernel(qp) || READ_ONCE(qp->destroying))
		return;
	qp->flush_poll.delay = IWP_FLUSH_POLL_MIN;
	queue_delayed_work(iwp_flush_wq, &qp->flush_poll.work, qp->flush_poll.delay);
}

/**
 * iwp_flush_poll_stop() - stop polling
 * @qp: queue pair that is being destroyed, without other references
 *
 * Context: may sleep.
 */
void iwp_flush_poll_stop(struct iwp_qp *qp)
{
	cancel_delayed_work_sync(&qp->flush_poll.work);
}

/**
 * iwp_flush_poll_init_module() - create the workqueue
 *
 * Return: 0 or -ENOMEM.
 */
int iwp_flush_poll_init_module(void)
{
	iwp_flush_wq = alloc_ordered_workqueue("iwarp_flush", 0);
	return iwp_flush_wq ? 0 : -ENOMEM;
}

/**
 * iwp_flush_poll_exit_module() - destroy the workqueue; there are no queue pairs
 */
void iwp_flush_poll_exit_module(void)
{
	destroy_workqueue(iwp_flush_wq);
}
