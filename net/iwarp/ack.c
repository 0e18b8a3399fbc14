// SPDX-License-Identifier: GPL-2.0
/*
 * Acknowledgements: the peer's requests complete by them, so they must not wait
 * as long as TCP lets them; but a packet of their own is dear, and an answer,
 * or more data, often follows at once.
 */
#include <net/tcp.h>

#include "ep.h"
#include "qp.h"

/* Longer than an answer takes on a quick machine, hardly noticed otherwise. */
#define IWP_ACK_DELAY		(50 * NSEC_PER_USEC)

/* Returns false if the socket is in use, and it has to be tried again. */
static bool iwp_ack_send(struct iwp_qp *qp, struct iwp_ep *ep)
{
	struct sock *sk = ep->sock->sk;
	bool owned;

	bh_lock_sock(sk);
	owned = sock_owned_by_user(sk);
	if (!owned) {
		qp->ack_armed = false;
		if (ep->fpdu && inet_csk_ack_scheduled(sk))
			tcp_send_ack(sk);
	}
	bh_unlock_sock(sk);
	return !owned;
}

static enum hrtimer_restart iwp_ack_due(struct hrtimer *timer)
{
	struct iwp_qp *qp = container_of(timer, struct iwp_qp, ack_timer);
	struct iwp_ep *ep = iwp_qp_ep(qp);
	bool done = true;

	if (ep) {
		done = iwp_ack_send(qp, ep);
		iwp_ep_put(ep);
	}
	if (!done) {
		hrtimer_forward_now(timer, ns_to_ktime(IWP_ACK_DELAY));
		return HRTIMER_RESTART;
	}
	iwp_qp_put(qp);
	return HRTIMER_NORESTART;
}

/**
 * iwp_ack_init() - prepare a queue pair
 * @qp: queue pair
 */
void iwp_ack_init(struct iwp_qp *qp)
{
	hrtimer_setup(&qp->ack_timer, iwp_ack_due, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
}

/**
 * iwp_ack_soon() - something was received
 * @qp: queue pair; the timer has a reference of its own
 *
 * Context: socket's lock held.
 */
void iwp_ack_soon(struct iwp_qp *qp)
{
	if (qp->ack_armed || !inet_csk_ack_scheduled(qp->tx.sk))
		return;
	qp->ack_armed = true;
	iwp_qp_get(qp);
	hrtimer_start(&qp->ack_timer, ns_to_ktime(IWP_ACK_DELAY),
		      HRTIMER_MODE_REL_SOFT);
}

/**
 * iwp_ack_stop() - the queue pair goes
 * @qp: queue pair, to which nobody refers
 */
void iwp_ack_stop(struct iwp_qp *qp)
{
	hrtimer_cancel(&qp->ack_timer);
}
