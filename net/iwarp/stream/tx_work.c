// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts that the sender runs in: post_send(), the engine's timer, and work items
 * where neither is possible, or later.
 */
#include <linux/slab.h>
#include <net/tcp.h>

#include "offload/offload.h"
#include "internal.h"

/* Delay after a memory shortage. */
#define IWP_TX_RETRY		msecs_to_jiffies(10)

static struct workqueue_struct *iwp_tx_wq;
static struct workqueue_struct *iwp_engine_wq;

/**
 * iwp_tx_queue() - run the sender in a work item
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
 * iwp_tx_retry() - run the sender in a work item after a delay
 * @qp: queue pair that was short of memory: to retry at once would not help, and delay
 *	others that would free some
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
 * iwp_tx_queue_later() - queue other delayed work of a queue pair
 * @work: work item
 * @delay: jiffies
 *
 * Return: false if it is pending already.
 */
bool iwp_tx_queue_later(struct delayed_work *work, unsigned long delay)
{
	return queue_delayed_work(iwp_tx_wq, work, delay);
}

/* Delivers held messages, and sends what can be sent. */
static void iwp_tx_process(struct iwp_qp *qp)
{
	if (qp->rx.hold.waiting)
		iwp_rx_ready(qp);
	iwp_tx_ready(qp);
}

/*
 * Returns false if the socket lock is taken, perhaps by our own caller: kernels for one
 * processor, where a spinlock is nothing, cannot say.
 */
static bool iwp_tx_try_process(struct iwp_ep *ep, struct iwp_qp *qp)
{
	struct sock *sk = ep->sock->sk;
	bool owned;

	if (!IS_ENABLED(CONFIG_SMP) || !spin_trylock_bh(&sk->sk_lock.slock))
		return false;
	owned = sock_owned_by_user(sk);
	if (!owned && ep->fpdu)
		iwp_tx_process(qp);
	spin_unlock_bh(&sk->sk_lock.slock);
	return !owned;
}

/**
 * iwp_tx_kick() - something was posted: run the sender, deliver held messages
 * @qp: queue pair
 *
 * The caller may hold any lock, even one that is taken under the socket lock: so that
 * is only tried.
 *
 * Context: any.
 */
void iwp_tx_kick(struct iwp_qp *qp)
{
	struct iwp_ep *ep = iwp_qp_ep(qp);

	if (!ep)
		return;
	/* The engine works in parallel to the host. */
	if (iwp_design_offloaded(qp->design) || irqs_disabled() ||
	    in_hardirq() || !iwp_tx_try_process(ep, qp))
		iwp_tx_queue(qp);
	iwp_ep_put(ep);
}

/*
 * iwp_stream_stop() waits for the timer after the last reference to the queue pair is
 * gone. As holders of the socket lock restart the timer at any time, it does not
 * restart itself, and leaves waiting for the socket lock to a work item.
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

/* Takes over the work item's reference. */
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
 * iwp_stream_init() - initialize a new queue pair
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
	iwp_iter_init(qp);
}

/**
 * iwp_stream_stop() - stop the timers of a queue pair that is destroyed
 * @qp: queue pair without references
 *
 * Context: may sleep.
 */
void iwp_stream_stop(struct iwp_qp *qp)
{
	iwp_ack_stop(qp);
	iwp_iter_stop(qp);
	hrtimer_cancel(&qp->tx.timer);
}

/**
 * iwp_stream_free() - release a queue pair's memory
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
 * iwp_tx_init() - create the workqueues
 *
 * Return: 0 or -ENOMEM.
 */
int iwp_tx_init(void)
{
	const unsigned int flags = WQ_PERCPU | WQ_HIGHPRI | WQ_MEM_RECLAIM;

	iwp_tx_wq = alloc_workqueue("iwarp_tx", flags, 0);
	if (!iwp_tx_wq)
		return -ENOMEM;
	iwp_engine_wq = alloc_workqueue("iwarp_engine", flags, 0);
	if (iwp_engine_wq)
		return 0;
	destroy_workqueue(iwp_tx_wq);
	return -ENOMEM;
}

/**
 * iwp_tx_exit() - destroy the workqueues, and free pages; there are no queue pairs
 */
void iwp_tx_exit(void)
{
	destroy_workqueue(iwp_engine_wq);
	destroy_workqueue(iwp_tx_wq);
	iwp_frags_free();
}
