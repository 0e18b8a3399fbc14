// SPDX-License-Identifier: GPL-2.0
/*
 * A port for a socket to which any will do.
 *
 * iWARP adapters listen with TCP's port numbers, but the connection manager knows
 * only those that its own users have, and says at listen() that TCP has the one
 * which it has chosen at bind().  So TCP is asked first where there is iWARP.
 */
#include <linux/net.h>
#include <net/sock.h>
#include <rdma/rdma_cm.h>

#include "rdma/rdma.h"
#include "conn.h"
#include "port.h"

/* How often TCP is asked for another port, if RDMA has the one that it names. */
#define SDP_PORT_TRIES	32

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

/**
 * sdp_port_bind_any() - bind an identifier to a port that nobody uses
 * @conn: connection of a locked socket, for its namespace and options
 * @id: its identifier of the connection manager
 * @addr: the address, with a port of 0
 *
 * Context: may sleep.
 * Return: as rdma_bind_addr().
 */
int sdp_port_bind_any(struct sdp_conn *conn, struct rdma_cm_id *id,
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
		err = rdma_bind_addr(id, (struct sockaddr *)&got);
		if (err != -EADDRINUSE && err != -EADDRNOTAVAIL)
			return err;
	}
	/* TCP has none left, or does not know the address: RDMA says what it is. */
	got = *addr;
	return rdma_bind_addr(id, (struct sockaddr *)&got);
}
