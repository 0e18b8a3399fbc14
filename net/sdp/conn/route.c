// SPDX-License-Identifier: GPL-2.0
/*
 * Which way a connection will take, before the connection manager has said so.
 */
#include <net/ip6_route.h>
#include <net/ipv6_stubs.h>
#include <net/route.h>

#include "route.h"

static void sdp_route_source_v4(struct net *net, int oif,
				const struct sdp_addr *peer,
				struct sdp_addr *local)
{
	struct flowi4 fl4 = {
		.daddr = peer->ip.s6_addr32[3],
		.flowi4_oif = oif,
	};
	struct rtable *rt = ip_route_output_key(net, &fl4);

	if (IS_ERR(rt))
		return;
	ipv6_addr_set_v4mapped(fl4.saddr, &local->ip);
	ip_rt_put(rt);
}

/**
 * sdp_route_is_broadcast() - whether an address is everybody's on some network
 * @net: namespace
 * @oif: interface that packets have to take, or 0
 * @peer: address
 *
 * The connection manager would ask the network who has it, and wait.
 *
 * Context: any, but not hard interrupts.
 */
bool sdp_route_is_broadcast(struct net *net, int oif,
			    const struct sdp_addr *peer)
{
	struct flowi4 fl4 = {
		.daddr = peer->ip.s6_addr32[3],
		.flowi4_oif = oif,
	};
	struct rtable *rt;
	bool broadcast;

	if (!sdp_addr_is_v4(peer))
		return false;
	rt = ip_route_output_key(net, &fl4);
	if (IS_ERR(rt))
		return false;
	broadcast = rt->rt_flags & RTCF_BROADCAST;
	ip_rt_put(rt);
	return broadcast;
}

static int sdp_route_mtu_v4(struct net *net, int oif,
			    const struct sdp_addr *peer)
{
	struct flowi4 fl4 = {
		.daddr = peer->ip.s6_addr32[3],
		.flowi4_oif = oif,
	};
	struct rtable *rt = ip_route_output_key(net, &fl4);
	int mtu;

	if (IS_ERR(rt))
		return -ENOTCONN;
	mtu = dst_mtu(&rt->dst);
	ip_rt_put(rt);
	return mtu;
}

static int sdp_route_mtu_v6(struct net *net, int oif,
			    const struct sdp_addr *peer)
{
	struct flowi6 fl6 = {
		.daddr = peer->ip,
		.flowi6_oif = peer->scope_id ?: oif,
	};
	struct dst_entry *dst;
	int mtu;

	dst = ipv6_stub->ipv6_dst_lookup_flow(net, NULL, &fl6, NULL);
	if (IS_ERR(dst))
		return -ENOTCONN;
	mtu = dst_mtu(dst);
	dst_release(dst);
	return mtu;
}

/**
 * sdp_route_mtu() - longest IP packet on the way to a peer
 * @net: namespace
 * @oif: interface that packets have to take, or 0
 * @peer: the other end's address
 *
 * Context: any, but not hard interrupts.
 * Return: bytes; -ENOTCONN if there is no way.
 */
int sdp_route_mtu(struct net *net, int oif, const struct sdp_addr *peer)
{
	if (sdp_addr_is_v4(peer))
		return sdp_route_mtu_v4(net, oif, peer);
	return sdp_route_mtu_v6(net, oif, peer);
}

static void sdp_route_source_v6(struct net *net, int oif,
				const struct sdp_addr *peer,
				struct sdp_addr *local)
{
	struct flowi6 fl6 = {
		.daddr = peer->ip,
		.flowi6_oif = peer->scope_id ?: oif,
	};
	struct dst_entry *dst;

	dst = ipv6_stub->ipv6_dst_lookup_flow(net, NULL, &fl6, NULL);
	if (IS_ERR(dst))
		return;
	local->ip = fl6.saddr;
	local->scope_id = peer->scope_id;
	dst_release(dst);
}

/**
 * sdp_route_source() - find the address that connections to a peer come from
 * @net: namespace
 * @oif: interface that they have to take, or 0
 * @peer: the other end's address
 * @local: own address, whose port is left alone; unchanged without a route
 *
 * The connection manager makes the same choice by itself, and tells it late.
 */
void sdp_route_source(struct net *net, int oif, const struct sdp_addr *peer,
		      struct sdp_addr *local)
{
	if (sdp_addr_is_v4(peer))
		sdp_route_source_v4(net, oif, peer, local);
	else
		sdp_route_source_v6(net, oif, peer, local);
}
