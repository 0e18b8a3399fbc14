/* SPDX-License-Identifier: GPL-2.0 */
/* Device operations for requests, and those that no other layer has. */
#ifndef _IWP_VERBS_H
#define _IWP_VERBS_H

#include <linux/sizes.h>
#include <net/iw_ulp.h>
#include <rdma/ib_verbs.h>

#include "core/core.h"

/* ops.c */
extern const struct ib_device_ops iwp_verbs_dev_ops;

/* restrack.c */
extern const struct ib_device_ops iwp_restrack_dev_ops;

/* ulp.c */
extern const struct iw_ulp_ops iwarp_iw_ulp_ops;

/* Longest payload of iwp_post_iter(): it is copied with softirqs disabled. */
#define IWP_POST_ITER_MAX	SZ_64K

/* post.c */
int iwp_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad_wr);
int iwp_post_iter(struct iwp_qp *qp, const struct ib_send_wr *wr, struct iov_iter *from,
		  size_t len);
int iwp_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad_wr);
int iwp_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad_wr);

#endif /* _IWP_VERBS_H */
