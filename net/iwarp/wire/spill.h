/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Untagged segments that arrived before their receive request was posted. They are
 * stored in stream order, so that what follows them, above all RDMA Read Responses,
 * need not wait.
 *
 * Pure: also compiled in user space by the unit tests.
 */
#ifndef _IWARP_SPILL_H
#define _IWARP_SPILL_H

#include <linux/types.h>

#include "framing.h"
#include "msg.h"

/**
 * struct iwarp_spilled - a stored segment, followed by its payload
 * @hdr: its header
 * @written: bytes of the RDMA Write before it, for immediate data
 * @imm: immediate data
 */
struct iwarp_spilled {
	struct iwarp_hdr hdr;
	u32 written;
	u64 imm;
};

/**
 * struct iwarp_spill - ring of stored segments
 * @mem: memory, which belongs to the caller, or NULL
 * @size: size of @mem, a power of two
 * @put: where the next segment goes, not wrapped
 * @get: where the first one is, not wrapped
 */
struct iwarp_spill {
	u8 *mem;
	u32 size;
	u32 put;
	u32 get;
};

/* Whether nothing is stored. */
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
