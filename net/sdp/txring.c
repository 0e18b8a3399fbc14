// SPDX-License-Identifier: GPL-2.0
/*
 * The send ring: the memory that holds what the program has written, and the
 * messages into which it is cut.
 */
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "alive.h"
#include "conn.h"
#include "device.h"
#include "mem.h"
#include "sock.h"
#include "timer.h"
#include "tx.h"

#define SDP_TX_RING_MIN		PAGE_SIZE
#define SDP_TX_RING_MAX		(16U * 1024 * 1024)

/* A ring that is empty for so long gives its memory back. */
#define SDP_TX_QUIET		(5 * HZ)

/**
 * sdp_tx_limit() - how many bytes may be in the send ring
 * @ssk: socket, locked or not
 *
 * Return: what SO_SNDBUF says now, within bounds.
 */
u32 sdp_tx_limit(const struct sdp_sock *ssk)
{
	return clamp_t(u32, READ_ONCE(ssk->sk.sk_sndbuf), SDP_TX_RING_MIN,
		       SDP_TX_RING_MAX);
}

static int sdp_tx_alloc_table(const struct sdp_sock *ssk, struct sdp_tx *tx)
{
	u32 size = roundup_pow_of_two(max(sdp_tx_limit(ssk), SDP_TX_CHUNK));

	sdp_ring_init(&tx->ring, size, SDP_TX_CHUNK);
	tx->nr_chunks = size / SDP_TX_CHUNK;
	tx->chunks = kcalloc(tx->nr_chunks, sizeof(*tx->chunks), GFP_KERNEL);
	tx->chunk_dma = kcalloc(tx->nr_chunks, sizeof(*tx->chunk_dma),
				GFP_KERNEL);
	return tx->chunks && tx->chunk_dma ? 0 : -ENOMEM;
}

/**
 * sdp_tx_init() - allocate what the send side needs before the first byte
 * @ssk: locked socket whose device is known; SDP_TX_CHUNK is charged
 *
 * The ring's memory itself is allocated piece by piece when it is first used,
 * so that a connection that only receives costs little.  The first piece stays
 * charged as long as the connection lives, whether it is there or not: no
 * connection can do without one.
 *
 * Context: process context, may sleep.
 * Return: 0 or -ENOMEM; sdp_tx_free() cleans up in both cases.
 */
int sdp_tx_init(struct sdp_sock *ssk)
{
	struct ib_device *ibdev = ssk->conn.dev->ibdev;
	struct sdp_tx *tx = &ssk->conn.tx;
	int err;

	memset(tx, 0, sizeof(*tx));
	err = sdp_tx_alloc_table(ssk, tx);
	tx->wait = kcalloc(SDP_TX_DEPTH, sizeof(*tx->wait), GFP_KERNEL);
	tx->wr = kcalloc(SDP_TX_DEPTH, sizeof(*tx->wr), GFP_KERNEL);
	if (err || !tx->wait || !tx->wr)
		return -ENOMEM;
	/* Last, because it is unmapped if it is there. */
	tx->hdr = kcalloc(SDP_TX_DEPTH, sizeof(*tx->hdr), GFP_KERNEL);
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
	sk_wmem_queued_add(&ssk->sk, SDP_TX_CHUNK);
	return 0;
}

static void sdp_tx_uncharge(struct sdp_sock *ssk)
{
	sk_wmem_queued_add(&ssk->sk, -(int)SDP_TX_CHUNK);
	sdp_mem_uncharge(&ssk->sk, SDP_TX_CHUNK);
}

static void sdp_tx_free_chunk(struct sdp_sock *ssk, u32 index)
{
	struct sdp_tx *tx = &ssk->conn.tx;

	if (!tx->chunks[index])
		return;
	ib_dma_unmap_single(ssk->conn.dev->ibdev, tx->chunk_dma[index],
			    SDP_TX_CHUNK, DMA_TO_DEVICE);
	free_pages((unsigned long)tx->chunks[index], get_order(SDP_TX_CHUNK));
	tx->chunks[index] = NULL;
	/* The first is charged whether it is there or not. */
	if (--tx->nr_used)
		sdp_tx_uncharge(ssk);
}

static void sdp_tx_free_chunks(struct sdp_sock *ssk)
{
	u32 i;

	for (i = 0; ssk->conn.tx.chunks && i < ssk->conn.tx.nr_chunks; i++)
		sdp_tx_free_chunk(ssk, i);
}

/**
 * sdp_tx_free() - release the send side
 * @ssk: locked socket whose queue pair is gone, or was never there
 *
 * Context: process context.
 */
void sdp_tx_free(struct sdp_sock *ssk)
{
	struct sdp_tx *tx = &ssk->conn.tx;

	if (tx->chunks && tx->chunk_dma)
		sdp_tx_free_chunks(ssk);
	if (ssk->sk.sk_wmem_queued)
		sdp_tx_uncharge(ssk);
	if (tx->hdr)
		ib_dma_unmap_single(ssk->conn.dev->ibdev, tx->hdr_dma,
				    SDP_TX_DEPTH * sizeof(*tx->hdr),
				    DMA_TO_DEVICE);
	kfree(tx->hdr);
	kfree(tx->wr);
	kfree(tx->wait);
	kfree(tx->chunk_dma);
	kfree(tx->chunks);
	memset(tx, 0, sizeof(*tx));
}

/* Whether so many times what waits to be posted is less than the option. */
static bool sdp_tx_below_lowat(const struct sdp_sock *ssk, u32 times)
{
	u32 lowat = READ_ONCE(ssk->opt.notsent_lowat);
	u64 unsent = sdp_ring_unsent(&ssk->conn.tx.ring);

	return !lowat || unsent * times < lowat;
}

/**
 * sdp_tx_trim() - give back the memory of a ring that nobody uses
 * @ssk: locked socket
 *
 * The handler of SDP_TIMER_QUIET, which is armed as long as there is some.
 */
void sdp_tx_trim(struct sdp_sock *ssk)
{
	struct sdp_tx *tx = &ssk->conn.tx;

	if (!tx->nr_used)
		return;
	if (!sdp_ring_used(&tx->ring) && tx->quiet_head == tx->ring.head) {
		sdp_tx_free_chunks(ssk);
		return;
	}
	tx->quiet_head = tx->ring.head;
	/* What was posted last may never have asked for its completion. */
	if (sdp_tx_silent(ssk))
		sdp_tx_probe(ssk);
	sdp_timer_arm(ssk, SDP_TIMER_QUIET, SDP_TX_QUIET);
}

/**
 * sdp_tx_space() - how many bytes a write could take now
 * @ssk: socket, locked or not (then the answer is a snapshot)
 *
 * Return: bytes; 0 also when too many messages wait already, when more bytes
 * wait than TCP_NOTSENT_LOWAT says, or when memory is short and what is in the
 * ring has to leave first.
 */
u32 sdp_tx_space(const struct sdp_sock *ssk)
{
	const struct sdp_tx *tx = &ssk->conn.tx;
	u32 used = sdp_ring_used(&tx->ring);
	u32 limit = sdp_tx_limit(ssk);

	if (!READ_ONCE(tx->ring.size) ||
	    READ_ONCE(tx->wait_head) - READ_ONCE(tx->wait_tail) >=
			SDP_TX_DEPTH ||
	    (used && READ_ONCE(tx->starved)) || !sdp_tx_below_lowat(ssk, 1))
		return 0;
	return limit > used ? limit - used : 0;
}

/**
 * sdp_tx_writeable() - whether poll() should say that writing is worthwhile
 * @ssk: socket, locked or not
 *
 * As with TCP a third of the buffer must be free, so that a writer is not
 * woken for every byte, and less than half of TCP_NOTSENT_LOWAT be unsent.
 */
bool sdp_tx_writeable(const struct sdp_sock *ssk)
{
	u32 space = sdp_tx_space(ssk);

	return space && space >= sdp_tx_limit(ssk) / 3 &&
	       sdp_tx_below_lowat(ssk, 2);
}

/**
 * sdp_tx_outstanding() - bytes written that the peer has not acknowledged yet
 * @ssk: socket, locked or not
 */
u32 sdp_tx_outstanding(const struct sdp_sock *ssk)
{
	return sdp_ring_used(&ssk->conn.tx.ring) +
	       READ_ONCE(ssk->conn.zcopy.async_bytes);
}

static int sdp_tx_map_chunk(struct sdp_sock *ssk, u32 index)
{
	struct ib_device *ibdev = ssk->conn.dev->ibdev;
	struct sdp_tx *tx = &ssk->conn.tx;
	unsigned int order = get_order(SDP_TX_CHUNK);
	void *addr;
	u64 dma;

	addr = (void *)__get_free_pages(ssk->sk.sk_allocation | __GFP_NOWARN,
					order);
	if (!addr)
		return -ENOMEM;
	dma = ib_dma_map_single(ibdev, addr, SDP_TX_CHUNK, DMA_TO_DEVICE);
	if (ib_dma_mapping_error(ibdev, dma)) {
		free_pages((unsigned long)addr, order);
		return -ENOMEM;
	}
	tx->chunks[index] = addr;
	tx->chunk_dma[index] = dma;
	tx->nr_used++;
	sdp_timer_arm_once(ssk, SDP_TIMER_QUIET, SDP_TX_QUIET);
	return 0;
}

static noinline int sdp_tx_alloc_chunk(struct sdp_sock *ssk, u32 index)
{
	bool first = !ssk->conn.tx.nr_used;
	int err;

	if (!first) {
		if (!sdp_mem_grow(&ssk->sk, SDP_TX_CHUNK))
			return -ENOBUFS;
		sk_wmem_queued_add(&ssk->sk, SDP_TX_CHUNK);
	}
	err = sdp_tx_map_chunk(ssk, index);
	if (err && !first)
		sdp_tx_uncharge(ssk);
	return err;
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

/*
 * SO_SNDBUF was raised.  The first and the last byte may share a piece of a
 * ring that is nearly full, and only of a smaller one: then it has to wait.
 */
static noinline void sdp_tx_enlarge(struct sdp_sock *ssk)
{
	struct sdp_tx new = { .nr_chunks = 0 };
	struct sdp_tx *tx = &ssk->conn.tx;

	if (sdp_ring_free(&tx->ring) < SDP_TX_CHUNK)
		return;
	if (!sdp_tx_alloc_table(ssk, &new)) {
		sdp_tx_move_chunks(tx, &new);
		/* Pieces without data. */
		sdp_tx_free_chunks(ssk);
		swap(tx->chunks, new.chunks);
		swap(tx->chunk_dma, new.chunk_dma);
		tx->nr_chunks = new.nr_chunks;
		tx->ring = new.ring;
	}
	kfree(new.chunks);
	kfree(new.chunk_dma);
}

/**
 * sdp_tx_may_append() - whether what is written joins a message that waits
 * @ssk: locked socket
 */
bool sdp_tx_may_append(const struct sdp_sock *ssk)
{
	const struct sdp_tx *tx = &ssk->conn.tx;
	const struct sdp_tx_msg *msg;

	if (tx->wait_head == tx->wait_tail)
		return false;
	msg = sdp_tx_msg(tx, tx->wait_head - 1);
	return msg->open && msg->len < tx->max_payload;
}

/* A message that is longer than the peer's buffers is worth a question. */
static void sdp_tx_want(struct sdp_tx *tx, u32 len)
{
	if (len <= tx->max_payload || tx->out.size)
		return;
	if (time_after(jiffies, tx->ask_again))
		tx->peer.refused = 0;
	sdp_peerbuf_want(&tx->peer, len);
}

/**
 * sdp_tx_promised() - the program goes on behind what it has written
 * @ssk: locked socket, to whose ring the write was added
 *
 * Parts that just fill a message, such as the pages of sendfile(), would never
 * ask for longer ones.
 */
void sdp_tx_promised(struct sdp_sock *ssk)
{
	struct sdp_tx *tx = &ssk->conn.tx;
	const struct sdp_tx_msg *msg;

	if (tx->wait_head == tx->wait_tail)
		return;
	msg = sdp_tx_msg(tx, tx->wait_head - 1);
	if (msg->open && msg->len >= tx->max_payload)
		sdp_tx_want(tx, tx->max_payload + 1);
}

/* There is no memory to go on in: what is in the ring has to leave first. */
static void *sdp_tx_starve(struct sdp_tx *tx, u32 *len)
{
	WRITE_ONCE(tx->starved, true);
	*len = 0;
	return NULL;
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
	u32 room = sdp_tx_space(ssk);
	u32 used = 0;
	u32 index;

	/* Without a connection there is no ring, and no room in it. */
	if (!room) {
		*len = 0;
		return NULL;
	}
	sdp_ring_rewind(&tx->ring);
	if (tx->ring.size < sdp_tx_limit(ssk))
		sdp_tx_enlarge(ssk);
	if (sdp_tx_may_append(ssk))
		used = sdp_tx_msg(tx, tx->wait_head - 1)->len;
	sdp_tx_want(tx, used + *len);
	room = min3(room, tx->max_payload - used, sdp_ring_free(&tx->ring));
	if (!room)
		return sdp_tx_starve(tx, len);
	*len = sdp_ring_contig(&tx->ring, tx->ring.head, min(*len, room));
	index = sdp_ring_chunk(&tx->ring, tx->ring.head);
	if (!tx->chunks[index] && sdp_tx_alloc_chunk(ssk, index))
		return sdp_ring_used(&tx->ring) ? sdp_tx_starve(tx, len) : NULL;
	return tx->chunks[index] + sdp_ring_offset(&tx->ring, tx->ring.head);
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
		tx->joined = false;
		WRITE_ONCE(tx->wait_head, tx->wait_head + 1);
	}
	msg = sdp_tx_msg(tx, tx->wait_head - 1);
	msg->len += len;
	if (!sdp_ring_used(&tx->ring))
		tx->since = jiffies;
	if (urgent) {
		msg->open = false;
		msg->urgent = true;
		tx->urgent++;
	}
	sdp_alive_written(ssk);
	if (WARN_ON_ONCE(!sdp_ring_produce(&tx->ring, len)))
		sdp_conn_end(ssk, -EIO);
}

/**
 * sdp_tx_close_message() - keep the next write out of the last message
 * @ssk: locked socket
 *
 * In credit mode each write is a message of its own, as in the flow-control
 * paper, section 2; only Nagle's rule lets small writes share one.  What goes
 * into a ring of the peer is a stream, which may be cut anywhere.
 */
void sdp_tx_close_message(struct sdp_sock *ssk)
{
	struct sdp_tx *tx = &ssk->conn.tx;

	if (tx->wait_head != tx->wait_tail && sdp_sock_nodelay(ssk) &&
	    !tx->out.size)
		sdp_tx_msg(tx, tx->wait_head - 1)->open = false;
}

/**
 * sdp_tx_map() - describe unsent bytes of the ring to the device
 * @ssk: locked socket
 * @off: where they begin, counted from the ring's unsent position
 * @len: how many, all written
 * @sge: scatter elements to fill, SDP_TX_MAX_SGE - 1 suffice for a message, and
 *	one more if it is cut in two
 *
 * Return: elements filled.
 */
int sdp_tx_map(struct sdp_sock *ssk, u32 off, u32 len, struct ib_sge *sge)
{
	struct sdp_tx *tx = &ssk->conn.tx;
	u32 pos = tx->ring.sent + off;
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
