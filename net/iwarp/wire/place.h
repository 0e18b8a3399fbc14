/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records of FPDUs that were placed ahead of a hole in the stream, so that they are
 * delivered without placing them again when the hole is filled.
 *
 * TCP may discard data that it has not acknowledged, and a hostile peer may retransmit
 * other data. Therefore an FPDU counts as placed only if it arrives at the same
 * position, with the same header and the same target: otherwise memory that was never
 * written could be delivered.
 *
 * Pure: also compiled in user space by the unit tests and the fuzzers.
 */
#ifndef _IWARP_PLACE_H
#define _IWARP_PLACE_H

#include <linux/types.h>

#include "msg.h"

/**
 * struct iwarp_place - an FPDU that was placed
 * @pos: its position
 * @len: its length in the stream, including markers
 * @target: registration that its payload went to, defined by the owner
 * @overwritten: its memory has been overwritten since
 * @hdr: its raw header, padded with zeros
 * @parsed: what that says
 */
struct iwarp_place {
	u32 pos;
	u32 len;
	u64 target;
	bool overwritten;
	u8 hdr[IWARP_HDR_MAX];
	struct iwarp_hdr parsed;
};

/**
 * struct iwarp_placed - FPDUs that were placed, in stream order
 * @slots: array of @size entries
 * @size: maximum number of FPDUs, 0 to disable early placement
 * @first: index of the first entry
 * @count: number of entries
 */
struct iwarp_placed {
	struct iwarp_place *slots;
	u32 size;
	u32 first;
	u32 count;
};

/* Whether no more can be placed early. */
static inline bool iwarp_placed_full(const struct iwarp_placed *placed)
{
	return placed->count == placed->size;
}

void iwarp_placed_init(struct iwarp_placed *placed, struct iwarp_place *slots,
		       u32 size);
bool iwarp_placed_add(struct iwarp_placed *placed, u32 pos, u32 len,
		      const u8 *hdr, u32 hdr_len, u64 target);
u32 iwarp_placed_len(const struct iwarp_placed *placed, u32 pos);
void iwarp_placed_overwrite(struct iwarp_placed *placed, u32 pos,
			    const struct iwarp_hdr *hdr);
bool iwarp_placed_take(struct iwarp_placed *placed, u32 pos, u32 len,
		       const u8 *hdr, u32 hdr_len, u64 target);

#endif /* _IWARP_PLACE_H */
