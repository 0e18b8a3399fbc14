/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is kept for each RDMA device.
 */
#ifndef _SDP_DEVICE_H
#define _SDP_DEVICE_H

#include <linux/bits.h>
#include <linux/completion.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <net/iw_ulp.h>
#include <rdma/ib_verbs.h>

struct net;
struct net_device;
struct sdp_link;

/* What a driver does that others do not, see sdp_device_drivers[]. */
#define SDP_QUIRK_REG_ALONE	BIT(0)
#define SDP_QUIRK_LAZY_INV	BIT(1)
#define SDP_QUIRK_SENDS_PAGES	BIT(2)
#define SDP_QUIRK_RQ_STOPS	BIT(3)

/**
 * struct sdp_device - an RDMA device that carries SDP connections
 * @ibdev: the device
 * @acked_on_completion: a request that completed has arrived at the peer
 * @data_in_place: data is read from memory until its own request has completed,
 *	whatever completes behind it
 * @all_in_place: so is what carries no data
 * @initiator_speaks_first: the side that connects has to send the first message
 * @answers_disconnect: rdma_disconnect() waits for the answer to a request
 * @cm_limits_reads: the connection manager negotiates how many reads are in flight
 * @tcp_ports: its ports are TCP's
 * @holds: a message waits while the receiver has posted no buffer for it
 * @immediate: immediate data that it carries, SDP_FEAT_*
 * @ulp: what its provider offers beyond the verbs, or NULL
 * @ulp_ops: where @ulp points to; of what is missing @info has no flag
 * @info: what the provider has said when the device came; zeros without one
 * @quirks: what is peculiar to its driver, SDP_QUIRK_*
 * @flows: engines of flow control that it can carry, SDP_FEAT_*
 * @node: entry in the list of all devices
 * @refs: one for the device's presence, one for each connection
 * @released: completed when the last reference is gone
 * @lock: protects @conns and @removed
 * @conns: connections, by sdp_link::dev_node
 * @removed: no new connections are added
 * @events: notified of ports that go down
 * @busy_lock: protects @busy
 * @busy: completion queues that can be polled
 * @busy_netdev: owner of their NAPI instances; NULL: none can be polled
 */
struct sdp_device {
	struct ib_device *ibdev;
	bool acked_on_completion;
	bool data_in_place;
	bool all_in_place;
	bool initiator_speaks_first;
	bool answers_disconnect;
	bool cm_limits_reads;
	bool tcp_ports;
	bool holds;
	u16 immediate;
	const struct iw_ulp_ops *ulp;
	struct iw_ulp_ops ulp_ops;
	struct iw_ulp_info info;
	u32 quirks;
	u16 flows;
	struct list_head node;
	refcount_t refs;
	struct completion released;
	spinlock_t lock; /* protects @conns and @removed */
	struct list_head conns;
	bool removed;
	struct ib_event_handler events;
	struct mutex busy_lock; /* protects @busy */
	struct list_head busy;
	struct net_device *busy_netdev;
};

/**
 * sdp_device_registers() - whether memory is registered by work requests
 * @dev: device
 *
 * Return: true if it is, as receive rings and zero copy need it.
 */
static inline bool sdp_device_registers(const struct sdp_device *dev)
{
	return dev->ibdev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS;
}

/**
 * sdp_device_reads() - whether it reads a peer's memory, and lets peers read
 * @dev: device
 *
 * Return: true if both.
 */
static inline bool sdp_device_reads(const struct sdp_device *dev)
{
	return dev->ibdev->attrs.max_qp_rd_atom && dev->ibdev->attrs.max_qp_init_rd_atom;
}

struct sdp_device *sdp_device_get(struct ib_device *ibdev);
void sdp_device_put(struct sdp_device *dev);
bool sdp_device_link(struct sdp_device *dev, struct sdp_link *link);
void sdp_device_unlink(struct sdp_link *link);
bool sdp_device_any_tcp_ports(void);
bool sdp_device_on_loopback(const struct net *net);
void sdp_device_for_each(const struct net *net,
			 void (*look)(const struct sdp_device *dev, void *ctx),
			 void *ctx);

int __init sdp_device_init_module(void);
void sdp_device_exit_module(void);

#endif /* _SDP_DEVICE_H */
