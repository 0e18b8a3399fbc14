// SPDX-License-Identifier: GPL-2.0
/* Records of FPDUs that were placed early. */
#include <linux/string.h>

#include "place.h"

/* Whether @a is before @b; positions wrap. */
static bool iwarp_pos_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

static struct iwarp_place *iwarp_placed_at(const struct iwarp_placed *placed,
					   u32 index)
{
	return &placed->slots[placed->first + index];
}

/* Returns the index of the first entry at or after @pos, or @placed->count. */
static u32 iwarp_placed_find(const struct iwarp_placed *placed, u32 pos)
{
	u32 low = 0, high = placed->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (iwarp_pos_before(iwarp_placed_at(placed, middle)->pos, pos))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/**
 * iwarp_placed_init() - initialize without entries
 * @placed: records
 * @slots: array, which belongs to the caller
 * @size: its number of entries
 */
void iwarp_placed_init(struct iwarp_placed *placed, struct iwarp_place *slots,
		       u32 size)
{
	placed->slots = slots;
	placed->size = size;
	placed->first = 0;
	placed->count = 0;
}

/* Moves all entries to the start of the array. */
static void iwarp_placed_compact(struct iwarp_placed *placed)
{
	memmove(placed->slots, iwarp_placed_at(placed, 0),
		placed->count * sizeof(*placed->slots));
	placed->first = 0;
}

/**
 * iwarp_placed_add() - add an FPDU that was placed
 * @placed: records
 * @pos: position of the FPDU
 * @len: its length in the stream
 * @hdr: its raw header
 * @hdr_len: length of that
 * @target: registration that its payload went to
 *
 * Check iwarp_placed_full() before placing it.
 *
 * Return: true, or false if there is no space, or an entry with that position.
 */
bool iwarp_placed_add(struct iwarp_placed *placed, u32 pos, u32 len,
		      const u8 *hdr, u32 hdr_len, u64 target)
{
	struct iwarp_place *place;
	u32 index;

	if (iwarp_placed_full(placed) || iwarp_placed_len(placed, pos))
		return false;
	if (placed->first + placed->count == placed->size)
		iwarp_placed_compact(placed);
	index = iwarp_placed_find(placed, pos);
	place = iwarp_placed_at(placed, index);
	memmove(place + 1, place, (placed->count - index) * sizeof(*place));
	placed->count++;
	memset(place, 0, sizeof(*place));
	place->pos = pos;
	place->len = len;
	place->target = target;
	memcpy(place->hdr, hdr, hdr_len);
	if (iwarp_hdr_parse(place->hdr, &place->parsed))
		memset(&place->parsed, 0, sizeof(place->parsed));
	return true;
}

/**
 * iwarp_placed_len() - look up an FPDU that was placed
 * @placed: records
 * @pos: position of the FPDU
 *
 * Return: its length in the stream, or 0 if none was placed at @pos.
 */
u32 iwarp_placed_len(const struct iwarp_placed *placed, u32 pos)
{
	u32 index = iwarp_placed_find(placed, pos);

	if (index == placed->count || iwarp_placed_at(placed, index)->pos != pos)
		return 0;
	return iwarp_placed_at(placed, index)->len;
}

/* Whether the memory of a segment overlaps that of a tagged one. */
static bool iwarp_tagged_overlap(const struct iwarp_hdr *a,
				 const struct iwarp_hdr *b)
{
	return iwarp_opcode_tagged(a->opcode) && a->stag == b->stag &&
	       a->to < b->to + b->payload_len && b->to < a->to + a->payload_len;
}

/**
 * iwarp_placed_overwrite() - placing a segment may overwrite later ones
 * @placed: records
 * @pos: position of the segment
 * @hdr: its header
 *
 * A peer may write to the same memory twice. The last write in the stream must win:
 * later FPDUs that were placed have to be placed once more when they arrive in order.
 * A hostile peer has as many of these as there may be, and sends the shortest segments
 * before them: what is done for each of them is a comparison of numbers.
 */
void iwarp_placed_overwrite(struct iwarp_placed *placed, u32 pos,
			    const struct iwarp_hdr *hdr)
{
	struct iwarp_place *place;
	u32 index;

	if (!iwarp_opcode_tagged(hdr->opcode) || !hdr->payload_len)
		return;
	index = iwarp_placed_find(placed, pos);
	for (; index < placed->count; index++) {
		place = iwarp_placed_at(placed, index);
		if (iwarp_tagged_overlap(&place->parsed, hdr))
			place->overwritten = true;
	}
}

/**
 * iwarp_placed_take() - check whether an FPDU that arrives in order was placed
 * @placed: records; those up to this FPDU are dropped
 * @pos: position of the FPDU
 * @len: its length in the stream
 * @hdr: its raw header
 * @hdr_len: length of that
 * @target: registration that its payload would go to
 *
 * Return: whether the same FPDU was placed, to the same target.
 */
bool iwarp_placed_take(struct iwarp_placed *placed, u32 pos, u32 len,
		       const u8 *hdr, u32 hdr_len, u64 target)
{
	u32 index = iwarp_placed_find(placed, pos);
	const struct iwarp_place *place;

	placed->first += index;
	placed->count -= index;
	if (!placed->count)
		return false;
	place = iwarp_placed_at(placed, 0);
	if (place->pos != pos)
		return false;
	placed->first++;
	placed->count--;
	return place->len == len && place->target == target && !place->overwritten &&
	       !memcmp(place->hdr, hdr, hdr_len);
}
