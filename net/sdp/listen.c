// SPDX-License-Identifier: GPL-2.0
/*
 * What a listener asks the connection manager for.
 */
#include <rdma/rdma_cm.h>

#include "cm.h"
#include "conn.h"
#include "netns.h"
#include "sock.h"

/*
 * The program's backlog limits the children, and there is one as soon as a
 * request is seen.  How many requests may be on their way to us is another
 * matter and left to the connection manager: iWARP's would drop what is more
 * than that, without the word by which the client knows that it may ask again.
 */
static int sdp_listen_on(struct rdma_cm_id *id, struct net *net)
{
	struct sdp_netns_visit visit;
	int err;

	sdp_netns_enter(&visit, net);
	err = rdma_listen(id, 0);
	sdp_netns_leave(&visit);
	/* It says that of the unspecified address. */
	return err == -EADDRNOTAVAIL ? -EADDRINUSE : err;
}

static bool sdp_listen_dual(const struct sdp_sock *ssk)
{
	const struct rdma_cm_id *id = ssk->conn.id;

	return !ssk->v6only && sdp_addr_is_any(&ssk->local) &&
	       id->route.addr.src_addr.ss_family == AF_INET6;
}

/* The identifier that listens to IPv4 beside the one that listens to IPv6. */
static int sdp_listen_bind_v4(struct sdp_sock *ssk)
{
	struct sockaddr_in any = {
		.sin_family = AF_INET,
		.sin_port = ssk->local.port,
	};
	struct rdma_cm_id *id;

	id = rdma_create_id(sock_net(&ssk->sk), sdp_cm_handler, ssk, RDMA_PS_IB,
			    IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	sdp_sock_hold(ssk, SDP_REF_CM_V4);
	ssk->conn.id_v4 = id;
	rdma_set_afonly(id, 1);
	if (ssk->sk.sk_reuse)
		rdma_set_reuseaddr(id, 1);
	return rdma_bind_addr(id, (struct sockaddr *)&any);
}

/**
 * sdp_listen_begin() - ask for connection requests
 * @ssk: locked socket, bound
 *
 * A listener on the unspecified address has an identifier for each family:
 * with iWARP an IPv4 request reaches one that listens to both with addresses
 * in mapped form, and rdma_cm does not know them as this host's.
 *
 * Return: 0 or a negative errno; sdp_listen_end() is due in both cases.
 */
int sdp_listen_begin(struct sdp_sock *ssk)
{
	struct net *net = sock_net(&ssk->sk);
	struct rdma_cm_id *id = ssk->conn.id;
	int err;

	if (!sdp_listen_dual(ssk))
		return sdp_listen_on(id, net);
	/* Until now it has kept the port for both. */
	rdma_set_afonly(id, 1);
	err = sdp_listen_bind_v4(ssk);
	if (!err)
		err = sdp_listen_on(ssk->conn.id_v4, net);
	if (!err)
		err = sdp_listen_on(id, net);
	if (err)
		rdma_set_afonly(id, 0);
	return err;
}

/**
 * sdp_listen_end() - give back what only a listener has
 * @ssk: socket, not locked; nothing happens if it never listened to both
 *	families
 *
 * Context: process context.
 */
void sdp_listen_end(struct sdp_sock *ssk)
{
	if (!ssk->conn.id_v4)
		return;
	rdma_destroy_id(ssk->conn.id_v4);
	ssk->conn.id_v4 = NULL;
	sdp_sock_put(ssk, SDP_REF_CM_V4);
}
