// SPDX-License-Identifier: GPL-2.0
/*
 * The tracepoints themselves.
 */
#include <linux/sdp.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "wire/wire.h"
#include "base.h"

/* Bytes that a work request sends, writes, or registers. */
static u32 sdp_trace_wr_len(const struct ib_send_wr *wr)
{
	u32 len = 0;
	int i;

	if (wr->opcode == IB_WR_REG_MR)
		return reg_wr(wr)->mr->length;
	for (i = 0; i < wr->num_sge; i++)
		len += wr->sg_list[i].length;
	return len;
}

#define CREATE_TRACE_POINTS
#include "trace.h"
