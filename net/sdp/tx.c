// SPDX-License-Identifier: GPL-2.0
/*
 * The send side of the copy path (BSDP): data is copied into a ring, cut into
 * messages, and posted as fast as the peer's credits allow.
 */
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "conn.h"
#include "device.h"
#include "mib.h"
#include "sock.h"
#include "tx.h"

/* The ring's memory comes in pieces that the page allocator gives readily. */
#define SDP_TX_CHUNK		(32U * 1024)
#define SDP_TX_RING_MIN		PAGE_SIZE
#define SDP_TX_RING_MAX		(16U * 1024 * 1024)
/* Every such share of the send queue, or of the ring, ends in a completion. */
#define SDP_TX_SIGNAL_SHARE	4

/* Twice what the device's retries take. */
#define SDP_PROBE_TIMEOUT	(15 * HZ)

/* Not a message: a zero-byte RDMA write that asks whether the peer is there. */
#define SDP_TX_PROBE		0x100

static struct sdp_tx_wr *sdp_tx_wr(struct sdp_tx *tx, u32 count)
{
	return &tx->wr[count % SDP_TX_DEPTH];
}

static struct sdp_tx_msg *sdp_tx_msg(const struct sdp_tx *tx, u32 count)
{
	return &tx->wait[count % SDP_TX_DEPTH];
}

static u32 sdp_tx_ring_size(const struct sdp_sock *ssk)
{
	u32 size = clamp_t(u32, READ_ONCE(ssk->sk.sk_sndbuf), SDP_TX_RING_MIN,
			   SDP_TX_RING_MAX);

	return roundup_pow_of_two(size);
}

/**
 * sdp_tx_init() - allocate what the send side needs before the first byte
 * @ssk: socket whose device is known
 *
 * The ring's memory itself is allocated piece by piece when it is first used,
 * so that a connection that only receives costs little.
 *
 * Context: process context, may sleep.
 * Return: 0 or -ENOMEM; sdp_tx_free() cleans up in both cases.
 */
int sdp_tx_init(struct sdp_sock *ssk)
{
	struct ib_device *ibdev = ssk->conn.dev->ibdev;
	struct sdp_tx *tx = &ssk->conn.tx;
	u32 size = sdp_tx_ring_size(ssk);
	u32 chunk = min(size, SDP_TX_CHUNK);

	memset(tx, 0, sizeof(*tx));
	sdp_ring_init(&tx->ring, size, chunk);
	tx->nr_chunks = size / chunk;
	tx->chunks = kcalloc(tx->nr_chunks, sizeof(*tx->chunks), GFP_KERNEL);
	tx->chunk_dma = kcalloc(tx->nr_chunks, sizeof(*tx->chunk_dma),
				GFP_KERNEL);
	tx->wait = kcalloc(SDP_TX_DEPTH, sizeof(*tx->wait), GFP_KERNEL);
	tx->wr = kcalloc(SDP_TX_DEPTH, sizeof(*tx->wr), GFP_KERNEL);
	tx->bsdh = kcalloc(SDP_TX_DEPTH, sizeof(*tx->bsdh), GFP_KERNEL);
	if (!tx->chunks || !tx->chunk_dma || !tx->wait || !tx->wr || !tx->bsdh)
		return -ENOMEM;

	tx->bsdh_dma = ib_dma_map_single(ibdev, tx->bsdh,
					 SDP_TX_DEPTH * sizeof(*tx->bsdh),
					 DMA_TO_DEVICE);
	if (ib_dma_mapping_error(ibdev, tx->bsdh_dma)) {
		kfree(tx->bsdh);
		tx->bsdh = NULL;
		return -ENOMEM;
	}
	return 0;
}

/**
 * sdp_tx_free() - release the send side
 * @ssk: socket whose queue pair is gone, or was never there
 *
 * Context: process context.
 */
void sdp_tx_free(struct sdp_sock *ssk)
{
	struct sdp_tx *tx = &ssk->conn.tx;
	u32 i;

	for (i = 0; tx->chunks && i < tx->nr_chunks; i++) {
		if (!tx->chunks[i])
			continue;
		ib_dma_unmap_single(ssk->conn.dev->ibdev, tx->chunk_dma[i],
				    tx->ring.chunk, DMA_TO_DEVICE);
		free_pages((unsigned long)tx->chunks[i],
			   get_order(tx->ring.chunk));
	}
	if (tx->bsdh)
		ib_dma_unmap_single(ssk->conn.dev->ibdev, tx->bsdh_dma,
				    SDP_TX_DEPTH * sizeof(*tx->bsdh),
				    DMA_TO_DEVICE);
	kfree(tx->bsdh);
	kfree(tx->wr);
	kfree(tx->wait);
	kfree(tx->chunk_dma);
	kfree(tx->chunks);
	memset(tx, 0, sizeof(*tx));
}

/**
 * sdp_tx_space() - how many bytes a write could take now
 * @ssk: socket, locked or not (then the answer is a snapshot)
 *
 * Return: bytes; 0 also when too many messages wait already.
 */
u32 sdp_tx_space(const struct sdp_sock *ssk)
{
	const struct sdp_tx *tx = &ssk->conn.tx;
	u32 head = READ_ONCE(tx->wait_head);

	if (head - READ_ONCE(tx->wait_tail) >= SDP_TX_DEPTH)
		return 0;
	return sdp_ring_free(&tx->ring);
}

/**
 * sdp_tx_waiting() - whether something is yet to arrive at the peer
 * @ssk: locked socket
 *
 * That is data, posted or waiting for credits, DisConn, or a probe.
 */
bool sdp_tx_waiting(const struct sdp_sock *ssk)
{
	return sdp_ring_used(&ssk->conn.tx.ring) || ssk->conn.tx.probing ||
	       (ssk->fin_queued && !ssk->fin_acked);
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
	       time_after(jiffies, ssk->conn.tx.probe_deadline);
}

/**
 * sdp_tx_writeable() - whether poll() should say that writing is worthwhile
 * @ssk: socket, locked or not
 *
 * As with TCP a third of the buffer must be free, so that a writer is not
 * woken for every byte.
 */
bool sdp_tx_writeable(const struct sdp_sock *ssk)
{
	u32 space = sdp_tx_space(ssk);

	return space && space >= READ_ONCE(ssk->conn.tx.ring.size) / 3;
}

/**
 * sdp_tx_outstanding() - bytes written that the peer has not acknowledged yet
 * @ssk: socket, locked or not
 */
u32 sdp_tx_outstanding(const struct sdp_sock *ssk)
{
	return sdp_ring_used(&ssk->conn.tx.ring);
}

static int sdp_tx_alloc_chunk(struct sdp_sock *ssk, u32 index)
{
	struct ib_device *ibdev = ssk->conn.dev->ibdev;
	struct sdp_tx *tx = &ssk->conn.tx;
	unsigned int order = get_order(tx->ring.chunk);
	void *addr;
	u64 dma;

	addr = (void *)__get_free_pages(ssk->sk.sk_allocation | __GFP_NOWARN,
					order);
	if (!addr)
		return -ENOMEM;
	dma = ib_dma_map_single(ibdev, addr, tx->ring.chunk, DMA_TO_DEVICE);
	if (ib_dma_mapping_error(ibdev, dma)) {
		free_pages((unsigned long)addr, order);
		return -ENOMEM;
	}
	tx->chunks[index] = addr;
	tx->chunk_dma[index] = dma;
	return 0;
}

static bool sdp_tx_may_append(const struct sdp_sock *ssk)
{
	const struct sdp_tx *tx = &ssk->conn.tx;
	const struct sdp_tx_msg *msg;

	if (tx->wait_head == tx->wait_tail)
		return false;
	msg = sdp_tx_msg(tx, tx->wait_head - 1);
	return msg->open && msg->len < tx->max_payload;
}

/**
 * sdp_tx_reserve() - find room in the ring for the program's bytes
 * @ssk: locked socket
 * @len: in: bytes wanted; out: bytes that fit in one piece and one message
 *
 * Context: process context, may sleep for memory.
 * Return: where to copy to; NULL if there is no room now (*len is 0) or no
 * memory (*len is not).
 */
void *sdp_tx_reserve(struct sdp_sock *ssk, u32 *len)
{
	struct sdp_tx *tx = &ssk->conn.tx;
	u32 pos = tx->ring.head;
	u32 room = sdp_tx_space(ssk);
	u32 used = 0;
	u32 index;

	/* Without a connection there is no ring, and no room in it. */
	if (!room) {
		*len = 0;
		return NULL;
	}
	if (sdp_tx_may_append(ssk))
		used = sdp_tx_msg(tx, tx->wait_head - 1)->len;
	room = min(room, tx->max_payload - used);
	*len = sdp_ring_contig(&tx->ring, pos, min(*len, room));
	index = sdp_ring_chunk(&tx->ring, pos);
	if (!tx->chunks[index] && sdp_tx_alloc_chunk(ssk, index))
		return NULL;
	return tx->chunks[index] + sdp_ring_offset(&tx->ring, pos);
}

/**
 * sdp_tx_append() - add copied bytes to the last waiting message or a new one
 * @ssk: locked socket
 * @len: bytes copied to where sdp_tx_reserve() said, not more than it said
 */
void sdp_tx_append(struct sdp_sock *ssk, u32 len)
{
	struct sdp_tx *tx = &ssk->conn.tx;
	struct sdp_tx_msg *msg;

	if (!sdp_tx_may_append(ssk)) {
		msg = sdp_tx_msg(tx, tx->wait_head);
		msg->len = 0;
		msg->open = true;
		WRITE_ONCE(tx->wait_head, tx->wait_head + 1);
	}
	msg = sdp_tx_msg(tx, tx->wait_head - 1);
	msg->len += len;
	if (WARN_ON_ONCE(!sdp_ring_produce(&tx->ring, len)))
		sdp_conn_end(ssk, -EIO);
}

/**
 * sdp_tx_close_message() - keep the next write out of the last message
 * @ssk: locked socket
 *
 * In credit mode each write is a message of its own, as in the flow-control
 * paper, section 2; only Nagle's rule lets small writes share one.
 */
void sdp_tx_close_message(struct sdp_sock *ssk)
{
	struct sdp_tx *tx = &ssk->conn.tx;

	if (tx->wait_head != tx->wait_tail && sdp_sock_nodelay(ssk))
		sdp_tx_msg(tx, tx->wait_head - 1)->open = false;
}

static u32 sdp_tx_posted(const struct sdp_tx *tx)
{
	return tx->wr_head - tx->wr_tail;
}

/* Maps @len bytes of the ring from its unsent position to scatter elements. */
static int sdp_tx_map(struct sdp_sock *ssk, u32 len, struct ib_sge *sge)
{
	struct sdp_tx *tx = &ssk->conn.tx;
	u32 pos = tx->ring.sent;
	int n = 0;

	while (len) {
		u32 index = sdp_ring_chunk(&tx->ring, pos);
		u32 part = sdp_ring_contig(&tx->ring, pos, len);

		sge[n].addr = tx->chunk_dma[index] +
			      sdp_ring_offset(&tx->ring, pos);
		sge[n].length = part;
		sge[n].lkey = ssk->conn.dev->pd->local_dma_lkey;
		ib_dma_sync_single_for_device(ssk->conn.dev->ibdev,
					      sge[n].addr, part, DMA_TO_DEVICE);
		pos += part;
		len -= part;
		n++;
	}
	return n;
}

static bool sdp_tx_want_signal(const struct sdp_sock *ssk, u32 len)
{
	const struct sdp_tx *tx = &ssk->conn.tx;

	/* Nagle's rule waits for the completion of what is on its way. */
	if (len && !sdp_sock_nodelay(ssk) && len < tx->max_payload)
		return true;
	if (ssk->sk.sk_socket &&
	    test_bit(SOCK_NOSPACE, &ssk->sk.sk_socket->flags))
		return true;
	return tx->since_signal + 1 >= SDP_TX_DEPTH / SDP_TX_SIGNAL_SHARE ||
	       tx->bytes_since_signal + len >=
			tx->ring.size / SDP_TX_SIGNAL_SHARE;
}

/* Notes a work request in the queue of those that wait for completion. */
static void sdp_tx_account(struct sdp_sock *ssk, u16 mid, u32 len, bool signal)
{
	struct sdp_tx *tx = &ssk->conn.tx;
	struct sdp_tx_wr *twr = sdp_tx_wr(tx, tx->wr_head);

	twr->mid = mid;
	twr->signaled = signal;
	twr->ring_end = tx->ring.sent;
	tx->since_signal = signal ? 0 : tx->since_signal + 1;
	tx->bytes_since_signal = signal ? 0 : tx->bytes_since_signal + len;
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

/**
 * sdp_tx_post() - send one message
 * @ssk: locked socket, credits and a work request are available
 * @mid: kind of message, without extended header
 * @len: payload bytes, taken from the ring
 * @signal: a completion is needed
 *
 * Return: whether it was posted; if not, the connection is ending.
 */
static bool sdp_tx_post(struct sdp_sock *ssk, enum sdp_mid mid, u32 len,
			bool signal)
{
	struct sdp_conn *conn = &ssk->conn;
	struct sdp_tx *tx = &conn->tx;
	u32 slot = tx->wr_head % SDP_TX_DEPTH;
	struct sdp_bsdh bsdh = { .mid = mid, .len = SDP_BSDH_LEN + len };
	struct ib_sge sge[SDP_TX_MAX_SGE];
	struct ib_send_wr wr = {
		.wr_cqe = &conn->tx_cqe,
		.sg_list = sge,
		.opcode = IB_WR_SEND,
	};

	signal = signal || sdp_tx_want_signal(ssk, len);
	if (signal)
		wr.send_flags = IB_SEND_SIGNALED;

	sdp_credit_transmit(&conn->credit, &bsdh);
	sdp_bsdh_encode(&bsdh, tx->bsdh[slot]);
	sge[0].addr = tx->bsdh_dma + slot * SDP_BSDH_LEN;
	sge[0].length = SDP_BSDH_LEN;
	sge[0].lkey = conn->dev->pd->local_dma_lkey;
	ib_dma_sync_single_for_device(conn->dev->ibdev, sge[0].addr,
				      SDP_BSDH_LEN, DMA_TO_DEVICE);
	wr.num_sge = 1 + sdp_tx_map(ssk, len, sge + 1);
	if (WARN_ON_ONCE(!sdp_ring_consume(&tx->ring, len)))
		return false;

	sdp_tx_account(ssk, mid, len, signal);
	return sdp_tx_submit(ssk, &wr);
}

/**
 * sdp_tx_probe() - find out whether the peer's queue pair still answers
 * @ssk: locked socket
 *
 * A zero-byte RDMA write touches no memory and needs no credit; if the peer or
 * the wire is gone it completes in error after the usual retries.  Standard
 * SDP uses it for keepalive.  Its completion also says that everything sent
 * before has arrived.
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

	if (tx->probing || !tx->wr || sdp_tx_posted(tx) >= SDP_TX_DEPTH ||
	    test_bit(SDP_CONN_BROKEN, &ssk->conn.flags))
		return;
	tx->probing = true;
	tx->probe_deadline = jiffies + SDP_PROBE_TIMEOUT;
	sdp_tx_account(ssk, SDP_TX_PROBE, 0, true);
	if (sdp_tx_submit(ssk, &wr.wr))
		sdp_sock_stalled(ssk);
}

/*
 * Whether a message that is not full waits for more data: while the write that
 * fills it goes on, and by Nagle's rule while another such message is on its
 * way.  Reliable connections acknowledge everything at once, so that no timer
 * is needed, but a completion must be due: the last work request is signaled.
 */
static bool sdp_tx_hold(const struct sdp_sock *ssk,
			const struct sdp_tx_msg *msg)
{
	const struct sdp_tx *tx = &ssk->conn.tx;
	const struct sdp_credit *credit = &ssk->conn.credit;

	if (!msg->open || msg->len >= tx->max_payload)
		return false;
	if (tx->more)
		return tx->wait_head - tx->wait_tail == 1;
	return !sdp_sock_nodelay(ssk) && !ssk->fin_queued &&
	       sdp_tx_posted(tx) && !tx->since_signal &&
	       credit->tx_acked != credit->tx_mseq;
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
			sdp_sock_stalled(ssk);
			return true;
		}
		if (sdp_tx_posted(tx) >= SDP_TX_DEPTH - SDP_TX_RESERVED ||
		    sdp_tx_hold(ssk, msg))
			return true;
		WRITE_ONCE(tx->wait_tail, tx->wait_tail + 1);
		if (!sdp_tx_post(ssk, SDP_MID_DATA, msg->len, false))
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
	    sdp_tx_posted(tx) >= SDP_TX_DEPTH) {
		sdp_sock_stalled(ssk);
		return true;
	}
	ssk->fin_sent = true;
	return sdp_tx_post(ssk, SDP_MID_DISCONN, 0, true);
}

/**
 * sdp_tx_push() - post all that credits and the send queue allow
 * @ssk: locked socket (by its owner or in softirq)
 *
 * Data first, then the DisConn that ends it; a message that only returns
 * credits is sent when none of these carried them.
 */
void sdp_tx_push(struct sdp_sock *ssk)
{
	struct sdp_conn *conn = &ssk->conn;

	if (!conn->qp || test_bit(SDP_CONN_BROKEN, &conn->flags) ||
	    sdp_in_state(&ssk->sk, TCPF_SYN_SENT))
		return;
	if (!sdp_tx_push_data(ssk) || !sdp_tx_push_fin(ssk))
		return;
	if (sdp_credit_want_update(&conn->credit) &&
	    sdp_credit_may_send(&conn->credit, SDP_MID_DATA, 0) &&
	    sdp_tx_posted(&conn->tx) < SDP_TX_DEPTH) {
		SDP_INC_STATS(sock_net(&ssk->sk), SDP_MIB_CREDITUPDATES);
		sdp_tx_post(ssk, SDP_MID_DATA, 0, false);
	}
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

	if (WARN_ON_ONCE(!sdp_ring_release(ring, twr->ring_end - ring->tail)))
		return;
	if (twr->mid == SDP_TX_PROBE)
		ssk->conn.tx.probing = false;
	else if (twr->mid == SDP_MID_DISCONN)
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
	while (tx->signaled_seen != done) {
		do {
			twr = sdp_tx_wr(tx, tx->wr_tail++);
			sdp_tx_complete(ssk, twr);
		} while (!twr->signaled);
		tx->signaled_seen++;
	}
	if (sdp_tx_writeable(ssk))
		ssk->sk.sk_write_space(&ssk->sk);
}
