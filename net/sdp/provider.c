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
 * sdp_provider_caps() - what a device's provider can do for us
 * @ibdev: device
 *
 * Return: enum iw_ulp_cap, 0 if it is no such provider's.
 */
u32 sdp_provider_caps(const struct ib_device *ibdev)
{
	const struct iw_ulp_ops *ops = symbol_get(iw_ulp_ops);
	u32 caps;

	if (!ops)
		return 0;
	caps = ops->caps(ibdev);
	symbol_put(iw_ulp_ops);
	return caps;
}

/**
 * sdp_provider_hold() - have messages wait for receive requests
 * @qp: queue pair that is not connected, of a device with %IW_ULP_HOLD
 *
 * Return: 0 or a negative errno.
 */
int sdp_provider_hold(struct ib_qp *qp)
{
	const struct iw_ulp_ops *ops = symbol_get(iw_ulp_ops);
	int err;

	if (!ops)
		return -ENODEV;
	err = ops->hold(qp);
	symbol_put(iw_ulp_ops);
	return err;
}
