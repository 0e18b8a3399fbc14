/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a device's provider offers and says beyond the verbs, see net/iw_ulp.h.
 */
#ifndef _SDP_ULP_H
#define _SDP_ULP_H

#include <net/iw_ulp.h>

struct sdp_device;

void sdp_ulp_ask(struct sdp_device *dev);
void sdp_ulp_set_iter(const struct sdp_device *dev, u32 *max, u32 *min);
bool sdp_ulp_query(const struct sdp_device *dev, struct iw_ulp_info *info);

#endif /* _SDP_ULP_H */
