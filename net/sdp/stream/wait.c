// SPDX-License-Identifier: GPL-2.0
/*
 * Why data in the send ring waits, and that it leaves when nothing is left to wait for.
 *
 * The reason of the first message is st->tx.waits_for.  Whoever comes by, be it a call,
 * a completion or a timer, has it looked for anew; what becomes of the old one decides
 * what is counted and traced.
 */
#include <linux/hrtimer.h>
#include <linux/jiffies.h>

#include "stream.h"

/* As with TCP, what the program holds back leaves by itself after a while. */
#define SDP_HOLD_TIME	(HZ / 5)

/*
 * The longest packet that RDMA devices send, for paths of which we do not know
 * what theirs take.
 */
#define SDP_TX_PACKET_MAX	4096

/**
 * sdp_tx_count_flush() - count what has ended a wait
 * @st: stream of a locked socket (by its owner or in softirq)
 * @cause: what
 */
void sdp_tx_count_flush(struct sdp_stream *st, enum sdp_flush cause)
{
	sdp_owned(st->sk);
	st->stats.flushes[cause]++;
	SDP_INC_STATS(sock_net(st->sk), SDP_MIB_FLUSHCALLS + cause);
}

static void sdp_tx_trace_stall(const struct sdp_stream *st, enum sdp_tx_wait why)
{
	trace_sdp_credit_stall(st->sk, st->flow->name, why,
			       sdp_credit_available(&st->credit),
			       st->tx.out.size ? sdp_outring_space(&st->tx.out) : 0);
}

/* Data waits for the peer: from now on a timer looks whether it is there. */
static void sdp_tx_stall(struct sdp_stream *st, enum sdp_tx_wait why)
{
	if (!sdp_tx_stalled(&st->tx)) {
		SDP_INC_STATS(sock_net(st->sk), SDP_MIB_CREDITSTALLS);
		st->stats.credit_stalls++;
		if (trace_sdp_credit_stall_enabled())
			sdp_tx_trace_stall(st, why);
	}
	st->tx.waits_for = why;
	sdp_alive_stalled(st);
}

/* Data waits for something else, or leaves: no stall is left. */
static void sdp_tx_end_stall(struct sdp_stream *st, enum sdp_tx_wait why, enum sdp_flush cause)
{
	if (unlikely(sdp_tx_stalled(&st->tx))) {
		/* A pause is counted where it ends. */
		if (cause != SDP_FLUSH_PAUSE)
			sdp_tx_count_flush(st, cause);
		trace_sdp_flush(st->sk, sdp_ring_unsent(&st->tx.ring), cause,
				st->tx.waits_for);
		sdp_timer_disarm(st->sk, SDP_TIMER_FLUSH);
	}
	st->tx.waits_for = why;
}

/* What was held back is not counted: most of what leaves was. */
static void sdp_tx_end_hold(struct sdp_stream *st, const struct sdp_tx_msg *msg,
			    enum sdp_flush cause)
{
	const struct sdp_tx *tx = &st->tx;

	if (sdp_wait_is_hold(tx->waits_for))
		trace_sdp_flush(st->sk, sdp_ring_unsent(&tx->ring),
				msg->len >= tx->max_payload ? SDP_TRACE_FULL : cause,
				tx->waits_for);
	sdp_tx_end_stall(st, SDP_WAIT_NONE, cause);
}

/* Nagle's rule is about messages that leave a packet half empty. */
static bool sdp_tx_is_small(const struct sdp_tx *tx, u32 len)
{
	return len < (tx->packet ?: SDP_TX_PACKET_MAX);
}

/**
 * sdp_tx_nagle() - whether Nagle's rule holds a message back
 * @st: stream of a locked socket (by its owner or in softirq)
 * @len: bytes of the message
 *
 * Reliable connections acknowledge everything at once, so that the rule needs no timer, but
 * a completion must be due: the last work request is signaled.
 */
bool sdp_tx_nagle(const struct sdp_stream *st, u32 len)
{
	const struct sdp_tx *tx = &st->tx;

	sdp_owned(st->sk);
	return !sdp_base(st->sk)->opt.nodelay && sdp_tx_is_small(tx, len) &&
	       sdp_tx_posted(tx) && !tx->since_signal &&
	       st->credit.tx_acked != st->credit.tx_mseq;
}

/*
 * Why a message that could leave is held back.  One that is full is not, nor one that
 * was before messages could be longer.  The program has promised more with MSG_MORE;
 * but a ring may be so full that the program would wait for us.
 */
static enum sdp_tx_wait sdp_tx_hold(const struct sdp_stream *st, const struct sdp_tx_msg *msg)
{
	const struct sdp_tx *tx = &st->tx;

	if (!msg->open || msg->len >= tx->max_payload ||
	    tx->wait_head - tx->wait_tail != 1)
		return SDP_WAIT_NONE;
	if (tx->intent == SDP_INTENT_WRITE)
		return SDP_WAIT_WRITE;
	if (st->fin_queued)
		return SDP_WAIT_NONE;
	if (sdp_base(st->sk)->opt.cork)
		return SDP_WAIT_CORK;
	if (tx->intent == SDP_INTENT_MORE && sdp_tx_writeable(st))
		return SDP_WAIT_MORE;
	if (tx->out.size && sdp_burst_hold(&tx->burst))
		return SDP_WAIT_BURST;
	return sdp_tx_nagle(st, msg->len) ? SDP_WAIT_NAGLE : SDP_WAIT_NONE;
}

/*
 * Begins the time that what is held back waits for company.  While the timer is
 * pending it holds the socket.
 */
static void sdp_tx_start_pause(struct sdp_stream *st)
{
	const struct sdp_net *sn = sdp_net(sock_net(st->sk));

	if (!sdp_burst_wait(&st->tx.burst))
		return;
	if (hrtimer_try_to_cancel(&st->pause) <= 0)
		sock_hold(st->sk);
	hrtimer_start(&st->pause, ns_to_ktime((u64)READ_ONCE(sn->coalesce_time) *
					      NSEC_PER_USEC),
		      HRTIMER_MODE_REL_SOFT);
}

/* What is held back does not wait for ever, even if the program forgets it. */
static void sdp_tx_limit_hold(struct sdp_stream *st, enum sdp_tx_wait why)
{
	if (why == SDP_WAIT_BURST)
		sdp_tx_start_pause(st);
	if (why == SDP_WAIT_CORK || why == SDP_WAIT_MORE)
		sdp_timer_arm_once(st->sk, SDP_TIMER_HOLD, SDP_HOLD_TIME);
}

/*
 * What has stalled waits for the program's next call, if the engine is one that works
 * in calls only.  A program that sleeps in a call is in one, and one that is gone will
 * not come back.
 */
static bool sdp_tx_wait_for_call(struct sdp_stream *st, enum sdp_flush cause, bool asleep)
{
	const struct sdp_net *sn = sdp_net(sock_net(st->sk));

	if (likely(!sdp_tx_stalled(&st->tx)) || st->flow->async ||
	    (cause != SDP_FLUSH_INTERRUPT && cause != SDP_FLUSH_PAUSE) ||
	    st->fin_queued || sock_flag(st->sk, SOCK_DEAD) || asleep ||
	    sdp_has_sleeper(st->sk))
		return false;
	st->tx.waits_for = SDP_WAIT_CALL;
	sdp_timer_arm_once(st->sk, SDP_TIMER_FLUSH, msecs_to_jiffies(READ_ONCE(sn->flush_time)));
	return true;
}

/**
 * sdp_tx_fit() - how much data the peer and the device would take now
 * @st: stream of a locked socket (by its owner or in softirq)
 * @len: bytes that it has, not 0
 * @why: set to what it has to wait for if that is nothing
 *
 * Return: bytes; 0 if it has to wait.
 */
u32 sdp_tx_fit(const struct sdp_stream *st, u32 len, enum sdp_tx_wait *why)
{
	const struct sdp_outring *out = &st->tx.out;

	sdp_owned(st->sk);
	*why = SDP_WAIT_CREDITS;
	if (!sdp_credit_may_send(&st->credit, SDP_MID_DATA, len))
		return 0;
	*why = SDP_WAIT_SPACE;
	if (out->size)
		len = st->flow->fit(out, &st->credit, len);
	if (!len)
		return 0;
	*why = SDP_WAIT_QUEUE;
	/* Without immediate data, data in a ring takes two requests. */
	return sdp_tx_room(&st->tx, SDP_TX_RESERVED + !sdp_immediate_written(st)) ? len : 0;
}

/* There may be less, as where the ring ends. */
static bool sdp_tx_has_peer_room(const struct sdp_stream *st, u32 len)
{
	enum sdp_tx_wait why;

	return sdp_tx_fit(st, len, &why);
}

/**
 * sdp_tx_want_room() - a writer may have to wait for room at the peer
 * @st: stream of a locked socket
 * @len: bytes for which it would rather, than use the send ring's room; 0 = none
 *
 * Return: whether it has to; sk_write_space() is called when there is room, and
 * sdp_tx::room_wanted is 0 then.
 */
bool sdp_tx_want_room(struct sdp_stream *st, u32 len)
{
	struct sdp_tx *tx = &st->tx;

	sdp_owned(st->sk);
	if (len && sdp_tx_has_peer_room(st, len))
		len = 0;
	WRITE_ONCE(tx->room_wanted, len);
	return len;
}

/**
 * sdp_tx_look_for_room() - messages or completions have come, which may have made room
 * @st: stream of a locked socket (by its owner or in softirq) whose sdp_tx::room_wanted is
 *	set
 */
void sdp_tx_look_for_room(struct sdp_stream *st)
{
	sdp_owned(st->sk);
	if (!sdp_tx_has_peer_room(st, st->tx.room_wanted))
		return;
	WRITE_ONCE(st->tx.room_wanted, 0);
	st->sk->sk_write_space(st->sk);
}

/**
 * sdp_tx_ready() - how much data may leave now, as far as peer and device go
 * @st: stream of a locked socket (by its owner or in softirq)
 * @len: bytes that it has, not 0
 * @cause: what has come to look
 *
 * Return: bytes; 0 if it has to wait, for what st->tx.waits_for says.
 */
u32 sdp_tx_ready(struct sdp_stream *st, u32 len, enum sdp_flush cause)
{
	enum sdp_tx_wait why;
	u32 fit = sdp_tx_fit(st, len, &why);

	sdp_owned(st->sk);
	if (fit)
		return fit;
	if (why == SDP_WAIT_QUEUE)
		sdp_tx_end_stall(st, why, cause);
	else
		sdp_tx_stall(st, why);
	return 0;
}

/*
 * What goes into a ring is a stream, so that a message that was cut, or left
 * early, is filled up with bytes of the next; unless its last one is urgent.  Into
 * buffers, it is if the next is of the same write, which was cut before the peer's
 * buffers were as long as they are now.
 * Returns whether all of the next is in it now.
 */
static bool sdp_tx_fill_first(struct sdp_tx *tx)
{
	struct sdp_tx_msg *msg = sdp_tx_msg(tx, tx->wait_tail);
	struct sdp_tx_msg *next = sdp_tx_msg(tx, tx->wait_tail + 1);
	u32 part;

	if (tx->wait_head - tx->wait_tail < 2 || msg->urgent ||
	    msg->len >= tx->max_payload || (!tx->out.size && !msg->open))
		return false;
	part = min(next->len, tx->max_payload - msg->len);
	msg->len += part;
	next->len -= part;
	if (next->len)
		return false;
	next->len = msg->len;
	/* What was not to wait does not begin to. */
	next->open = next->open && msg->open;
	WRITE_ONCE(tx->wait_tail, tx->wait_tail + 1);
	return true;
}

/*
 * Sends so many bytes of the first message that waits; the rest, if there is
 * any, stays what it is.
 */
static bool sdp_tx_send_first(struct sdp_stream *st, u32 len, enum sdp_flush cause)
{
	struct sdp_tx *tx = &st->tx;
	struct sdp_tx_msg *msg = sdp_tx_msg(tx, tx->wait_tail);
	bool urgent = msg->urgent && len == msg->len;

	sdp_timer_disarm(st->sk, SDP_TIMER_HOLD);
	sdp_tx_end_hold(st, msg, cause);
	msg->len -= len;
	if (!msg->len)
		WRITE_ONCE(tx->wait_tail, tx->wait_tail + 1);
	SDP_SOCK_INC_STATS(st->sk, SDP_MIB_DATAOUT);
	sdp_need_answered(&st->rx.ring.need);
	return sdp_tx_post(st, SDP_MID_DATA, len, sdp_oob_flags(tx, urgent));
}

/**
 * sdp_tx_send() - send what waits in the send ring, as far as it need not wait on
 * @st: stream of a locked socket (by its owner or in softirq), nothing goes before it
 * @cause: what has come to look
 * @asleep: a call of the program sleeps until this has left
 *
 * Return: false if the connection is ending.
 */
bool sdp_tx_send(struct sdp_stream *st, enum sdp_flush cause, bool asleep)
{
	struct sdp_tx *tx = &st->tx;
	enum sdp_tx_wait hold;
	struct sdp_tx_msg *msg;
	u32 len;

	sdp_owned(st->sk);
	while (!sdp_tx_is_empty(tx) && !sdp_tx_wait_for_call(st, cause, asleep)) {
		while (sdp_tx_fill_first(tx))
			;
		msg = sdp_tx_msg(tx, tx->wait_tail);
		len = sdp_tx_ready(st, msg->len, cause);
		if (!len)
			return true;
		hold = sdp_tx_hold(st, msg);
		if (hold != SDP_WAIT_NONE) {
			sdp_tx_end_stall(st, hold, cause);
			sdp_tx_limit_hold(st, hold);
			return true;
		}
		if (!sdp_tx_send_first(st, sdp_tx_gatherable(st, len), cause))
			return false;
	}
	return true;
}

/**
 * sdp_tx_send_direct() - send data that is not in the send ring
 * @st: stream of a locked socket (by its owner or in softirq)
 * @len: bytes that sdp_tx_ready() has allowed
 * @payload: where they are
 * @cause: what has come to look
 *
 * Return: false if the connection is ending.
 */
bool sdp_tx_send_direct(struct sdp_stream *st, u32 len, struct sdp_payload *payload,
			enum sdp_flush cause)
{
	sdp_owned(st->sk);
	sdp_tx_end_stall(st, SDP_WAIT_NONE, cause);
	sdp_need_answered(&st->rx.ring.need);
	return sdp_tx_post_direct(st, len, payload);
}
