// SPDX-License-Identifier: GPL-2.0
/*
 * Receive buffers: their memory, how they are posted, and how they become more
 * and larger.  What is decided is decided in flow/rcvbuf.c.
 */
#include <linux/slab.h>

#include "base/base.h"
#include "rdma/rdma.h"
#include "conn/conn.h"
#include "socket/socket.h"
#include "rx.h"
#include "tx.h"

/* What all buffers may have: the program's wish if it stated one. */
static u32 sdp_rx_limit(const struct sdp_sock *ssk)
{
	const struct sdp_rcvbuf *rb = &ssk->conn.rx.rb;

	if (ssk->sk.sk_userlocks & SOCK_RCVBUF_LOCK)
		return READ_ONCE(ssk->sk.sk_rcvbuf);
	return rb->max_total * rb->max_size;
}

static int sdp_rx_map_buf(struct sdp_sock *ssk, struct sdp_rx_buf *buf)
{
	struct ib_device *ibdev = ssk->conn.link.dev->ibdev;

	buf->page_dma = ib_dma_map_page(ibdev, buf->page, 0, buf->size,
					DMA_FROM_DEVICE);
	return ib_dma_mapping_error(ibdev, buf->page_dma) ? -ENOMEM : 0;
}

/*
 * What a message has put there was synchronised when it came, and may have been
 * changed by the processor since; what the device has sees nobody.
 */
static void sdp_rx_unmap_buf(struct sdp_sock *ssk, struct sdp_rx_buf *buf)
{
	struct ib_device *ibdev = ssk->conn.link.dev->ibdev;

	if (!ib_uses_virt_dma(ibdev))
		dma_unmap_page_attrs(ibdev->dma_device, buf->page_dma,
				     buf->size, DMA_FROM_DEVICE,
				     DMA_ATTR_SKIP_CPU_SYNC);
}

/* Takes the memory of a buffer that the device does not know any more. */
static void sdp_rx_free_buf(struct sdp_sock *ssk, struct sdp_rx_buf *buf)
{
	__free_pages(buf->page, get_order(buf->size));
	buf->page = NULL;
	list_move(&buf->list, &ssk->conn.rx.unused);
	atomic_sub(buf->size, &ssk->sk.sk_rmem_alloc);
	sdp_mem_uncharge(&ssk->sk, buf->size);
}

/*
 * Gives memory to a buffer that has none, charged already.  Pieces larger than
 * a page are a luxury, which nobody shall wait for.
 */
static struct sdp_rx_buf *sdp_rx_alloc_buf(struct sdp_sock *ssk, u32 size)
{
	gfp_t gfp = GFP_KERNEL | __GFP_NOWARN | __GFP_COMP;
	struct sdp_rx_buf *buf;
	struct page *page;

	if (size > PAGE_SIZE)
		gfp |= __GFP_NORETRY;
	page = alloc_pages(gfp, get_order(size));
	if (!page)
		return NULL;
	buf = list_first_entry(&ssk->conn.rx.unused, struct sdp_rx_buf, list);
	buf->page = page;
	buf->size = size;
	if (sdp_rx_map_buf(ssk, buf)) {
		__free_pages(page, get_order(size));
		buf->page = NULL;
		return NULL;
	}
	list_del_init(&buf->list);
	atomic_add(size, &ssk->sk.sk_rmem_alloc);
	return buf;
}

static int sdp_rx_alloc_tables(struct sdp_sock *ssk)
{
	struct sdp_rx *rx = &ssk->conn.rx;
	u32 size = roundup_pow_of_two(rx->slots);

	rx->mask = size - 1;
	rx->posted = kvcalloc(size, sizeof(*rx->posted),
			      SDP_GFP_TABLE);
	if (!rx->posted ||
	    sdp_rx_slots_alloc(ssk, &rx->first, rx->rb.max_total +
						SDP_CREDIT_BUFS_MIN))
		return -ENOMEM;
	sdp_rx_slots_use(rx, &rx->first);
	return 0;
}

/**
 * sdp_rx_size() - decide how many receive buffers there are, and may be
 * @ssk: locked socket without any
 *
 * The program's wish counts if it stated one, else the sysctls.
 *
 * Return: bytes that the first ones take.
 */
u32 sdp_rx_size(struct sdp_sock *ssk)
{
	const struct sdp_net *sn = sdp_net(sock_net(&ssk->sk));
	u32 size = PAGE_SIZE << get_order(READ_ONCE(sn->buffer_size));
	u32 count = READ_ONCE(sn->num_buffers);
	struct sdp_rx *rx = &ssk->conn.rx;

	if (ssk->sk.sk_userlocks & SOCK_RCVBUF_LOCK)
		count = clamp_t(u32, ssk->sk.sk_rcvbuf / size, count,
				SDP_MAX_BUFFERS);
	sdp_rcvbuf_init(&rx->rb, PAGE_SIZE, size, count);
	rx->slots = count + SDP_CREDIT_BUFS_MIN;
	if (ssk->conn.features & (SDP_FEAT_RDMA | SDP_FEAT_NIC))
		rx->slots = max(rx->slots, SDP_RCVBUF_FIRST +
				sdp_rx_ring_size(ssk));
	return sdp_rcvbuf_first(&rx->rb, sdp_rx_limit(ssk)) * PAGE_SIZE;
}

/**
 * sdp_rx_init() - allocate the first receive buffers of a connection
 * @ssk: locked socket whose device is known; what sdp_rx_size() said is charged
 *
 * Context: process context, may sleep.
 * Return: 0 or -ENOMEM; sdp_rx_unmap() and sdp_rx_purge() clean up in both
 * cases.
 */
int sdp_rx_init(struct sdp_sock *ssk)
{
	struct sdp_rx *rx = &ssk->conn.rx;
	struct sdp_rcvbuf *rb = &rx->rb;
	u32 count = sdp_rcvbuf_first(rb, sdp_rx_limit(ssk));
	int err = sdp_rx_alloc_tables(ssk);

	for (; !err && count; count--) {
		if (!sdp_rx_alloc_buf(ssk, rb->size))
			return -ENOMEM;
		sdp_rcvbuf_added(rb, rb->size);
	}
	return err;
}

/**
 * sdp_rx_post() - give a receive buffer to the device
 * @ssk: socket with a queue pair
 * @buf: buffer, on no list; one without payload memory takes headers only
 *
 * Return: 0 or the provider's errno.
 */
int sdp_rx_post(struct sdp_sock *ssk, struct sdp_rx_buf *buf)
{
	struct sdp_conn *conn = &ssk->conn;
	struct sdp_rx *rx = &conn->rx;
	struct ib_sge sge[SDP_RX_SGE] = {
		{
			.addr = buf->bsdh_dma,
			.length = SDP_BSDH_LEN,
			.lkey = conn->link.pd->local_dma_lkey,
		}, {
			.addr = buf->page_dma,
			.length = buf->size,
			.lkey = conn->link.pd->local_dma_lkey,
		},
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &conn->link.rx_cqe,
		.sg_list = sge,
		.num_sge = SDP_RX_SGE,
	};

	rx->posted[rx->post_head++ & rx->mask] = buf;
	if (buf->page) {
		ib_dma_sync_single_for_device(conn->link.dev->ibdev, buf->page_dma,
					      buf->size, DMA_FROM_DEVICE);
		sdp_rcvbuf_posted(&rx->rb, buf->size);
	} else {
		sge[0].length = SDP_MSG_HDR_MAX;
		wr.num_sge = 1;
	}
	return ib_post_recv(conn->link.qp, &wr, NULL);
}

/**
 * sdp_rx_post_all() - give the first receive buffers to the queue pair
 * @ssk: socket with a queue pair in state INIT, known to nobody else yet
 *
 * Return: 0 or the provider's errno.
 */
int sdp_rx_post_all(struct sdp_sock *ssk)
{
	struct sdp_rx *rx = &ssk->conn.rx;
	int err = 0;
	u32 i;

	for (i = 0; !err && i < rx->rb.total; i++)
		err = sdp_rx_post(ssk, &rx->first.bufs[i]);
	return err;
}

/**
 * sdp_rx_may_post() - whether the device takes receive buffers
 * @conn: connection of a locked socket
 */
bool sdp_rx_may_post(const struct sdp_conn *conn)
{
	return conn->link.qp && !test_bit(SDP_CONN_BROKEN, &conn->link.flags);
}

/**
 * sdp_rx_repost() - post the buffer of a message without payload again
 * @ssk: locked socket (by its owner or in softirq)
 * @buf: buffer, on no list
 *
 * The peer learns of the new credit with the next message that flows.
 */
void sdp_rx_repost(struct sdp_sock *ssk, struct sdp_rx_buf *buf)
{
	if (!sdp_rx_may_post(&ssk->conn))
		return;
	if (ssk->conn.rx.ring.pos.size)
		sdp_rx_ring_release(ssk, buf);
	else if (sdp_rx_post(ssk, buf))
		sdp_link_end(&ssk->conn.link, -ECONNRESET);
	else
		sdp_credit_posted(&ssk->conn.credit, 1);
}

/**
 * sdp_rx_retire() - free a receive buffer that the device does not know
 * @ssk: locked socket (by its owner or in softirq) with a device
 * @buf: buffer with payload memory, on no list
 */
void sdp_rx_retire(struct sdp_sock *ssk, struct sdp_rx_buf *buf)
{
	sdp_rcvbuf_removed(&ssk->conn.rx.rb, buf->size);
	sdp_rx_unmap_buf(ssk, buf);
	sdp_rx_free_buf(ssk, buf);
}

/* Whether there may be a buffer more than needed, or none may be missing. */
static bool sdp_rx_keep(const struct sdp_sock *ssk, u32 size)
{
	const struct sdp_rx *rx = &ssk->conn.rx;

	if (rx->packing && size >= rx->rb.size &&
	    rx->rb.fit <= SDP_RCVBUF_UNREAD)
		return true;
	return sdp_rcvbuf_keep(&rx->rb, size, sdp_rx_limit(ssk),
			       sdp_mem_pressure(&ssk->sk));
}

/**
 * sdp_rx_recycle() - post a buffer again whose payload was read, or free it
 * @ssk: locked socket (by its owner or in softirq)
 * @buf: buffer, on no list
 */
void sdp_rx_recycle(struct sdp_sock *ssk, struct sdp_rx_buf *buf)
{
	struct sdp_conn *conn = &ssk->conn;

	if (!conn->link.dev) {
		sdp_rx_free_buf(ssk, buf);
	} else if (conn->rx.ring.pos.size) {
		sdp_rx_repost(ssk, buf);
	} else if (sdp_rx_keep(ssk, buf->size)) {
		sdp_rx_repost(ssk, buf);
	} else if (sdp_rx_may_post(conn)) {
		sdp_credit_removed(&conn->credit);
		sdp_rx_retire(ssk, buf);
	}
}

/* Allocates up to @count buffers; returns how many are on @list now. */
static u32 sdp_rx_collect(struct sdp_sock *ssk, u32 size, u32 count,
			  struct list_head *list)
{
	struct sock *sk = &ssk->sk;
	struct sdp_rx_buf *buf;
	u32 n;

	if (!sdp_mem_grow(sk, count * size))
		return 0;
	for (n = 0; n < count; n++) {
		buf = sdp_rx_alloc_buf(ssk, size);
		if (!buf)
			break;
		list_add_tail(&buf->list, list);
	}
	if (n < count)
		sdp_mem_uncharge(sk, (count - n) * size);
	return n;
}

static void sdp_rx_give_up(struct sdp_sock *ssk, struct list_head *list)
{
	struct sdp_rx_buf *buf, *next;

	list_for_each_entry_safe(buf, next, list, list) {
		sdp_rx_unmap_buf(ssk, buf);
		sdp_rx_free_buf(ssk, buf);
	}
}

static void sdp_rx_add(struct sdp_sock *ssk, struct list_head *list)
{
	struct sdp_conn *conn = &ssk->conn;
	struct sdp_rx_buf *buf, *next;

	list_for_each_entry_safe(buf, next, list, list) {
		list_del_init(&buf->list);
		sdp_rcvbuf_added(&conn->rx.rb, buf->size);
		sdp_credit_added(&conn->credit, 1);
		if (sdp_rx_post(ssk, buf))
			sdp_link_end(&ssk->conn.link, -ECONNRESET);
	}
}

/*
 * Posts the fewest larger buffers that a connection can live on; if they are
 * not enough their number will grow.  Returns whether there are larger ones.
 */
static bool sdp_rx_grow_size(struct sdp_sock *ssk)
{
	struct sdp_conn *conn = &ssk->conn;
	struct sdp_rcvbuf *rb = &conn->rx.rb;
	u32 size = sdp_rcvbuf_larger(rb, sdp_rx_limit(ssk));
	LIST_HEAD(list);

	/* Fragmented memory still has smaller pieces. */
	for (; size > rb->size; size /= 2) {
		if (sdp_rx_collect(ssk, size, SDP_CREDIT_BUFS_MIN, &list) ==
		    SDP_CREDIT_BUFS_MIN)
			break;
		sdp_rx_give_up(ssk, &list);
	}
	if (size <= rb->size)
		return false;
	sdp_rcvbuf_resize(rb, size, conn->credit.rx_posted);
	sdp_rx_add(ssk, &list);
	return true;
}

static bool sdp_rx_grow_number(struct sdp_sock *ssk)
{
	const struct sdp_rcvbuf *rb = &ssk->conn.rx.rb;
	u32 want = sdp_rcvbuf_more(rb, sdp_rx_limit(ssk));
	LIST_HEAD(list);
	u32 got;

	got = sdp_rx_collect(ssk, rb->size, want, &list);
	sdp_rx_add(ssk, &list);
	return got;
}

/**
 * sdp_rx_add_spare() - have as many buffers as a peer needs that is not read
 * @ssk: locked socket with a queue pair
 *
 * Fewer than these cannot be posted and filled in turn while one of them holds
 * the first unread bytes.  What is too many is freed when it was read.
 *
 * Context: process context, may sleep.
 */
void sdp_rx_add_spare(struct sdp_sock *ssk)
{
	const struct sdp_rcvbuf *rb = &ssk->conn.rx.rb;
	u32 most = rb->max_total + SDP_CREDIT_BUFS_MIN;
	LIST_HEAD(list);

	if (rb->fit >= SDP_RCVBUF_UNREAD || rb->total >= most)
		return;
	sdp_rx_collect(ssk, rb->size, min(SDP_RCVBUF_UNREAD - rb->fit,
					  most - rb->total), &list);
	sdp_rx_add(ssk, &list);
}

/**
 * sdp_rx_grow() - get more or larger receive buffers
 * @work: a connection's work item, which holds the socket
 *
 * Context: process context, where memory can be waited for.
 */
void sdp_rx_grow(struct work_struct *work)
{
	struct sdp_sock *ssk = container_of(work, struct sdp_sock, conn.grow);
	struct sdp_rcvbuf *rb = &ssk->conn.rx.rb;
	struct sock *sk = &ssk->sk;
	struct mem_cgroup *old;
	bool grown;

	sdp_lock_sock(sk);
	old = sdp_mem_account_begin(sk);
	if (rb->growing && sdp_rx_may_post(&ssk->conn)) {
		grown = sdp_rx_ring_alloc(ssk) || sdp_rx_grow_size(ssk) ||
			sdp_rx_grow_number(ssk);
		SDP_INC_STATS(sock_net(sk), grown ? SDP_MIB_RCVBUFGROWS :
						    SDP_MIB_RCVBUFREFUSALS);
	}
	sdp_mem_account_end(old);
	WRITE_ONCE(rb->growing, false);
	sdp_rx_relieve_later(ssk);
	/* Those who waited for more than fits have waited in vain. */
	if (sdp_rx_readable(sk))
		sk->sk_data_ready(sk);
	sdp_tx_push(ssk);
	sdp_release_sock(sk);
	sock_put(sk);
}

static void sdp_rx_start_growth(struct sdp_sock *ssk)
{
	struct sdp_rcvbuf *rb = &ssk->conn.rx.rb;

	if (sdp_mem_pressure(&ssk->sk)) {
		SDP_INC_STATS(sock_net(&ssk->sk), SDP_MIB_RCVBUFREFUSALS);
		return;
	}
	WRITE_ONCE(rb->growing, true);
	sdp_conn_grow(ssk);
}

/*
 * Whether growth is worth the attempt.  A ring takes the place of everything
 * else; until there is one @more says whether buffers may be more, or larger.
 */
static bool sdp_rx_may_grow(const struct sdp_sock *ssk, bool more)
{
	const struct sdp_rx *rx = &ssk->conn.rx;

	return !rx->rb.growing && !rx->ring.mr && (rx->ring.wanted || more);
}

/**
 * sdp_rx_exhausted() - see whether the peer can go on
 * @ssk: locked socket (by its owner or in softirq), a message has come
 *
 * A peer that has no credits for data left gets more, if there may be more; if
 * not, it is looked after when the program has had time to read.
 */
void sdp_rx_exhausted(struct sdp_sock *ssk)
{
	const struct sdp_rcvbuf *rb = &ssk->conn.rx.rb;

	if (ssk->conn.credit.rx_advertised >= SDP_PEER_BUFS_MIN)
		return;
	if (sdp_rx_may_grow(ssk, sdp_rcvbuf_more(rb, sdp_rx_limit(ssk))))
		sdp_rx_start_growth(ssk);
	sdp_rx_relieve_later(ssk);
}

/**
 * sdp_rx_asked() - the peer asks for larger buffers (ChRcvBuf)
 * @ssk: locked socket (by its owner or in softirq)
 * @wish: payload bytes
 *
 * Return: 0 or -EPROTO.
 */
int sdp_rx_asked(struct sdp_sock *ssk, u32 wish)
{
	struct sdp_rcvbuf *rb = &ssk->conn.rx.rb;
	int err = sdp_rcvbuf_asked(rb, wish);

	if (!err &&
	    sdp_rx_may_grow(ssk, sdp_rcvbuf_larger(rb, sdp_rx_limit(ssk)) >
				 rb->size))
		sdp_rx_start_growth(ssk);
	return err;
}

/**
 * sdp_rx_unmap() - end the device's access to the receive buffers
 * @ssk: locked socket whose queue pair is gone
 *
 * Frees all buffers but those with unread data, which the program may still
 * read after the connection ended.
 *
 * Context: process context.
 */
void sdp_rx_unmap(struct sdp_sock *ssk)
{
	struct sdp_rx *rx = &ssk->conn.rx;
	struct sdp_rx_buf *buf;
	u32 i;

	sdp_rx_ring_unmap(ssk);
	for (i = 0; i < rx->first.count; i++) {
		buf = &rx->first.bufs[i];
		if (!buf->page)
			continue;
		sdp_rx_unmap_buf(ssk, buf);
		if (list_empty(&buf->list))
			sdp_rx_free_buf(ssk, buf);
	}
	sdp_rx_slots_unmap(ssk, &rx->first);
	kvfree(rx->posted);
	rx->posted = NULL;
}

/**
 * sdp_rx_purge() - drop unread data and the last memory of the receive side
 * @ssk: socket without connection, locked or known to nobody else
 */
void sdp_rx_purge(struct sdp_sock *ssk)
{
	struct sdp_rx *rx = &ssk->conn.rx;
	u32 i;

	for (i = 0; i < rx->first.count; i++)
		if (rx->first.bufs[i].page)
			sdp_rx_free_buf(ssk, &rx->first.bufs[i]);
	/* The list of those without memory goes through both. */
	sdp_rx_ring_purge(ssk);
	sdp_rx_slots_free(&rx->first);
	memset(rx, 0, sizeof(*rx));
	INIT_LIST_HEAD(&rx->queue);
	INIT_LIST_HEAD(&rx->unused);
}
