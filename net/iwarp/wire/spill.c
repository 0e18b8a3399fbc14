// SPDX-License-Identifier: GPL-2.0
/* Storage of untagged segments that wait for a receive request. */
#include <linux/string.h>

#include "spill.h"

static u32 iwarp_spill_min(u32 a, u32 b)
{
	return a < b ? a : b;
}

/* Size of a segment, aligned to 8 bytes. */
static u32 iwarp_spill_len(u32 payload_len)
{
	return (sizeof(struct iwarp_spilled) + payload_len + 7) & ~7U;
}

/* Address of a byte, and the number of contiguous bytes there. */
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
 * iwarp_spill_fits() - whether there is space for a segment
 * @spill: stored segments
 * @payload_len: length of its payload
 */
bool iwarp_spill_fits(const struct iwarp_spill *spill, u32 payload_len)
{
	return iwarp_spill_len(payload_len) <=
	       spill->size - (spill->put - spill->get);
}

/**
 * iwarp_spill_write() - store some payload of an arriving segment
 * @spill: stored segments, with space according to iwarp_spill_fits()
 * @src: source
 * @off: offset in @src
 * @len: number of bytes
 * @at: offset in the segment's payload
 *
 * The segment is not stored before iwarp_spill_put().
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
 * iwarp_spill_put() - store a segment
 * @spill: stored segments
 * @segment: a complete segment, whose payload was written
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
 * iwarp_spill_first() - get the oldest segment
 * @spill: stored segments
 * @segment: set to the segment
 * @payload: set to its payload, at offset 0, without @crc
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
 * iwarp_spill_drop() - remove the oldest segment
 * @spill: stored segments, at least one
 */
void iwarp_spill_drop(struct iwarp_spill *spill)
{
	struct iwarp_spilled segment;

	iwarp_spill_copy_out(spill, spill->get, &segment, sizeof(segment));
	spill->get += iwarp_spill_len(segment.hdr.payload_len);
}
