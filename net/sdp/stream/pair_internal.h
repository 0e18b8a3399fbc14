/* SPDX-License-Identifier: GPL-2.0 */
/* What pair.c and local.c share. */
#ifndef _SDP_PAIR_INTERNAL_H
#define _SDP_PAIR_INTERNAL_H

#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>

#include "base/base.h"

struct sdp_stream;

/* The ends of a pair. */
enum sdp_pair_end {
	SDP_PAIR_ASKS,		/* has sent the Hello */
	SDP_PAIR_ANSWERS,
	SDP_PAIR_ENDS
};

/**
 * struct sdp_pair - the two ends of a connection in this kernel
 * @refs: one for each end that has not left
 * @lock: protects @end, and what is delivered to an end; inside of its socket lock
 * @end: the ends; NULL is one that is not there yet, or has left
 * @kick: has an end look at what was delivered to it; scheduled with @lock held
 * @claimed: both ends have been there
 * @token: what the Hello says
 * @local: address of the end that asks
 * @peer: where it connects to
 * @bufs: receive buffers of each end, as its Hello or HelloAck has to say
 * @rcv_size: bytes of each, likewise
 * @node: place among those that wait for their other end
 */
struct sdp_pair {
	refcount_t refs;
	spinlock_t lock; /* protects @end, and what is delivered */
	struct sdp_stream *end[SDP_PAIR_ENDS];
	struct tasklet_struct kick[SDP_PAIR_ENDS];
	bool claimed;
	u64 token;
	struct sdp_addr local;
	struct sdp_addr peer;
	u32 bufs[SDP_PAIR_ENDS];
	u32 rcv_size[SDP_PAIR_ENDS];
	struct hlist_node node;
};

#endif /* _SDP_PAIR_INTERNAL_H */
