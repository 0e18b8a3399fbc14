/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decisions of RDMA-based flow control: the receive ring, which its owner's
 * peer fills by RDMA and manages (flow-control paper, section 3).
 *
 * Pure: also compiled in user space by the unit tests.
 */
#ifndef _SDP_FLOW_RDMA_H
#define _SDP_FLOW_RDMA_H

#include <linux/types.h>

#include "credit.h"

/* Bytes of a receive ring, a power of two. */
#define SDP_RING_MIN		4096U
#define SDP_RING_MAX		(1024U * 1024 * 1024)
/*
 * Space is advertised in pieces, of which a ring has at least so many.  The receive
 * buffers that are posted when it comes into use, SDP_RCVBUF_FIRST, then have a
 * piece each.
 */
#define SDP_RING_PIECES		8U
/* More at once only makes a sender wait for it. */
#define SDP_RING_PIECE_MAX (128U * 1024)
/*
 * A message has at most such a share of the ring, so that one can be written and
 * another be read while the update is in flight, and not more than a sender can
 * gather.
 */
#define SDP_RING_MESSAGES	4U
#define SDP_RING_MESSAGE_MAX	(256U * 1024)

/* Whether space should be advertised. */
enum sdp_update {
	SDP_UPDATE_NONE,
	SDP_UPDATE_SELDOM,	/* if it was not advertised for a while */
	SDP_UPDATE_NOW,
};

/**
 * struct sdp_outring - what a sender knows of its peer's receive ring
 * @size: bytes, a power of two; 0 = there is none yet
 * @piece: least bytes of space that the peer advertises at once
 * @most: longest message that is written
 * @sent: bytes ever written
 * @freed: of these, how many it has advertised as read
 *
 * Positions run freely and wrap at 2^32; always @sent - @freed <= @size.
 */
struct sdp_outring {
	u32 size;
	u32 piece;
	u32 most;
	u32 sent;
	u32 freed;
};

/**
 * struct sdp_inring - a receive ring
 * @size: bytes, a power of two; 0 = there is none yet
 * @piece: least bytes of space that are advertised at once
 * @least: bytes that are worth a message to a peer that waits for space, before half of
 *	the ring is: a piece, to keep the ring full, or half of it, to send few messages
 * @head: bytes ever received
 * @tail: bytes ever read
 * @told: value of @tail that was advertised last
 *
 * Positions run freely and wrap at 2^32; always @told <= @tail <= @head and
 * @head - @tail <= @size in that arithmetic.
 */
struct sdp_inring {
	u32 size;
	u32 piece;
	u32 least;
	u32 head;
	u32 tail;
	u32 told;
};

/* Bytes received and not read. */
static inline u32 sdp_inring_used(const struct sdp_inring *in)
{
	return in->head - in->tail;
}

/* Bytes that were read and not advertised yet. */
static inline u32 sdp_inring_untold(const struct sdp_inring *in)
{
	return in->tail - in->told;
}

/* Accounts for bytes that were read, not more than there are. */
static inline void sdp_inring_read(struct sdp_inring *in, u32 len)
{
	in->tail += len;
}

/**
 * sdp_outring_offset() - where the next byte goes
 * @out: ring
 *
 * Return: bytes from the ring's start.
 */
static inline u32 sdp_outring_offset(const struct sdp_outring *out)
{
	return out->sent & (out->size - 1);
}

/**
 * sdp_outring_space() - how many bytes the peer has room for, as far as known
 * @out: ring
 */
static inline u32 sdp_outring_space(const struct sdp_outring *out)
{
	return out->size - (out->sent - out->freed);
}

/**
 * sdp_outring_write() - account for a piece that is about to be written
 * @out: ring
 * @len: bytes
 */
static inline void sdp_outring_write(struct sdp_outring *out, u32 len)
{
	out->sent += len;
}

/**
 * sdp_inring_tell() - space is about to be advertised
 * @in: ring
 *
 * Return: the position to advertise.
 */
static inline u32 sdp_inring_tell(struct sdp_inring *in)
{
	in->told = in->tail;
	return in->told;
}

int sdp_outring_init(struct sdp_outring *out, u32 size, u32 piece);
u32 sdp_outring_contig(const struct sdp_outring *out, u32 len);
int sdp_outring_free(struct sdp_outring *out, u32 tail);

void sdp_inring_init(struct sdp_inring *in, u32 size, u32 piece);
int sdp_inring_receive(struct sdp_inring *in, u32 len);

u32 sdp_rdma_piece(u32 size, u32 wish);
u32 sdp_rdma_fit(const struct sdp_outring *out, const struct sdp_credit *credit,
		 u32 len);
enum sdp_update sdp_rdma_want_update(const struct sdp_credit *credit,
				     const struct sdp_inring *in);
bool sdp_rdma_full(const struct sdp_credit *credit,
		   const struct sdp_inring *in);
u32 sdp_rdma_buffers(const struct sdp_inring *in);

#endif /* _SDP_FLOW_RDMA_H */
