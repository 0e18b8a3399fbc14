// SPDX-License-Identifier: GPL-2.0
/*
 * A socket's own address and port, as the connection manager keeps them.
 *
 * An identifier that could not be bound stays with its socket until the next
 * attempt, so that only conn.id_bound says whether there is a port.
 */
#include <linux/net.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <rdma/rdma_cm.h>

#include "base/base.h"
#include "rdma/rdma.h"
#include "bind.h"
#include "cm.h"
#include "conn.h"
#include "loopback.h"

/* How often TCP is asked for another port, if RDMA has the one that it names. */
#define SDP_PORT_TRIES	32

/*
 * rdma_cm says "not available" also of a port that is taken, if one of the two
 * addresses is the unspecified one.  It has found the address if it has found
 * the device's type.
 */
static int sdp_bind_errno(const struct sdp_conn *conn, int err)
{
	if (err == -ENODEV)
		return -EADDRNOTAVAIL;
	if (err == -EADDRNOTAVAIL &&
	    (sdp_addr_is_any(&conn->base.local) ||
	     conn->link.id->route.addr.dev_addr.dev_type))
		return -EADDRINUSE;
	return err;
}

/* An earlier attempt has left an address' device, and options, behind. */
static void sdp_bind_prepare_id(const struct sdp_conn *conn, int family)
{
	struct rdma_cm_id *id = conn->link.id;

	id->route.addr.dev_addr.dev_type = 0;
	id->route.addr.dev_addr.bound_dev_if = 0;
	/* To listen, rdma_cm would look again who shares the port, with the true address. */
	rdma_set_reuseaddr(id, conn->sk.sk_reuse != SK_NO_REUSE &&
			   !sdp_addr_is_loopback(&conn->base.local));
	rdma_set_afonly(id, family == AF_INET || conn->base.v6only);
}

static int sdp_bind_rdma(struct rdma_cm_id *id, struct sockaddr_storage *addr)
{
	if (sdp_loopback_is_addr(addr))
		return sdp_loopback_bind(id, addr);
	return rdma_bind_addr(id, (struct sockaddr *)addr);
}

/**
 * sdp_port_bind_tcp() - bind a TCP socket, and say to which port
 * @tcp: TCP socket
 * @addr: the address, which gets the port if it has none
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int sdp_port_bind_tcp(struct socket *tcp, struct sockaddr_storage *addr)
{
	int err;

	err = kernel_bind(tcp, (struct sockaddr_unsized *)addr, sizeof(*addr));
	if (!err)
		err = kernel_getsockname(tcp, (struct sockaddr *)addr);
	return err < 0 ? err : 0;
}

/*
 * Nothing keeps the port free until listen(), but of the thousands that there are
 * another socket gets this one by chance only.
 */
static int sdp_port_ask_tcp(struct net *net, bool v6only,
			    struct sockaddr_storage *addr)
{
	struct socket *tcp;
	int err;

	err = sock_create_kern(net, addr->ss_family, SOCK_STREAM, IPPROTO_TCP,
			       &tcp);
	if (err)
		return err;
	if (addr->ss_family == AF_INET6)
		tcp->sk->sk_ipv6only = v6only;
	err = sdp_port_bind_tcp(tcp, addr);
	sock_release(tcp);
	return err;
}

/*
 * Binds an identifier to a port that nobody uses; the address has a port of 0.  iWARP
 * adapters listen with TCP's port numbers, but the connection manager knows only those
 * that its own users have, and says at listen() that TCP has the one which it has
 * chosen at bind().  So TCP is asked first where there is iWARP.
 */
static int sdp_port_bind_any(struct sdp_conn *conn, struct rdma_cm_id *id,
			     const struct sockaddr_storage *addr)
{
	int tries = sdp_device_any_tcp_ports() ? SDP_PORT_TRIES : 0;
	struct sockaddr_storage got;
	int err;

	sdp_owned(&conn->sk);
	while (tries--) {
		got = *addr;
		if (sdp_port_ask_tcp(sock_net(&conn->sk), conn->base.v6only,
				     &got))
			break;
		err = sdp_bind_rdma(id, &got);
		if (err != -EADDRINUSE && err != -EADDRNOTAVAIL)
			return err;
	}
	/* TCP has none left, or does not know the address: RDMA says what it is. */
	got = *addr;
	return sdp_bind_rdma(id, &got);
}

static int sdp_bind_id(struct sdp_conn *conn, bool dual)
{
	struct sockaddr_storage addr;
	struct sdp_addr got;
	int err;

	sdp_addr_to_rdma(&conn->base.local, dual, &addr);
	sdp_bind_prepare_id(conn, addr.ss_family);
	if (conn->base.local.port)
		err = sdp_bind_rdma(conn->link.id, &addr);
	else
		err = sdp_port_bind_any(conn, conn->link.id, &addr);
	if (err)
		return sdp_bind_errno(conn, err);
	sdp_addr_from_rdma(&conn->link.id->route.addr.src_addr, &got);
	conn->base.local.port = got.port;
	conn->id_bound = true;
	return 0;
}

/**
 * sdp_cm_bind() - reserve the socket's local address, for it alone
 * @conn: connection of a locked socket, whose local address says what is wanted, and which has no
 *	port
 * @dual: the unspecified address stands for IPv6 and IPv4
 *
 * Context: process context.
 * Return: 0 with the port that was chosen in the socket's local address, or
 * a negative errno: -EADDRNOTAVAIL when no RDMA device has the address.
 */
int sdp_cm_bind(struct sdp_conn *conn, bool dual)
{
	int err;

	sdp_sock_owned_by_me(&conn->sk);
	err = sdp_conn_create_id(conn);
	if (err)
		return err;
	err = sdp_bind_id(conn, dual);
	conn->last_bind_err = err;
	return err;
}

/**
 * sdp_bind_is_shared() - whether a socket has its port for both families
 * @conn: connection of a locked socket with a port
 */
bool sdp_bind_is_shared(const struct sdp_conn *conn)
{
	const struct rdma_cm_id *id = conn->link.id;

	return !conn->base.v6only && sdp_addr_is_any(&conn->base.local) &&
	       id->route.addr.src_addr.ss_family == AF_INET6;
}

/**
 * sdp_bind_split() - give each family an identifier of its own
 * @conn: connection of a locked socket that has its port for both families
 *
 * conn.link.id is that of IPv6 from now on, and conn.id_other that of IPv4.
 *
 * Context: process context.
 * Return: 0 or a negative errno; sdp_bind_join() or sdp_bind_end_other() is due
 * in both cases.
 */
int sdp_bind_split(struct sdp_conn *conn)
{
	struct sockaddr_in any = {
		.sin_family = AF_INET,
		.sin_port = conn->base.local.port,
	};
	struct rdma_cm_id *id;

	sdp_sock_owned_by_me(&conn->sk);
	/* Until now it has kept the port for both. */
	rdma_set_afonly(conn->link.id, 1);
	id = rdma_create_id(sock_net(&conn->sk), sdp_cm_handler, conn,
			    RDMA_PS_IB, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	sdp_conn_hold(conn, SDP_REF_CM_OTHER);
	conn->id_other = id;
	rdma_set_afonly(id, 1);
	if (conn->sk.sk_reuse)
		rdma_set_reuseaddr(id, 1);
	return rdma_bind_addr(id, (struct sockaddr *)&any);
}

/**
 * sdp_bind_end_other() - release the second identifier
 * @conn: connection of a socket that is not locked; nothing happens if it has only one
 *
 * Context: process context; the caller ends the connection or listener.
 */
void sdp_bind_end_other(struct sdp_conn *conn)
{
	if (!conn->id_other)
		return;
	sdp_cm_destroy_id(conn->id_other);
	conn->id_other = NULL;
	sdp_conn_put(conn, SDP_REF_CM_OTHER);
}

/**
 * sdp_bind_join() - have the port by one identifier again
 * @conn: connection of a socket that is not locked, after sdp_bind_split() or
 *	sdp_loopback_bind_for_peer(); else nothing happens
 *
 * Context: process context; the identifiers are the caller's.
 */
void sdp_bind_join(struct sdp_conn *conn)
{
	if (conn->id_other &&
	    (conn->link.id->route.addr.src_addr.ss_family != AF_INET6 ||
	     sdp_loopback_is_id(conn->link.id)))
		swap(conn->link.id, conn->id_other);
	sdp_bind_end_other(conn);
	if (sdp_bind_is_shared(conn))
		rdma_set_afonly(conn->link.id, 0);
}

/**
 * sdp_bind_for_peer() - use the identifier of the peer's family
 * @conn: connection of a locked socket with a port and its peer set
 *
 * rdma_cm does not connect to IPv4 from the unspecified address of IPv6.
 *
 * Context: process context.
 * Return: 0 or a negative errno.
 */
int sdp_bind_for_peer(struct sdp_conn *conn)
{
	int err;

	sdp_owned(&conn->sk);
	if (!sdp_addr_is_v4(&conn->base.peer) || !sdp_bind_is_shared(conn))
		return 0;
	err = sdp_bind_split(conn);
	if (!err)
		swap(conn->link.id, conn->id_other);
	return err;
}

static void sdp_bind_source_v4(struct net *net, int oif,
			       const struct sdp_addr *peer,
			       struct sdp_addr *local)
{
	struct flowi4 fl4 = {
		.daddr = peer->ip.s6_addr32[3],
		.flowi4_oif = oif,
	};
	struct rtable *rt = ip_route_output_key(net, &fl4);

	if (IS_ERR(rt))
		return;
	ipv6_addr_set_v4mapped(fl4.saddr, &local->ip);
	ip_rt_put(rt);
}

static void sdp_bind_source_v6(struct net *net, int oif,
			       const struct sdp_addr *peer,
			       struct sdp_addr *local)
{
	struct flowi6 fl6 = {
		.daddr = peer->ip,
		.flowi6_oif = peer->scope_id ?: oif,
	};
	struct dst_entry *dst;

	dst = ip6_dst_lookup_flow(net, NULL, &fl6, NULL);
	if (IS_ERR(dst))
		return;
	local->ip = fl6.saddr;
	local->scope_id = peer->scope_id;
	dst_release(dst);
}

/**
 * sdp_bind_source() - find the address that connections to a peer come from
 * @net: namespace
 * @oif: interface that they have to take, or 0
 * @peer: the other end's address
 * @local: own address, whose port is left alone; unchanged without a route
 *
 * The connection manager makes the same choice by itself, and reports it late.
 */
void sdp_bind_source(struct net *net, int oif, const struct sdp_addr *peer,
		     struct sdp_addr *local)
{
	if (sdp_addr_is_v4(peer))
		sdp_bind_source_v4(net, oif, peer, local);
	else
		sdp_bind_source_v6(net, oif, peer, local);
}

static bool sdp_bind_has_connection(struct sock *sk,
				    const struct sdp_addr *local,
				    const struct sdp_addr *peer)
{
	return !sdp_in_state(sk, SDPF_OVER | TCPF_LISTEN) &&
	       sdp_addr_same(&sdp_base(sk)->local, local) &&
	       sdp_addr_same(&sdp_base(sk)->peer, peer);
}

/**
 * sdp_bind_claim() - see that no other socket has the same connection
 * @conn: connection of a locked socket in state SYN_SENT with its peer set
 *
 * Only sockets that share a port could.  The peer would take both for the same
 * connection.  What the others' addresses say while they change does not matter: of
 * two that connect at once the later one to get the list's lock sees the earlier
 * one's.
 *
 * Return: 0 with the socket's local address known, or -EADDRNOTAVAIL.
 */
int sdp_bind_claim(struct sdp_conn *conn)
{
	struct sdp_net *sn = sdp_net(sock_net(&conn->sk));
	struct sdp_addr local = conn->base.local;
	unsigned long number;
	struct sock *sk;
	int err = 0;

	sdp_sock_owned_by_me(&conn->sk);
	if (!conn->sk.sk_reuse && !conn->sk.sk_reuseport)
		return 0;
	if (sdp_addr_is_any(&local))
		sdp_bind_source(sock_net(&conn->sk), conn->sk.sk_bound_dev_if,
				&conn->base.peer, &local);
	xa_lock_bh(&sn->sockets);
	xa_for_each(&sn->sockets, number, sk) {
		if (sk != &conn->sk &&
		    sdp_bind_has_connection(sk, &local, &conn->base.peer))
			err = -EADDRNOTAVAIL;
	}
	if (!err)
		conn->base.local = local;
	xa_unlock_bh(&sn->sockets);
	return err;
}

/*
 * The backlog of user space limits the children, and there is one as soon as a request
 * is seen.  How many requests may be in flight to us is another matter and left to the
 * connection manager: iWARP's would drop the excess, without the reject by which the
 * client knows that it may ask again.
 */
static int sdp_listen_on(struct rdma_cm_id *id, struct net *net)
{
	struct sdp_netns_visit visit;
	int err;

	sdp_cm_may_wait();
	sdp_netns_enter(&visit, net);
	sdp_loopback_reveal(id);
	err = rdma_listen(id, 0);
	sdp_loopback_disguise(id);
	sdp_netns_leave(&visit);
	/* It says that of the unspecified address. */
	return err == -EADDRNOTAVAIL ? -EADDRINUSE : err;
}

/**
 * sdp_listen_begin() - ask for connection requests
 * @conn: connection of a locked socket, bound
 *
 * A listener on the unspecified address has an identifier for each family:
 * with iWARP an IPv4 request reaches one that listens to both with addresses
 * in mapped form, and rdma_cm does not know them as this host's.
 *
 * Return: 0 or a negative errno; sdp_bind_join() or sdp_bind_end_other() is due in
 * both cases.
 */
int sdp_listen_begin(struct sdp_conn *conn)
{
	struct net *net = sock_net(&conn->sk);
	int err;

	sdp_owned(&conn->sk);
	if (!sdp_bind_is_shared(conn))
		return sdp_listen_on(conn->link.id, net);
	err = sdp_bind_split(conn);
	if (!err)
		err = sdp_listen_on(conn->id_other, net);
	if (!err)
		err = sdp_listen_on(conn->link.id, net);
	return err;
}
