/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decisions of credit-based flow control: when may a message be sent, is what
 * the peer sent within its credits, when are credits returned.
 *
 * Pure: also compiled in user space by the unit tests.
 */
#ifndef _SDP_FLOW_CREDIT_H
#define _SDP_FLOW_CREDIT_H

#include <linux/types.h>

#include "wire/wire.h"

/*
 * Fewest receive buffers for ourselves.  With three on both sides an update
 * would leave its sender without the credits for data, so that the two would
 * update each other for ever.
 */
#define SDP_CREDIT_BUFS_MIN	4
/* Most receive buffers: what fits in a header. */
#define SDP_CREDIT_BUFS_MAX	65535

/**
 * struct sdp_credit - credit state of a connection, both directions
 * @tx_mseq: sequence number of the last message sent; the Hello was 0
 * @tx_acked: highest mseq_ack from the peer
 * @tx_bufs: receive buffers the peer had posted as of @tx_acked
 * @rx_mseq: sequence number of the last message received
 * @rx_posted: receive buffers posted and not consumed by a message yet
 * @rx_advertised: of these, how many have been advertised to the peer
 * @rx_total: receive buffers in all
 *
 * A message has a sequence number; one that takes several virtual windows has as
 * many, and buffers are windows then.  Sequence numbers wrap.  Always
 * @rx_advertised <= @rx_posted <= @rx_total, and @tx_mseq never passes
 * @tx_acked + @tx_bufs: a message always finds a buffer.
 */
struct sdp_credit {
	u32 tx_mseq;
	u32 tx_acked;
	u32 tx_bufs;
	u32 rx_mseq;
	u32 rx_posted;
	u32 rx_advertised;
	u32 rx_total;
};

/**
 * sdp_credit_available() - how many messages would find a buffer at the peer
 * @c: credit state
 */
static inline u32 sdp_credit_available(const struct sdp_credit *c)
{
	return c->tx_acked + c->tx_bufs - c->tx_mseq;
}

/**
 * sdp_credit_posted() - account for receive buffers posted again
 * @c: credit state
 * @n: how many
 */
static inline void sdp_credit_posted(struct sdp_credit *c, u32 n)
{
	c->rx_posted += n;
}

void sdp_credit_init(struct sdp_credit *c, u32 rx_total, u32 peer_bufs);
u32 sdp_credit_data(const struct sdp_credit *c);
bool sdp_credit_may_send(const struct sdp_credit *c, enum sdp_mid mid,
			 u32 payload_len);
int sdp_credit_receive(struct sdp_credit *c, const struct sdp_bsdh *bsdh, u32 n);
bool sdp_credit_is_probe(const struct sdp_credit *c,
			 const struct sdp_bsdh *bsdh);
bool sdp_credit_may_probe(const struct sdp_credit *c);
void sdp_credit_added(struct sdp_credit *c, u32 n);
void sdp_credit_resize(struct sdp_credit *c, u32 total);
void sdp_credit_removed(struct sdp_credit *c);
bool sdp_credit_want_update(const struct sdp_credit *c);
bool sdp_credit_want_relief(const struct sdp_credit *c);
bool sdp_credit_want_answer(const struct sdp_credit *c);
void sdp_credit_transmit(struct sdp_credit *c, struct sdp_bsdh *bsdh, u32 n);

#endif /* _SDP_FLOW_CREDIT_H */
