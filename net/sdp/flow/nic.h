/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decisions of NIC-assisted flow control: virtual windows, and what is handled
 * by the device or held back (flow-control paper, section 4).
 *
 * Pure: also compiled in user space by the unit tests.
 */
#ifndef _SDP_FLOW_NIC_H
#define _SDP_FLOW_NIC_H

#include <linux/types.h>

#include "rdma.h"

u32 sdp_nic_window(u32 size, u32 wish);
u32 sdp_nic_buffers(const struct sdp_inring *in);
enum sdp_update sdp_nic_want_update(const struct sdp_credit *credit,
				    const struct sdp_inring *in);
bool sdp_nic_full(const struct sdp_credit *credit, const struct sdp_inring *in);
u32 sdp_nic_windows(u32 piece, u32 len);
u32 sdp_nic_fit(const struct sdp_outring *out, const struct sdp_credit *credit,
		u32 len);

/**
 * struct sdp_burst - what has been handed to the device in one go
 * @share: bytes that are handed to it as they come; what exceeds them is held back
 *	until it makes a large piece or has waited long enough; 0 = no limit
 * @bytes: handed to it since the peer has sent something, or since a pause
 * @running: the time to wait is running
 * @moved: a message has left in the meantime
 * @joined: several writes were coalesced in the message that is held back
 * @due: it has waited long enough
 */
struct sdp_burst {
	u32 share;
	u32 bytes;
	bool running;
	bool moved;
	bool joined;
	bool due;
};

/* Short messages of a burst that the device is handed as they come. */
#define SDP_BURST_MESSAGES	8

/* Short messages cost the device about as much as longer ones. */
static inline u32 sdp_burst_cost(const struct sdp_burst *burst, u32 len)
{
	u32 least = burst->share / SDP_BURST_MESSAGES;

	return len > least ? len : least;
}

/**
 * sdp_burst_hold() - whether a message that is not full is held back
 * @burst: burst
 */
static inline bool sdp_burst_hold(const struct sdp_burst *burst)
{
	return burst->share && burst->bytes >= burst->share && !burst->due;
}

/**
 * sdp_burst_fills() - whether a message uses up the share
 * @burst: burst, before sdp_burst_sent()
 * @len: bytes of the message
 *
 * Its completion ends the wait of what is held back behind it.
 */
static inline bool sdp_burst_fills(const struct sdp_burst *burst, u32 len)
{
	return burst->share && burst->bytes + sdp_burst_cost(burst, len) >= burst->share;
}

/**
 * sdp_burst_joined() - a write was coalesced with a message that waits
 * @burst: burst
 */
static inline void sdp_burst_joined(struct sdp_burst *burst)
{
	burst->joined = true;
}

/**
 * sdp_burst_end() - what is written next is not part of the burst
 * @burst: burst
 *
 * The peer's application has answered, ours waits for it or was quiet for long.
 */
static inline void sdp_burst_end(struct sdp_burst *burst)
{
	burst->bytes = 0;
}

void sdp_burst_complete(struct sdp_burst *burst, bool held, bool apart);
bool sdp_burst_wait(struct sdp_burst *burst);
void sdp_burst_sent(struct sdp_burst *burst, u32 len);
bool sdp_burst_expired(struct sdp_burst *burst, bool held);

#endif /* _SDP_FLOW_NIC_H */
