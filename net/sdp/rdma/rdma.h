/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RDMA devices as SDP sees them: what they can do, memory that peers may use, and
 * the control group that is charged.
 */
#ifndef _SDP_RDMA_H
#define _SDP_RDMA_H

#include "busy.h"
#include "device.h"
#include "link.h"
#include "rdmacg.h"
#include "region.h"
#include "ulp.h"

#endif /* _SDP_RDMA_H */
