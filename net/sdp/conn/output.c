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
#include "socket/socket.h"
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
 * @ssk: locked socket (by its owner or in softirq)
 * @cause: what
 */
void sdp_tx_count_cause(struct sdp_sock *ssk, enum sdp_flush cause)
{
	ssk->conn.stream.stats.flushes[cause]++;
	SDP_INC_STATS(sock_net(&ssk->sk), SDP_MIB_FLUSHCALLS + cause);
}

/*
 * Begins the time that what is held back waits for company.  While the timer is
 * pending it holds the socket.
 */
static void sdp_tx_wait_burst(struct sdp_sock *ssk)
{
	const struct sdp_net *sn = sdp_net(sock_net(&ssk->sk));
	struct hrtimer *timer = &ssk->conn.pause;

	if (!sdp_burst_wait(&ssk->conn.stream.tx.burst))
		return;
	if (hrtimer_try_to_cancel(timer) <= 0)
		sock_hold(&ssk->sk);
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
static bool sdp_tx_hold(struct sdp_sock *ssk, const struct sdp_tx_msg *msg)
{
	struct sdp_tx *tx = &ssk->conn.stream.tx;
	const struct sdp_credit *credit = &ssk->conn.stream.credit;

	if (!msg->open || msg->len >= tx->max_payload)
		return false;
	/* Others were full before messages could be longer. */
	if (tx->wait_head - tx->wait_tail != 1)
		return false;
	if (tx->more)
		return true;
	if (ssk->conn.stream.fin_queued)
		return false;
	if (ssk->base.opt.cork || (tx->hold && sdp_tx_writeable(&ssk->conn.stream)))
		return true;
	if (tx->out.size && sdp_burst_hold(&tx->burst)) {
		sdp_tx_wait_burst(ssk);
		return true;
	}
	return !ssk->base.opt.nodelay && sdp_tx_is_small(tx, msg->len) &&
	       sdp_tx_posted(tx) && !tx->since_signal &&
	       credit->tx_acked != credit->tx_mseq;
}

/* What the program forgets does not wait for ever. */
static void sdp_tx_held(struct sdp_sock *ssk)
{
	if (ssk->base.opt.cork || ssk->conn.stream.tx.hold)
		sdp_timer_arm_once(&ssk->sk, SDP_TIMER_HOLD, SDP_HOLD_TIME);
}

/* How much of a message the peer has room for; 0 = it has to wait. */
static u32 sdp_tx_fit(const struct sdp_conn *conn, u32 len)
{
	const struct sdp_outring *out = &conn->stream.tx.out;

	if (!sdp_credit_may_send(&conn->stream.credit, SDP_MID_DATA, len))
		return 0;
	return out->size ? conn->stream.flow->fit(out, &conn->stream.credit, len) : len;
}

static void sdp_tx_stall(struct sdp_sock *ssk)
{
	if (!ssk->conn.stream.tx.stalled) {
		SDP_INC_STATS(sock_net(&ssk->sk), SDP_MIB_CREDITSTALLS);
		ssk->conn.stream.stats.credit_stalls++;
		ssk->conn.stream.tx.stalled = true;
	}
	sdp_alive_stalled(&ssk->conn.stream);
}

static void sdp_tx_count_flush(struct sdp_sock *ssk)
{
	struct sdp_tx *tx = &ssk->conn.stream.tx;

	if (!tx->stalled)
		return;
	tx->stalled = false;
	sdp_tx_count_cause(ssk, tx->cause);
	sdp_timer_disarm(&ssk->sk, SDP_TIMER_FLUSH);
}

/*
 * What has waited for the peer's space waits for the program's next call, if
 * the engine is one that works in calls only.  A program that sleeps in a call
 * is in one, and one that is gone will not come back.
 */
static bool sdp_tx_wait_for_call(struct sdp_sock *ssk)
{
	const struct sdp_net *sn = sdp_net(sock_net(&ssk->sk));
	const struct sdp_tx *tx = &ssk->conn.stream.tx;

	if (ssk->conn.stream.flow->async || !tx->stalled ||
	    tx->cause != SDP_FLUSH_INTERRUPT || ssk->conn.stream.fin_queued ||
	    sock_flag(&ssk->sk, SOCK_DEAD) || sdp_zsend_waited_for(&ssk->conn.zcopy) ||
	    sdp_has_sleeper(&ssk->sk))
		return false;
	sdp_timer_arm_once(&ssk->sk, SDP_TIMER_FLUSH,
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
static bool sdp_tx_post_first(struct sdp_sock *ssk, u32 len)
{
	struct sdp_tx *tx = &ssk->conn.stream.tx;
	struct sdp_tx_msg *msg = sdp_tx_msg(tx, tx->wait_tail);
	bool urgent = msg->urgent && len == msg->len;

	sdp_timer_disarm(&ssk->sk, SDP_TIMER_HOLD);
	sdp_tx_count_flush(ssk);
	msg->len -= len;
	if (!msg->len)
		WRITE_ONCE(tx->wait_tail, tx->wait_tail + 1);
	SDP_SOCK_INC_STATS(&ssk->sk, SDP_MIB_DATAOUT);
	return sdp_tx_post(&ssk->conn.stream, SDP_MID_DATA, len, sdp_oob_flags(tx, urgent));
}

static bool sdp_tx_push_data(struct sdp_sock *ssk)
{
	struct sdp_tx *tx = &ssk->conn.stream.tx;
	struct sdp_tx_msg *msg;
	u32 len;

	/* Nothing overtakes what is advertised. */
	while (tx->wait_tail != tx->wait_head &&
	       !sdp_zsource_busy(&ssk->conn.zcopy.source) &&
	       !ssk->conn.stream.async_out &&
	       !sdp_tx_wait_for_call(ssk)) {
		while (tx->out.size && sdp_tx_fill_first(tx))
			;
		msg = sdp_tx_msg(tx, tx->wait_tail);
		len = sdp_tx_fit(&ssk->conn, msg->len);
		if (!len) {
			sdp_tx_stall(ssk);
			return true;
		}
		/* Without immediate data, data in a ring takes two requests. */
		if (!sdp_tx_room(tx, SDP_TX_RESERVED +
				 !sdp_immediate_written(&ssk->conn.stream)))
			return true;
		if (sdp_tx_hold(ssk, msg)) {
			sdp_tx_held(ssk);
			return true;
		}
		if (!sdp_tx_post_first(ssk, sdp_tx_gatherable(&ssk->conn.stream, len)))
			return false;
	}
	return true;
}

/* Sends what the peer refused to read of a program's pages. */
static bool sdp_tx_push_direct(struct sdp_sock *ssk)
{
	struct sdp_conn *conn = &ssk->conn;
	u32 left, len;

	while ((left = sdp_zdirect_left(&conn->zcopy))) {
		len = sdp_zdirect_fit(&conn->zcopy,
				      min(left, conn->stream.tx.max_payload));
		len = sdp_tx_fit(conn, len);
		if (!len) {
			sdp_tx_stall(ssk);
			return true;
		}
		if (!sdp_tx_room(&conn->stream.tx, SDP_TX_RESERVED))
			return true;
		sdp_tx_count_flush(ssk);
		if (!sdp_tx_post_direct(&ssk->conn.stream, len, &conn->zcopy.direct_payload))
			return false;
	}
	return true;
}

static bool sdp_tx_push_fin(struct sdp_sock *ssk)
{
	struct sdp_tx *tx = &ssk->conn.stream.tx;

	if (!ssk->conn.stream.fin_queued || ssk->conn.stream.fin_sent ||
	    tx->wait_tail != tx->wait_head || sdp_zsend_busy(&ssk->conn.zcopy))
		return true;
	if (!sdp_tx_may_send(ssk, SDP_MID_DISCONN, 0) ||
	    !sdp_tx_room(tx, 0)) {
		sdp_alive_stalled(&ssk->conn.stream);
		return true;
	}
	ssk->conn.stream.fin_sent = true;
	return sdp_tx_post_disconn(&ssk->conn.stream, &ssk->conn.disconn_sent);
}

/* A message of no bytes, for what its header says. */
static void sdp_tx_push_empty(struct sdp_sock *ssk)
{
	struct sdp_tx *tx = &ssk->conn.stream.tx;

	if (!sdp_tx_may_send(ssk, SDP_MID_DATA, 0) ||
	    !sdp_tx_room(tx, 0))
		return;
	if (!tx->empty_due) {
		SDP_INC_STATS(sock_net(&ssk->sk), SDP_MIB_CREDITUPDATES);
		ssk->conn.stream.stats.credit_updates++;
	}
	sdp_tx_post_empty(&ssk->conn.stream);
}

/* Sends ChRcvBuf or ChRcvBufAck. */
static bool sdp_tx_post_size(struct sdp_sock *ssk, enum sdp_mid mid, u32 size)
{
	struct sdp_msg msg = {
		.bsdh.mid = mid,
		.rcv_size = size + SDP_BSDH_LEN,
	};

	if (!sdp_tx_may_send(ssk, mid, 0) ||
	    !sdp_tx_room(&ssk->conn.stream.tx, 0))
		return false;
	return sdp_tx_post_msg(&ssk->conn.stream, &msg, false);
}

/* What there is to say of buffers is said when credits allow. */
static void sdp_tx_push_sizes(struct sdp_sock *ssk)
{
	struct sdp_rcvbuf *rb = &ssk->conn.stream.rx.rb;
	struct sdp_peerbuf *peer = &ssk->conn.stream.tx.peer;
	u32 wish = sdp_peerbuf_ask(peer);

	if (sdp_rcvbuf_ack_due(rb) &&
	    sdp_tx_post_size(ssk, SDP_MID_CHRCVBUFACK, rb->size))
		rb->wish = 0;
	if (wish && !ssk->conn.stream.fin_sent && !ssk->conn.stream.tx.out.size &&
	    sdp_tx_post_size(ssk, SDP_MID_CHRCVBUF, wish))
		sdp_peerbuf_asked(peer, wish);
}

static bool sdp_tx_ring_due(const struct sdp_sock *ssk)
{
	const struct sdp_rx_ring *ring = &ssk->conn.stream.rx.ring;

	return ring->mr && !ring->pos.size && !ssk->conn.stream.fin_received &&
	       sdp_tx_may_send(ssk, SDP_MID_RINGAVAIL, 0);
}

/*
 * Tells the peer of our ring, once it has its memory: the message that does is
 * the first to count the receive buffers that only the ring makes useful.
 * Returns false if the registration has to wait for what is on its way.
 */
static bool sdp_tx_push_ring(struct sdp_sock *ssk)
{
	struct sdp_msg msg = { .bsdh.mid = SDP_MID_RINGAVAIL };
	struct ib_reg_wr reg;

	if (!sdp_tx_idle(&ssk->conn.stream, sdp_zrecv_busy(&ssk->conn.zcopy)) ||
	    !sdp_tx_room(&ssk->conn.stream.tx, 1))
		return false;
	sdp_tx_add_reg_mr(&ssk->conn.stream, &reg, ssk->conn.stream.rx.ring.mr,
			  IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
	sdp_rx_ring_start(&ssk->conn.stream, &msg.ravah);
	msg.bsdh.flags = sdp_oob_flags(&ssk->conn.stream.tx, false);
	return sdp_tx_post_msg(&ssk->conn.stream, &msg, false);
}

/*
 * Whether the peer was not told for so long that one word more is not many.  If
 * it was, it is told later, even if nothing is read any more.
 */
static bool sdp_tx_told_long_ago(struct sdp_sock *ssk)
{
	if (ktime_us_delta(ktime_get(), ssk->conn.stream.rx.ring.told_at) >=
			SDP_TX_TELL_PERIOD_US)
		return true;
	sdp_timer_arm_once(&ssk->sk, SDP_TIMER_UPDATE, 1);
	return false;
}

static bool sdp_tx_want_update(struct sdp_sock *ssk)
{
	const struct sdp_conn *conn = &ssk->conn;
	const struct sdp_inring *in = &conn->stream.rx.ring.pos;
	enum sdp_update update = SDP_UPDATE_NONE;

	if (sdp_credit_want_update(&conn->stream.credit) ||
	    sdp_zsource_want_answer(&conn->zcopy.source, &conn->stream.credit))
		return true;
	if (in->size)
		update = conn->stream.flow->want_update(&conn->stream.credit, in);
	return update == SDP_UPDATE_NOW ||
	       (update == SDP_UPDATE_SELDOM && sdp_tx_told_long_ago(ssk));
}

/* Whether there is a connection that messages can be sent on. */
static bool sdp_tx_may_post(const struct sdp_sock *ssk)
{
	return ssk->conn.link.qp && !test_bit(SDP_CONN_BROKEN, &ssk->conn.link.flags) &&
	       !sdp_in_state(&ssk->sk, SDPF_CONNECTING);
}

/**
 * sdp_tx_may_send() - whether the credits allow a message
 * @ssk: locked socket
 * @mid: kind of message
 * @payload_len: bytes of payload
 */
bool sdp_tx_may_send(const struct sdp_sock *ssk, enum sdp_mid mid,
		     u32 payload_len)
{
	return sdp_zsource_may_send(&ssk->conn.zcopy.source, &ssk->conn.stream.credit,
				    mid, payload_len);
}

/*
 * Data and pages first, then the DisConn that ends them; an empty message is
 * sent when none of these carried the credits to return, or the word of an
 * urgent byte that has to wait, or just a sign of life that is due.
 */
static void sdp_tx_push_all(struct sdp_sock *ssk)
{
	struct sdp_conn *conn = &ssk->conn;

	if (sdp_tx_ring_due(ssk) && !sdp_tx_push_ring(ssk))
		return;
	sdp_tx_push_sizes(ssk);
	if (!sdp_zrecv_push(&ssk->conn.zcopy) || !sdp_zsend_revoke(&ssk->conn.zcopy) ||
	    !sdp_tx_push_data(ssk) || !sdp_zsend_push(&ssk->conn.zcopy) ||
	    !sdp_tx_push_direct(ssk) ||
	    !sdp_tx_push_fin(ssk))
		return;
	if (conn->stream.tx.empty_due || sdp_tx_want_update(ssk) ||
	    sdp_oob_want_announce(&conn->stream.tx))
		sdp_tx_push_empty(ssk);
}

/**
 * sdp_tx_push() - post all that credits and the send queue allow
 * @ssk: locked socket (by its owner or in softirq)
 *
 * For entries, which have done all else: nothing that is called on the way pushes.
 */
void sdp_tx_push(struct sdp_sock *ssk)
{
	struct sdp_tx *tx = &ssk->conn.stream.tx;

	if (!sdp_tx_may_post(ssk) || WARN_ON_ONCE(tx->pushing))
		return;
	tx->pushing = true;
	sdp_tx_push_all(ssk);
	tx->pushing = false;
}

/**
 * sdp_tx_update() - something was read
 * @ssk: locked socket
 *
 * What the peer has to be told goes with data that may leave, if there is any.
 */
void sdp_tx_update(struct sdp_sock *ssk)
{
	if (sdp_tx_may_post(ssk) && sdp_tx_want_update(ssk))
		sdp_tx_push(ssk);
}

/**
 * sdp_tx_update_late() - something was read a while ago
 * @ssk: locked socket
 *
 * The handler of SDP_TIMER_UPDATE.  It is no call of the program.
 */
void sdp_tx_update_late(struct sdp_sock *ssk)
{
	ssk->conn.stream.tx.cause = SDP_FLUSH_INTERRUPT;
	sdp_tx_update(ssk);
	ssk->conn.stream.tx.cause = SDP_FLUSH_CALL;
}
