// SPDX-License-Identifier: GPL-2.0
/*
 * Options that the TCP socket of a fallback is given, as the program sets them.
 */
#include <linux/net.h>
#include <net/tcp.h>

#include "base/base.h"
#include "socket/socket.h"
#include "fallback.h"

/* Flags of struct sock that are options of the program and mean TCP too. */
#define SDP_FALLBACK_FLAGS						\
	(BIT(SOCK_LINGER) | BIT(SOCK_KEEPOPEN) | BIT(SOCK_URGINLINE) |	\
	 BIT(SOCK_DBG) | BIT(SOCK_LOCALROUTE) | BIT(SOCK_RCVTSTAMP) |	\
	 BIT(SOCK_RCVTSTAMPNS) | BIT(SOCK_TSTAMP_NEW) | BIT(SOCK_ZEROCOPY))
/* Of these, those that sock_enable_timestamps() sets as it likes. */
#define SDP_FALLBACK_STAMPS						\
	(BIT(SOCK_RCVTSTAMP) | BIT(SOCK_RCVTSTAMPNS) | BIT(SOCK_TSTAMP_NEW))

static void sdp_fallback_read_opts(const struct sock *sk,
				   struct sdp_fallback_opts *opts)
{
	/* All of it, since copies are compared byte by byte. */
	memset(opts, 0, sizeof(*opts));
	opts->linger = READ_ONCE(sk->sk_lingertime);
	opts->rcvtimeo = READ_ONCE(sk->sk_rcvtimeo);
	opts->sndtimeo = READ_ONCE(sk->sk_sndtimeo);
	opts->flags = READ_ONCE(sk->sk_flags) & SDP_FALLBACK_FLAGS;
	if (sk->sk_userlocks & SOCK_SNDBUF_LOCK)
		opts->sndbuf = READ_ONCE(sk->sk_sndbuf);
	if (sk->sk_userlocks & SOCK_RCVBUF_LOCK)
		opts->rcvbuf = READ_ONCE(sk->sk_rcvbuf);
	opts->rcvlowat = READ_ONCE(sk->sk_rcvlowat);
	opts->priority = READ_ONCE(sk->sk_priority);
	opts->mark = READ_ONCE(sk->sk_mark);
	opts->bound_dev_if = READ_ONCE(sk->sk_bound_dev_if);
	opts->peek_off = READ_ONCE(sk->sk_peek_off);
	opts->reuse = sk->sk_reuse;
	opts->reuseport = sk->sk_reuseport;
}

/**
 * sdp_fallback_fresh_opts() - remember that a TCP socket was given nothing yet
 * @ssk: locked socket with a new TCP socket
 *
 * What every socket begins with is nothing to give: where the new one differs,
 * somebody wanted it to.
 */
void sdp_fallback_fresh_opts(struct sdp_sock *ssk)
{
	static const struct sdp_fallback_opts fresh = {
		.rcvtimeo = MAX_SCHEDULE_TIMEOUT,
		.sndtimeo = MAX_SCHEDULE_TIMEOUT,
		.rcvlowat = 1,
		.peek_off = -1,
	};

	memcpy(&ssk->fallback.opts, &fresh, sizeof(fresh));
	sdp_fallback_forget_given(ssk);
}

/**
 * sdp_fallback_forget_given() - carry all options to TCP anew, when it is time
 * @ssk: locked socket, or a new one that nobody else knows
 */
void sdp_fallback_forget_given(struct sdp_sock *ssk)
{
	memset(&ssk->fallback.given, 0, sizeof(ssk->fallback.given));
	ssk->fallback.carried = false;
}

/**
 * sdp_fallback_adopt_opts() - have the options that a connection came with
 * @ssk: new socket that nobody else knows, with its listener's options, and with
 *	those that TCP's listener had been given when the connection came
 * @tsk: TCP's
 *
 * A sysctl of TCP may have given it the mark of a packet, or the interface, and a
 * program of the control group whatever it likes.  The others are the listener's.
 */
void sdp_fallback_adopt_opts(struct sdp_sock *ssk, const struct sock *tsk)
{
	struct sdp_fallback_opts *opts = &ssk->fallback.opts;
	struct sdp_fallback_opts old = *opts;
	struct sock *sk = &ssk->sk;

	sdp_fallback_read_opts(tsk, opts);
	if (opts->priority != old.priority)
		WRITE_ONCE(sk->sk_priority, opts->priority);
	if (opts->mark != old.mark)
		WRITE_ONCE(sk->sk_mark, opts->mark);
	if (opts->bound_dev_if != old.bound_dev_if)
		WRITE_ONCE(sk->sk_bound_dev_if, opts->bound_dev_if);
}

static void sdp_fallback_apply_flags(struct sock *tsk, unsigned long flags,
				     unsigned long changed)
{
	unsigned int flag;

	changed |= SDP_FALLBACK_STAMPS;
	if (changed & BIT(SOCK_KEEPOPEN))
		tsk->sk_prot->keepalive(tsk, flags & BIT(SOCK_KEEPOPEN));
	for_each_set_bit(flag, &changed, BITS_PER_LONG)
		sock_valbool_flag(tsk, flag, flags & BIT(flag));
}

static void sdp_fallback_apply_bufs(struct sock *tsk,
				    const struct sdp_fallback_opts *opts,
				    const struct sdp_fallback_opts *old)
{
	if (opts->sndbuf && opts->sndbuf != old->sndbuf) {
		tsk->sk_userlocks |= SOCK_SNDBUF_LOCK;
		WRITE_ONCE(tsk->sk_sndbuf, opts->sndbuf);
		tsk->sk_write_space(tsk);
	}
	if (opts->rcvbuf && opts->rcvbuf != old->rcvbuf) {
		tsk->sk_userlocks |= SOCK_RCVBUF_LOCK;
		WRITE_ONCE(tsk->sk_rcvbuf, opts->rcvbuf);
	}
	if (opts->rcvlowat != old->rcvlowat)
		READ_ONCE(tsk->sk_socket->ops)->set_rcvlowat(tsk,
							     opts->rcvlowat);
}

static void sdp_fallback_apply_route(struct sock *tsk,
				     const struct sdp_fallback_opts *opts,
				     const struct sdp_fallback_opts *old)
{
	if (opts->priority != old->priority)
		WRITE_ONCE(tsk->sk_priority, opts->priority);
	if (opts->mark != old->mark)
		WRITE_ONCE(tsk->sk_mark, opts->mark);
	/* Somebody else's choice only the program could undo, if it may. */
	if (opts->bound_dev_if != old->bound_dev_if &&
	    tsk->sk_bound_dev_if == old->bound_dev_if)
		sock_bindtoindex(tsk, opts->bound_dev_if, false);
	if (opts->reuse != old->reuse)
		tsk->sk_reuse = opts->reuse;
	if (opts->reuseport != old->reuseport)
		tsk->sk_reuseport = opts->reuseport;
	sk_dst_reset(tsk);
}

static void sdp_fallback_apply(struct sock *tsk,
			       const struct sdp_fallback_opts *opts,
			       const struct sdp_fallback_opts *old)
{
	if (opts->linger != old->linger)
		WRITE_ONCE(tsk->sk_lingertime, opts->linger);
	if (opts->rcvtimeo != old->rcvtimeo)
		WRITE_ONCE(tsk->sk_rcvtimeo, opts->rcvtimeo);
	if (opts->sndtimeo != old->sndtimeo)
		WRITE_ONCE(tsk->sk_sndtimeo, opts->sndtimeo);
	/* TCP moves it on by itself, if it knows it at all. */
	if (opts->peek_off != old->peek_off)
		WRITE_ONCE(tsk->sk_peek_off, opts->peek_off);
	sdp_fallback_apply_flags(tsk, opts->flags, opts->flags ^ old->flags);
	sdp_fallback_apply_bufs(tsk, opts, old);
	sdp_fallback_apply_route(tsk, opts, old);
}

/**
 * sdp_fallback_sync() - give TCP the options of level SOL_SOCKET
 * @ssk: socket with a TCP socket, locked or not
 *
 * The socket layer stores these options in our struct sock and tells nobody,
 * so they are compared before each call that TCP serves.  TCP is given what has
 * changed since then, and nothing else: the rest may be what a program of the
 * control group, an interface or a packet has set there.
 */
void sdp_fallback_sync(struct sdp_sock *ssk)
{
	struct sdp_fallback *fb = &ssk->fallback;
	struct sock *tsk = fb->tcp->sk;
	struct sdp_fallback_opts opts;

	sdp_fallback_read_opts(&ssk->sk, &opts);
	if (likely(!memcmp(&opts, &fb->opts, sizeof(opts))))
		return;
	/* The kernel stamps packets only if somebody has asked for it. */
	if (opts.flags & BIT(SOCK_RCVTSTAMP))
		sock_enable_timestamps(tsk);
	lock_sock(tsk);
	sdp_fallback_apply(tsk, &opts, &fb->opts);
	memcpy(&fb->opts, &opts, sizeof(opts));
	release_sock(tsk);
}

static void sdp_fallback_carry_int(struct socket *tcp, int level, int optname,
				   int val)
{
	READ_ONCE(tcp->ops)->setsockopt(tcp, level, optname,
					KERNEL_SOCKPTR(&val), sizeof(val));
}

static void sdp_fallback_carry_tcp(struct sdp_sock *ssk)
{
	static const int options[SDP_FALLBACK_TCP_OPTIONS] = {
		TCP_NODELAY, TCP_CORK, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT,
		TCP_SYNCNT, TCP_LINGER2, TCP_DEFER_ACCEPT, TCP_USER_TIMEOUT,
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
	int i;

	/* A socket of IPv4 has none of IPv6, and says so. */
	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (sdp_fallback_ip_due(ssk, options[i].which))
			sdp_fallback_carry_int(ssk->fallback.tcp,
					       options[i].level,
					       options[i].optname,
					       ssk->base.opt.ip[options[i].which]);
}

/* Whose defaults are sysctls of TCP, and that are carried if the program set them. */
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
 * sdp_fallback_carry() - give TCP the options that we keep ourselves
 * @ssk: locked socket with a TCP socket that no call is in
 *
 * They are carried before anybody is asked about binding, listening or connecting,
 * and those that have changed since then once more when TCP begins: the others may
 * be what a program of the control group has set when it was asked.  Of the options
 * of level SOL_SOCKET IP_TOS changes one, so that sdp_fallback_sync() comes behind.
 * From then on they are set and read there.
 */
void sdp_fallback_carry(struct sdp_sock *ssk)
{
	struct sdp_fallback *fb = &ssk->fallback;

	WARN_ON_ONCE(!sdp_fallback_is_left(ssk));
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
 * IP_BIND_ADDRESS_NO_PORT says: TCP is told when it listens or connects.
 */
void sdp_fallback_carry_to_bind(struct sdp_sock *ssk)
{
	sdp_fallback_carry(ssk);
	sdp_fallback_carry_int(ssk->fallback.tcp, SOL_IP,
			       IP_BIND_ADDRESS_NO_PORT, 0);
	ssk->fallback.given.ip[SDP_IP_BIND_ADDRESS_NO_PORT] = 0;
}
