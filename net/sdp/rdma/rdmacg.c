// SPDX-License-Identifier: GPL-2.0
/*
 * The rdma control group, which limits how much of a device its processes use.
 *
 * The kernel charges the current task, and connections are built by workers, which
 * belong to no group.  So a connection is charged when user space gets it: by
 * accept(), by connect(), or, if that did not wait, by the first call that moves data.
 */
#include <linux/cgroup_rdma.h>

#include "base/base.h"
#include "device.h"
#include "rdmacg.h"

#ifdef CONFIG_CGROUP_RDMA

/**
 * sdp_rdmacg_charge() - charge a connection to the caller's control group
 * @link: RDMA side of a connection, whose socket is locked
 *
 * One object of the device stands for all that the connection consists of.
 *
 * Context: process context.
 * Return: 0 if it is charged, or there is none over RDMA; -ENOBUFS if the group has
 * as many objects as it may: then the connection is the caller's to end.
 */
int sdp_rdmacg_charge(struct sdp_link *link)
{
	struct rdma_cgroup *cg;

	sdp_sock_owned_by_me(link->sk);
	if (likely(link->rdmacg) || !link->dev)
		return 0;
	if (rdmacg_try_charge(&cg, &link->dev->ibdev->cg_device,
			      RDMACG_RESOURCE_HCA_OBJECT)) {
		SDP_INC_STATS(sock_net(link->sk), SDP_MIB_DEVICEREFUSALS);
		return -ENOBUFS;
	}
	link->rdmacg = cg;
	return 0;
}

/**
 * sdp_rdmacg_use() - charge a connection that connect() has not waited for
 * @link: RDMA side of a connection, whose socket is locked
 *
 * Context: process context, before data is moved.
 * Return: as sdp_rdmacg_charge(); if it is refused the connection ends.
 */
int sdp_rdmacg_use(struct sdp_link *link)
{
	int err = sdp_rdmacg_charge(link);

	if (unlikely(err))
		sdp_link_end(link, -ECONNABORTED);
	return err;
}

/**
 * sdp_rdmacg_uncharge() - the connection does not use the device any more
 * @link: RDMA side of a connection, which still holds the device
 */
void sdp_rdmacg_uncharge(struct sdp_link *link)
{
	if (!link->rdmacg)
		return;
	rdmacg_uncharge(link->rdmacg, &link->dev->ibdev->cg_device,
			RDMACG_RESOURCE_HCA_OBJECT);
	link->rdmacg = NULL;
}

#endif /* CONFIG_CGROUP_RDMA */
