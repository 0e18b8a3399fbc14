/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the RDMA core calls.
 */
#ifndef _IWP_OPS_H
#define _IWP_OPS_H

#include <rdma/ib_verbs.h>

#include "core/core.h"

extern const struct ib_device_ops iwp_device_ops;

/* post.c */
int iwp_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad_wr);
int iwp_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad_wr);

/* main.c */
void iwp_dealloc_driver(struct ib_device *ibdev);

#endif /* _IWP_OPS_H */
