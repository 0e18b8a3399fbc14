// SPDX-License-Identifier: GPL-2.0
/*
 * What has arrived and was not read: its first bytes are copied and taken.
 */
#include <linux/net.h>
#include <linux/uio.h>

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
 * @st: stream of a locked socket (by its owner or in softirq)
 * @buf: that buffer, which is not unread any more if these were its last bytes
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

static void sdp_recv_consume_ring(struct sdp_stream *st, u32 len)
{
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

/*
 * Copies contiguous bytes: to the mark, if it is among them, and not
 * from it on once something was read.  Returns how many bytes were passed, an
 * urgent one that is left out included; 0 at the mark; or -EFAULT if the
 * memory of user space is not there.
 */
static int sdp_recv_piece(struct sdp_stream *st, struct sdp_read *rd,
			  const void *from, u32 len)
{
	u32 ahead = sdp_oob_ahead(st, rd->pos);
	size_t copied;

	if (likely(ahead)) {
		len = min(len, ahead);
	} else if (rd->done) {
		return 0;
	} else if (!sock_flag(st->sk, SOCK_URGINLINE)) {
		rd->pos++;
		return 1;
	}
	len = min_t(size_t, len, rd->left);
	copied = len;
	if (!rd->discard)
		copied = sdp_copy_out(from, len, &rd->msg->msg_iter);
	if (!copied) {
		rd->missing = len;
		return -EFAULT;
	}
	rd->left -= copied;
	rd->done += copied;
	rd->pos += copied;
	return copied;
}

/*
 * Between two pieces of a long read: the peer learns of the space that there is.  Not at
 * the mark, which a message may take away, nor while a peeker counts what it has seen.
 */
static void sdp_recv_go_on(struct sdp_stream *st, const struct sdp_read *rd)
{
	if (rd->left && !rd->peek && sdp_oob_ahead(st, rd->pos))
		sdp_stream_catch_up(st);
}

/*
 * Reads from the ring, from its unread byte @at on; returns as
 * sdp_recv_piece().
 */
static int sdp_recv_ring(struct sdp_stream *st, struct sdp_read *rd, u32 at)
{
	u32 turns = SDP_CATCH_UPS;
	const void *from;
	int ret = 1;
	u32 len;

	while (rd->left) {
		len = sdp_rx_ring_peek(st, at, &from);
		if (!len)
			break;
		ret = sdp_recv_piece(st, rd, from, len);
		if (ret <= 0)
			break;
		rd->stamp = sdp_rx_ring_time(st, at + ret - 1);
		if (rd->peek)
			at += ret;
		else
			sdp_recv_consume_ring(st, ret);
		if (turns && turns--)
			sdp_recv_go_on(st, rd);
	}
	return ret;
}

/* Reads from one buffer, from offset @at on; returns as sdp_recv_piece(). */
static int sdp_recv_buf(struct sdp_stream *st, struct sdp_read *rd,
			struct sdp_rx_buf *buf, u32 at)
{
	const u8 *payload = page_address(buf->page) + buf->off;
	int ret = 1;

	while (ret > 0 && rd->left && at < buf->len) {
		ret = sdp_recv_piece(st, rd, payload + at, buf->len - at);
		at += max(ret, 0);
	}
	rd->stamp = buf->stamp;
	if (!rd->peek && at)
		sdp_recv_consume(st, buf, at);
	return ret;
}

/**
 * sdp_recv_queue() - read what is there, without waiting
 * @st: stream of a locked socket
 * @rd: the read
 *
 * It reads to the mark, if that is among the bytes, and not from it on once something
 * was read.
 *
 * Return: 1, or 0 at the mark; -EFAULT if the next @rd->missing bytes of the memory that
 * is read to are not there, see sdp_fault_in().
 */
int sdp_recv_queue(struct sdp_stream *st, struct sdp_read *rd)
{
	struct sdp_rx *rx = &st->rx;
	struct sdp_rx_buf *buf, *next;
	u32 skip = rd->offset;
	int ret = 1;

	sdp_owned(st->sk);
	rd->pos = rx->copied + skip;
	list_for_each_entry_safe(buf, next, &rx->queue, list) {
		if (ret <= 0 || !rd->left)
			break;
		if (skip >= buf->len) {
			skip -= buf->len;
			continue;
		}
		ret = sdp_recv_buf(st, rd, buf, skip);
		skip = 0;
	}
	if (ret > 0 && rd->left && rx->ring.pos.size)
		ret = sdp_recv_ring(st, rd, skip);
	return ret;
}

/* What such a read may ask for; it does not matter whether it would wait. */
#define SDP_RECV_FAST	(MSG_DONTWAIT | MSG_WAITALL | MSG_NOSIGNAL)

/**
 * sdp_recv_fast() - the fast path of small reads
 * @st: stream of a locked socket
 * @msg: where to put the bytes
 * @len: bytes wanted
 * @flags: MSG_*
 *
 * What all but the first of many small reads come to: the bytes are contiguous in
 * the ring, and nothing but them is asked for.
 *
 * Return: whether they were read; if not, nothing has happened.
 */
bool sdp_recv_fast(struct sdp_stream *st, struct msghdr *msg, size_t len, int flags)
{
	struct sdp_rx *rx = &st->rx;
	const void *from;

	sdp_owned(st->sk);
	if ((flags & ~SDP_RECV_FAST) || !list_empty(&rx->queue) ||
	    rx->oob.data || rx->ring.stamp_head != rx->ring.stamp_tail ||
	    msg->msg_get_inq || sdp_tx_stalled(&st->tx) || !len || st->read_turn ||
	    sdp_rx_ring_peek(st, 0, &from) < len ||
	    !user_backed_iter(&msg->msg_iter) ||
	    !sdp_copy_out(from, len, &msg->msg_iter))
		return false;
	sdp_recv_consume_ring(st, len);
	return true;
}
