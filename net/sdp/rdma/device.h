/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is kept for each RDMA device.
 */
#ifndef _SDP_DEVICE_H
#define _SDP_DEVICE_H

#include <linux/bits.h>
#include <linux/completion.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

struct iw_ulp_ops;
struct sdp_link;

/* What a driver does that others do not, see sdp_device_drivers[]. */
#define SDP_QUIRK_REG_ALONE	BIT(0)
#define SDP_QUIRK_LAZY_INV	BIT(1)
#define SDP_QUIRK_SENDS_PAGES	BIT(2)

/**
 * struct sdp_device - an RDMA device that carries SDP connections
 * @ibdev: the device
 * @iwarp: the device speaks iWARP: a send that completed need not have arrived,
 *	and the side that connects has to send the first message
 * @ulp: what its provider offers beyond the verbs, or NULL
 * @caps: enum iw_ulp_cap of it
 * @quirks: what is peculiar to its driver, SDP_QUIRK_*
 * @flows: engines of flow control that it can carry, SDP_FEAT_*
 * @refs: one for the device's presence, one for each connection
 * @released: completed when the last reference is gone
 * @lock: protects @conns and @removed
 * @conns: connections, by sdp_conn::dev_node
 * @removed: there shall be no new ones
 * @events: tells us of ports that go down
 */
struct sdp_device {
	struct ib_device *ibdev;
	bool iwarp;
	const struct iw_ulp_ops *ulp;
	u32 caps;
	u32 quirks;
	u16 flows;
	refcount_t refs;
	struct completion released;
	spinlock_t lock; /* protects @conns and @removed */
	struct list_head conns;
	bool removed;
	struct ib_event_handler events;
};

struct sdp_device *sdp_device_get(struct ib_device *ibdev);
void sdp_device_put(struct sdp_device *dev);
bool sdp_device_link(struct sdp_device *dev, struct sdp_link *link);
void sdp_device_unlink(struct sdp_link *link);
bool sdp_device_any_iwarp(void);

int __init sdp_device_init_module(void);
void sdp_device_exit_module(void);

#endif /* _SDP_DEVICE_H */
