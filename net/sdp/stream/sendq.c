// SPDX-License-Identifier: GPL-2.0
/*
 * The send ring: what the program has written, and the messages into which it is
 * cut.
 */
#include <linux/jiffies.h>
#include <linux/socket.h>

#include "stream.h"

#define SDP_TX_RING_MIN		PAGE_SIZE
#define SDP_TX_RING_MAX		(16U * 1024 * 1024)
/* A program that has been quiet for so long begins a new burst. */
#define SDP_TX_QUIET_WRITER	(HZ / 100)

/**
 * sdp_tx_limit() - how many bytes may be in the send ring
 * @st: stream of a socket, locked or not
 *
 * Return: what SO_SNDBUF says now, within bounds.
 */
u32 sdp_tx_limit(const struct sdp_stream *st)
{
	return clamp_t(u32, READ_ONCE(st->sk->sk_sndbuf), SDP_TX_RING_MIN,
		       SDP_TX_RING_MAX);
}

/* Whether so many times what waits to be posted is less than the option. */
static bool sdp_tx_below_lowat(const struct sdp_stream *st, u32 times)
{
	u32 lowat = READ_ONCE(sdp_base(st->sk)->opt.notsent_lowat);
	u64 unsent = sdp_ring_unsent(&st->tx.ring);

	return !lowat || unsent * times < lowat;
}

/*
 * How many bytes a write could take now, without the lock a snapshot; 0 also when too
 * many messages wait already, when more bytes wait than TCP_NOTSENT_LOWAT says, or when
 * memory is short and what is in the ring has to leave first.
 */
static u32 sdp_tx_space(const struct sdp_stream *st)
{
	const struct sdp_tx *tx = &st->tx;
	u32 used = sdp_ring_used(&tx->ring);
	u32 limit = sdp_tx_limit(st);

	if (!READ_ONCE(tx->ring.size) ||
	    READ_ONCE(tx->wait_head) - READ_ONCE(tx->wait_tail) >=
			SDP_TX_DEPTH ||
	    (used && READ_ONCE(tx->starved)) || !sdp_tx_below_lowat(st, 1))
		return 0;
	return limit > used ? limit - used : 0;
}

/**
 * sdp_tx_has_room() - whether a writer who has waited for room should go on
 * @st: stream of a socket, locked or not
 * @left: bytes that it has
 *
 * One with much to say waits until a quarter of the ring is free: waking it for every
 * message would cost more than it gains.
 */
bool sdp_tx_has_room(const struct sdp_stream *st, size_t left)
{
	return sdp_tx_space(st) >= min_t(size_t, left, sdp_tx_limit(st) / 4);
}

/**
 * sdp_tx_writeable() - whether poll() should say that writing is worthwhile
 * @st: stream of a socket, locked or not
 *
 * As with TCP a third of the buffer must be free, so that a writer is not
 * woken for every byte, and less than half of TCP_NOTSENT_LOWAT be unsent.
 */
bool sdp_tx_writeable(const struct sdp_stream *st)
{
	u32 space = sdp_tx_space(st);

	return space && space >= sdp_tx_limit(st) / 3 &&
	       sdp_tx_below_lowat(st, 2);
}

/**
 * sdp_tx_want() - a message that is longer than the peer's buffers is worth a question
 * @st: stream of a locked socket
 * @len: bytes that it could have
 */
void sdp_tx_want(struct sdp_stream *st, u32 len)
{
	struct sdp_tx *tx = &st->tx;

	sdp_owned(st->sk);
	if (len <= tx->max_payload || tx->out.size)
		return;
	if (time_after(jiffies, tx->ask_again))
		tx->peer.refused = 0;
	sdp_peerbuf_want(&tx->peer, len);
}

/* Whether a piece goes on in the next, in what was allocated as one. */
static bool sdp_tx_goes_on(const struct sdp_tx *tx, u32 index)
{
	void *next = tx->chunks[index] + tx->ring.chunk;

	return tx->chunks[index + 1] == next &&
	       virt_to_head_page(next) == virt_to_head_page(tx->chunks[index]);
}

/* How many bytes from the ring's head on lie together in memory, at most @len. */
static u32 sdp_tx_contig(const struct sdp_tx *tx, u32 len)
{
	const struct sdp_ring *ring = &tx->ring;
	u32 index = sdp_ring_chunk(ring, ring->head);
	u32 part = sdp_ring_contig(ring, ring->head, len);

	for (; part < len && index + 1 < tx->nr_chunks; index++) {
		if (!sdp_tx_goes_on(tx, index))
			break;
		part += sdp_ring_contig(ring, ring->head + part, len - part);
	}
	return part;
}

/* There is no memory to go on in: what is in the ring has to leave first. */
static void *sdp_tx_starve(struct sdp_tx *tx, u32 *len)
{
	WRITE_ONCE(tx->starved, true);
	*len = 0;
	return NULL;
}

/*
 * Finds room in the ring for *len of the program's bytes, or as many as fit in one piece
 * and one message.  Returns where to copy to; NULL if there is no room now (*len is 0) or
 * no memory (*len is not).
 */
static void *sdp_tx_reserve(struct sdp_stream *st, u32 *len)
{
	struct sdp_tx *tx = &st->tx;
	u32 room = sdp_tx_space(st);
	u32 used = 0;
	u32 index;

	/* Without a connection there is no ring, and no room in it. */
	if (!room) {
		*len = 0;
		return NULL;
	}
	sdp_ring_rewind(&tx->ring);
	if (tx->ring.size < sdp_tx_limit(st))
		sdp_tx_enlarge(st);
	if (sdp_tx_may_append(st))
		used = sdp_tx_msg(tx, tx->wait_head - 1)->len;
	sdp_tx_want(st, used + *len);
	room = min3(room, tx->max_payload - used, sdp_ring_free(&tx->ring));
	if (!room)
		return sdp_tx_starve(tx, len);
	index = sdp_ring_chunk(&tx->ring, tx->ring.head);
	if (!tx->chunks[index] && sdp_tx_alloc_chunks(st, index, *len))
		return sdp_ring_used(&tx->ring) ? sdp_tx_starve(tx, len) : NULL;
	*len = sdp_tx_contig(tx, min(*len, room));
	return tx->chunks[index] + sdp_ring_offset(&tx->ring, tx->ring.head);
}

/*
 * Adds bytes that were copied to where sdp_tx_reserve() said to the last waiting message,
 * or to a new one.  If the last of them is urgent the message ends with it.
 */
static void sdp_tx_append(struct sdp_stream *st, u32 len, bool urgent)
{
	struct sdp_tx *tx = &st->tx;
	struct sdp_tx_msg *msg;

	if (!sdp_tx_may_append(st)) {
		msg = sdp_tx_msg(tx, tx->wait_head);
		msg->len = 0;
		msg->open = true;
		msg->urgent = false;
		WRITE_ONCE(tx->wait_head, tx->wait_head + 1);
	}
	msg = sdp_tx_msg(tx, tx->wait_head - 1);
	msg->len += len;
	trace_sdp_coalesce(st->sk, len, msg->len);
	if (!sdp_ring_used(&tx->ring) && !sdp_tx_integrated(st))
		tx->since = jiffies;
	if (urgent) {
		msg->open = false;
		msg->urgent = true;
		tx->urgent++;
	}
	sdp_alive_written(st);
	if (WARN_ON_ONCE(!sdp_ring_produce(&tx->ring, len)))
		sdp_link_end(st->link, -EIO);
}

/**
 * sdp_tx_write() - copy what the program writes into the send ring
 * @st: stream of a locked socket, between sdp_tx_begin_write() and sdp_tx_end_write()
 * @msg: what it writes, not empty
 * @want: set to how many bytes were to be copied
 *
 * A write that was cut short has no urgent byte: it is in the rest, for which the
 * program has to ask again.
 *
 * Context: process context, may sleep for memory; does not wait for the program's.
 * Return: bytes, as many as one piece of the ring and one message take; 0 if there is
 * no room now; -ENOBUFS; -EFAULT if the next @want bytes are not there.
 */
int sdp_tx_write(struct sdp_stream *st, struct msghdr *msg, u32 *want)
{
	u32 len = min_t(size_t, msg_data_left(msg), INT_MAX);
	void *to;

	sdp_owned(st->sk);
	to = sdp_tx_reserve(st, &len);
	if (!to)
		return len ? -ENOBUFS : 0;
	*want = len;
	if (!sdp_copy_in(to, len, &msg->msg_iter))
		return -EFAULT;
	sdp_tx_append(st, len, (msg->msg_flags & MSG_OOB) && !msg_data_left(msg));
	return len;
}

/*
 * The program goes on behind what it has written.  Parts that just fill a message, such
 * as the pages of sendfile(), would never ask for longer ones.
 */
static void sdp_tx_promised(struct sdp_stream *st)
{
	struct sdp_tx *tx = &st->tx;
	const struct sdp_tx_msg *msg;

	if (sdp_tx_is_empty(tx))
		return;
	msg = sdp_tx_msg(tx, tx->wait_head - 1);
	if (msg->open && msg->len >= tx->max_payload)
		sdp_tx_want(st, tx->max_payload + 1);
}

/*
 * Keeps the next write out of the last message.  In credit mode each write is a message of
 * its own, as in the flow-control paper, section 2; only Nagle's rule lets small writes
 * share one.  What goes into a ring of the peer is a stream, which may be cut anywhere.
 */
static void sdp_tx_close_message(struct sdp_stream *st)
{
	struct sdp_tx *tx = &st->tx;

	if (!sdp_tx_is_empty(tx) && sdp_nodelay(st->sk) && !tx->out.size)
		sdp_tx_msg(tx, tx->wait_head - 1)->open = false;
}

/**
 * sdp_tx_begin_write() - the program is about to write
 * @st: stream of a locked socket
 *
 * Return: whether it has promised this write (MSG_MORE).
 */
bool sdp_tx_begin_write(struct sdp_stream *st)
{
	bool more = st->tx.intent == SDP_INTENT_MORE;

	sdp_owned(st->sk);
	st->tx.intent = SDP_INTENT_WRITE;
	if (sdp_tx_may_append(st))
		sdp_tx_count_joined(st);
	else if (time_after(jiffies, st->stats.last_out + SDP_TX_QUIET_WRITER))
		sdp_burst_end(&st->tx.burst);
	return more;
}

/**
 * sdp_tx_end_write() - the program has written what it wanted, or what can be taken now
 * @st: stream of a locked socket
 * @all: what it wanted
 * @more: it promises to go on; if not @all is written, what sdp_tx_begin_write() said
 *
 * What has only made a waiting message longer waits with it: for credits, for a
 * completion or for the end of its time, which all send it.  Unless it is full
 * now, or what was to be waited for has changed.
 *
 * Return: whether the caller has to look for what may leave now.
 */
bool sdp_tx_end_write(struct sdp_stream *st, bool all, bool more)
{
	sdp_owned(st->sk);
	st->tx.intent = more ? SDP_INTENT_MORE : SDP_INTENT_NONE;
	if (all && more)
		sdp_tx_promised(st);
	else if (all)
		sdp_tx_close_message(st);
	return !sdp_tx_waits_by_itself(st) || !sdp_tx_may_append(st);
}

/* A range of the ring's memory that one piece has, for the device or for the processor. */
static struct ib_sge sdp_tx_range(const struct sdp_stream *st, u32 pos, u32 len, bool inlined)
{
	const struct sdp_tx *tx = &st->tx;
	u32 index = sdp_ring_chunk(&tx->ring, pos);

	return (struct ib_sge){
		.addr = (inlined ? (uintptr_t)tx->chunks[index] : tx->chunk_dma[index]) +
			sdp_ring_offset(&tx->ring, pos),
		.length = sdp_ring_contig(&tx->ring, pos, len),
		.lkey = st->link->pd->local_dma_lkey,
	};
}

/**
 * sdp_tx_gatherable() - how much of a message one work request can gather
 * @st: stream of a locked socket
 * @len: bytes of the message, the first that are not sent
 *
 * Return: bytes, @len unless its memory is in too many pieces.
 */
u32 sdp_tx_gatherable(const struct sdp_stream *st, u32 len)
{
	const struct sdp_tx *tx = &st->tx;
	struct ib_sge range;
	u64 end = 0;
	u32 done = 0;
	u32 n = 0;

	sdp_owned(st->sk);
	if (likely(len <= (SDP_TX_MAX_SGE - 2) * tx->ring.chunk))
		return len;
	while (done < len) {
		range = sdp_tx_range(st, tx->ring.sent + done, len - done, false);
		if (range.addr != end && n++ == SDP_TX_MAX_SGE - 1)
			break;
		done += range.length;
		end = range.addr + range.length;
	}
	return done;
}

/**
 * sdp_tx_map() - describe unsent bytes of the ring
 * @st: stream of a locked socket
 * @off: where they begin, counted from the ring's unsent position
 * @len: how many, all written, and not more than sdp_tx_gatherable() says
 * @sge: scatter elements to fill, SDP_TX_MAX_SGE - 1 suffice for a message, and
 *	one more if it is cut in two
 * @inlined: the request takes the bytes with it: the addresses are the processor's, and
 *	else the device's
 *
 * Return: elements filled.
 */
int sdp_tx_map(struct sdp_stream *st, u32 off, u32 len, struct ib_sge *sge, bool inlined)
{
	u32 pos = st->tx.ring.sent + off;
	struct ib_sge range;
	int n = 0;

	sdp_owned(st->sk);
	for (; len; pos += range.length, len -= range.length) {
		range = sdp_tx_range(st, pos, len, inlined);
		if (!inlined)
			ib_dma_sync_single_for_device(st->link->dev->ibdev, range.addr,
						      range.length, DMA_TO_DEVICE);
		if (n && sge[n - 1].addr + sge[n - 1].length == range.addr)
			sge[n - 1].length += range.length;
		else
			sge[n++] = range;
	}
	return n;
}
