/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What any user may see of a socket, in /proc/net/sdp and by netlink.
 */
#ifndef _SDP_VIEW_H
#define _SDP_VIEW_H

#include <linux/types.h>

struct sdp_net;
struct sdp_sock;
struct sock;

/**
 * struct sdp_view - a socket as seen from outside
 * @v4: both its addresses are shown as those of IPv4
 * @live: it has an RDMA connection
 * @state: one of TCP's states
 * @rqueue: bytes received and not read; of a listener: connections that wait
 * @wqueue: bytes not known to have arrived; of a listener: the backlog
 * @tx_credits: messages that the peer takes
 * @rx_credits: messages that the peer may send
 * @flow: engine of flow control, or what TCP carries; NULL for none
 * @flow_why: enum sdp_flow_reason
 * @dev: what carries the connection; NULL without one
 * @qpn: number of its queue pair, 0 = none
 * @ring: bytes of the receive ring
 * @ring_used: of this, not read
 * @peer_ring: bytes of the peer's ring
 * @ring_why: enum sdp_ring_reason
 * @zcopy: enum sdp_zcopy_mode, of a live connection
 */
struct sdp_view {
	bool v4;
	bool live;
	int state;
	u32 rqueue;
	u32 wqueue;
	u32 tx_credits;
	u32 rx_credits;
	const char *flow;
	u32 flow_why;
	const char *dev;
	u32 qpn;
	u32 ring;
	u32 ring_used;
	u32 peer_ring;
	u32 ring_why;
	u32 zcopy;
};

struct sock *sdp_view_next(struct sdp_net *sn, unsigned long *number);
void sdp_view_socket(const struct sdp_sock *ssk, struct sdp_view *view);

#endif /* _SDP_VIEW_H */
