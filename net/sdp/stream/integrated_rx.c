// SPDX-License-Identifier: GPL-2.0
/*
 * Integrated buffering at the receiver: a provider that has what arrives in a queue of its
 * own copies it to where the program wants it, and the receive buffer is left out (Sockets
 * Direct Protocol for hybrid network stacks, section 4.1).
 *
 * Messages, credits and buffers are what they would be without this; only the payload is
 * elsewhere.  What is placed of a message before all of it has come is ahead of what the
 * stream knows.  Into a ring the peer writes before it says what: that stays as it is.
 */
#include <linux/jiffies.h>
#include <linux/net.h>
#include <linux/uio.h>

#include "stream.h"

/* A program that polls is told of what has arrived when it arrives. */
#define SDP_INTEGRATED_PAUSE	(HZ / 10)

/**
 * sdp_integrated_end() - have the provider leave nothing to us any more
 * @st: stream of a locked socket
 *
 * For calls other than reads: what arrives is to be known.
 *
 * Context: process context, softirqs enabled.
 */
void sdp_integrated_end(struct sdp_stream *st)
{
	struct sdp_link *link = st->link;

	sdp_owned(st->sk);
	if (sdp_rx_may_post(st))
		link->dev->ulp->set_watermarks(link->qp, 0, NULL);
	clear_bit(SDP_CONN_LEAVING, &link->flags);
	clear_bit(SDP_CONN_ARRIVING, &link->flags);
	sdp_stream_catch_up(st);
}

/**
 * sdp_integrated_pause() - the program polls, and is to be told what is there
 * @st: stream of a socket that is not locked
 *
 * Context: process context.
 */
void sdp_integrated_pause(struct sdp_stream *st)
{
	sdp_lock_sock(st->sk);
	st->rx.ahead.pause = jiffies + SDP_INTEGRATED_PAUSE;
	sdp_integrated_pull(st);
	sdp_release_sock(st->sk);
}

/* Has the provider leave to us what arrives from now on. */
static bool sdp_integrated_leave(struct sdp_stream *st)
{
	struct sdp_link *link = st->link;

	if (time_before(jiffies, st->rx.ahead.pause))
		return false;
	if (link->dev->ulp->set_watermarks(link->qp, 1, link->ops->arriving)) {
		link->iter_min = 0;
		sdp_integrated_end(st);
		return false;
	}
	set_bit(SDP_CONN_LEAVING, &link->flags);
	return true;
}

/*
 * Whether what comes next may go to the program's memory: all that came before was read, and
 * what comes is long.
 */
static bool sdp_integrated_fits(const struct sdp_stream *st, const struct sdp_read *rd)
{
	const struct sdp_link *link = st->link;
	const struct sdp_rx *rx = &st->rx;

	return (rd->done + rd->left >= link->iter_min ||
		test_bit(SDP_CONN_LEAVING, &link->flags)) &&
	       rx->ahead.last >= link->iter_min && !rd->peek && !rd->discard &&
	       user_backed_iter(&rd->msg->msg_iter) && !rx->bytes && !rx->oob.data &&
	       !rx->ring.pos.size && !sdp_timestamp_now(st->sk) && !st->fin_received &&
	       !(st->sk->sk_shutdown & RCV_SHUTDOWN) && sdp_rx_may_post(st);
}

/**
 * sdp_integrated_expect() - a read has found in the queue all that it wanted
 * @st: stream of a locked socket
 * @rd: the read
 * @wait: it would have waited
 *
 * So may the next one, if what it reads comes in between; that is to wait for it.
 *
 * Context: process context, softirqs enabled.
 */
void sdp_integrated_expect(struct sdp_stream *st, const struct sdp_read *rd, bool wait)
{
	sdp_owned(st->sk);
	if (wait && sdp_integrated_fits(st, rd))
		sdp_integrated_leave(st);
}

/* Of data that is not urgent the program may have a part before the rest has come. */
static bool sdp_integrated_accept(const void *header)
{
	struct sdp_bsdh bsdh;

	sdp_bsdh_decode(header, &bsdh);
	return bsdh.mid == SDP_MID_DATA && !(bsdh.flags & (SDP_OOB_PEND | SDP_OOB_PRES));
}

static u32 sdp_integrated_place(struct sdp_stream *st, struct sdp_read *rd)
{
	struct iw_ulp_recv recv = {
		.size = sizeof(recv),
		.received = st->rx.seen,
		.len = min_t(size_t, rd->left, INT_MAX),
		.header = SDP_BSDH_LEN,
		.accept = sdp_integrated_accept,
	};

	clear_bit(SDP_CONN_ARRIVING, &st->link->flags);
	return st->link->dev->ulp->recv_iter(st->link->qp, &recv, &rd->msg->msg_iter);
}

/* What the program has: of the message that has come, or ahead of it. */
static void sdp_integrated_deliver(struct sdp_stream *st, struct sdp_read *rd, u32 placed)
{
	struct sdp_rx *rx = &st->rx;
	u32 len = min(placed, rx->bytes);

	if (len)
		sdp_recv_consume(st, list_first_entry(&rx->queue, struct sdp_rx_buf, list), len);
	rx->ahead.read += placed - len;
	WRITE_ONCE(rx->copied, rx->copied + placed - len);
	rd->left -= placed;
	rd->done += placed;
	rd->pos += placed;
	SDP_SOCK_ADD_STATS(st->sk, SDP_MIB_INTEGRATEDBYTESIN, placed);
}

/**
 * sdp_integrated_arrived() - a message has come of which something was read before
 * @st: stream of a locked socket (by its owner or in softirq)
 * @unread: bytes of the message, which is queued; less what was read
 *
 * Return: 0, or -EPROTO if it is another one.
 */
int sdp_integrated_arrived(struct sdp_stream *st, u32 *unread)
{
	struct sdp_rx *rx = &st->rx;
	u32 read = rx->ahead.read;
	struct sdp_rx_buf *buf;

	sdp_owned(st->sk);
	buf = list_first_entry_or_null(&rx->queue, struct sdp_rx_buf, list);
	if (!buf || buf->len < read)
		return -EPROTO;
	rx->ahead.read = 0;
	*unread -= read;
	buf->off += read;
	buf->len -= read;
	if (buf->len)
		return 0;
	list_del_init(&buf->list);
	sdp_rx_recycle(st, buf);
	return 0;
}

/**
 * sdp_integrated_read() - have the provider place what the program reads
 * @st: stream of a locked socket
 * @rd: the read
 * @wait: it may wait for what arrives
 *
 * Context: process context; does not wait for the program's memory.
 * Return: whether it is worth another attempt, as something was read, or more has arrived.
 */
bool sdp_integrated_read(struct sdp_stream *st, struct sdp_read *rd, bool wait)
{
	u32 placed;

	sdp_owned(st->sk);
	if (!rd->left)
		return false;
	if (!sdp_integrated_fits(st, rd) ||
	    (!test_bit(SDP_CONN_LEAVING, &st->link->flags) &&
	     (!wait || !sdp_integrated_leave(st)))) {
		sdp_integrated_pull(st);
		return false;
	}
	placed = sdp_integrated_place(st, rd);
	sdp_stream_catch_up(st);
	if (placed)
		sdp_integrated_deliver(st, rd, placed);
	return !st->rx.bytes && (placed || test_bit(SDP_CONN_ARRIVING, &st->link->flags));
}
