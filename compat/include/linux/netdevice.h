/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_LINUX_NETDEVICE_H
#define _SDP_COMPAT_LINUX_NETDEVICE_H

#include_next <linux/netdevice.h>

#ifndef SDP_HAVE_ALLOC_NETDEV_DUMMY
#include <linux/slab.h>

/* Older kernels have the caller provide the memory, and not free it as a device's. */
static inline struct net_device *alloc_netdev_dummy(int sizeof_priv)
{
	struct net_device *dev = kzalloc(sizeof(*dev) + sizeof_priv, GFP_KERNEL);

	if (dev)
		init_dummy_netdev(dev);
	return dev;
}

static inline void compat_free_netdev(struct net_device *dev)
{
	if (dev->reg_state == NETREG_DUMMY)
		kfree(dev);
	else
		free_netdev(dev);
}

#define free_netdev(dev) compat_free_netdev(dev)
#endif

#endif /* _SDP_COMPAT_LINUX_NETDEVICE_H */
