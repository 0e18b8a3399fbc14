// SPDX-License-Identifier: GPL-2.0
/*
 * Devices that only own NAPI instances are allocated, since
 * commit c661050f93d3 (Linux 6.10).
 */
#include <linux/module.h>
#include <linux/netdevice.h>

struct net_device *probe(void);
struct net_device *probe(void)
{
	return alloc_netdev_dummy(0);
}

MODULE_LICENSE("GPL");
