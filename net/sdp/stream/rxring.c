// SPDX-License-Identifier: GPL-2.0
/*
 * The receive ring: its memory, how the peer is allowed to write to it, and
 * what has arrived in it.  What is decided is decided in flow/rdma.c and
 * flow/nic.c.
 *
 * A connection starts with receive buffers and credits.  When there is a reason
 * (flow/auto.c), and both ends have offered an engine with rings, a ring takes the place
 * of more and larger buffers.
 */
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "stream.h"

/*
 * Pieces of a ring: long ones, of which a long read copies few, or what the page
 * allocator gives readily.
 */
#define SDP_RING_CHUNK_LONG	(64U * 1024)
#define SDP_RING_CHUNK (16U * 1024)

/**
 * sdp_rx_ring_size() - decide how large a ring would be
 * @st: stream of a locked socket without any receive buffers
 *
 * The size that user space has set counts, else the sysctl.  Either may
 * change later, when the queue pair has room only for what was decided now.
 *
 * Return: how many receive buffers the ring may need.
 */
u32 sdp_rx_ring_size(struct sdp_stream *st)
{
	const struct sdp_net *sn = sdp_net(sock_net(st->sk));
	u32 size = READ_ONCE(sn->ring_size);
	struct sdp_rx_ring *ring = &st->rx.ring;
	struct sdp_inring in;
	u32 requests;

	sdp_owned(st->sk);
	if (st->sk->sk_userlocks & SOCK_RCVBUF_LOCK)
		size = READ_ONCE(st->sk->sk_rcvbuf);
	ring->size = rounddown_pow_of_two(clamp(size, SDP_MIN_RING_SIZE,
						SDP_MAX_RING_SIZE));
	if (ring->need.adapts)
		return SDP_NEED_REQUESTS + SDP_PEER_BUFS_MIN;
	ring->window = READ_ONCE(sn->window_size);
	sdp_inring_init(&in, ring->size, sdp_nic_window(ring->size, ring->window));
	requests = sdp_rdma_buffers(&in);
	if (st->features & SDP_FEAT_NIC)
		requests = max(requests, sdp_nic_buffers(&in));
	return requests + SDP_PEER_BUFS_MIN;
}

/**
 * sdp_rx_ring_want() - a ring may take the place of more buffers
 * @st: stream of a locked socket that has just been connected
 */
void sdp_rx_ring_want(struct sdp_stream *st)
{
	sdp_owned(st->sk);
	st->rx.ring.wanted = st->flow->fit;
}

/* How much space is advertised at once at least. */
static u32 sdp_rx_ring_piece(const struct sdp_stream *st, u32 size)
{
	const struct sdp_rx_ring *ring = &st->rx.ring;

	return st->flow->piece(size, ring->need.adapts ? size / SDP_NEED_REQUESTS : ring->window);
}

/* How many receive requests are to be posted now. */
static u32 sdp_rx_ring_requests(const struct sdp_stream *st)
{
	const struct sdp_rx_ring *ring = &st->rx.ring;
	u32 n = st->flow->buffers(&ring->pos);

	return ring->need.adapts ? min(n, SDP_NEED_REQUESTS + SDP_PEER_BUFS_MIN - 1U) : n;
}

static void sdp_rx_ring_free_memory(struct sdp_rx_ring *ring)
{
	u32 i;

	for (i = 0; i < ring->nr_sg && sg_page(&ring->sg[i]); i++)
		__free_pages(sg_page(&ring->sg[i]), get_order(ring->chunk));
	kvfree(ring->sg);
	ring->sg = NULL;
}

static int sdp_rx_ring_alloc_chunks(struct sdp_rx_ring *ring, u32 size,
				    u32 chunk)
{
	gfp_t gfp = GFP_KERNEL | __GFP_NOWARN | __GFP_NORETRY | __GFP_ZERO;
	struct page *page;
	u32 i;

	ring->size = size;
	ring->chunk = min(size, chunk);
	ring->nr_sg = size / ring->chunk;
	ring->sg = kvcalloc(ring->nr_sg, sizeof(*ring->sg),
			    SDP_GFP_TABLE);
	if (!ring->sg)
		return -ENOMEM;
	sg_init_table(ring->sg, ring->nr_sg);
	for (i = 0; i < ring->nr_sg; i++) {
		page = alloc_pages(gfp, get_order(ring->chunk));
		if (!page) {
			sdp_rx_ring_free_memory(ring);
			return -ENOMEM;
		}
		sg_set_page(&ring->sg[i], page, ring->chunk, 0);
	}
	return 0;
}

static int sdp_rx_ring_alloc_memory(struct sdp_rx_ring *ring, u32 size)
{
	int err = sdp_rx_ring_alloc_chunks(ring, size, SDP_RING_CHUNK_LONG);

	return err ? sdp_rx_ring_alloc_chunks(ring, size, SDP_RING_CHUNK) : 0;
}

static void sdp_rx_ring_unmap_pieces(struct sdp_stream *st, u32 count)
{
	const struct sdp_rx_ring *ring = &st->rx.ring;

	while (count--)
		sdp_rx_unmap_page(st, sg_dma_address(&ring->sg[count]), ring->chunk);
}

/* Each piece by itself, so that each has an address to be synchronised by. */
static int sdp_rx_ring_map_pieces(struct sdp_stream *st)
{
	struct sdp_rx_ring *ring = &st->rx.ring;
	struct ib_device *ibdev = st->link->dev->ibdev;
	struct scatterlist *sg;
	u32 i;

	for (i = 0; i < ring->nr_sg; i++) {
		sg = &ring->sg[i];
		sg_dma_len(sg) = ring->chunk;
		sg_dma_address(sg) = ib_dma_map_page(ibdev, sg_page(sg), 0,
						     ring->chunk,
						     DMA_FROM_DEVICE);
		if (ib_dma_mapping_error(ibdev, sg_dma_address(sg))) {
			sdp_rx_ring_unmap_pieces(st, i);
			return -ENOMEM;
		}
	}
	return 0;
}

/* The peer gets a key to the ring and to nothing else. */
static struct ib_mr *sdp_rx_ring_alloc_mr(const struct sdp_stream *st)
{
	const struct sdp_rx_ring *ring = &st->rx.ring;
	struct ib_mr *mr;

	mr = sdp_region_alloc(st->link, ring->size / PAGE_SIZE);
	if (!mr || sdp_region_map(mr, ring->sg, ring->nr_sg, ring->size))
		return mr;
	ib_dereg_mr(mr);
	return NULL;
}

static int sdp_rx_ring_map(struct sdp_stream *st)
{
	struct sdp_rx_ring *ring = &st->rx.ring;

	if (sdp_rx_ring_map_pieces(st))
		return -ENOMEM;
	ring->mr = sdp_rx_ring_alloc_mr(st);
	if (ring->mr)
		return 0;
	sdp_rx_ring_unmap_pieces(st, ring->nr_sg);
	return -ENOMEM;
}

static bool sdp_rx_ring_try(struct sdp_stream *st, u32 size)
{
	struct sdp_rx_ring *ring = &st->rx.ring;

	if (size / PAGE_SIZE >
	    st->link->dev->ibdev->attrs.max_fast_reg_page_list_len ||
	    !sdp_mem_grow(st->sk, size))
		return false;
	if (!sdp_rx_ring_alloc_memory(ring, size)) {
		if (!sdp_rx_ring_map(st)) {
			atomic_add(size, &st->sk->sk_rmem_alloc);
			return true;
		}
		sdp_rx_ring_free_memory(ring);
	}
	sdp_mem_uncharge(st->sk, size);
	return false;
}

/*
 * Whoever has asked for a ring has said before how large.  Others may set SO_RCVBUF at any
 * time, which is for the ring and for the buffers that there are until they are used.
 */
static u32 sdp_rx_ring_limit(const struct sdp_stream *st)
{
	const struct sdp_rx_ring *ring = &st->rx.ring;
	u32 most = max_t(int, READ_ONCE(st->sk->sk_rcvbuf), 0);

	if (!ring->need.adapts || !(st->sk->sk_userlocks & SOCK_RCVBUF_LOCK))
		return ring->size;
	most -= min(most, st->rx.rb.bytes);
	return most ? min_t(u32, ring->size, rounddown_pow_of_two(most)) : 0;
}

/**
 * sdp_rx_ring_alloc() - get memory for a ring that is wanted
 * @st: stream of a locked socket with a queue pair
 *
 * A smaller ring is better than none; without any the connection goes on with
 * credits in this direction.
 *
 * Context: process context, may sleep.
 * Return: whether there is a ring now, which is to be advertised.
 */
bool sdp_rx_ring_alloc(struct sdp_stream *st)
{
	struct sdp_rx *rx = &st->rx;
	struct sdp_rx_ring *ring = &rx->ring;
	u32 least = ring->need.adapts ? SDP_NEED_RING_MIN : SDP_MIN_RING_SIZE;
	u32 size = sdp_rx_ring_limit(st);

	sdp_owned(st->sk);
	if (!ring->wanted || !ring->need.why)
		return false;
	ring->wanted = false;
	if (sdp_rx_slots_alloc(st, &ring->slots,
			       rx->slots - rx->first.count))
		return false;
	for (; size >= least; size /= 2) {
		if (!sdp_rx_ring_try(st, size))
			continue;
		sdp_rx_slots_use(rx, &ring->slots);
		return true;
	}
	sdp_rx_slots_unmap(st, &ring->slots);
	sdp_rx_slots_free(&ring->slots);
	return false;
}

/* A receive buffer without memory; returns whether there is one. */
static bool sdp_rx_ring_post(struct sdp_stream *st)
{
	struct sdp_rx *rx = &st->rx;
	struct sdp_rx_buf *buf;

	if (rx->ring.spare) {
		rx->ring.spare--;
		return true;
	}
	buf = list_first_entry_or_null(&rx->unused, struct sdp_rx_buf, list);
	if (!buf)
		return false;
	list_del_init(&buf->list);
	sdp_rx_post(st, buf);
	return true;
}

static const char *sdp_rx_ring_reason(enum sdp_ring_reason why)
{
	switch (why) {
	case SDP_RING_FULL:
		return "the peer has used up its credits";
	case SDP_RING_LONGER:
		return "the peer asks for longer buffers";
	default:
		return "short messages come one after the other";
	}
}

static void sdp_rx_ring_refill(struct sdp_stream *st)
{
	u32 want = sdp_rx_ring_requests(st);

	while (st->credit.rx_posted < want && sdp_rx_may_post(st) &&
	       sdp_rx_ring_post(st))
		sdp_credit_posted(&st->credit, 1);
}

/**
 * sdp_rx_ring_start() - the ring is about to be advertised
 * @st: stream of a locked socket whose ring has its memory
 * @ravah: set to what to advertise
 *
 * The peer writes from the first message on that it sends after it has the advert.
 * Receive buffers without memory are not posted before, because they would be taken
 * in turn by messages that need some.
 */
void sdp_rx_ring_start(struct sdp_stream *st, struct sdp_ravah *ravah)
{
	struct sdp_rx_ring *ring = &st->rx.ring;
	struct sdp_inring *pos = &ring->pos;

	sdp_owned(st->sk);
	SDP_INC_STATS(sock_net(st->sk), SDP_MIB_RINGSTARTS);
	trace_sdp_ring(st->sk, ring->size, ring->need.why);
	sdp_dbg(st->sk, "a ring of %u bytes takes the place of buffers: %s", ring->size,
		sdp_rx_ring_reason(ring->need.why));
	sdp_inring_init(pos, ring->size, sdp_rx_ring_piece(st, ring->size));
	if (ring->need.adapts)
		pos->least = ring->size / 2;
	sdp_credit_resize(&st->credit, sdp_rx_ring_requests(st));
	sdp_rx_ring_refill(st);
	*ravah = (struct sdp_ravah){
		.size = ring->size,
		.piece = pos->piece,
		.rkey = ring->mr->rkey,
		.vaddr = ring->mr->iova,
	};
}

/**
 * sdp_rx_ring_release() - a message has taken a receive buffer
 * @st: stream of a locked socket (by its owner or in softirq) with a ring in use
 * @buf: the buffer, on no list, with nothing to read in it
 */
void sdp_rx_ring_release(struct sdp_stream *st, struct sdp_rx_buf *buf)
{
	sdp_owned(st->sk);
	if (buf->page)
		sdp_rx_retire(st, buf);
	else
		list_add(&buf->list, &st->rx.unused);
	sdp_rx_ring_refill(st);
}

/* Where the byte at a position is. */
static void *sdp_rx_ring_at(const struct sdp_rx_ring *ring, u32 pos)
{
	u32 offset = pos & (ring->size - 1);

	return page_address(sg_page(&ring->sg[offset >> ilog2(ring->chunk)])) +
	       (offset & (ring->chunk - 1));
}

/* What was written becomes visible to the processor; it has no wrap in it. */
static void sdp_rx_ring_sync(struct sdp_stream *st, u32 at, u32 len)
{
	const struct sdp_rx_ring *ring = &st->rx.ring;
	const struct scatterlist *sg;
	u32 offset, part;

	if (sdp_link_is_local(st->link))
		return;
	for (at &= ring->size - 1; len; at += part, len -= part) {
		sg = &ring->sg[at >> ilog2(ring->chunk)];
		offset = at & (ring->chunk - 1);
		part = min(len, ring->chunk - offset);
		ib_dma_sync_single_for_cpu(st->link->dev->ibdev, sg_dma_address(sg) + offset,
					   part, DMA_FROM_DEVICE);
	}
}

static void sdp_rx_ring_stamp(struct sdp_rx_ring *ring, ktime_t time)
{
	if (!time)
		return;
	if (ring->stamp_head - ring->stamp_tail == SDP_RX_STAMPS)
		ring->stamp_head--;
	ring->stamps[ring->stamp_head++ % SDP_RX_STAMPS] =
		(struct sdp_rx_stamp){ .end = ring->pos.head, .time = time };
}

/**
 * sdp_rx_ring_receive() - the peer has written to the ring
 * @st: stream of a locked socket (by its owner or in softirq)
 * @len: bytes
 * @time: when, 0 if not to be recorded
 *
 * Return: 0; -EPROTO if the peer may not have done that.
 */
int sdp_rx_ring_receive(struct sdp_stream *st, u32 len, ktime_t time)
{
	struct sdp_rx_ring *ring = &st->rx.ring;
	struct sdp_inring *pos = &ring->pos;
	int err;

	sdp_owned(st->sk);
	if (!pos->size)
		return -EPROTO;
	err = sdp_inring_receive(pos, len);
	if (err)
		return err;
	sdp_rx_ring_sync(st, pos->head - len, len);
	st->stats.fill[min(sdp_inring_used(pos) >> ilog2(pos->size / SDP_FILL_STEPS),
			   SDP_FILL_STEPS - 1U)]++;
	sdp_rx_ring_stamp(ring, time);
	return 0;
}

/**
 * sdp_rx_ring_room() - where a write to the ring goes that needs no device
 * @st: stream that the ring is of, not locked: its end of a pair keeps the ring
 * @addr: what the request says, an address behind the ring's key
 * @len: set to how many bytes follow there that are contiguous
 *
 * Context: with the pair's lock.
 * Return: the memory; NULL if that is none of the ring.
 */
void *sdp_rx_ring_room(const struct sdp_stream *st, u64 addr, u32 *len)
{
	const struct sdp_rx_ring *ring = &st->rx.ring;
	u64 at;

	if (!ring->mr)
		return NULL;
	at = addr - ring->mr->iova;
	if (at >= ring->size)
		return NULL;
	*len = ring->chunk - (at & (ring->chunk - 1));
	return sdp_rx_ring_at(ring, at);
}

/**
 * sdp_rx_ring_last() - the byte that has arrived last
 * @rx: receive side with something in its ring
 */
u8 sdp_rx_ring_last(const struct sdp_rx *rx)
{
	return *(u8 *)sdp_rx_ring_at(&rx->ring, rx->ring.pos.head - 1);
}

/**
 * sdp_rx_ring_peek() - unread bytes that are contiguous
 * @st: stream of a locked socket
 * @skip: unread bytes of the ring to pass over
 * @from: set to where they are
 *
 * Return: how many; 0 if there are none.
 */
u32 sdp_rx_ring_peek(const struct sdp_stream *st, u32 skip, const void **from)
{
	const struct sdp_rx_ring *ring = &st->rx.ring;
	const struct sdp_inring *pos = &ring->pos;
	u32 used = sdp_inring_used(pos);
	u32 at = pos->tail + skip;
	u32 len;

	sdp_owned(st->sk);
	if (skip >= used)
		return 0;
	len = min(used - skip, ring->chunk - (at & (ring->chunk - 1)));
	*from = sdp_rx_ring_at(ring, at);
	return len;
}

/**
 * sdp_rx_ring_time() - when a byte of the ring arrived
 * @st: stream of a locked socket
 * @skip: unread bytes of the ring before it
 *
 * Return: time, 0 if it was not noted.
 */
ktime_t sdp_rx_ring_time(const struct sdp_stream *st, u32 skip)
{
	const struct sdp_rx_ring *ring = &st->rx.ring;
	u32 i;

	sdp_owned(st->sk);
	for (i = ring->stamp_tail; i != ring->stamp_head; i++)
		if ((s32)(ring->stamps[i % SDP_RX_STAMPS].end -
			  (ring->pos.tail + skip)) > 0)
			return ring->stamps[i % SDP_RX_STAMPS].time;
	return 0;
}

static void sdp_rx_ring_free(struct sdp_stream *st)
{
	struct sdp_rx_ring *ring = &st->rx.ring;

	if (!ring->sg)
		return;
	/* The peer's key ends before. */
	WARN_ON_ONCE(ring->mr);
	sdp_rx_ring_free_memory(ring);
	atomic_sub(ring->size, &st->sk->sk_rmem_alloc);
	sdp_mem_uncharge(st->sk, ring->size);
}

/**
 * sdp_rx_ring_read() - the first unread bytes of the ring were read
 * @st: stream of a locked socket (by its owner or in softirq)
 * @len: bytes, not more than there are
 */
void sdp_rx_ring_read(struct sdp_stream *st, u32 len)
{
	struct sdp_rx_ring *ring = &st->rx.ring;

	sdp_owned(st->sk);
	sdp_inring_read(&ring->pos, len);
	while (ring->stamp_tail != ring->stamp_head &&
	       (s32)(ring->stamps[ring->stamp_tail % SDP_RX_STAMPS].end -
		     ring->pos.tail) <= 0)
		ring->stamp_tail++;
	if (st->link->dev)
		sdp_rx_ring_refill(st);
	else if (!sdp_inring_used(&ring->pos))
		sdp_rx_ring_free(st);
}

/**
 * sdp_rx_ring_tell() - space that was read is about to be advertised
 * @st: stream of a locked socket (by its owner or in softirq)
 *
 * Return: the position to advertise.
 */
u32 sdp_rx_ring_tell(struct sdp_stream *st)
{
	struct sdp_rx_ring *ring = &st->rx.ring;

	sdp_owned(st->sk);
	if (sdp_inring_untold(&ring->pos))
		ring->told_at = ktime_get();
	return sdp_inring_tell(&ring->pos);
}

/**
 * sdp_rx_ring_unmap() - end the peer's access to the ring
 * @st: stream of a locked socket whose queue pair is gone
 *
 * The memory stays if there is unread data in it.
 *
 * Context: process context.
 */
void sdp_rx_ring_unmap(struct sdp_stream *st)
{
	struct sdp_rx_ring *ring = &st->rx.ring;

	sdp_owned(st->sk);
	ring->wanted = false;
	if (!ring->mr)
		return;
	sdp_rx_slots_unmap(st, &ring->slots);
	ib_dereg_mr(ring->mr);
	ring->mr = NULL;
	sdp_rx_ring_unmap_pieces(st, ring->nr_sg);
	if (!sdp_inring_used(&ring->pos))
		sdp_rx_ring_free(st);
}

/**
 * sdp_rx_ring_purge() - drop the ring and what is in it
 * @st: stream of an unpublished socket, or of a locked one without connection
 */
void sdp_rx_ring_purge(struct sdp_stream *st)
{
	sdp_rx_ring_free(st);
	sdp_rx_slots_free(&st->rx.ring.slots);
}
