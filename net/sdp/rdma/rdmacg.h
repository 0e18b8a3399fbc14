/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rdma control group.
 */
#ifndef _SDP_RDMACG_H
#define _SDP_RDMACG_H

#include <linux/errno.h>

#include "link.h"

#ifdef CONFIG_CGROUP_RDMA

/* Whether a control group is charged for the connection. */
static inline bool sdp_rdmacg_known(const struct sdp_link *link)
{
	return link->rdmacg;
}

int sdp_rdmacg_charge(struct sdp_link *link);
int sdp_rdmacg_use(struct sdp_link *link);
void sdp_rdmacg_uncharge(struct sdp_link *link);

#else

static inline bool sdp_rdmacg_known(const struct sdp_link *link)
{
	return true;
}

static inline int sdp_rdmacg_charge(struct sdp_link *link)
{
	return 0;
}

static inline int sdp_rdmacg_use(struct sdp_link *link)
{
	return 0;
}

static inline void sdp_rdmacg_uncharge(struct sdp_link *link)
{
}

#endif

#endif /* _SDP_RDMACG_H */
