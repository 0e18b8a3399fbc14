// SPDX-License-Identifier: GPL-2.0
/*
 * Small writes of a burst: all but the first are coalesced with a message that waits,
 * and leave with it.
 */
#include <linux/net.h>
#include <linux/uio.h>

#include "stream.h"

/* Whether no limit that user space or the system has set is near. */
static bool sdp_tx_join_fits(const struct sdp_stream *st, u32 len)
{
	const struct sdp_ring *ring = &st->tx.ring;
	u32 limit = READ_ONCE(st->sk->sk_sndbuf);

	return limit <= ring->size && sdp_ring_used(ring) + len <= limit &&
	       !st->tx.starved && !READ_ONCE(sdp_base(st->sk)->opt.notsent_lowat) &&
	       !sdp_base(st->sk)->opt.user_timeout;
}

/**
 * sdp_tx_join() - coalesce a write with a message that goes on waiting
 * @st: stream of a locked socket that may be written to
 * @msg: what user space writes
 * @len: bytes
 *
 * The fast path of sdp_send_locked(), for a few bytes behind others in the ring's
 * memory, when none of what that takes care of has to be: neither is the message full
 * afterwards nor is there anything to look for or to wait for.  It saves two thirds
 * of the instructions.
 *
 * Context: process context; does not wait for user memory.
 * Return: whether the bytes were taken; if not, nothing has happened.
 */
bool sdp_tx_join(struct sdp_stream *st, struct msghdr *msg, size_t len)
{
	struct sdp_tx *tx = &st->tx;
	struct sdp_ring *ring = &tx->ring;
	struct sdp_tx_msg *last = sdp_tx_msg(tx, tx->wait_head - 1);
	u32 at = sdp_ring_offset(ring, ring->head);

	sdp_owned(st->sk);
	if (!len || len >= SDP_MIN_ZCOPY_THRESHOLD ||
	    (msg->msg_flags & ~SDP_SEND_FAST) || msg->msg_controllen ||
	    sdp_tx_is_empty(tx) || !sdp_tx_waits_by_itself(st) ||
	    !sdp_tx_join_fits(st, len))
		return false;
	/* The chunk has memory if the byte before is in it, and still waits. */
	if (!last->open || last->len + len >= tx->max_payload || !at ||
	    at + len > ring->chunk ||
	    !sdp_copy_in(tx->chunks[sdp_ring_chunk(ring, ring->head)] + at, len,
			 &msg->msg_iter))
		return false;
	last->len += len;
	trace_sdp_coalesce(st->sk, len, last->len);
	WRITE_ONCE(ring->head, ring->head + len);
	sdp_tx_count_joined(st);
	SDP_SOCK_ADD_STATS(st->sk, SDP_MIB_BYTESOUT, len);
	return true;
}
