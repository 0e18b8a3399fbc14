// SPDX-License-Identifier: GPL-2.0
/*
 * Endpoints.  A socket of AF_SDP is dual-stack: it takes AF_INET, AF_INET6 and
 * the protocol's own family, laid out as AF_INET, and answers with the first
 * two.  A socket of these two families keeps to its own.
 */
#include <linux/in.h>
#include <linux/sdp.h>
#include <linux/string.h>

#include "addr.h"

static void sdp_addr_set_v4(struct sdp_addr *addr, __be32 ip, __be16 port)
{
	memset(addr, 0, sizeof(*addr));
	ipv6_addr_set_v4mapped(ip, &addr->ip);
	addr->port = port;
}

/* The shortest form in use by user space ends before the scope. */
static void sdp_addr_set_v6(struct sdp_addr *addr,
			    const struct sockaddr_in6 *sin6, bool scoped)
{
	addr->ip = sin6->sin6_addr;
	addr->port = sin6->sin6_port;
	addr->scope_id = scoped ? sin6->sin6_scope_id : 0;
}

/* What the inet families accept for their sockets, in their order. */
static int sdp_addr_check_family(int family,
				 const struct sockaddr_unsized *uaddr, int len)
{
	if (family == AF_SDP)
		return 0;
	if (len < (family == AF_INET6 ? SIN6_LEN_RFC2133 :
					(int)sizeof(struct sockaddr_in)))
		return -EINVAL;
	/* What it means for an address is the caller's next question. */
	if (family == AF_INET && uaddr->sa_family == AF_UNSPEC)
		return 0;
	return uaddr->sa_family == family ? 0 : -EAFNOSUPPORT;
}

/**
 * sdp_addr_from_user() - read an address that user space passed
 * @family: the socket's family
 * @uaddr: address, already in kernel memory
 * @len: its length
 * @addr: where to put it
 * @v6: set to whether it came as AF_INET6
 *
 * Return: 0; -EINVAL if it is too short; -EAFNOSUPPORT if the family is none
 * of ours.
 */
int sdp_addr_from_user(int family, const struct sockaddr_unsized *uaddr,
		       int len, struct sdp_addr *addr, bool *v6)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)uaddr;
	const struct sockaddr_in *sin = (const struct sockaddr_in *)uaddr;
	int err;

	if (len < (int)offsetofend(struct sockaddr, sa_family))
		return -EINVAL;
	err = sdp_addr_check_family(family, uaddr, len);
	if (err)
		return err;
	switch (uaddr->sa_family) {
	case AF_UNSPEC:
	case AF_INET:
	case AF_SDP:
		if (len < (int)sizeof(*sin))
			return -EINVAL;
		/* bind() has always allowed user space to leave out the family. */
		if (!uaddr->sa_family && sin->sin_addr.s_addr)
			return -EAFNOSUPPORT;
		sdp_addr_set_v4(addr, sin->sin_addr.s_addr, sin->sin_port);
		*v6 = false;
		return 0;
	case AF_INET6:
		if (len < SIN6_LEN_RFC2133)
			return -EINVAL;
		sdp_addr_set_v6(addr, sin6, len >= (int)sizeof(*sin6));
		*v6 = true;
		return 0;
	default:
		return len < (int)sizeof(*sin) ? -EINVAL : -EAFNOSUPPORT;
	}
}

/**
 * sdp_addr_to_user() - show an address to user space
 * @addr: address
 * @v6: as AF_INET6, an IPv4 address in its mapped form
 * @to: sockaddr_in or sockaddr_in6
 *
 * Return: length of the address written.
 */
int sdp_addr_to_user(const struct sdp_addr *addr, bool v6, void *to)
{
	struct sockaddr_in6 *sin6 = to;
	struct sockaddr_in *sin = to;

	if (v6 || !sdp_addr_is_v4(addr)) {
		memset(sin6, 0, sizeof(*sin6));
		sin6->sin6_family = AF_INET6;
		sin6->sin6_addr = addr->ip;
		sin6->sin6_port = addr->port;
		sin6->sin6_scope_id = addr->scope_id;
		return sizeof(*sin6);
	}
	memset(sin, 0, sizeof(*sin));
	sin->sin_family = AF_INET;
	sin->sin_addr.s_addr = addr->ip.s6_addr32[3];
	sin->sin_port = addr->port;
	return sizeof(*sin);
}

/**
 * sdp_addr_from_rdma() - read an address of a cm_id
 * @from: address, AF_INET or AF_INET6
 * @addr: where to put it
 */
void sdp_addr_from_rdma(const struct sockaddr_storage *from,
			struct sdp_addr *addr)
{
	const struct sockaddr_in *sin = (const struct sockaddr_in *)from;

	if (from->ss_family == AF_INET6)
		sdp_addr_set_v6(addr, (const struct sockaddr_in6 *)from, true);
	else
		sdp_addr_set_v4(addr, sin->sin_addr.s_addr, sin->sin_port);
}

/**
 * sdp_addr_to_rdma() - write an address as the connection manager wants it
 * @addr: address
 * @dual: the unspecified address stands for IPv6 and IPv4
 * @to: where to put it; mapped addresses become AF_INET
 */
void sdp_addr_to_rdma(const struct sdp_addr *addr, bool dual,
		      struct sockaddr_storage *to)
{
	struct sdp_addr any = { .port = addr->port };

	memset(to, 0, sizeof(*to));
	if (dual && sdp_addr_is_any(addr))
		addr = &any;
	sdp_addr_to_user(addr, false, to);
}
