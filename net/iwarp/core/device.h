/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An RDMA device: one for each network device that was linked to one.
 */
#ifndef _IWP_DEVICE_H
#define _IWP_DEVICE_H

#include <linux/etherdevice.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "offload/offload.h"

/* The only port of a device. */
#define IWP_PORT		1

#define IWP_MAX_WR		(32 * 1024)
#define IWP_MAX_CQE		(256 * 1024)
#define IWP_MAX_RD_ATOM		128
/* Pages of a memory region that is registered by a work request. */
#define IWP_MAX_FAST_REG	512
#define IWP_MAX_QPN		0xffffff
/* Their memory is charged to who asks; this is for all of them together. */
#define IWP_MAX_QP		(64 * 1024)
#define IWP_MAX_CQ		(128 * 1024)

struct iwp_stats;

/**
 * struct iwp_device - an RDMA device
 * @ibdev: what the RDMA core knows; first, as the core allocates it
 * @node: in the list of all devices
 * @netdev: network device, held until the device is gone
 * @raw_gid: the only GID, made of the hardware's address
 * @id: number of the device, for user space
 * @qps: queue pairs by their number
 * @mrs: memory regions by the index in their STags
 * @next_qpn: where the search for a free number goes on
 * @nr_qps: how many queue pairs there are
 * @nr_cqs: how many completion queues
 * @generation: counts how often memory regions became valid
 * @stats: what was counted, for each processor
 * @design: enum iwp_design of queue pairs to come
 * @engine: model of an offload engine, which some designs use
 */
struct iwp_device {
	struct ib_device ibdev;
	struct list_head node;
	struct net_device *netdev;
	u8 raw_gid[ETH_ALEN];
	u32 id;
	struct xarray qps;
	struct xarray mrs;
	u32 next_qpn;
	atomic_t nr_qps;
	atomic_t nr_cqs;
	atomic64_t generation;
	struct iwp_stats __percpu *stats;
	u8 design;
	struct iwp_engine engine;
};

static inline struct iwp_device *iwp_device(struct ib_device *ibdev)
{
	return container_of(ibdev, struct iwp_device, ibdev);
}

/* Returns the number of another registration of a memory region. */
static inline u64 iwp_next_generation(struct ib_device *ibdev)
{
	return atomic64_inc_return(&iwp_device(ibdev)->generation);
}

int iwp_device_init(struct iwp_device *dev, struct net_device *netdev);
int iwp_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
		     struct ib_udata *udata);
int iwp_query_port(struct ib_device *ibdev, u32 port,
		   struct ib_port_attr *attr);
int iwp_get_port_immutable(struct ib_device *ibdev, u32 port,
			   struct ib_port_immutable *immutable);
int iwp_query_gid(struct ib_device *ibdev, u32 port, int index,
		  union ib_gid *gid);

#endif /* _IWP_DEVICE_H */
