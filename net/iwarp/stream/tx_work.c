// SPDX-License-Identifier: GPL-2.0
/*
 * Who has the sender run: he who posts, the engine's timer, and work items for
 * where that cannot be, or is to be later.
 */
#include <linux/slab.h>
#include <net/tcp.h>

#include "offload/offload.h"
#include "internal.h"

/* How long to wait for memory. */
#define IWP_TX_RETRY		msecs_to_jiffies(10)

static struct workqueue_struct *iwp_tx_wq;
static struct workqueue_struct *iwp_engine_wq;

/**
 * iwp_tx_queue() - have a work item look at the queue pair
 * @qp: queue pair
 *
 * Context: any.
 */
void iwp_tx_queue(struct iwp_qp *qp)
{
	struct workqueue_struct *wq = iwp_design_offloaded(qp->design) ?
					      iwp_engine_wq : iwp_tx_wq;

	iwp_qp_get(qp);
	if (!queue_work(wq, &qp->tx.work))
		iwp_qp_put(qp);
}

/**
 * iwp_tx_retry() - have a work item look at the queue pair after a while
 * @qp: queue pair that was short of memory: to look at once would not help, and
 *	keep others from giving some back
 *
 * Context: any.
 */
void iwp_tx_retry(struct iwp_qp *qp)
{
	iwp_qp_get(qp);
	if (!queue_delayed_work(iwp_tx_wq, &qp->tx.retry, IWP_TX_RETRY))
		iwp_qp_put(qp);
}

/**
 * iwp_tx_queue_later() - have another work item do something after some time
 * @work: work item
 * @delay: jiffies
 *
 * Return: false if it is waiting already.
 */
bool iwp_tx_queue_later(struct delayed_work *work, unsigned long delay)
{
	return queue_delayed_work(iwp_tx_wq, work, delay);
}

/* Takes what waits for receive requests, and sends what can be sent. */
static void iwp_tx_process(struct iwp_qp *qp)
{
	if (qp->rx.hold.waiting)
		iwp_rx_ready(qp);
	iwp_tx_ready(qp);
}

/* Returns false if somebody else has the lock. */
static bool iwp_tx_try_process(struct iwp_ep *ep, struct iwp_qp *qp)
{
	struct sock *sk = ep->sock->sk;
	bool owned;

	if (!spin_trylock_bh(&sk->sk_lock.slock))
		return false;
	owned = sock_owned_by_user(sk);
	if (!owned && ep->fpdu)
		iwp_tx_process(qp);
	spin_unlock_bh(&sk->sk_lock.slock);
	return !owned;
}

/**
 * iwp_tx_kick() - there is something to send, or a receive request is there
 * @qp: queue pair
 *
 * The caller may hold any lock, even one that is taken below the socket's: so
 * this one is only tried.
 *
 * Context: any.
 */
void iwp_tx_kick(struct iwp_qp *qp)
{
	struct iwp_ep *ep = iwp_qp_ep(qp);

	if (!ep)
		return;
	/* An engine works while the host does something else. */
	if (iwp_design_offloaded(qp->design) || irqs_disabled() ||
	    in_hardirq() || !iwp_tx_try_process(ep, qp))
		iwp_tx_queue(qp);
	iwp_ep_put(ep);
}

/*
 * Who destroys the queue pair waits for this, after it has lost its last
 * reference.  Whoever has the socket may start the timer anew at any time: so it
 * never starts itself, and a work item waits for the socket.
 */
static enum hrtimer_restart iwp_tx_timer(struct hrtimer *timer)
{
	struct iwp_qp *qp = container_of(timer, struct iwp_qp, tx.timer);
	struct iwp_ep *ep;

	if (!refcount_inc_not_zero(&qp->refs))
		return HRTIMER_NORESTART;
	ep = iwp_qp_ep(qp);
	if (ep) {
		if (!iwp_tx_try_process(ep, qp))
			iwp_tx_queue(qp);
		iwp_ep_put(ep);
	}
	iwp_qp_put(qp);
	return HRTIMER_NORESTART;
}

/* Sends where nobody else could; takes the work item's reference. */
static void iwp_tx_work_run(struct iwp_qp *qp)
{
	struct iwp_ep *ep = iwp_qp_ep(qp);

	if (ep) {
		lock_sock(ep->sock->sk);
		iwp_hold_alloc(qp);
		if (ep->fpdu)
			iwp_tx_process(qp);
		release_sock(ep->sock->sk);
		iwp_ep_put(ep);
	}
	iwp_qp_put(qp);
}

static void iwp_tx_work(struct work_struct *work)
{
	iwp_tx_work_run(container_of(work, struct iwp_qp, tx.work));
}

static void iwp_tx_retry_work(struct work_struct *work)
{
	iwp_tx_work_run(container_of(to_delayed_work(work), struct iwp_qp,
				     tx.retry));
}

/**
 * iwp_stream_init() - a queue pair is new
 * @qp: queue pair
 */
void iwp_stream_init(struct iwp_qp *qp)
{
	iwp_hold_init(qp);
	INIT_WORK(&qp->tx.work, iwp_tx_work);
	INIT_DELAYED_WORK(&qp->tx.retry, iwp_tx_retry_work);
	hrtimer_setup(&qp->tx.timer, iwp_tx_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
	iwp_ack_init(qp);
}

/**
 * iwp_stream_stop() - a queue pair goes: no timer runs any more
 * @qp: queue pair, to which nobody refers
 *
 * Context: may sleep.
 */
void iwp_stream_stop(struct iwp_qp *qp)
{
	iwp_ack_stop(qp);
	hrtimer_cancel(&qp->tx.timer);
}

/**
 * iwp_stream_free() - a queue pair's memory goes
 * @qp: queue pair without references
 */
void iwp_stream_free(struct iwp_qp *qp)
{
	iwp_hold_free(qp);
	iwp_early_free(qp);
	kfree(qp->tx.reads);
	kfree(qp->tx.orq);
}

/**
 * iwp_tx_init() - prepare for senders
 *
 * Return: 0 or -ENOMEM.
 */
int iwp_tx_init(void)
{
	iwp_tx_wq = alloc_workqueue("iwarp_tx", WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	if (!iwp_tx_wq)
		return -ENOMEM;
	iwp_engine_wq = alloc_workqueue("iwarp_engine",
					WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	if (iwp_engine_wq)
		return 0;
	destroy_workqueue(iwp_tx_wq);
	return -ENOMEM;
}

/**
 * iwp_tx_exit() - no sender is left
 */
void iwp_tx_exit(void)
{
	destroy_workqueue(iwp_engine_wq);
	destroy_workqueue(iwp_tx_wq);
}
