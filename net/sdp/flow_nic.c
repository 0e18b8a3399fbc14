// SPDX-License-Identifier: GPL-2.0
/*
 * Decisions of NIC-assisted flow control.
 *
 * A receive buffer that is posted, beyond those that the rules of credits keep
 * back, guarantees a virtual window: so many bytes of the ring, wherever they
 * are.  Because every sender counts the buffers that it was told of, it need
 * not know the ring's fill.
 *
 * The device would hold back a message without a buffer by itself ("receiver
 * not ready"), but a device without end-to-end credits does so by a timer that
 * costs milliseconds.  Therefore the sender stays within the count of buffers,
 * which travels for free with all messages in the other direction.  On a device
 * with end-to-end credits, sdp_nic_fit()'s caller could leave out that count
 * and hand a share of the send ring to the device at once.
 */
#include "flow_credit.h"
#include "flow_nic.h"

/* Buffers that the rules of credits keep from data. */
#define NIC_RESERVED	(SDP_PEER_BUFS_MIN - 1)
/* A ring has at most so many windows. */
#define NIC_WINDOWS_MAX	512

/**
 * sdp_nic_window() - how long a virtual window is
 * @size: bytes of the ring
 * @wish: bytes that the administrator wants, not 0
 *
 * Return: bytes.
 */
u32 sdp_nic_window(u32 size, u32 wish)
{
	u32 most = size / SDP_RING_PIECES;
	u32 least = size / NIC_WINDOWS_MAX;

	if (wish > most)
		return most;
	return wish < least ? least : wish;
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
	return (in->size - sdp_inring_used(in)) / in->piece + NIC_RESERVED;
}

/**
 * sdp_nic_fit() - how much of a message may be written now
 * @out: ring
 * @len: bytes that it has; the peer has posted a buffer that data may use
 *
 * Return: bytes.
 */
u32 sdp_nic_fit(const struct sdp_outring *out, u32 len)
{
	return sdp_outring_piece(out, len);
}

/**
 * sdp_nic_want_update() - whether the peer should be told of windows
 * @credit: credit state
 * @in: ring
 *
 * A peer that has used up its windows is told of those that have moved up, lest
 * half of the ring stays empty.  An update takes a buffer, too, and gives it
 * back at once; an update for that one alone could be answered without end.
 */
bool sdp_nic_want_update(const struct sdp_credit *credit,
			 const struct sdp_inring *in)
{
	return credit->rx_advertised < SDP_PEER_BUFS_MIN &&
	       credit->rx_posted >= SDP_PEER_BUFS_MIN &&
	       credit->rx_posted - credit->rx_advertised >= 2;
}

/**
 * sdp_burst_hold() - whether a message that is not full is held back
 * @burst: burst
 */
bool sdp_burst_hold(const struct sdp_burst *burst)
{
	return burst->share && burst->running && burst->bytes >= burst->share;
}

/**
 * sdp_burst_sent() - account for a message handed to the device
 * @burst: burst
 * @len: bytes
 *
 * Return: whether the time in which more is expected begins now.
 */
bool sdp_burst_sent(struct sdp_burst *burst, u32 len)
{
	if (burst->bytes < burst->share)
		burst->bytes += len;
	if (!burst->share || burst->running || burst->bytes < burst->share)
		return false;
	burst->running = true;
	return true;
}

/**
 * sdp_burst_heard() - the peer's program has answered, or ours waits for it
 * @burst: burst
 */
void sdp_burst_heard(struct sdp_burst *burst)
{
	burst->bytes = 0;
}

/**
 * sdp_burst_over() - the time in which more was expected is over
 * @burst: burst
 * @held: something was held back, and leaves now; then the burst goes on
 */
void sdp_burst_over(struct sdp_burst *burst, bool held)
{
	burst->running = false;
	if (!held)
		burst->bytes = 0;
}
