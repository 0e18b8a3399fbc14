// SPDX-License-Identifier: GPL-2.0
/*
 * The receive side of the copy path (BSDP): completions, and what each message
 * means.
 */
#include "base/base.h"
#include "rdma/rdma.h"
#include "conn/conn.h"
#include "socket/socket.h"
#include "immediate.h"
#include "oob.h"
#include "rx.h"
#include "timestamp.h"
#include "tx.h"

/**
 * sdp_rx_done() - completion of a receive work request
 * @cq: completion queue
 * @wc: work completion
 *
 * Context: softirq, without the socket lock.  Notes the length; all else
 * happens in sdp_rx_reap().
 */
void sdp_rx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct sdp_conn *conn = container_of(wc->wr_cqe, struct sdp_conn,
					     link.rx_cqe);
	struct sdp_sock *ssk = container_of(conn, struct sdp_sock, conn);
	struct sdp_rx *rx = &conn->rx;
	struct sdp_rx_buf *buf;

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		sdp_link_wc_error(&ssk->conn.link, wc);
		return;
	}
	buf = rx->posted[rx->done & rx->mask];
	buf->byte_len = wc->byte_len;
	buf->written = wc->opcode == IB_WC_RECV_RDMA_WITH_IMM;
	buf->immediate = wc->wc_flags & IB_WC_WITH_IMM;
	if (buf->immediate)
		buf->imm = be32_to_cpu(wc->ex.imm_data);
	buf->ends_key = wc->wc_flags & IB_WC_WITH_INVALIDATE;
	if (buf->ends_key)
		buf->ended_key = wc->ex.invalidate_rkey;
	buf->stamp = sdp_timestamp_now(&ssk->sk);
	/* Pairs with the acquire in sdp_rx_reap(). */
	smp_store_release(&rx->done, rx->done + 1);
	sdp_link_kick(&ssk->conn.link);
}

/**
 * sdp_rx_full() - whether the peer has to wait until something is read
 * @ssk: socket, locked or not
 *
 * It then has no credits, or no space, to send more data, and nobody is about
 * to make or to tell of some.
 */
bool sdp_rx_full(const struct sdp_sock *ssk)
{
	const struct sdp_conn *conn = &ssk->conn;
	const struct sdp_rx *rx = &conn->rx;

	if (rx->ring.pos.size)
		return conn->flow->full(&conn->credit, &rx->ring.pos);
	return READ_ONCE(conn->credit.rx_advertised) < SDP_PEER_BUFS_MIN &&
	       !READ_ONCE(rx->rb.growing) && !READ_ONCE(rx->relief) &&
	       !sdp_credit_want_update(&conn->credit);
}

/**
 * sdp_rx_readable() - whether a read would not have to wait
 * @sk: socket, locked or not
 *
 * SO_RCVLOWAT cannot be waited for once all buffers are taken.
 */
bool sdp_rx_readable(const struct sock *sk)
{
	const struct sdp_sock *ssk = sdp_sk(sk);
	u32 bytes = READ_ONCE(ssk->conn.rx.bytes);
	u32 hole = sdp_oob_hole(sk);

	return bytes > hole &&
	       (bytes - hole >= sock_rcvlowat(sk, 0, INT_MAX) ||
		sdp_rx_full(ssk));
}

/* Nobody will read this: as TCP does, reset rather than pretend. */
static bool sdp_rx_unwanted(const struct sock *sk)
{
	return sock_flag(sk, SOCK_DEAD) ||
	       ((sk->sk_shutdown & RCV_SHUTDOWN) &&
		sdp_in_state(sk, TCPF_FIN_WAIT1 | TCPF_FIN_WAIT2));
}

static u8 sdp_rx_buf_last(const struct sdp_rx_buf *buf)
{
	const u8 *payload = page_address(buf->page) + buf->off;

	return payload[buf->len - 1];
}

static void sdp_rx_queue_buf(struct sdp_sock *ssk, struct sdp_rx_buf *buf,
			     const struct sdp_msg *msg)
{
	struct sdp_rx *rx = &ssk->conn.rx;

	buf->off = msg->payload_off;
	buf->len = msg->payload_len;
	list_add_tail(&buf->list, &rx->queue);
	if (rx->rb.bytes)
		ssk->conn.stats.fill[min_t(u32, (u64)rx->bytes *
					   SDP_FILL_STEPS / rx->rb.bytes,
					   SDP_FILL_STEPS - 1)]++;
}

/* Takes payload to where it is read, and its last byte as well. */
static int sdp_rx_take(struct sdp_sock *ssk, struct sdp_rx_buf *buf,
		       const struct sdp_msg *msg, u8 *last)
{
	int err;

	if (!buf->written) {
		/* Who has begun to write does not go back. */
		if (!buf->page || ssk->conn.rx.ring.pos.head)
			return -EPROTO;
		sdp_rx_queue_buf(ssk, buf, msg);
		*last = sdp_rx_buf_last(buf);
		return 0;
	}
	err = sdp_rx_ring_receive(ssk, msg->payload_len, buf->stamp);
	if (err)
		return err;
	*last = sdp_rx_ring_last(&ssk->conn.rx);
	sdp_rx_repost(ssk, buf);
	return 0;
}

static int sdp_rx_data(struct sdp_sock *ssk, struct sdp_rx_buf *buf,
		       const struct sdp_msg *msg)
{
	struct sdp_rx *rx = &ssk->conn.rx;
	struct sock *sk = &ssk->sk;
	u8 last;
	int err;

	if (!msg->payload_len && !buf->written) {
		sdp_rx_repost(ssk, buf);
		return 0;
	}
	if (sdp_rx_unwanted(sk)) {
		sdp_link_end(&ssk->conn.link, -ECONNABORTED);
		return 0;
	}
	err = sdp_rx_take(ssk, buf, msg, &last);
	if (err)
		return err;
	WRITE_ONCE(rx->bytes, rx->bytes + msg->payload_len);
	ssk->conn.stats.bytes_in += msg->payload_len;
	ssk->conn.stats.data_in++;
	ssk->conn.stats.last_in = jiffies;
	SDP_SOCK_INC_STATS(&ssk->sk, SDP_MIB_DATAIN);
	sdp_burst_end(&ssk->conn.tx.burst);
	if (rx->packing)
		sdp_rx_pack_last(ssk);
	if (msg->bsdh.flags & SDP_OOB_PRES)
		sdp_oob_arrived(ssk, last);
	sdp_accept_first_data(ssk);
	return 0;
}

/*
 * Where a completion does not say that a message has arrived, the receiver does
 * at once if the sender waits for that: see Documentation/wire.rst, iWARP.
 */
static void sdp_rx_note_question(struct sdp_sock *ssk,
				 const struct sdp_msg *msg)
{
	if (ssk->conn.link.dev->iwarp &&
	    (msg->bsdh.mid == SDP_MID_DISCONN ||
	     (!msg->payload_len &&
	      sdp_credit_is_probe(&ssk->conn.credit, &msg->bsdh))))
		ssk->conn.tx.empty_due = true;
}

/* Memory of the peer, which belongs behind the message's payload. */
static int sdp_rx_src_avail(struct sdp_sock *ssk, struct sdp_rx_buf *buf,
			    const struct sdp_msg *msg)
{
	int ret = sdp_zsink_advertised(&ssk->conn.zcopy.sink, msg);

	if (ret < 0)
		return ret;
	if (sdp_rx_unwanted(&ssk->sk)) {
		sdp_link_end(&ssk->conn.link, -ECONNABORTED);
		return 0;
	}
	if (ret) {
		sdp_accept_first_data(ssk);
		sdp_zrecv_offered(ssk);
	}
	return sdp_rx_data(ssk, buf, msg);
}

/* Messages of transfers without a copy. */
static int sdp_rx_zcopy(struct sdp_sock *ssk, const struct sdp_msg *msg)
{
	struct sdp_zcopy *z = &ssk->conn.zcopy;

	switch (msg->bsdh.mid) {
	case SDP_MID_SRCAVAILCANCEL:
		sdp_zsink_refuse(&z->sink);
		return 0;
	case SDP_MID_RDMARDCOMPL:
		ssk->conn.tx.since = jiffies;
		return sdp_zsource_read(&z->source, msg->bsdh.mseq_ack,
					msg->rdma_len);
	default:
		return sdp_zsource_refused(&z->source, msg->bsdh.mseq_ack);
	}
}

/* Nothing of the stream comes behind its end, or overtakes what is offered. */
static bool sdp_rx_out_of_place(const struct sdp_sock *ssk)
{
	return ssk->fin_received || sdp_zsink_busy(&ssk->conn.zcopy.sink);
}

/* Acts on one well-formed message. */
static int sdp_rx_dispatch(struct sdp_sock *ssk, struct sdp_rx_buf *buf,
			   const struct sdp_msg *msg)
{
	switch (msg->bsdh.mid) {
	case SDP_MID_DATA:
		if (msg->payload_len && sdp_rx_out_of_place(ssk))
			return -EPROTO;
		return sdp_rx_data(ssk, buf, msg);
	case SDP_MID_SRCAVAIL:
		if (ssk->fin_received)
			return -EPROTO;
		return sdp_rx_src_avail(ssk, buf, msg);
	case SDP_MID_SRCAVAILCANCEL:
	case SDP_MID_RDMARDCOMPL:
	case SDP_MID_SENDSM:
		sdp_rx_repost(ssk, buf);
		return sdp_rx_zcopy(ssk, msg);
	case SDP_MID_DISCONN:
		if (sdp_rx_out_of_place(ssk))
			return -EPROTO;
		sdp_rx_repost(ssk, buf);
		sdp_sock_fin_received(ssk);
		return 0;
	case SDP_MID_CHRCVBUF:
		sdp_rx_repost(ssk, buf);
		return sdp_rx_asked(ssk, msg->rcv_size - SDP_BSDH_LEN);
	case SDP_MID_CHRCVBUFACK:
		sdp_rx_repost(ssk, buf);
		return sdp_tx_acked_size(ssk, msg->rcv_size);
	case SDP_MID_RINGAVAIL:
		sdp_rx_repost(ssk, buf);
		return sdp_tx_ring_avail(ssk, &msg->ravah);
	case SDP_MID_RINGSPACE:
		sdp_rx_repost(ssk, buf);
		return sdp_tx_ring_space(ssk, msg->ring_tail);
	case SDP_MID_ABORTCONN:
		return -ECONNRESET;
	default:
		/* Buffered mode offers nothing that allows any other. */
		return -EPROTO;
	}
}

/* What was written into the ring, and is told of by a message behind it. */
static void sdp_rx_was_written(struct sdp_rx_buf *buf, struct sdp_msg *msg)
{
	buf->written = true;
	msg->bsdh.mid = SDP_MID_DATA;
	msg->payload_len = msg->ring_len;
}

/* How many credits a message has taken that says so much of what was written. */
static u32 sdp_rx_windows(const struct sdp_conn *conn,
			  const struct sdp_rx_buf *buf, u32 len)
{
	return buf->written ? sdp_flow_windows(conn->flow,
					       conn->rx.ring.pos.piece, len) : 1;
}

/* What a message says, be it sent or written. */
static int sdp_rx_parse(struct sdp_sock *ssk, struct sdp_rx_buf *buf,
			struct sdp_msg *msg)
{
	struct ib_device *ibdev = ssk->conn.link.dev->ibdev;
	const u8 *body = buf->bsdh + SDP_BSDH_LEN;
	u32 len;
	int err;

	if (buf->written) {
		sdp_imm_parse(buf->imm, buf->byte_len,
			      ssk->conn.credit.rx_mseq +
			      sdp_rx_windows(&ssk->conn, buf, buf->byte_len) - 1,
			      ssk->conn.credit.tx_acked, msg);
		return 0;
	}
	if (buf->byte_len < SDP_BSDH_LEN)
		return -EPROTO;
	ib_dma_sync_single_for_cpu(ibdev, buf->bsdh_dma, SDP_MSG_HDR_MAX,
				   DMA_FROM_DEVICE);
	if (buf->page) {
		/* A device behind a bounce buffer copies what is asked for. */
		len = min(buf->byte_len - (u32)SDP_BSDH_LEN, buf->size);
		if (len)
			ib_dma_sync_single_for_cpu(ibdev, buf->page_dma, len,
						   DMA_FROM_DEVICE);
		body = page_address(buf->page);
	}
	if (buf->immediate)
		return sdp_immediate_parse(ssk, buf, msg);
	err = sdp_msg_parse(buf->bsdh, body, buf->byte_len - SDP_BSDH_LEN,
			    msg);
	if (!err && msg->bsdh.mid == SDP_MID_RINGDATA)
		sdp_rx_was_written(buf, msg);
	return err;
}

/*
 * Any message may have taken the credit that the peer's data would need, and so
 * be the last before something is read: whoever waits for more than there is
 * has waited in vain.
 */
static void sdp_rx_look_after(struct sdp_sock *ssk, const struct sdp_msg *msg,
			      bool was_full)
{
	struct sock *sk = &ssk->sk;
	bool data = msg->payload_len && !(msg->bsdh.flags & SDP_OOB_PRES);

	sdp_rx_exhausted(ssk);
	if ((data || (!was_full && sdp_rx_full(ssk))) && sdp_rx_readable(sk))
		sk->sk_data_ready(sk);
}

static int sdp_rx_message(struct sdp_sock *ssk, struct sdp_rx_buf *buf)
{
	struct sdp_conn *conn = &ssk->conn;
	bool full = sdp_rx_full(ssk);
	struct sdp_msg msg;
	u32 windows;
	int err;

	if (buf->page)
		sdp_rcvbuf_consumed(&conn->rx.rb, buf->size);
	conn->stats.last_heard = jiffies;
	conn->stats.msgs_in++;
	err = sdp_rx_parse(ssk, buf, &msg);
	if (!err) {
		sdp_rx_note_question(ssk, &msg);
		windows = sdp_rx_windows(conn, buf, msg.payload_len);
		err = sdp_credit_receive(&conn->credit, &msg.bsdh, windows);
	}
	if (!err) {
		conn->rx.ring.spare += windows - 1;
		sdp_zsink_heard(&conn->zcopy.sink, msg.bsdh.mseq_ack);
		if (buf->ends_key)
			sdp_zsend_key_ended(ssk, buf->ended_key);
		if (msg.bsdh.flags & (SDP_OOB_PEND | SDP_OOB_PRES))
			sdp_oob_announced(ssk);
		err = sdp_rx_dispatch(ssk, buf, &msg);
	}
	if (!err)
		sdp_rx_look_after(ssk, &msg, full);
	if (err == -EPROTO)
		SDP_INC_STATS(sock_net(&ssk->sk), SDP_MIB_PROTOCOLERRORS);
	return err;
}

/**
 * sdp_rx_reap() - process the messages that have arrived
 * @ssk: locked socket (by its owner or in softirq)
 *
 * A message that violates the protocol ends the connection, and nothing behind
 * it is looked at.
 */
void sdp_rx_reap(struct sdp_sock *ssk)
{
	struct sdp_rx *rx = &ssk->conn.rx;
	/* Pairs with the release in sdp_rx_done(). */
	u32 done = smp_load_acquire(&rx->done);
	int err;

	if (rx->seen == done)
		return;
	while (rx->seen != done && !ssk->conn.rx_closed) {
		err = sdp_rx_message(ssk, rx->posted[rx->seen++ & rx->mask]);
		if (err) {
			ssk->conn.rx_closed = true;
			sdp_link_end(&ssk->conn.link, err);
		}
	}
	sdp_tx_heard(ssk);
	if (sdp_in_state(&ssk->sk, TCPF_SYN_RECV) && !ssk->conn.rx_closed)
		sdp_cm_heard(ssk);
}
