// SPDX-License-Identifier: GPL-2.0
/*
 * The FPDUs that were placed early.
 */
#include <linux/string.h>

#include "place.h"

/* Positions wrap: whether the one is before the other. */
static bool iwarp_pos_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

static struct iwarp_place *iwarp_placed_at(const struct iwarp_placed *placed,
					   u32 index)
{
	return &placed->slots[placed->first + index];
}

/* The first that does not begin before @pos; @placed->count if all do. */
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
 * iwarp_placed_init() - begin with none
 * @placed: the FPDUs that were placed
 * @slots: room for them, which stays with the caller
 * @size: how many slots there are
 */
void iwarp_placed_init(struct iwarp_placed *placed, struct iwarp_place *slots,
		       u32 size)
{
	placed->slots = slots;
	placed->size = size;
	placed->first = 0;
	placed->count = 0;
}

/* Move all to the front, so that the free slots are behind them. */
static void iwarp_placed_compact(struct iwarp_placed *placed)
{
	memmove(placed->slots, iwarp_placed_at(placed, 0),
		placed->count * sizeof(*placed->slots));
	placed->first = 0;
}

/**
 * iwarp_placed_add() - an FPDU was placed
 * @placed: the FPDUs that were placed
 * @pos: where it begins
 * @len: its length in the stream
 * @hdr: its header
 * @hdr_len: length of that
 * @target: what its payload went to
 *
 * Ask iwarp_placed_full() before placing it.
 *
 * Return: true, or false if there is no room, or there is one at @pos.
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
	return true;
}

/**
 * iwarp_placed_len() - whether an FPDU was placed
 * @placed: the FPDUs that were placed
 * @pos: where it begins
 *
 * Return: its length in the stream, or 0 if none was placed that begins there.
 */
u32 iwarp_placed_len(const struct iwarp_placed *placed, u32 pos)
{
	u32 index = iwarp_placed_find(placed, pos);

	if (index == placed->count || iwarp_placed_at(placed, index)->pos != pos)
		return 0;
	return iwarp_placed_at(placed, index)->len;
}

/* Whether two tagged segments have a byte of memory in common. */
static bool iwarp_tagged_overlap(const struct iwarp_hdr *a,
				 const struct iwarp_hdr *b)
{
	return iwarp_opcode_tagged(a->opcode) &&
	       iwarp_opcode_tagged(b->opcode) && a->stag == b->stag &&
	       a->to < b->to + b->payload_len && b->to < a->to + a->payload_len;
}

/**
 * iwarp_placed_overwrite() - a segment is placed that may overwrite later ones
 * @placed: the FPDUs that were placed
 * @pos: position of the segment
 * @hdr: its header
 *
 * A peer may write to the same memory twice.  What comes last in the stream is
 * to be there in the end: those that come later have to be placed once more,
 * when they come in order.
 */
void iwarp_placed_overwrite(struct iwarp_placed *placed, u32 pos,
			    const struct iwarp_hdr *hdr)
{
	u32 index = iwarp_placed_find(placed, pos);
	struct iwarp_hdr later;

	for (; index < placed->count; index++) {
		struct iwarp_place *place = iwarp_placed_at(placed, index);

		if (!iwarp_hdr_parse(place->hdr, &later) &&
		    iwarp_tagged_overlap(hdr, &later))
			place->overwritten = true;
	}
}

/**
 * iwarp_placed_take() - an FPDU has come in order: whether it was placed
 * @placed: the FPDUs that were placed; those up to this one are forgotten
 * @pos: where it begins
 * @len: its length in the stream
 * @hdr: its header
 * @hdr_len: length of that
 * @target: what its payload would go to
 *
 * Return: whether the very same FPDU was placed, and to the same target.
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
