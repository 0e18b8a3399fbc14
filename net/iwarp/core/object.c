// SPDX-License-Identifier: GPL-2.0
/* References to queue pairs and endpoints, and events for the endpoint's work. */
#include <linux/net.h>
#include <linux/slab.h>

#include "device.h"
#include "object.h"

static struct workqueue_struct *iwp_wq;

/**
 * iwp_qp_get() - take a reference
 * @qp: queue pair, to which another reference exists
 */
void iwp_qp_get(struct iwp_qp *qp)
{
	refcount_inc(&qp->refs);
}

/**
 * iwp_qp_put() - drop a reference
 * @qp: queue pair
 */
void iwp_qp_put(struct iwp_qp *qp)
{
	if (refcount_dec_and_test(&qp->refs))
		complete(&qp->released);
}

/**
 * iwp_qp_find() - look up a queue pair by an untrusted number
 * @ibdev: device
 * @qpn: queue pair number
 *
 * Finds only queue pairs that are completely created and not being destroyed: these
 * have a reference while the xarray's lock is held.
 *
 * Context: any, interrupts may be disabled.
 * Return: the queue pair, with a reference, or NULL.
 */
struct iwp_qp *iwp_qp_find(struct ib_device *ibdev, u32 qpn)
{
	struct xarray *qps = &iwp_device(ibdev)->qps;
	unsigned long flags;
	struct iwp_qp *qp;

	xa_lock_irqsave(qps, flags);
	qp = xa_load(qps, qpn);
	if (qp && WARN_ON_ONCE(!refcount_inc_not_zero(&qp->refs)))
		qp = NULL;
	xa_unlock_irqrestore(qps, flags);
	return qp;
}

static void iwp_ep_free(struct work_struct *work)
{
	struct iwp_ep *ep = container_of(work, struct iwp_ep, free_work);

	if (ep->sock)
		sock_release(ep->sock);
	mutex_destroy(&ep->lock);
	kfree(ep);
}

/**
 * iwp_ep_get() - take a reference
 * @ep: endpoint
 */
void iwp_ep_get(struct iwp_ep *ep)
{
	refcount_inc(&ep->refs);
}

/**
 * iwp_ep_put() - drop a reference
 * @ep: endpoint
 *
 * Context: any.
 */
void iwp_ep_put(struct iwp_ep *ep)
{
	if (refcount_dec_and_test(&ep->refs))
		queue_work(iwp_wq, &ep->free_work);
}

/**
 * iwp_ep_signal() - queue the endpoint's work for an event
 * @ep: endpoint, to which the caller has a reference
 * @event: event
 *
 * Context: any.
 */
void iwp_ep_signal(struct iwp_ep *ep, enum iwp_ep_event event)
{
	set_bit(event, &ep->events);
	iwp_ep_get(ep);
	if (!queue_work(iwp_wq, &ep->work))
		iwp_ep_put(ep);
}

/* iwp_ep_drop_qp() drops the reference of @ep after it has cleared that under the lock. */
static struct iwp_ep *iwp_qp_ep_locked(const struct iwp_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	if (qp->ep)
		iwp_ep_get(qp->ep);
	return qp->ep;
}

/**
 * iwp_qp_ep() - get the endpoint of a queue pair
 * @qp: queue pair
 *
 * Context: any.
 * Return: the endpoint, with a reference, or NULL.
 */
struct iwp_ep *iwp_qp_ep(struct iwp_qp *qp)
{
	unsigned long flags;
	struct iwp_ep *ep;

	spin_lock_irqsave(&qp->lock, flags);
	ep = iwp_qp_ep_locked(qp);
	spin_unlock_irqrestore(&qp->lock, flags);
	return ep;
}

/**
 * iwp_qp_signal() - queue the work of the queue pair's endpoint
 * @qp: queue pair; no effect if it is not connected
 * @event: event
 *
 * Context: any.
 */
void iwp_qp_signal(struct iwp_qp *qp, enum iwp_ep_event event)
{
	struct iwp_ep *ep = iwp_qp_ep(qp);

	if (!ep)
		return;
	iwp_ep_signal(ep, event);
	iwp_ep_put(ep);
}

/**
 * iwp_qp_change_state_locked() - change the state
 * @qp: queue pair
 * @from: mask of allowed current states
 * @to: enum iwp_qp_state
 *
 * Context: any; the queue pair's lock held, and the socket lock while there is a
 * connection.
 * Return: whether the state was changed.
 */
bool iwp_qp_change_state_locked(struct iwp_qp *qp, unsigned long from, enum iwp_qp_state to)
{
	bool may = BIT(qp->state) & from;

	lockdep_assert_held(&qp->lock);
	if (may)
		WRITE_ONCE(qp->state, to);
	return may;
}

/**
 * iwp_qp_change_state() - the same, with the lock taken
 * @qp: queue pair
 * @from: mask of allowed current states
 * @to: enum iwp_qp_state
 *
 * Context: any; socket lock held while there is a connection.
 * Return: whether the state was changed.
 */
bool iwp_qp_change_state(struct iwp_qp *qp, unsigned long from, enum iwp_qp_state to)
{
	unsigned long flags;
	bool may;

	spin_lock_irqsave(&qp->lock, flags);
	may = iwp_qp_change_state_locked(qp, from, to);
	spin_unlock_irqrestore(&qp->lock, flags);
	return may;
}

/**
 * iwp_qp_abort() - move to the error state and end the connection
 * @qp: queue pair
 *
 * Context: socket lock held, or the endpoint's lock while it has no socket.
 */
void iwp_qp_abort(struct iwp_qp *qp)
{
	qp->ops->error(qp);
	iwp_qp_signal(qp, IWP_EV_ABORT);
}

/**
 * iwp_qp_fail() - have the connection end with a Terminate
 * @qp: queue pair; no effect if it is not connected
 * @error: error code for the peer
 *
 * For callers without the socket lock: the endpoint's work takes it.
 *
 * Context: any.
 */
void iwp_qp_fail(struct iwp_qp *qp, enum iwarp_error error)
{
	WRITE_ONCE(qp->failure, error);
	iwp_qp_signal(qp, IWP_EV_FAILED);
}

/**
 * iwp_ep_start_timer() - signal %IWP_EV_TIMEOUT after a delay
 * @ep: endpoint, locked; a running timer is restarted
 * @delay: jiffies
 */
void iwp_ep_start_timer(struct iwp_ep *ep, unsigned long delay)
{
	lockdep_assert_held(&ep->lock);
	iwp_ep_get(ep);
	if (mod_delayed_work(iwp_wq, &ep->timer, delay))
		iwp_ep_put(ep);
}

static void iwp_ep_expired(struct work_struct *work)
{
	struct iwp_ep *ep = container_of(work, struct iwp_ep, timer.work);

	iwp_ep_signal(ep, IWP_EV_TIMEOUT);
	iwp_ep_put(ep);
}

/**
 * iwp_ep_init() - initialize an endpoint with one reference
 * @ep: endpoint, zeroed
 * @work: handles its events
 */
void iwp_ep_init(struct iwp_ep *ep, work_func_t work)
{
	refcount_set(&ep->refs, 1);
	mutex_init(&ep->lock);
	INIT_WORK(&ep->work, work);
	INIT_DELAYED_WORK(&ep->timer, iwp_ep_expired);
	INIT_WORK(&ep->free_work, iwp_ep_free);
}

/**
 * iwp_objects_init() - create the workqueue of endpoints
 *
 * Return: 0 or -ENOMEM.
 */
int iwp_objects_init(void)
{
	iwp_wq = alloc_workqueue("iwarp_cm", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return iwp_wq ? 0 : -ENOMEM;
}

/**
 * iwp_objects_exit() - wait until all endpoints are freed
 *
 * All are closed, as their devices are gone, but work that holds a last reference may
 * still be queued.
 */
void iwp_objects_exit(void)
{
	destroy_workqueue(iwp_wq);
}
