// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA devices: their arrival, their removal, and ports that go down.
 */
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "flow/flow.h"
#include "busy.h"
#include "device.h"
#include "link.h"
#include "ulp.h"

/* Protects the step from a device's client data to a counted reference. */
static DEFINE_SPINLOCK(sdp_device_lock);
static struct ib_client sdp_ib_client;
static atomic_t sdp_device_nr_tcp_ports = ATOMIC_INIT(0);
/* All devices, for those who list them. */
static LIST_HEAD(sdp_devices);
static DEFINE_MUTEX(sdp_devices_mutex);

static const struct {
	enum rdma_driver_id driver;
	u32 quirks;
} sdp_device_drivers[] = {
	/*
	 * Soft-RoCE, when it repeats a message, also registers memory again that
	 * was registered behind it, and fails.  In Linux 6.1 it forgets an
	 * invalidation that has to wait, until something else is posted.  In Linux 6.12
	 * a queue pair that it could not make ready to receive, for want of memory,
	 * completes no receive request any more, until it is reset.
	 */
	{ RDMA_DRIVER_RXE, SDP_QUIRK_REG_ALONE | SDP_QUIRK_LAZY_INV | SDP_QUIRK_RQ_STOPS },
	/*
	 * The kernel's software iWARP hands the pages that a peer reads to TCP, which
	 * sends them again, as they are then, until the peer's TCP acknowledges them:
	 * the peer may have ended the key by then, and learn what is written later.
	 */
	{ RDMA_DRIVER_SIW, SDP_QUIRK_SENDS_PAGES },
};

/**
 * sdp_device_any_tcp_ports() - whether there is a device that uses TCP's ports
 *
 * Return: true as long as there is one.
 */
bool sdp_device_any_tcp_ports(void)
{
	return atomic_read(&sdp_device_nr_tcp_ports);
}

/**
 * sdp_device_on_loopback() - whether a namespace's loopback interface is up and has a device
 * @net: namespace
 *
 * One of software iWARP, that is: Soft-RoCE does not take requests that come by there.
 */
bool sdp_device_on_loopback(const struct net *net)
{
	struct ib_device *ibdev;

	/* Else the address is there, but leads nowhere. */
	if (!netif_running(net->loopback_dev))
		return false;
	ibdev = ib_device_get_by_netdev(net->loopback_dev, RDMA_DRIVER_SIW);
	if (ibdev)
		ib_device_put(ibdev);
	return ibdev;
}

/**
 * sdp_device_get() - find what is kept for a device, and hold it
 * @ibdev: device
 *
 * Return: the device, or NULL if it is being removed or cannot carry SDP.
 */
struct sdp_device *sdp_device_get(struct ib_device *ibdev)
{
	struct sdp_device *dev;

	spin_lock(&sdp_device_lock);
	dev = ib_get_client_data(ibdev, &sdp_ib_client);
	if (dev && !refcount_inc_not_zero(&dev->refs))
		dev = NULL;
	spin_unlock(&sdp_device_lock);
	return dev;
}

/**
 * sdp_device_put() - drop a reference
 * @dev: device
 */
void sdp_device_put(struct sdp_device *dev)
{
	if (refcount_dec_and_test(&dev->refs))
		complete(&dev->released);
}

/**
 * sdp_device_for_each() - look at all devices that a namespace has access to
 * @net: namespace
 * @look: called for each, which stays as long as this takes; must not sleep for long
 * @ctx: its argument
 */
void sdp_device_for_each(const struct net *net,
			 void (*look)(const struct sdp_device *dev, void *ctx),
			 void *ctx)
{
	const struct sdp_device *dev;

	mutex_lock(&sdp_devices_mutex);
	list_for_each_entry(dev, &sdp_devices, node)
		if (rdma_dev_access_netns(dev->ibdev, net))
			look(dev, ctx);
	mutex_unlock(&sdp_devices_mutex);
}

/**
 * sdp_device_link() - let a connection take part in the device's events
 * @dev: device, held by the connection
 * @link: RDMA side of the connection
 *
 * Return: false if the device is being removed and waits for this connection,
 * too, to release it.
 */
bool sdp_device_link(struct sdp_device *dev, struct sdp_link *link)
{
	bool present;

	spin_lock_bh(&dev->lock);
	present = !dev->removed;
	if (present)
		list_add_tail(&link->dev_node, &dev->conns);
	spin_unlock_bh(&dev->lock);
	return present;
}

/**
 * sdp_device_unlink() - take a connection out of the device's events
 * @link: RDMA side of the connection; nothing happens if it was not linked
 */
void sdp_device_unlink(struct sdp_link *link)
{
	struct sdp_device *dev = link->dev;

	spin_lock_bh(&dev->lock);
	list_del_init(&link->dev_node);
	spin_unlock_bh(&dev->lock);
}

/*
 * A receiver does not notice that the link is gone.  Probing lets a short
 * interruption pass on devices that retransmit, and ends the others.
 */
static void sdp_device_event(struct ib_event_handler *handler,
			     struct ib_event *event)
{
	struct sdp_device *dev = container_of(handler, struct sdp_device,
					      events);
	struct sdp_link *link;

	if (event->event != IB_EVENT_PORT_ERR &&
	    event->event != IB_EVENT_DEVICE_FATAL)
		return;
	spin_lock_bh(&dev->lock);
	list_for_each_entry(link, &dev->conns, dev_node)
		if (event->event == IB_EVENT_DEVICE_FATAL ||
		    link->id->port_num == event->element.port_num)
			sdp_link_probe(link);
	spin_unlock_bh(&dev->lock);
}

static bool sdp_device_usable(struct ib_device *ibdev)
{
	u32 port;

	rdma_for_each_port(ibdev, port)
		if (rdma_cap_ib_cm(ibdev, port) || rdma_cap_iw_cm(ibdev, port))
			return true;
	return false;
}

static u32 sdp_device_quirks(const struct ib_device *ibdev)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sdp_device_drivers); i++)
		if (sdp_device_drivers[i].driver == ibdev->ops.driver_id)
			return sdp_device_drivers[i].quirks;
	return 0;
}

/*
 * Which engines of flow control a device can carry.
 *
 * A ring is registered for the peer's writes by a fast registration.  Virtual
 * windows need a device that holds a message back while the receiver is not
 * ready; iWARP promises none.
 *
 * Return: SDP_FEAT_* of each.
 */
static u16 sdp_device_flows(const struct sdp_device *dev)
{
	if (!sdp_device_registers(dev))
		return SDP_FEAT_CREDIT;
	if (!dev->holds)
		return SDP_FEAT_CREDIT | SDP_FEAT_RDMA;
	return SDP_FEAT_CREDIT | SDP_FEAT_RDMA | SDP_FEAT_NIC;
}

/*
 * A completion says that TCP has the request, no more.  siw reads its memory until it
 * has been sent, whatever has completed behind it; our own device does so for data
 * only.  There is no immediate data (RFC 5040), unless both devices know it (RFC
 * 7306), which only their providers can tell.
 */
static void sdp_device_is_iwarp(struct sdp_device *dev)
{
	dev->data_in_place = true;
	dev->all_in_place = !dev->ulp;
	dev->initiator_speaks_first = true;
	dev->answers_disconnect = true;
	dev->cm_limits_reads = true;
	dev->tcp_ports = true;
	dev->holds = dev->info.flags & IW_ULP_HOLD;
	if (dev->info.flags & IW_ULP_IMMEDIATE)
		dev->immediate = SDP_FEAT_IW_IMMEDIATE;
}

/* InfiniBand or RoCE. */
static void sdp_device_is_ib(struct sdp_device *dev)
{
	dev->acked_on_completion = true;
	dev->holds = true;
	dev->immediate = SDP_FEAT_IMMEDIATE;
}

static int sdp_device_add(struct ib_device *ibdev)
{
	struct sdp_device *dev;

	if (!sdp_device_usable(ibdev))
		return -EOPNOTSUPP;
	dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev)
		return -ENOMEM;
	dev->ibdev = ibdev;
	sdp_ulp_ask(dev);
	dev->quirks = sdp_device_quirks(ibdev);
	/* iwarp.ko is another driver of that name, and copies what peers read. */
	if (dev->ulp)
		dev->quirks &= ~SDP_QUIRK_SENDS_PAGES;
	if (rdma_cap_iw_cm(ibdev, rdma_start_port(ibdev)))
		sdp_device_is_iwarp(dev);
	else
		sdp_device_is_ib(dev);
	dev->flows = sdp_device_flows(dev);
	refcount_set(&dev->refs, 1);
	init_completion(&dev->released);
	spin_lock_init(&dev->lock);
	INIT_LIST_HEAD(&dev->conns);
	sdp_busy_init(dev);
	INIT_IB_EVENT_HANDLER(&dev->events, ibdev, sdp_device_event);
	ib_register_event_handler(&dev->events);
	atomic_add(dev->tcp_ports, &sdp_device_nr_tcp_ports);
	ib_set_client_data(ibdev, &sdp_ib_client, dev);
	mutex_lock(&sdp_devices_mutex);
	list_add_tail(&dev->node, &sdp_devices);
	mutex_unlock(&sdp_devices_mutex);
	return 0;
}

/*
 * Ends all connections of the device and waits until they have released it.  No new
 * ones can come: a look-up now finds no client data, and sdp_device_link() refuses
 * those that have looked before.
 */
static void sdp_device_remove(struct ib_device *ibdev, void *client_data)
{
	struct sdp_device *dev = client_data;
	struct sdp_link *link;

	mutex_lock(&sdp_devices_mutex);
	list_del(&dev->node);
	mutex_unlock(&sdp_devices_mutex);
	spin_lock(&sdp_device_lock);
	ib_set_client_data(ibdev, &sdp_ib_client, NULL);
	spin_unlock(&sdp_device_lock);
	ib_unregister_event_handler(&dev->events);
	atomic_sub(dev->tcp_ports, &sdp_device_nr_tcp_ports);

	spin_lock_bh(&dev->lock);
	dev->removed = true;
	list_for_each_entry(link, &dev->conns, dev_node)
		sdp_link_end(link, -ENETDOWN);
	spin_unlock_bh(&dev->lock);

	sdp_device_put(dev);
	wait_for_completion(&dev->released);
	sdp_busy_exit(dev);
	kfree(dev);
}

static struct ib_client sdp_ib_client = {
	.name = "sdp",
	.add = sdp_device_add,
	.remove = sdp_device_remove,
};

/**
 * sdp_device_init_module() - start to take notice of RDMA devices
 *
 * Return: 0 or a negative errno.
 */
int __init sdp_device_init_module(void)
{
	return ib_register_client(&sdp_ib_client);
}

/**
 * sdp_device_exit_module() - forget all devices; no connection exists any more
 */
void sdp_device_exit_module(void)
{
	ib_unregister_client(&sdp_ib_client);
}
