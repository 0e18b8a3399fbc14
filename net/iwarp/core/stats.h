/* SPDX-License-Identifier: GPL-2.0 */
/* Device counters. */
#ifndef _IWP_STATS_H
#define _IWP_STATS_H

#include <rdma/ib_verbs.h>

#include "device.h"

/**
 * enum iwp_stat - counters; see iwp_stat_descs[] for their names in user space
 * @IWP_STAT_TX_FPDUS: FPDUs sent
 * @IWP_STAT_RX_FPDUS: complete FPDUs received in order
 * @IWP_STAT_RX_OOO_BYTES: stream bytes that waited for a hole to be filled, with
 *	markers
 * @IWP_STAT_RX_EARLY_BYTES: of these, bytes of FPDUs that were placed before
 * @IWP_STAT_RX_EARLY_FPDUS: number of these FPDUs
 * @IWP_STAT_RX_CRC_ERRORS: connections ended by a wrong checksum
 * @IWP_STAT_TX_TERMINATES: Terminate messages sent
 * @IWP_STAT_RX_TERMINATES: Terminate messages received
 * @IWP_STAT_TX_HOST_BYTES: payload that the host copied to send it, with one copy
 * @IWP_STAT_TX_ITER_BYTES: of these, copied from where a process has it
 * @IWP_STAT_RX_ITER_BYTES: received payload that was copied to where a process wants it
 * @IWP_STAT_RX_HOST_BYTES: payload that the host copied to place it
 * @IWP_STAT_LOCAL_REQUESTS: requests executed by loopback
 * @IWP_STAT_LOCAL_BYTES: bytes copied for them
 * @IWP_STAT_COUNT: number of counters
 */
enum iwp_stat {
	IWP_STAT_TX_FPDUS,
	IWP_STAT_RX_FPDUS,
	IWP_STAT_RX_OOO_BYTES,
	IWP_STAT_RX_EARLY_BYTES,
	IWP_STAT_RX_EARLY_FPDUS,
	IWP_STAT_RX_CRC_ERRORS,
	IWP_STAT_TX_TERMINATES,
	IWP_STAT_RX_TERMINATES,
	IWP_STAT_TX_HOST_BYTES,
	IWP_STAT_TX_ITER_BYTES,
	IWP_STAT_RX_ITER_BYTES,
	IWP_STAT_RX_HOST_BYTES,
	IWP_STAT_LOCAL_REQUESTS,
	IWP_STAT_LOCAL_BYTES,
	IWP_STAT_COUNT
};

/**
 * struct iwp_stats - counters of one CPU
 * @values: by enum iwp_stat
 */
struct iwp_stats {
	u64 values[IWP_STAT_COUNT];
};

static inline void iwp_count(struct iwp_device *dev, enum iwp_stat stat, u64 n)
{
	this_cpu_add(dev->stats->values[stat], n);
}

struct rdma_hw_stats *iwp_alloc_hw_port_stats(struct ib_device *ibdev,
					      u32 port);
int iwp_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		     u32 port, int index);

#endif /* _IWP_STATS_H */
