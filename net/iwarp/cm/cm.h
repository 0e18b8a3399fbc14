/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Endpoints: a TCP socket from MPA's startup phase to Full Operation and its close, or
 * a listening one.
 */
#ifndef _IWP_CM_H
#define _IWP_CM_H

#include "core/core.h"

extern const struct ib_device_ops iwp_connect_dev_ops;
extern const struct ib_device_ops iwp_listen_dev_ops;

/* listen.c */
void iwp_requests_abort(struct iwp_device *dev);

#endif /* _IWP_CM_H */
