// SPDX-License-Identifier: GPL-2.0
/*
 * The send side of the copy path (BSDP): what leaves when, as fast as the
 * peer's credits and its ring allow.
 */
#include <linux/hrtimer.h>
#include <linux/jiffies.h>

#include "base/base.h"
#include "rdma/rdma.h"
#include "stream/stream.h"
#include "conn.h"
#include "keepalive.h"

/* As with TCP, what the program holds back leaves by itself after a while. */
#define SDP_HOLD_TIME	(HZ / 5)

/*
 * A peer that waits for space is told of a little of it so often at most: the
 * word costs about as much as a short message does.
 */
#define SDP_TX_TELL_PERIOD_US	400

/**
 * sdp_tx_count_cause() - count what has sent data on that had waited
 * @conn: connection of a locked socket (by its owner or in softirq)
 * @cause: what
 */
void sdp_tx_count_cause(struct sdp_conn *conn, enum sdp_flush cause)
{
	sdp_owned(&conn->sk);
	conn->stream.stats.flushes[cause]++;
	SDP_INC_STATS(sock_net(&conn->sk), SDP_MIB_FLUSHCALLS + cause);
	conn->stream.tx.held = false;
	trace_sdp_flush(&conn->sk, sdp_ring_unsent(&conn->stream.tx.ring), cause);
}

/*
 * Begins the time that what is held back waits for company.  While the timer is
 * pending it holds the socket.
 */
static void sdp_tx_wait_burst(struct sdp_conn *conn)
{
	const struct sdp_net *sn = sdp_net(sock_net(&conn->sk));
	struct hrtimer *timer = &conn->pause;

	if (!sdp_burst_wait(&conn->stream.tx.burst))
		return;
	if (hrtimer_try_to_cancel(timer) <= 0)
		sock_hold(&conn->sk);
	hrtimer_start(timer, ns_to_ktime((u64)READ_ONCE(sn->coalesce_time) *
					 NSEC_PER_USEC),
		      HRTIMER_MODE_REL_SOFT);
}

/*
 * The longest packet that RDMA devices send, for paths of which we do not know
 * what theirs take.
 */
#define SDP_TX_PACKET_MAX	4096

/* Nagle's rule is about messages that leave a packet half empty. */
static bool sdp_tx_is_small(const struct sdp_tx *tx, u32 len)
{
	return len < (tx->packet ?: SDP_TX_PACKET_MAX);
}

/*
 * Whether a message that is not full waits for more data: while the write that
 * fills it goes on; while the socket is corked; if the program has promised
 * more, but not in a ring that is so full that the program would wait for us;
 * in a burst, of which the device has its share; and by Nagle's rule while
 * another such message is on its way.  Reliable connections acknowledge
 * everything at once, so that this rule needs no timer, but a completion must be
 * due: the last work request is signaled.
 */
static bool sdp_tx_hold(struct sdp_conn *conn, const struct sdp_tx_msg *msg)
{
	struct sdp_tx *tx = &conn->stream.tx;
	const struct sdp_credit *credit = &conn->stream.credit;

	if (!msg->open || msg->len >= tx->max_payload)
		return false;
	/* Others were full before messages could be longer. */
	if (tx->wait_head - tx->wait_tail != 1)
		return false;
	if (tx->more)
		return true;
	if (conn->stream.fin_queued)
		return false;
	if (conn->base.opt.cork ||
	    (tx->hold && sdp_tx_writeable(&conn->stream)))
		return true;
	if (tx->out.size && sdp_burst_hold(&tx->burst)) {
		sdp_tx_wait_burst(conn);
		return true;
	}
	return !conn->base.opt.nodelay && sdp_tx_is_small(tx, msg->len) &&
	       sdp_tx_posted(tx) && !tx->since_signal &&
	       credit->tx_acked != credit->tx_mseq;
}

/* What the program forgets does not wait for ever. */
static void sdp_tx_held(struct sdp_conn *conn)
{
	conn->stream.tx.held |= !conn->stream.tx.more;
	if (conn->base.opt.cork || conn->stream.tx.hold)
		sdp_timer_arm_once(&conn->sk, SDP_TIMER_HOLD, SDP_HOLD_TIME);
}

/* How much of a message the peer has room for; 0 = it has to wait. */
static u32 sdp_tx_fit(const struct sdp_conn *conn, u32 len)
{
	const struct sdp_outring *out = &conn->stream.tx.out;

	if (!sdp_credit_may_send(&conn->stream.credit, SDP_MID_DATA, len))
		return 0;
	return out->size ? conn->stream.flow->fit(out, &conn->stream.credit, len) : len;
}

static void sdp_tx_trace_stall(struct sdp_conn *conn)
{
	const struct sdp_stream *st = &conn->stream;

	trace_sdp_credit_stall(&conn->sk, st->flow->id,
			       sdp_credit_data(&st->credit) ? SDP_LACK_SPACE : SDP_LACK_CREDITS,
			       sdp_credit_available(&st->credit),
			       st->tx.out.size ? sdp_outring_space(&st->tx.out) : 0);
}

static void sdp_tx_stall(struct sdp_conn *conn)
{
	if (!conn->stream.tx.stalled) {
		SDP_INC_STATS(sock_net(&conn->sk), SDP_MIB_CREDITSTALLS);
		conn->stream.stats.credit_stalls++;
		conn->stream.tx.stalled = true;
		if (trace_sdp_credit_stall_enabled())
			sdp_tx_trace_stall(conn);
	}
	sdp_alive_stalled(&conn->stream);
}

static void sdp_tx_count_flush(struct sdp_conn *conn, enum sdp_flush cause)
{
	struct sdp_tx *tx = &conn->stream.tx;

	if (!tx->stalled)
		return;
	tx->stalled = false;
	sdp_tx_count_cause(conn, cause);
	sdp_timer_disarm(&conn->sk, SDP_TIMER_FLUSH);
}

/* What was held back for company is not counted: most of what leaves was. */
static void sdp_tx_trace_held(struct sdp_conn *conn, const struct sdp_tx_msg *msg,
			      enum sdp_flush cause)
{
	struct sdp_tx *tx = &conn->stream.tx;

	tx->held = false;
	trace_sdp_flush(&conn->sk, sdp_ring_unsent(&tx->ring),
			msg->len >= tx->max_payload ? SDP_TRACE_FULL : cause);
}

/*
 * What has waited for the peer's space waits for the program's next call, if
 * the engine is one that works in calls only.  A program that sleeps in a call
 * is in one, and one that is gone will not come back.
 */
static bool sdp_tx_wait_for_call(struct sdp_conn *conn, enum sdp_flush cause)
{
	const struct sdp_net *sn = sdp_net(sock_net(&conn->sk));
	const struct sdp_tx *tx = &conn->stream.tx;

	if (conn->stream.flow->async || !tx->stalled ||
	    cause != SDP_FLUSH_INTERRUPT || conn->stream.fin_queued ||
	    sock_flag(&conn->sk, SOCK_DEAD) ||
	    sdp_zsend_waited_for(&conn->zcopy) || sdp_has_sleeper(&conn->sk))
		return false;
	sdp_timer_arm_once(&conn->sk, SDP_TIMER_FLUSH,
			   msecs_to_jiffies(READ_ONCE(sn->flush_time)));
	return true;
}

/*
 * What goes into a ring is a stream, so that a message that was cut, or left
 * early, is filled up with bytes of the next; unless its last one is urgent.
 * Returns whether all of the next is in it now.
 */
static bool sdp_tx_fill_first(struct sdp_tx *tx)
{
	struct sdp_tx_msg *msg = sdp_tx_msg(tx, tx->wait_tail);
	struct sdp_tx_msg *next = sdp_tx_msg(tx, tx->wait_tail + 1);
	u32 part;

	if (tx->wait_head - tx->wait_tail < 2 || msg->urgent ||
	    msg->len >= tx->max_payload)
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
static bool sdp_tx_post_first(struct sdp_conn *conn, u32 len,
			      enum sdp_flush cause)
{
	struct sdp_tx *tx = &conn->stream.tx;
	struct sdp_tx_msg *msg = sdp_tx_msg(tx, tx->wait_tail);
	bool urgent = msg->urgent && len == msg->len;

	sdp_timer_disarm(&conn->sk, SDP_TIMER_HOLD);
	sdp_tx_count_flush(conn, cause);
	if (tx->held)
		sdp_tx_trace_held(conn, msg, cause);
	msg->len -= len;
	if (!msg->len)
		WRITE_ONCE(tx->wait_tail, tx->wait_tail + 1);
	SDP_SOCK_INC_STATS(&conn->sk, SDP_MIB_DATAOUT);
	return sdp_tx_post(&conn->stream, SDP_MID_DATA, len,
			   sdp_oob_flags(tx, urgent));
}

static bool sdp_tx_push_data(struct sdp_conn *conn, enum sdp_flush cause)
{
	struct sdp_tx *tx = &conn->stream.tx;
	struct sdp_tx_msg *msg;
	u32 len;

	/* Nothing overtakes what is advertised. */
	while (tx->wait_tail != tx->wait_head &&
	       !sdp_zsource_busy(&conn->zcopy.source) &&
	       !conn->stream.async_out && !sdp_tx_wait_for_call(conn, cause)) {
		while (tx->out.size && sdp_tx_fill_first(tx))
			;
		msg = sdp_tx_msg(tx, tx->wait_tail);
		len = sdp_tx_fit(conn, msg->len);
		if (!len) {
			sdp_tx_stall(conn);
			return true;
		}
		/* Without immediate data, data in a ring takes two requests. */
		if (!sdp_tx_room(tx, SDP_TX_RESERVED +
				 !sdp_immediate_written(&conn->stream)))
			return true;
		if (sdp_tx_hold(conn, msg)) {
			sdp_tx_held(conn);
			return true;
		}
		len = sdp_tx_gatherable(&conn->stream, len);
		if (!sdp_tx_post_first(conn, len, cause))
			return false;
	}
	return true;
}

/* Sends what the peer refused to read of a program's pages. */
static bool sdp_tx_push_direct(struct sdp_conn *conn, enum sdp_flush cause)
{
	u32 left, len;

	while ((left = sdp_zdirect_left(&conn->zcopy))) {
		len = sdp_zdirect_fit(&conn->zcopy,
				      min(left, conn->stream.tx.max_payload));
		len = sdp_tx_fit(conn, len);
		if (!len) {
			sdp_tx_stall(conn);
			return true;
		}
		if (!sdp_tx_room(&conn->stream.tx, SDP_TX_RESERVED))
			return true;
		sdp_tx_count_flush(conn, cause);
		if (!sdp_tx_post_direct(&conn->stream, len,
					&conn->zcopy.direct_payload))
			return false;
	}
	return true;
}

static bool sdp_tx_push_fin(struct sdp_conn *conn)
{
	struct sdp_tx *tx = &conn->stream.tx;

	if (!conn->stream.fin_queued || conn->stream.fin_sent ||
	    tx->wait_tail != tx->wait_head || sdp_zsend_busy(&conn->zcopy))
		return true;
	if (!sdp_tx_may_send(conn, SDP_MID_DISCONN, 0) || !sdp_tx_room(tx, 0)) {
		sdp_alive_stalled(&conn->stream);
		return true;
	}
	conn->stream.fin_sent = true;
	return sdp_tx_post_disconn(&conn->stream, &conn->disconn_sent);
}

/* A message of no bytes, for what its header says. */
static void sdp_tx_push_empty(struct sdp_conn *conn)
{
	struct sdp_tx *tx = &conn->stream.tx;

	if (!sdp_tx_may_send(conn, SDP_MID_DATA, 0) || !sdp_tx_room(tx, 0))
		return;
	if (!tx->empty_due) {
		SDP_INC_STATS(sock_net(&conn->sk), SDP_MIB_CREDITUPDATES);
		conn->stream.stats.credit_updates++;
	}
	sdp_tx_post_empty(&conn->stream);
}

/* Sends ChRcvBuf or ChRcvBufAck. */
static bool sdp_tx_post_size(struct sdp_conn *conn, enum sdp_mid mid, u32 size)
{
	struct sdp_msg msg = {
		.bsdh.mid = mid,
		.rcv_size = size + SDP_BSDH_LEN,
	};

	if (!sdp_tx_may_send(conn, mid, 0) || !sdp_tx_room(&conn->stream.tx, 0))
		return false;
	return sdp_tx_post_msg(&conn->stream, &msg, false);
}

/* What there is to say of buffers is said when credits allow. */
static void sdp_tx_push_sizes(struct sdp_conn *conn)
{
	struct sdp_rcvbuf *rb = &conn->stream.rx.rb;
	struct sdp_peerbuf *peer = &conn->stream.tx.peer;
	u32 wish = sdp_peerbuf_ask(peer);

	if (sdp_rcvbuf_ack_due(rb) &&
	    sdp_tx_post_size(conn, SDP_MID_CHRCVBUFACK, rb->size))
		rb->wish = 0;
	if (wish && !conn->stream.fin_sent && !conn->stream.tx.out.size &&
	    sdp_tx_post_size(conn, SDP_MID_CHRCVBUF, wish))
		sdp_peerbuf_asked(peer, wish);
}

static bool sdp_tx_ring_due(const struct sdp_conn *conn)
{
	const struct sdp_rx_ring *ring = &conn->stream.rx.ring;

	return ring->mr && !ring->pos.size && !conn->stream.fin_received &&
	       sdp_tx_may_send(conn, SDP_MID_RINGAVAIL, 0);
}

/*
 * Tells the peer of our ring, once it has its memory: the message that does is
 * the first to count the receive buffers that only the ring makes useful.
 * Returns false if the registration has to wait for what is on its way.
 */
static bool sdp_tx_push_ring(struct sdp_conn *conn)
{
	struct sdp_msg msg = { .bsdh.mid = SDP_MID_RINGAVAIL };
	struct ib_reg_wr reg;

	if (!sdp_tx_idle(&conn->stream, sdp_zrecv_busy(&conn->zcopy)) ||
	    !sdp_tx_room(&conn->stream.tx, 1))
		return false;
	sdp_tx_add_reg_mr(&conn->stream, &reg, conn->stream.rx.ring.mr,
			  IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
	sdp_rx_ring_start(&conn->stream, &msg.ravah);
	msg.bsdh.flags = sdp_oob_flags(&conn->stream.tx, false);
	return sdp_tx_post_msg(&conn->stream, &msg, false);
}

/*
 * Whether the peer was not told for so long that one word more is not many.  If
 * it was, it is told later, even if nothing is read any more.
 */
static bool sdp_tx_told_long_ago(struct sdp_conn *conn)
{
	if (ktime_us_delta(ktime_get(), conn->stream.rx.ring.told_at) >=
	    SDP_TX_TELL_PERIOD_US)
		return true;
	sdp_timer_arm_once(&conn->sk, SDP_TIMER_UPDATE, 1);
	return false;
}

static bool sdp_tx_want_update(struct sdp_conn *conn)
{
	const struct sdp_inring *in = &conn->stream.rx.ring.pos;
	enum sdp_update update = SDP_UPDATE_NONE;

	if (sdp_credit_want_update(&conn->stream.credit) ||
	    sdp_zsource_want_answer(&conn->zcopy.source, &conn->stream.credit))
		return true;
	if (in->size)
		update = conn->stream.flow->want_update(&conn->stream.credit, in);
	return update == SDP_UPDATE_NOW ||
	       (update == SDP_UPDATE_SELDOM && sdp_tx_told_long_ago(conn));
}

/* Whether there is a connection that messages can be sent on. */
static bool sdp_tx_may_post(const struct sdp_conn *conn)
{
	return conn->link.qp && !test_bit(SDP_CONN_BROKEN, &conn->link.flags) &&
	       !sdp_in_state(&conn->sk, SDPF_CONNECTING);
}

/**
 * sdp_tx_may_send() - whether the credits allow a message
 * @conn: connection of a locked socket
 * @mid: kind of message
 * @payload_len: bytes of payload
 */
bool sdp_tx_may_send(const struct sdp_conn *conn, enum sdp_mid mid,
		     u32 payload_len)
{
	sdp_owned(&conn->sk);
	return sdp_zsource_may_send(&conn->zcopy.source, &conn->stream.credit,
				    mid, payload_len);
}

/*
 * Data and pages first, then the DisConn that ends them; an empty message is
 * sent when none of these carried the credits to return, or the word of an
 * urgent byte that has to wait, or just a sign of life that is due.
 */
static void sdp_tx_push_all(struct sdp_conn *conn, enum sdp_flush cause)
{
	if (sdp_tx_ring_due(conn) && !sdp_tx_push_ring(conn))
		return;
	sdp_tx_push_sizes(conn);
	if (!sdp_zrecv_push(&conn->zcopy) || !sdp_zsend_revoke(&conn->zcopy) ||
	    !sdp_tx_push_data(conn, cause) || !sdp_zsend_push(&conn->zcopy) ||
	    !sdp_tx_push_direct(conn, cause) || !sdp_tx_push_fin(conn))
		return;
	if (conn->stream.tx.empty_due || sdp_tx_want_update(conn) ||
	    sdp_oob_want_announce(&conn->stream.tx))
		sdp_tx_push_empty(conn);
}

/**
 * sdp_output() - post all that credits and the send queue allow
 * @conn: connection of a locked socket (by its owner or in softirq)
 * @cause: what has come to look
 *
 * For entries, which have done all else: nothing that is called on the way pushes.
 */
void sdp_output(struct sdp_conn *conn, enum sdp_flush cause)
{
	struct sdp_tx *tx = &conn->stream.tx;

	sdp_owned(&conn->sk);
	if (!sdp_tx_may_post(conn) || WARN_ON_ONCE(tx->pushing))
		return;
	tx->pushing = true;
	sdp_tx_push_all(conn, cause);
	tx->pushing = false;
}

/**
 * sdp_tx_update() - something was read
 * @conn: connection of a locked socket
 * @cause: what has come to look
 *
 * What the peer has to be told goes with data that may leave, if there is any.
 */
void sdp_tx_update(struct sdp_conn *conn, enum sdp_flush cause)
{
	sdp_owned(&conn->sk);
	if (sdp_tx_may_post(conn) && sdp_tx_want_update(conn))
		sdp_output(conn, cause);
}
