// SPDX-License-Identifier: GPL-2.0
/*
 * What a listener asks the connection manager for.
 */
#include <rdma/rdma_cm.h>

#include "base/base.h"
#include "bind.h"
#include "cm.h"
#include "conn.h"

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
