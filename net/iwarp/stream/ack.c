// SPDX-License-Identifier: GPL-2.0
/*
 * Delayed acknowledgments. The peer's requests complete by them, so they must not wait
 * as long as TCP's own; but a separate packet is expensive, and a response or more data
 * often follows soon.
 */
#include <net/tcp.h>

#include "internal.h"

/* Longer than a response takes on a fast machine. */
#define IWP_ACK_DELAY		(50 * NSEC_PER_USEC)
/* Maximum number of doublings while the program responds to what it receives. */
#define IWP_ACK_SHIFT_MAX	4
/* Maximum number of extensions while more data arrives. */
#define IWP_ACK_EXTEND_MAX	4
/* Maximum number of doublings then: TCP itself acknowledges a stream. */
#define IWP_ACK_EXTEND_SHIFT_MAX	2

static u64 iwp_ack_delay(const struct iwp_qp *qp)
{
	return IWP_ACK_DELAY << qp->ack.shift;
}

static void iwp_ack_double_delay(struct iwp_qp *qp)
{
	if (qp->ack.shift < IWP_ACK_SHIFT_MAX)
		qp->ack.shift++;
}

static void iwp_ack_snapshot(struct iwp_qp *qp)
{
	const struct tcp_sock *tp = tcp_sk(qp->tx.sk);

	qp->ack.extended = 0;
	qp->ack.received = tp->rcv_nxt;
	qp->ack.sent = tp->snd_nxt;
}

static bool iwp_ack_sent(const struct iwp_qp *qp)
{
	return tcp_sk(qp->tx.sk)->snd_nxt != qp->ack.sent;
}

static bool iwp_ack_received(const struct iwp_qp *qp)
{
	return tcp_sk(qp->tx.sk)->rcv_nxt != qp->ack.received;
}

/* A peer that keeps sending does not wait for this acknowledgment. */
static bool iwp_ack_extend(struct iwp_qp *qp)
{
	if (!iwp_ack_received(qp) || qp->ack.extended == IWP_ACK_EXTEND_MAX)
		return false;
	qp->ack.received = tcp_sk(qp->tx.sk)->rcv_nxt;
	qp->ack.extended++;
	return true;
}

/* Returns the delay until the next check, nanoseconds; 0 = until more arrives. */
static u64 iwp_ack_check(struct iwp_qp *qp)
{
	struct sock *sk = qp->tx.sk;

	if (!inet_csk_ack_scheduled(sk)) {
		if (iwp_ack_sent(qp))
			iwp_ack_double_delay(qp);
		return 0;
	}
	/* Earlier data was responded to, and the new data may be soon. */
	if (iwp_ack_sent(qp) && iwp_ack_received(qp)) {
		iwp_ack_double_delay(qp);
		iwp_ack_snapshot(qp);
		return iwp_ack_delay(qp);
	}
	if (iwp_ack_extend(qp))
		return IWP_ACK_DELAY << min(qp->ack.extended,
					    IWP_ACK_EXTEND_SHIFT_MAX);
	qp->ack.shift = 0;
	tcp_send_ack(sk);
	return 0;
}

/* Returns as iwp_ack_check(); retries soon if the socket is owned. */
static u64 iwp_ack_run(struct iwp_qp *qp, struct iwp_ep *ep)
{
	struct sock *sk = ep->sock->sk;
	u64 delay = IWP_ACK_DELAY;

	bh_lock_sock(sk);
	if (!sock_owned_by_user(sk)) {
		delay = ep->fpdu ? iwp_ack_check(qp) : 0;
		qp->ack.armed = delay;
	}
	bh_unlock_sock(sk);
	return delay;
}

static enum hrtimer_restart iwp_ack_expired(struct hrtimer *timer)
{
	struct iwp_qp *qp = container_of(timer, struct iwp_qp, ack.timer);
	struct iwp_ep *ep = iwp_qp_ep(qp);
	u64 delay = 0;

	if (ep) {
		delay = iwp_ack_run(qp, ep);
		iwp_ep_put(ep);
	}
	if (delay) {
		hrtimer_forward_now(timer, ns_to_ktime(delay));
		return HRTIMER_RESTART;
	}
	iwp_qp_put(qp);
	return HRTIMER_NORESTART;
}

/**
 * iwp_ack_init() - initialize a new queue pair
 * @qp: queue pair
 */
void iwp_ack_init(struct iwp_qp *qp)
{
	hrtimer_setup(&qp->ack.timer, iwp_ack_expired, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
}

/**
 * iwp_ack_schedule() - data was received: schedule an acknowledgment
 * @qp: queue pair; the timer takes a reference
 *
 * Context: socket lock held.
 */
void iwp_ack_schedule(struct iwp_qp *qp)
{
	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	if (qp->ack.armed || !inet_csk_ack_scheduled(qp->tx.sk))
		return;
	qp->ack.armed = true;
	iwp_ack_snapshot(qp);
	iwp_qp_get(qp);
	hrtimer_start(&qp->ack.timer, ns_to_ktime(iwp_ack_delay(qp)),
		      HRTIMER_MODE_REL_SOFT);
}

/**
 * iwp_ack_stop() - stop the timer of a queue pair that is destroyed
 * @qp: queue pair without references
 */
void iwp_ack_stop(struct iwp_qp *qp)
{
	hrtimer_cancel(&qp->ack.timer);
}
