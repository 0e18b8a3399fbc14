/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Engines of flow control: which there are, and which one a connection uses.
 * Documentation/protocol/flow-control.rst explains them.
 */
#ifndef _SDP_FLOW_H
#define _SDP_FLOW_H

#include <linux/sdp.h>
#include <linux/types.h>

#include "auto.h"
#include "credit.h"
#include "nic.h"
#include "rdma.h"

struct sdp_credit;
struct sdp_inring;
struct sdp_outring;

/* Bytes that all names take, with blanks between them. */
#define SDP_FLOW_BUF_MAX	64

/**
 * struct sdp_flow_ops - an engine of flow control
 * @name: as administrators and user space know it
 * @id: as SDP_INFO shows it
 * @feature: SDP_FEAT_* by which Hello offers it
 * @async: what has waited for the peer's space leaves when an interrupt reports
 *	space; else in the next call
 * @tells_space: the space of the ring is advertised to the peer
 * @adapts: not an engine but the wish for whichever suits: the strongest that both
 *	ends have, and a ring only where it is worthwhile
 * @piece: least space of a ring of so many bytes that is advertised at once, by what
 *	the administrator wishes; NULL for an engine without rings
 * @fit: how many of so many bytes may be written into the peer's ring; NULL for
 *	an engine without rings
 * @windows: how many credits a message takes that is written there, by the piece of
 *	the ring; NULL if it is one, as for all others
 * @buffers: how many receive buffers are to be posted for the ring
 * @want_update: whether space of the ring has to be advertised, even if
 *	the rules of credits do not say so
 * @full: whether the peer may wait for something to be read; NULL for an engine
 *	without rings
 */
struct sdp_flow_ops {
	const char *name;
	enum sdp_flow id;
	u16 feature;
	bool async;
	bool tells_space;
	bool adapts;
	u32 (*piece)(u32 size, u32 wish);
	u32 (*fit)(const struct sdp_outring *out,
		   const struct sdp_credit *credit, u32 len);
	u32 (*windows)(u32 piece, u32 len);
	u32 (*buffers)(const struct sdp_inring *in);
	enum sdp_update (*want_update)(const struct sdp_credit *credit,
				       const struct sdp_inring *in);
	bool (*full)(const struct sdp_credit *credit,
		     const struct sdp_inring *in);
};

extern const struct sdp_flow_ops *const sdp_flow_default;

/*
 * How many credits a message takes that is written into a ring whose space is
 * advertised in such pieces; without a ring, or payload, one.
 */
static inline u32 sdp_flow_windows(const struct sdp_flow_ops *flow, u32 piece,
				   u32 len)
{
	return flow->windows && piece && len ? flow->windows(piece, len) : 1;
}

const struct sdp_flow_ops *sdp_flow_find(const char *name);
void sdp_flow_names(char *buf, size_t size);
const struct sdp_flow_ops *sdp_flow_strongest(u16 features);

#endif /* _SDP_FLOW_H */
