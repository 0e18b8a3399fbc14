// SPDX-License-Identifier: GPL-2.0
/*
 * Endpoints: their work, which handles all events, and their end.
 *
 * Sockets, timers and queue pairs only signal events; the work handles them under the
 * endpoint's lock.
 *
 * Lock order: locks of iw_cm, a child's lock, its listener's lock, socket lock,
 * spinlocks. Only a new child, which nothing refers to yet, is locked under its
 * listener's lock.
 */
#include <linux/slab.h>
#include <net/tcp.h>

#include "stream/stream.h"
#include "loopback/loopback.h"
#include "qp/qp.h"
#include "internal.h"

/* Timeout of the peer's FIN after ours. */
#define IWP_CLOSE_SECONDS	10
/* Delay after a memory shortage, jiffies. */
#define IWP_RETRY_DELAY		(HZ / 10)

/**
 * iwp_ep_retry_later() - run the endpoint's work after a delay
 * @ep: endpoint, locked, without a deadline
 */
void iwp_ep_retry_later(struct iwp_ep *ep)
{
	lockdep_assert_held(&ep->lock);
	iwp_ep_start_timer(ep, IWP_RETRY_DELAY);
}

/**
 * iwp_ep_set_timer() - set the deadline of the current state
 * @ep: endpoint, locked
 * @seconds: until %IWP_EV_TIMEOUT
 */
void iwp_ep_set_timer(struct iwp_ep *ep, unsigned int seconds)
{
	lockdep_assert_held(&ep->lock);
	/* 0 means no deadline. */
	ep->deadline = (jiffies + seconds * HZ) ?: 1;
	iwp_ep_start_timer(ep, seconds * HZ);
}

/**
 * iwp_ep_stop_timer() - clear the deadline
 * @ep: endpoint, locked
 */
void iwp_ep_stop_timer(struct iwp_ep *ep)
{
	lockdep_assert_held(&ep->lock);
	ep->deadline = 0;
	if (cancel_delayed_work(&ep->timer))
		iwp_ep_put(ep);
}

/* The timer may have expired before it was restarted or stopped. */
static bool iwp_ep_timed_out(const struct iwp_ep *ep)
{
	return ep->deadline && time_after_eq(jiffies, ep->deadline);
}

/* Separates the queue pair from the socket. */
static void iwp_ep_detach(struct iwp_ep *ep)
{
	struct sock *sk;

	if (!ep->sock)
		return;
	iwp_loopback_withdraw(ep);
	sk = ep->sock->sk;
	lock_sock(sk);
	if (ep->fpdu) {
		iwp_tx_detach(ep->qp);
		iwp_iter_detach(ep->qp);
	}
	ep->fpdu = false;
	iwp_sock_unwatch(ep);
	if (ep->qp)
		iwp_qp_error(ep->qp);
	release_sock(sk);
	kernel_sock_shutdown(ep->sock, SHUT_RDWR);
}

static void iwp_ep_drop_qp(struct iwp_ep *ep)
{
	struct iwp_qp *qp = ep->qp;
	unsigned long flags;

	if (!qp)
		return;
	ep->qp = NULL;
	spin_lock_irqsave(&qp->lock, flags);
	qp->ep = NULL;
	spin_unlock_irqrestore(&qp->lock, flags);
	iwp_ep_put(ep);
	iwp_qp_put(qp);
}

static void iwp_ep_drop_id(struct iwp_ep *ep)
{
	struct iw_cm_id *id = ep->cm_id;

	ep->cm_id = NULL;
	if (id)
		id->rem_ref(id);
}

static void iwp_ep_upcall_end(struct iwp_ep *ep, u8 state, int err)
{
	if (!ep->cm_id)
		return;
	switch (state) {
	case IWP_EP_CONNECTING:
	case IWP_EP_WAIT_REP:
		iwp_ep_upcall(ep, ep->cm_id, IW_CM_EVENT_CONNECT_REPLY, err);
		break;
	case IWP_EP_FPDU:
	case IWP_EP_CLOSING:
		iwp_qp_report_error(ep->qp);
		iwp_ep_upcall(ep, ep->cm_id, IW_CM_EVENT_CLOSE, 0);
		break;
	}
}

/**
 * iwp_ep_finish() - close an endpoint
 * @ep: endpoint
 * @err: error for a consumer that waits for its connection
 *
 * Notifies the consumer, moves the queue pair to the error state, and shuts TCP down.
 * The endpoint may be freed when the caller drops its reference.
 *
 * Context: process, endpoint's lock held.
 */
void iwp_ep_finish(struct iwp_ep *ep, int err)
{
	u8 state = ep->state;

	lockdep_assert_held(&ep->lock);
	if (state == IWP_EP_CLOSED)
		return;
	ep->state = IWP_EP_CLOSED;
	iwp_ep_stop_timer(ep);
	iwp_ep_detach(ep);
	iwp_child_unlink(ep);
	iwp_request_remove(ep);
	iwp_ep_upcall_end(ep, state, err);
	iwp_ep_drop_id(ep);
	iwp_ep_drop_qp(ep);
	/* The reference of iwp_ep_new(). */
	iwp_ep_put(ep);
}

static bool iwp_sock_closed(const struct sock *sk)
{
	return sk->sk_err || (1 << READ_ONCE(sk->sk_state) &
			      (TCPF_CLOSE | TCPF_CLOSE_WAIT | TCPF_LAST_ACK |
			       TCPF_CLOSING | TCPF_TIME_WAIT));
}

/* Everything was sent: send our FIN, and wait for the peer's. */
static void iwp_ep_drained(struct iwp_ep *ep)
{
	ep->state = IWP_EP_CLOSING;
	iwp_ep_set_timer(ep, IWP_CLOSE_SECONDS);
	kernel_sock_shutdown(ep->sock, SHUT_WR);
}

/* Handles iwp_qp_fail(). */
static void iwp_ep_failed(struct iwp_ep *ep)
{
	struct sock *sk = ep->sock->sk;

	lock_sock(sk);
	if (ep->fpdu)
		iwp_tx_terminate(ep->qp, READ_ONCE(ep->qp->failure), NULL, 0);
	release_sock(sk);
}

/* The consumer may be about to come for what the peer has sent before its FIN. */
static void iwp_ep_take_rest(struct iwp_ep *ep)
{
	struct sock *sk = ep->sock->sk;

	lock_sock(sk);
	if (ep->fpdu)
		iwp_iter_end(ep->qp);
	release_sock(sk);
}

static void iwp_fpdu_step(struct iwp_ep *ep, unsigned long events)
{
	const struct sock *sk = ep->sock->sk;
	bool closed = iwp_sock_closed(sk);

	if (closed)
		iwp_ep_take_rest(ep);
	if (events & BIT(IWP_EV_FAILED))
		iwp_ep_failed(ep);
	if (events & BIT(IWP_EV_ABORT) ||
	    (closed && !iwp_hold_delays_close(ep->qp, sk)))
		iwp_ep_finish(ep, 0);
	else if (ep->state == IWP_EP_FPDU && events & BIT(IWP_EV_DRAINED))
		iwp_ep_drained(ep);
}

static void iwp_ep_step(struct iwp_ep *ep, unsigned long events)
{
	if (events & BIT(IWP_EV_TIMEOUT) && iwp_ep_timed_out(ep)) {
		iwp_ep_finish(ep, -ETIMEDOUT);
		return;
	}
	switch (ep->state) {
	case IWP_EP_LISTEN:
		iwp_listen_step(ep);
		break;
	case IWP_EP_CONNECTING:
	case IWP_EP_WAIT_REP:
		if (events & BIT(IWP_EV_ABORT))
			iwp_ep_finish(ep, -ECONNRESET);
		else
			iwp_connect_step(ep);
		break;
	case IWP_EP_WAIT_REQ:
		if (events & BIT(IWP_EV_ABORT))
			iwp_ep_finish(ep, -ECONNRESET);
		else
			iwp_request_step(ep);
		break;
	case IWP_EP_REQUESTED:
		/* The peer has given up, and the consumer may never respond. */
		if (iwp_sock_closed(ep->sock->sk))
			iwp_ep_finish(ep, -ECONNRESET);
		break;
	case IWP_EP_FPDU:
	case IWP_EP_CLOSING:
		iwp_fpdu_step(ep, events);
		break;
	}
}

static void iwp_ep_work(struct work_struct *work)
{
	struct iwp_ep *ep = container_of(work, struct iwp_ep, work);

	mutex_lock(&ep->lock);
	iwp_ep_step(ep, xchg(&ep->events, 0));
	mutex_unlock(&ep->lock);
	iwp_ep_put(ep);
}

/**
 * iwp_ep_new() - allocate an endpoint, without a socket
 * @dev: its device
 *
 * Return: the endpoint with one reference, which iwp_ep_finish() drops, or NULL.
 */
struct iwp_ep *iwp_ep_new(struct iwp_device *dev)
{
	struct iwp_ep *ep = kzalloc(sizeof(*ep), GFP_KERNEL_ACCOUNT);

	if (!ep)
		return NULL;
	iwp_ep_init(ep, iwp_ep_work);
	ep->dev = dev;
	INIT_LIST_HEAD(&ep->node);
	INIT_LIST_HEAD(&ep->children);
	spin_lock_init(&ep->children_lock);
	return ep;
}
