// SPDX-License-Identifier: GPL-2.0
/*
 * When a receiver offers a ring to its peer.
 *
 * A ring is for many short messages: they take no more room in it than they have bytes,
 * and those that come fast are coalesced by their sender.  Long messages gain nothing
 * from it, and neither does a peer that waits for an answer after each message.  A fast
 * reader hides all that from the rules of credits: it returns each buffer before the peer
 * has used up the others.  So what counts is what has come, and not what has had to wait.
 */
#include "auto.h"

/* Longer messages gain nothing from a ring. */
#define AUTO_SHORT	(32U * 1024)
/* So many of them, each soon after the other and without an answer, are a stream. */
#define AUTO_RUN	16
/* So many, if they have used up all credits. */
#define AUTO_RUN_FULL	8

/**
 * sdp_need_arrived() - a message with data has come
 * @need: state, as long as there is no ring
 * @len: bytes
 * @cut: so many would have filled one of the first receive buffers
 * @soon: little time has passed since the last one
 *
 * Return: whether that makes a ring worthwhile.
 */
bool sdp_need_arrived(struct sdp_need *need, u32 len, bool cut, bool soon)
{
	if (len > AUTO_SHORT) {
		need->long_ones = false;
		need->run = 0;
		return false;
	}
	if (cut && need->long_ones)
		return false;
	if (!soon)
		need->run = 0;
	if (++need->run < AUTO_RUN)
		return false;
	/* If there is no memory now, not each message is to ask for it. */
	need->run = AUTO_RUN_FULL;
	return true;
}

/**
 * sdp_need_full() - the peer has used up its credits
 * @need: state
 *
 * Return: whether a ring is better than more receive buffers.
 */
bool sdp_need_full(const struct sdp_need *need)
{
	return !need->adapts || need->run >= AUTO_RUN_FULL;
}

/**
 * sdp_need_longer() - the peer asks for longer receive buffers
 * @need: state
 * @len: bytes that it has
 *
 * Return: whether a ring is better than these.
 */
bool sdp_need_longer(struct sdp_need *need, u32 len)
{
	need->long_ones = len > AUTO_SHORT;
	return !need->adapts || (len <= AUTO_SHORT && need->run >= AUTO_RUN_FULL);
}
