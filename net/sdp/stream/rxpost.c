// SPDX-License-Identifier: GPL-2.0
/*
 * How receive buffers are posted: in lists, so that the device's doorbell rings once for
 * all that a call has read, or a batch of completions has used.
 */
#include <linux/error-injection.h>

#include "stream.h"

/* Requests in a list: they are on the stack, which the compiler clears. */
#define SDP_RX_GIVE	4U

/**
 * sdp_rx_post() - post a receive buffer
 * @st: stream of a locked socket (by its owner or in softirq) with a queue pair
 * @buf: buffer, on no list; one without payload memory takes headers only
 *
 * The device has it when sdp_rx_settle() was called; only then is the peer told of it.
 */
void sdp_rx_post(struct sdp_stream *st, struct sdp_rx_buf *buf)
{
	struct sdp_rx *rx = &st->rx;

	sdp_owned(st->sk);
	rx->posted[rx->post_head++ & rx->mask] = buf;
	if (buf->page)
		sdp_rcvbuf_posted(&rx->rb, buf->size);
}

/* The request that hands a buffer over. */
static void sdp_rx_build(struct sdp_stream *st, const struct sdp_rx_buf *buf,
			 struct ib_recv_wr *wr, struct ib_sge *sge)
{
	*wr = (struct ib_recv_wr){
		.wr_cqe = &st->rx_cqe,
		.sg_list = sge,
		.num_sge = 1,
	};
	sge[0] = (struct ib_sge){
		.addr = buf->bsdh_dma,
		.length = SDP_MSG_HDR_MAX,
		.lkey = st->link->pd->local_dma_lkey,
	};
	if (!buf->page)
		return;
	wr->num_sge = SDP_RX_SGE;
	sge[0].length = SDP_BSDH_LEN;
	sge[1] = (struct ib_sge){
		.addr = buf->page_dma,
		.length = buf->size,
		.lkey = st->link->pd->local_dma_lkey,
	};
	ib_dma_sync_single_for_device(st->link->dev->ibdev, buf->page_dma, buf->size,
				      DMA_FROM_DEVICE);
}

/* A list of them, which rings the device's doorbell once. */
static noinline int sdp_rx_give_list(struct sdp_stream *st)
{
	struct sdp_rx *rx = &st->rx;
	u32 n = min(rx->post_head - rx->given, SDP_RX_GIVE);
	struct ib_sge sge[SDP_RX_GIVE][SDP_RX_SGE];
	struct ib_recv_wr wr[SDP_RX_GIVE];
	u32 i;

	for (i = 0; i < n; i++) {
		sdp_rx_build(st, rx->posted[rx->given++ & rx->mask], &wr[i], sge[i]);
		if (i)
			wr[i - 1].next = &wr[i];
	}
	return ib_post_recv(st->link->qp, wr, NULL);
}
ALLOW_ERROR_INJECTION(sdp_rx_give_list, ERRNO);

/*
 * Whoever posts buffers does so for several at once, at the end of a call or of a batch
 * of completions, and before the peer is told of any.
 */
static int sdp_rx_give(struct sdp_stream *st)
{
	int err = 0;

	sdp_owned(st->sk);
	if (sdp_link_is_local(st->link)) {
		/* Pairs with the acquire in sdp_local_buf(). */
		smp_store_release(&st->rx.given, st->rx.post_head);
		return 0;
	}
	while (!err && st->rx.given != st->rx.post_head)
		err = sdp_rx_give_list(st);
	return err;
}

/**
 * sdp_rx_give_or_end() - give the device what was posted, or end the connection
 * @st: stream of a locked socket (by its owner or in softirq), see sdp_rx_settle()
 */
void sdp_rx_give_or_end(struct sdp_stream *st)
{
	if (sdp_rx_may_post(st) && sdp_rx_give(st))
		sdp_link_end(st->link, -ECONNRESET);
}

/**
 * sdp_rx_post_all() - give the first receive buffers to the queue pair
 * @st: stream of a locked socket with a queue pair in state INIT
 *
 * User space may have the socket already, and whatever it asks for looks for buffers that
 * were posted.
 *
 * Return: 0 or the provider's errno.
 */
int sdp_rx_post_all(struct sdp_stream *st)
{
	struct sdp_rx *rx = &st->rx;
	u32 i;

	for (i = 0; i < rx->rb.total; i++)
		sdp_rx_post(st, &rx->first.bufs[i]);
	return sdp_rx_give(st);
}

/**
 * sdp_rx_may_post() - whether the device takes receive buffers
 * @st: connection of a locked socket
 */
bool sdp_rx_may_post(const struct sdp_stream *st)
{
	sdp_owned(st->sk);
	return st->link->qp && !test_bit(SDP_CONN_BROKEN, &st->link->flags);
}
