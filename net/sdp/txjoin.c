// SPDX-License-Identifier: GPL-2.0
/*
 * Small writes of a burst: all but the first join a message that waits, and
 * leave with it.
 */
#include <linux/net.h>
#include <linux/uio.h>

#include "conn.h"
#include "mib.h"
#include "netns.h"
#include "sock.h"
#include "tx.h"

/* What such a write may say; it does not matter whether it would wait. */
#define SDP_JOIN_FLAGS	(MSG_DONTWAIT | MSG_NOSIGNAL)

/* Whether the program may write, and has asked for nothing else. */
static bool sdp_tx_join_allowed(const struct sock *sk, const struct msghdr *msg)
{
	return !(msg->msg_flags & ~SDP_JOIN_FLAGS) && !msg->msg_controllen &&
	       sdp_in_state(sk, SDPF_SEND) && !sk->sk_err &&
	       !(sk->sk_shutdown & SEND_SHUTDOWN);
}

/*
 * Whether the message that waits does so for something that comes by itself, or
 * may wait for the program's next call.
 */
static bool sdp_tx_join_waits(const struct sdp_conn *conn)
{
	const struct sdp_tx *tx = &conn->tx;

	return tx->wait_head != tx->wait_tail && tx->out.size && !tx->hold &&
	       (!tx->stalled || conn->flow->async);
}

/* Whether no limit that the program or the system has set is near. */
static bool sdp_tx_join_fits(const struct sdp_sock *ssk, u32 len)
{
	const struct sdp_ring *ring = &ssk->conn.tx.ring;
	u32 limit = READ_ONCE(ssk->sk.sk_sndbuf);

	return limit <= ring->size && sdp_ring_used(ring) + len <= limit &&
	       !ssk->conn.tx.starved && !READ_ONCE(ssk->opt.notsent_lowat) &&
	       !ssk->opt.user_timeout;
}

/**
 * sdp_tx_join() - add a write to a message that goes on waiting
 * @ssk: locked socket
 * @msg: what the program writes
 * @len: bytes
 *
 * This is what sdp_send_locked() comes to for a few bytes behind others in the
 * ring's memory, when none of what that takes care of has to be: neither is the
 * message full afterwards nor is there anything to look for or to wait for.
 * Then two thirds of its instructions are questions whose answer is known.
 *
 * Context: process context, may sleep for the program's memory.
 * Return: whether the bytes were taken; if not, nothing has happened.
 */
bool sdp_tx_join(struct sdp_sock *ssk, struct msghdr *msg, size_t len)
{
	struct sdp_tx *tx = &ssk->conn.tx;
	struct sdp_ring *ring = &tx->ring;
	struct sdp_tx_msg *last = sdp_tx_msg(tx, tx->wait_head - 1);
	u32 at = sdp_ring_offset(ring, ring->head);

	if (!len || len >= SDP_MIN_ZCOPY_THRESHOLD ||
	    !sdp_tx_join_allowed(&ssk->sk, msg) ||
	    !sdp_tx_join_waits(&ssk->conn) || !sdp_tx_join_fits(ssk, len))
		return false;
	/* The chunk has memory if the byte before is in it, and still waits. */
	if (!last->open || last->len + len >= tx->max_payload || !at ||
	    at + len > ring->chunk ||
	    !copy_from_iter_full(tx->chunks[sdp_ring_chunk(ring, ring->head)] +
				 at, len, &msg->msg_iter))
		return false;
	last->len += len;
	WRITE_ONCE(ring->head, ring->head + len);
	sdp_burst_joined(&tx->burst);
	ssk->conn.stats.coalesced++;
	SDP_SOCK_INC_STATS(ssk, SDP_MIB_COALESCEDWRITES);
	SDP_SOCK_ADD_STATS(ssk, SDP_MIB_BYTESOUT, len);
	return true;
}
