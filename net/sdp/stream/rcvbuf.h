/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decisions about receive buffers: how many there are and how large they are,
 * and when the peer is asked for larger ones or ours are advertised (ChRcvBuf and
 * ChRcvBufAck).
 *
 * Pure: also compiled in user space by the unit tests.
 */
#ifndef _SDP_RCVBUF_H
#define _SDP_RCVBUF_H

#include <linux/types.h>

/* Buffers of a new connection, unless fewer are allowed. */
#define SDP_RCVBUF_FIRST	8U
/*
 * Buffers of a connection whose data is not read: one whose first bytes were read, one
 * that is full, and four by which the peer fills it and learns that they are posted
 * again, two at a time.
 */
#define SDP_RCVBUF_UNREAD	6U

/**
 * struct sdp_rcvbuf - the receive buffers of a connection
 * @size: payload bytes of the buffers that are posted from now on, a power of
 *	two
 * @total: buffers that exist, posted or with unread data
 * @fit: of these, how many are at least as large as @size
 * @small: buffers posted and not consumed by a message that are smaller
 * @bytes: payload bytes of all buffers
 * @max_size: @size does not grow beyond, a power of two
 * @max_total: @total grows to no more; it may be exceeded while larger buffers
 *	take the place of smaller ones
 * @wish: payload bytes that the peer has asked for and waits for an answer to,
 *	0 = none
 * @growing: more are being allocated
 *
 * What the peer knows is @size, unless @wish is set: then it will only know
 * @size once @small is 0, because buffers are consumed in the order in which
 * they were posted.  Only then may it send messages that need @size.
 */
struct sdp_rcvbuf {
	u32 size;
	u32 total;
	u32 fit;
	u32 small;
	u32 bytes;
	u32 max_size;
	u32 max_total;
	u32 wish;
	bool growing;
};

void sdp_rcvbuf_init(struct sdp_rcvbuf *rb, u32 size, u32 max_size,
		     u32 max_total);
u32 sdp_rcvbuf_first(const struct sdp_rcvbuf *rb, u32 limit);
void sdp_rcvbuf_added(struct sdp_rcvbuf *rb, u32 size);
u32 sdp_rcvbuf_fill(const struct sdp_rcvbuf *rb, u32 used);
void sdp_rcvbuf_removed(struct sdp_rcvbuf *rb, u32 size);
void sdp_rcvbuf_posted(struct sdp_rcvbuf *rb, u32 size);
void sdp_rcvbuf_consumed(struct sdp_rcvbuf *rb, u32 size);
bool sdp_rcvbuf_keep(const struct sdp_rcvbuf *rb, u32 size, u32 limit,
		     bool pressure);
u32 sdp_rcvbuf_more(const struct sdp_rcvbuf *rb, u32 limit);
int sdp_rcvbuf_asked(struct sdp_rcvbuf *rb, u32 wish);
u32 sdp_rcvbuf_larger(const struct sdp_rcvbuf *rb, u32 limit);
void sdp_rcvbuf_resize(struct sdp_rcvbuf *rb, u32 size, u32 posted);

/**
 * struct sdp_peerbuf - what a sender knows of its peer's receive buffers
 * @size: payload bytes that each takes
 * @most: payload bytes that the sender could put into a message
 * @want: longest message that it would have liked to send, at most @most
 * @asked: payload bytes asked for and not answered yet, 0 = none
 * @refused: payload bytes that the peer did not grant, 0 = none
 */
struct sdp_peerbuf {
	u32 size;
	u32 most;
	u32 want;
	u32 asked;
	u32 refused;
};

void sdp_peerbuf_init(struct sdp_peerbuf *pb, u32 size, u32 most);
u32 sdp_peerbuf_payload(const struct sdp_peerbuf *pb);
void sdp_peerbuf_want(struct sdp_peerbuf *pb, u32 len);
int sdp_peerbuf_acked(struct sdp_peerbuf *pb, u32 size);

/**
 * sdp_rcvbuf_ack_due() - whether ChRcvBufAck is to be sent now
 * @rb: buffers
 *
 * The answer (ChRcvBufAck) is @size, larger than it was or not; once it is
 * sent, @wish is 0.
 */
static inline bool sdp_rcvbuf_ack_due(const struct sdp_rcvbuf *rb)
{
	return rb->wish && !rb->growing && !rb->small;
}

/**
 * sdp_peerbuf_ask() - whether to ask the peer for larger buffers
 * @pb: what the sender knows
 *
 * One question at a time, and none that was answered already.
 *
 * Return: payload bytes to ask for, 0 = do not ask.
 */
static inline u32 sdp_peerbuf_ask(const struct sdp_peerbuf *pb)
{
	if (pb->asked || pb->want <= pb->size || pb->want <= pb->refused)
		return 0;
	return pb->want;
}

/**
 * sdp_peerbuf_asked() - ChRcvBuf was sent
 * @pb: what the sender knows
 * @wish: payload bytes that it asked for
 */
static inline void sdp_peerbuf_asked(struct sdp_peerbuf *pb, u32 wish)
{
	pb->asked = wish;
}

#endif /* _SDP_RCVBUF_H */
