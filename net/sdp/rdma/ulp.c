// SPDX-License-Identifier: GPL-2.0
/*
 * What a device's provider offers and says beyond the verbs.
 *
 * SDP then leaves out what it would otherwise do itself: messages that say what a write has
 * done, and, with virtual windows, the precaution against RNR.  Of a device whose provider
 * has nothing to say, it knows the verbs.
 */
#include <linux/module.h>

#include "device.h"
#include "ulp.h"

static bool sdp_ulp_wanted = true;
module_param_named(ulp, sdp_ulp_wanted, bool, 0644);
MODULE_PARM_DESC(ulp, "Ask devices that arrive what their providers do beyond the verbs");

/*
 * An older provider has a shorter table than ours.  The module cannot go before its device,
 * and our part in it: the symbol is held only to be looked at.
 */
static bool sdp_ulp_find(const struct ib_device *ibdev, struct iw_ulp_ops *ops)
{
	char name[MODULE_NAME_LEN + sizeof(IW_ULP_OPS_FORMAT)];
	const struct iw_ulp_ops *theirs;

	snprintf(name, sizeof(name), IW_ULP_OPS_FORMAT, module_name(ibdev->ops.owner));
	theirs = (const struct iw_ulp_ops *)__symbol_get(name);
	if (!theirs)
		return false;
	memcpy(ops, theirs, min(theirs->size, sizeof(*ops)));
	__symbol_put(name);
	return ops->query;
}

/* An operation that is not there is not promised either: who calls one looks at its flag. */
static void sdp_ulp_complete(const struct iw_ulp_ops *ops, struct iw_ulp_info *info)
{
	if (!ops->hold)
		info->flags &= ~IW_ULP_HOLD;
	if (!ops->read)
		info->flags &= ~IW_ULP_READ;
	if (!ops->send_iter)
		info->flags &= ~IW_ULP_SEND_ITER;
	if (!ops->recv_iter || !ops->set_watermarks)
		info->flags &= ~IW_ULP_RECV_ITER;
}

/**
 * sdp_ulp_ask() - find what a device's provider offers, and what it says of the device
 * @dev: device that arrives, zeroed but for @ibdev; @ulp, @ulp_ops and @info are set
 *
 * Nothing is found if the module parameter says so.
 */
void sdp_ulp_ask(struct sdp_device *dev)
{
	if (!READ_ONCE(sdp_ulp_wanted) || !sdp_ulp_find(dev->ibdev, &dev->ulp_ops))
		return;
	if (dev->ulp_ops.query(dev->ibdev, &dev->info, sizeof(dev->info))) {
		memset(&dev->info, 0, sizeof(dev->info));
		return;
	}
	sdp_ulp_complete(&dev->ulp_ops, &dev->info);
	dev->ulp = &dev->ulp_ops;
}

/**
 * sdp_ulp_query() - ask once more, as much of it depends on settings
 * @dev: device that cannot be removed meanwhile
 * @info: filled in, with flags as when the device came; zeroed without a provider
 *
 * Context: any.
 * Return: whether a provider has answered.
 */
bool sdp_ulp_query(const struct sdp_device *dev, struct iw_ulp_info *info)
{
	memset(info, 0, sizeof(*info));
	if (!dev->ulp || dev->ulp->query(dev->ibdev, info, sizeof(*info)))
		return false;
	info->flags = dev->info.flags;
	return true;
}

/**
 * sdp_ulp_set_iter() - ask how much payload the provider copies where the program has it
 * @dev: device of a connection that is being set up
 * @max: set to the longest that a request may take from there; 0 if it had better be asked
 *	to send from our memory, as it does not copy all that it sends
 * @min: set to the shortest that it is worth placing there; 0 if it never is
 *
 * Context: any.
 */
void sdp_ulp_set_iter(const struct sdp_device *dev, u32 *max, u32 *min)
{
	struct iw_ulp_info info;

	*max = 0;
	*min = 0;
	if (!sdp_ulp_query(dev, &info))
		return;
	if (info.flags & IW_ULP_SEND_ITER &&
	    info.functions[IW_ULP_TX_BUFFER] == IW_ULP_SOFTWARE)
		*max = info.iter_max;
	if (info.flags & IW_ULP_RECV_ITER)
		*min = info.iter_min;
}
