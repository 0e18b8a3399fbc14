// SPDX-License-Identifier: GPL-2.0
/*
 * Arithmetic of a byte ring.
 */
#include <linux/compiler.h>

#include "ring.h"

/**
 * sdp_ring_init() - start with an empty ring
 * @ring: ring
 * @size: bytes, a power of two, at most 2^31
 * @chunk: bytes in each piece of its memory, a power of two, at most @size
 */
void sdp_ring_init(struct sdp_ring *ring, u32 size, u32 chunk)
{
	*ring = (struct sdp_ring){ .size = size, .chunk = chunk };
}

/**
 * sdp_ring_produce() - account for bytes put in
 * @ring: ring
 * @len: bytes
 *
 * Return: false, and nothing changed, if there is no room for them.
 */
bool sdp_ring_produce(struct sdp_ring *ring, u32 len)
{
	if (len > sdp_ring_free(ring))
		return false;
	WRITE_ONCE(ring->head, ring->head + len);
	return true;
}

/**
 * sdp_ring_consume() - account for bytes sent
 * @ring: ring
 * @len: bytes
 *
 * Return: false, and nothing changed, if there are not as many unsent ones.
 */
bool sdp_ring_consume(struct sdp_ring *ring, u32 len)
{
	if (len > sdp_ring_unsent(ring))
		return false;
	ring->sent += len;
	return true;
}

/**
 * sdp_ring_release() - account for bytes whose room may be used again
 * @ring: ring
 * @len: bytes
 *
 * Return: false, and nothing changed, if not as many were sent.
 */
bool sdp_ring_release(struct sdp_ring *ring, u32 len)
{
	if (len > ring->sent - ring->tail)
		return false;
	WRITE_ONCE(ring->tail, ring->tail + len);
	return true;
}

/**
 * sdp_ring_rewind() - continue an empty ring at the start of its memory
 * @ring: ring, in which nothing is left
 *
 * Positions only move forward.
 */
void sdp_ring_rewind(struct sdp_ring *ring)
{
	u32 pos = (ring->head + ring->size - 1) & ~(ring->size - 1);

	if (sdp_ring_used(ring))
		return;
	ring->sent = pos;
	WRITE_ONCE(ring->head, pos);
	WRITE_ONCE(ring->tail, pos);
}
