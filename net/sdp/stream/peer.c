// SPDX-License-Identifier: GPL-2.0
/*
 * What is yet to arrive at the peer, and how we learn that it has.
 */
#include <linux/jiffies.h>

#include "stream.h"

/* Twice what the device's retries take. */
#define SDP_PROBE_TIMEOUT	(15 * HZ)
/* What a peer did not grant may be asked for again after this time. */
#define SDP_TX_ASK_PERIOD	HZ
/* TCP does not give up before it has repeated something once, either. */
#define SDP_USER_TIMEOUT_MIN	(HZ / 5)

/**
 * sdp_tx_waiting() - whether something is yet to arrive at the peer
 * @st: stream of a locked socket with a connection
 *
 * That is data, posted or waiting for credits, DisConn, or a probe.
 */
bool sdp_tx_waiting(const struct sdp_stream *st)
{
	sdp_owned(st->sk);
	return sdp_ring_used(&st->tx.ring) || st->tx.probing || st->async_out ||
	       (st->fin_queued && !st->fin_acked) ||
	       (st->link->dev && !st->link->dev->acked_on_completion &&
		sdp_tx_unacked(st));
}

/**
 * sdp_tx_heard() - a message has come from the peer
 * @st: stream of a locked socket (by its owner or in softirq)
 *
 * Where a completion does not say so this answers a probe, and says that DisConn has
 * arrived.  Otherwise it gives a probe more time, which may be slow because much data is
 * in flight before it.
 */
bool sdp_tx_heard(struct sdp_stream *st)
{
	struct sdp_tx *tx = &st->tx;

	sdp_owned(st->sk);
	tx->probe_at = jiffies;
	if (st->link->dev->acked_on_completion)
		return false;
	tx->probing = false;
	return st->fin_sent && !st->fin_acked && !sdp_tx_unacked(st);
}

/**
 * sdp_tx_silent() - whether no completion is requested that frees room in the ring
 * @st: stream of a locked socket
 *
 * What waits for credits will request one when it is posted.
 */
bool sdp_tx_silent(const struct sdp_stream *st)
{
	const struct sdp_tx *tx = &st->tx;

	sdp_owned(st->sk);
	return sdp_ring_used(&tx->ring) && sdp_tx_is_empty(tx) &&
	       tx->signaled == tx->signaled_seen;
}

/**
 * sdp_tx_ask_for_room() - request a completion that frees room, if a writer waits for it
 * @st: stream of a locked socket (by its owner or in softirq) with a connection
 *
 * What was posted before that, by a writer with room enough, may not have requested
 * its completion.
 */
void sdp_tx_ask_for_room(struct sdp_stream *st)
{
	const struct socket *sock = st->sk->sk_socket;

	sdp_owned(st->sk);
	if (sock && test_bit(SOCK_NOSPACE, &sock->flags) && sdp_tx_silent(st))
		sdp_tx_probe(st);
}

/**
 * sdp_tx_probe_overdue() - whether a probe has neither arrived nor failed
 * @st: stream of a locked socket
 *
 * The device's own retries end long before; this is for those that forget
 * them, as Soft-RoCE can when its link goes down.
 */
bool sdp_tx_probe_overdue(const struct sdp_stream *st)
{
	sdp_owned(st->sk);
	return st->tx.probing &&
	       time_after(jiffies,
			  st->tx.probe_at + SDP_PROBE_TIMEOUT);
}

/**
 * sdp_tx_ring_avail() - the peer advertises its ring (RingAvail)
 * @st: stream of a locked socket (by its owner or in softirq)
 * @ravah: what it said
 *
 * From now on data is written there.
 *
 * Return: 0 or -EPROTO.
 */
int sdp_tx_ring_avail(struct sdp_stream *st, const struct sdp_ravah *ravah)
{
	const struct sdp_net *sn = sdp_net(sock_net(st->sk));
	struct sdp_tx *tx = &st->tx;

	sdp_owned(st->sk);
	if (!st->flow->fit || tx->out.size ||
	    sdp_outring_init(&tx->out, ravah->size, ravah->piece))
		return -EPROTO;
	tx->out_addr = ravah->vaddr;
	tx->out_rkey = ravah->rkey;
	tx->burst.share = READ_ONCE(sn->device_share);
	WRITE_ONCE(tx->max_payload, tx->out.most);
	return 0;
}

/**
 * sdp_tx_ring_space() - the peer advertises space that it has read (RingSpace)
 * @st: stream of a locked socket (by its owner or in softirq)
 * @tail: position in its ring
 *
 * Return: 0 or -EPROTO.
 */
int sdp_tx_ring_space(struct sdp_stream *st, u32 tail)
{
	struct sdp_tx *tx = &st->tx;

	sdp_owned(st->sk);
	if (!tx->out.size || !st->flow->tells_space)
		return -EPROTO;
	return sdp_outring_free(&tx->out, tail);
}

/**
 * sdp_tx_set_peer() - the connection is set up, the peer's buffers are known
 * @st: stream of a socket that nothing else can transmit on yet
 * @rcv_size: size of the peer's buffers as it said, header included
 *
 * The send ring's pieces limit what a message can have: one piece of the work
 * request is for the header, and an unaligned range touches one chunk more.
 */
void sdp_tx_set_peer(struct sdp_stream *st, u32 rcv_size)
{
	struct sdp_tx *tx = &st->tx;

	sdp_peerbuf_init(&tx->peer, rcv_size - SDP_BSDH_LEN,
			 (SDP_TX_MAX_SGE - 2) * tx->ring.chunk);
	tx->max_payload = sdp_peerbuf_payload(&tx->peer);
}

/**
 * sdp_tx_handle_chrcvbuf_ack() - the peer's answer to ChRcvBuf has come
 * @st: stream of a locked socket (by its owner or in softirq)
 * @rcv_size: size of its buffers, header included
 *
 * Return: 0 or -EPROTO.
 */
int sdp_tx_handle_chrcvbuf_ack(struct sdp_stream *st, u32 rcv_size)
{
	struct sdp_tx *tx = &st->tx;
	int err = sdp_peerbuf_acked(&tx->peer, rcv_size - SDP_BSDH_LEN);

	sdp_owned(st->sk);
	if (!err) {
		if (!tx->out.size)
			WRITE_ONCE(tx->max_payload,
				   sdp_peerbuf_payload(&tx->peer));
		tx->ask_again = jiffies + SDP_TX_ASK_PERIOD;
	}
	return err;
}

/**
 * sdp_alive_stalled() - something has to wait for the peer
 * @st: stream of a locked socket (by its owner or in softirq)
 *
 * From now on a timer checks whether the peer is there.
 */
void sdp_alive_stalled(struct sdp_stream *st)
{
	sdp_owned(st->sk);
	sdp_timer_arm_once(st->sk, SDP_TIMER_PERSIST, SDP_PERSIST_PERIOD);
}

/**
 * sdp_alive_user_limit() - how long data may be unacknowledged
 * @st: stream of a locked socket that has TCP_USER_TIMEOUT
 *
 * Return: jiffies.
 */
unsigned long sdp_alive_user_limit(const struct sdp_stream *st)
{
	sdp_owned(st->sk);
	return max_t(unsigned long, msecs_to_jiffies(sdp_base(st->sk)->opt.user_timeout),
		     SDP_USER_TIMEOUT_MIN);
}

/**
 * sdp_alive_written() - user space has written something
 * @st: stream of a locked socket, with something outstanding
 */
void sdp_alive_written(struct sdp_stream *st)
{
	sdp_owned(st->sk);
	if (sdp_base(st->sk)->opt.user_timeout)
		sdp_timer_arm_once(st->sk, SDP_TIMER_USER,
				   sdp_alive_user_limit(st) / 2);
}
