// SPDX-License-Identifier: GPL-2.0
/*
 * Software iWARP providers that can do more than iWARP promises.
 *
 * SDP asks its provider what that is, and leaves out what it would otherwise do
 * itself: messages that say what a write has done, and, with virtual windows,
 * fear of a receiver that is not ready.
 */
#include <linux/module.h>

#include "provider.h"

/**
 * sdp_provider_find() - what a device's provider can do for us
 * @ibdev: device
 *
 * The provider's code is there as long as its device is, and who removes that
 * waits until its connections have gone.
 *
 * Return: how to ask for it; NULL if it is nothing beyond the verbs.
 */
const struct iw_ulp_ops *sdp_provider_find(const struct ib_device *ibdev)
{
	const struct iw_ulp_ops *ops = symbol_get(iw_ulp_ops);
	bool ours;

	if (!ops)
		return NULL;
	ours = ops->caps(ibdev);
	symbol_put(iw_ulp_ops);
	return ours ? ops : NULL;
}
