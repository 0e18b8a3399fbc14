/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Untagged segments that have arrived before there is a receive request for
 * them.  They are kept in the order of the stream, so that what comes behind
 * them, responses to requests to read first of all, need not wait for them.
 *
 * Pure: also compiled in user space by the unit tests.
 */
#ifndef _IWARP_SPILL_H
#define _IWARP_SPILL_H

#include <linux/types.h>

#include "framing.h"
#include "msg.h"

/**
 * struct iwarp_spilled - a segment that is kept
 * @hdr: its header; its payload is kept behind this
 * @written: bytes that the peer had written before it, for immediate data
 * @imm: that data
 */
struct iwarp_spilled {
	struct iwarp_hdr hdr;
	u32 written;
	u64 imm;
};

/**
 * struct iwarp_spill - segments that are kept
 * @mem: room for them, which stays with the caller, or NULL
 * @size: of @mem, a power of two
 * @put: where the next segment goes, not wrapped
 * @get: where the first one is, not wrapped
 */
struct iwarp_spill {
	u8 *mem;
	u32 size;
	u32 put;
	u32 get;
};

/* Whether nothing is kept. */
static inline bool iwarp_spill_empty(const struct iwarp_spill *spill)
{
	return spill->put == spill->get;
}

bool iwarp_spill_fits(const struct iwarp_spill *spill, u32 payload_len);
void iwarp_spill_write(struct iwarp_spill *spill,
		       const struct iwarp_source *src, u32 off, u32 len,
		       u32 at);
void iwarp_spill_put(struct iwarp_spill *spill,
		     const struct iwarp_spilled *segment);
bool iwarp_spill_first(const struct iwarp_spill *spill,
		       struct iwarp_spilled *segment,
		       struct iwarp_source *payload);
void iwarp_spill_drop(struct iwarp_spill *spill);

#endif /* _IWARP_SPILL_H */
