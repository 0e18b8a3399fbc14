// SPDX-License-Identifier: GPL-2.0
/*
 * Loopback addresses, by the RDMA device on the loopback interface.
 *
 * For rdma_cm a loopback address is as good as none: it would listen on all devices, and
 * connect by the first one, whatever that is.  With an address that it does not know as
 * such, and the interface, it finds the device that belongs there, and keeps to it.  So an
 * identifier is bound to its address in disguise, with the highest bit set: 127.0.0.1 is
 * 255.0.0.1 then, and ::1 is 8000::1, which no interface has.  In that form rdma_cm also
 * tells the addresses of a port apart.  The provider gets the true ones: they are what
 * the identifier shows while it begins to listen, and from when it connects.
 *
 * Only iWARP devices are found: what they are given are addresses of TCP sockets.
 */
#include <linux/if_arp.h>
#include <net/net_namespace.h>
#include <rdma/ib_addr.h>
#include <rdma/rdma_cm.h>

#include "base/base.h"
#include "bind.h"
#include "cm.h"
#include "conn.h"
#include "loopback.h"

static void sdp_loopback_flip(struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET6)
		((struct sockaddr_in6 *)addr)->sin6_addr.s6_addr[0] ^= 0x80;
	else
		((struct sockaddr_in *)addr)->sin_addr.s_addr ^= htonl(BIT(31));
}

/**
 * sdp_loopback_is_addr() - whether an address is that of a loopback interface
 * @addr: address, AF_INET or AF_INET6
 */
bool sdp_loopback_is_addr(const struct sockaddr_storage *addr)
{
	struct sdp_addr has;

	sdp_addr_from_rdma(addr, &has);
	return sdp_addr_is_loopback(&has);
}

/**
 * sdp_loopback_is_id() - whether an identifier's interface is the loopback interface
 * @id: identifier
 */
bool sdp_loopback_is_id(const struct rdma_cm_id *id)
{
	return id->route.addr.dev_addr.dev_type == ARPHRD_LOOPBACK;
}

/**
 * sdp_loopback_reveal() - have an identifier show the address that it is bound to
 * @id: identifier; nothing happens if the address is none in disguise
 */
void sdp_loopback_reveal(struct rdma_cm_id *id)
{
	struct sockaddr_storage shown = id->route.addr.src_addr;

	sdp_loopback_flip(&shown);
	if (sdp_loopback_is_id(id) && sdp_loopback_is_addr(&shown))
		id->route.addr.src_addr = shown;
}

/**
 * sdp_loopback_disguise() - undo sdp_loopback_reveal()
 * @id: identifier; nothing happens if it shows no loopback address
 */
void sdp_loopback_disguise(struct rdma_cm_id *id)
{
	if (sdp_loopback_is_id(id) && sdp_loopback_is_addr(&id->route.addr.src_addr))
		sdp_loopback_flip(&id->route.addr.src_addr);
}

/**
 * sdp_loopback_bind() - bind an identifier to a loopback address
 * @id: identifier that is not bound, and has no interface
 * @addr: the address; with a port of 0 one is chosen
 *
 * Return: 0; -EADDRNOTAVAIL or -ENODEV if no device is there for it; or another negative
 * errno of rdma_bind_addr().
 */
int sdp_loopback_bind(struct rdma_cm_id *id, const struct sockaddr_storage *addr)
{
	struct rdma_dev_addr *dev_addr = &id->route.addr.dev_addr;
	struct sockaddr_storage disguised = *addr;
	int err;

	if (!sdp_device_on_loopback(dev_addr->net))
		return -ENODEV;
	/* This fails for what is no address of the namespace: its interface may be down. */
	err = rdma_translate_ip((const struct sockaddr *)addr, dev_addr);
	if (err)
		return err;
	/* Another interface may have it, too, such as a VRF. */
	if (!sdp_loopback_is_id(id))
		return -ENODEV;
	/* An address of IPv6 has nothing to do with IPv4, whichever port it is. */
	rdma_set_afonly(id, 1);
	sdp_loopback_flip(&disguised);
	return rdma_bind_addr(id, (struct sockaddr *)&disguised);
}

/**
 * sdp_loopback_find_peer() - find out whether a connection may be to a loopback address
 * @conn: connection of a locked socket with its peer set, which becomes an address of
 *	this host if it is the unspecified one
 *
 * Return: 0, or -ENETUNREACH if that needs a device which is not there.
 */
int sdp_loopback_find_peer(struct sdp_conn *conn)
{
	struct sdp_addr *peer = &conn->base.peer, *local = &conn->base.local;
	bool any = sdp_addr_is_any(peer);
	bool named = conn->bound_addr && sdp_addr_is_v4(local);

	sdp_owned(&conn->sk);
	if (!any && !sdp_addr_is_loopback(peer))
		return 0;
	if (!sdp_device_on_loopback(sock_net(&conn->sk)))
		return -ENETUNREACH;
	if (!any)
		return 0;
	if (named && sdp_addr_is_v4(peer))
		peer->ip = local->ip;
	else if (named || sdp_addr_is_v4(peer))
		ipv6_addr_set_v4mapped(htonl(INADDR_LOOPBACK), &peer->ip);
	else
		peer->ip = in6addr_loopback;
	return 0;
}

/* A second one, which has the port as well: rdma_cm allows that if both say so. */
static int sdp_loopback_create_id(struct sdp_conn *conn)
{
	struct rdma_cm_id *id = rdma_create_id(sock_net(&conn->sk), sdp_cm_handler, conn,
					       RDMA_PS_IB, IB_QPT_RC);

	if (IS_ERR(id))
		return PTR_ERR(id);
	sdp_conn_hold(conn, SDP_REF_CM_OTHER);
	rdma_set_reuseaddr(conn->link.id, 1);
	rdma_set_reuseaddr(id, 1);
	conn->id_other = conn->link.id;
	conn->link.id = id;
	return 0;
}

/**
 * sdp_loopback_bind_for_peer() - use an identifier that connects to a loopback address
 * @conn: connection of a locked socket that has its peer set and an identifier, with a
 *	port or not bound
 *
 * The unspecified address becomes the one that the route says, as with TCP.
 *
 * Return: 0; -ENETUNREACH if the socket has another interface's address, or no device
 * is there; or another negative errno.
 */
int sdp_loopback_bind_for_peer(struct sdp_conn *conn)
{
	struct sockaddr_storage addr;
	int err;

	sdp_owned(&conn->sk);
	if (sdp_conn_is_bound(conn) && sdp_loopback_is_id(conn->link.id))
		return 0;
	if (!sdp_addr_is_any(&conn->base.local) && sdp_conn_is_bound(conn))
		return -ENETUNREACH;
	sdp_bind_source(sock_net(&conn->sk), conn->sk.sk_bound_dev_if, &conn->base.peer,
			&conn->base.local);
	if (!sdp_addr_is_loopback(&conn->base.local))
		return -ENETUNREACH;
	sdp_addr_to_rdma(&conn->base.local, false, &addr);
	err = sdp_conn_is_bound(conn) ? sdp_loopback_create_id(conn) : 0;
	if (!err)
		err = sdp_loopback_bind(conn->link.id, &addr);
	/* Else it is the port that is not to be had. */
	if (err == -EADDRNOTAVAIL && sdp_loopback_is_id(conn->link.id))
		return err;
	return err == -ENODEV || err == -EADDRNOTAVAIL ? -ENETUNREACH : err;
}
