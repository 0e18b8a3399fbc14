/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What every layer knows of a socket: its lock, states, timers, options, counters.
 */
#ifndef _SDP_SK_H
#define _SDP_SK_H

#include <linux/bitops.h>
#include <linux/lockdep.h>
#include <linux/spinlock.h>
#include <net/inet_sock.h>
#include <net/sock.h>
#include <net/tcp_states.h>

#include "addr.h"
#include "lock.h"
#include "mib.h"
#include "net.h"
#include "settings.h"
#include "timer.h"

/**
 * struct sdp_base_ops - what the layers above do for this one
 * @catch_up: do what softirq has deferred to the owner of the socket lock, which is
 *	about to be released; softirqs are disabled, sdp_lock::slock is held
 * @timer: a timer has expired; process context, the socket is locked
 */
struct sdp_base_ops {
	void (*catch_up)(struct sock *sk);
	void (*timer)(struct sock *sk, enum sdp_timer which);
};

/**
 * struct sdp_base - the part of a socket that belongs to no layer alone
 * @sk: the generic socket, first
 * @inet: the same as the inet families' code sees it, which creates sockets of
 *	IPPROTO_SDP and takes every socket of its families for one of these
 * @ops: what the layers above do
 * @lock: the socket lock, see lock.c
 * @timers: all that becomes due
 * @opt: options below SOL_SOCKET
 * @mib: counters of its namespace, which it holds
 * @mem_debt: bytes that mem.c has to charge, or to uncharge if negative (slock of
 *	sock::sk_lock)
 * @local: own address, as bound or as found by the route
 * @peer: the other end's address
 * @v6: addresses are shown to user space as AF_INET6
 * @v6only: IPV6_V6ONLY
 */
struct sdp_base {
	union {
		struct sock sk;
		struct inet_sock inet;
	};
	const struct sdp_base_ops *ops;
	struct sdp_lock lock;
	struct sdp_timers timers;
	struct sdp_options opt;
	struct sdp_mib __percpu *mib;
	int mem_debt;
	struct sdp_addr local;
	struct sdp_addr peer;
	bool v6;
	bool v6only;
};

static inline struct sdp_base *sdp_base(const struct sock *sk)
{
	return (struct sdp_base *)sk;
}

/**
 * sdp_sock_owned_by_me() - assert that the caller owns a socket
 * @sk: socket
 *
 * For functions that may sleep, or release the lock.
 */
static inline void sdp_sock_owned_by_me(const struct sock *sk)
{
	lockdep_assert(lock_is_held(&sdp_base(sk)->lock.dep_map));
}

/**
 * sdp_owned() - assert that a socket is locked, by its owner or in softirq
 * @sk: socket
 *
 * Not for functions that are also called with an unpublished socket: that is not locked.
 * Without lockdep this is no code.
 */
static inline void sdp_owned(const struct sock *sk)
{
	lockdep_assert(lock_is_held(&sdp_base(sk)->lock.dep_map) ||
		       lockdep_is_held(&sdp_base(sk)->lock.slock));
}

/**
 * sdp_bh_lock_sock() - keep others from becoming the owner
 * @sk: socket; sdp_sock_owned() tells whether it is owned already
 *
 * Context: softirq, or softirqs disabled.
 */
static inline void sdp_bh_lock_sock(struct sock *sk)
	__acquires(&sdp_base(sk)->lock.slock)
{
	spin_lock(&sdp_base(sk)->lock.slock);
}

/**
 * sdp_bh_unlock_sock() - the end of what sdp_bh_lock_sock() has begun
 * @sk: socket
 */
static inline void sdp_bh_unlock_sock(struct sock *sk)
	__releases(&sdp_base(sk)->lock.slock)
{
	spin_unlock(&sdp_base(sk)->lock.slock);
}

/**
 * sdp_sock_owned() - whether work has to be left to the socket's owner
 * @sk: socket, after sdp_bh_lock_sock()
 */
static inline bool sdp_sock_owned(const struct sock *sk)
{
	lockdep_assert_held(&sdp_base(sk)->lock.slock);
	return sdp_base(sk)->lock.owned;
}

/**
 * sdp_in_call() - whether the caller is the socket's owner, and not softirq
 * @sk: locked socket (by its owner or in softirq)
 */
static inline bool sdp_in_call(const struct sock *sk)
{
	sdp_owned(sk);
	return sdp_base(sk)->lock.owned;
}

/**
 * sdp_timer_arm_once() - set a deadline unless it is set already
 * @sk: locked socket (by its owner or in softirq)
 * @which: deadline
 * @delay: jiffies until then
 */
static inline void sdp_timer_arm_once(struct sock *sk, enum sdp_timer which,
				      unsigned long delay)
{
	sdp_owned(sk);
	if (!test_bit(which, &sdp_base(sk)->timers.armed))
		sdp_timer_arm(sk, which, delay);
}

/**
 * sdp_timer_disarm() - cancel a deadline
 * @sk: locked socket (by its owner or in softirq)
 * @which: deadline
 */
static inline void sdp_timer_disarm(struct sock *sk, enum sdp_timer which)
{
	sdp_owned(sk);
	__clear_bit(which, &sdp_base(sk)->timers.armed);
}

/*
 * The connection is over, and its resources are being released.  User space sees
 * TIME_WAIT.  TCP's state of that name is for sockets without a file, which the code
 * of the inet families takes for something smaller (sk_fullsock()), while ours has
 * its options.
 */
#define SDP_TIME_WAIT	15
#define SDPF_TIME_WAIT	BIT(SDP_TIME_WAIT)

static_assert(SDP_TIME_WAIT >= TCP_MAX_STATES);

/* The state as user space sees it, one of TCP's. */
static inline int sdp_state_shown(int state)
{
	return state == SDP_TIME_WAIT ? TCP_TIME_WAIT : state;
}

/* States in which user space may still send, or receive, in order. */
#define SDPF_SEND	(TCPF_ESTABLISHED | TCPF_CLOSE_WAIT)
#define SDPF_CONNECTING	(TCPF_SYN_SENT | TCPF_SYN_RECV)
/* For user space the connection is gone, if there ever was one. */
#define SDPF_OVER	(TCPF_CLOSE | SDPF_TIME_WAIT)

static inline bool sdp_in_state(const struct sock *sk, u32 states)
{
	return (1 << READ_ONCE(sk->sk_state)) & states;
}

/* Whether the unspecified address, if it is bound to it, stands for IPv4, too. */
static inline bool sdp_is_dual(const struct sock *sk)
{
	return sdp_base(sk)->v6 && !sdp_addr_is_v4(&sdp_base(sk)->local);
}

/* Whether small writes leave at once. */
static inline bool sdp_nodelay(const struct sock *sk)
{
	return sdp_base(sk)->opt.nodelay && !sdp_base(sk)->opt.cork;
}

/*
 * Values of options: a socket's own, or its namespace's where it has none.  Any
 * context, the socket locked or not.
 */

/* Seconds that a connection is idle before it is probed. */
static inline unsigned int sdp_option_keepidle(const struct sock *sk)
{
	const struct sdp_net *sn = sdp_net(sock_net(sk));

	return READ_ONCE(sdp_base(sk)->opt.keepidle) ?: READ_ONCE(sn->keepalive_time);
}

/* Seconds that one probe may stay unanswered. */
static inline unsigned int sdp_option_keepintvl(const struct sock *sk)
{
	const struct sdp_net *sn = sdp_net(sock_net(sk));

	return READ_ONCE(sdp_base(sk)->opt.keepintvl) ?: READ_ONCE(sn->keepalive_intvl);
}

/* How many times that may happen. */
static inline unsigned int sdp_option_keepcnt(const struct sock *sk)
{
	const struct sdp_net *sn = sdp_net(sock_net(sk));

	return READ_ONCE(sdp_base(sk)->opt.keepcnt) ?: READ_ONCE(sn->keepalive_probes);
}

/* Seconds that an orphan waits for the peer's DisConn; -1 if it does not. */
static inline int sdp_option_linger2(const struct sock *sk)
{
	const struct sdp_net *sn = sdp_net(sock_net(sk));

	return READ_ONCE(sdp_base(sk)->opt.linger2) ?: (int)READ_ONCE(sn->fin_timeout);
}

/* The engine of flow control that a new connection is to use. */
static inline const struct sdp_flow_ops *sdp_option_flow(const struct sock *sk)
{
	return sdp_base(sk)->opt.flow ?: READ_ONCE(sdp_net(sock_net(sk))->flow_control);
}

/* What protects the memory of the next write. */
static inline const struct sdp_guard_ops *sdp_option_guard(const struct sock *sk)
{
	return READ_ONCE(sdp_base(sk)->opt.guard) ?: READ_ONCE(sdp_net(sock_net(sk))->zcopy_fault);
}

/* The mode of zero copy that a new connection is to use, enum sdp_zcopy_mode. */
static inline unsigned int sdp_option_zcopy(const struct sock *sk)
{
	const struct sdp_options *opt = &sdp_base(sk)->opt;

	return opt->zcopy >= 0 ? opt->zcopy : READ_ONCE(sdp_net(sock_net(sk))->zcopy);
}

/* How reads take what is advertised: SDP_ZCOPY_SYNC or SDP_ZCOPY_ASYNC. */
static inline unsigned int sdp_option_zcopy_recv(const struct sock *sk)
{
	int mode = READ_ONCE(sdp_base(sk)->opt.zcopy_recv);

	return mode >= 0 ? mode : READ_ONCE(sdp_net(sock_net(sk))->zcopy_recv);
}

/* Whether anybody sleeps in a call, or waits for events. */
static inline bool sdp_has_sleeper(const struct sock *sk)
{
	bool sleeper;

	rcu_read_lock();
	sleeper = skwq_has_sleeper(rcu_dereference(sk->sk_wq));
	rcu_read_unlock();
	return sleeper;
}

void sdp_base_init(struct sock *sk, const struct sdp_base_ops *ops);
void sdp_set_state(struct sock *sk, int state);

#endif /* _SDP_SK_H */
