// SPDX-License-Identifier: GPL-2.0
/*
 * What happens to the RDMA side of a connection: completions, failures, its end.
 */
#include <rdma/ib_verbs.h>

#include "base/base.h"
#include "device.h"
#include "link.h"

/* Held until the teardown of a connection that is marked as broken is queued. */
static DEFINE_SPINLOCK(sdp_link_end_lock);

/**
 * sdp_link_end() - begin the end of a connection
 * @link: its RDMA side, with a cm_id, which cannot go meanwhile: the caller is its
 *	handler, or holds the socket lock and has seen it, or sdp_pair::lock as long as
 *	its stream is an end of a pair
 * @reason: 0 after an orderly close, else a negative errno.  -ECONNABORTED
 *	means that this end aborts.
 *
 * The first reason counts.  Nothing is posted from now on; a work item in process
 * context does the rest and notifies the socket at its end.
 *
 * Context: any, with or without the socket lock.
 */
void sdp_link_end(struct sdp_link *link, int reason)
{
	unsigned long irq;

	if (test_bit(SDP_CONN_BROKEN, &link->flags))
		return;
	spin_lock_irqsave(&sdp_link_end_lock, irq);
	if (!test_and_set_bit(SDP_CONN_BROKEN, &link->flags)) {
		link->reason = reason;
		link->ops->broken(link->sk);
	}
	spin_unlock_irqrestore(&sdp_link_end_lock, irq);
}

/**
 * sdp_link_sync_end() - wait for an sdp_link_end() that is at work
 *
 * After this a caller that has seen SDP_CONN_BROKEN finds ops::broken called.
 *
 * Context: process context.
 */
void sdp_link_sync_end(void)
{
	spin_lock_irq(&sdp_link_end_lock);
	spin_unlock_irq(&sdp_link_end_lock);
}

/**
 * sdp_link_wc_error() - a work request has failed
 * @link: RDMA side of a connection
 * @wc: work completion with an error status
 *
 * Providers differ in which status comes first, so that only the silence of the peer
 * is distinguished from all else.  While the connection is being set up the connection
 * manager knows the reason and reports it.
 *
 * Context: softirq, without the socket lock.
 */
void sdp_link_wc_error(struct sdp_link *link, const struct ib_wc *wc)
{
	bool silent = wc->status == IB_WC_RETRY_EXC_ERR ||
		      wc->status == IB_WC_RNR_RETRY_EXC_ERR;

	/* Its queue pair is in error because nothing may come that way. */
	if (sdp_link_is_local(link))
		return;
	if (wc->status != IB_WC_WR_FLUSH_ERR)
		sdp_dbg(link->sk, "a work request fails: %s", ib_wc_status_msg(wc->status));
	set_bit(SDP_CONN_FLUSHED, &link->flags);
	/* Pairs with the barrier in sdp_link_check_flushed(). */
	smp_mb__after_atomic();
	if (!sdp_in_state(link->sk, SDPF_CONNECTING))
		sdp_link_end(link, silent ? -ETIMEDOUT : -ECONNRESET);
}

/**
 * sdp_link_check_flushed() - whether the set-up came too late
 * @link: RDMA side of a connection; its socket is locked and has just left SYN_SENT
 *	or SYN_RECV
 *
 * Return: 0 or -ECONNRESET.
 */
int sdp_link_check_flushed(const struct sdp_link *link)
{
	sdp_owned(link->sk);
	/* Either this sees the failure, or the failure sees the new state. */
	smp_mb();
	return test_bit(SDP_CONN_FLUSHED, &link->flags) ? -ECONNRESET : 0;
}

/**
 * sdp_link_kick() - process completions now, or let the socket's owner do it
 * @link: RDMA side of a connection
 *
 * Context: softirq, or softirqs disabled, without the socket lock.
 */
void sdp_link_kick(struct sdp_link *link)
{
	struct sock *sk = link->sk;

	sdp_bh_lock_sock(sk);
	if (sdp_sock_owned(sk))
		set_bit(SDP_CONN_DEFERRED, &link->flags);
	else
		link->ops->interrupt(sk);
	sdp_bh_unlock_sock(sk);
}

/**
 * sdp_link_probe() - ask the peer now, or let the socket's owner do it
 * @link: RDMA side of a connection
 *
 * Context: softirq, or softirqs disabled, without the socket lock.
 */
void sdp_link_probe(struct sdp_link *link)
{
	struct sock *sk = link->sk;

	sdp_bh_lock_sock(sk);
	if (sdp_sock_owned(sk)) {
		set_bit(SDP_CONN_PROBE, &link->flags);
		set_bit(SDP_CONN_DEFERRED, &link->flags);
	} else {
		link->ops->probe(sk);
	}
	sdp_bh_unlock_sock(sk);
}

/**
 * sdp_link_poll() - have a softirq look for completions, without an interrupt
 * @link: RDMA side of a connection; if it has a queue pair, it does not go meanwhile
 *
 * What the peer has said may be there already.  A device that has lost an interrupt sends no
 * other for this completion queue, until somebody has polled it and asks for one again, as
 * the softirq does.
 *
 * Context: any.
 */
void sdp_link_poll(const struct sdp_link *link)
{
	if (link->qp)
		irq_poll_sched(&link->cq->iop);
}
