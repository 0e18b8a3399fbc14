// SPDX-License-Identifier: GPL-2.0
/*
 * Options that IP and IPv6 themselves keep for the sockets of their families.
 *
 * They do nothing to an RDMA connection, nor to a TCP stream in most cases, but
 * programs that set them on any socket end if they cannot.  Their values, rules
 * and errors are left to the code that has them for TCP.
 */
#include <net/ip.h>
#include <net/ipv6.h>

#include "options.h"
#include "route.h"
#include "sock.h"

#if IS_ENABLED(CONFIG_IPV6)
static int sdp_inet6_set(struct sock *sk, int optname, sockptr_t optval,
			 unsigned int optlen)
{
	return ipv6_setsockopt(sk, SOL_IPV6, optname, optval, optlen);
}

static int sdp_inet6_get(struct sock *sk, int optname, char __user *optval,
			 int __user *optlen)
{
	return ipv6_getsockopt(sk, SOL_IPV6, optname, optval, optlen);
}
#else
static int sdp_inet6_set(struct sock *sk, int optname, sockptr_t optval,
			 unsigned int optlen)
{
	return -ENOPROTOOPT;
}

static int sdp_inet6_get(struct sock *sk, int optname, char __user *optval,
			 int __user *optlen)
{
	return -ENOPROTOOPT;
}
#endif

/* Nothing here may refer to memory that lives as long as the socket. */
static bool sdp_inet_keeps_ip(int optname)
{
	switch (optname) {
	case IP_CHECKSUM:
	case IP_LOCAL_PORT_RANGE:
	case IP_MULTICAST_ALL:
	case IP_MULTICAST_IF:
	case IP_MULTICAST_LOOP:
	case IP_MULTICAST_TTL:
	case IP_PASSSEC:
	case IP_RECVFRAGSIZE:
	case IP_RECVOPTS:
	case IP_RECVORIGDSTADDR:
	case IP_RETOPTS:
	case IP_UNICAST_IF:
		return true;
	default:
		return false;
	}
}

static bool sdp_inet_keeps_ipv6(int optname)
{
	switch (optname) {
	case IPV6_ADDR_PREFERENCES:
	case IPV6_AUTOFLOWLABEL:
	case IPV6_FLOWINFO:
	case IPV6_FLOWINFO_SEND:
	case IPV6_FREEBIND:
	case IPV6_MTU:
	case IPV6_MULTICAST_ALL:
	case IPV6_MULTICAST_HOPS:
	case IPV6_MULTICAST_IF:
	case IPV6_MULTICAST_LOOP:
	case IPV6_RECVDSTOPTS:
	case IPV6_RECVFRAGSIZE:
	case IPV6_RECVHOPOPTS:
	case IPV6_RECVORIGDSTADDR:
	case IPV6_RECVPATHMTU:
	case IPV6_RECVRTHDR:
	case IPV6_UNICAST_IF:
		return true;
	default:
		return false;
	}
}

/* There are no such headers, so that all that can be done is to have none. */
static bool sdp_inet_is_header(int level, int optname)
{
	if (level == SOL_IP)
		return optname == IP_OPTIONS;
	return optname == IPV6_HOPOPTS || optname == IPV6_RTHDRDSTOPTS ||
	       optname == IPV6_RTHDR || optname == IPV6_DSTOPTS;
}

static bool sdp_inet_keeps(const struct sock *sk, int level, int optname)
{
	if (level == SOL_IP)
		return sk->sk_family != AF_SDP && sdp_inet_keeps_ip(optname);
	return sk->sk_family == AF_INET6 && sdp_inet_keeps_ipv6(optname);
}

/**
 * sdp_inet_setsockopt() - set an option that IP or IPv6 keeps
 * @sk: socket, not locked
 * @level: SOL_IP or SOL_IPV6
 * @optname: option
 * @optval: value
 * @optlen: its length
 *
 * Context: may sleep.
 * Return: 0 or a negative errno; -ENOPROTOOPT for all others.
 */
int sdp_inet_setsockopt(struct sock *sk, int level, int optname,
			sockptr_t optval, unsigned int optlen)
{
	if (sdp_inet_is_header(level, optname))
		return optlen ? -ENOPROTOOPT : 0;
	if (!sdp_inet_keeps(sk, level, optname))
		return -ENOPROTOOPT;
	return level == SOL_IP ?
	       ip_setsockopt(sk, level, optname, optval, optlen) :
	       sdp_inet6_set(sk, optname, optval, optlen);
}

/**
 * sdp_inet_getsockopt() - read an option that IP or IPv6 keeps
 * @sk: socket, not locked
 * @level: SOL_IP or SOL_IPV6
 * @optname: option
 * @optval: where to put the value
 * @optlen: room there; set to what was written
 *
 * Context: may sleep.
 * Return: 0 or a negative errno; -ENOPROTOOPT for all others.
 */
int sdp_inet_getsockopt(struct sock *sk, int level, int optname,
			char __user *optval, int __user *optlen)
{
	/* Programs look here for source routes. */
	if (sdp_inet_is_header(level, optname))
		return put_user(0, optlen);
	if (!sdp_inet_keeps(sk, level, optname))
		return -ENOPROTOOPT;
	return level == SOL_IP ?
	       ip_getsockopt(sk, level, optname, optval, optlen) :
	       sdp_inet6_get(sk, optname, optval, optlen);
}

/**
 * sdp_inet_mtu() - IP_MTU and IPV6_MTU of a connection
 * @sk: socket, not locked
 *
 * Return: what the way to the peer can carry in one packet of IP, or -ENOTCONN.
 */
int sdp_inet_mtu(struct sock *sk)
{
	struct sdp_sock *ssk = sdp_sk(sk);
	int mtu = -ENOTCONN;

	sdp_lock_sock(sk);
	if (!sdp_in_state(sk, SDPF_OVER | TCPF_LISTEN))
		mtu = sdp_route_mtu(sock_net(sk), sk->sk_bound_dev_if,
				    &ssk->peer);
	sdp_release_sock(sk);
	return mtu;
}
