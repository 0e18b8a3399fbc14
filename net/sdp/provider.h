/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Software iWARP providers that can do more than iWARP promises.
 */
#ifndef _SDP_PROVIDER_H
#define _SDP_PROVIDER_H

#include <linux/types.h>
#include <net/iw_ulp.h>

struct ib_device;
struct ib_qp;

u32 sdp_provider_caps(const struct ib_device *ibdev);
int sdp_provider_hold(struct ib_qp *qp);

#endif /* _SDP_PROVIDER_H */
