/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When a receiver offers a ring to its peer (auto.c).
 */
#ifndef _SDP_FLOW_AUTO_H
#define _SDP_FLOW_AUTO_H

#include <linux/sdp.h>
#include <linux/types.h>

/*
 * Receive requests that such a ring has at most.  A queue pair has room for them from the
 * start, when nobody knows whether there will be a ring.
 */
#define SDP_NEED_REQUESTS	16
/* The first receive buffers have half as much, so that a smaller ring gains nothing. */
#define SDP_NEED_RING_MIN	(64U * 1024)

/**
 * struct sdp_need - whether a receiver needs a ring
 * @adapts: only short messages are worth a ring
 * @long_ones: the peer has asked for buffers for long messages, and sends what it had
 *	cut to the length of the first buffers
 * @run: short messages that have come one after the other, less those answered
 * @why: the reason found, by which the ring is allocated
 */
struct sdp_need {
	bool adapts;
	bool long_ones;
	u8 run;
	enum sdp_ring_reason why;
};

bool sdp_need_arrived(struct sdp_need *need, u32 len, bool cut, bool soon);
bool sdp_need_full(const struct sdp_need *need);
bool sdp_need_longer(struct sdp_need *need, u32 len);

/**
 * sdp_need_answered() - data was sent, and one of the messages may have asked for it
 * @need: state
 */
static inline void sdp_need_answered(struct sdp_need *need)
{
	if (need->run)
		need->run--;
}

#endif /* _SDP_FLOW_AUTO_H */
