/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rdma control group.
 */
#ifndef _SDP_RDMACG_H
#define _SDP_RDMACG_H

#include <linux/errno.h>

struct sdp_conn;
struct sdp_sock;

#ifdef CONFIG_CGROUP_RDMA

int sdp_rdmacg_charge(struct sdp_sock *ssk);
int sdp_rdmacg_use(struct sdp_sock *ssk);
void sdp_rdmacg_uncharge(struct sdp_conn *conn);

#else

static inline int sdp_rdmacg_charge(struct sdp_sock *ssk)
{
	return 0;
}

static inline int sdp_rdmacg_use(struct sdp_sock *ssk)
{
	return 0;
}

static inline void sdp_rdmacg_uncharge(struct sdp_conn *conn)
{
}

#endif

#endif /* _SDP_RDMACG_H */
