// SPDX-License-Identifier: GPL-2.0
/*
 * The address family, and the socket calls.
 */
#include <linux/bpf-cgroup.h>
#include <linux/in.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/sdp.h>
#include <net/route.h>

#include "base/base.h"
#include "guard/guard.h"
#include "fallback/fallback.h"
#include "rdma/rdma.h"
#include "stream/stream.h"
#include "conn/conn.h"
#include "accept.h"
#include "inet.h"
#include "socket.h"

static int sdp_release(struct socket *sock)
{
	struct sock *sk = sock->sk;

	if (!sk)
		return 0;
	BPF_CGROUP_RUN_PROG_INET_SOCK_RELEASE(sk);
	sock_hold(sk);
	sdp_sock_close(sk);
	sdp_fallback_release(sdp_sk(sk));
	sock->sk = NULL;
	sock_put(sk);
	/* The reference that the file had. */
	sock_put(sk);
	return 0;
}

/* Whether the interface of a link-local address exists. */
static int sdp_bind_check_scope(const struct sock *sk,
				const struct sdp_addr *addr)
{
	int err = 0;

	if (!addr->scope_id || sdp_addr_is_v4(addr) ||
	    !(ipv6_addr_type(&addr->ip) & IPV6_ADDR_LINKLOCAL))
		return 0;
	rcu_read_lock();
	if (!dev_get_by_index_rcu(sock_net(sk), addr->scope_id))
		err = -ENODEV;
	rcu_read_unlock();
	return err;
}

static int sdp_bind_locked(struct sdp_sock *ssk, struct sdp_addr *addr, bool v6)
{
	struct sock *sk = &ssk->sk;
	struct sdp_addr old = ssk->base.local;
	int err;

	if (sk->sk_state != TCP_CLOSE || ssk->conn.bound ||
	    ssk->fallback.active || (ssk->base.v6only && sdp_addr_is_v4(addr)))
		return -EINVAL;
	err = sdp_bind_check_scope(&ssk->sk, addr) ?:
		      sdp_gate_bind(&ssk->sk, addr, v6);
	if (err)
		return err;
	ssk->base.local = *addr;
	ssk->base.v6 = v6;
	ssk->fallback.asked = false;
	if (ssk->fallback.wanted)
		err = sdp_fallback_ask_bind(ssk, v6) ?:
			      sdp_fallback_bind(ssk, sdp_is_dual(&ssk->sk));
	else
		err = sdp_sock_bind(ssk, sdp_is_dual(&ssk->sk));
	if (err) {
		ssk->base.local = old;
		return err;
	}
	ssk->conn.bound = true;
	if (!sdp_addr_is_any(addr))
		ssk->conn.bound_addr = true;
	if (addr->port)
		ssk->conn.bound_port = true;
	return 0;
}

static int sdp_bind(struct socket *sock, struct sockaddr_unsized *uaddr,
		    int len)
{
	struct sock *sk = sock->sk;
	struct sdp_addr addr;
	bool v6;
	int err;

	err = sdp_addr_from_user(sk->sk_family, uaddr, len, &addr, &v6);
	if (err)
		return err;
	sdp_sock_wait_closed(sk);
	sdp_lock_sock(sk);
	err = sdp_fallback_wait_left(sdp_fallback(sk)) ?:
		      sdp_bind_locked(sdp_sk(sk), &addr, v6);
	sdp_release_sock(sk);
	return err;
}

/* As with TCP, the wait ends when the handshake does, or as the timeout says. */
static long sdp_wait_for_connect(struct sock *sk, long timeo)
{
	u32 epoch = sdp_conn(sk)->stream.epoch;
	DEFINE_WAIT_FUNC(wait, woken_wake_function);

	add_wait_queue(sk_sleep(sk), &wait);
	while (sdp_in_state(sk, SDPF_CONNECTING) &&
	       sdp_stream_is(&sdp_conn(sk)->stream, epoch)) {
		sdp_release_sock(sk);
		timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, timeo);
		sdp_lock_sock(sk);
		if (signal_pending(current) || !timeo)
			break;
	}
	remove_wait_queue(sk_sleep(sk), &wait);
	return timeo;
}

/* A broadcast address: rdma_cm would try to resolve it by ARP. */
static bool sdp_connect_is_broadcast(const struct sdp_sock *ssk)
{
	const struct sdp_addr *peer = &ssk->base.peer;
	struct flowi4 fl4 = {
		.daddr = peer->ip.s6_addr32[3],
		.flowi4_oif = ssk->sk.sk_bound_dev_if,
	};
	struct rtable *rt;
	bool broadcast;

	if (!sdp_addr_is_v4(peer))
		return false;
	rt = ip_route_output_key(sock_net(&ssk->sk), &fl4);
	if (IS_ERR(rt))
		return false;
	broadcast = rt->rt_flags & RTCF_BROADCAST;
	ip_rt_put(rt);
	return broadcast;
}

/* What is known to fail over RDMA without asking. */
static int sdp_connect_check_rdma(struct sdp_sock *ssk)
{
	int err;

	if (sdp_fallback_alone(&ssk->fallback))
		return -EADDRNOTAVAIL;
	err = sdp_loopback_find_peer(&ssk->conn);
	if (err)
		return err;
	/* rdma_cm would try any device, and no request would be accepted. */
	if (sdp_addr_is_multicast(&ssk->base.peer) ||
	    sdp_connect_is_broadcast(ssk))
		return -ENETUNREACH;
	if (sdp_addr_lacks_scope(&ssk->base.peer) && !ssk->sk.sk_bound_dev_if)
		return -EINVAL;
	return 0;
}

static int sdp_connect_start(struct socket *sock,
			     const struct sdp_addr *peer, bool v6)
{
	struct sock *sk = sock->sk;
	struct sdp_sock *ssk = sdp_sk(sk);
	u32 epoch;
	int err;

	if (sk->sk_state != TCP_CLOSE)
		return -EISCONN;
	if (ssk->base.v6only && sdp_addr_is_v4(peer))
		return -ENETUNREACH;
	epoch = sdp_stream_begin(&ssk->conn.stream);
	ssk->base.peer = *peer;
	if (!ssk->conn.bound)
		ssk->base.v6 = v6;
	err = sdp_fallback_prepare(ssk);
	if (!err)
		err = sdp_gate_connect(&ssk->fallback);
	if (err) {
		sdp_sock_forget_peer(ssk);
		return err;
	}
	WRITE_ONCE(sk->sk_shutdown, 0);
	err = sdp_connect_check_rdma(ssk);
	/* What connects needs the port for itself. */
	if (!err && ssk->share)
		sdp_sock_rollback(sk, sdp_share_leave);
	/*
	 * The lock was released, and another thread may have begun again, or have ended
	 * this; so may have the removal of the device.
	 */
	if (!err && !sk->sk_shutdown && sdp_stream_is(&ssk->conn.stream, epoch))
		err = sdp_sock_start_connect(ssk);
	if (!sdp_stream_is(&ssk->conn.stream, epoch))
		return -EALREADY;
	if (sk->sk_shutdown)
		err = -ECONNRESET;
	else if (err && sdp_fallback_connect(ssk, &err))
		err = 0;
	if (err) {
		sdp_sock_forget_peer(ssk);
		return err;
	}
	sock->state = SS_CONNECTING;
	return -EINPROGRESS;
}

/* The call goes on with TCP, the first one of an attempt or a later one. */
#define SDP_CONNECT_TCP_FIRST	1
#define SDP_CONNECT_TCP_AGAIN	2

static int sdp_connect_locked(struct socket *sock, const struct sdp_addr *peer,
			      bool v6, int flags)
{
	struct sock *sk = sock->sk;
	u32 epoch;
	long timeo;
	int err;

	sdp_fallback_undo(sock);
	err = sdp_fallback_wait_left(sdp_fallback(sk));
	if (err)
		return err;
	if (sdp_fallback_tcp(sdp_fallback(sk)))
		return SDP_CONNECT_TCP_AGAIN;
	if (sock->state == SS_CONNECTED)
		return -EISCONN;
	if (sock->state == SS_CONNECTING)
		err = -EALREADY;
	else
		err = sdp_connect_start(sock, peer, v6);
	if (sock->state != SS_CONNECTING)
		return err;

	timeo = sock_sndtimeo(sk, flags & O_NONBLOCK);
	if (!timeo && sdp_fallback_tcp(sdp_fallback(sk)))
		return err;
	epoch = sdp_conn(sk)->stream.epoch;
	if (sdp_in_state(sk, SDPF_CONNECTING)) {
		if (!timeo)
			return err;
		timeo = sdp_wait_for_connect(sk, timeo);
		/* As TCP says if another thread has made something else of the socket. */
		if (!sdp_stream_is(&sdp_conn(sk)->stream, epoch))
			return -EPIPE;
		if (sdp_in_state(sk, SDPF_CONNECTING))
			return timeo ? sock_intr_errno(timeo) : err;
	}
	if (sdp_fallback_tcp(sdp_fallback(sk)))
		return err == -EINPROGRESS ? SDP_CONNECT_TCP_FIRST :
					     SDP_CONNECT_TCP_AGAIN;
	if (sk->sk_state == TCP_CLOSE) {
		sock->state = SS_UNCONNECTED;
		err = sock_error(sk);
		sdp_sock_forget(sdp_sk(sk));
		return err ? err : -ECONNABORTED;
	}
	sock->state = SS_CONNECTED;
	err = sdp_rdmacg_charge(&sdp_sk(sk)->conn.link);
	if (err) {
		sdp_sock_disconnect(sock);
		sock_error(sk);
	}
	return err;
}

static int sdp_connect_dissolve(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct socket *tcp;

	sdp_lock_sock(sk);
	tcp = sdp_fallback_get(sdp_fallback(sk));
	if (!tcp)
		sdp_sock_disconnect(sock);
	sdp_release_sock(sk);
	return tcp ? sdp_fallback_disconnect(sock, tcp) : 0;
}

static int sdp_connect(struct socket *sock, struct sockaddr_unsized *uaddr,
		       int len, int flags)
{
	struct sock *sk = sock->sk;
	struct socket *tcp = NULL;
	struct sdp_addr peer;
	bool v6;
	int err;

	if (len < (int)sizeof(uaddr->sa_family))
		return -EINVAL;
	if (uaddr->sa_family == AF_UNSPEC)
		return sdp_connect_dissolve(sock);
	err = sdp_addr_from_user(sk->sk_family, uaddr, len, &peer, &v6);
	if (err)
		return err;
	sdp_lock_sock(sk);
	err = sdp_connect_locked(sock, &peer, v6, flags);
	if (err > 0)
		tcp = sdp_fallback_get(sdp_fallback(sk));
	sdp_release_sock(sk);
	if (!tcp)
		return err;
	return sdp_fallback_wait_connect(sock, tcp, flags,
					 err == SDP_CONNECT_TCP_FIRST);
}

static int sdp_listen_locked(struct socket *sock, int backlog)
{
	struct sock *sk = sock->sk;

	if (sock->state != SS_UNCONNECTED ||
	    sdp_fallback_tcp(sdp_fallback(sk)) ||
	    !sdp_in_state(sk, TCPF_CLOSE | TCPF_LISTEN))
		return -EINVAL;
	return sdp_listen_start(sk, backlog);
}

static int sdp_listen(struct socket *sock, int backlog)
{
	struct sock *sk = sock->sk;
	int err;

	sdp_lock_sock_nested(sk, SDP_LOCK_LISTEN);
	err = sdp_fallback_wait_left(sdp_fallback(sk)) ?:
		      sdp_listen_locked(sock, backlog);
	sdp_release_sock(sk);
	return err;
}

/* A child that exceeds the control group's limit is reset. */
static int sdp_accept_charge(struct sock *child)
{
	int err;

	sdp_lock_sock(child);
	err = sdp_rdmacg_charge(&sdp_sk(child)->conn.link);
	if (err) {
		sock_set_flag(child, SOCK_DEAD);
		if (sdp_sk(child)->conn.link.id)
			sdp_link_end(&sdp_sk(child)->conn.link, -ECONNABORTED);
	}
	sdp_release_sock(child);
	if (err)
		sock_put(child);
	return err;
}

static int sdp_accept(struct socket *sock, struct socket *newsock,
		      struct proto_accept_arg *arg)
{
	struct sock *child;
	int err;

	child = sdp_accept_dequeue(sock->sk, arg->flags, &err);
	if (child)
		err = sdp_accept_charge(child);
	if (!child || err)
		return err;
	/* Security modules may set options of the socket layer then. */
	lock_sock(child);
	sdp_lock_sock(child);
	sock_graft(child, newsock);
	newsock->state = SS_CONNECTED;
	sdp_sock_flags(newsock);
	if (sdp_sk(child)->fallback.tcp)
		sdp_fallback_classify(child);
	sdp_release_sock(child);
	release_sock(child);
	sdp_fallback_graft(sdp_fallback(child), newsock);
	arg->is_empty = !sdp_accept_waiting(sock->sk);
	return 0;
}

DEFINE_PROTO_OPS_ACCEPT(sdp_accept);

/* accept() asks with @peer 2 for the name even if the peer has left again. */
static int sdp_getname(struct socket *sock, struct sockaddr *addr, int peer)
{
	struct sock *sk = sock->sk;
	struct socket *tcp = sdp_fallback_get(sdp_fallback(sk));
	struct sdp_sock *ssk = sdp_sk(sk);
	int ret;

	if (tcp)
		return sdp_fallback_getname(&ssk->fallback, tcp, addr, peer);
	sdp_lock_sock(sk);
	if (!peer)
		ret = sdp_addr_to_user(&ssk->base.local, ssk->base.v6, addr);
	else if (!ssk->base.peer.port ||
		 (peer == 1 &&
		  sdp_in_state(sk, SDPF_OVER | TCPF_LISTEN | TCPF_SYN_SENT)))
		ret = -ENOTCONN;
	else
		ret = sdp_addr_to_user(&ssk->base.peer, ssk->base.v6, addr);
	sdp_release_sock(sk);
	return ret;
}

#define SDP_POLL_DATA	(EPOLLIN | EPOLLRDNORM)
#define SDP_POLL_ROOM	(EPOLLOUT | EPOLLWRNORM)
/* What may stand behind what the peer advertises. */
#define SDP_POLL_NEWS	(SDP_POLL_DATA | EPOLLRDBAND | EPOLLPRI | EPOLLRDHUP)

static __poll_t sdp_poll_write(struct sock *sk)
{
	if (READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN ||
	    !sdp_in_state(sk, SDPF_SEND) || sdp_tx_writeable(&sdp_sk(sk)->conn.stream))
		return SDP_POLL_ROOM;
	sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
	set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	/* Room may have come between the look and the note. */
	smp_mb__after_atomic();
	if (sdp_tx_writeable(&sdp_sk(sk)->conn.stream))
		return SDP_POLL_ROOM;
	/* See sdp_tx_ask_for_room(). */
	local_bh_disable();
	sdp_link_kick(&sdp_sk(sk)->conn.link);
	local_bh_enable();
	return 0;
}

static __poll_t sdp_poll_listener(struct sock *sk)
{
	__poll_t mask = sdp_accept_waiting(sk) ? EPOLLIN | EPOLLRDNORM : 0;

	/* accept() will end it: until then it looks as it will then. */
	if (sdp_fallback_listener_gone(sdp_fallback(sk)))
		mask = EPOLLHUP | EPOLLIN | EPOLLRDNORM | EPOLLRDHUP |
		       EPOLLOUT | EPOLLWRNORM;
	return READ_ONCE(sk->sk_err) ? mask | EPOLLERR : mask;
}

/* What is there, of what the caller asks for: looking for more costs as much again. */
static __poll_t sdp_poll_mask(struct sock *sk, __poll_t asked)
{
	struct sdp_stream *st = &sdp_sk(sk)->conn.stream;
	__poll_t mask = 0;
	u8 shutdown;

	if (sdp_in_state(sk, TCPF_LISTEN))
		return sdp_poll_listener(sk);

	shutdown = READ_ONCE(sk->sk_shutdown);
	if (shutdown == SHUTDOWN_MASK || sdp_in_state(sk, TCPF_CLOSE))
		mask |= EPOLLHUP;
	if (shutdown & RCV_SHUTDOWN)
		mask |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
	if (!sdp_in_state(sk, SDPF_CONNECTING)) {
		if (asked & SDP_POLL_DATA &&
		    (sdp_rx_readable(st) || sdp_zasync_read_pollable(&sdp_conn(sk)->zcopy)))
			mask |= SDP_POLL_DATA;
		if (asked & SDP_POLL_ROOM)
			mask |= sdp_poll_write(sk);
		if (asked & EPOLLPRI && sdp_oob_valid(st))
			mask |= EPOLLPRI;
	}
	/* Pairs with the order in which sdp_sock_ended() writes. */
	smp_rmb();
	if (READ_ONCE(sk->sk_err) ||
	    !skb_queue_empty_lockless(&sk->sk_error_queue))
		mask |= EPOLLERR;
	return mask;
}

/* Whether the caller is about to sleep for such events, and there is none of them. */
static bool sdp_poll_in_vain(__poll_t mask, __poll_t asked, __poll_t events)
{
	return asked & events && !(mask & asked & events);
}

static __poll_t sdp_poll(struct file *file, struct socket *sock,
			 struct poll_table_struct *wait)
{
	struct sock *sk = sock->sk;
	__poll_t asked = poll_requested_events(wait);
	struct socket *tcp;
	__poll_t mask;

	sock_poll_wait(file, sock, wait);
	if (unlikely(READ_ONCE(sdp_sk(sk)->conn.link.flags) & SDP_CONN_LEFT))
		sdp_integrated_pause(&sdp_sk(sk)->conn.stream);
	mask = sdp_poll_mask(sk, asked);
	/* No answer is looked for by who wants anything else: select() adds EPOLLPRI. */
	if (sdp_poll_in_vain(mask, asked, SDP_POLL_DATA))
		sdp_tx_pause_poll(sdp_conn(sk));
	if (sdp_poll_in_vain(mask, asked, SDP_POLL_NEWS))
		sdp_zrecv_asked(&sdp_sk(sk)->conn.zcopy);
	/* Pairs with the barrier in sdp_fallback_connect(). */
	smp_rmb();
	tcp = sdp_fallback_get(sdp_fallback(sk));
	return tcp ? sdp_fallback_poll(sdp_fallback(sk), file, tcp) : mask;
}

/* The same behind each family that leads here. */
const struct proto_ops sdp_proto_ops = {
	.family = PF_SDP,
	.owner = THIS_MODULE,
	.release = sdp_release,
	.bind = sdp_bind,
	.connect = sdp_connect,
	.socketpair = sock_no_socketpair,
	.accept = PROTO_OPS_ACCEPT(sdp_accept),
	.getname = sdp_getname,
	.poll = sdp_poll,
	.ioctl = sdp_ioctl,
	.gettstamp = sock_gettstamp,
	.listen = sdp_listen,
	.shutdown = sdp_shutdown,
	.setsockopt = sdp_setsockopt,
	.getsockopt = sdp_getsockopt,
	.set_rcvlowat = sdp_set_rcvlowat,
	.sendmsg = sdp_sendmsg,
	.recvmsg = sdp_recvmsg,
	.mmap = sdp_mmap,
	.splice_read = sdp_splice_read,
	.splice_eof = sdp_splice_eof,
	.set_peek_off = sdp_set_peek_off,
};

static int sdp_create(struct net *net, struct socket *sock, int protocol,
		      int kern)
{
	struct sock *sk;
	int err;

	if (sock->type != SOCK_STREAM)
		return -ESOCKTNOSUPPORT;
	if (protocol < 0 || protocol >= IPPROTO_MAX)
		return -EINVAL;
	if (protocol && protocol != IPPROTO_TCP)
		return -EPROTONOSUPPORT;
	/*
	 * Kernel users of this family treat what they get as a TCP socket and
	 * would read past the end of ours.
	 */
	if (kern)
		return -EOPNOTSUPP;
	sk = sdp_sock_alloc(net, sock, GFP_KERNEL, kern);
	if (!sk)
		return -ENOBUFS;
	/* For the other door it is inet_create() that asks. */
	err = BPF_CGROUP_RUN_PROG_INET_SOCK(sk);
	if (err) {
		sock->sk = NULL;
		sk_common_release(sk);
		return err;
	}
	sock->ops = &sdp_proto_ops;
	return 0;
}

static const struct net_proto_family sdp_family = {
	.family = PF_SDP,
	.owner = THIS_MODULE,
	.create = sdp_create,
};

/**
 * sdp_family_init_module() - register the family, and the protocol of the inet families
 *
 * Return: 0 or a negative errno.
 */
int __init sdp_family_init_module(void)
{
	int err;

	err = sock_register(&sdp_family);
	if (err)
		return err;
	err = sdp_inet_init_module();
	if (err)
		sock_unregister(PF_SDP);
	return err;
}

/**
 * sdp_family_exit_module() - no more sockets from now on
 */
void sdp_family_exit_module(void)
{
	sdp_inet_exit_module();
	sock_unregister(PF_SDP);
}
