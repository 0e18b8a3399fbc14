// SPDX-License-Identifier: GPL-2.0
/*
 * What leaves, and in which order: sdp_output() posts all that peer and device allow.
 * Entries call it, which are the program's calls, completions and timers.
 */
#include <linux/hrtimer.h>
#include <linux/jiffies.h>

#include "base/base.h"
#include "rdma/rdma.h"
#include "stream/stream.h"
#include "conn.h"
#include "keepalive.h"

/*
 * A peer that waits for space is told of a little of it so often at most: the
 * word costs about as much as a short message does.
 */
#define SDP_TX_TELL_PERIOD_US	400

/* Sends what is in the send ring, which does not overtake pages that go before it. */
static bool sdp_tx_push_data(struct sdp_conn *conn, enum sdp_flush cause)
{
	if (sdp_zsend_ahead(&conn->zcopy)) {
		sdp_tx_wait_behind(&conn->stream.tx);
		return true;
	}
	return sdp_tx_send(&conn->stream, cause, sdp_zsend_waited_for(&conn->zcopy));
}

/*
 * Sends a program's pages that are not advertised, or that the peer refused to read: into
 * memory of its reader's, or as messages.
 */
static bool sdp_tx_push_direct(struct sdp_conn *conn, enum sdp_flush cause)
{
	struct sdp_stream *st = &conn->stream;
	u32 left, len;

	while ((left = sdp_zdirect_left(&conn->zcopy))) {
		if (unlikely(sdp_zwrite_possible(&conn->zcopy, conn->zcopy.next))) {
			if (!sdp_zwrite_post(&conn->zcopy))
				return false;
			continue;
		}
		len = sdp_zdirect_fit(&conn->zcopy, min(left, st->tx.max_payload));
		len = sdp_tx_ready(st, len, cause);
		if (!len)
			return true;
		if (!sdp_tx_send_direct(st, len, &conn->zcopy.direct_payload, cause))
			return false;
	}
	return true;
}

static bool sdp_tx_push_fin(struct sdp_conn *conn)
{
	struct sdp_msg msg = { .bsdh.mid = SDP_MID_DISCONN };
	struct sdp_tx *tx = &conn->stream.tx;

	if (!conn->stream.fin_queued || conn->stream.fin_sent ||
	    !sdp_tx_is_empty(tx) || sdp_zsend_busy(&conn->zcopy))
		return true;
	if (!sdp_tx_may_send(conn, SDP_MID_DISCONN, 0) || !sdp_tx_room(tx, 0)) {
		sdp_alive_stalled(&conn->stream);
		return true;
	}
	conn->stream.fin_sent = true;
	return sdp_tx_post_done(&conn->stream, &msg, &conn->disconn_sent);
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
	    sdp_zsource_want_answer(&conn->zcopy.source, &conn->stream.credit) ||
	    sdp_sinkadvert_want_answer(&conn->zcopy.sinkadvert, &conn->stream.credit))
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
	return sdp_zcopy_may_send(&conn->zcopy.source, &conn->zcopy.sinkadvert,
				  &conn->stream.credit, mid, payload_len);
}

/*
 * Data and pages first, and data that has waited behind pages that are posted now; then
 * the DisConn that ends them; an empty message is
 * sent when none of these carried the credits to return, or the word of an
 * urgent byte that has to wait, or just a sign of life that is due.
 */
static void sdp_tx_push_all(struct sdp_conn *conn, enum sdp_flush cause)
{
	struct sdp_zcopy *z = &conn->zcopy;
	/* Most connections have no memory under transfer: asked once. */
	bool sends = sdp_zsend_busy(z);

	if (sdp_tx_ring_due(conn) && !sdp_tx_push_ring(conn))
		return;
	sdp_tx_push_sizes(conn);
	if (unlikely(sdp_zsink_owes(&z->sink)) && !sdp_zrecv_push(z))
		return;
	if (unlikely(sdp_sink_owes(z)) && !sdp_sink_push(z))
		return;
	if (unlikely(sends) && !sdp_zsend_revoke(z))
		return;
	if (!sdp_tx_push_data(conn, cause))
		return;
	if (unlikely(sends) && !(sdp_zsend_push(z) && sdp_tx_push_direct(conn, cause) &&
				 sdp_tx_push_data(conn, cause)))
		return;
	if (!sdp_tx_push_fin(conn))
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
	sdp_rx_settle(&conn->stream);
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
	sdp_rx_settle(&conn->stream);
	if (sdp_tx_may_post(conn) && sdp_tx_want_update(conn))
		sdp_output(conn, cause);
}

/**
 * sdp_tx_flush() - send what waited for the rest that the program promised
 * @conn: connection of a locked socket
 */
void sdp_tx_flush(struct sdp_conn *conn)
{
	sdp_owned(&conn->sk);
	conn->stream.tx.intent = SDP_INTENT_NONE;
	sdp_output(conn, SDP_FLUSH_CALL);
}

/**
 * sdp_tx_force() - send what waited, whatever it waited for
 * @conn: connection of a locked socket
 * @cause: what has come to look
 */
void sdp_tx_force(struct sdp_conn *conn, enum sdp_flush cause)
{
	struct sdp_tx *tx = &conn->stream.tx;

	sdp_owned(&conn->sk);
	if (!sdp_tx_is_empty(tx))
		sdp_tx_msg(tx, tx->wait_head - 1)->open = false;
	tx->intent = SDP_INTENT_NONE;
	sdp_output(conn, cause);
}

/**
 * sdp_tx_progress() - see whether what has stalled may leave now
 * @conn: connection of a locked socket
 * @cause: a call of user space, or SDP_TIMER_FLUSH if none has come for long
 */
void sdp_tx_progress(struct sdp_conn *conn, enum sdp_flush cause)
{
	sdp_owned(&conn->sk);
	if (unlikely(sdp_tx_stalled(&conn->stream.tx)))
		sdp_output(conn, cause);
}

/**
 * sdp_tx_pause_here() - the program looks for the peer's answer, or waits for it
 * @conn: connection of a locked socket (by its owner or in softirq)
 *
 * What it has written is all that it will write now.
 */
void sdp_tx_pause_here(struct sdp_conn *conn)
{
	sdp_owned(&conn->sk);
	sdp_burst_end(&conn->stream.tx.burst);
	sdp_output(conn, SDP_FLUSH_CALL);
}

/**
 * sdp_tx_pause_poll() - a program polls for the peer's answer
 * @conn: connection of a socket that is not locked
 *
 * If a call of another thread is in progress it may be one that writes on.
 *
 * Context: process context.
 */
void sdp_tx_pause_poll(struct sdp_conn *conn)
{
	struct sock *sk = &conn->sk;

	if (!READ_ONCE(conn->stream.tx.burst.running))
		return;
	local_bh_disable();
	sdp_bh_lock_sock(sk);
	if (!sdp_sock_owned(sk))
		sdp_tx_pause_here(conn);
	sdp_bh_unlock_sock(sk);
	local_bh_enable();
}

/**
 * sdp_tx_end_wait() - what is held back has waited for company
 * @conn: connection of a locked socket (by its owner or in softirq)
 * @cause: what has come to look
 */
void sdp_tx_end_wait(struct sdp_conn *conn, enum sdp_flush cause)
{
	struct sdp_tx *tx = &conn->stream.tx;
	bool held = !sdp_tx_is_empty(tx);

	sdp_owned(&conn->sk);
	if (!tx->burst.running)
		return;
	if (sdp_burst_expired(&tx->burst, held)) {
		sdp_tx_count_flush(&conn->stream, SDP_FLUSH_PAUSE);
		cause = SDP_FLUSH_PAUSE;
	}
	if (held)
		sdp_output(conn, cause);
}

/**
 * sdp_tx_pause() - the timer of what is held back
 * @timer: timer of a connection, which holds its socket
 *
 * Context: softirq.
 * Return: that the timer is not to run again.
 */
enum hrtimer_restart sdp_tx_pause(struct hrtimer *timer)
{
	struct sdp_conn *conn = container_of(timer, struct sdp_conn, stream.pause);
	struct sock *sk = &conn->sk;

	sdp_bh_lock_sock(sk);
	if (sdp_sock_owned(sk)) {
		set_bit(SDP_CONN_PAUSE, &conn->link.flags);
		set_bit(SDP_CONN_DEFERRED, &conn->link.flags);
	} else {
		sdp_tx_end_wait(conn, SDP_FLUSH_INTERRUPT);
	}
	sdp_bh_unlock_sock(sk);
	sock_put(sk);
	return HRTIMER_NORESTART;
}

/**
 * sdp_tx_relieve() - make room for a peer that nobody reads from
 * @conn: connection of a locked socket
 *
 * The handler of SDP_TIMER_RELIEF.
 *
 * Context: process context, may sleep for memory.
 */
void sdp_tx_relieve(struct sdp_conn *conn)
{
	struct sdp_stream *st = &conn->stream;

	sdp_owned(&conn->sk);
	if (!sdp_rx_relieve(st))
		return;
	sdp_rx_settle(st);
	if (st->tx.empty_due)
		sdp_output(conn, SDP_FLUSH_INTERRUPT);
	if (sdp_rx_full(st) && sdp_rx_readable(st))
		conn->sk.sk_data_ready(&conn->sk);
}
