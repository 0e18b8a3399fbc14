// SPDX-License-Identifier: GPL-2.0
/*
 * What has completed is processed: what each message that has arrived means, and who
 * gets it; then what has been sent, and what may leave now.
 */
#include "conn.h"

/* Only a child that nobody has accepted yet waits for it: no call for all others. */
static void sdp_rx_first_data(struct sdp_conn *conn)
{
	if (unlikely(conn->listener))
		conn->ops->first_data(conn);
}

static int sdp_rx_take_data(struct sdp_conn *conn, struct sdp_rx_buf *buf,
			    const struct sdp_msg *msg)
{
	int ret = sdp_rx_data(&conn->stream, buf, msg);

	if (ret <= 0)
		return ret;
	sdp_rx_first_data(conn);
	return 0;
}

/* Nothing of the stream comes behind its end, or overtakes what is offered. */
static bool sdp_rx_out_of_place(const struct sdp_conn *conn)
{
	return conn->stream.fin_received || sdp_zsink_busy(&conn->zcopy.sink);
}

/* Data that is the next of the stream, if a message has any. */
static int sdp_rx_stream_data(struct sdp_conn *conn, struct sdp_rx_buf *buf,
			      const struct sdp_msg *msg)
{
	if (msg->payload_len) {
		if (sdp_rx_out_of_place(conn))
			return -EPROTO;
		sdp_sink_passed(&conn->zcopy);
	}
	return sdp_rx_take_data(conn, buf, msg);
}

/* Memory of the peer that may be written to; the message's payload goes the other way. */
static int sdp_rx_sink_avail(struct sdp_conn *conn, struct sdp_rx_buf *buf,
			     const struct sdp_msg *msg)
{
	int err = sdp_sink_heard(&conn->zcopy, msg);

	return err ? err : sdp_rx_stream_data(conn, buf, msg);
}

/* Memory of the peer, which belongs behind the message's payload. */
static int sdp_rx_src_avail(struct sdp_conn *conn, struct sdp_rx_buf *buf,
			    const struct sdp_msg *msg)
{
	int ret = sdp_zsink_advertised(&conn->zcopy.sink, msg);

	if (ret < 0)
		return ret;
	if (sdp_rx_unwanted(&conn->sk)) {
		sdp_link_end(&conn->link, -ECONNABORTED);
		return 0;
	}
	if (ret) {
		sdp_sink_passed(&conn->zcopy);
		sdp_rx_first_data(conn);
		sdp_zrecv_offered(&conn->zcopy);
	}
	return sdp_rx_take_data(conn, buf, msg);
}

/* Acts on one well-formed message. */
static int sdp_rx_dispatch(struct sdp_conn *conn, struct sdp_rx_buf *buf,
			   const struct sdp_msg *msg)
{
	switch (msg->bsdh.mid) {
	case SDP_MID_DATA:
		return sdp_rx_stream_data(conn, buf, msg);
	case SDP_MID_SINKAVAIL:
		return sdp_rx_sink_avail(conn, buf, msg);
	case SDP_MID_RDMAWRCOMPL:
		if (sdp_rx_out_of_place(conn))
			return -EPROTO;
		fallthrough;
	case SDP_MID_SINKAVAILCANCEL:
	case SDP_MID_SINKCANCELACK:
		sdp_rx_repost(&conn->stream, buf);
		return sdp_sink_heard(&conn->zcopy, msg);
	case SDP_MID_SRCAVAIL:
		if (conn->stream.fin_received)
			return -EPROTO;
		return sdp_rx_src_avail(conn, buf, msg);
	case SDP_MID_SRCAVAILCANCEL:
	case SDP_MID_RDMARDCOMPL:
	case SDP_MID_SENDSM:
		sdp_rx_repost(&conn->stream, buf);
		return sdp_zcopy_answered(&conn->zcopy, msg);
	case SDP_MID_DISCONN:
		if (sdp_rx_out_of_place(conn))
			return -EPROTO;
		sdp_sink_passed(&conn->zcopy);
		sdp_rx_repost(&conn->stream, buf);
		conn->ops->fin_received(conn);
		return 0;
	case SDP_MID_CHRCVBUF:
	case SDP_MID_CHRCVBUFACK:
	case SDP_MID_RINGAVAIL:
	case SDP_MID_RINGSPACE:
		sdp_rx_repost(&conn->stream, buf);
		return sdp_stream_control(&conn->stream, msg);
	case SDP_MID_ABORTCONN:
		return -ECONNRESET;
	default:
		/* Buffered mode offers nothing that allows any other. */
		return -EPROTO;
	}
}

/*
 * Any message may have taken the credit that the peer's data would need, and so
 * be the last before something is read: whoever waits for more than there is
 * has waited in vain.  Returns whether a reader may have something to do.
 */
static bool sdp_rx_look_after(struct sdp_stream *st, const struct sdp_msg *msg,
			      bool was_full)
{
	sdp_rx_exhausted(st);
	return (msg->payload_len && !(msg->bsdh.flags & SDP_OOB_PRES)) ||
	       (!was_full && sdp_rx_full(st));
}

static int sdp_rx_message(struct sdp_conn *conn, struct sdp_rx_buf *buf, bool *news)
{
	struct sdp_stream *st = &conn->stream;
	bool full = sdp_rx_full(st);
	/* The buffer may have another message soon. */
	u32 len = buf->byte_len;
	struct sdp_msg msg;
	int err;

	err = sdp_rx_begin(st, buf, &msg);
	if (!err) {
		sdp_zsink_heard(&conn->zcopy.sink, msg.bsdh.mseq_ack);
		if (buf->ends_key) {
			sdp_zsend_key_ended(&conn->zcopy, buf->ended_key);
			sdp_sink_key_ended(&conn->zcopy, buf->ended_key);
		}
		err = sdp_rx_dispatch(conn, buf, &msg);
	}
	if (!err && sdp_rx_look_after(st, &msg, full))
		*news = true;
	if (err == -EPROTO) {
		SDP_INC_STATS(sock_net(st->sk), SDP_MIB_PROTOCOLERRORS);
		sdp_dbg(st->sk, "a message of %u bytes breaks the protocol", len);
	}
	return err;
}

/* The other end looks at this as well if it is in this kernel: see stream/local.c. */
static struct sdp_rx_buf *sdp_rx_next(struct sdp_rx *rx)
{
	struct sdp_rx_buf *buf = rx->posted[rx->seen & rx->mask];

	WRITE_ONCE(rx->seen, rx->seen + 1);
	return buf;
}

/*
 * Takes the messages that have arrived.  One that violates the protocol ends the
 * connection, and nothing behind it is looked at.  Readers are woken once for all.
 */
static void sdp_rx_reap(struct sdp_conn *conn)
{
	struct sdp_rx *rx = &conn->stream.rx;
	/* Pairs with the release in sdp_rx_done(). */
	u32 done = smp_load_acquire(&rx->done);
	bool news = false;
	int err;

	if (rx->seen == done)
		return;
	sk_incoming_cpu_update(&conn->sk);
	while (rx->seen != done && !conn->stream.rx_closed) {
		err = sdp_rx_message(conn, sdp_rx_next(rx), &news);
		if (err) {
			conn->stream.rx_closed = true;
			sdp_link_end(&conn->link, err);
		}
	}
	if (news && sdp_rx_readable(&conn->stream))
		conn->sk.sk_data_ready(&conn->sk);
	if (sdp_tx_heard(&conn->stream))
		conn->ops->fin_acked(conn);
	if (sdp_in_state(&conn->sk, TCPF_SYN_RECV) && !conn->stream.rx_closed)
		sdp_cm_heard(conn);
}

/**
 * sdp_conn_process() - do all that completions have made possible
 * @conn: connection of a locked socket (by its owner or in softirq)
 * @cause: what has come to look
 *
 * The order is: messages from the peer, which wake readers and return credits; memory
 * read from the peer; what has been sent, which gives room in the send ring and wakes
 * writers; and last what may leave now, which is everything that any of these has to say.
 */
void sdp_conn_process(struct sdp_conn *conn, enum sdp_flush cause)
{
	sdp_owned(&conn->sk);
	if (test_and_clear_bit(SDP_CONN_KEEPALIVE, &conn->link.flags))
		sdp_alive_keep(conn);
	if (!conn->link.qp) {
		if (test_and_clear_bit(SDP_CONN_UNSHARED, &conn->link.flags))
			sdp_timer_arm(&conn->sk, SDP_TIMER_SHARE, 0);
		return;
	}
	if (sdp_in_state(&conn->sk, SDPF_CONNECTING))
		sdp_cm_check_answered(conn);
	/* The peer may speak before we have read its HelloAck. */
	if (sdp_in_state(&conn->sk, TCPF_SYN_SENT))
		return;
	sdp_rx_reap(conn);
	sdp_zrecv_reap(&conn->zcopy);
	sdp_tx_reap(&conn->stream);
	if (unlikely(conn->stream.tx.room_wanted))
		sdp_tx_look_for_room(&conn->stream);
	if (test_and_clear_bit(SDP_CONN_PAUSE, &conn->link.flags))
		sdp_tx_end_wait(conn, cause);
	if (test_and_clear_bit(SDP_CONN_ASKED, &conn->link.flags))
		sdp_zrecv_answer(&conn->zcopy);
	if (test_and_clear_bit(SDP_CONN_PROBE, &conn->link.flags))
		sdp_tx_probe(&conn->stream);
	sdp_output(conn, cause);
	sdp_tx_ask_for_room(&conn->stream);
}

/**
 * sdp_conn_catch_up() - do what softirq has deferred to the call that has the socket
 * @conn: connection of a locked socket
 *
 * See sdp_stream_catch_up(), by which calls come here.
 *
 * Context: process context, softirqs enabled.
 */
void sdp_conn_catch_up(struct sdp_conn *conn)
{
	struct sock *sk = &conn->sk;

	sdp_owned(sk);
	/* The spinlock orders the bit behind what it stands for. */
	local_bh_disable();
	sdp_bh_lock_sock(sk);
	clear_bit(SDP_CONN_DEFERRED, &conn->link.flags);
	sdp_bh_unlock_sock(sk);
	local_bh_enable();
	sdp_conn_process(conn, SDP_FLUSH_CALL);
}
