/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which way a connection will take.
 */
#ifndef _SDP_ROUTE_H
#define _SDP_ROUTE_H

#include "base/base.h"

struct net;

void sdp_route_source(struct net *net, int oif, const struct sdp_addr *peer,
		      struct sdp_addr *local);
bool sdp_route_is_broadcast(struct net *net, int oif,
			    const struct sdp_addr *peer);
int sdp_route_mtu(struct net *net, int oif, const struct sdp_addr *peer);

#endif /* _SDP_ROUTE_H */
