// SPDX-License-Identifier: GPL-2.0
/*
 * Send work requests: messages, writes into the peer's ring, probes; and their
 * completions, which give the send ring's room back.
 */
#include <linux/jiffies.h>

#include "base/base.h"
#include "rdma/rdma.h"
#include "conn/conn.h"
#include "socket/socket.h"
#include "immediate.h"
#include "oob.h"
#include "rx.h"
#include "tx.h"

/* Every such share of the send queue, or of the ring, ends in a completion. */
#define SDP_TX_SIGNAL_SHARE	4

/* Not a message: a request that asks whether the peer is there. */
#define SDP_TX_PROBE		0x100

/* Not messages either: let the peer use memory, and take that back. */
#define SDP_TX_REG_MR		0x101
#define SDP_TX_LOCAL_INV	0x102

/* A message from a program's pages, and the last one of them. */
#define SDP_TX_DIRECT		0x103
#define SDP_TX_DIRECT_END	0x104

static struct sdp_tx_wr *sdp_tx_wr(struct sdp_tx *tx, u32 count)
{
	return &tx->wr[count % SDP_TX_DEPTH];
}

/**
 * sdp_tx_posted() - work requests whose completion was not seen
 * @tx: send side
 */
u32 sdp_tx_posted(const struct sdp_tx *tx)
{
	return tx->wr_head - tx->wr_tail;
}

/**
 * sdp_tx_idle() - whether memory may be registered now
 * @ssk: locked socket
 *
 * With some devices a registration must not share the send queue with what may
 * have to be sent again (SDP_QUIRK_REG_ALONE).  Then nothing is on its way if this
 * says yes; if not, a completion or the read's end tells when to ask again.
 */
bool sdp_tx_idle(struct sdp_sock *ssk)
{
	if (!(ssk->conn.link.dev->quirks & SDP_QUIRK_REG_ALONE))
		return true;
	if (sdp_zrecv_busy(&ssk->conn.zcopy))
		return false;
	if (!sdp_tx_posted(&ssk->conn.tx))
		return true;
	if (ssk->conn.tx.since_signal)
		sdp_tx_probe(ssk);
	return false;
}

/**
 * sdp_tx_room() - whether there is a work request
 * @tx: send side
 * @reserved: how many are kept for others
 */
bool sdp_tx_room(const struct sdp_tx *tx, u32 reserved)
{
	return sdp_tx_posted(tx) < SDP_TX_WRS - reserved;
}

static bool sdp_tx_want_signal(const struct sdp_sock *ssk, u32 len)
{
	const struct sdp_tx *tx = &ssk->conn.tx;

	/*
	 * siw leaves the data of other work requests where it is until TCP has
	 * sent it, and the completion of a later one does not tell.  That of our
	 * own device does.
	 */
	if (ssk->conn.link.dev->iwarp && (len || !ssk->conn.link.dev->ulp))
		return true;
	/* Nagle's rule waits for the completion of what is on its way. */
	if (len && !sdp_sock_nodelay(ssk) && len < tx->max_payload)
		return true;
	if (ssk->sk.sk_socket &&
	    test_bit(SOCK_NOSPACE, &ssk->sk.sk_socket->flags))
		return true;
	return tx->since_signal + 1 >= SDP_TX_DEPTH / SDP_TX_SIGNAL_SHARE ||
	       tx->bytes_since_signal + len >=
			sdp_tx_limit(ssk) / SDP_TX_SIGNAL_SHARE;
}

/* Notes a work request in the queue of those that wait for completion. */
static void sdp_tx_account(struct sdp_sock *ssk, u16 mid, u32 len, bool signal)
{
	struct sdp_tx *tx = &ssk->conn.tx;
	struct sdp_tx_wr *twr = sdp_tx_wr(tx, tx->wr_head);

	twr->mid = mid;
	twr->signaled = signal;
	twr->len = len;
	tx->since_signal = signal ? 0 : tx->since_signal + 1;
	tx->bytes_since_signal = signal ? 0 : tx->bytes_since_signal + len;
	tx->signaled += signal;
	tx->wr_head++;
}

/*
 * Takes the payload from where it is.  All requests for a program's pages are
 * signaled, for nothing else tells when these are free.
 */
static bool sdp_tx_consume(struct sdp_sock *ssk, u16 mid, u32 len, bool signal)
{
	struct sdp_tx *tx = &ssk->conn.tx;

	if (tx->direct) {
		mid = sdp_zdirect_consume(&ssk->conn.zcopy, len) ?
		      SDP_TX_DIRECT_END : SDP_TX_DIRECT;
		len = 0;
	}
	if (WARN_ON_ONCE(!sdp_ring_consume(&tx->ring, len)))
		return false;
	sdp_tx_account(ssk, mid, len, signal);
	return true;
}

static bool sdp_tx_submit(struct sdp_sock *ssk, struct ib_send_wr *wr)
{
	struct sdp_tx *tx = &ssk->conn.tx;
	int err;

	if (tx->reg_first) {
		tx->reg_last->next = wr;
		wr = tx->reg_first;
		tx->reg_first = NULL;
	}
	err = ib_post_send(ssk->conn.link.qp, wr, NULL);
	if (likely(!err))
		return true;
	SDP_INC_STATS(sock_net(&ssk->sk), SDP_MIB_POSTERRORS);
	sdp_link_end(&ssk->conn.link, -ECONNRESET);
	return false;
}

/* Where the payload is. */
static int sdp_tx_gather(struct sdp_sock *ssk, u32 len, struct ib_sge *sge)
{
	return ssk->conn.tx.direct ? sdp_zdirect_map(ssk, len, sge) :
				     sdp_tx_map(ssk, 0, len, sge);
}

/* The request that sends a message: a header, and payload. */
static void sdp_tx_build_send(struct sdp_sock *ssk, const struct sdp_msg *msg,
			      struct ib_rdma_wr *wr)
{
	struct sdp_conn *conn = &ssk->conn;
	struct sdp_tx *tx = &conn->tx;
	u32 slot = tx->wr_head % SDP_TX_DEPTH;
	struct ib_sge *sge = wr->wr.sg_list;

	sge->addr = tx->hdr_dma + slot * SDP_TX_HDR_LEN;
	sge->length = sdp_msg_encode(msg, tx->hdr[slot], SDP_TX_HDR_LEN);
	sge->lkey = conn->link.pd->local_dma_lkey;
	ib_dma_sync_single_for_device(conn->link.dev->ibdev, sge->addr, sge->length,
				      DMA_TO_DEVICE);
	wr->wr.opcode = msg->ends_key ? IB_WR_SEND_WITH_INV : IB_WR_SEND;
	if (msg->ends_key)
		wr->wr.ex.invalidate_rkey = msg->key;
	wr->wr.num_sge = 1 + sdp_tx_gather(ssk, msg->payload_len, sge + 1);
}

/* The request that writes payload into the peer's ring. */
static void sdp_tx_build_write(struct sdp_sock *ssk, const struct sdp_msg *msg,
			       struct ib_rdma_wr *wr)
{
	struct sdp_tx *tx = &ssk->conn.tx;
	u32 len = msg->payload_len;

	wr->wr.opcode = sdp_immediate_written(&ssk->conn) ?
			IB_WR_RDMA_WRITE_WITH_IMM : IB_WR_RDMA_WRITE;
	wr->wr.ex.imm_data = cpu_to_be32(sdp_imm_encode(&msg->bsdh));
	wr->wr.num_sge = sdp_tx_gather(ssk, len, wr->wr.sg_list);
	wr->remote_addr = tx->out_addr + sdp_outring_offset(&tx->out);
	wr->rkey = tx->out_rkey;
	sdp_outring_write(&tx->out, len);
	sdp_burst_sent(&tx->burst, len);
}

/*
 * Most iWARP writes carry no immediate data (RFC 5040): a message behind them
 * tells of what was written, and how long it is.  It is delivered after
 * all that was sent before it has been placed.
 */
static bool sdp_tx_submit_ring_data(struct sdp_sock *ssk,
				    const struct sdp_msg *msg,
				    struct ib_rdma_wr *write)
{
	struct sdp_msg tell = {
		.bsdh = msg->bsdh,
		.ring_len = msg->payload_len,
	};
	struct ib_sge sge;
	struct ib_rdma_wr wr = {
		.wr.wr_cqe = write->wr.wr_cqe,
		.wr.sg_list = &sge,
		.wr.send_flags = write->wr.send_flags,
	};

	tell.bsdh.mid = SDP_MID_RINGDATA;
	sdp_tx_build_send(ssk, &tell, &wr);
	sdp_tx_account(ssk, SDP_MID_RINGDATA, 0, true);
	write->wr.send_flags &= ~IB_SEND_SOLICITED;
	write->wr.next = &wr.wr;
	return sdp_tx_submit(ssk, &write->wr);
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
 * sdp_tx_post_msg() - send one message
 * @ssk: locked socket, credits and a work request are available
 * @msg: the message without sequence numbers; its payload is what comes next in
 *	the ring, or in a program's pages
 * @signal: a completion is needed
 *
 * Return: whether it was posted; if not, the connection is ending.
 */
bool sdp_tx_post_msg(struct sdp_sock *ssk, struct sdp_msg *msg, bool signal)
{
	struct sdp_conn *conn = &ssk->conn;
	struct sdp_tx *tx = &conn->tx;
	u32 len = msg->payload_len;
	struct ib_sge sge[SDP_TX_MAX_SGE];
	struct ib_rdma_wr wr = {
		.wr.wr_cqe = &conn->link.tx_cqe,
		.wr.sg_list = sge,
	};

	signal = signal || sdp_tx_want_signal(ssk, len);
	if (signal)
		wr.wr.send_flags = IB_SEND_SIGNALED;
	if (msg->bsdh.flags & SDP_OOB_PEND)
		wr.wr.send_flags |= IB_SEND_SOLICITED;
	tx->empty_due = false;

	sdp_credit_transmit(&conn->credit, &msg->bsdh,
			    sdp_flow_windows(conn->flow, tx->out.piece, len));
	if (!conn->flow->tells_space)
		sdp_rx_ring_tell(ssk);
	if (len || msg->bsdh.mid == SDP_MID_DISCONN) {
		tx->last_seq = msg->bsdh.mseq;
		if (conn->link.dev->iwarp)
			sdp_alive_stalled(ssk);
	}
	if (len && tx->out.size)
		sdp_tx_build_write(ssk, msg, &wr);
	else if (!tx->direct && sdp_immediate_saves(ssk, msg))
		sdp_immediate_build(ssk, msg, &wr);
	else
		sdp_tx_build_send(ssk, msg, &wr);
	if (!sdp_tx_consume(ssk, msg->bsdh.mid, len, signal))
		return false;
	sdp_tx_count(&conn->stats, len);
	if (wr.wr.opcode == IB_WR_RDMA_WRITE)
		return sdp_tx_submit_ring_data(ssk, msg, &wr);
	return sdp_tx_submit(ssk, &wr.wr);
}

/**
 * sdp_tx_post() - send a message without extended header
 * @ssk: locked socket, credits and a work request are available
 * @mid: kind of message
 * @len: bytes of payload
 * @flags: SDP_OOB_*
 * @signal: a completion is needed
 *
 * Return: as sdp_tx_post_msg().
 */
bool sdp_tx_post(struct sdp_sock *ssk, enum sdp_mid mid, u32 len, u8 flags,
		 bool signal)
{
	struct sdp_msg msg = {
		.bsdh.mid = mid,
		.bsdh.flags = flags,
		.payload_len = len,
	};

	return sdp_tx_post_msg(ssk, &msg, signal);
}

/**
 * sdp_tx_post_direct() - send a message whose payload is in a program's pages
 * @ssk: locked socket, credits and a work request are available
 * @len: bytes of payload, not more than sdp_zdirect_fit() said
 *
 * Return: as sdp_tx_post_msg().
 */
bool sdp_tx_post_direct(struct sdp_sock *ssk, u32 len)
{
	bool posted;

	SDP_SOCK_INC_STATS(&ssk->sk, SDP_MIB_DATAOUT);
	ssk->conn.tx.direct = true;
	posted = sdp_tx_post(ssk, SDP_MID_DATA, len,
			     sdp_oob_flags(&ssk->conn.tx, false), true);
	ssk->conn.tx.direct = false;
	return posted;
}

/**
 * sdp_tx_post_empty() - send a message for what its header says
 * @ssk: locked socket, credits and a work request are available
 *
 * Who needs to know of the ring's space is told in place of an empty Data.
 *
 * Return: as sdp_tx_post_msg().
 */
bool sdp_tx_post_empty(struct sdp_sock *ssk)
{
	struct sdp_conn *conn = &ssk->conn;
	struct sdp_inring *in = &conn->rx.ring.pos;
	struct sdp_msg msg = {
		.bsdh.mid = SDP_MID_DATA,
		.bsdh.flags = sdp_oob_flags(&conn->tx, false),
	};

	if (in->size && conn->flow->tells_space) {
		msg.bsdh.mid = SDP_MID_RINGSPACE;
		msg.ring_tail = sdp_rx_ring_tell(ssk);
	}
	return sdp_tx_post_msg(ssk, &msg, false);
}

/*
 * Sends an empty message that the peer has to answer.  Credits that it does not
 * know of yet have to go first, or they would be taken for what the message is
 * about.  Without a credit to ask with there is no need to: then the peer has
 * to return one by itself.
 */
static void sdp_tx_ask(struct sdp_sock *ssk)
{
	struct sdp_credit *credit = &ssk->conn.credit;

	if (credit->rx_posted != credit->rx_advertised &&
	    sdp_tx_may_send(ssk, SDP_MID_DATA, 0) &&
	    !sdp_tx_post_empty(ssk))
		return;
	if (sdp_credit_may_probe(credit) && sdp_tx_room(&ssk->conn.tx, 0) &&
	    !sdp_tx_post_empty(ssk))
		return;
	sdp_alive_stalled(ssk);
}

/* A zero-byte RDMA write touches no memory and needs no credit. */
static bool sdp_tx_post_probe(struct sdp_sock *ssk)
{
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &ssk->conn.link.tx_cqe,
			.opcode = IB_WR_RDMA_WRITE,
			.send_flags = IB_SEND_SIGNALED,
		},
	};

	sdp_tx_account(ssk, SDP_TX_PROBE, 0, true);
	return sdp_tx_submit(ssk, &wr.wr);
}

/**
 * sdp_tx_nudge() - have the device look at its send queue
 * @ssk: locked socket with a queue pair
 *
 * Posting anything does that, where a device needs it (SDP_QUIRK_LAZY_INV).
 */
void sdp_tx_nudge(struct sdp_sock *ssk)
{
	if (ssk->conn.link.dev->quirks & SDP_QUIRK_LAZY_INV &&
	    sdp_tx_room(&ssk->conn.tx, 0) &&
	    !test_bit(SDP_CONN_BROKEN, &ssk->conn.link.flags))
		sdp_tx_post_probe(ssk);
}

/**
 * sdp_tx_probe() - find out whether the peer's queue pair still answers
 * @ssk: locked socket
 *
 * If the peer or the wire is gone a zero-byte RDMA write completes in error
 * after the usual retries.  Standard SDP uses it for keepalive.  Its completion
 * also says that everything sent before has arrived.
 *
 * With iWARP a write completes when the local device has taken it, and the
 * peer is asked by a message.
 */
void sdp_tx_probe(struct sdp_sock *ssk)
{
	struct sdp_tx *tx = &ssk->conn.tx;

	if (tx->probing || !tx->wr || !sdp_tx_room(tx, 0) ||
	    test_bit(SDP_CONN_BROKEN, &ssk->conn.link.flags) ||
	    sdp_in_state(&ssk->sk, SDPF_CONNECTING))
		return;
	tx->probing = true;
	ssk->conn.stats.probes++;
	tx->probe_at = jiffies;
	if (ssk->conn.link.dev->iwarp) {
		sdp_tx_ask(ssk);
		return;
	}
	if (sdp_tx_post_probe(ssk))
		sdp_alive_stalled(ssk);
}

/**
 * sdp_tx_add_reg_mr() - let the peer use memory, of which the next message tells
 * @ssk: locked socket, a work request is available beside the message's
 * @reg: to fill; it stays until the message is posted, with which it leaves
 * @mr: the memory
 * @access: IB_ACCESS_*
 */
void sdp_tx_add_reg_mr(struct sdp_sock *ssk, struct ib_reg_wr *reg,
		       struct ib_mr *mr, int access)
{
	struct sdp_tx *tx = &ssk->conn.tx;

	*reg = (struct ib_reg_wr){
		.wr.wr_cqe = &ssk->conn.link.tx_cqe,
		.wr.opcode = IB_WR_REG_MR,
		.mr = mr,
		.key = mr->rkey,
		.access = access,
	};
	if (tx->reg_first)
		tx->reg_last->next = &reg->wr;
	else
		tx->reg_first = &reg->wr;
	tx->reg_last = &reg->wr;
	sdp_tx_account(ssk, SDP_TX_REG_MR, 0, false);
}

/**
 * sdp_tx_post_local_inv() - take memory back from the peer
 * @ssk: locked socket, a work request is available
 * @mr: the memory; sdp_zsend_revoked() is called when it is done
 *
 * Return: as sdp_tx_post_msg().
 */
bool sdp_tx_post_local_inv(struct sdp_sock *ssk, struct ib_mr *mr)
{
	struct ib_send_wr wr = {
		.wr_cqe = &ssk->conn.link.tx_cqe,
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = mr->rkey,
	};

	sdp_tx_account(ssk, SDP_TX_LOCAL_INV, 0, true);
	return sdp_tx_submit(ssk, &wr);
}

/**
 * sdp_tx_done() - completion of a send work request
 * @cq: completion queue
 * @wc: work completion
 *
 * Context: softirq, without the socket lock.  Only counts; all else happens
 * in sdp_tx_reap().
 */
void sdp_tx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct sdp_conn *conn = container_of(wc->wr_cqe, struct sdp_conn,
					     link.tx_cqe);
	struct sdp_sock *ssk = container_of(conn, struct sdp_sock, conn);

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		sdp_link_wc_error(&ssk->conn.link, wc);
		return;
	}
	/* Pairs with the acquire in sdp_tx_reap(). */
	smp_store_release(&conn->tx.signaled_done, conn->tx.signaled_done + 1);
	sdp_link_kick(&ssk->conn.link);
}

static void sdp_tx_complete(struct sdp_sock *ssk, const struct sdp_tx_wr *twr)
{
	struct sdp_ring *ring = &ssk->conn.tx.ring;

	if (twr->len || twr->mid == SDP_TX_DIRECT ||
	    twr->mid == SDP_TX_DIRECT_END)
		ssk->conn.tx.since = jiffies;
	ssk->conn.stats.bytes_acked += twr->len;
	if (WARN_ON_ONCE(!sdp_ring_release(ring, twr->len)))
		return;
	if (twr->mid == SDP_TX_PROBE)
		ssk->conn.tx.probing = false;
	else if (twr->mid == SDP_TX_LOCAL_INV)
		sdp_zsend_revoked(ssk);
	else if (twr->mid == SDP_TX_DIRECT_END)
		sdp_zsend_finish(ssk);
	else if (twr->mid == SDP_MID_DISCONN && !ssk->conn.link.dev->iwarp)
		sdp_sock_fin_acked(ssk);
}

/**
 * sdp_tx_reap() - give back the room of messages that have arrived
 * @ssk: locked socket (by its owner or in softirq)
 *
 * A completion also stands for the unsignaled work requests before it.
 */
void sdp_tx_reap(struct sdp_sock *ssk)
{
	struct sdp_tx *tx = &ssk->conn.tx;
	const struct sdp_tx_wr *twr;
	/* Pairs with the release in sdp_tx_done(). */
	u32 done = smp_load_acquire(&tx->signaled_done);

	if (tx->signaled_seen == done)
		return;
	/* As with TCP, what arrives lets go what the program held back. */
	tx->hold = false;
	ssk->conn.stats.last_heard = jiffies;
	while (tx->signaled_seen != done) {
		do {
			twr = sdp_tx_wr(tx, tx->wr_tail++);
			sdp_tx_complete(ssk, twr);
		} while (!twr->signaled);
		tx->signaled_seen++;
	}
	if (tx->starved && !sdp_ring_used(&tx->ring))
		WRITE_ONCE(tx->starved, false);
	if (sdp_tx_writeable(ssk))
		ssk->sk.sk_write_space(&ssk->sk);
}
