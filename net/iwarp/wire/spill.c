// SPDX-License-Identifier: GPL-2.0
/*
 * Untagged segments that wait for a receive request.
 */
#include <linux/string.h>

#include "spill.h"

static u32 iwarp_spill_min(u32 a, u32 b)
{
	return a < b ? a : b;
}

/* What a segment takes: all begin at a multiple of eight. */
static u32 iwarp_spill_len(u32 payload_len)
{
	return (sizeof(struct iwarp_spilled) + payload_len + 7) & ~7U;
}

/* Where a byte is, and how many lie together from there. */
static u8 *iwarp_spill_at(const struct iwarp_spill *spill, u32 pos, u32 *len)
{
	u32 offset = pos & (spill->size - 1);

	*len = iwarp_spill_min(*len, spill->size - offset);
	return spill->mem + offset;
}

static void iwarp_spill_copy_in(struct iwarp_spill *spill, u32 pos,
				const void *from, u32 len)
{
	u32 n = len;
	u8 *to = iwarp_spill_at(spill, pos, &n);

	memcpy(to, from, n);
	memcpy(spill->mem, (const u8 *)from + n, len - n);
}

static void iwarp_spill_copy_out(const struct iwarp_spill *spill, u32 pos,
				 void *to, u32 len)
{
	u32 n = len;
	const u8 *from = iwarp_spill_at(spill, pos, &n);

	memcpy(to, from, n);
	memcpy((u8 *)to + n, spill->mem, len - n);
}

/**
 * iwarp_spill_fits() - whether there is room for a segment
 * @spill: segments that are kept
 * @payload_len: bytes of its payload
 */
bool iwarp_spill_fits(const struct iwarp_spill *spill, u32 payload_len)
{
	return iwarp_spill_len(payload_len) <=
	       spill->size - (spill->put - spill->get);
}

/**
 * iwarp_spill_write() - some payload of a segment has arrived
 * @spill: segments that are kept; iwarp_spill_fits() said yes to this one
 * @src: where the bytes are
 * @off: the first of them there
 * @len: how many there are
 * @at: offset of the first in the segment's payload
 *
 * The segment is not among those that are kept before iwarp_spill_put().
 */
void iwarp_spill_write(struct iwarp_spill *spill,
		       const struct iwarp_source *src, u32 off, u32 len,
		       u32 at)
{
	u32 pos = spill->put + sizeof(struct iwarp_spilled) + at;
	u32 done, n;
	u8 *to;

	for (done = 0; done < len; done += n) {
		n = len - done;
		to = iwarp_spill_at(spill, pos + done, &n);
		src->copy(src, off + done, to, n);
	}
}

/**
 * iwarp_spill_put() - keep a segment
 * @spill: segments that are kept
 * @segment: a segment that has arrived, and all of its payload was written
 */
void iwarp_spill_put(struct iwarp_spill *spill,
		     const struct iwarp_spilled *segment)
{
	iwarp_spill_copy_in(spill, spill->put, segment, sizeof(*segment));
	spill->put += iwarp_spill_len(segment->hdr.payload_len);
}

static void iwarp_spill_source_copy(const struct iwarp_source *src, u32 off,
				    void *to, u32 len)
{
	const struct iwarp_spill *spill = src->ctx;

	iwarp_spill_copy_out(spill, spill->get + sizeof(struct iwarp_spilled) +
			     off, to, len);
}

/**
 * iwarp_spill_first() - look at the oldest segment
 * @spill: segments that are kept
 * @segment: set to what it is
 * @payload: set to where its payload is, at offset 0; it has no checksum
 *
 * Return: false if there is none.
 */
bool iwarp_spill_first(const struct iwarp_spill *spill,
		       struct iwarp_spilled *segment,
		       struct iwarp_source *payload)
{
	if (iwarp_spill_empty(spill))
		return false;
	iwarp_spill_copy_out(spill, spill->get, segment, sizeof(*segment));
	*payload = (struct iwarp_source) {
		.copy = iwarp_spill_source_copy,
		.ctx = spill,
	};
	return true;
}

/**
 * iwarp_spill_drop() - forget the oldest segment
 * @spill: segments that are kept, at least one
 */
void iwarp_spill_drop(struct iwarp_spill *spill)
{
	struct iwarp_spilled segment;

	iwarp_spill_copy_out(spill, spill->get, &segment, sizeof(segment));
	spill->get += iwarp_spill_len(segment.hdr.payload_len);
}
