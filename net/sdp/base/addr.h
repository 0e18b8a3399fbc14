/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Endpoints: one form inside, three address families outside.
 */
#ifndef _SDP_ADDR_H
#define _SDP_ADDR_H

#include <linux/in.h>
#include <linux/in6.h>
#include <linux/socket.h>
#include <net/ipv6.h>

/**
 * struct sdp_addr - an endpoint
 * @ip: IPv6 address, or an IPv4 address in its mapped form
 * @port: TCP port in network order
 * @scope_id: interface of a link-local address
 */
struct sdp_addr {
	struct in6_addr ip;
	__be16 port;
	u32 scope_id;
};

static inline bool sdp_addr_is_v4(const struct sdp_addr *addr)
{
	return ipv6_addr_v4mapped(&addr->ip);
}

static inline bool sdp_addr_is_any(const struct sdp_addr *addr)
{
	return ipv6_addr_any(&addr->ip) ||
	       (sdp_addr_is_v4(addr) && !addr->ip.s6_addr32[3]);
}

/* Only a device on the loopback interface has one. */
static inline bool sdp_addr_is_loopback(const struct sdp_addr *addr)
{
	if (sdp_addr_is_v4(addr))
		return ipv4_is_loopback(addr->ip.s6_addr32[3]);
	return ipv6_addr_loopback(&addr->ip);
}

static inline bool sdp_addr_is_multicast(const struct sdp_addr *addr)
{
	if (sdp_addr_is_v4(addr))
		return ipv4_is_multicast(addr->ip.s6_addr32[3]);
	return ipv6_addr_is_multicast(&addr->ip);
}

/* A link-local address says nothing without the link. */
static inline bool sdp_addr_lacks_scope(const struct sdp_addr *addr)
{
	return ipv6_addr_type(&addr->ip) & IPV6_ADDR_LINKLOCAL &&
	       !addr->scope_id;
}

/* Whether they are the same, but for the interface: two ends of a link may differ in that. */
static inline bool sdp_addr_same_but_scope(const struct sdp_addr *a, const struct sdp_addr *b)
{
	return a->port == b->port && ipv6_addr_equal(&a->ip, &b->ip);
}

static inline bool sdp_addr_same(const struct sdp_addr *a, const struct sdp_addr *b)
{
	return a->scope_id == b->scope_id && sdp_addr_same_but_scope(a, b);
}

/* Makes it the unspecified address of IPv6 or IPv4; the port stays. */
static inline void sdp_addr_set_any(struct sdp_addr *addr, bool v6)
{
	ipv6_addr_set_v4mapped(0, &addr->ip);
	if (v6)
		addr->ip = in6addr_any;
	addr->scope_id = 0;
}

int sdp_addr_from_user(int family, const struct sockaddr_unsized *uaddr,
		       int len, struct sdp_addr *addr, bool *v6);
int sdp_addr_to_user(const struct sdp_addr *addr, bool v6, void *to);
void sdp_addr_from_rdma(const struct sockaddr_storage *from,
			struct sdp_addr *addr);
void sdp_addr_to_rdma(const struct sdp_addr *addr, bool dual,
		      struct sockaddr_storage *to);

#endif /* _SDP_ADDR_H */
