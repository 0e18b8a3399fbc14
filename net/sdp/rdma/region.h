/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory that a connection's peer may use.
 */
#ifndef _SDP_REGION_H
#define _SDP_REGION_H

#include <linux/types.h>

struct ib_mr;
struct scatterlist;
struct sdp_link;

struct ib_mr *sdp_region_alloc(const struct sdp_link *link, u32 pages);
bool sdp_region_map(struct ib_mr *mr, struct scatterlist *sg, u32 nents,
		    u32 len);

#endif /* _SDP_REGION_H */
