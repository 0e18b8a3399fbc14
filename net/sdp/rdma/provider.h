/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Software iWARP providers that can do more than iWARP promises.
 */
#ifndef _SDP_PROVIDER_H
#define _SDP_PROVIDER_H

#include <linux/types.h>
#include <net/iw_ulp.h>

struct ib_device;

const struct iw_ulp_ops *sdp_provider_find(const struct ib_device *ibdev);

#endif /* _SDP_PROVIDER_H */
