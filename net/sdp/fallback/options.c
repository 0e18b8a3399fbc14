// SPDX-License-Identifier: GPL-2.0
/*
 * Options that are copied to the TCP socket of a fallback, as user space sets them.
 */
#include <linux/net.h>
#include <net/tcp.h>

#include "base/base.h"
#include "fallback.h"

/* Flags of struct sock that are options of user space and mean TCP too. */
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
 * sdp_fallback_fresh_opts() - remember that no options were copied to a TCP socket yet
 * @fb: the fallback of a locked socket with a new TCP socket
 *
 * The defaults of every socket need not be copied: where the new one differs, a BPF
 * program or a sysctl wanted it to.
 */
void sdp_fallback_fresh_opts(struct sdp_fallback *fb)
{
	static const struct sdp_fallback_opts fresh = {
		.rcvtimeo = MAX_SCHEDULE_TIMEOUT,
		.sndtimeo = MAX_SCHEDULE_TIMEOUT,
		.rcvlowat = 1,
		.peek_off = -1,
	};

	sdp_owned(fb->sk);
	memcpy(&fb->opts, &fresh, sizeof(fresh));
	sdp_fallback_forget_given(fb);
}

/**
 * sdp_fallback_forget_given() - carry all options to TCP again, when it is time
 * @fb: the fallback of a locked or a new, unpublished socket
 */
void sdp_fallback_forget_given(struct sdp_fallback *fb)
{
	memset(&fb->given, 0, sizeof(fb->given));
	fb->carried = false;
}

/**
 * sdp_fallback_adopt_opts() - have the options that a connection came with
 * @fb: the fallback of a new, unpublished socket, with its listener's
 *	options, and with those that TCP's listener had when the connection came
 * @tsk: TCP's
 *
 * A sysctl of TCP may have set the mark of the packet, or its interface, and a BPF
 * program of the control group any option.  The others are the listener's.
 */
void sdp_fallback_adopt_opts(struct sdp_fallback *fb, const struct sock *tsk)
{
	struct sdp_fallback_opts *opts = &fb->opts;
	struct sdp_fallback_opts old = *opts;
	struct sock *sk = fb->sk;

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
	/* A binding made by a BPF program only user space may undo, if it is allowed to. */
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

/* Whether one was set since the last time; the lock is not needed. */
static bool sdp_fallback_is_news(const struct sdp_fallback *fb)
{
	struct sdp_fallback_opts opts;

	sdp_fallback_read_opts(fb->sk, &opts);
	return unlikely(memcmp(&opts, &fb->opts, sizeof(opts)));
}

/* With the lock held: another thread may have set, and copied, newer ones meanwhile. */
static void sdp_fallback_copy(struct sdp_fallback *fb)
{
	struct sock *tsk = fb->tcp->sk;
	struct sdp_fallback_opts opts;

	lockdep_assert(lockdep_sock_is_held(tsk));
	sdp_fallback_read_opts(fb->sk, &opts);
	/* They stay news until a caller that may wait has switched stamps on. */
	if (!sock_flag(tsk, SOCK_TIMESTAMP))
		opts.flags &= ~SDP_FALLBACK_STAMPS;
	sdp_fallback_apply(tsk, &opts, &fb->opts);
	memcpy(&fb->opts, &opts, sizeof(opts));
	WRITE_ONCE(fb->late, false);
}

/* The only one of the functions for it that all kernels let modules call. */
static void sdp_fallback_stamp(struct socket *tcp)
{
	int on = 1;

	sock_setsockopt(tcp, SOL_SOCKET, SO_TIMESTAMPNS_OLD, KERNEL_SOCKPTR(&on), sizeof(on));
}

/**
 * sdp_fallback_sync() - give TCP the options of level SOL_SOCKET
 * @fb: the fallback of a socket with a TCP socket, locked or not
 *
 * The socket layer stores these options in our struct sock without a notification,
 * so they are compared before each call that TCP serves.  What has changed since
 * then is copied, and nothing else: the rest may have been set by a BPF program of
 * the control group, an interface or a packet.
 *
 * Context: process context; waits for the lock of the TCP socket.
 */
void sdp_fallback_sync(struct sdp_fallback *fb)
{
	struct sock *tsk = fb->tcp->sk;

	if (!sdp_fallback_is_news(fb))
		return;
	/* Packets are stamped only while a socket asks for it. */
	if (sock_flag(fb->sk, SOCK_RCVTSTAMP))
		sdp_fallback_stamp(fb->tcp);
	lock_sock(tsk);
	sdp_fallback_copy(fb);
	release_sock(tsk);
}

/**
 * sdp_fallback_sync_nowait() - the same, unless a call has the TCP socket's lock
 * @fb: the fallback of a socket with a TCP socket, locked or not
 *
 * For poll(): a program may hold that lock, and epoll calls poll() with a mutex that all
 * programs share.  Whoever has the lock copies what is not copied now, see
 * sdp_fallback_catch_up().
 *
 * Context: process context; does not wait for a program.
 */
void sdp_fallback_sync_nowait(struct sdp_fallback *fb)
{
	struct sock *tsk = fb->tcp->sk;

	if (!sdp_fallback_is_news(fb))
		return;
	spin_lock_bh(&tsk->sk_lock.slock);
	if (sock_owned_by_user_nocheck(tsk))
		WRITE_ONCE(fb->late, true);
	else
		sdp_fallback_copy(fb);
	spin_unlock_bh(&tsk->sk_lock.slock);
}

/**
 * sdp_fallback_catch_up() - copy what sdp_fallback_sync_nowait() could not
 * @fb: the fallback of a socket with a TCP socket, locked or not; the caller has
 *	released the TCP socket's lock, and by that sees what was noted meanwhile
 *
 * Context: as sdp_fallback_sync().
 */
void sdp_fallback_catch_up(struct sdp_fallback *fb)
{
	if (unlikely(READ_ONCE(fb->late)))
		sdp_fallback_sync(fb);
}
