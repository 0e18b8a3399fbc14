/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the RDMA core calls.
 */
#ifndef _IWP_OPS_H
#define _IWP_OPS_H

#include <rdma/ib_verbs.h>

extern const struct ib_device_ops iwp_device_ops;

/* main.c */
void iwp_dealloc_driver(struct ib_device *ibdev);

#endif /* _IWP_OPS_H */
