// SPDX-License-Identifier: GPL-2.0
/*
 * Socket options at levels SOL_IP and SOL_IPV6.
 *
 * A socket speaks both, so that it has the options of both, unless it is one of AF_INET.
 * Applications set them as a matter of routine, on whatever stream socket they get, and
 * some fail if they cannot.  What does no harm without effect is therefore kept and
 * returned; what would deceive (source routes, multicast, transparent proxies, a minimum
 * for the packets' TTL) is not there.
 */
#include <net/inet_ecn.h>
#include <net/route.h>

#include "base/base.h"
#include "socket.h"

/**
 * struct sdp_ip_rule - what may be set
 * @level: SOL_IP or SOL_IPV6
 * @name: option
 * @min: smallest valid value
 * @max: largest valid value; @min and @max of a flag are the same
 * @min_len: bytes of a value that have to be there
 */
struct sdp_ip_rule {
	u8 level;
	u8 name;
	s16 min;
	s16 max;
	u8 min_len;
};

#define SDP_IP_RULE(name, min, max, len)				\
	[SDP_##name] = { SOL_IP, name, min, max, len }
#define SDP_IP_FLAG(name, len)						\
	[SDP_##name] = { SOL_IP, name, 0, 0, len }
#define SDP_IPV6_RULE(name, min, max)					\
	[SDP_##name] = { SOL_IPV6, name, min, max, sizeof(int) }
#define SDP_IPV6_FLAG(name, len)					\
	[SDP_##name] = { SOL_IPV6, name, 0, 0, len }

static const struct sdp_ip_rule sdp_ip_rules[__SDP_IP_OPTION_MAX] = {
	SDP_IP_RULE(IP_TOS, S16_MIN, S16_MAX, 0),
	SDP_IP_RULE(IP_TTL, -1, 255, 1),
	SDP_IP_RULE(IP_MTU_DISCOVER, IP_PMTUDISC_DONT, IP_PMTUDISC_OMIT, 0),
	SDP_IP_FLAG(IP_RECVERR, 0),
	SDP_IP_FLAG(IP_RECVTTL, 0),
	SDP_IP_FLAG(IP_RECVTOS, 0),
	SDP_IP_FLAG(IP_PKTINFO, 0),
	SDP_IP_FLAG(IP_FREEBIND, 1),
	SDP_IP_FLAG(IP_BIND_ADDRESS_NO_PORT, 0),
	SDP_IPV6_RULE(IPV6_TCLASS, -1, 255),
	SDP_IPV6_RULE(IPV6_UNICAST_HOPS, -1, 255),
	SDP_IPV6_RULE(IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DONT,
		      IPV6_PMTUDISC_OMIT),
	SDP_IPV6_FLAG(IPV6_RECVERR, sizeof(int)),
	SDP_IPV6_FLAG(IPV6_RECVHOPLIMIT, sizeof(int)),
	SDP_IPV6_FLAG(IPV6_RECVTCLASS, sizeof(int)),
	SDP_IPV6_FLAG(IPV6_RECVPKTINFO, sizeof(int)),
	SDP_IPV6_FLAG(IPV6_DONTFRAG, 0),
};

static int sdp_ip_find(int level, int optname)
{
	int i;

	for (i = 0; i < __SDP_IP_OPTION_MAX; i++)
		if (sdp_ip_rules[i].level == level &&
		    sdp_ip_rules[i].name == optname)
			return i;
	return -ENOPROTOOPT;
}

/**
 * sdp_ip_read() - read a value as the kernel's IP and IPv6 do: short ones differ
 * @level: SOL_IP or SOL_IPV6
 * @optval: value
 * @optlen: its length
 * @val: set to it
 *
 * Return: 0 or -EFAULT.
 */
int sdp_ip_read(int level, sockptr_t optval, unsigned int optlen, int *val)
{
	u8 byte;

	*val = 0;
	if (optlen >= sizeof(*val))
		return copy_from_sockptr(val, optval, sizeof(*val)) ?
		       -EFAULT : 0;
	if (level != SOL_IP || !optlen)
		return 0;
	if (copy_from_sockptr(&byte, optval, sizeof(byte)))
		return -EFAULT;
	*val = byte;
	return 0;
}

/* A stream's explicit congestion notification is TCP's, user space must not set it. */
static void sdp_ip_set_tos(struct sdp_sock *ssk, int val)
{
	u8 tos = val & ~INET_ECN_MASK;

	if (tos == ssk->base.opt.ip[SDP_IP_TOS])
		return;
	ssk->base.opt.ip[SDP_IP_TOS] = tos;
	WRITE_ONCE(ssk->sk.sk_priority, rt_tos2priority(tos));
}

static int sdp_ip_set(struct sdp_sock *ssk, int which, int val)
{
	const struct sdp_ip_rule *rule = &sdp_ip_rules[which];

	if (rule->min == rule->max)
		val = !!val;
	else if (which != SDP_IP_TOS && (val < rule->min || val > rule->max))
		return -EINVAL;
	switch (which) {
	case SDP_IP_TOS:
		sdp_ip_set_tos(ssk, val);
		return 0;
	case SDP_IP_TTL:
		if (!val)
			return -EINVAL;
		break;
	case SDP_IPV6_TCLASS:
		val = max(val, 0) & ~INET_ECN_MASK;
		break;
	}
	ssk->base.opt.ip[which] = val;
	return 0;
}

static int sdp_ip_set_v6only(struct sdp_sock *ssk, int val)
{
	if (ssk->conn.bound || !sdp_in_state(&ssk->sk, SDPF_OVER))
		return -EINVAL;
	ssk->base.v6only = !!val;
	return 0;
}

static bool sdp_ip_lacks_level(const struct sock *sk, int level)
{
	return level == SOL_IPV6 && sk->sk_family == AF_INET;
}

/**
 * sdp_ip_setsockopt() - set an option at level SOL_IP or SOL_IPV6
 * @sk: socket, not locked
 * @level: level
 * @optname: option
 * @optval: value, an int, or for SOL_IP a byte
 * @optlen: its length
 *
 * Return: 0; -ENOPROTOOPT for what does not exist; -EINVAL; -EFAULT.
 */
int sdp_ip_setsockopt(struct sock *sk, int level, int optname,
		      sockptr_t optval, unsigned int optlen)
{
	bool v6only = level == SOL_IPV6 && optname == IPV6_V6ONLY;
	int which = sdp_ip_find(level, optname);
	int val;
	int err;

	if (sdp_ip_lacks_level(sk, level))
		return -ENOPROTOOPT;
	if (which < 0 && !v6only)
		return sdp_inet_setsockopt(sk, level, optname, optval, optlen);
	err = sdp_ip_read(level, optval, optlen, &val);
	if (err)
		return err;
	if (optlen < (v6only ? sizeof(int) : sdp_ip_rules[which].min_len))
		return -EINVAL;
	sdp_lock_sock(sk);
	if (v6only)
		err = sdp_ip_set_v6only(sdp_sk(sk), val);
	else
		err = sdp_ip_set(sdp_sk(sk), which, val);
	sdp_release_sock(sk);
	return err;
}

static int sdp_ip_default_hops(const struct sock *sk)
{
	const struct ipv6_devconf *conf = NULL;

#if IS_ENABLED(CONFIG_IPV6)
	conf = sock_net(sk)->ipv6.devconf_all;
#endif
	/* There is none if IPv6 was switched off when the kernel started. */
	return conf ? READ_ONCE(conf->hop_limit) : IPV6_DEFAULT_HOPLIMIT;
}

static int sdp_ip_get(const struct sdp_sock *ssk, int which)
{
	int val = READ_ONCE(ssk->base.opt.ip[which]);

	if (which == SDP_IP_TTL && val < 0)
		return READ_ONCE(sock_net(&ssk->sk)->ipv4.sysctl_ip_default_ttl);
	if (which == SDP_IPV6_UNICAST_HOPS && val < 0)
		return sdp_ip_default_hops(&ssk->sk);
	return val;
}

/* IP answers with a byte where there is no room for more. */
static int sdp_ip_answer(int level, int val, int len, char __user *optval,
			 int __user *optlen)
{
	u8 byte = val;

	if (level == SOL_IP && len && len < sizeof(val) && val == byte) {
		len = sizeof(byte);
		if (put_user(len, optlen) || copy_to_user(optval, &byte, len))
			return -EFAULT;
		return 0;
	}
	len = min_t(unsigned int, len, sizeof(val));
	if (put_user(len, optlen) || copy_to_user(optval, &val, len))
		return -EFAULT;
	return 0;
}

/**
 * sdp_ip_getsockopt() - read an option at level SOL_IP or SOL_IPV6
 * @sk: socket, not locked
 * @level: level
 * @optname: option
 * @optval: where to put the value
 * @optlen: room there; set to what was written
 *
 * Return: 0; -EOPNOTSUPP for a level that the family has not; -ENOPROTOOPT for an
 * option that does not exist; -ENOTCONN; -EINVAL; -EFAULT.
 */
int sdp_ip_getsockopt(struct sock *sk, int level, int optname,
		      char __user *optval, int __user *optlen)
{
	const struct sdp_sock *ssk = sdp_sk(sk);
	int which = sdp_ip_find(level, optname);
	int val;
	int len;

	if (sdp_ip_lacks_level(sk, level))
		return -EOPNOTSUPP;
	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0 && level == SOL_IP)
		return -EINVAL;
	if (level == SOL_IPV6 && optname == IPV6_V6ONLY)
		return sdp_ip_answer(level, ssk->base.v6only, len, optval,
				     optlen);
	if (optname == (level == SOL_IP ? IP_MTU : IPV6_MTU)) {
		val = sdp_inet_mtu(sk);
		return val < 0 ? val : sdp_ip_answer(level, val, len, optval,
						     optlen);
	}
	if (which < 0)
		return sdp_inet_getsockopt(sk, level, optname, optval, optlen);
	return sdp_ip_answer(level, sdp_ip_get(ssk, which), len, optval,
			     optlen);
}
