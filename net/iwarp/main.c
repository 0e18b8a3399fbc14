// SPDX-License-Identifier: GPL-2.0
/*
 * Module initialization, and the RDMA devices of network devices.
 *
 * User space knows our devices by the driver number and the ABI of the kernel's siw
 * driver. siw may be loaded as well, so nothing here may find devices by that number:
 * ib_unregister_driver() would remove siw's devices, too.
 */
#include <linux/if_arp.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>
#include <rdma/siw-abi.h>

#include "core/core.h"
#include "mem/mem.h"
#include "offload/offload.h"
#include "queue/queue.h"
#include "stream/stream.h"
#include "qp/qp.h"
#include "cm/cm.h"
#include "verbs/verbs.h"

/* Devices, from before their registration until they are freed. */
static LIST_HEAD(iwp_devices);
static DEFINE_SPINLOCK(iwp_devices_lock);

static bool iwp_netdev_usable(const struct net_device *netdev)
{
	switch (netdev->type) {
	case ARPHRD_ETHER:
	case ARPHRD_LOOPBACK:
	case ARPHRD_NONE:
		return true;
	default:
		return false;
	}
}

static void iwp_device_track(struct iwp_device *dev)
{
	spin_lock(&iwp_devices_lock);
	list_add(&dev->node, &iwp_devices);
	spin_unlock(&iwp_devices_lock);
}

static void iwp_device_untrack(struct iwp_device *dev)
{
	spin_lock(&iwp_devices_lock);
	list_del_init(&dev->node);
	spin_unlock(&iwp_devices_lock);
}

/* Last callback before the device's memory is freed. */
static void iwp_dealloc_driver(struct ib_device *ibdev)
{
	struct iwp_device *dev = iwp_device(ibdev);

	iwp_requests_abort(dev);
	WARN_ON(!xa_empty(&dev->qps));
	WARN_ON(!xa_empty(&dev->mrs));
	WARN_ON(atomic_read(&dev->nr_srqs));
	free_percpu(dev->stats);
	dev_put(dev->netdev);
	/* Last: iwp_devices_remove() waits for the list to be empty. */
	iwp_device_untrack(dev);
}

static const struct ib_device_ops iwp_main_dev_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_SIW,
	.uverbs_abi_ver = SIW_ABI_VERSION,

	.dealloc_driver = iwp_dealloc_driver,
};

/* Device operations; each layer implements some. */
static const struct ib_device_ops * const iwp_dev_ops[] = {
	&iwp_main_dev_ops,
	&iwp_core_dev_ops,
	&iwp_mr_dev_ops,
	&iwp_umap_dev_ops,
	&iwp_design_dev_ops,
	&iwp_cq_dev_ops,
	&iwp_srq_dev_ops,
	&iwp_qp_dev_ops,
	&iwp_connect_dev_ops,
	&iwp_listen_dev_ops,
	&iwp_verbs_dev_ops,
	&iwp_restrack_dev_ops,
};

static void iwp_set_dev_ops(struct ib_device *ibdev)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(iwp_dev_ops); i++)
		ib_set_device_ops(ibdev, iwp_dev_ops[i]);
}

/* siw treats any device with its driver number as its own. */
static bool iwp_netdev_in_use(struct net_device *netdev)
{
	struct ib_device *other;

	other = ib_device_get_by_netdev(netdev, RDMA_DRIVER_SIW);
	if (other)
		ib_device_put(other);
	return other;
}

/*
 * If each RDMA device belongs to one namespace, new ones belong to the initial one. But
 * only who is in the network device's can connect with ours.
 */
static void iwp_device_join_netns(struct iwp_device *dev, struct net *net)
{
	if (!rdma_dev_access_netns(&dev->ibdev, net))
		write_pnet(&dev->ibdev.coredev.rdma_net, net);
}

static int iwp_newlink(const char *name, struct net_device *netdev)
{
	struct iwp_device *dev;
	int err;

	if (!iwp_netdev_usable(netdev))
		return -EINVAL;
	if (iwp_netdev_in_use(netdev))
		return -EEXIST;
	dev = ib_alloc_device(iwp_device, ibdev);
	if (!dev)
		return -ENOMEM;
	/* ib_dealloc_device() undoes all of the following, also partly done. */
	iwp_set_dev_ops(&dev->ibdev);
	INIT_LIST_HEAD(&dev->node);
	iwp_engine_init(&dev->engine);
	err = iwp_device_init(dev, netdev);
	if (!err) {
		iwp_device_join_netns(dev, dev_net(netdev));
		iwp_device_track(dev);
		ib_mark_name_assigned_by_user(&dev->ibdev);
		err = ib_register_device(&dev->ibdev, name, NULL);
	}
	if (err)
		ib_dealloc_device(&dev->ibdev);
	return err;
}

static struct rdma_link_ops iwp_link_ops = {
	.type = "iwarp",
	.newlink = iwp_newlink,
};

static struct iwp_device *iwp_device_find_locked(const struct net_device *netdev)
{
	struct iwp_device *dev;

	lockdep_assert_held(&iwp_devices_lock);
	list_for_each_entry(dev, &iwp_devices, node)
		if (dev->netdev == netdev && ib_device_try_get(&dev->ibdev))
			return dev;
	return NULL;
}

/* Returns the device with a reference for ib_device_put(). */
static struct iwp_device *iwp_device_find(const struct net_device *netdev)
{
	struct iwp_device *dev;

	spin_lock(&iwp_devices_lock);
	dev = iwp_device_find_locked(netdev);
	spin_unlock(&iwp_devices_lock);
	return dev;
}

static void iwp_port_event(struct iwp_device *dev, enum ib_event_type type)
{
	struct ib_event event = {
		.device = &dev->ibdev,
		.event = type,
		.element.port_num = IWP_PORT,
	};

	ib_dispatch_event(&event);
}

static int iwp_netdev_event(struct notifier_block *nb, unsigned long event,
			    void *info)
{
	struct iwp_device *dev;

	dev = iwp_device_find(netdev_notifier_info_to_dev(info));
	if (!dev)
		return NOTIFY_DONE;
	switch (event) {
	case NETDEV_UP:
		iwp_port_event(dev, IB_EVENT_PORT_ACTIVE);
		break;
	case NETDEV_DOWN:
		iwp_port_event(dev, IB_EVENT_PORT_ERR);
		break;
	case NETDEV_UNREGISTER:
		ib_unregister_device_queued(&dev->ibdev);
		break;
	}
	ib_device_put(&dev->ibdev);
	return NOTIFY_DONE;
}

static struct notifier_block iwp_netdev_notifier = {
	.notifier_call = iwp_netdev_event,
};

/* Also waits for devices that are being unregistered elsewhere. */
static void iwp_devices_remove(void)
{
	struct iwp_device *dev;

	spin_lock(&iwp_devices_lock);
	while ((dev = list_first_entry_or_null(&iwp_devices, struct iwp_device,
					       node))) {
		get_device(&dev->ibdev.dev);
		spin_unlock(&iwp_devices_lock);
		ib_unregister_device(&dev->ibdev);
		put_device(&dev->ibdev.dev);
		spin_lock(&iwp_devices_lock);
	}
	spin_unlock(&iwp_devices_lock);
}

static int __init iwp_work_init(void)
{
	int err = iwp_crc_init();

	if (err)
		return err;
	err = iwp_objects_init();
	if (err)
		goto out_crc;
	err = iwp_tx_init();
	if (err)
		goto out_objects;
	err = iwp_flush_poll_init_module();
	if (err)
		goto out_tx;
	return 0;

out_tx:
	iwp_tx_exit();
out_objects:
	iwp_objects_exit();
out_crc:
	iwp_crc_exit();
	return err;
}

/* Senders first: their work items release references to endpoints. */
static void iwp_work_exit(void)
{
	iwp_flush_poll_exit_module();
	iwp_tx_exit();
	iwp_objects_exit();
	iwp_crc_exit();
}

static int __init iwp_init(void)
{
	int err;

	iwp_fault_init_module();
	err = iwp_work_init();
	if (err)
		goto out_fault;
	err = register_netdevice_notifier(&iwp_netdev_notifier);
	if (err)
		goto out_work;
	rdma_link_register(&iwp_link_ops);
	return 0;

out_work:
	iwp_work_exit();
out_fault:
	iwp_fault_exit_module();
	return err;
}

static void __exit iwp_exit(void)
{
	rdma_link_unregister(&iwp_link_ops);
	unregister_netdevice_notifier(&iwp_netdev_notifier);
	iwp_devices_remove();
	iwp_work_exit();
	iwp_fault_exit_module();
	/* Socket callbacks and the release of memory regions may still run. */
	rcu_barrier();
	synchronize_net();
}

module_init(iwp_init);
module_exit(iwp_exit);

MODULE_DESCRIPTION("Software iWARP with markers and checksums");
MODULE_LICENSE("GPL");
MODULE_VERSION(SDP_RELEASE);
MODULE_ALIAS_RDMA_LINK("iwarp");
