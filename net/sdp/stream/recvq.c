// SPDX-License-Identifier: GPL-2.0
/*
 * What has arrived and was not read: its first bytes are taken.
 */
#include "stream.h"

static void sdp_recv_advance(struct sdp_stream *st, u32 len)
{
	struct sdp_rx *rx = &st->rx;

	WRITE_ONCE(rx->bytes, rx->bytes - len);
	WRITE_ONCE(rx->copied, rx->copied + len);
	sdp_oob_passed(st);
}

/**
 * sdp_recv_consume() - take bytes out of the first buffer of the queue
 * @st: stream of a locked socket
 * @buf: that buffer, which may be gone afterwards
 * @len: bytes, not more than it has
 */
void sdp_recv_consume(struct sdp_stream *st, struct sdp_rx_buf *buf, u32 len)
{
	sdp_owned(st->sk);
	buf->off += len;
	buf->len -= len;
	sdp_recv_advance(st, len);
	if (buf->len)
		return;
	list_del_init(&buf->list);
	sdp_rx_recycle(st, buf);
}

/**
 * sdp_recv_consume_ring() - take bytes out of the receive ring
 * @st: stream of a locked socket
 * @len: bytes, not more than it has
 */
void sdp_recv_consume_ring(struct sdp_stream *st, u32 len)
{
	sdp_owned(st->sk);
	sdp_recv_advance(st, len);
	sdp_rx_ring_read(st, len);
}

/**
 * sdp_recv_drop_first() - take the first unread byte away
 * @st: stream of a locked socket (by its owner or in softirq) with unread data
 */
void sdp_recv_drop_first(struct sdp_stream *st)
{
	struct sdp_rx *rx = &st->rx;

	sdp_owned(st->sk);
	if (list_empty(&rx->queue))
		sdp_recv_consume_ring(st, 1);
	else
		sdp_recv_consume(st, list_first_entry(&rx->queue, struct sdp_rx_buf, list), 1);
}
