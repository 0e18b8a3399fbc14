// SPDX-License-Identifier: GPL-2.0
/*
 * Room for a peer whose data is not read.
 *
 * A message takes a buffer, however short it is, so that a few short ones take them
 * all.  A reader releases the buffers.  But one that waits for more to come before it
 * reads (SO_RCVLOWAT, MSG_PEEK, FIONREAD) would wait for ever; for it payloads are
 * packed, so that all buffers but one are full, and the others are posted again.
 *
 * A byte moves twice at most: into a buffer that is full afterwards, or to the start of
 * its own, which is filled next.  Nothing of this happens as long as user space reads.
 */
#include "stream.h"

/* If nothing is read for so long, user space does not read. */
#define SDP_RX_PATIENCE		(HZ / 100)

static u32 sdp_rx_tail_room(const struct sdp_rx_buf *buf)
{
	return buf->size - buf->off - buf->len;
}

/*
 * Moves what fits to the buffer before, which the device does not write to.
 * As in a ring, arrivals may share a time, the latest.
 */
static void sdp_rx_pack_pair(struct sdp_stream *st, struct sdp_rx_buf *to,
			     struct sdp_rx_buf *from)
{
	u32 len = min(sdp_rx_tail_room(to), from->len);

	if (!len)
		return;
	memcpy(page_address(to->page) + to->off + to->len,
	       page_address(from->page) + from->off, len);
	to->len += len;
	to->stamp = from->stamp;
	from->off += len;
	from->len -= len;
	if (from->len) {
		/* Room is only behind what is there. */
		memmove(page_address(from->page),
			page_address(from->page) + from->off, from->len);
		from->off = 0;
		return;
	}
	list_del_init(&from->list);
	sdp_rx_recycle(st, from);
}

/**
 * sdp_rx_pack_last() - a payload has come that no reader is about to take
 * @st: stream of a locked socket (by its owner or in softirq) with unread data
 *
 * It is moved as a whole or not at all: no time is spent on what frees nothing.
 */
void sdp_rx_pack_last(struct sdp_stream *st)
{
	struct list_head *queue = &st->rx.queue;
	struct sdp_rx_buf *last, *before;

	sdp_owned(st->sk);
	if (list_empty(queue) || list_is_singular(queue))
		return;
	last = list_last_entry(queue, struct sdp_rx_buf, list);
	before = list_prev_entry(last, list);
	if (last->len <= sdp_rx_tail_room(before))
		sdp_rx_pack_pair(st, before, last);
}

static void sdp_rx_pack(struct sdp_stream *st)
{
	struct sdp_rx_buf *buf, *next, *to = NULL;

	list_for_each_entry_safe(buf, next, &st->rx.queue, list) {
		if (to)
			sdp_rx_pack_pair(st, to, buf);
		if (buf->len)
			to = buf;
	}
}

static bool sdp_rx_may_pack(const struct sdp_stream *st)
{
	return sdp_rx_may_post(st) && !st->rx.ring.pos.size;
}

/**
 * sdp_rx_relieve_later() - the peer may wait: check later whether user space reads
 * @st: stream of a locked socket (by its owner or in softirq)
 */
void sdp_rx_relieve_later(struct sdp_stream *st)
{
	struct sdp_rx *rx = &st->rx;

	sdp_owned(st->sk);
	if (rx->relief || rx->rb.growing || !sdp_rx_may_pack(st) ||
	    st->credit.rx_advertised >= SDP_PEER_BUFS_MIN)
		return;
	if (rx->packing && sdp_credit_want_relief(&st->credit)) {
		st->tx.empty_due = true;
		return;
	}
	WRITE_ONCE(rx->relief, true);
	rx->relief_copied = rx->copied;
	sdp_timer_arm(st->sk, SDP_TIMER_RELIEF, SDP_RX_PATIENCE);
}

static void sdp_rx_make_room(struct sdp_stream *st)
{
	st->rx.packing = true;
	sdp_rx_pack(st);
	if (!sdp_credit_want_relief(&st->credit))
		sdp_rx_add_spare(st);
	if (!sdp_credit_want_relief(&st->credit))
		return;
	st->tx.empty_due = true;
}

/**
 * sdp_rx_relieve() - the peer has waited, and user space had time to read
 * @st: stream of a locked socket
 *
 * Context: process context, may sleep for memory.
 * Return: whether it is about to have room, as far as there is any to be made: the
 * caller pushes, and checks for readers that wait for more data than there can be.
 */
bool sdp_rx_relieve(struct sdp_stream *st)
{
	struct sdp_rx *rx = &st->rx;

	sdp_owned(st->sk);
	if (!rx->relief)
		return false;
	WRITE_ONCE(rx->relief, false);
	if (!sdp_rx_may_pack(st) ||
	    st->credit.rx_advertised >= SDP_PEER_BUFS_MIN)
		return false;
	if (rx->copied != rx->relief_copied) {
		sdp_rx_relieve_later(st);
		return false;
	}
	sdp_rx_make_room(st);
	return true;
}

/**
 * sdp_rx_was_read() - user space has read
 * @st: stream of a locked socket
 */
void sdp_rx_was_read(struct sdp_stream *st)
{
	sdp_owned(st->sk);
	st->rx.packing = false;
	sdp_rx_relieve_later(st);
}
