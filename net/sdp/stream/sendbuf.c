// SPDX-License-Identifier: GPL-2.0
/*
 * The send ring's memory, which comes and goes in pieces, and the tables of the
 * send side.
 */
#include <linux/gfp.h>
#include <linux/slab.h>

#include "stream.h"

/* Most pieces of the ring's memory that are allocated as one, a power of two. */
#define SDP_TX_RUN		8U

/* A ring that is empty for so long gives its memory back. */
#define SDP_TX_QUIET		(5 * HZ)

static int sdp_tx_alloc_table(const struct sdp_stream *st, struct sdp_tx *tx)
{
	u32 size = roundup_pow_of_two(max(sdp_tx_limit(st), SDP_TX_CHUNK));

	sdp_ring_init(&tx->ring, size, SDP_TX_CHUNK);
	tx->nr_chunks = size / SDP_TX_CHUNK;
	tx->chunks = kcalloc(tx->nr_chunks, sizeof(*tx->chunks),
			     SDP_GFP_TABLE);
	tx->chunk_dma = kcalloc(tx->nr_chunks, sizeof(*tx->chunk_dma),
				SDP_GFP_TABLE);
	return tx->chunks && tx->chunk_dma ? 0 : -ENOMEM;
}

/**
 * sdp_tx_init() - allocate what the send side needs before the first byte
 * @st: stream of a locked socket whose device is known; SDP_TX_CHUNK is charged
 *
 * The ring's memory itself is allocated piece by piece when it is first used,
 * so that a connection that only receives costs little.  The first piece stays
 * charged as long as the connection lives, whether it is there or not: no
 * connection can do without one.
 *
 * Context: process context, may sleep.
 * Return: 0 or -ENOMEM; sdp_tx_free() cleans up in both cases.
 */
int sdp_tx_init(struct sdp_stream *st)
{
	struct ib_device *ibdev = st->link->dev->ibdev;
	struct sdp_tx *tx = &st->tx;
	int err;

	sdp_owned(st->sk);
	memset(tx, 0, sizeof(*tx));
	tx->patient_from = jiffies;
	err = sdp_tx_alloc_table(st, tx);
	tx->wait = kcalloc(SDP_TX_DEPTH, sizeof(*tx->wait),
			   SDP_GFP_TABLE);
	tx->wr = kcalloc(SDP_TX_DEPTH, sizeof(*tx->wr), SDP_GFP_TABLE);
	if (err || !tx->wait || !tx->wr)
		return -ENOMEM;
	/* Last, because it is unmapped if it is there. */
	tx->hdr = kcalloc(SDP_TX_DEPTH, sizeof(*tx->hdr), SDP_GFP_TABLE);
	if (!tx->hdr)
		return -ENOMEM;
	tx->hdr_dma = ib_dma_map_single(ibdev, tx->hdr,
					SDP_TX_DEPTH * sizeof(*tx->hdr),
					DMA_TO_DEVICE);
	if (ib_dma_mapping_error(ibdev, tx->hdr_dma)) {
		kfree(tx->hdr);
		tx->hdr = NULL;
		return -ENOMEM;
	}
	sk_wmem_queued_add(st->sk, SDP_TX_CHUNK);
	return 0;
}

static void sdp_tx_uncharge(struct sdp_stream *st)
{
	sk_wmem_queued_add(st->sk, -(int)SDP_TX_CHUNK);
	sdp_mem_uncharge(st->sk, SDP_TX_CHUNK);
}

/* Each piece has a reference to what it was allocated with. */
static void sdp_tx_put_chunk(void *addr)
{
	put_page(virt_to_head_page(addr));
}

static void sdp_tx_free_chunk(struct sdp_stream *st, u32 index)
{
	struct sdp_tx *tx = &st->tx;

	if (!tx->chunks[index])
		return;
	ib_dma_unmap_single(st->link->dev->ibdev, tx->chunk_dma[index],
			    SDP_TX_CHUNK, DMA_TO_DEVICE);
	sdp_tx_put_chunk(tx->chunks[index]);
	tx->chunks[index] = NULL;
	/* The first is charged whether it is there or not. */
	if (--tx->nr_used)
		sdp_tx_uncharge(st);
}

static void sdp_tx_free_chunks(struct sdp_stream *st)
{
	u32 i;

	for (i = 0; st->tx.chunks && i < st->tx.nr_chunks; i++)
		sdp_tx_free_chunk(st, i);
}

/**
 * sdp_tx_free() - release the send side
 * @st: stream of a locked socket whose queue pair is gone, or was never there
 *
 * Context: process context.
 */
void sdp_tx_free(struct sdp_stream *st)
{
	struct sdp_tx *tx = &st->tx;

	sdp_owned(st->sk);
	if (tx->chunks && tx->chunk_dma)
		sdp_tx_free_chunks(st);
	if (st->sk->sk_wmem_queued)
		sdp_tx_uncharge(st);
	if (tx->hdr)
		ib_dma_unmap_single(st->link->dev->ibdev, tx->hdr_dma,
				    SDP_TX_DEPTH * sizeof(*tx->hdr),
				    DMA_TO_DEVICE);
	kfree(tx->hdr);
	kfree(tx->wr);
	kfree(tx->wait);
	kfree(tx->chunk_dma);
	kfree(tx->chunks);
	memset(tx, 0, sizeof(*tx));
}

/**
 * sdp_tx_trim() - release the memory of a ring that is not in use
 * @st: stream of a locked socket
 *
 * The handler of SDP_TIMER_QUIET, which is armed as long as there is some.
 */
void sdp_tx_trim(struct sdp_stream *st)
{
	struct sdp_tx *tx = &st->tx;

	sdp_owned(st->sk);
	if (!tx->nr_used)
		return;
	if (!sdp_ring_used(&tx->ring) && tx->quiet_head == tx->ring.head) {
		sdp_tx_free_chunks(st);
		return;
	}
	tx->quiet_head = tx->ring.head;
	/* What was posted last may not have requested its completion. */
	if (sdp_tx_silent(st))
		sdp_tx_probe(st);
	sdp_timer_arm(st->sk, SDP_TIMER_QUIET, SDP_TX_QUIET);
}

/* Gives a piece of the ring its memory, which is freed if that fails. */
static int sdp_tx_map_chunk(struct sdp_stream *st, u32 index, void *addr)
{
	struct ib_device *ibdev = st->link->dev->ibdev;
	struct sdp_tx *tx = &st->tx;
	u64 dma;

	dma = ib_dma_map_single(ibdev, addr, SDP_TX_CHUNK, DMA_TO_DEVICE);
	if (ib_dma_mapping_error(ibdev, dma)) {
		sdp_tx_put_chunk(addr);
		return -ENOMEM;
	}
	tx->chunks[index] = addr;
	tx->chunk_dma[index] = dma;
	tx->nr_used++;
	sdp_timer_arm_once(st->sk, SDP_TIMER_QUIET, SDP_TX_QUIET);
	return 0;
}

/* Memory beyond the ring's first piece is charged. */
static int sdp_tx_alloc_charged(struct sdp_stream *st, u32 index, void *addr)
{
	bool first = !st->tx.nr_used;
	int err;

	if (!first) {
		if (!sdp_mem_grow(st->sk, SDP_TX_CHUNK)) {
			sdp_tx_put_chunk(addr);
			return -ENOBUFS;
		}
		sk_wmem_queued_add(st->sk, SDP_TX_CHUNK);
	}
	err = sdp_tx_map_chunk(st, index, addr);
	if (err && !first)
		sdp_tx_uncharge(st);
	return err;
}

/*
 * How many pieces from one without memory on a long write may get at once: what
 * is allocated as one has 1, 2, 4, ... of them, and the last is used anyhow.
 */
static u32 sdp_tx_run(const struct sdp_tx *tx, u32 index, u32 len)
{
	u32 wish = roundup_pow_of_two(DIV_ROUND_UP(len, SDP_TX_CHUNK));
	u32 most = min3(wish, SDP_TX_RUN, tx->nr_chunks - index);
	u32 n = 1;

	while (n < most && !tx->chunks[index + n])
		n++;
	return rounddown_pow_of_two(n);
}

static struct page *sdp_tx_alloc_pages(gfp_t gfp, u32 n)
{
	return alloc_pages(gfp | __GFP_COMP | __GFP_NOWARN,
			   get_order(n * SDP_TX_CHUNK));
}

/*
 * Memory for so many contiguous pieces, or for fewer; only for the last other memory is
 * reclaimed or compacted.  It is freed as a whole when the last of them is: freed in
 * parts, it would reach user space in parts, and what is sent from there without a
 * copy would be less contiguous.
 */
static void *sdp_tx_alloc_run(const struct sdp_stream *st, u32 *n)
{
	gfp_t gfp = st->sk->sk_allocation;
	gfp_t easy = (gfp & ~__GFP_DIRECT_RECLAIM) | __GFP_NORETRY;
	struct page *page;

	for (;; *n /= 2) {
		page = sdp_tx_alloc_pages(*n > 1 ? easy : gfp, *n);
		if (page || *n == 1)
			break;
	}
	if (!page)
		return NULL;
	page_ref_add(page, *n - 1);
	return page_address(page);
}

/**
 * sdp_tx_alloc_chunks() - give a piece of the ring its memory
 * @st: stream of a locked socket with a device
 * @index: piece without memory
 * @len: bytes that user space writes
 *
 * For a long write the pieces behind it get theirs as well, if there is as much
 * contiguous memory, so that it takes fewer copies and the device fewer addresses.
 *
 * Context: process context, may sleep for memory.
 * Return: 0, -ENOMEM or -ENOBUFS.
 */
int sdp_tx_alloc_chunks(struct sdp_stream *st, u32 index, u32 len)
{
	u32 n = sdp_tx_run(&st->tx, index, len);
	void *addr = sdp_tx_alloc_run(st, &n);
	int err = 0;
	u32 i;

	sdp_owned(st->sk);
	if (!addr)
		return -ENOMEM;
	for (i = 0; i < n && !err; i++)
		err = sdp_tx_alloc_charged(st, index + i,
					   addr + i * SDP_TX_CHUNK);
	for (n -= i; n; n--)
		sdp_tx_put_chunk(addr);
	return i > 1 ? 0 : err;
}

/* Moves the memory of what is in the ring to where a larger ring has it. */
static void sdp_tx_move_chunks(struct sdp_tx *from, struct sdp_tx *to)
{
	u32 end = from->ring.head;
	u32 pos;

	to->ring.head = end;
	to->ring.sent = from->ring.sent;
	to->ring.tail = from->ring.tail;
	for (pos = to->ring.tail; pos != end;
	     pos += sdp_ring_contig(&to->ring, pos, end - pos)) {
		u32 old = sdp_ring_chunk(&from->ring, pos);
		u32 new = sdp_ring_chunk(&to->ring, pos);

		to->chunks[new] = from->chunks[old];
		to->chunk_dma[new] = from->chunk_dma[old];
		from->chunks[old] = NULL;
	}
}

/**
 * sdp_tx_enlarge() - make the ring as large as SO_SNDBUF says
 * @st: stream of a locked socket
 *
 * The first and the last byte may share a piece of a ring that is nearly full,
 * and only of a smaller one: then it has to wait.
 *
 * Context: process context, may sleep for memory, without which nothing changes.
 */
void sdp_tx_enlarge(struct sdp_stream *st)
{
	struct sdp_tx new = { .nr_chunks = 0 };
	struct sdp_tx *tx = &st->tx;

	sdp_owned(st->sk);
	if (sdp_ring_free(&tx->ring) < SDP_TX_CHUNK)
		return;
	if (!sdp_tx_alloc_table(st, &new)) {
		sdp_tx_move_chunks(tx, &new);
		/* Pieces without data. */
		sdp_tx_free_chunks(st);
		swap(tx->chunks, new.chunks);
		swap(tx->chunk_dma, new.chunk_dma);
		tx->nr_chunks = new.nr_chunks;
		tx->ring = new.ring;
	}
	kfree(new.chunks);
	kfree(new.chunk_dma);
}
