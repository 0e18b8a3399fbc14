// SPDX-License-Identifier: GPL-2.0
/*
 * Messages as send work requests: sends, and writes into the peer's ring.
 */
#include <linux/jiffies.h>

#include "stream.h"

/* Every such share of the send queue, or of the ring, ends in a completion. */
#define SDP_TX_SIGNAL_SHARE	4

/**
 * struct sdp_tx_how - how a message is posted
 * @payload: where its payload is, NULL = in the send ring
 * @signal: a completion is needed
 * @done: what is to be done then, unless @payload says
 */
struct sdp_tx_how {
	struct sdp_payload *payload;
	bool signal;
	struct sdp_done *done;
};

/* Whether memory may be used again only when its own request has completed. */
static bool sdp_tx_in_place(const struct sdp_stream *st, u32 len)
{
	const struct sdp_device *dev = st->link->dev;

	return len ? dev->data_in_place : dev->all_in_place;
}

/**
 * sdp_tx_want_signal() - whether a completion of a message is needed by what comes next
 * @st: stream of a locked socket
 * @len: bytes of its payload
 * @answer: it is one, behind which the program does not write on before it has read what
 *	the peer has to say to it
 */
bool sdp_tx_want_signal(const struct sdp_stream *st, u32 len, bool answer)
{
	const struct sdp_tx *tx = &st->tx;

	sdp_owned(st->sk);
	/* Nagle's rule waits for the completion of what is in flight. */
	if (len && !answer && !sdp_nodelay(st->sk) && len < tx->max_payload)
		return true;
	if (len && tx->out.size && sdp_burst_fills(&tx->burst, len))
		return true;
	if (st->sk->sk_socket &&
	    test_bit(SOCK_NOSPACE, &st->sk->sk_socket->flags))
		return true;
	return tx->since_signal + 1 >= SDP_TX_DEPTH / SDP_TX_SIGNAL_SHARE ||
	       tx->bytes_since_signal + len >=
			sdp_tx_limit(st) / SDP_TX_SIGNAL_SHARE;
}

/* Takes the payload from where it is. */
static bool sdp_tx_consume(struct sdp_stream *st, u32 len, const struct sdp_tx_how *how)
{
	struct sdp_tx *tx = &st->tx;
	struct sdp_done *done = how->done;
	struct sdp_tx_wr *twr;

	if (how->payload)
		done = how->payload->consume(how->payload, len);
	else if (WARN_ON_ONCE(!sdp_ring_consume(&tx->ring, len)))
		return false;
	twr = sdp_tx_account(st, how->payload ? 0 : len, how->signal);
	twr->data = len;
	twr->direct = how->payload ? len : 0;
	twr->done = done;
	return true;
}

/*
 * Whether a request takes so many bytes with it, header and payload: then the device does
 * not have to fetch them from memory first, which is what most of a short message's time
 * goes into.  Their addresses are the processor's, as are all where no device is between.
 */
static bool sdp_tx_inlined(const struct sdp_stream *st, const struct sdp_payload *payload,
			   u32 len)
{
	return !payload && (sdp_link_is_local(st->link) || len <= st->link->max_inline);
}

/* Where the header is. */
static void sdp_tx_gather_hdr(struct sdp_stream *st, u32 slot, struct ib_rdma_wr *wr,
			      struct ib_sge *sge)
{
	if (wr->wr.send_flags & IB_SEND_INLINE || sdp_link_is_local(st->link)) {
		sge->addr = (uintptr_t)st->tx.hdr[slot];
		return;
	}
	sge->addr = st->tx.hdr_dma + slot * SDP_TX_HDR_LEN;
	sge->lkey = st->link->pd->local_dma_lkey;
	ib_dma_sync_single_for_device(st->link->dev->ibdev, sge->addr, sge->length,
				      DMA_TO_DEVICE);
}

/* The request that sends a message: a header, and payload. */
static void sdp_tx_build_send(struct sdp_stream *st, const struct sdp_msg *msg,
			      struct sdp_payload *payload, struct ib_rdma_wr *wr)
{
	struct sdp_tx *tx = &st->tx;
	u32 slot = tx->wr_head % SDP_TX_DEPTH;
	struct ib_sge *sge = wr->wr.sg_list;

	sge->length = sdp_msg_encode(msg, tx->hdr[slot], SDP_TX_HDR_LEN);
	/* The kernel's software iWARP takes no other sends inline. */
	if (!msg->ends_key && sdp_tx_inlined(st, payload, sge->length + msg->payload_len))
		wr->wr.send_flags |= IB_SEND_INLINE;
	sdp_tx_gather_hdr(st, slot, wr, sge);
	wr->wr.opcode = msg->ends_key ? IB_WR_SEND_WITH_INV : IB_WR_SEND;
	if (msg->ends_key)
		wr->wr.ex.invalidate_rkey = msg->key;
	wr->wr.num_sge = 1 + sdp_tx_gather(st, payload, 0, msg->payload_len, sge + 1,
				       wr->wr.send_flags & IB_SEND_INLINE);
}

/* The request that writes payload into the peer's ring. */
static void sdp_tx_build_write(struct sdp_stream *st, const struct sdp_msg *msg,
			       struct sdp_payload *payload, struct ib_rdma_wr *wr)
{
	struct sdp_tx *tx = &st->tx;
	u32 len = msg->payload_len;

	wr->wr.opcode = sdp_immediate_written(st) ?
			IB_WR_RDMA_WRITE_WITH_IMM : IB_WR_RDMA_WRITE;
	wr->wr.ex.imm_data = cpu_to_be32(sdp_imm_encode(&msg->bsdh));
	if (sdp_tx_inlined(st, payload, len))
		wr->wr.send_flags |= IB_SEND_INLINE;
	wr->wr.num_sge = sdp_tx_gather(st, payload, 0, len, wr->wr.sg_list,
				       wr->wr.send_flags & IB_SEND_INLINE);
	wr->remote_addr = tx->out_addr + sdp_outring_offset(&tx->out);
	wr->rkey = tx->out_rkey;
	sdp_tx_ring_written(tx, len);
}

/*
 * Most iWARP writes carry no immediate data (RFC 5040): a message behind them
 * announces what was written, and how long it is.  It is delivered after all that
 * was sent before it has been placed.
 */
static bool sdp_tx_submit_ring_data(struct sdp_stream *st,
				    const struct sdp_msg *msg,
				    struct ib_rdma_wr *write, bool now)
{
	struct sdp_msg tell = {
		.bsdh = msg->bsdh,
		.ring_len = msg->payload_len,
	};
	struct ib_sge sge;
	struct ib_rdma_wr wr = {
		.wr.wr_cqe = write->wr.wr_cqe,
		.wr.sg_list = &sge,
		.wr.send_flags = write->wr.send_flags & ~IB_SEND_INLINE,
	};

	tell.bsdh.mid = SDP_MID_RINGDATA;
	sdp_tx_build_send(st, &tell, NULL, &wr);
	sdp_tx_account(st, 0, true);
	write->wr.send_flags &= ~IB_SEND_SOLICITED;
	write->wr.next = &wr.wr;
	return sdp_tx_submit(st, &write->wr, now);
}

static void sdp_tx_count(struct sdp_conn_stats *stats, u32 len)
{
	stats->msgs_out++;
	if (!len)
		return;
	stats->data_out++;
	stats->bytes_out += len;
	stats->last_out = jiffies;
}

/**
 * sdp_tx_number() - fill in a message's sequence numbers and credits
 * @st: stream of a locked socket, credits are available
 * @msg: the message, with its kind and length; it leaves next
 *
 * What it says is posted, the device has been given before, see sdp_rx_settle().
 */
void sdp_tx_number(struct sdp_stream *st, struct sdp_msg *msg)
{
	sdp_owned(st->sk);
	sdp_credit_transmit(&st->credit, &msg->bsdh,
			    sdp_flow_windows(st->flow, st->tx.out.piece, msg->payload_len));
}

/**
 * sdp_tx_said() - remember that a message was sent, and what it has told the peer
 * @st: stream of a locked socket
 * @msg: the message, for which sdp_tx_number() was called
 */
void sdp_tx_said(struct sdp_stream *st, const struct sdp_msg *msg)
{
	struct sdp_tx *tx = &st->tx;
	u32 len = msg->payload_len;

	sdp_owned(st->sk);
	tx->empty_due = false;
	trace_sdp_msg_out(st->sk, &msg->bsdh, len);
	if (!st->flow->tells_space)
		sdp_rx_ring_tell(st);
	if (len || msg->bsdh.mid == SDP_MID_DISCONN || msg->bsdh.mid == SDP_MID_RDMAWRCOMPL) {
		WRITE_ONCE(tx->last_seq, msg->bsdh.mseq);
		if (!st->link->dev->acked_on_completion)
			sdp_alive_stalled(st);
	}
	tx->answers &= !len;
	sdp_tx_count(&st->stats, len);
}

/**
 * sdp_tx_say() - fill in what a message says of the connection, and remember that it did
 * @st: stream of a locked socket, credits are available
 * @msg: the message, with its kind, flags and length; it leaves next
 */
void sdp_tx_say(struct sdp_stream *st, struct sdp_msg *msg)
{
	sdp_owned(st->sk);
	sdp_rx_settle(st);
	sdp_tx_number(st, msg);
	sdp_tx_said(st, msg);
}

/* Sends one message. */
static bool sdp_tx_post_how(struct sdp_stream *st, struct sdp_msg *msg, struct sdp_tx_how how)
{
	struct sdp_tx *tx = &st->tx;
	u32 len = msg->payload_len;
	bool answers = len && tx->answers;
	struct ib_sge sge[SDP_TX_DIRECT_SGE];
	struct ib_rdma_wr wr = {
		.wr.wr_cqe = &st->tx_cqe,
		.wr.sg_list = sge,
	};

	how.signal = how.signal || sdp_tx_in_place(st, len) ||
		     sdp_tx_want_signal(st, len, false);
	if (how.signal)
		wr.wr.send_flags = IB_SEND_SIGNALED;
	if (msg->bsdh.flags & SDP_OOB_PEND)
		wr.wr.send_flags |= IB_SEND_SOLICITED;
	sdp_tx_say(st, msg);
	if (len && tx->out.size)
		sdp_tx_build_write(st, msg, how.payload, &wr);
	else if (sdp_immediate_saves(st, msg))
		sdp_immediate_build(st, msg, how.payload, &wr);
	else
		sdp_tx_build_send(st, msg, how.payload, &wr);
	if (!sdp_tx_consume(st, len, &how))
		return false;
	if (wr.wr.opcode == IB_WR_RDMA_WRITE)
		return sdp_tx_submit_ring_data(st, msg, &wr, answers);
	return sdp_tx_submit(st, &wr.wr, answers);
}

/**
 * sdp_tx_post_msg() - send one message
 * @st: stream of a locked socket, credits and a work request are available
 * @msg: the message without sequence numbers; its payload is what comes next in
 *	the send ring
 * @signal: a completion is needed
 *
 * Return: whether it was posted; if not, the connection is ending.
 */
bool sdp_tx_post_msg(struct sdp_stream *st, struct sdp_msg *msg, bool signal)
{
	sdp_owned(st->sk);
	return sdp_tx_post_how(st, msg, (struct sdp_tx_how){ .signal = signal });
}

/**
 * sdp_tx_post() - send a message without extended header
 * @st: stream of a locked socket, credits and a work request are available
 * @mid: kind of message
 * @len: bytes of payload, which come next in the send ring
 * @flags: SDP_OOB_*
 *
 * Return: as sdp_tx_post_msg().
 */
bool sdp_tx_post(struct sdp_stream *st, enum sdp_mid mid, u32 len, u8 flags)
{
	struct sdp_msg msg = {
		.bsdh.mid = mid,
		.bsdh.flags = flags,
		.payload_len = len,
	};

	sdp_owned(st->sk);
	return sdp_tx_post_msg(st, &msg, false);
}

/**
 * sdp_tx_post_done() - send a message behind which something is done
 * @st: stream of a locked socket, credits and a work request are available
 * @msg: the message without sequence numbers and payload
 * @done: what is to be done once the device has sent it, NULL = nothing
 *
 * Return: as sdp_tx_post_msg().
 */
bool sdp_tx_post_done(struct sdp_stream *st, struct sdp_msg *msg, struct sdp_done *done)
{
	sdp_owned(st->sk);
	return sdp_tx_post_how(st, msg, (struct sdp_tx_how){ .signal = true, .done = done });
}

/**
 * sdp_tx_post_direct() - send a message whose payload is not in the send ring
 * @st: stream of a locked socket, credits and a work request are available
 * @len: bytes of payload, not more than its pieces allow
 * @payload: where it is
 *
 * Its completion is needed: it says how much of that memory has arrived.
 *
 * Return: as sdp_tx_post_msg().
 */
bool sdp_tx_post_direct(struct sdp_stream *st, u32 len, struct sdp_payload *payload)
{
	struct sdp_msg msg = {
		.bsdh.mid = SDP_MID_DATA,
		.bsdh.flags = sdp_oob_flags(&st->tx, false),
		.payload_len = len,
	};

	sdp_owned(st->sk);
	SDP_SOCK_INC_STATS(st->sk, SDP_MIB_DATAOUT);
	return sdp_tx_post_how(st, &msg, (struct sdp_tx_how){ .signal = true, .payload = payload });
}

/**
 * sdp_tx_post_empty() - send a message for what its header says
 * @st: stream of a locked socket, credits and a work request are available
 *
 * To a peer that needs to know of the ring's space RingSpace is sent in place of an
 * empty Data.
 *
 * Return: as sdp_tx_post_msg().
 */
bool sdp_tx_post_empty(struct sdp_stream *st)
{
	struct sdp_inring *in = &st->rx.ring.pos;
	struct sdp_msg msg = {
		.bsdh.mid = SDP_MID_DATA,
		.bsdh.flags = sdp_oob_flags(&st->tx, false),
	};

	sdp_owned(st->sk);
	if (in->size && st->flow->tells_space) {
		msg.bsdh.mid = SDP_MID_RINGSPACE;
		msg.ring_tail = sdp_rx_ring_tell(st);
	}
	return sdp_tx_post_msg(st, &msg, false);
}
