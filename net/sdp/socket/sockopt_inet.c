// SPDX-License-Identifier: GPL-2.0
/*
 * Options that IP and IPv6 themselves keep for the sockets of their families.
 *
 * They do nothing to an RDMA connection, nor to a TCP stream in most cases, but
 * applications that set them on any socket fail if they cannot.  Their values, rules and
 * errors are left to the code that has them for TCP.  What was set is remembered beside,
 * for the TCP socket of a fallback.
 */
#include <linux/net.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>

#include "base/base.h"
#include "conn/conn.h"
#include "socket.h"

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

#define SDP_INET_IP(name)	{ SOL_IP, name }
#define SDP_INET_IPV6(name)	{ SOL_IPV6, name }

/* Nothing here may refer to memory that lives as long as the socket. */
static const struct {
	u8 level;
	u8 name;
} sdp_inet_kept[SDP_INET_OPTIONS] = {
	SDP_INET_IP(IP_CHECKSUM),
	SDP_INET_IP(IP_LOCAL_PORT_RANGE),
	SDP_INET_IP(IP_MULTICAST_ALL),
	SDP_INET_IP(IP_MULTICAST_IF),
	SDP_INET_IP(IP_MULTICAST_LOOP),
	SDP_INET_IP(IP_MULTICAST_TTL),
	SDP_INET_IP(IP_PASSSEC),
	SDP_INET_IP(IP_RECVFRAGSIZE),
	SDP_INET_IP(IP_RECVOPTS),
	SDP_INET_IP(IP_RECVORIGDSTADDR),
	SDP_INET_IP(IP_RETOPTS),
	SDP_INET_IP(IP_UNICAST_IF),
	SDP_INET_IPV6(IPV6_ADDR_PREFERENCES),
	SDP_INET_IPV6(IPV6_AUTOFLOWLABEL),
	SDP_INET_IPV6(IPV6_FLOWINFO),
	SDP_INET_IPV6(IPV6_FLOWINFO_SEND),
	SDP_INET_IPV6(IPV6_FREEBIND),
	SDP_INET_IPV6(IPV6_MTU),
	SDP_INET_IPV6(IPV6_MULTICAST_ALL),
	SDP_INET_IPV6(IPV6_MULTICAST_HOPS),
	SDP_INET_IPV6(IPV6_MULTICAST_IF),
	SDP_INET_IPV6(IPV6_MULTICAST_LOOP),
	SDP_INET_IPV6(IPV6_RECVDSTOPTS),
	SDP_INET_IPV6(IPV6_RECVFRAGSIZE),
	SDP_INET_IPV6(IPV6_RECVHOPOPTS),
	SDP_INET_IPV6(IPV6_RECVORIGDSTADDR),
	SDP_INET_IPV6(IPV6_RECVPATHMTU),
	SDP_INET_IPV6(IPV6_RECVRTHDR),
	SDP_INET_IPV6(IPV6_UNICAST_IF),
};

static int sdp_inet_find(const struct sock *sk, int level, int optname)
{
	int i;

	if (sk->sk_family == AF_SDP ||
	    (level == SOL_IPV6 && sk->sk_family != AF_INET6))
		return -ENOPROTOOPT;
	for (i = 0; i < SDP_INET_OPTIONS; i++)
		if (sdp_inet_kept[i].level == level &&
		    sdp_inet_kept[i].name == optname)
			return i;
	return -ENOPROTOOPT;
}

/* There are no such headers, so that all that can be done is to have none. */
static bool sdp_inet_is_header(int level, int optname)
{
	if (level == SOL_IP)
		return optname == IP_OPTIONS;
	return optname == IPV6_HOPOPTS || optname == IPV6_RTHDRDSTOPTS ||
	       optname == IPV6_RTHDR || optname == IPV6_DSTOPTS;
}

/* Where IP and IPv6 store it differs between kernels, so that TCP is given this. */
static void sdp_inet_remember(struct sdp_sock *ssk, int which, sockptr_t optval,
			      unsigned int optlen)
{
	int val;

	/* IPv6 takes it for zero, too, if there is nothing to read. */
	if (sdp_ip_read(sdp_inet_kept[which].level, optval, optlen, &val))
		val = 0;
	sdp_lock_sock(&ssk->sk);
	ssk->base.opt.inet[which] = val;
	ssk->base.opt.inet_set |= BIT(which);
	sdp_release_sock(&ssk->sk);
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
	int which = sdp_inet_find(sk, level, optname);
	int err;

	if (sdp_inet_is_header(level, optname))
		return optlen ? -ENOPROTOOPT : 0;
	if (which < 0)
		return which;
	err = level == SOL_IP ?
	      ip_setsockopt(sk, level, optname, optval, optlen) :
	      sdp_inet6_set(sk, optname, optval, optlen);
	if (!err)
		sdp_inet_remember(sdp_sk(sk), which, optval, optlen);
	return err;
}

/**
 * sdp_inet_carry() - set the same options of another socket
 * @ssk: locked socket
 * @given: what the other one was given before and need not get
 * @to: TCP socket, not locked; what its family does not know it does not take
 *
 * Context: may sleep.
 */
void sdp_inet_carry(const struct sdp_sock *ssk, const struct sdp_options *given,
		    struct socket *to)
{
	unsigned long set = ssk->base.opt.inet_set;
	unsigned int i;
	int level;
	int name;
	int val;

	sdp_owned(&ssk->sk);
	for_each_set_bit(i, &set, SDP_INET_OPTIONS) {
		level = sdp_inet_kept[i].level;
		name = sdp_inet_kept[i].name;
		/* One flag of both, and a peer of IPv4 is reached by IP alone. */
		if (level == SOL_IPV6 && name == IPV6_FREEBIND) {
			level = SOL_IP;
			name = IP_FREEBIND;
		}
		val = ssk->base.opt.inet[i];
		if (given->inet_set & BIT(i) && given->inet[i] == val)
			continue;
		READ_ONCE(to->ops)->setsockopt(to, level, name,
					       KERNEL_SOCKPTR(&val),
					       sizeof(val));
	}
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
	/* Applications look here for source routes. */
	if (sdp_inet_is_header(level, optname))
		return put_user(0, optlen);
	if (sdp_inet_find(sk, level, optname) < 0)
		return -ENOPROTOOPT;
	return level == SOL_IP ?
	       ip_getsockopt(sk, level, optname, optval, optlen) :
	       sdp_inet6_get(sk, optname, optval, optlen);
}

static int sdp_inet_way_mtu_v4(struct net *net, int oif,
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

static int sdp_inet_way_mtu_v6(struct net *net, int oif,
			       const struct sdp_addr *peer)
{
	struct flowi6 fl6 = {
		.daddr = peer->ip,
		.flowi6_oif = peer->scope_id ?: oif,
	};
	struct dst_entry *dst;
	int mtu;

	dst = ip6_dst_lookup_flow(net, NULL, &fl6, NULL);
	if (IS_ERR(dst))
		return -ENOTCONN;
	mtu = dst_mtu(dst);
	dst_release(dst);
	return mtu;
}

/* Bytes of the longest IP packet on the path to a peer, or -ENOTCONN. */
static int sdp_inet_way_mtu(struct net *net, int oif,
			    const struct sdp_addr *peer)
{
	if (sdp_addr_is_v4(peer))
		return sdp_inet_way_mtu_v4(net, oif, peer);
	return sdp_inet_way_mtu_v6(net, oif, peer);
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
		mtu = sdp_inet_way_mtu(sock_net(sk), sk->sk_bound_dev_if,
				       &ssk->base.peer);
	sdp_release_sock(sk);
	return mtu;
}
