/* SPDX-License-Identifier: GPL-2.0 */
/* Device operations for requests, and those that no other layer has. */
#ifndef _IWP_VERBS_H
#define _IWP_VERBS_H

#include <net/iw_ulp.h>
#include <rdma/ib_verbs.h>

#include "core/core.h"

/* ops.c */
extern const struct ib_device_ops iwp_verbs_dev_ops;

/* restrack.c */
extern const struct ib_device_ops iwp_restrack_dev_ops;

/* ulp.c */
extern const struct iw_ulp_ops iwarp_iw_ulp_ops;

/* post.c */
int iwp_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad_wr);
int iwp_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad_wr);

#endif /* _IWP_VERBS_H */
