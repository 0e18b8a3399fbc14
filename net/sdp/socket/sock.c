// SPDX-License-Identifier: GPL-2.0
/*
 * Life and death of a socket.  Documentation/internals/lifetime.rst has the states and
 * the owners of references, locking.rst beside it the lock order.
 */
#include <linux/jiffies.h>
#include <linux/memcontrol.h>
#include <net/inet_common.h>
#include <net/proto_memory.h>

#include "base/base.h"
#include "fallback/fallback.h"
#include "stream/stream.h"
#include "conn/conn.h"
#include "accept.h"
#include "socket.h"

/*
 * The kernel's headers name 27 after a family without sockets; lockdep shall
 * show whose locks these are.
 */
static struct lock_class_key sdp_sk_slock_key;
static struct lock_class_key sdp_sk_lock_key;

static void sdp_sock_catch_up(struct sock *sk)
{
	struct sdp_conn *conn = sdp_conn(sk);

	/* What is sent now completes now if both ends are in this kernel. */
	while (test_and_clear_bit(SDP_CONN_DEFERRED, &conn->link.flags))
		sdp_conn_process(conn, SDP_FLUSH_CALL);
}

/* Those that are not the connection's. */
static void (*const sdp_sock_timers[__SDP_TIMER_MAX])(struct sdp_sock *ssk) = {
	[SDP_TIMER_CONNECT] = sdp_sock_connect_again,
	[SDP_TIMER_SYN] = sdp_sock_connect_timeout,
	[SDP_TIMER_DEFER] = sdp_accept_ready,
	[SDP_TIMER_ORPHAN] = sdp_sock_check_orphan,
	[SDP_TIMER_FALLBACK] = sdp_fallback_timeout,
	[SDP_TIMER_SHARE] = sdp_share_check,
};

static void sdp_sock_timer(struct sock *sk, enum sdp_timer which)
{
	if (sdp_sock_timers[which])
		sdp_sock_timers[which](sdp_sk(sk));
	else
		sdp_conn_timer(sdp_conn(sk), which);
}

static const struct sdp_base_ops sdp_sock_base_ops = {
	.catch_up = sdp_sock_catch_up,
	.timer = sdp_sock_timer,
};

/* The number is not used again soon, so that readers of /proc can go on at it. */
static int sdp_sock_hash(struct sock *sk)
{
	struct sdp_net *sn = sdp_net(sock_net(sk));
	int err;

	err = xa_alloc_cyclic_bh(&sn->sockets, &sdp_sk(sk)->number, sk,
				 xa_limit_31b, &sn->last_number, GFP_KERNEL);
	if (err < 0)
		return err;
	sock_prot_inuse_add(sock_net(sk), sk->sk_prot, 1);
	return 0;
}

static void sdp_sock_unhash(struct sock *sk)
{
	struct sdp_sock *ssk = sdp_sk(sk);

	if (!ssk->number)
		return;
	xa_erase_bh(&sdp_net(sock_net(sk))->sockets, ssk->number);
	ssk->number = 0;
	sock_prot_inuse_add(sock_net(sk), sk->sk_prot, -1);
}

static void sdp_sock_destruct(struct sock *sk)
{
	struct sdp_sock *ssk = sdp_sk(sk);

	/* What was never read may settle a debt. */
	sdp_rx_purge(&ssk->conn.stream);
	WARN_ON_ONCE(ssk->conn.refs || ssk->conn.link.id ||
		     ssk->conn.link.dev || ssk->conn.link.pd || ssk->share ||
		     ssk->base.mem_debt);
	if (ssk->orphan)
		atomic_dec(&sdp_net(sock_net(sk))->orphans);
	sdp_sock_unhash(sk);
	sk_sockets_allocated_dec(sk);
	ssk->destruct(sk);
}

/* Wakes writers once enough room is free to be worth it. */
static void sdp_sock_write_space(struct sock *sk)
{
	struct socket_wq *wq;

	if (!sdp_tx_writeable(&sdp_sk(sk)->conn.stream))
		return;
	rcu_read_lock();
	wq = rcu_dereference(sk->sk_wq);
	if (sk->sk_socket && test_bit(SOCK_NOSPACE, &sk->sk_socket->flags)) {
		clear_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
		if (skwq_has_sleeper(wq))
			wake_up_interruptible_poll(&wq->wait,
						   EPOLLOUT | EPOLLWRNORM |
						   EPOLLWRBAND);
		sk_wake_async(sk, SOCK_WAKE_SPACE, POLL_OUT);
	}
	rcu_read_unlock();
}

/* What TCP starts with; the rest is 0. */
static void sdp_options_init(struct sdp_options *opt)
{
	opt->quickack = true;
	opt->zcopy_thresh = -1;
	opt->zcopy = -1;
	opt->zcopy_recv = -1;
	opt->ip[SDP_IP_TTL] = -1;
	opt->ip[SDP_IP_MTU_DISCOVER] = IP_PMTUDISC_WANT;
	opt->ip[SDP_IPV6_UNICAST_HOPS] = -1;
	opt->ip[SDP_IPV6_MTU_DISCOVER] = IPV6_PMTUDISC_WANT;
}

/*
 * Makes an SDP socket of a generic one, as the inet families ask for it behind
 * their own initialisation; so do we.
 */
static int sdp_sock_init(struct sock *sk)
{
	struct sdp_net *sn = sdp_net(sock_net(sk));
	struct sdp_sock *ssk = sdp_sk(sk);
	u32 bytes;

	/* See sdp_create(). */
	if (sk->sk_kern_sock)
		return -EOPNOTSUPP;
	sock_lock_init_class_and_name(sk, "slock-AF_SDP",
				      &sdp_sk_slock_key, "sk_lock-AF_SDP",
				      &sdp_sk_lock_key);
	sdp_base_init(sk, &sdp_sock_base_ops);
	ssk->destruct = sk->sk_destruct;
	sk->sk_destruct = sdp_sock_destruct;
	sk->sk_write_space = sdp_sock_write_space;
	bytes = READ_ONCE(sn->num_buffers) * READ_ONCE(sn->buffer_size);
	sk->sk_sndbuf = bytes;
	sk->sk_rcvbuf = bytes;

	sdp_conn_init(&ssk->conn, &sdp_sock_events);
	sdp_options_init(&ssk->base.opt);
	sdp_fallback_init(&ssk->fallback, &ssk->sk);
	spin_lock_init(&ssk->accept_lock);
	INIT_LIST_HEAD(&ssk->accept_pending);
	INIT_LIST_HEAD(&ssk->accept_ready);
	INIT_LIST_HEAD(&ssk->accept_node);
	INIT_LIST_HEAD(&ssk->share_node);
	ssk->base.v6 = sk->sk_family == AF_INET6;
	ssk->base.v6only = ssk->base.v6 && sk->sk_ipv6only;
	if (!ssk->base.v6) {
		ipv6_addr_set_v4mapped(0, &ssk->base.local.ip);
		ipv6_addr_set_v4mapped(0, &ssk->base.peer.ip);
	}
	if (sk->sk_socket)
		sdp_sock_flags(sk->sk_socket);
	sk_sockets_allocated_inc(sk);
	return sdp_sock_hash(sk);
}

#if IS_ENABLED(CONFIG_IPV6)
/* Where older kernels, which do not get the offset, look for it. */
static_assert(offsetofend(struct sdp_sock, inet6) == sizeof(struct sdp_sock));
#endif

/* One protocol behind all three families. */
struct proto sdp_prot = {
	.name = "SDP",
	.owner = THIS_MODULE,
	.obj_size = sizeof(struct sdp_sock),
	PROTO_IPV6_PINFO_OFFSET(struct sdp_sock, inet6)
	.init = sdp_sock_init,
	.unhash = sdp_sock_unhash,
	.release_cb = sdp_mem_settle,
	.keepalive = sdp_alive_set_keepalive,
	.enter_memory_pressure = sdp_mem_enter_pressure,
	.memory_allocated = &sdp_memory_allocated,
	.per_cpu_fw_alloc = &sdp_memory_fw_alloc,
	.memory_pressure = &sdp_memory_pressure,
	.sockets_allocated = &sdp_sockets_allocated,
	.sysctl_mem = sdp_sysctl_mem,
	.sysctl_wmem = &sdp_mem_guaranteed,
	.sysctl_rmem = &sdp_mem_guaranteed,
};

/**
 * sdp_sock_alloc() - create a socket of family AF_SDP
 * @net: its namespace
 * @sock: its file's socket
 * @gfp: how to allocate
 * @kern: it belongs to the kernel
 *
 * Return: the socket in state CLOSE, or NULL.
 */
struct sock *sdp_sock_alloc(struct net *net, struct socket *sock, gfp_t gfp,
			    int kern)
{
	struct sock *sk;

	sk = sk_alloc(net, AF_SDP, gfp, &sdp_prot, kern);
	if (!sk)
		return NULL;
	sock_init_data(sock, sk);
	sk->sk_destruct = inet_sock_destruct;
	sk->sk_txrehash = READ_ONCE(net->core.sysctl_txrehash);
	if (!sdp_sock_init(sk))
		return sk;
	sk_common_release(sk);
	return NULL;
}

/* Gives a listener's child the listener's options. */
static void sdp_sock_inherit(struct sock *child, const struct sock *parent)
{
	static const enum sock_flags flags[] = {
		SOCK_LINGER, SOCK_KEEPOPEN, SOCK_URGINLINE, SOCK_DBG, SOCK_ZEROCOPY,
		SOCK_LOCALROUTE, SOCK_BROADCAST, SOCK_RCVTSTAMP,
		SOCK_RCVTSTAMPNS, SOCK_TSTAMP_NEW, SOCK_RXQ_OVFL,
		SOCK_WIFI_STATUS, SOCK_NOFCS, SOCK_SELECT_ERR_QUEUE,
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(flags); i++)
		sock_valbool_flag(child, flags[i], sock_flag(parent, flags[i]));
	child->sk_type = parent->sk_type;
	child->sk_protocol = parent->sk_protocol;
	child->sk_lingertime = parent->sk_lingertime;
	child->sk_sndbuf = parent->sk_sndbuf;
	child->sk_rcvbuf = parent->sk_rcvbuf;
	child->sk_userlocks = parent->sk_userlocks;
	child->sk_rcvlowat = parent->sk_rcvlowat;
	child->sk_peek_off = READ_ONCE(parent->sk_peek_off);
	child->sk_rcvtimeo = parent->sk_rcvtimeo;
	child->sk_sndtimeo = parent->sk_sndtimeo;
	child->sk_mark = parent->sk_mark;
	child->sk_tsflags = parent->sk_tsflags;
	child->sk_reuse = parent->sk_reuse;
	child->sk_reuseport = parent->sk_reuseport;
	child->sk_txrehash = parent->sk_txrehash;
	child->sk_incoming_cpu = READ_ONCE(parent->sk_incoming_cpu);
	child->sk_max_pacing_rate = parent->sk_max_pacing_rate;
#ifdef CONFIG_NET_RX_BUSY_POLL
	child->sk_ll_usec = parent->sk_ll_usec;
	child->sk_prefer_busy_poll = parent->sk_prefer_busy_poll;
	child->sk_busy_poll_budget = parent->sk_busy_poll_budget;
#endif
	child->sk_bound_dev_if = parent->sk_bound_dev_if;
	sdp_sk(child)->base.opt = sdp_sk(parent)->base.opt;
	/* This one is the listener's alone. */
	sdp_sk(child)->base.opt.defer_accept = 0;
	sdp_sk(child)->conn.bound_addr = sdp_sk(parent)->conn.bound_addr;
	sdp_sk(child)->base.v6 = sdp_sk(parent)->base.v6;
	sdp_sk(child)->base.v6only = sdp_sk(parent)->base.v6only;
}

/*
 * What the inet families set up themselves when they create a socket, and what
 * sdp_inet_setsockopt() has them change: values only.  What hangs on pointers is the
 * parent's: a security module that labels sockets may have put options there.
 */
static void sdp_sock_inherit_inet(struct sdp_sock *child,
				  const struct sdp_sock *parent)
{
	const size_t from = sizeof(struct sock);

	child->sk.sk_destruct = parent->destruct;
	child->sk.sk_ipv6only = parent->sk.sk_ipv6only;
	memcpy((void *)&child->inet + from, (void *)&parent->inet + from,
	       sizeof(child->inet) - from);
	RCU_INIT_POINTER(child->inet.inet_opt, NULL);
	RCU_INIT_POINTER(child->inet.mc_list, NULL);
#if IS_ENABLED(CONFIG_IPV6)
	if (child->sk.sk_family != AF_INET6)
		return;
	child->inet6 = parent->inet6;
	child->inet.pinet6 = &child->inet6;
	RCU_INIT_POINTER(child->inet6.opt, NULL);
	RCU_INIT_POINTER(child->inet6.ipv6_mc_list, NULL);
	child->inet6.ipv6_ac_list = NULL;
	child->inet6.pktoptions = NULL;
	child->inet6.rxpmtu = NULL;
#endif
}

/*
 * Has a child's memory charged where its listener's is.  Nothing was yet; it is created
 * by a worker, which belongs to no control group.
 */
static void sdp_sock_join_cgroup(struct sock *child, const struct sock *parent)
{
#ifdef CONFIG_MEMCG
	struct mem_cgroup *old = child->sk_memcg;

	if (parent->sk_memcg)
		css_get(&parent->sk_memcg->css);
	child->sk_memcg = parent->sk_memcg;
	if (old)
		css_put(&old->css);
#endif
}

/**
 * sdp_sock_alloc_child() - create a socket of a listener's family and options
 * @parent: listener
 * @gfp: how to allocate
 *
 * Return: the socket in state CLOSE, or NULL.
 */
struct sock *sdp_sock_alloc_child(const struct sock *parent, gfp_t gfp)
{
	struct sock *sk;

	sk = sk_alloc(sock_net(parent), parent->sk_family, gfp, &sdp_prot, 0);
	if (!sk)
		return NULL;
	sock_init_data(NULL, sk);
	sdp_sock_inherit_inet(sdp_sk(sk), sdp_sk(parent));
	if (sdp_sock_init(sk)) {
		sk_common_release(sk);
		return NULL;
	}
	sdp_sock_inherit(sk, parent);
	sdp_sock_join_cgroup(sk, parent);
	sdp_gate_inherit(sk, parent);
	return sk;
}

/**
 * sdp_sock_closed() - enter state CLOSE
 * @ssk: locked socket
 *
 * As with TCP a port that the kernel has chosen is free again, while
 * getsockname() still shows it.
 */
void sdp_sock_closed(struct sdp_sock *ssk)
{
	sdp_owned(&ssk->sk);
	sdp_set_state(&ssk->sk, TCP_CLOSE);
	sdp_sock_free_port(ssk);
}

/**
 * sdp_sock_rollback() - go back to state CLOSE without a connection to end
 * @sk: locked socket; the lock is released for a while
 * @undo: takes back what was asked of the connection manager, for which the
 *	lock must not be held
 *
 * Meanwhile state CLOSING keeps others away; callers that come nevertheless wait for it
 * to change.  It may have changed already, if a device has taken the socket's identifier
 * with it, and may then be that of something new.
 *
 * Context: process context.
 */
void sdp_sock_rollback(struct sock *sk, void (*undo)(struct sdp_sock *ssk))
{
	sdp_sock_owned_by_me(sk);
	sdp_set_state(sk, TCP_CLOSING);
	sdp_release_sock(sk);
	undo(sdp_sk(sk));
	sdp_lock_sock(sk);
	if (sk->sk_state == TCP_CLOSING)
		sdp_set_state(sk, TCP_CLOSE);
	sk->sk_state_change(sk);
}

/**
 * sdp_sock_wait_closed() - wait until the teardown of a connection is complete
 * @sk: socket, not locked
 *
 * User space knows that the connection is over, and may use the socket for something
 * else, which must find the resources of the connection free.
 *
 * Context: process context.
 */
void sdp_sock_wait_closed(struct sock *sk)
{
	if (sdp_in_state(sk, SDPF_TIME_WAIT))
		sdp_conn_flush(sdp_conn(sk));
}
