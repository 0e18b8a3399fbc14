/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An RDMA device: one for each network device that was linked to one.
 */
#ifndef _IWP_DEVICE_H
#define _IWP_DEVICE_H

#include <linux/etherdevice.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

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
 * enum iwp_design - who does what
 * @IWP_DESIGN_HOST: the host everything
 * @IWP_DESIGN_ASSISTED: the host puts markers in, with one copy; the engine
 *	does checksums, demultiplexing and placement
 * @IWP_DESIGN_OFFLOADED: the engine everything; it moves the data once more to
 *	put markers in
 * @IWP_DESIGN_OFFLOADED_SG: the engine everything; it gathers data and markers
 */
enum iwp_design {
	IWP_DESIGN_HOST,
	IWP_DESIGN_ASSISTED,
	IWP_DESIGN_OFFLOADED,
	IWP_DESIGN_OFFLOADED_SG,
};

/**
 * struct iwp_engine - the model of an offload engine; each device has one
 * @lock: of @free_at
 * @free_at: when it has done all that it was given, nanoseconds
 * @busy_ns: how long it has worked, by its own clock
 * @cpu_ns: how long processors have done its work
 * @dma_ns: cost of each transfer, nanoseconds
 * @byte_ps: cost of each byte of a transfer, picoseconds
 * @move_ps: cost of each byte that it moves in its own memory
 * @crc_ps: cost of each byte that it sums
 */
struct iwp_engine {
	spinlock_t lock; /* of free_at */
	u64 free_at;
	atomic64_t busy_ns;
	atomic64_t cpu_ns;
	u32 dma_ns;
	u32 byte_ps;
	u32 move_ps;
	u32 crc_ps;
};

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

extern const struct ib_device_ops iwp_core_dev_ops;

int iwp_device_init(struct iwp_device *dev, struct net_device *netdev);

#endif /* _IWP_DEVICE_H */
