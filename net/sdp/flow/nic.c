// SPDX-License-Identifier: GPL-2.0
/*
 * Decisions of NIC-assisted flow control.
 *
 * A receive buffer that is posted, beyond those that the rules of credits reserve,
 * guarantees a virtual window: so many bytes of the ring, wherever they are.
 * Because every sender counts the buffers that are advertised to it, it need not
 * know the ring's fill.  A message that is longer takes as many windows as it
 * needs, but one buffer only; the others stand for the next windows.
 *
 * The device would hold back a message without a buffer by itself ("receiver
 * not ready"), but a device without end-to-end credits does so by a timer that
 * costs milliseconds.  Therefore the sender stays within the count of buffers,
 * which travels for free with all messages in the other direction.  On a device
 * with end-to-end credits, sdp_nic_fit()'s caller could leave out that count
 * and hand a share of the send ring to the device at once.
 */
#include <linux/compiler.h>
#include <linux/log2.h>

#include "credit.h"
#include "nic.h"

/* Buffers that the rules of credits keep from data. */
#define NIC_RESERVED	(SDP_PEER_BUFS_MIN - 1)
/* A ring has at most so many windows. */
#define NIC_WINDOWS_MAX	512

/**
 * sdp_nic_window() - how long a virtual window is
 * @size: bytes of the ring
 * @wish: bytes that the administrator wants, not 0
 *
 * Return: bytes, a power of two.
 */
u32 sdp_nic_window(u32 size, u32 wish)
{
	u32 most = size / SDP_RING_PIECES;
	u32 least = size / NIC_WINDOWS_MAX;

	if (wish > most)
		return most;
	return wish < least ? least : rounddown_pow_of_two(wish);
}

/**
 * sdp_nic_buffers() - how many receive buffers may be posted now
 * @in: ring, of which @piece is the window
 *
 * When a message was shorter than its window the others move up, and at last
 * there is room for one more.
 */
u32 sdp_nic_buffers(const struct sdp_inring *in)
{
	return ((in->size - sdp_inring_used(in)) >> ilog2(in->piece)) + NIC_RESERVED;
}

/**
 * sdp_nic_windows() - how many virtual windows a message takes
 * @piece: bytes of one
 * @len: bytes of the message, not 0
 *
 * The peer's windows may have any size; most messages are shorter.
 */
u32 sdp_nic_windows(u32 piece, u32 len)
{
	return len <= piece ? 1 : (len - 1) / piece + 1;
}

/**
 * sdp_nic_fit() - how much of a message may be written now
 * @out: ring
 * @credit: credit state
 * @len: bytes that it has
 *
 * Return: bytes; 0 if it has to wait for windows.
 */
u32 sdp_nic_fit(const struct sdp_outring *out, const struct sdp_credit *credit,
		u32 len)
{
	u32 windows = sdp_credit_data(credit);

	len = sdp_outring_contig(out, len);
	return windows < sdp_nic_windows(out->piece, len) ?
	       windows * out->piece : len;
}

/**
 * sdp_nic_want_update() - whether windows should be advertised
 * @credit: credit state
 * @in: ring
 *
 * Half of them are, whatever the peer has left, so that over a long wire one half is read
 * while the other is written.  To a peer that has used up its windows what is worth it is
 * advertised if updates are rare anyway, so that the ring stays full; and those that have
 * moved up without anything being read.  An update takes a buffer, too, and gives it back
 * at once; one for that buffer alone could be answered without end.
 *
 * Return: SDP_UPDATE_NONE after it is advertised.
 */
enum sdp_update sdp_nic_want_update(const struct sdp_credit *credit,
				    const struct sdp_inring *in)
{
	u32 gain = credit->rx_posted - credit->rx_advertised;
	/* poll() asks without the lock: the ring may go with its connection meanwhile. */
	u32 piece = READ_ONCE(in->piece);

	if (!piece || credit->rx_posted < SDP_PEER_BUFS_MIN)
		return SDP_UPDATE_NONE;
	if (gain * piece >= in->size / 2)
		return SDP_UPDATE_NOW;
	if (credit->rx_advertised >= SDP_PEER_BUFS_MIN)
		return SDP_UPDATE_NONE;
	if (!sdp_inring_untold(in))
		return gain >= 2 ? SDP_UPDATE_NOW : SDP_UPDATE_NONE;
	return gain * piece >= in->least ? SDP_UPDATE_SELDOM : SDP_UPDATE_NONE;
}

/**
 * sdp_nic_full() - whether the peer waits for something to be read
 * @credit: credit state
 * @in: ring
 *
 * It has no window, and none has moved up that is about to be advertised.
 */
bool sdp_nic_full(const struct sdp_credit *credit, const struct sdp_inring *in)
{
	return credit->rx_advertised < SDP_PEER_BUFS_MIN &&
	       sdp_nic_want_update(credit, in) == SDP_UPDATE_NONE &&
	       !sdp_credit_want_update(credit);
}

/**
 * sdp_burst_wait() - a message is held back
 * @burst: burst
 *
 * Return: whether the time to wait has to be started.
 */
bool sdp_burst_wait(struct sdp_burst *burst)
{
	if (burst->running)
		return false;
	burst->running = true;
	burst->moved = false;
	return true;
}

/**
 * sdp_burst_sent() - account for a message handed to the device
 * @burst: burst
 * @len: bytes
 *
 * Of short ones only a few are its share.
 */
void sdp_burst_sent(struct sdp_burst *burst, u32 len)
{
	if (burst->bytes < burst->share)
		burst->bytes += sdp_burst_cost(burst, len);
	burst->moved = true;
	burst->joined = false;
	burst->due = false;
}

/**
 * sdp_burst_complete() - the device has completed all that it was handed
 * @burst: burst
 * @held: a message is held back
 * @apart: the device does not need the processor on which programs write
 *
 * That message leaves now: completions are the clock of a burst.  If there is none, the
 * device is faster than the writes come, and nothing has to wait for it; but one that
 * works on the processor of its writers never lets them write meanwhile, and would be
 * handed each write for itself.
 */
void sdp_burst_complete(struct sdp_burst *burst, bool held, bool apart)
{
	if (held)
		burst->due = true;
	else if (apart)
		sdp_burst_end(burst);
}

/**
 * sdp_burst_expired() - the time to wait is over
 * @burst: burst
 * @held: a message is held back
 *
 * A message that is younger than that waits once more.  If nothing was coalesced
 * meanwhile, writes are too rare to make waiting worthwhile.
 *
 * Return: whether the message leaves now; if not and there is one,
 * sdp_burst_wait() is called next.
 */
bool sdp_burst_expired(struct sdp_burst *burst, bool held)
{
	burst->running = false;
	if (!held || burst->moved)
		return false;
	if (!burst->joined)
		sdp_burst_end(burst);
	burst->due = true;
	return true;
}
