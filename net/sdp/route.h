/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which way a connection will take.
 */
#ifndef _SDP_ROUTE_H
#define _SDP_ROUTE_H

#include "addr.h"

struct net;

void sdp_route_source(struct net *net, int oif, const struct sdp_addr *peer,
		      struct sdp_addr *local);

#endif /* _SDP_ROUTE_H */
