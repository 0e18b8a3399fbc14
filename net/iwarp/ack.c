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
/* It is doubled so often, while the program answers what it receives. */
#define IWP_ACK_SHIFT_MAX	4
/* And begins anew so often, while more arrives. */
#define IWP_ACK_AGAIN_MAX	4

static ktime_t iwp_ack_delay(const struct iwp_qp *qp)
{
	return ns_to_ktime(IWP_ACK_DELAY << qp->ack.shift);
}

/*
 * Who sends more does not wait to hear of what he has sent, so that one may do for
 * all of it.
 */
static bool iwp_ack_again(struct iwp_qp *qp)
{
	u32 received = tcp_sk(qp->tx.sk)->rcv_nxt;

	if (received == qp->ack.received ||
	    qp->ack.again == IWP_ACK_AGAIN_MAX)
		return false;
	qp->ack.received = received;
	qp->ack.again++;
	return true;
}

/* Returns whether to look again after a while. */
static bool iwp_ack_look(struct iwp_qp *qp)
{
	struct sock *sk = qp->tx.sk;

	if (!inet_csk_ack_scheduled(sk)) {
		if (tcp_sk(sk)->snd_nxt != qp->ack.sent &&
		    qp->ack.shift < IWP_ACK_SHIFT_MAX)
			qp->ack.shift++;
		return false;
	}
	if (iwp_ack_again(qp))
		return true;
	qp->ack.shift = 0;
	tcp_send_ack(sk);
	return false;
}

/* Returns whether to come again: there is more to wait for, or the socket is in use. */
static bool iwp_ack_run(struct iwp_qp *qp, struct iwp_ep *ep)
{
	struct sock *sk = ep->sock->sk;
	bool again = true;

	bh_lock_sock(sk);
	if (!sock_owned_by_user(sk)) {
		again = ep->fpdu && iwp_ack_look(qp);
		qp->ack.armed = again;
	}
	bh_unlock_sock(sk);
	return again;
}

static enum hrtimer_restart iwp_ack_due(struct hrtimer *timer)
{
	struct iwp_qp *qp = container_of(timer, struct iwp_qp, ack.timer);
	struct iwp_ep *ep = iwp_qp_ep(qp);
	bool again = false;

	if (ep) {
		again = iwp_ack_run(qp, ep);
		iwp_ep_put(ep);
	}
	if (again) {
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
	hrtimer_setup(&qp->ack.timer, iwp_ack_due, CLOCK_MONOTONIC,
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
	struct tcp_sock *tp = tcp_sk(qp->tx.sk);

	if (qp->ack.armed || !inet_csk_ack_scheduled(qp->tx.sk))
		return;
	qp->ack.armed = true;
	qp->ack.again = 0;
	qp->ack.received = tp->rcv_nxt;
	qp->ack.sent = tp->snd_nxt;
	iwp_qp_get(qp);
	hrtimer_start(&qp->ack.timer, iwp_ack_delay(qp),
		      HRTIMER_MODE_REL_SOFT);
}

/**
 * iwp_ack_stop() - the queue pair goes
 * @qp: queue pair, to which nobody refers
 */
void iwp_ack_stop(struct iwp_qp *qp)
{
	hrtimer_cancel(&qp->ack.timer);
}
