/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arithmetic of a byte ring.  The ring's memory belongs to the caller; here
 * are only positions.
 *
 * Pure: also compiled in user space by the unit tests.
 */
#ifndef _SDP_RING_H
#define _SDP_RING_H

#include <linux/compiler.h>
#include <linux/log2.h>
#include <linux/types.h>

/**
 * struct sdp_ring - positions in a byte ring
 * @size: bytes, a power of two, at most 2^31
 * @chunk: bytes in each of the equal pieces that the ring's memory consists
 *	of, a power of two, at most @size
 * @head: bytes ever put in
 * @sent: bytes ever sent
 * @tail: bytes ever released
 *
 * Positions run freely and wrap at 2^32; always @tail <= @sent <= @head and
 * @head - @tail <= @size in that arithmetic.
 */
struct sdp_ring {
	u32 size;
	u32 chunk;
	u32 head;
	u32 sent;
	u32 tail;
};

/*
 * Bytes put in and not yet released.  Like sdp_ring_free() also called without
 * the lock, by poll(): then the two positions may be of different moments.
 */
static inline u32 sdp_ring_used(const struct sdp_ring *ring)
{
	u32 used = READ_ONCE(ring->head) - READ_ONCE(ring->tail);

	return used < ring->size ? used : ring->size;
}

/* Bytes that can be put in. */
static inline u32 sdp_ring_free(const struct sdp_ring *ring)
{
	return ring->size - sdp_ring_used(ring);
}

/* Bytes put in and not yet sent. */
static inline u32 sdp_ring_unsent(const struct sdp_ring *ring)
{
	return READ_ONCE(ring->head) - READ_ONCE(ring->sent);
}

/* Which chunk holds the byte at @pos. */
static inline u32 sdp_ring_chunk(const struct sdp_ring *ring, u32 pos)
{
	return (pos & (ring->size - 1)) >> ilog2(ring->chunk);
}

/* Where in its chunk the byte at @pos is. */
static inline u32 sdp_ring_offset(const struct sdp_ring *ring, u32 pos)
{
	return pos & (ring->chunk - 1);
}

/* How many of @len bytes from @pos on lie in its chunk. */
static inline u32 sdp_ring_contig(const struct sdp_ring *ring, u32 pos, u32 len)
{
	u32 rest = ring->chunk - sdp_ring_offset(ring, pos);

	return len < rest ? len : rest;
}

void sdp_ring_init(struct sdp_ring *ring, u32 size, u32 chunk);
bool sdp_ring_produce(struct sdp_ring *ring, u32 len);
bool sdp_ring_consume(struct sdp_ring *ring, u32 len);
bool sdp_ring_release(struct sdp_ring *ring, u32 len);
void sdp_ring_rewind(struct sdp_ring *ring);

#endif /* _SDP_RING_H */
