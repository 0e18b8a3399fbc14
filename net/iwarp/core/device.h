/* SPDX-License-Identifier: GPL-2.0 */
/* RDMA devices: "rdma link add" creates one for a network device. */
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
/* Page list length of a fast registration (IB_WR_REG_MR). */
#define IWP_MAX_FAST_REG	512
#define IWP_MAX_QPN		0xffffff
/* Device limits; memory is charged to the creating process. */
#define IWP_MAX_QP		(64 * 1024)
#define IWP_MAX_CQ		(128 * 1024)
#define IWP_MAX_SRQ		(64 * 1024)

struct iwp_stats;

/**
 * enum iwp_design - work split between host and offload engine
 * @IWP_DESIGN_HOST: the host does everything
 * @IWP_DESIGN_ASSISTED: the host inserts markers, with one copy; the engine does
 *	checksums, demultiplexing and placement
 * @IWP_DESIGN_OFFLOADED: the engine does everything; it copies the data once more in
 *	its own memory to insert markers
 * @IWP_DESIGN_OFFLOADED_SG: the engine does everything; it gathers data and markers by
 *	DMA
 */
enum iwp_design {
	IWP_DESIGN_HOST,
	IWP_DESIGN_ASSISTED,
	IWP_DESIGN_OFFLOADED,
	IWP_DESIGN_OFFLOADED_SG,
};

/**
 * struct iwp_engine - model of an offload engine, one per device
 * @lock: protects @free_at
 * @free_at: ktime_get_ns() at which all submitted work is done
 * @busy_ns: modelled working time, nanoseconds
 * @cpu_ns: time that CPUs spent on the engine's work, nanoseconds
 * @dma_ns: cost of a DMA transfer, nanoseconds
 * @byte_ps: cost of each byte of a transfer, picoseconds
 * @move_ps: cost of each byte copied in the engine's memory, picoseconds
 * @crc_ps: cost of each byte checksummed, picoseconds
 */
struct iwp_engine {
	spinlock_t lock; /* protects free_at */
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
 * @ibdev: the RDMA core's part; first, as the core allocates the structure
 * @node: entry in iwp_devices
 * @netdev: network device, with a reference
 * @raw_gid: the only GID, from the hardware address
 * @gid_offset: where it stands among the GID's bytes, the others of which are 0
 * @id: device number, for user space
 * @qps: queue pairs by number
 * @mrs: memory regions by STag index
 * @next_qpn: where the search for a free queue pair number continues
 * @nr_qps: number of queue pairs
 * @nr_cqs: number of completion queues
 * @nr_srqs: number of shared receive queues
 * @generation: counts registrations of memory regions
 * @stats: per-CPU counters
 * @design: enum iwp_design of new queue pairs
 * @engine: model of an offload engine, used by some designs
 */
struct iwp_device {
	struct ib_device ibdev;
	struct list_head node;
	struct net_device *netdev;
	u8 raw_gid[ETH_ALEN];
	u8 gid_offset;
	u32 id;
	struct xarray qps;
	struct xarray mrs;
	u32 next_qpn;
	atomic_t nr_qps;
	atomic_t nr_cqs;
	atomic_t nr_srqs;
	atomic64_t generation;
	struct iwp_stats __percpu *stats;
	u8 design;
	struct iwp_engine engine;
};

static inline struct iwp_device *iwp_device(struct ib_device *ibdev)
{
	return container_of(ibdev, struct iwp_device, ibdev);
}

/* Returns a number for a new registration, unique on the device. */
static inline u64 iwp_next_generation(struct ib_device *ibdev)
{
	return atomic64_inc_return(&iwp_device(ibdev)->generation);
}

extern const struct ib_device_ops iwp_core_dev_ops;

int iwp_device_init(struct iwp_device *dev, struct net_device *netdev);

#endif /* _IWP_DEVICE_H */
