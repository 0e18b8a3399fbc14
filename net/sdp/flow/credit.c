// SPDX-License-Identifier: GPL-2.0
/*
 * Decisions of credit-based flow control.
 *
 * What the peer may send is bounded by a sequence number, mseq_ack + bufs.  It
 * never goes back, because a posted buffer stays posted until a message takes
 * it.  All rules against starvation are here; Documentation/protocol/wire.rst says why
 * they suffice.
 */
#include <linux/compiler.h>
#include <linux/errno.h>

#include "credit.h"

/* Credits that must be there to send: for payload, for control, for the rest. */
#define CREDITS_FOR_DATA	3
#define CREDITS_FOR_CONTROL	2
#define CREDITS_FOR_LAST	1

/**
 * sdp_credit_init() - start when Hello or HelloAck came in
 * @c: credit state
 * @rx_total: receive buffers that we posted and promised in our own Hello or
 *	HelloAck, SDP_CREDIT_BUFS_MIN to SDP_CREDIT_BUFS_MAX
 * @peer_bufs: receive buffers that the peer promised in its
 */
void sdp_credit_init(struct sdp_credit *c, u32 rx_total, u32 peer_bufs)
{
	*c = (struct sdp_credit){
		.tx_bufs = peer_bufs,
		.rx_posted = rx_total,
		.rx_advertised = rx_total,
		.rx_total = rx_total,
	};
}

/**
 * sdp_credit_data() - how many messages with payload, or SrcAvail, may be sent
 * @c: credit state
 */
u32 sdp_credit_data(const struct sdp_credit *c)
{
	u32 available = sdp_credit_available(c);

	return available < CREDITS_FOR_DATA ?
	       0 : available - CREDITS_FOR_DATA + 1;
}

/* Receive buffers that the peer does not know of yet. */
static u32 sdp_credit_gain(const struct sdp_credit *c)
{
	return c->rx_posted - c->rx_advertised;
}

/*
 * The last credit is for messages that give credits and carry no payload, so
 * that the two sides can never wait for each other; and for the one behind
 * which nothing can wait.
 */
static u32 sdp_credit_needed(const struct sdp_credit *c, enum sdp_mid mid,
			     u32 payload_len)
{
	if (payload_len || mid == SDP_MID_SRCAVAIL || mid == SDP_MID_SINKAVAIL)
		return CREDITS_FOR_DATA;
	if (sdp_credit_gain(c) || mid == SDP_MID_DISCONN ||
	    mid == SDP_MID_ABORTCONN)
		return CREDITS_FOR_LAST;
	return CREDITS_FOR_CONTROL;
}

/**
 * sdp_credit_may_send() - whether the credits allow a message
 * @c: credit state
 * @mid: kind of message
 * @payload_len: bytes of payload
 */
bool sdp_credit_may_send(const struct sdp_credit *c, enum sdp_mid mid,
			 u32 payload_len)
{
	return sdp_credit_available(c) >=
	       sdp_credit_needed(c, mid, payload_len);
}

/**
 * sdp_credit_receive() - check a received message and account for it
 * @c: credit state, not changed on error
 * @bsdh: the message's base header
 * @n: credits that it takes, not 0
 *
 * Return: 0; -EPROTO if the message is out of sequence, acknowledges what was
 * never sent, takes back credits, or was sent without credit.
 */
int sdp_credit_receive(struct sdp_credit *c, const struct sdp_bsdh *bsdh, u32 n)
{
	u32 acked = bsdh->mseq_ack - c->tx_acked;
	u32 unacked = c->tx_mseq - c->tx_acked;

	if (c->rx_advertised < n || bsdh->mseq != c->rx_mseq + n ||
	    acked > unacked)
		return -EPROTO;
	/* Neither side of this can wrap: both are counted from tx_acked. */
	if (acked + bsdh->bufs < c->tx_bufs)
		return -EPROTO;

	c->rx_mseq = bsdh->mseq;
	c->rx_posted -= n;
	c->rx_advertised -= n;
	WRITE_ONCE(c->tx_acked, bsdh->mseq_ack);
	c->tx_bufs = bsdh->bufs;
	return 0;
}

/**
 * sdp_credit_is_probe() - whether a message was sent to be answered
 * @c: credit state, before sdp_credit_receive()
 * @bsdh: base header of a message without payload and extended header
 *
 * An empty message has a reason: it returns credits.  One that does not asks
 * for an answer.  The answer returns the credit that the question has cost, so
 * that it is not a question itself.
 */
bool sdp_credit_is_probe(const struct sdp_credit *c,
			 const struct sdp_bsdh *bsdh)
{
	return bsdh->mid == SDP_MID_DATA &&
	       bsdh->mseq_ack + bsdh->bufs == c->tx_acked + c->tx_bufs;
}

/**
 * sdp_credit_may_probe() - whether the credits allow a message to be answered
 * @c: credit state
 *
 * The last credit may be spent on it if the peer has one to answer with.
 */
bool sdp_credit_may_probe(const struct sdp_credit *c)
{
	u32 available = sdp_credit_available(c);

	return !sdp_credit_gain(c) &&
	       (available >= CREDITS_FOR_CONTROL ||
		(available && c->rx_advertised));
}

/**
 * sdp_credit_added() - account for new receive buffers, which are posted
 * @c: credit state
 * @n: how many; SDP_CREDIT_BUFS_MAX must not be exceeded
 */
void sdp_credit_added(struct sdp_credit *c, u32 n)
{
	c->rx_total += n;
	c->rx_posted += n;
}

/**
 * sdp_credit_removed() - account for a receive buffer that is not posted again
 * @c: credit state; SDP_CREDIT_BUFS_MIN must stay
 *
 * It is one that a message has consumed, so that nothing is taken back from
 * the peer.
 */
void sdp_credit_removed(struct sdp_credit *c)
{
	c->rx_total--;
}

/**
 * sdp_credit_resize() - account for receive buffers that a ring will have
 * @c: credit state
 * @total: how many there are when nothing is in the ring
 *
 * Those that have been posted stay.
 */
void sdp_credit_resize(struct sdp_credit *c, u32 total)
{
	c->rx_total = total > c->rx_posted ? total : c->rx_posted;
}

/**
 * sdp_credit_want_update() - whether credits should be advertised
 * @c: credit state
 *
 * Updates are delayed until half of the credits can be returned with one.  A peer
 * without any credit could not even send us an update, and the first buffer is
 * advertised to it.  True only until the next message, of whatever kind, is sent.
 */
bool sdp_credit_want_update(const struct sdp_credit *c)
{
	u32 gain = sdp_credit_gain(c);

	return gain && (!c->rx_advertised || gain >= c->rx_total / 2);
}

/**
 * sdp_credit_want_relief() - whether an update would allow a waiting peer to send
 * @c: credit state
 *
 * For callers that make room although user space does not read.  An update gives the
 * peer one credit to return, so that with two for each the two sides do not update
 * each other for ever.
 */
bool sdp_credit_want_relief(const struct sdp_credit *c)
{
	return c->rx_advertised < CREDITS_FOR_DATA &&
	       c->rx_posted >= CREDITS_FOR_DATA && sdp_credit_gain(c) >= 2;
}

/**
 * sdp_credit_want_answer() - whether the peer may lack credits to answer with
 * @c: credit state
 *
 * For callers that wait for an answer which has to come although user space does not
 * read: it needs two credits, unless it returns some.
 */
bool sdp_credit_want_answer(const struct sdp_credit *c)
{
	return sdp_credit_gain(c) && c->rx_advertised < CREDITS_FOR_CONTROL;
}

/**
 * sdp_credit_transmit() - account for a message that is about to be sent
 * @c: credit state, sdp_credit_may_send() said yes
 * @bsdh: base header, in which the sequence numbers and credits are filled in
 * @n: credits that it takes, and sequence numbers, of which it has the last
 */
void sdp_credit_transmit(struct sdp_credit *c, struct sdp_bsdh *bsdh, u32 n)
{
	c->tx_mseq += n;
	bsdh->mseq = c->tx_mseq;
	bsdh->mseq_ack = c->rx_mseq;
	bsdh->bufs = c->rx_posted;
	c->rx_advertised = c->rx_posted;
}
