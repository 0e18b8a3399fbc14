// SPDX-License-Identifier: GPL-2.0
/*
 * Decisions about receive buffers.
 *
 * A connection starts with few small ones.  Their number grows when the peer
 * has no credits left to send with, their size when the peer asks.  Larger ones
 * are posted behind the smaller ones, which are not posted again once they were
 * used; so the peer may use the new size as soon as no smaller one is posted.
 */
#include <linux/errno.h>

#include "flow/flow.h"
#include "rcvbuf.h"

/* What the peer must not do without: see SDP_CREDIT_BUFS_MIN. */
#define BUFS_MIN	((u32)SDP_CREDIT_BUFS_MIN)

static u32 smaller(u32 a, u32 b)
{
	return a < b ? a : b;
}

/* How many more bytes the buffers may have. */
static u32 room(const struct sdp_rcvbuf *rb, u32 limit)
{
	return limit > rb->bytes ? limit - rb->bytes : 0;
}

/**
 * sdp_rcvbuf_init() - start without any buffer
 * @rb: buffers
 * @size: payload bytes of the first ones, a power of two
 * @max_size: payload bytes that they may grow to, a power of two not below
 *	@size
 * @max_total: their number may grow to, at least SDP_CREDIT_BUFS_MIN
 */
void sdp_rcvbuf_init(struct sdp_rcvbuf *rb, u32 size, u32 max_size,
		     u32 max_total)
{
	*rb = (struct sdp_rcvbuf){
		.size = size,
		.max_size = max_size,
		.max_total = max_total,
	};
}

/**
 * sdp_rcvbuf_first() - how many buffers a new connection has
 * @rb: buffers, none yet
 * @limit: payload bytes that they may have in all
 */
u32 sdp_rcvbuf_first(const struct sdp_rcvbuf *rb, u32 limit)
{
	u32 n = smaller(limit / rb->size, smaller(rb->max_total,
						  SDP_RCVBUF_FIRST));

	return n < BUFS_MIN ? BUFS_MIN : n;
}

/**
 * sdp_rcvbuf_added() - account for a new buffer
 * @rb: buffers
 * @size: its payload bytes
 */
void sdp_rcvbuf_added(struct sdp_rcvbuf *rb, u32 size)
{
	rb->total++;
	rb->bytes += size;
	if (size >= rb->size)
		rb->fit++;
}

/**
 * sdp_rcvbuf_fill() - how full the buffers are
 * @rb: buffers, of which there is one at least
 * @used: unread bytes in them
 *
 * For each message: without a division by what is known at run time only.
 *
 * Return: the step, less than SDP_FILL_STEPS.
 */
u32 sdp_rcvbuf_fill(const struct sdp_rcvbuf *rb, u32 used)
{
	u32 step = rb->bytes / SDP_FILL_STEPS;
	u32 fill = 0;

	for (; fill < SDP_FILL_STEPS - 1 && used >= step; used -= step)
		fill++;
	return fill;
}

/**
 * sdp_rcvbuf_removed() - account for a buffer that was freed
 * @rb: buffers
 * @size: its payload bytes
 */
void sdp_rcvbuf_removed(struct sdp_rcvbuf *rb, u32 size)
{
	rb->total--;
	rb->bytes -= size;
	if (size >= rb->size)
		rb->fit--;
}

/**
 * sdp_rcvbuf_posted() - account for a buffer given to the device
 * @rb: buffers
 * @size: its payload bytes
 */
void sdp_rcvbuf_posted(struct sdp_rcvbuf *rb, u32 size)
{
	if (size < rb->size)
		rb->small++;
}

/**
 * sdp_rcvbuf_consumed() - account for a buffer that a message has filled
 * @rb: buffers
 * @size: its payload bytes
 */
void sdp_rcvbuf_consumed(struct sdp_rcvbuf *rb, u32 size)
{
	if (size < rb->size)
		rb->small--;
}

/**
 * sdp_rcvbuf_keep() - whether a buffer that was read is posted again
 * @rb: buffers
 * @size: its payload bytes
 * @limit: payload bytes that all may have
 * @pressure: memory is short
 *
 * This is for buffers whose payload user space has read.  Those of messages without
 * payload must always be posted again: they are the credits by which the two sides
 * advertise credits.
 *
 * Return: true if it is; false if it is freed.  At least SDP_CREDIT_BUFS_MIN
 * buffers stay.
 */
bool sdp_rcvbuf_keep(const struct sdp_rcvbuf *rb, u32 size, u32 limit,
		     bool pressure)
{
	/* A message of the size that was advertised to the peer would not fit in. */
	if (size < rb->size)
		return false;
	return rb->fit <= BUFS_MIN || (!pressure && rb->bytes <= limit);
}

/**
 * sdp_rcvbuf_more() - how many buffers to add when the peer ran out of them
 * @rb: buffers
 * @limit: payload bytes that all may have
 *
 * Return: as many as there are, or what the limits leave.
 */
u32 sdp_rcvbuf_more(const struct sdp_rcvbuf *rb, u32 limit)
{
	if (rb->total >= rb->max_total)
		return 0;
	return smaller(smaller(rb->total, rb->max_total - rb->total),
		       room(rb, limit) / rb->size);
}

/**
 * sdp_rcvbuf_asked() - the peer asks for larger buffers (ChRcvBuf)
 * @rb: buffers
 * @wish: payload bytes, not 0
 *
 * Return: 0; -EPROTO if it still waits for an answer.
 */
int sdp_rcvbuf_asked(struct sdp_rcvbuf *rb, u32 wish)
{
	if (rb->wish)
		return -EPROTO;
	rb->wish = wish;
	return 0;
}

/**
 * sdp_rcvbuf_larger() - to what size the buffers should grow
 * @rb: buffers, sdp_rcvbuf_asked() was called
 * @limit: payload bytes that all may have
 *
 * Return: payload bytes, a power of two; the present size if they should not
 * grow.  Until the smaller ones are used up there are some of both sizes.
 */
u32 sdp_rcvbuf_larger(const struct sdp_rcvbuf *rb, u32 limit)
{
	u32 size = rb->size;

	/* Those of an earlier growth have not been read yet. */
	if (rb->total > rb->max_total)
		return size;
	while (size < rb->wish && size < rb->max_size &&
	       2 * size <= limit / BUFS_MIN)
		size *= 2;
	return size;
}

/**
 * sdp_rcvbuf_resize() - buffers are larger from now on
 * @rb: buffers; sdp_rcvbuf_added() is called for SDP_CREDIT_BUFS_MIN of the new
 *	size at least, before any other is freed
 * @size: payload bytes, a power of two larger than the present size
 * @posted: how many buffers are posted and not consumed by a message
 */
void sdp_rcvbuf_resize(struct sdp_rcvbuf *rb, u32 size, u32 posted)
{
	rb->size = size;
	rb->fit = 0;
	rb->small = posted;
}

/**
 * sdp_peerbuf_init() - start with what Hello or HelloAck said
 * @pb: what the sender knows
 * @size: payload bytes that the peer's buffers take
 * @most: payload bytes that the sender could put into a message
 */
void sdp_peerbuf_init(struct sdp_peerbuf *pb, u32 size, u32 most)
{
	*pb = (struct sdp_peerbuf){ .size = size, .most = most };
}

/**
 * sdp_peerbuf_payload() - how long a message may be
 * @pb: what the sender knows
 *
 * Return: payload bytes.
 */
u32 sdp_peerbuf_payload(const struct sdp_peerbuf *pb)
{
	return smaller(pb->size, pb->most);
}

/**
 * sdp_peerbuf_want() - note a message that is longer than the peer takes
 * @pb: what the sender knows
 * @len: payload bytes
 */
void sdp_peerbuf_want(struct sdp_peerbuf *pb, u32 len)
{
	u32 want = pb->size;

	/* Step by step, lest each write a little longer asks again. */
	while (want < len && want < pb->most)
		want *= 2;
	want = smaller(want, pb->most);
	if (want > pb->want)
		pb->want = want;
}

/**
 * sdp_peerbuf_acked() - ChRcvBufAck came
 * @pb: what the sender knows
 * @size: payload bytes that it said
 *
 * Return: 0; -EPROTO if ChRcvBuf was not sent, or buffers would have shrunk under
 * messages that are in flight.
 */
int sdp_peerbuf_acked(struct sdp_peerbuf *pb, u32 size)
{
	if (!pb->asked || size < pb->size)
		return -EPROTO;
	pb->refused = size < pb->asked ? pb->asked : 0;
	pb->size = size;
	pb->asked = 0;
	return 0;
}
