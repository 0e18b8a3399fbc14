// SPDX-License-Identifier: GPL-2.0
/*
 * The send side of the copy path (BSDP): messages are posted as fast as the
 * peer's credits allow, and their completions give the ring's room back.
 */
#include <linux/jiffies.h>

#include "alive.h"
#include "conn.h"
#include "device.h"
#include "mib.h"
#include "oob.h"
#include "sock.h"
#include "tx.h"

/* Every such share of the send queue, or of the ring, ends in a completion. */
#define SDP_TX_SIGNAL_SHARE	4

/* As with TCP, what the program holds back leaves by itself after a while. */
#define SDP_HOLD_TIME	(HZ / 5)

/* Twice what the device's retries take. */
#define SDP_PROBE_TIMEOUT	(15 * HZ)

/* Not a message: a request that asks whether the peer is there. */
#define SDP_TX_PROBE		0x100

/* What a peer did not grant may be asked for again after this time. */
#define SDP_TX_ASK_PERIOD	HZ

static struct sdp_tx_wr *sdp_tx_wr(struct sdp_tx *tx, u32 count)
{
	return &tx->wr[count % SDP_TX_DEPTH];
}

/*
 * The peer has not acknowledged all that has to arrive.  It does not have to
 * do so at once, so that this asks for a probe and not for patience.
 */
static bool sdp_tx_unacked(const struct sdp_sock *ssk)
{
	const struct sdp_conn *conn = &ssk->conn;

	return (s32)(conn->credit.tx_acked - conn->tx.last_seq) < 0;
}

/**
 * sdp_tx_waiting() - whether something is yet to arrive at the peer
 * @ssk: locked socket with a connection
 *
 * That is data, posted or waiting for credits, DisConn, or a probe.
 */
bool sdp_tx_waiting(const struct sdp_sock *ssk)
{
	const struct sdp_conn *conn = &ssk->conn;

	return sdp_ring_used(&conn->tx.ring) || conn->tx.probing ||
	       (ssk->fin_queued && !ssk->fin_acked) ||
	       (conn->dev && conn->dev->iwarp && sdp_tx_unacked(ssk));
}

/**
 * sdp_tx_heard() - a message has come from the peer
 * @ssk: locked socket (by its owner or in softirq)
 *
 * With iWARP this is what answers a probe, and says that DisConn has arrived.
 * Otherwise it gives a probe more time, which may be slow because much data is
 * on its way before it.
 */
void sdp_tx_heard(struct sdp_sock *ssk)
{
	struct sdp_tx *tx = &ssk->conn.tx;

	tx->probe_at = jiffies;
	if (!ssk->conn.dev->iwarp)
		return;
	tx->probing = false;
	if (ssk->fin_sent && !ssk->fin_acked && !sdp_tx_unacked(ssk))
		sdp_sock_fin_acked(ssk);
}

/**
 * sdp_tx_silent() - whether no completion will tell that the ring has room
 * @ssk: locked socket
 *
 * What waits for credits will ask for one when it is posted.
 */
bool sdp_tx_silent(const struct sdp_sock *ssk)
{
	const struct sdp_tx *tx = &ssk->conn.tx;

	return sdp_ring_used(&tx->ring) && tx->wait_head == tx->wait_tail &&
	       tx->signaled == tx->signaled_seen;
}

/**
 * sdp_tx_probe_overdue() - whether a probe has neither arrived nor failed
 * @ssk: locked socket
 *
 * The device's own retries end long before; this is for those that forget
 * them, as Soft-RoCE can when its link goes down.
 */
bool sdp_tx_probe_overdue(const struct sdp_sock *ssk)
{
	return ssk->conn.tx.probing &&
	       time_after(jiffies,
			  ssk->conn.tx.probe_at + SDP_PROBE_TIMEOUT);
}

static u32 sdp_tx_posted(const struct sdp_tx *tx)
{
	return tx->wr_head - tx->wr_tail;
}

/* Whether there is a work request besides those kept for others. */
static bool sdp_tx_room(const struct sdp_tx *tx, u32 reserved)
{
	return sdp_tx_posted(tx) < SDP_TX_WRS - reserved;
}

static bool sdp_tx_want_signal(const struct sdp_sock *ssk, u32 len)
{
	const struct sdp_tx *tx = &ssk->conn.tx;

	/*
	 * siw leaves the data of other work requests where it is until TCP has
	 * sent it, and the completion of a later one does not tell.
	 */
	if (ssk->conn.dev->iwarp)
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

static bool sdp_tx_submit(struct sdp_sock *ssk, const struct ib_send_wr *wr)
{
	int err = ib_post_send(ssk->conn.qp, wr, NULL);

	if (likely(!err))
		return true;
	SDP_INC_STATS(sock_net(&ssk->sk), SDP_MIB_POSTERRORS);
	sdp_conn_end(ssk, -ECONNRESET);
	return false;
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
 *	the ring
 * @signal: a completion is needed
 *
 * Return: whether it was posted; if not, the connection is ending.
 */
static bool sdp_tx_post_msg(struct sdp_sock *ssk, struct sdp_msg *msg,
			    bool signal)
{
	struct sdp_conn *conn = &ssk->conn;
	struct sdp_tx *tx = &conn->tx;
	u32 slot = tx->wr_head % SDP_TX_DEPTH;
	u32 len = msg->payload_len;
	struct ib_sge sge[SDP_TX_MAX_SGE];
	struct ib_send_wr wr = {
		.wr_cqe = &conn->tx_cqe,
		.sg_list = sge,
		.opcode = IB_WR_SEND,
	};

	signal = signal || sdp_tx_want_signal(ssk, len);
	if (signal)
		wr.send_flags = IB_SEND_SIGNALED;
	if (msg->bsdh.flags & SDP_OOB_PEND)
		wr.send_flags |= IB_SEND_SOLICITED;
	tx->empty_due = false;

	sdp_credit_transmit(&conn->credit, &msg->bsdh);
	if (len || msg->bsdh.mid == SDP_MID_DISCONN) {
		tx->last_seq = msg->bsdh.mseq;
		if (conn->dev->iwarp)
			sdp_alive_stalled(ssk);
	}
	sge[0].addr = tx->hdr_dma + slot * SDP_TX_HDR_LEN;
	sge[0].length = sdp_msg_encode(msg, tx->hdr[slot], SDP_TX_HDR_LEN);
	sge[0].lkey = conn->dev->pd->local_dma_lkey;
	ib_dma_sync_single_for_device(conn->dev->ibdev, sge[0].addr,
				      sge[0].length, DMA_TO_DEVICE);
	wr.num_sge = 1 + sdp_tx_map(ssk, len, sge + 1);
	if (WARN_ON_ONCE(!sdp_ring_consume(&tx->ring, len)))
		return false;

	sdp_tx_account(ssk, msg->bsdh.mid, len, signal);
	sdp_tx_count(&conn->stats, len);
	return sdp_tx_submit(ssk, &wr);
}

/* Sends a message without extended header. */
static bool sdp_tx_post(struct sdp_sock *ssk, enum sdp_mid mid, u32 len,
			u8 flags, bool signal)
{
	struct sdp_msg msg = {
		.bsdh.mid = mid,
		.bsdh.flags = flags,
		.payload_len = len,
	};

	return sdp_tx_post_msg(ssk, &msg, signal);
}

static bool sdp_tx_post_empty(struct sdp_sock *ssk)
{
	return sdp_tx_post(ssk, SDP_MID_DATA, 0,
			   sdp_oob_flags(&ssk->conn.tx, false), false);
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
	    sdp_credit_may_send(credit, SDP_MID_DATA, 0) &&
	    !sdp_tx_post_empty(ssk))
		return;
	if (sdp_credit_may_probe(credit) && sdp_tx_room(&ssk->conn.tx, 0) &&
	    !sdp_tx_post_empty(ssk))
		return;
	sdp_alive_stalled(ssk);
}

/**
 * sdp_tx_probe() - find out whether the peer's queue pair still answers
 * @ssk: locked socket
 *
 * A zero-byte RDMA write touches no memory and needs no credit; if the peer or
 * the wire is gone it completes in error after the usual retries.  Standard
 * SDP uses it for keepalive.  Its completion also says that everything sent
 * before has arrived.
 *
 * With iWARP a write completes when the local device has taken it, and the
 * peer is asked by a message.
 */
void sdp_tx_probe(struct sdp_sock *ssk)
{
	struct sdp_tx *tx = &ssk->conn.tx;
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &ssk->conn.tx_cqe,
			.opcode = IB_WR_RDMA_WRITE,
			.send_flags = IB_SEND_SIGNALED,
		},
	};

	if (tx->probing || !tx->wr || !sdp_tx_room(tx, 0) ||
	    test_bit(SDP_CONN_BROKEN, &ssk->conn.flags) ||
	    sdp_in_state(&ssk->sk, SDPF_CONNECTING))
		return;
	tx->probing = true;
	ssk->conn.stats.probes++;
	tx->probe_at = jiffies;
	if (ssk->conn.dev->iwarp) {
		sdp_tx_ask(ssk);
		return;
	}
	sdp_tx_account(ssk, SDP_TX_PROBE, 0, true);
	if (sdp_tx_submit(ssk, &wr.wr))
		sdp_alive_stalled(ssk);
}

/*
 * Whether a message that is not full waits for more data: while the write that
 * fills it goes on; while the socket is corked; if the program has promised
 * more, but not in a ring that is so full that the program would wait for us;
 * and by Nagle's rule while another such message is on its way.  Reliable
 * connections acknowledge everything at once, so that this rule needs no timer,
 * but a completion must be due: the last work request is signaled.
 */
static bool sdp_tx_hold(const struct sdp_sock *ssk,
			const struct sdp_tx_msg *msg)
{
	const struct sdp_tx *tx = &ssk->conn.tx;
	const struct sdp_credit *credit = &ssk->conn.credit;

	if (!msg->open || msg->len >= tx->max_payload)
		return false;
	/* Others were full before messages could be longer. */
	if (tx->wait_head - tx->wait_tail != 1)
		return false;
	if (tx->more)
		return true;
	if (ssk->fin_queued)
		return false;
	if (ssk->opt.cork || (tx->hold && sdp_tx_writeable(ssk)))
		return true;
	return !ssk->opt.nodelay && sdp_tx_posted(tx) && !tx->since_signal &&
	       credit->tx_acked != credit->tx_mseq;
}

/* What the program forgets does not wait for ever. */
static void sdp_tx_held(struct sdp_sock *ssk)
{
	if (ssk->opt.cork || ssk->conn.tx.hold)
		sdp_timer_arm_once(ssk, SDP_TIMER_HOLD, SDP_HOLD_TIME);
}

static bool sdp_tx_push_data(struct sdp_sock *ssk)
{
	struct sdp_tx *tx = &ssk->conn.tx;
	struct sdp_tx_msg *msg;

	while (tx->wait_tail != tx->wait_head) {
		msg = sdp_tx_msg(tx, tx->wait_tail);
		if (!sdp_credit_may_send(&ssk->conn.credit, SDP_MID_DATA,
					 msg->len)) {
			SDP_INC_STATS(sock_net(&ssk->sk), SDP_MIB_CREDITSTALLS);
			ssk->conn.stats.credit_stalls++;
			sdp_alive_stalled(ssk);
			return true;
		}
		if (!sdp_tx_room(tx, SDP_TX_RESERVED))
			return true;
		if (sdp_tx_hold(ssk, msg)) {
			sdp_tx_held(ssk);
			return true;
		}
		sdp_timer_disarm(ssk, SDP_TIMER_HOLD);
		WRITE_ONCE(tx->wait_tail, tx->wait_tail + 1);
		if (!sdp_tx_post(ssk, SDP_MID_DATA, msg->len,
				 sdp_oob_flags(tx, msg->urgent), false))
			return false;
		SDP_INC_STATS(sock_net(&ssk->sk), SDP_MIB_DATAOUT);
	}
	return true;
}

static bool sdp_tx_push_fin(struct sdp_sock *ssk)
{
	struct sdp_tx *tx = &ssk->conn.tx;

	if (!ssk->fin_queued || ssk->fin_sent || tx->wait_tail != tx->wait_head)
		return true;
	if (!sdp_credit_may_send(&ssk->conn.credit, SDP_MID_DISCONN, 0) ||
	    !sdp_tx_room(tx, 0)) {
		sdp_alive_stalled(ssk);
		return true;
	}
	ssk->fin_sent = true;
	return sdp_tx_post(ssk, SDP_MID_DISCONN, 0, 0, true);
}

/* A message of no bytes, for what its header says. */
static void sdp_tx_push_empty(struct sdp_sock *ssk)
{
	struct sdp_tx *tx = &ssk->conn.tx;

	if (!sdp_credit_may_send(&ssk->conn.credit, SDP_MID_DATA, 0) ||
	    !sdp_tx_room(tx, 0))
		return;
	if (!tx->empty_due) {
		SDP_INC_STATS(sock_net(&ssk->sk), SDP_MIB_CREDITUPDATES);
		ssk->conn.stats.credit_updates++;
	}
	sdp_tx_post_empty(ssk);
}

/* Sends ChRcvBuf or ChRcvBufAck. */
static bool sdp_tx_post_size(struct sdp_sock *ssk, enum sdp_mid mid, u32 size)
{
	struct sdp_msg msg = {
		.bsdh.mid = mid,
		.rcv_size = size + SDP_BSDH_LEN,
	};

	if (!sdp_credit_may_send(&ssk->conn.credit, mid, 0) ||
	    !sdp_tx_room(&ssk->conn.tx, 0))
		return false;
	return sdp_tx_post_msg(ssk, &msg, false);
}

/* What there is to say of buffers is said when credits allow. */
static void sdp_tx_push_sizes(struct sdp_sock *ssk)
{
	struct sdp_rcvbuf *rb = &ssk->conn.rx.rb;
	struct sdp_peerbuf *peer = &ssk->conn.tx.peer;
	u32 wish = sdp_peerbuf_ask(peer);

	if (sdp_rcvbuf_ack_due(rb) &&
	    sdp_tx_post_size(ssk, SDP_MID_CHRCVBUFACK, rb->size))
		rb->wish = 0;
	if (wish && !ssk->fin_sent &&
	    sdp_tx_post_size(ssk, SDP_MID_CHRCVBUF, wish))
		sdp_peerbuf_asked(peer, wish);
}

/**
 * sdp_tx_set_peer() - the connection is set up, the peer's buffers are known
 * @ssk: socket that nobody else can transmit on yet
 * @rcv_size: size of the peer's buffers as it said, header included
 *
 * The send ring's pieces limit what a message can have: one piece of the work
 * request is for the header, and an unaligned range touches one chunk more.
 */
void sdp_tx_set_peer(struct sdp_sock *ssk, u32 rcv_size)
{
	struct sdp_tx *tx = &ssk->conn.tx;

	sdp_peerbuf_init(&tx->peer, rcv_size - SDP_BSDH_LEN,
			 (SDP_TX_MAX_SGE - 2) * tx->ring.chunk);
	tx->max_payload = sdp_peerbuf_payload(&tx->peer);
}

/**
 * sdp_tx_acked_size() - the peer's answer to ChRcvBuf has come
 * @ssk: locked socket (by its owner or in softirq)
 * @rcv_size: size of its buffers, header included
 *
 * Return: 0 or -EPROTO.
 */
int sdp_tx_acked_size(struct sdp_sock *ssk, u32 rcv_size)
{
	struct sdp_tx *tx = &ssk->conn.tx;
	int err = sdp_peerbuf_acked(&tx->peer, rcv_size - SDP_BSDH_LEN);

	if (!err) {
		WRITE_ONCE(tx->max_payload, sdp_peerbuf_payload(&tx->peer));
		tx->ask_again = jiffies + SDP_TX_ASK_PERIOD;
	}
	return err;
}

/**
 * sdp_tx_push() - post all that credits and the send queue allow
 * @ssk: locked socket (by its owner or in softirq)
 *
 * Data first, then the DisConn that ends it; an empty message is sent when
 * none of these carried the credits to return, or the word of an urgent byte
 * that has to wait, or just a sign of life that is due.
 */
void sdp_tx_push(struct sdp_sock *ssk)
{
	struct sdp_conn *conn = &ssk->conn;

	if (!conn->qp || test_bit(SDP_CONN_BROKEN, &conn->flags) ||
	    sdp_in_state(&ssk->sk, SDPF_CONNECTING))
		return;
	sdp_tx_push_sizes(ssk);
	if (!sdp_tx_push_data(ssk) || !sdp_tx_push_fin(ssk))
		return;
	if (conn->tx.empty_due || sdp_credit_want_update(&conn->credit) ||
	    sdp_oob_want_announce(&conn->tx))
		sdp_tx_push_empty(ssk);
}

/**
 * sdp_tx_flush() - send what waited for the rest that the program promised
 * @ssk: locked socket
 */
void sdp_tx_flush(struct sdp_sock *ssk)
{
	ssk->conn.tx.hold = false;
	sdp_tx_push(ssk);
}

/**
 * sdp_tx_force() - send what waited, whatever it waited for
 * @ssk: locked socket
 */
void sdp_tx_force(struct sdp_sock *ssk)
{
	struct sdp_tx *tx = &ssk->conn.tx;

	if (tx->wait_head != tx->wait_tail)
		sdp_tx_msg(tx, tx->wait_head - 1)->open = false;
	sdp_tx_flush(ssk);
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
					     tx_cqe);
	struct sdp_sock *ssk = container_of(conn, struct sdp_sock, conn);

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		sdp_conn_wc_error(ssk, wc);
		return;
	}
	/* Pairs with the acquire in sdp_tx_reap(). */
	smp_store_release(&conn->tx.signaled_done, conn->tx.signaled_done + 1);
	sdp_conn_kick(ssk);
}

static void sdp_tx_complete(struct sdp_sock *ssk, const struct sdp_tx_wr *twr)
{
	struct sdp_ring *ring = &ssk->conn.tx.ring;

	if (twr->len)
		ssk->conn.tx.since = jiffies;
	ssk->conn.stats.bytes_acked += twr->len;
	if (WARN_ON_ONCE(!sdp_ring_release(ring, twr->len)))
		return;
	if (twr->mid == SDP_TX_PROBE)
		ssk->conn.tx.probing = false;
	else if (twr->mid == SDP_MID_DISCONN && !ssk->conn.dev->iwarp)
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
