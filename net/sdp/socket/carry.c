// SPDX-License-Identifier: GPL-2.0
/*
 * Options below SOL_SOCKET that the TCP socket of a fallback is given.
 */
#include <linux/net.h>
#include <net/tcp.h>

#include "base/base.h"
#include "fallback/fallback.h"
#include "socket.h"

static void sdp_fallback_carry_int(struct socket *tcp, int level, int optname,
				   int val)
{
	READ_ONCE(tcp->ops)->setsockopt(tcp, level, optname,
					KERNEL_SOCKPTR(&val), sizeof(val));
}

static void sdp_fallback_carry_tcp(struct sdp_sock *ssk)
{
	static const int options[SDP_FALLBACK_TCP_OPTIONS] = {
		TCP_NODELAY,	   TCP_CORK,	     TCP_KEEPIDLE,
		TCP_KEEPINTVL,	   TCP_KEEPCNT,	     TCP_SYNCNT,
		TCP_LINGER2,	   TCP_DEFER_ACCEPT, TCP_USER_TIMEOUT,
		TCP_NOTSENT_LOWAT,
	};
	struct sdp_fallback *fb = &ssk->fallback;
	int val;
	int i;

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		if (sdp_tcp_getsockopt(&ssk->sk, options[i], &val) ||
		    (fb->carried && fb->given_tcp[i] == val))
			continue;
		fb->given_tcp[i] = val;
		sdp_fallback_carry_int(fb->tcp, SOL_TCP, options[i], val);
	}
}

static bool sdp_fallback_ip_due(const struct sdp_sock *ssk,
				enum sdp_ip_option which)
{
	return !ssk->fallback.carried ||
	       ssk->fallback.given.ip[which] != ssk->base.opt.ip[which];
}

/* Those that a socket begins with are as good as any: TCP's are the same. */
static void sdp_fallback_carry_ip(struct sdp_sock *ssk)
{
	static const struct {
		int level;
		int optname;
		enum sdp_ip_option which;
	} options[] = {
		{ SOL_IP, IP_TOS, SDP_IP_TOS },
		{ SOL_IP, IP_TTL, SDP_IP_TTL },
		{ SOL_IP, IP_RECVERR, SDP_IP_RECVERR },
		{ SOL_IP, IP_RECVTTL, SDP_IP_RECVTTL },
		{ SOL_IP, IP_RECVTOS, SDP_IP_RECVTOS },
		{ SOL_IP, IP_PKTINFO, SDP_IP_PKTINFO },
		{ SOL_IP, IP_FREEBIND, SDP_IP_FREEBIND },
		{ SOL_IP, IP_BIND_ADDRESS_NO_PORT,
		  SDP_IP_BIND_ADDRESS_NO_PORT },
		{ SOL_IPV6, IPV6_TCLASS, SDP_IPV6_TCLASS },
		{ SOL_IPV6, IPV6_UNICAST_HOPS, SDP_IPV6_UNICAST_HOPS },
		{ SOL_IPV6, IPV6_RECVERR, SDP_IPV6_RECVERR },
		{ SOL_IPV6, IPV6_RECVHOPLIMIT, SDP_IPV6_RECVHOPLIMIT },
		{ SOL_IPV6, IPV6_RECVTCLASS, SDP_IPV6_RECVTCLASS },
		{ SOL_IPV6, IPV6_RECVPKTINFO, SDP_IPV6_RECVPKTINFO },
		{ SOL_IPV6, IPV6_DONTFRAG, SDP_IPV6_DONTFRAG },
	};
	struct socket *tcp = ssk->fallback.tcp;
	const s16 *ip = ssk->base.opt.ip;
	int i;

	/* A socket of IPv4 has none of IPv6, and says so. */
	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (sdp_fallback_ip_due(ssk, options[i].which))
			sdp_fallback_carry_int(tcp, options[i].level,
					       options[i].optname,
					       ip[options[i].which]);
}

/* Whose defaults are sysctls of TCP, and that are carried if user space set them. */
static void sdp_fallback_carry_set(struct sdp_sock *ssk)
{
	struct socket *tcp = ssk->fallback.tcp;
	const struct sdp_options *given = &ssk->fallback.given;
	const struct sdp_options *opt = &ssk->base.opt;

	if (opt->maxseg != given->maxseg)
		sdp_fallback_carry_int(tcp, SOL_TCP, TCP_MAXSEG, opt->maxseg);
	if (opt->window_clamp != given->window_clamp)
		sdp_fallback_carry_int(tcp, SOL_TCP, TCP_WINDOW_CLAMP,
				       opt->window_clamp);
	if ((ssk->fallback.carried ||
	     opt->ip[SDP_IP_MTU_DISCOVER] != IP_PMTUDISC_WANT) &&
	    sdp_fallback_ip_due(ssk, SDP_IP_MTU_DISCOVER))
		sdp_fallback_carry_int(tcp, SOL_IP, IP_MTU_DISCOVER,
				       opt->ip[SDP_IP_MTU_DISCOVER]);
	if ((ssk->fallback.carried ||
	     opt->ip[SDP_IPV6_MTU_DISCOVER] != IPV6_PMTUDISC_WANT) &&
	    sdp_fallback_ip_due(ssk, SDP_IPV6_MTU_DISCOVER))
		sdp_fallback_carry_int(tcp, SOL_IPV6, IPV6_MTU_DISCOVER,
				       opt->ip[SDP_IPV6_MTU_DISCOVER]);
}

/**
 * sdp_fallback_carry() - copy the options that we keep ourselves to TCP
 * @ssk: locked socket with a TCP socket that no call is in
 *
 * They are copied before the hooks of bind(), listen() and connect() run, and those that
 * have changed since then once more when TCP begins: the others may have been set by a
 * BPF program of the control group in its hook.  IP_TOS changes an option of level
 * SOL_SOCKET, so that sdp_fallback_sync() comes behind.  From then on they are set and
 * read there.
 */
void sdp_fallback_carry(struct sdp_sock *ssk)
{
	struct sdp_fallback *fb = &ssk->fallback;

	sdp_owned(&ssk->sk);
	WARN_ON_ONCE(!sdp_fallback_is_left(fb));
	sdp_fallback_carry_tcp(ssk);
	sdp_fallback_carry_ip(ssk);
	sdp_fallback_carry_set(ssk);
	sdp_inet_carry(ssk, &fb->given, fb->tcp);
	fb->given = ssk->base.opt;
	fb->carried = true;
}

/**
 * sdp_fallback_carry_to_bind() - the same before the TCP socket gets its port
 * @ssk: locked socket with a TCP socket that no call is in
 *
 * Both sides are to have one port, so that TCP chooses it at once, whatever
 * IP_BIND_ADDRESS_NO_PORT says: TCP gets that when it listens or connects.
 */
void sdp_fallback_carry_to_bind(struct sdp_sock *ssk)
{
	sdp_owned(&ssk->sk);
	sdp_fallback_carry(ssk);
	sdp_fallback_carry_int(ssk->fallback.tcp, SOL_IP,
			       IP_BIND_ADDRESS_NO_PORT, 0);
	ssk->fallback.given.ip[SDP_IP_BIND_ADDRESS_NO_PORT] = 0;
}

/**
 * sdp_fallback_option_set() - an option of a level other than SOL_SOCKET was
 *	set
 * @sk: socket, not locked
 *
 * What is set before the transport is chosen TCP gets when it is; only a
 * listener goes on using both.
 */
void sdp_fallback_option_set(struct sock *sk)
{
	if (likely(!READ_ONCE(sdp_sk(sk)->fallback.tcp)))
		return;
	sdp_lock_sock(sk);
	if (sk->sk_state == TCP_LISTEN && sdp_sk(sk)->fallback.tcp)
		sdp_fallback_carry(sdp_sk(sk));
	sdp_release_sock(sk);
}
