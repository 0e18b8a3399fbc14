// SPDX-License-Identifier: GPL-2.0
/*
 * The rdma control group, which limits how much of a device its processes use.
 *
 * The kernel charges the task that calls, and connections are built by workers, which
 * belong to no group.  So a connection is charged when the program gets it: by
 * accept(), by connect(), or, if that did not wait, by the first call that moves data.
 */
#include <linux/cgroup_rdma.h>

#include "conn/conn.h"
#include "device.h"
#include "base/mib.h"
#include "rdmacg.h"
#include "socket/socket.h"

#ifdef CONFIG_CGROUP_RDMA

/**
 * sdp_rdmacg_charge() - charge a connection to the caller's control group
 * @ssk: locked socket
 *
 * One object of the device stands for all that the connection consists of.
 *
 * Context: the program's.
 * Return: 0 if it is charged, or there is none over RDMA; -ENOBUFS if the group has
 * as many objects as it may: then the connection is the caller's to end.
 */
int sdp_rdmacg_charge(struct sdp_sock *ssk)
{
	struct sdp_conn *conn = &ssk->conn;
	struct rdma_cgroup *cg;

	sdp_sock_owned_by_me(&ssk->sk);
	if (likely(conn->rdmacg) || !conn->dev)
		return 0;
	if (rdmacg_try_charge(&cg, &conn->dev->ibdev->cg_device,
			      RDMACG_RESOURCE_HCA_OBJECT)) {
		SDP_INC_STATS(sock_net(&ssk->sk), SDP_MIB_DEVICEREFUSALS);
		return -ENOBUFS;
	}
	conn->rdmacg = cg;
	return 0;
}

/**
 * sdp_rdmacg_use() - charge a connection for which nobody has waited
 * @ssk: locked socket
 *
 * Context: the program's, which is about to move data.
 * Return: as sdp_rdmacg_charge(); if it is refused the connection ends.
 */
int sdp_rdmacg_use(struct sdp_sock *ssk)
{
	int err = sdp_rdmacg_charge(ssk);

	if (unlikely(err))
		sdp_conn_end(ssk, -ECONNABORTED);
	return err;
}

/**
 * sdp_rdmacg_uncharge() - the connection does not use the device any more
 * @conn: connection, which still holds the device
 */
void sdp_rdmacg_uncharge(struct sdp_conn *conn)
{
	if (!conn->rdmacg)
		return;
	rdmacg_uncharge(conn->rdmacg, &conn->dev->ibdev->cg_device,
			RDMACG_RESOURCE_HCA_OBJECT);
	conn->rdmacg = NULL;
}

#endif /* CONFIG_CGROUP_RDMA */
