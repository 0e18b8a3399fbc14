// SPDX-License-Identifier: GPL-2.0
/*
 * The receive side of the copy path (BSDP): completions, and what each message
 * means.
 */
#include "stream.h"

/**
 * sdp_rx_note() - a message has come into the next receive buffer
 * @st: stream
 * @wc: what a device says of it, or who has executed the send request in its place
 *
 * All else happens in sdp_rx_reap().
 *
 * Context: softirq, or softirqs disabled; one caller at a time.
 */
void sdp_rx_note(struct sdp_stream *st, const struct ib_wc *wc)
{
	struct sdp_rx *rx = &st->rx;
	struct sdp_rx_buf *buf = rx->posted[rx->done & rx->mask];

	buf->byte_len = wc->byte_len;
	buf->written = wc->opcode == IB_WC_RECV_RDMA_WITH_IMM;
	buf->immediate = wc->wc_flags & IB_WC_WITH_IMM;
	if (buf->immediate)
		buf->imm = be32_to_cpu(wc->ex.imm_data);
	buf->ends_key = wc->wc_flags & IB_WC_WITH_INVALIDATE;
	if (buf->ends_key)
		buf->ended_key = wc->ex.invalidate_rkey;
	buf->stamp = sdp_timestamp_now(st->sk);
	/* Pairs with the acquire in sdp_rx_reap(). */
	smp_store_release(&rx->done, rx->done + 1);
}

/**
 * sdp_rx_done() - completion of a receive work request
 * @cq: completion queue
 * @wc: work completion
 *
 * Context: softirq, without the socket lock.
 */
void sdp_rx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct sdp_stream *st = container_of(wc->wr_cqe, struct sdp_stream, rx_cqe);

	trace_sdp_completion(st->sk, wc, true);
	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		sdp_link_wc_error(st->link, wc);
		return;
	}
	/* What a stranger has sent until the queue pair was in error. */
	if (unlikely(sdp_link_is_local(st->link)))
		return;
	sdp_rx_note(st, wc);
	sdp_link_kick(st->link);
}

/**
 * sdp_rx_full() - whether the peer has to wait until something is read
 * @st: stream of a socket, locked or not
 *
 * It then has no credits, or no space, to send more data, and none is about to be
 * made or advertised.
 */
bool sdp_rx_full(const struct sdp_stream *st)
{
	const struct sdp_rx *rx = &st->rx;
	const struct sdp_flow_ops *flow = READ_ONCE(st->flow);

	/* Without the lock the ring may be of a connection, and the engine of the next. */
	if (READ_ONCE(rx->ring.pos.size) && likely(flow->full))
		return flow->full(&st->credit, &rx->ring.pos);
	return READ_ONCE(st->credit.rx_advertised) < SDP_PEER_BUFS_MIN &&
	       !READ_ONCE(rx->rb.growing) && !READ_ONCE(rx->relief) &&
	       !sdp_credit_want_update(&st->credit);
}

/**
 * sdp_rx_readable() - whether a read would not have to wait
 * @st: stream of a socket, locked or not
 *
 * SO_RCVLOWAT cannot be waited for once all buffers are taken.
 */
bool sdp_rx_readable(const struct sdp_stream *st)
{
	u32 unread = sdp_oob_unread(st);

	return unread && (unread >= sock_rcvlowat(st->sk, 0, INT_MAX) || sdp_rx_full(st));
}

/**
 * sdp_rx_unwanted() - whether what arrives will never be read
 * @sk: locked socket (by its owner or in softirq)
 *
 * As TCP does, the caller resets the connection rather than pretend.
 */
bool sdp_rx_unwanted(const struct sock *sk)
{
	sdp_owned(sk);
	return sock_flag(sk, SOCK_DEAD) ||
	       ((sk->sk_shutdown & RCV_SHUTDOWN) &&
		sdp_in_state(sk, TCPF_FIN_WAIT1 | TCPF_FIN_WAIT2));
}

static u8 sdp_rx_buf_last(const struct sdp_rx_buf *buf)
{
	const u8 *payload = page_address(buf->page) + buf->off;

	return payload[buf->len - 1];
}

static void sdp_rx_queue_buf(struct sdp_stream *st, struct sdp_rx_buf *buf,
			     const struct sdp_msg *msg)
{
	struct sdp_rx *rx = &st->rx;

	buf->off = msg->payload_off;
	buf->len = msg->payload_len;
	list_add_tail(&buf->list, &rx->queue);
	st->stats.fill[sdp_rcvbuf_fill(&rx->rb, rx->bytes)]++;
}

/* Takes payload to where it is read, and its last byte as well. */
static int sdp_rx_take(struct sdp_stream *st, struct sdp_rx_buf *buf,
		       const struct sdp_msg *msg, u8 *last)
{
	int err;

	if (!buf->written) {
		/* A peer that writes to the ring does not return to messages. */
		if (!buf->page || st->rx.ring.pos.head)
			return -EPROTO;
		sdp_rx_queue_buf(st, buf, msg);
		*last = sdp_rx_buf_last(buf);
		return 0;
	}
	err = sdp_rx_ring_receive(st, msg->payload_len, buf->stamp);
	if (err)
		return err;
	*last = sdp_rx_ring_last(&st->rx);
	sdp_rx_repost(st, buf);
	return 0;
}

/**
 * sdp_rx_data() - take the payload of a message to where it is read
 * @st: stream of a locked socket (by its owner or in softirq)
 * @buf: the message
 * @msg: what its header says
 *
 * Return: 1 if there was any; 0; or -EPROTO.
 */
int sdp_rx_data(struct sdp_stream *st, struct sdp_rx_buf *buf,
		const struct sdp_msg *msg)
{
	struct sdp_rx *rx = &st->rx;
	u32 unread = msg->payload_len;
	struct sock *sk = st->sk;
	u8 last;
	int err;

	sdp_owned(sk);
	if (!msg->payload_len && !buf->written) {
		sdp_rx_repost(st, buf);
		return 0;
	}
	if (sdp_rx_unwanted(sk)) {
		sdp_link_end(st->link, -ECONNABORTED);
		return 0;
	}
	err = sdp_rx_take(st, buf, msg, &last);
	if (err)
		return err;
	if (unlikely(rx->ring.wanted))
		sdp_rx_note_need(st, msg->payload_len);
	rx->ahead.last = max(msg->payload_len, rx->ahead.last - rx->ahead.last / 4);
	err = unlikely(rx->ahead.read) ? sdp_integrated_arrived(st, &unread) : 0;
	if (err)
		return err;
	WRITE_ONCE(rx->bytes, rx->bytes + unread);
	st->stats.bytes_in += msg->payload_len;
	st->stats.data_in++;
	st->stats.last_in = jiffies;
	SDP_SOCK_INC_STATS(st->sk, SDP_MIB_DATAIN);
	sdp_burst_end(&st->tx.burst);
	if (rx->packing)
		sdp_rx_pack_last(st);
	if (msg->bsdh.flags & SDP_OOB_PRES)
		sdp_oob_arrived(st, last);
	return 1;
}

/*
 * Where a completion does not say that a message has arrived, the receiver does
 * at once if the sender waits for that: see Documentation/protocol/wire.rst, iWARP.
 */
static void sdp_rx_note_question(struct sdp_stream *st, const struct sdp_msg *msg)
{
	sdp_owned(st->sk);
	if (!st->link->dev->acked_on_completion &&
	    (msg->bsdh.mid == SDP_MID_DISCONN ||
	     (!msg->payload_len &&
	      sdp_credit_is_probe(&st->credit, &msg->bsdh))))
		st->tx.empty_due = true;
}

/* What was written into the ring, and is announced by a message behind it. */
static void sdp_rx_was_written(struct sdp_rx_buf *buf, struct sdp_msg *msg)
{
	buf->written = true;
	msg->bsdh.mid = SDP_MID_DATA;
	msg->payload_len = msg->ring_len;
}

/* How many credits a message has taken that says so many bytes were written. */
static u32 sdp_rx_windows(const struct sdp_stream *st,
			  const struct sdp_rx_buf *buf, u32 len)
{
	return buf->written ? sdp_flow_windows(st->flow,
					       st->rx.ring.pos.piece, len) : 1;
}

/* What a device has written becomes visible to the processor. */
static void sdp_rx_sync(struct sdp_stream *st, const struct sdp_rx_buf *buf)
{
	struct ib_device *ibdev = st->link->dev->ibdev;
	/* One behind a bounce buffer copies what is asked for. */
	u32 len = min(buf->byte_len - (u32)SDP_BSDH_LEN, buf->size);

	if (sdp_link_is_local(st->link))
		return;
	ib_dma_sync_single_for_cpu(ibdev, buf->bsdh_dma, SDP_MSG_HDR_MAX, DMA_FROM_DEVICE);
	if (buf->page && len)
		ib_dma_sync_single_for_cpu(ibdev, buf->page_dma, len, DMA_FROM_DEVICE);
}

/* Finds out what a message says, be it sent or written. */
static int sdp_rx_parse(struct sdp_stream *st, struct sdp_rx_buf *buf,
			struct sdp_msg *msg)
{
	const u8 *body = buf->bsdh + SDP_BSDH_LEN;
	int err;

	sdp_owned(st->sk);
	if (buf->written) {
		sdp_imm_parse(buf->imm, buf->byte_len,
			      st->credit.rx_mseq +
			      sdp_rx_windows(st, buf, buf->byte_len) - 1,
			      st->credit.tx_acked, msg);
		return 0;
	}
	if (buf->byte_len < SDP_BSDH_LEN)
		return -EPROTO;
	sdp_rx_sync(st, buf);
	if (buf->page)
		body = page_address(buf->page);
	if (buf->immediate)
		return sdp_immediate_parse(st, buf, msg);
	err = sdp_msg_parse(buf->bsdh, body, buf->byte_len - SDP_BSDH_LEN,
			    msg);
	if (!err && msg->bsdh.mid == SDP_MID_RINGDATA)
		sdp_rx_was_written(buf, msg);
	return err;
}

/**
 * sdp_rx_begin() - find out what a message says, and take the credits that it returns
 * @st: stream of a locked socket (by its owner or in softirq)
 * @buf: the message
 * @msg: to fill
 *
 * Return: 0, or -EPROTO if it is none that the peer may send now.
 */
int sdp_rx_begin(struct sdp_stream *st, struct sdp_rx_buf *buf,
		 struct sdp_msg *msg)
{
	u32 windows;
	int err;

	sdp_owned(st->sk);
	if (buf->page)
		sdp_rcvbuf_consumed(&st->rx.rb, buf->size);
	st->stats.last_heard = jiffies;
	st->stats.msgs_in++;
	err = sdp_rx_parse(st, buf, msg);
	if (err)
		return err;
	trace_sdp_msg_in(st->sk, &msg->bsdh, msg->payload_len);
	sdp_rx_note_question(st, msg);
	windows = sdp_rx_windows(st, buf, msg->payload_len);
	err = sdp_credit_receive(&st->credit, &msg->bsdh, windows);
	if (err)
		return err;
	st->rx.ring.spare += windows - 1;
	if (msg->bsdh.flags & (SDP_OOB_PEND | SDP_OOB_PRES))
		sdp_oob_announced(st);
	return 0;
}

/**
 * sdp_stream_control() - act on a message about the buffers of either side
 * @st: stream of a locked socket (by its owner or in softirq)
 * @msg: what its header says
 *
 * Return: 0 or -EPROTO.
 */
int sdp_stream_control(struct sdp_stream *st, const struct sdp_msg *msg)
{
	sdp_owned(st->sk);
	switch (msg->bsdh.mid) {
	case SDP_MID_CHRCVBUF:
		return sdp_rx_handle_chrcvbuf(st, msg->rcv_size - SDP_BSDH_LEN);
	case SDP_MID_CHRCVBUFACK:
		return sdp_tx_handle_chrcvbuf_ack(st, msg->rcv_size);
	case SDP_MID_RINGAVAIL:
		return sdp_tx_ring_avail(st, &msg->ravah);
	case SDP_MID_RINGSPACE:
		return sdp_tx_ring_space(st, msg->ring_tail);
	default:
		return -EPROTO;
	}
}
