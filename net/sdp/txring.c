// SPDX-License-Identifier: GPL-2.0
/*
 * The send ring: the memory that holds what the program has written, and the
 * messages into which it is cut.
 */
#include <linux/slab.h>

#include "conn.h"
#include "device.h"
#include "sock.h"
#include "tx.h"

/* The ring's memory comes in pieces that the page allocator gives readily. */
#define SDP_TX_CHUNK		(32U * 1024)
#define SDP_TX_RING_MIN		PAGE_SIZE
#define SDP_TX_RING_MAX		(16U * 1024 * 1024)

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
 * @urgent: the last of them is urgent, so that the message ends with it
 */
void sdp_tx_append(struct sdp_sock *ssk, u32 len, bool urgent)
{
	struct sdp_tx *tx = &ssk->conn.tx;
	struct sdp_tx_msg *msg;

	if (!sdp_tx_may_append(ssk)) {
		msg = sdp_tx_msg(tx, tx->wait_head);
		msg->len = 0;
		msg->open = true;
		msg->urgent = false;
		WRITE_ONCE(tx->wait_head, tx->wait_head + 1);
	}
	msg = sdp_tx_msg(tx, tx->wait_head - 1);
	msg->len += len;
	if (urgent) {
		msg->open = false;
		msg->urgent = true;
		tx->urgent++;
	}
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

/**
 * sdp_tx_map() - describe unsent bytes of the ring to the device
 * @ssk: locked socket
 * @len: bytes from the ring's unsent position on, all written
 * @sge: scatter elements to fill, SDP_TX_MAX_SGE - 1 suffice for a message
 *
 * Return: elements filled.
 */
int sdp_tx_map(struct sdp_sock *ssk, u32 len, struct ib_sge *sge)
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
