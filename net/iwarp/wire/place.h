/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which FPDUs were placed ahead of a hole in the stream, so that they are not
 * placed again when it is filled, but delivered once.
 *
 * TCP may throw away what it has not acknowledged, and a hostile peer may send
 * something else in its place.  Therefore an FPDU counts as placed only if it
 * comes at the same position, with the same header, and still has the same
 * target: otherwise memory could be delivered that was never written.
 *
 * Pure: also compiled in user space by the unit tests and the fuzzers.
 */
#ifndef _IWARP_PLACE_H
#define _IWARP_PLACE_H

#include <linux/types.h>

#include "msg.h"

/**
 * struct iwarp_place - an FPDU that was placed
 * @pos: position where it begins
 * @len: its length in the stream, markers included
 * @target: what its payload went to, in the terms of the owner
 * @overwritten: it has been overwritten since
 * @hdr: its header as it came, filled up with zeros
 */
struct iwarp_place {
	u32 pos;
	u32 len;
	u64 target;
	bool overwritten;
	u8 hdr[IWARP_HDR_MAX];
};

/**
 * struct iwarp_placed - FPDUs that were placed, in the order of the stream
 * @slots: room for @size of them
 * @size: how many there can be, 0 if nothing can be placed early
 * @first: which slot has the first
 * @count: how many there are
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
