// SPDX-License-Identifier: GPL-2.0
/*
 * The receive side of the copy path (BSDP): posted buffers, their completions,
 * and what each message means.
 */
#include <linux/slab.h>

#include "conn.h"
#include "device.h"
#include "mib.h"
#include "netns.h"
#include "rx.h"
#include "sock.h"
#include "tx.h"

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

/**
 * sdp_rx_done() - completion of a receive work request
 * @cq: completion queue
 * @wc: work completion
 *
 * Context: softirq, without the socket lock.  Notes the length; all else
 * happens in sdp_rx_reap().
 */
void sdp_rx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct sdp_conn *conn = container_of(wc->wr_cqe, struct sdp_conn,
					     rx_cqe);
	struct sdp_sock *ssk = container_of(conn, struct sdp_sock, conn);
	struct sdp_rx *rx = &conn->rx;

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		sdp_conn_wc_error(ssk, wc);
		return;
	}
	rx->posted[rx->done & rx->mask]->byte_len = wc->byte_len;
	/* Pairs with the acquire in sdp_rx_reap(). */
	smp_store_release(&rx->done, rx->done + 1);
	sdp_conn_kick(ssk);
}

/**
 * sdp_rx_readable() - whether a read would not have to wait
 * @sk: socket, locked or not
 *
 * SO_RCVLOWAT cannot be waited for once small messages hold all buffers: the
 * peer has no credits to send more.
 */
bool sdp_rx_readable(const struct sock *sk)
{
	const struct sdp_conn *conn = &sdp_sk(sk)->conn;
	u32 bytes = READ_ONCE(conn->rx.bytes);

	return bytes && (bytes >= sock_rcvlowat(sk, 0, INT_MAX) ||
			 READ_ONCE(conn->credit.rx_advertised) <
				SDP_PEER_BUFS_MIN);
}

/* Nobody will read this: as TCP does, reset rather than pretend. */
static bool sdp_rx_unwanted(const struct sock *sk)
{
	return sock_flag(sk, SOCK_DEAD) ||
	       ((sk->sk_shutdown & RCV_SHUTDOWN) &&
		sdp_in_state(sk, TCPF_FIN_WAIT1 | TCPF_FIN_WAIT2));
}

static void sdp_rx_data(struct sdp_sock *ssk, struct sdp_rx_buf *buf,
			const struct sdp_msg *msg)
{
	struct sdp_rx *rx = &ssk->conn.rx;
	struct sock *sk = &ssk->sk;

	if (!msg->payload_len) {
		sdp_rx_recycle(ssk, buf);
		return;
	}
	if (sdp_rx_unwanted(sk)) {
		sdp_conn_end(ssk, -ECONNABORTED);
		return;
	}
	buf->off = msg->payload_off;
	buf->len = msg->payload_len;
	list_add_tail(&buf->list, &rx->queue);
	WRITE_ONCE(rx->bytes, rx->bytes + buf->len);
	SDP_INC_STATS(sock_net(sk), SDP_MIB_DATAIN);
	if (sdp_rx_readable(sk))
		sk->sk_data_ready(sk);
}

/* Acts on one well-formed message. */
static int sdp_rx_dispatch(struct sdp_sock *ssk, struct sdp_rx_buf *buf,
			   const struct sdp_msg *msg)
{
	switch (msg->bsdh.mid) {
	case SDP_MID_DATA:
		if (msg->payload_len && ssk->fin_received)
			return -EPROTO;
		sdp_rx_data(ssk, buf, msg);
		return 0;
	case SDP_MID_DISCONN:
		if (ssk->fin_received)
			return -EPROTO;
		sdp_rx_recycle(ssk, buf);
		sdp_sock_fin_received(ssk);
		return 0;
	case SDP_MID_ABORTCONN:
		return -ECONNRESET;
	default:
		/* Buffered mode offers nothing that allows any other. */
		return -EPROTO;
	}
}

static int sdp_rx_message(struct sdp_sock *ssk, struct sdp_rx_buf *buf)
{
	struct sdp_conn *conn = &ssk->conn;
	struct sdp_msg msg;
	int err;

	ib_dma_sync_single_for_cpu(conn->dev->ibdev, buf->bsdh_dma,
				   SDP_BSDH_LEN, DMA_FROM_DEVICE);
	ib_dma_sync_single_for_cpu(conn->dev->ibdev, buf->page_dma,
				   conn->rx.buf_size, DMA_FROM_DEVICE);
	if (buf->byte_len < SDP_BSDH_LEN)
		return -EPROTO;
	err = sdp_msg_parse(buf->bsdh, page_address(buf->page),
			    buf->byte_len - SDP_BSDH_LEN, &msg);
	if (!err)
		err = sdp_credit_receive(&conn->credit, &msg.bsdh);
	if (!err)
		err = sdp_rx_dispatch(ssk, buf, &msg);
	if (err == -EPROTO)
		SDP_INC_STATS(sock_net(&ssk->sk), SDP_MIB_PROTOCOLERRORS);
	return err;
}

/**
 * sdp_rx_reap() - process the messages that have arrived
 * @ssk: locked socket (by its owner or in softirq)
 *
 * A message that violates the protocol ends the connection, and nothing behind
 * it is looked at.
 */
void sdp_rx_reap(struct sdp_sock *ssk)
{
	struct sdp_rx *rx = &ssk->conn.rx;
	/* Pairs with the release in sdp_rx_done(). */
	u32 done = smp_load_acquire(&rx->done);
	int err;

	while (rx->seen != done && !ssk->conn.rx_closed) {
		err = sdp_rx_message(ssk, rx->posted[rx->seen++ & rx->mask]);
		if (err) {
			ssk->conn.rx_closed = true;
			sdp_conn_end(ssk, err);
		}
	}
}
