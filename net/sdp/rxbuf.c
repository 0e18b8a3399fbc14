// SPDX-License-Identifier: GPL-2.0
/*
 * Receive buffers: their memory, and how they are posted.
 */
#include <linux/slab.h>

#include "conn.h"
#include "device.h"
#include "netns.h"
#include "rx.h"
#include "sock.h"

static void sdp_rx_free_buf(struct sdp_rx *rx, struct sdp_rx_buf *buf)
{
	if (buf->page)
		__free_pages(buf->page, get_order(rx->buf_size));
	buf->page = NULL;
}

static int sdp_rx_alloc_buf(struct sdp_sock *ssk, u32 i)
{
	struct ib_device *ibdev = ssk->conn.dev->ibdev;
	struct sdp_rx *rx = &ssk->conn.rx;
	struct sdp_rx_buf *buf = &rx->bufs[i];

	INIT_LIST_HEAD(&buf->list);
	buf->bsdh = rx->bsdh + i * SDP_BSDH_LEN;
	buf->bsdh_dma = rx->bsdh_dma + i * SDP_BSDH_LEN;
	buf->page = alloc_pages(GFP_KERNEL | __GFP_NOWARN | __GFP_COMP,
				get_order(rx->buf_size));
	if (!buf->page)
		return -ENOMEM;
	buf->page_dma = ib_dma_map_page(ibdev, buf->page, 0, rx->buf_size,
					DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(ibdev, buf->page_dma)) {
		sdp_rx_free_buf(rx, buf);
		return -ENOMEM;
	}
	return 0;
}

static int sdp_rx_alloc_bufs(struct sdp_sock *ssk)
{
	int err = 0;
	u32 i;

	for (i = 0; !err && i < ssk->conn.rx.nr_bufs; i++)
		err = sdp_rx_alloc_buf(ssk, i);
	return err;
}

/* Ends the device's access, and frees what holds no unread data. */
static void sdp_rx_free_bufs(struct sdp_sock *ssk)
{
	struct sdp_rx *rx = &ssk->conn.rx;
	struct sdp_rx_buf *buf;
	u32 i;

	for (i = 0; rx->bufs && i < rx->nr_bufs; i++) {
		buf = &rx->bufs[i];
		if (!buf->page)
			continue;
		ib_dma_unmap_page(ssk->conn.dev->ibdev, buf->page_dma,
				  rx->buf_size, DMA_FROM_DEVICE);
		if (list_empty(&buf->list))
			sdp_rx_free_buf(rx, buf);
	}
}

static int sdp_rx_alloc_tables(struct sdp_sock *ssk)
{
	struct ib_device *ibdev = ssk->conn.dev->ibdev;
	struct sdp_rx *rx = &ssk->conn.rx;
	u32 slots = roundup_pow_of_two(rx->nr_bufs);

	rx->mask = slots - 1;
	rx->bufs = kcalloc(rx->nr_bufs, sizeof(*rx->bufs), GFP_KERNEL);
	rx->posted = kcalloc(slots, sizeof(*rx->posted), GFP_KERNEL);
	rx->bsdh = kcalloc(rx->nr_bufs, SDP_BSDH_LEN, GFP_KERNEL);
	if (!rx->bufs || !rx->posted || !rx->bsdh)
		return -ENOMEM;
	rx->bsdh_dma = ib_dma_map_single(ibdev, rx->bsdh,
					 rx->nr_bufs * SDP_BSDH_LEN,
					 DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(ibdev, rx->bsdh_dma)) {
		kfree(rx->bsdh);
		rx->bsdh = NULL;
		return -ENOMEM;
	}
	return 0;
}

/**
 * sdp_rx_init() - allocate the receive buffers of a connection
 * @ssk: socket whose device is known; the number of buffers and their size
 *	are set in its rx; the size is halved until memory suffices
 *
 * Context: process context, may sleep.
 * Return: 0 or -ENOMEM; sdp_rx_unmap() and sdp_rx_purge() clean up in both
 * cases.
 */
int sdp_rx_init(struct sdp_sock *ssk)
{
	struct sdp_rx *rx = &ssk->conn.rx;
	int err;

	err = sdp_rx_alloc_tables(ssk);
	/* Fragmented memory still has smaller pieces. */
	if (!err)
		err = sdp_rx_alloc_bufs(ssk);
	while (err == -ENOMEM && rx->bsdh &&
	       rx->buf_size > SDP_MIN_BUFFER_SIZE) {
		sdp_rx_free_bufs(ssk);
		rx->buf_size /= 2;
		err = sdp_rx_alloc_bufs(ssk);
	}
	return err;
}

static int sdp_rx_post(struct sdp_sock *ssk, struct sdp_rx_buf *buf)
{
	struct sdp_conn *conn = &ssk->conn;
	struct sdp_rx *rx = &conn->rx;
	struct ib_sge sge[SDP_RX_SGE] = {
		{
			.addr = buf->bsdh_dma,
			.length = SDP_BSDH_LEN,
			.lkey = conn->dev->pd->local_dma_lkey,
		}, {
			.addr = buf->page_dma,
			.length = rx->buf_size,
			.lkey = conn->dev->pd->local_dma_lkey,
		},
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &conn->rx_cqe,
		.sg_list = sge,
		.num_sge = SDP_RX_SGE,
	};

	ib_dma_sync_single_for_device(conn->dev->ibdev, buf->page_dma,
				      rx->buf_size, DMA_FROM_DEVICE);
	rx->posted[rx->post_head++ & rx->mask] = buf;
	return ib_post_recv(conn->qp, &wr, NULL);
}

/**
 * sdp_rx_post_all() - give all receive buffers to the queue pair
 * @ssk: socket with a queue pair in state INIT, known to nobody else yet
 *
 * Return: 0 or the provider's errno.
 */
int sdp_rx_post_all(struct sdp_sock *ssk)
{
	struct sdp_rx *rx = &ssk->conn.rx;
	int err = 0;
	u32 i;

	for (i = 0; !err && i < rx->nr_bufs; i++)
		err = sdp_rx_post(ssk, &rx->bufs[i]);
	return err;
}

/**
 * sdp_rx_recycle() - post a buffer again whose payload was read
 * @ssk: locked socket (by its owner or in softirq)
 * @buf: buffer, on no list
 *
 * The peer learns of the new credit with the next message that flows.
 */
void sdp_rx_recycle(struct sdp_sock *ssk, struct sdp_rx_buf *buf)
{
	struct sdp_conn *conn = &ssk->conn;

	if (!conn->qp || test_bit(SDP_CONN_BROKEN, &conn->flags))
		return;
	if (sdp_rx_post(ssk, buf))
		sdp_conn_end(ssk, -ECONNRESET);
	else
		sdp_credit_posted(&conn->credit, 1);
}

/**
 * sdp_rx_unmap() - end the device's access to the receive buffers
 * @ssk: socket whose queue pair is gone
 *
 * Frees all buffers but those with unread data, which the program may still
 * read after the connection ended.
 *
 * Context: process context.
 */
void sdp_rx_unmap(struct sdp_sock *ssk)
{
	struct sdp_rx *rx = &ssk->conn.rx;

	sdp_rx_free_bufs(ssk);
	if (rx->bsdh)
		ib_dma_unmap_single(ssk->conn.dev->ibdev, rx->bsdh_dma,
				    rx->nr_bufs * SDP_BSDH_LEN,
				    DMA_FROM_DEVICE);
	kfree(rx->bsdh);
	kfree(rx->posted);
	rx->bsdh = NULL;
	rx->posted = NULL;
}

/**
 * sdp_rx_purge() - drop unread data and the last memory of the receive side
 * @ssk: socket without connection
 */
void sdp_rx_purge(struct sdp_sock *ssk)
{
	struct sdp_rx *rx = &ssk->conn.rx;
	u32 i;

	for (i = 0; rx->bufs && i < rx->nr_bufs; i++)
		sdp_rx_free_buf(rx, &rx->bufs[i]);
	kfree(rx->bufs);
	memset(rx, 0, sizeof(*rx));
	INIT_LIST_HEAD(&rx->queue);
}
