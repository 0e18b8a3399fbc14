// SPDX-License-Identifier: GPL-2.0
/*
 * What the two ends of a connection agree on: which engine of flow control, of those
 * that the administrator or the program wants, the device can do, and the peer offers.
 */
#include <rdma/ib_verbs.h>

#include "conn.h"

/* The engine that is wanted, and all that are weaker. */
static u16 sdp_flow_up_to(const struct sdp_flow_ops *flow)
{
	return flow->feature | (flow->feature - 1);
}

/**
 * sdp_flow_begin() - decide which engines to offer the peer
 * @conn: connection that nobody else can transmit on yet, whose device is known
 *
 * What is offered stays, because buffers are made for it and the peer is told:
 * the administrator may want another engine before the peer has answered.
 */
void sdp_flow_begin(struct sdp_conn *conn)
{
	conn->stream.flow = sdp_option_flow(&conn->sk);
	conn->flow_reason = SDP_FLOW_REASON_NONE;
	conn->stream.features = sdp_flow_up_to(conn->stream.flow) & conn->link.dev->flows;
	/* Whether, and how, messages travel without a header: see stream/immediate.c. */
	conn->stream.features |= conn->link.dev->immediate;
}

static const char *sdp_flow_reason(enum sdp_flow_reason reason)
{
	return reason == SDP_FLOW_REASON_DEVICE ? "the device cannot do it" :
						  "the peer does not offer it";
}

/* What has kept a connection from the engine that was wanted. */
static enum sdp_flow_reason sdp_flow_obstacle(const struct sdp_conn *conn,
					      const struct sdp_flow_ops *want)
{
	if (conn->stream.flow == want)
		return SDP_FLOW_REASON_NONE;
	return want->feature & conn->link.dev->flows ? SDP_FLOW_REASON_PEER :
						  SDP_FLOW_REASON_DEVICE;
}

/**
 * sdp_flow_choose() - use the strongest engine that both sides offer
 * @conn: connection of a locked socket, or one that nobody else knows; sdp_flow_begin() was
 *	called
 * @peer: SDP_FEAT_* that the peer has offered; a peer that has said nothing
 *	gets credits
 */
void sdp_flow_choose(struct sdp_conn *conn, u16 peer)
{
	const struct sdp_flow_ops *want = conn->stream.flow;

	conn->stream.features &= peer;
	conn->stream.flow = sdp_flow_strongest(conn->stream.features);
	conn->flow_reason = sdp_flow_obstacle(conn, want);
	sdp_dbg(&conn->sk, "RDMA over %s with flow control %s, %s is wanted",
		conn->dev_name, conn->stream.flow->name, want->name);
	if (!conn->flow_reason)
		return;
	SDP_INC_STATS(sock_net(&conn->sk), SDP_MIB_FLOWDOWNGRADES);
	pr_info_ratelimited("sdp: flow control on %s is %s and not %s: %s\n",
			    conn->dev_name, conn->stream.flow->name, want->name,
			    sdp_flow_reason(conn->flow_reason));
}
