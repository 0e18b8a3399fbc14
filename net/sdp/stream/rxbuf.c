// SPDX-License-Identifier: GPL-2.0
/*
 * Receive buffers: their memory, and how they become more and larger.  What is decided
 * is decided in rcvbuf.c.
 */
#include <linux/slab.h>

#include "stream.h"

/* A message that comes within so many jiffies of the last one belongs to a stream. */
#define SDP_RX_SOON	(HZ / 100)

/* What all buffers may have: as user space has set it, else the sysctl. */
static u32 sdp_rx_limit(const struct sdp_stream *st)
{
	const struct sdp_rcvbuf *rb = &st->rx.rb;

	if (st->sk->sk_userlocks & SOCK_RCVBUF_LOCK)
		return READ_ONCE(st->sk->sk_rcvbuf);
	return rb->max_total * rb->max_size;
}

static int sdp_rx_map_buf(struct sdp_stream *st, struct sdp_rx_buf *buf)
{
	struct ib_device *ibdev = st->link->dev->ibdev;

	buf->page_dma = ib_dma_map_page(ibdev, buf->page, 0, buf->size,
					DMA_FROM_DEVICE);
	return ib_dma_mapping_error(ibdev, buf->page_dma) ? -ENOMEM : 0;
}

/**
 * sdp_rx_unmap_page() - end the device's access to memory that it has written to
 * @st: stream of a locked socket with a device
 * @dma: where it is for the device
 * @size: bytes
 *
 * What a message has put there was synchronised when it came, and may have been changed
 * by the processor since, or was written by it; what the device still has is not read.
 */
void sdp_rx_unmap_page(struct sdp_stream *st, u64 dma, u32 size)
{
	struct ib_device *ibdev = st->link->dev->ibdev;

	sdp_owned(st->sk);
	if (!ib_uses_virt_dma(ibdev))
		dma_unmap_page_attrs(ibdev->dma_device, dma, size, DMA_FROM_DEVICE,
				     DMA_ATTR_SKIP_CPU_SYNC);
}

/* Takes the memory of a buffer that the device does not know any more. */
static void sdp_rx_free_buf(struct sdp_stream *st, struct sdp_rx_buf *buf)
{
	__free_pages(buf->page, get_order(buf->size));
	buf->page = NULL;
	list_move(&buf->list, &st->rx.unused);
	atomic_sub(buf->size, &st->sk->sk_rmem_alloc);
	sdp_mem_uncharge(st->sk, buf->size);
}

static bool sdp_rx_get_memory(struct sdp_stream *st, struct sdp_rx_buf *buf, u32 size,
			      gfp_t more)
{
	gfp_t gfp = GFP_KERNEL | __GFP_NOWARN | __GFP_COMP | more;

	buf->page = alloc_pages(gfp, get_order(size));
	if (!buf->page)
		return false;
	buf->size = size;
	buf->accounted = more & __GFP_ACCOUNT;
	if (!sdp_rx_map_buf(st, buf))
		return true;
	__free_pages(buf->page, get_order(size));
	buf->page = NULL;
	return false;
}

/**
 * sdp_rx_spare_get() - get memory that may take the place of a receive buffer's
 * @st: stream of a locked socket with a device
 * @spare: to fill; on no list
 * @size: bytes, a power of two
 *
 * User space may get it later, so that it is charged to the memory control group of
 * the caller, who does without it where that is full.
 *
 * Context: process context, may sleep.
 * Return: whether there was any; sdp_rx_spare_put() releases it, or what it was
 * exchanged for.
 */
bool sdp_rx_spare_get(struct sdp_stream *st, struct sdp_rx_buf *spare, u32 size)
{
	sdp_owned(st->sk);
	return sdp_rx_get_memory(st, spare, size, __GFP_NORETRY | __GFP_ACCOUNT);
}

/**
 * sdp_rx_spare_put() - release memory that is no receive buffer's
 * @st: stream of a locked socket with a device
 * @spare: the memory
 */
void sdp_rx_spare_put(struct sdp_stream *st, struct sdp_rx_buf *spare)
{
	sdp_owned(st->sk);
	sdp_rx_unmap_page(st, spare->page_dma, spare->size);
	__free_pages(spare->page, get_order(spare->size));
}

/*
 * Gives memory to a buffer that has none, charged already.  Pieces larger than a page
 * are a luxury: their allocation must not wait.
 */
static struct sdp_rx_buf *sdp_rx_alloc_buf(struct sdp_stream *st, u32 size)
{
	struct sdp_rx_buf *buf = list_first_entry(&st->rx.unused, struct sdp_rx_buf, list);

	if (!sdp_rx_get_memory(st, buf, size, size > PAGE_SIZE ? __GFP_NORETRY : 0))
		return NULL;
	list_del_init(&buf->list);
	atomic_add(size, &st->sk->sk_rmem_alloc);
	return buf;
}

static int sdp_rx_alloc_tables(struct sdp_stream *st)
{
	struct sdp_rx *rx = &st->rx;
	u32 size = roundup_pow_of_two(rx->slots);

	rx->mask = size - 1;
	rx->posted = kvcalloc(size, sizeof(*rx->posted),
			      SDP_GFP_TABLE);
	if (!rx->posted ||
	    sdp_rx_slots_alloc(st, &rx->first, rx->rb.max_total +
						SDP_CREDIT_BUFS_MIN))
		return -ENOMEM;
	sdp_rx_slots_use(rx, &rx->first);
	return 0;
}

/**
 * sdp_rx_size() - decide how many receive buffers there are, and may be
 * @st: stream of a locked socket without any
 *
 * The size that user space has set counts, else the sysctls.
 *
 * Return: bytes that the first ones take.
 */
u32 sdp_rx_size(struct sdp_stream *st)
{
	const struct sdp_net *sn = sdp_net(sock_net(st->sk));
	u32 size = PAGE_SIZE << get_order(READ_ONCE(sn->buffer_size));
	u32 count = READ_ONCE(sn->num_buffers);
	struct sdp_rx *rx = &st->rx;

	sdp_owned(st->sk);
	if (st->sk->sk_userlocks & SOCK_RCVBUF_LOCK)
		count = clamp_t(u32, st->sk->sk_rcvbuf / size, count,
				SDP_MAX_BUFFERS);
	sdp_rcvbuf_init(&rx->rb, PAGE_SIZE, size, count);
	rx->slots = count + SDP_CREDIT_BUFS_MIN;
	if (st->features & (SDP_FEAT_RDMA | SDP_FEAT_NIC))
		rx->slots = max(rx->slots, SDP_RCVBUF_FIRST +
				sdp_rx_ring_size(st));
	return sdp_rcvbuf_first(&rx->rb, sdp_rx_limit(st)) * PAGE_SIZE;
}

/**
 * sdp_rx_init() - allocate the first receive buffers of a connection
 * @st: stream of a locked socket whose device is known; what sdp_rx_size() said is charged
 *
 * Context: process context, may sleep.
 * Return: 0 or -ENOMEM; sdp_rx_unmap() and sdp_rx_purge() clean up in both
 * cases.
 */
int sdp_rx_init(struct sdp_stream *st)
{
	struct sdp_rx *rx = &st->rx;
	struct sdp_rcvbuf *rb = &rx->rb;
	u32 count = sdp_rcvbuf_first(rb, sdp_rx_limit(st));
	int err = sdp_rx_alloc_tables(st);

	sdp_owned(st->sk);
	rx->ahead.pause = jiffies;
	for (; !err && count; count--) {
		if (!sdp_rx_alloc_buf(st, rb->size))
			return -ENOMEM;
		sdp_rcvbuf_added(rb, rb->size);
	}
	return err;
}

/**
 * sdp_rx_repost() - post the buffer of a message without payload again
 * @st: stream of a locked socket (by its owner or in softirq)
 * @buf: buffer, on no list
 *
 * The peer learns of the new credit with the next message that flows.
 */
void sdp_rx_repost(struct sdp_stream *st, struct sdp_rx_buf *buf)
{
	sdp_owned(st->sk);
	if (!sdp_rx_may_post(st))
		return;
	if (st->rx.ring.pos.size) {
		sdp_rx_ring_release(st, buf);
		return;
	}
	sdp_rx_post(st, buf);
	sdp_credit_posted(&st->credit, 1);
}

/**
 * sdp_rx_retire() - free a receive buffer that the device does not know
 * @st: stream of a locked socket (by its owner or in softirq) with a device
 * @buf: buffer with payload memory, on no list
 */
void sdp_rx_retire(struct sdp_stream *st, struct sdp_rx_buf *buf)
{
	sdp_owned(st->sk);
	sdp_rcvbuf_removed(&st->rx.rb, buf->size);
	sdp_rx_unmap_page(st, buf->page_dma, buf->size);
	sdp_rx_free_buf(st, buf);
}

/* Whether there may be a buffer more than needed, or none may be missing. */
static bool sdp_rx_keep(const struct sdp_stream *st, u32 size)
{
	const struct sdp_rx *rx = &st->rx;

	if (rx->packing && size >= rx->rb.size &&
	    rx->rb.fit <= SDP_RCVBUF_UNREAD)
		return true;
	return sdp_rcvbuf_keep(&rx->rb, size, sdp_rx_limit(st),
			       sdp_mem_pressure(st->sk));
}

/**
 * sdp_rx_recycle() - post a buffer again whose payload was read, or free it
 * @st: stream of a locked socket (by its owner or in softirq)
 * @buf: buffer, on no list
 */
void sdp_rx_recycle(struct sdp_stream *st, struct sdp_rx_buf *buf)
{
	sdp_owned(st->sk);
	if (!st->link->dev) {
		sdp_rx_free_buf(st, buf);
	} else if (st->rx.ring.pos.size) {
		sdp_rx_repost(st, buf);
	} else if (sdp_rx_keep(st, buf->size)) {
		sdp_rx_repost(st, buf);
	} else if (sdp_rx_may_post(st)) {
		sdp_credit_removed(&st->credit);
		sdp_rx_retire(st, buf);
	}
}

/* Allocates up to @count buffers; returns how many are on @list now. */
static u32 sdp_rx_collect(struct sdp_stream *st, u32 size, u32 count,
			  struct list_head *list)
{
	struct sock *sk = st->sk;
	struct sdp_rx_buf *buf;
	u32 n;

	if (!sdp_mem_grow(sk, count * size))
		return 0;
	for (n = 0; n < count; n++) {
		buf = sdp_rx_alloc_buf(st, size);
		if (!buf)
			break;
		list_add_tail(&buf->list, list);
	}
	if (n < count)
		sdp_mem_uncharge(sk, (count - n) * size);
	return n;
}

static void sdp_rx_give_up(struct sdp_stream *st, struct list_head *list)
{
	struct sdp_rx_buf *buf, *next;

	list_for_each_entry_safe(buf, next, list, list) {
		sdp_rx_unmap_page(st, buf->page_dma, buf->size);
		sdp_rx_free_buf(st, buf);
	}
}

static void sdp_rx_add(struct sdp_stream *st, struct list_head *list)
{
	struct sdp_rx_buf *buf, *next;

	list_for_each_entry_safe(buf, next, list, list) {
		list_del_init(&buf->list);
		sdp_rcvbuf_added(&st->rx.rb, buf->size);
		sdp_credit_added(&st->credit, 1);
		sdp_rx_post(st, buf);
	}
}

/*
 * Posts the fewest larger buffers that a connection can live on; if they are
 * not enough their number will grow.  Returns whether there are larger ones.
 */
static bool sdp_rx_grow_size(struct sdp_stream *st)
{
	struct sdp_rcvbuf *rb = &st->rx.rb;
	u32 size = sdp_rcvbuf_larger(rb, sdp_rx_limit(st));
	LIST_HEAD(list);

	/* Fragmented memory still has smaller pieces. */
	for (; size > rb->size; size /= 2) {
		if (sdp_rx_collect(st, size, SDP_CREDIT_BUFS_MIN, &list) ==
		    SDP_CREDIT_BUFS_MIN)
			break;
		sdp_rx_give_up(st, &list);
	}
	if (size <= rb->size)
		return false;
	sdp_rcvbuf_resize(rb, size, st->credit.rx_posted);
	sdp_rx_add(st, &list);
	return true;
}

static bool sdp_rx_grow_number(struct sdp_stream *st)
{
	const struct sdp_rcvbuf *rb = &st->rx.rb;
	u32 want = sdp_rcvbuf_more(rb, sdp_rx_limit(st));
	LIST_HEAD(list);
	u32 got;

	got = sdp_rx_collect(st, rb->size, want, &list);
	sdp_rx_add(st, &list);
	return got;
}

/**
 * sdp_rx_add_spare() - have as many buffers as a peer needs that is not read
 * @st: stream of a locked socket with a queue pair
 *
 * Fewer than these cannot be posted and filled in turn while one of them holds
 * the first unread bytes.  What is too many is freed when it was read.
 *
 * Context: process context, may sleep.
 */
void sdp_rx_add_spare(struct sdp_stream *st)
{
	const struct sdp_rcvbuf *rb = &st->rx.rb;
	u32 most = rb->max_total + SDP_CREDIT_BUFS_MIN;
	LIST_HEAD(list);

	sdp_owned(st->sk);
	if (rb->fit >= SDP_RCVBUF_UNREAD || rb->total >= most)
		return;
	sdp_rx_collect(st, rb->size, min(SDP_RCVBUF_UNREAD - rb->fit,
					 most - rb->total), &list);
	sdp_rx_add(st, &list);
}

/**
 * sdp_rx_grow() - get more or larger receive buffers
 * @st: stream of a locked socket; sdp_stream_ops::grow was called
 *
 * The caller pushes, for ChRcvBufAck or credits may be due.
 *
 * Context: process context, where memory can be waited for.
 */
void sdp_rx_grow(struct sdp_stream *st)
{
	struct sdp_rcvbuf *rb = &st->rx.rb;
	struct sock *sk = st->sk;
	struct mem_cgroup *old;
	bool grown;

	sdp_owned(sk);
	/* It was asked for by a connection that is over. */
	if (!rb->growing)
		return;
	old = sdp_mem_account_begin(sk);
	if (sdp_rx_may_post(st)) {
		grown = sdp_rx_ring_alloc(st) || sdp_rx_grow_size(st) ||
			sdp_rx_grow_number(st);
		SDP_INC_STATS(sock_net(sk), grown ? SDP_MIB_RCVBUFGROWS :
						    SDP_MIB_RCVBUFREFUSALS);
	}
	sdp_mem_account_end(old);
	WRITE_ONCE(rb->growing, false);
	sdp_rx_relieve_later(st);
	/* Readers that wait for more than fits would wait for ever. */
	if (sdp_rx_readable(st))
		sk->sk_data_ready(sk);
}

static void sdp_rx_start_growth(struct sdp_stream *st)
{
	struct sdp_rcvbuf *rb = &st->rx.rb;

	if (sdp_mem_pressure(st->sk)) {
		SDP_INC_STATS(sock_net(st->sk), SDP_MIB_RCVBUFREFUSALS);
		return;
	}
	WRITE_ONCE(rb->growing, true);
	st->ops->grow(st->sk);
}

/*
 * Begins growth if it is worth the attempt.  A ring takes the place of everything else,
 * for the reason @why, if there is one; else @more says whether buffers may be more, or
 * larger.
 */
static void sdp_rx_try_growth(struct sdp_stream *st, enum sdp_ring_reason why, bool more)
{
	struct sdp_rx_ring *ring = &st->rx.ring;

	if (st->rx.rb.growing || ring->mr)
		return;
	if (ring->wanted && why)
		ring->need.why = why;
	else if (!more)
		return;
	sdp_rx_start_growth(st);
}

/**
 * sdp_rx_note_need() - a message with data has come, and there may be a ring one day
 * @st: stream of a locked socket (by its owner or in softirq)
 * @len: bytes
 */
void sdp_rx_note_need(struct sdp_stream *st, u32 len)
{
	bool soon = time_before_eq(jiffies, st->stats.last_in + SDP_RX_SOON);

	sdp_owned(st->sk);
	if (sdp_need_arrived(&st->rx.ring.need, len, len >= PAGE_SIZE, soon))
		sdp_rx_try_growth(st, SDP_RING_SHORT, false);
}

/**
 * sdp_rx_exhausted() - see whether the peer can go on
 * @st: stream of a locked socket (by its owner or in softirq), a message has come
 *
 * A peer that has no credits for data left gets more, if there may be more; if
 * not, it is looked after when user space has had time to read.
 */
void sdp_rx_exhausted(struct sdp_stream *st)
{
	const struct sdp_rcvbuf *rb = &st->rx.rb;

	sdp_owned(st->sk);
	if (st->credit.rx_advertised >= SDP_PEER_BUFS_MIN)
		return;
	sdp_rx_try_growth(st, sdp_need_full(&st->rx.ring.need) ? SDP_RING_FULL :
								 SDP_RING_NONE,
			  sdp_rcvbuf_more(rb, sdp_rx_limit(st)));
	sdp_rx_relieve_later(st);
}

/**
 * sdp_rx_handle_chrcvbuf() - the peer asks for larger buffers (ChRcvBuf)
 * @st: stream of a locked socket (by its owner or in softirq)
 * @wish: payload bytes
 *
 * Return: 0 or -EPROTO.
 */
int sdp_rx_handle_chrcvbuf(struct sdp_stream *st, u32 wish)
{
	struct sdp_rcvbuf *rb = &st->rx.rb;
	int err = sdp_rcvbuf_asked(rb, wish);

	sdp_owned(st->sk);
	if (!err)
		sdp_rx_try_growth(st, sdp_need_longer(&st->rx.ring.need, wish) ?
				  SDP_RING_LONGER : SDP_RING_NONE,
				  sdp_rcvbuf_larger(rb, sdp_rx_limit(st)) > rb->size);
	return err;
}

/**
 * sdp_rx_unmap() - end the device's access to the receive buffers
 * @st: stream of a locked socket whose queue pair is gone
 *
 * Frees all buffers but those with unread data, which user space may still
 * read after the connection ended.
 *
 * Context: process context.
 */
void sdp_rx_unmap(struct sdp_stream *st)
{
	struct sdp_rx *rx = &st->rx;
	struct sdp_rx_buf *buf;
	u32 i;

	sdp_owned(st->sk);
	sdp_rx_ring_unmap(st);
	for (i = 0; i < rx->first.count; i++) {
		buf = &rx->first.bufs[i];
		if (!buf->page)
			continue;
		sdp_rx_unmap_page(st, buf->page_dma, buf->size);
		if (list_empty(&buf->list))
			sdp_rx_free_buf(st, buf);
	}
	sdp_rx_slots_unmap(st, &rx->first);
	kvfree(rx->posted);
	rx->posted = NULL;
}

/**
 * sdp_rx_purge() - drop unread data and the last memory of the receive side
 * @st: stream of an unpublished socket, or of a locked one without connection
 */
void sdp_rx_purge(struct sdp_stream *st)
{
	struct sdp_rx *rx = &st->rx;
	u32 i;

	for (i = 0; i < rx->first.count; i++)
		if (rx->first.bufs[i].page)
			sdp_rx_free_buf(st, &rx->first.bufs[i]);
	/* The list of buffers without memory contains those of both. */
	sdp_rx_ring_purge(st);
	sdp_rx_slots_free(&rx->first);
	memset(rx, 0, sizeof(*rx));
	INIT_LIST_HEAD(&rx->queue);
	INIT_LIST_HEAD(&rx->unused);
}
