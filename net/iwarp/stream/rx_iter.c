// SPDX-License-Identifier: GPL-2.0
/*
 * Integrated buffering at the receiver: payload is copied from TCP's queue to where a
 * process wants it, and the consumer's memory is left out (Sockets Direct Protocol for hybrid
 * network stacks, section 4.1).
 *
 * A process takes what has arrived when it reads, in its own context; else softirq would
 * have placed it before. So what arrives between two reads waits in TCP's queue, and the
 * consumer is told; but not for long, as there are messages in it as well.
 */
#include <linux/uio.h>
#include <net/tcp.h>

#include "internal.h"

/* A process that reads a stream comes back sooner; and so long messages may wait. */
#define IWP_ITER_PATIENCE	(4 * NSEC_PER_MSEC)

/* How far a copy to a process's memory has come. */
struct iwp_iter_copy {
	struct iov_iter *to;
	u32 done;
	bool missing;
};

static void iwp_iter_piece(void *arg, const u8 *data, u32 len)
{
	struct iwp_iter_copy *copy = arg;
	u32 n;

	if (copy->missing)
		return;
	n = copy_to_iter(data, len, copy->to);
	copy->done += n;
	copy->missing = n < len;
}

/* Returns how many bytes were copied, which is all unless the memory is not there. */
static u32 iwp_iter_copy(struct iov_iter *to, const struct iwp_copy *from, u32 len)
{
	const struct iwarp_source *src = from->src;
	struct iwp_iter_copy copy = { .to = to };

	pagefault_disable();
	if (src->linear)
		iwp_iter_piece(&copy, src->linear + from->off, len);
	else
		src->pieces(src, from->off, len, iwp_iter_piece, &copy);
	pagefault_enable();
	return copy.done;
}

/*
 * Whether the consumer has handled all that came before; what is not verified yet may still
 * turn out to be damaged.
 */
static bool iwp_iter_wants(const struct iwp_qp *qp, const struct iwarp_source *src)
{
	const struct iwp_rx_iter *iter = &qp->rx.iter;
	const struct iwarp_rx *wire = &qp->rx.wire;

	return iter->to && iter->left && iter->recv.received == qp->rx.received &&
	       (src->linear || src->pieces) && (wire->verified || !wire->use_crc);
}

/* What is missing of the memory ends it. */
static u32 iwp_iter_take(struct iwp_rx_iter *iter, const struct iwp_copy *from, u32 len)
{
	u32 want = min(len, iter->left);
	u32 done = iwp_iter_copy(iter->to, from, want);

	iter->left = done < want ? 0 : iter->left - done;
	iter->placed += done;
	return done;
}

/* Whether a message is one whose payload the process gets, by the first bytes of it. */
static bool iwp_iter_accepts(const struct iwp_qp *qp, const struct iwarp_source *src, u32 off,
			     u32 len)
{
	const struct iw_ulp_recv *recv = &qp->rx.iter.recv;
	u8 header[IW_ULP_HEADER_MAX];

	if (!iwp_iter_wants(qp, src) || recv->header > sizeof(header) || len < recv->header)
		return false;
	src->copy(src, off, header, recv->header);
	return recv->accept(header);
}

/* Places payload that is accepted: up to the receive request's part, then the process's. */
static enum iwarp_error iwp_iter_split(struct iwp_qp *qp, const struct iwarp_hdr *hdr,
				       struct iwp_copy *copy, u32 len, u32 at)
{
	struct iwp_rx_iter *iter = &qp->rx.iter;
	u32 start = iter->recv.header + iter->sent, pos = hdr->mo + at;
	u32 before = pos < start ? min(start - pos, len) : 0, done = 0;
	enum iwarp_error error = IWARP_OK;

	if (before)
		error = iwp_rx_place_send(qp, hdr, copy->src, copy->off, before, at);
	copy->off += before;
	if (!error && pos + before == start)
		done = iwp_iter_take(iter, copy, len - before);
	iter->sent += done;
	done += before;
	copy->off += done - before;
	if (!error && done < len)
		error = iwp_rx_place_send(qp, hdr, copy->src, copy->off, len - done, at + done);
	return error;
}

/**
 * iwp_iter_place_send() - place payload of a Send message, in a process's memory if it is
 *	wanted there
 * @qp: queue pair with a receive request, which gets the header in any case
 * @hdr: header of the segment
 * @src: source
 * @off: offset in @src
 * @len: number of bytes, not 0
 * @at: offset in the segment's payload
 *
 * Context: socket lock held.
 * Return: error code or %IWARP_OK.
 */
enum iwarp_error iwp_iter_place_send(struct iwp_qp *qp, const struct iwarp_hdr *hdr,
				     const struct iwarp_source *src, u32 off, u32 len, u32 at)
{
	struct iwp_copy copy = { .src = src, .off = off };
	struct iwp_rx_iter *iter = &qp->rx.iter;

	if (!(hdr->mo + at)) {
		iter->sent = 0;
		iter->accepted = iwp_iter_accepts(qp, src, off, len);
	}
	if (likely(!iter->accepted) || !iwp_iter_wants(qp, src))
		return iwp_rx_place_send(qp, hdr, src, off, len, at);
	return iwp_iter_split(qp, hdr, &copy, len, at);
}

static void iwp_iter_arm(struct iwp_qp *qp)
{
	struct iwp_rx_iter *iter = &qp->rx.iter;

	if (iter->armed)
		return;
	iter->armed = true;
	iwp_qp_get(qp);
	hrtimer_start(&iter->timer, ns_to_ktime(IWP_ITER_PATIENCE), HRTIMER_MODE_REL_SOFT);
}

/* Something waits: once until the consumer comes. */
static void iwp_iter_tell(struct iwp_qp *qp)
{
	struct iwp_rx_iter *iter = &qp->rx.iter;

	if (iter->told)
		return;
	iter->told = true;
	iter->told_at = ktime_get_ns();
	iwp_iter_arm(qp);
	iter->ready(qp->ibqp.qp_context);
}

/* A response to our own read is what the consumer waits for. */
static bool iwp_iter_may_wait(const struct iwp_qp *qp)
{
	const struct iwp_rx_iter *iter = &qp->rx.iter;

	return iter->low && !iter->suspended && qp->state == IWP_QP_RTS &&
	       !qp->rx.hold.waiting && qp->tx.orq_get == qp->tx.orq_put;
}

/**
 * iwp_iter_waits() - whether what TCP has is left to the consumer
 * @qp: queue pair
 *
 * Context: socket lock held.
 */
bool iwp_iter_waits(struct iwp_qp *qp)
{
	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	if (likely(!qp->rx.iter.low) || !iwp_iter_may_wait(qp))
		return false;
	iwp_ack_schedule(qp);
	if (tcp_inq(qp->tx.sk) >= qp->rx.iter.low)
		iwp_iter_tell(qp);
	else
		iwp_iter_arm(qp);
	return true;
}

/* What was left to the consumer is handled as if it arrived now. */
static void iwp_iter_resume(struct iwp_qp *qp)
{
	struct iwp_rx_iter *iter = &qp->rx.iter;

	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	if (!iter->low || iter->suspended)
		return;
	iter->suspended = true;
	iter->told = false;
	iwp_rx_ready(qp);
}

/* Whether something waits that the consumer was told of a moment ago. */
static bool iwp_iter_recent(const struct iwp_rx_iter *iter)
{
	return iter->told && ktime_get_ns() - iter->told_at < IWP_ITER_PATIENCE;
}

/* Returns whether to look again. */
static bool iwp_iter_check(struct iwp_qp *qp, struct iwp_ep *ep)
{
	struct iwp_rx_iter *iter = &qp->rx.iter;
	struct sock *sk = ep->sock->sk;
	bool again = true;

	bh_lock_sock(sk);
	if (!sock_owned_by_user(sk)) {
		again = ep->fpdu && iwp_iter_recent(iter);
		iter->armed = again;
		if (ep->fpdu && !again && tcp_inq(sk))
			iwp_iter_resume(qp);
	}
	bh_unlock_sock(sk);
	return again;
}

static enum hrtimer_restart iwp_iter_expired(struct hrtimer *timer)
{
	struct iwp_qp *qp = container_of(timer, struct iwp_qp, rx.iter.timer);
	struct iwp_ep *ep = iwp_qp_ep(qp);
	bool again = false;

	if (ep) {
		again = iwp_iter_check(qp, ep);
		iwp_ep_put(ep);
	}
	if (again) {
		hrtimer_forward_now(timer, ns_to_ktime(IWP_ITER_PATIENCE));
		return HRTIMER_RESTART;
	}
	iwp_qp_put(qp);
	return HRTIMER_NORESTART;
}

/**
 * iwp_iter_init() - initialize a new queue pair
 * @qp: queue pair
 */
void iwp_iter_init(struct iwp_qp *qp)
{
	hrtimer_setup(&qp->rx.iter.timer, iwp_iter_expired, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
}

/**
 * iwp_iter_detach() - the queue pair leaves its socket
 * @qp: queue pair
 *
 * Its end does not wait for the timer.
 *
 * Context: socket lock held.
 */
void iwp_iter_detach(struct iwp_qp *qp)
{
	struct iwp_rx_iter *iter = &qp->rx.iter;

	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	iter->low = 0;
	if (!iter->armed || hrtimer_try_to_cancel(&iter->timer) != 1)
		return;
	iter->armed = false;
	iwp_qp_put(qp);
}

/**
 * iwp_iter_stop() - stop the timer of a queue pair that is destroyed
 * @qp: queue pair without references
 */
void iwp_iter_stop(struct iwp_qp *qp)
{
	hrtimer_cancel(&qp->rx.iter.timer);
}

/* Takes what has arrived until a receive request has completed; the rest may wait. */
static u32 iwp_iter_read(struct iwp_qp *qp, const struct iw_ulp_recv *recv, struct iov_iter *to)
{
	struct iwp_rx_iter *iter = &qp->rx.iter;
	bool over;

	iter->to = to;
	iter->recv = *recv;
	iter->left = recv->len;
	iter->placed = 0;
	iter->suspended = false;
	iter->told = false;
	iwp_rx_ready(qp);
	iter->to = NULL;
	over = iter->over;
	iter->over = false;
	if (over && !iwp_iter_may_wait(qp))
		iwp_rx_ready(qp);
	else if (over && tcp_inq(qp->tx.sk))
		iwp_iter_tell(qp);
	iwp_count(qp->dev, IWP_STAT_RX_ITER_BYTES, iter->placed);
	return iter->placed;
}

/*
 * Locks the socket of a connection without loopback. Completions are not to wait for
 * ksoftirqd, so that softirqs are disabled, too.
 */
static struct iwp_ep *iwp_iter_lock(struct iwp_qp *qp)
{
	struct iwp_ep *ep;

	/* An endpoint that is not connected may have no socket. */
	if (READ_ONCE(qp->loopback.pair) || READ_ONCE(qp->state) != IWP_QP_RTS)
		return NULL;
	ep = iwp_qp_ep(qp);
	if (!ep)
		return NULL;
	lock_sock(ep->sock->sk);
	local_bh_disable();
	return ep;
}

static void iwp_iter_unlock(struct iwp_ep *ep)
{
	local_bh_enable();
	release_sock(ep->sock->sk);
	iwp_ep_put(ep);
}

/**
 * iwp_rx_iter() - handle what has arrived, and place payload in a process's memory
 * @qp: queue pair of a kernel consumer
 * @recv: what of, and how much
 * @to: the memory; advanced behind what was placed
 *
 * Context: process context without spinlocks; does not wait for the memory.
 * Return: bytes placed; 0 if nothing was, or the queue pair is not connected, or is with a
 * peer in this kernel.
 */
u32 iwp_rx_iter(struct iwp_qp *qp, const struct iw_ulp_recv *recv, struct iov_iter *to)
{
	struct iwp_ep *ep = iwp_iter_lock(qp);
	u32 placed = 0;

	if (!ep)
		return 0;
	if (ep->fpdu && qp->state == IWP_QP_RTS)
		placed = iwp_iter_read(qp, recv, to);
	iwp_iter_unlock(ep);
	return placed;
}

/**
 * iwp_iter_end() - nothing is left to the consumer any more
 * @qp: queue pair
 *
 * Context: socket lock held.
 */
void iwp_iter_end(struct iwp_qp *qp)
{
	struct iwp_rx_iter *iter = &qp->rx.iter;

	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	if (!iter->low)
		return;
	iter->low = 0;
	iter->told = false;
	iwp_rx_ready(qp);
}

/**
 * iwp_iter_set_low() - leave what arrives to the consumer from now on, or leave nothing
 * @qp: queue pair of a kernel consumer
 * @low: bytes from which on @ready is called; 0 = nothing is left
 * @ready: tells that something waits
 *
 * Nothing is left with markers, as what comes behind a hole is placed early then; nor behind
 * the peer's FIN.
 *
 * Context: process context without spinlocks.
 * Return: whether it is so.
 */
bool iwp_iter_set_low(struct iwp_qp *qp, u32 low, void (*ready)(void *context))
{
	struct iwp_ep *ep = iwp_iter_lock(qp);
	bool left;

	if (!ep)
		return false;
	left = low && ep->fpdu && !qp->rx.wire.interval &&
	       ep->sock->sk->sk_state == TCP_ESTABLISHED;
	if (left) {
		qp->rx.iter.ready = ready;
		qp->rx.iter.low = low;
		qp->rx.iter.suspended = false;
	} else if (ep->fpdu) {
		iwp_iter_end(qp);
	}
	iwp_iter_unlock(ep);
	return left;
}
