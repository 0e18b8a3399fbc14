/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rdma control group.
 */
#ifndef _SDP_RDMACG_H
#define _SDP_RDMACG_H

#include <linux/errno.h>

#include "conn/conn.h"

#ifdef CONFIG_CGROUP_RDMA

/* Whether a control group is charged for the connection. */
static inline bool sdp_rdmacg_known(const struct sdp_conn *conn)
{
	return conn->rdmacg;
}

int sdp_rdmacg_charge(struct sdp_sock *ssk);
int sdp_rdmacg_use(struct sdp_sock *ssk);
void sdp_rdmacg_uncharge(struct sdp_conn *conn);

#else

static inline bool sdp_rdmacg_known(const struct sdp_conn *conn)
{
	return true;
}

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
