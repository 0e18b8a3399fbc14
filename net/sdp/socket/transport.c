// SPDX-License-Identifier: GPL-2.0
/*
 * Fallback to TCP: when a socket has a TCP socket beside its RDMA side, and
 * when that takes over.
 *
 *	listener	listens on both; accept() takes from either
 *	connect()	asks RDMA first; if that is refused, impossible or not
 *			answered in time, goes on over TCP before it completes
 *
 * What carries a connection is decided once.  From then on the RDMA side is in
 * state CLOSE and stays there, and calls are handed to TCP.
 */
#include <linux/net.h>
#include <net/inet_common.h>

#include "base/base.h"
#include "fallback/fallback.h"
#include "conn/conn.h"
#include "socket.h"

/* How many ports bind() tries until it has one that is free on both sides. */
#define SDP_FALLBACK_PORTS	32

/* IPV6_V6ONLY may be set as long as there is no port. */
static void sdp_fallback_carry_v6only(struct sdp_sock *ssk)
{
	struct sock *tsk = ssk->fallback.tcp->sk;

	lock_sock(tsk);
	if (tsk->sk_family == AF_INET6 && !tsk->sk_num)
		tsk->sk_ipv6only = ssk->base.v6only;
	release_sock(tsk);
}

/* One that is left from an attempt for the other family is of no use. */
static int sdp_fallback_want_tcp(struct sdp_sock *ssk, int family)
{
	struct sdp_fallback *fb = &ssk->fallback;
	int err;

	if (fb->tcp && fb->tcp->sk->sk_family != family)
		sdp_fallback_discard_tcp(fb);
	err = fb->tcp ? 0 : sdp_fallback_create_tcp(fb, family);
	if (!err)
		sdp_fallback_carry_v6only(ssk);
	return err;
}

/* Makes a TCP socket for the address that ours has, or is about to have. */
static int sdp_fallback_have_tcp(struct sdp_sock *ssk, bool dual,
				 struct sockaddr_storage *addr)
{
	int err;

	sdp_addr_to_rdma(&ssk->base.local, dual, addr);
	err = sdp_fallback_want_tcp(ssk, addr->ss_family);
	/* A kernel may be without IPv6. */
	if (err == -EAFNOSUPPORT && sdp_addr_is_any(&ssk->base.local)) {
		sdp_addr_to_rdma(&ssk->base.local, false, addr);
		err = sdp_fallback_want_tcp(ssk, addr->ss_family);
	}
	return err;
}

/**
 * sdp_fallback_ask_bind() - call the LSM hook before TCP is bound
 * @ssk: locked socket, whose local address says what is wanted
 * @dual: the unspecified address stands for IPv6 and IPv4
 *
 * Security modules judge the call as user space made it: a port that bind() has chosen
 * for it, because any would do, is none that it has asked for.
 *
 * Context: process context.
 * Return: 0 or a negative errno.
 */
int sdp_fallback_ask_bind(struct sdp_sock *ssk, bool dual)
{
	struct sockaddr_storage addr;
	int err;

	sdp_owned(&ssk->sk);
	err = sdp_fallback_have_tcp(ssk, dual, &addr);
	/* The port of AF_INET6 is in the same place. */
	if (ssk->conn.bound && !ssk->conn.bound_port)
		((struct sockaddr_in *)&addr)->sin_port = 0;
	if (!err)
		err = sdp_lsm_bind(ssk->fallback.tcp, &addr,
				   addr.ss_family == AF_INET6 ?
					   sizeof(struct sockaddr_in6) :
					   sizeof(struct sockaddr_in));
	if (err)
		sdp_fallback_drop(&ssk->fallback);
	ssk->fallback.asked = !err;
	return err;
}

/* Whether TCP has the port that the socket is bound to, and not one from before. */
static bool sdp_fallback_has_port(const struct sdp_sock *ssk)
{
	const struct socket *tcp = ssk->fallback.tcp;

	return ssk->conn.bound && tcp && tcp->sk->sk_num &&
	       tcp->sk->sk_num == ntohs(ssk->base.local.port);
}

static int sdp_fallback_bind_tcp(struct sdp_sock *ssk, bool dual)
{
	struct sdp_fallback *fb = &ssk->fallback;
	struct sockaddr_storage addr;
	struct sdp_addr got;
	int err;

	/* connect() may have got it one. */
	if (fb->tcp && fb->tcp->sk->sk_num && !sdp_fallback_has_port(ssk))
		sdp_fallback_discard_tcp(fb);
	err = sdp_fallback_have_tcp(ssk, dual, &addr);
	if (err)
		return err;
	sdp_fallback_carry_to_bind(ssk);
	sdp_fallback_sync(fb);
	if (fb->tcp->sk->sk_num)
		return 0;
	err = sdp_port_bind_tcp(fb->tcp, &addr);
	if (err)
		return err;
	sdp_addr_from_rdma(&addr, &got);
	ssk->base.local.port = got.port;
	return 0;
}

/* Whatever RDMA refuses TCP serves alone, but a port must be free on both. */
static int sdp_fallback_bind_rdma(struct sdp_sock *ssk, bool dual)
{
	int err;

	/* It was bound before it was to fall back. */
	if (sdp_sock_has_port(ssk) || sdp_fallback_alone(&ssk->fallback))
		return 0;
	err = sdp_sock_bind(ssk, dual);
	if (err == -EADDRINUSE)
		return err;
	WRITE_ONCE(ssk->fallback.alone, err);
	return 0;
}

/* A port that RDMA has not got shall not be TCP's either. */
static void sdp_fallback_unbind(struct sdp_sock *ssk)
{
	if (ssk->conn.bound) {
		sdp_fallback_drop(&ssk->fallback);
		return;
	}
	sdp_fallback_discard_tcp(&ssk->fallback);
	WRITE_ONCE(ssk->fallback.alone, false);
}

/*
 * Whether bind() was for RDMA alone, and no LSM hook was called for TCP: its address
 * stays chosen when its port has gone.  An unbound socket that listens gets any address
 * and port, for which TCP calls none either.
 */
static bool sdp_fallback_bind_is_late(const struct sdp_sock *ssk)
{
	return (ssk->conn.bound || ssk->conn.bound_addr) && !ssk->fallback.asked;
}

/**
 * sdp_fallback_bind() - reserve the local address on both sides
 * @ssk: locked socket, whose local address says what is wanted
 * @dual: the unspecified address stands for IPv6 and IPv4
 *
 * If any port will do, one is chosen that is free on both.
 *
 * Context: process context.
 * Return: 0 with the port in the socket's local address, or a negative errno.
 */
int sdp_fallback_bind(struct sdp_sock *ssk, bool dual)
{
	__be16 port = ssk->base.local.port;
	int tries = port ? 1 : SDP_FALLBACK_PORTS;
	int err;

	sdp_owned(&ssk->sk);
	/* An attempt that has failed may have cost TCP its port. */
	if (sdp_fallback_has_port(ssk) &&
	    (sdp_sock_has_port(ssk) || sdp_fallback_alone(&ssk->fallback)))
		return 0;
	if (sdp_fallback_bind_is_late(ssk)) {
		err = sdp_fallback_ask_bind(ssk, dual);
		if (err)
			return err;
	}
	do {
		ssk->base.local.port = port;
		err = sdp_fallback_bind_tcp(ssk, dual);
		if (!err)
			err = sdp_fallback_bind_rdma(ssk, dual);
		if (err)
			sdp_fallback_unbind(ssk);
	} while (err == -EADDRINUSE && --tries && !ssk->fallback.tcp);
	return err;
}

/* An address that user space has chosen stays when its port has gone. */
static int sdp_fallback_family(const struct sdp_sock *ssk)
{
	return sdp_addr_is_v4(ssk->conn.bound_addr ? &ssk->base.local :
						     &ssk->base.peer) ?
		       AF_INET :
		       AF_INET6;
}

/* Any port will do: bind() has asked for none. */
static int sdp_fallback_bind_addr(struct sdp_sock *ssk)
{
	struct socket *tcp = ssk->fallback.tcp;
	struct sdp_addr local = ssk->base.local;
	struct sockaddr_storage addr;
	int err;

	if (!ssk->conn.bound_addr || tcp->sk->sk_userlocks & SOCK_BINDADDR_LOCK)
		return 0;
	local.port = 0;
	sdp_addr_to_rdma(&local, false, &addr);
	err = sdp_lsm_bind(tcp, &addr,
			   addr.ss_family == AF_INET6 ?
				   sizeof(struct sockaddr_in6) :
				   sizeof(struct sockaddr_in));
	if (err)
		return err;
	sdp_fallback_carry(ssk);
	sdp_fallback_sync(&ssk->fallback);
	return sdp_port_bind_tcp(tcp, &addr);
}

/**
 * sdp_fallback_prepare() - have a TCP socket ready before connecting
 * @ssk: locked socket with its peer set
 *
 * This is done in the caller's context, since the TCP socket shall belong to the calling
 * process, also if a worker connects it.
 *
 * Return: 0 or a negative errno.
 */
int sdp_fallback_prepare(struct sdp_sock *ssk)
{
	int err;

	sdp_owned(&ssk->sk);
	if (!ssk->fallback.wanted)
		return 0;
	WARN_ON_ONCE(!sdp_fallback_is_left(&ssk->fallback));
	if (ssk->conn.bound) {
		err = sdp_fallback_bind(ssk, sdp_is_dual(&ssk->sk));
	} else {
		sdp_fallback_drop(&ssk->fallback);
		err = sdp_fallback_want_tcp(ssk, sdp_fallback_family(ssk)) ?:
		      sdp_fallback_bind_addr(ssk);
	}
	/* The hooks would be called for it as for one of IPv4. */
	if (!err && ssk->fallback.tcp->sk->sk_family == AF_INET &&
	    !sdp_addr_is_v4(&ssk->base.peer))
		err = -EAFNOSUPPORT;
	if (err)
		return err;
	sdp_fallback_carry(ssk);
	sdp_fallback_sync(&ssk->fallback);
	return 0;
}

static enum sdp_fallback_reason sdp_fallback_reason_of(int err)
{
	switch (err) {
	case -ENETUNREACH:
	case -EADDRNOTAVAIL:
	case -ENODEV:
	case -ENETDOWN:
		return SDP_FALLBACK_NO_DEVICE;
	case -EHOSTUNREACH:
		return SDP_FALLBACK_UNREACHABLE;
	case -ECONNREFUSED:
	case -ECONNRESET:
	case -EPROTO:
	case -EPROTONOSUPPORT:
		return SDP_FALLBACK_REFUSED;
	case -ETIMEDOUT:
		return SDP_FALLBACK_TIMEOUT;
	default:
		return SDP_FALLBACK_RESOURCES;
	}
}

/*
 * The hooks of sdp_gate_connect() have allowed this.  TCP's connect() would run the
 * control group's BPF programs again, which would take the worker that may be calling
 * for the connecting process.
 */
static int sdp_fallback_connect_tcp(struct sdp_sock *ssk)
{
	struct socket *tcp = ssk->fallback.tcp;
	struct sock *tsk = tcp->sk;
	struct sockaddr_storage to;
	int err = -EISCONN;
	int len;

	len = sdp_addr_to_user(&ssk->base.peer, tsk->sk_family == AF_INET6,
			       &to);
	lock_sock(tsk);
	if (tcp->state == SS_UNCONNECTED && tsk->sk_state == TCP_CLOSE)
		err = tsk->sk_prot->connect(tsk, (void *)&to, len);
	if (!err)
		tcp->state = SS_CONNECTING;
	release_sock(tsk);
	return err;
}

/**
 * sdp_fallback_connect() - go on over TCP
 * @ssk: locked socket with its peer set and nothing of RDMA left
 * @err: why RDMA does not do; changed to TCP's error if that fails at once
 *
 * Never waits, since no call is in the TCP socket.  The socket's state is the caller's to
 * change, afterwards: with the new one it is also visible that TCP has taken over.
 *
 * Context: process context, also the work item that ended the attempt over RDMA.
 * Return: whether TCP has taken over.
 */
bool sdp_fallback_connect(struct sdp_sock *ssk, int *err)
{
	struct sdp_fallback *fb = &ssk->fallback;
	int ret;

	sdp_owned(&ssk->sk);
	if (!sdp_fallback_ready(fb))
		return false;
	sdp_fallback_carry(ssk);
	sdp_fallback_sync(fb);
	sdp_fallback_begin(fb, fb->wanted == SDP_FALLBACK_ONLY ?
				SDP_FALLBACK_CHOSEN :
				sdp_fallback_reason_of(*err));
	ret = sdp_fallback_connect_tcp(ssk);
	sdp_dbg(&ssk->sk, "TCP %s, error %d of RDMA and %d of TCP",
		ret ? "fails as well" : "takes over", *err, ret);
	if (ret) {
		sdp_fallback_end(fb);
		*err = ret;
		return false;
	}
	sdp_fallback_open(fb);
	/* Pairs with the barrier in sdp_poll(). */
	smp_wmb();
	return true;
}

/**
 * sdp_fallback_undo() - let an attempt to connect that has failed over TCP, too, be
 *	followed by another one
 * @sock: socket, locked; nothing happens if it is connected or connecting
 */
void sdp_fallback_undo(struct socket *sock)
{
	struct sdp_sock *ssk = sdp_sk(sock->sk);
	struct sdp_fallback *fb = &ssk->fallback;

	sdp_owned(&ssk->sk);
	if (!fb->active || fb->tcp->state != SS_UNCONNECTED)
		return;
	sdp_fallback_end(fb);
	sdp_sock_forget(ssk);
	sock->state = SS_UNCONNECTED;
}

/**
 * sdp_fallback_disconnect() - dissolve a connection over TCP
 * @sock: socket, not locked
 * @tcp: its TCP socket, from sdp_fallback_get()
 *
 * Return: what TCP says to connect() to AF_UNSPEC.
 */
int sdp_fallback_disconnect(struct socket *sock, struct socket *tcp)
{
	struct sockaddr_storage none = { .ss_family = AF_UNSPEC };
	int err;

	err = READ_ONCE(tcp->ops)->connect(tcp,
					   (struct sockaddr_unsized *)&none,
					   sizeof(struct sockaddr), 0);
	sdp_lock_sock(sock->sk);
	sdp_fallback_undo(sock);
	sdp_release_sock(sock->sk);
	sdp_fallback_put(sdp_fallback(sock->sk));
	return err;
}

/* Another thread may have seen the attempt fail, and undone it, by now. */
static int sdp_fallback_join_connect(struct socket *tcp, int flags)
{
	struct sock *tsk = tcp->sk;
	int err = -ECONNABORTED;

	lock_sock(tsk);
	if (tcp->state != SS_UNCONNECTED)
		err = __inet_stream_connect(tcp, NULL, 0, flags, 0);
	release_sock(tsk);
	return err;
}

/**
 * sdp_fallback_wait_connect() - connect() on a socket that TCP is connecting,
 *	or has connected
 * @sock: socket
 * @tcp: its TCP socket, from sdp_fallback_get()
 * @flags: O_NONBLOCK
 * @first: it is the call that has begun to connect
 *
 * Return: what TCP's connect() returns.
 */
int sdp_fallback_wait_connect(struct socket *sock, struct socket *tcp,
			      int flags, bool first)
{
	struct sdp_sock *ssk = sdp_sk(sock->sk);
	int err;

	sdp_fallback_sync(&ssk->fallback);
	sdp_fallback_settle_error(&ssk->fallback);
	err = sdp_fallback_join_connect(tcp, flags);
	sdp_fallback_catch_up(&ssk->fallback);
	sdp_fallback_settle_error(&ssk->fallback);
	if (err) {
		sdp_lock_sock(sock->sk);
		sdp_fallback_undo(sock);
		sdp_release_sock(sock->sk);
	}
	sdp_fallback_put(sdp_fallback(sock->sk));
	/* TCP began to connect before this call came to it. */
	return err == -EALREADY && first ? -EINPROGRESS : err;
}

/**
 * sdp_fallback_not_needed() - RDMA has connected the socket
 * @ssk: locked socket (by its owner or in softirq)
 *
 * The TCP socket goes as soon as there is a context that may sleep.
 */
void sdp_fallback_not_needed(struct sdp_sock *ssk)
{
	sdp_owned(&ssk->sk);
	if (ssk->fallback.tcp)
		sdp_timer_arm(&ssk->sk, SDP_TIMER_FALLBACK, 0);
}

/**
 * sdp_fallback_timeout() - RDMA has had its time, or has connected the socket
 * @ssk: locked socket
 *
 * A peer without RDMA does not answer at all, and the connection manager would
 * ask it for a minute.
 */
void sdp_fallback_timeout(struct sdp_sock *ssk)
{
	sdp_owned(&ssk->sk);
	if (ssk->sk.sk_state != TCP_SYN_SENT)
		sdp_fallback_drop(&ssk->fallback);
	else if (ssk->conn.link.id &&
		 !test_bit(SDP_CONN_ANSWERED, &ssk->conn.link.flags))
		sdp_link_end(&ssk->conn.link, -ETIMEDOUT);
}

/**
 * sdp_fallback_release() - the last file descriptor is gone
 * @ssk: closed socket, not locked, which the caller holds
 *
 * Waits only if SO_LINGER says so.
 */
void sdp_fallback_release(struct sdp_sock *ssk)
{
	/* The timer closes a TCP socket that is not needed: from here on we do. */
	sdp_lock_sock(&ssk->sk);
	sdp_timer_disarm(&ssk->sk, SDP_TIMER_FALLBACK);
	sdp_release_sock(&ssk->sk);
	if (!ssk->fallback.tcp)
		return;
	/* The file is gone, and with it all calls. */
	WARN_ON_ONCE(atomic_read(&ssk->fallback.users) > ssk->fallback.active);
	sdp_fallback_sync(&ssk->fallback);
	sdp_fallback_release_tcp(&ssk->fallback);
}
