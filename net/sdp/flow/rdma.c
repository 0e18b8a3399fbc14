// SPDX-License-Identifier: GPL-2.0
/*
 * Decisions of RDMA-based flow control.
 *
 * Data goes to consecutive positions of the ring, so that both sides know where the
 * next byte is without a message, and no byte of the ring is wasted.  Space that the
 * reader has freed is advertised in messages.
 */
#include <linux/errno.h>

#include "rdma.h"

/*
 * Space is advertised when this share of the ring was read, so that updates are rare.
 * Then half of a ring that was full is still to be read while the update is in
 * flight.
 */
#define RDMA_TELL	2

/*
 * A receive buffer, without memory, for so many bytes of the ring.  It is posted again when
 * the message has come, not when it was read, so that few are in use at once.
 */
#define RDMA_BYTES_PER_BUFFER	1024
#define RDMA_BUFFERS_MIN	16
#define RDMA_BUFFERS_MAX	128

static u32 smaller(u32 a, u32 b)
{
	return a < b ? a : b;
}

/**
 * sdp_rdma_piece() - how much space is advertised at once at least
 * @size: bytes of the ring
 * @wish: unused
 *
 * Return: bytes.
 */
u32 sdp_rdma_piece(u32 size, u32 wish)
{
	return smaller(size / SDP_RING_PIECES, SDP_RING_PIECE_MAX);
}

/**
 * sdp_outring_init() - the peer has advertised its ring
 * @out: ring, of which nothing was known
 * @size: bytes
 * @piece: least bytes of space that it advertises at once
 *
 * Return: 0 or -EPROTO if there cannot be such a ring.
 */
int sdp_outring_init(struct sdp_outring *out, u32 size, u32 piece)
{
	if (size < SDP_RING_MIN || size > SDP_RING_MAX || size & (size - 1) ||
	    !piece || piece > size / SDP_RING_PIECES)
		return -EPROTO;
	*out = (struct sdp_outring){
		.size = size,
		.piece = piece,
		.most = smaller(size / SDP_RING_MESSAGES,
				SDP_RING_MESSAGE_MAX),
	};
	return 0;
}

/**
 * sdp_outring_contig() - how much can be written by one request
 * @out: ring
 * @len: bytes that there are to write
 *
 * A request describes memory without a gap, and so ends with the ring.
 */
u32 sdp_outring_contig(const struct sdp_outring *out, u32 len)
{
	u32 rest = out->size - sdp_outring_offset(out);

	return smaller(len, smaller(rest, out->most));
}

/**
 * sdp_outring_free() - the peer has advertised space that it has freed
 * @out: ring
 * @tail: its position
 *
 * Return: 0; -EPROTO if that was never sent or goes back.
 */
int sdp_outring_free(struct sdp_outring *out, u32 tail)
{
	if (tail - out->freed > out->sent - out->freed)
		return -EPROTO;
	out->freed = tail;
	return 0;
}

/**
 * sdp_inring_init() - start with an empty ring
 * @in: ring
 * @size: bytes, a power of two, SDP_RING_MIN to SDP_RING_MAX
 * @piece: least bytes of space that are advertised at once, at most
 *	@size / SDP_RING_PIECES
 */
void sdp_inring_init(struct sdp_inring *in, u32 size, u32 piece)
{
	*in = (struct sdp_inring){ .size = size, .piece = piece, .least = piece };
}

/**
 * sdp_inring_receive() - account for a piece that the peer has written
 * @in: ring, not changed on error
 * @len: bytes
 *
 * Return: 0; -EPROTO if it is empty, has no room, or goes beyond the ring's end.
 */
int sdp_inring_receive(struct sdp_inring *in, u32 len)
{
	u32 rest = in->size - (in->head & (in->size - 1));

	if (!len || len > rest || len > in->size - sdp_inring_used(in))
		return -EPROTO;
	in->head += len;
	return 0;
}

/**
 * sdp_rdma_fit() - how much of a message may be written now
 * @out: ring
 * @credit: credit state
 * @len: bytes that it has
 *
 * What does not fit in as a whole leaves in whole pieces, so that large ones are
 * written when space returns.
 *
 * Return: bytes; 0 if it has to wait for space.
 */
u32 sdp_rdma_fit(const struct sdp_outring *out, const struct sdp_credit *credit,
		 u32 len)
{
	u32 space = sdp_outring_space(out);

	len = sdp_outring_contig(out, len);
	return len <= space ? len : space - space % out->piece;
}

/* Whether the peer knows of too little space for a piece. */
static bool rdma_short(const struct sdp_inring *in)
{
	return in->size - (in->head - in->told) < in->piece;
}

/**
 * sdp_rdma_want_update() - whether space should be advertised
 * @credit: credit state
 * @in: ring
 *
 * A sender that has no room for a piece may wait for it.  Then there is something to
 * be read, or half of the ring to be advertised.
 *
 * Return: SDP_UPDATE_NONE after it is advertised.
 */
enum sdp_update sdp_rdma_want_update(const struct sdp_credit *credit,
				     const struct sdp_inring *in)
{
	if (sdp_inring_untold(in) >= in->size / RDMA_TELL)
		return SDP_UPDATE_NOW;
	if (rdma_short(in) && in->size - sdp_inring_used(in) >= in->least)
		return SDP_UPDATE_SELDOM;
	return SDP_UPDATE_NONE;
}

/**
 * sdp_rdma_full() - whether the peer may wait for something to be read
 * @credit: credit state
 * @in: ring
 *
 * It knows of too little space, and no more is about to be advertised.
 */
bool sdp_rdma_full(const struct sdp_credit *credit, const struct sdp_inring *in)
{
	return rdma_short(in) &&
	       sdp_rdma_want_update(credit, in) == SDP_UPDATE_NONE;
}

/**
 * sdp_rdma_buffers() - how many receive buffers, without memory, to post
 * @in: ring
 *
 * One for each piece that may be in flight, and some for control messages.
 */
u32 sdp_rdma_buffers(const struct sdp_inring *in)
{
	u32 n = in->size / RDMA_BYTES_PER_BUFFER;

	if (n < RDMA_BUFFERS_MIN)
		return RDMA_BUFFERS_MIN;
	return smaller(n, RDMA_BUFFERS_MAX);
}
