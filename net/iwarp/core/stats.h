/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a device counts.
 */
#ifndef _IWP_STATS_H
#define _IWP_STATS_H

#include <rdma/ib_verbs.h>

#include "device.h"

/**
 * enum iwp_stat - counters; user space knows them by their names
 * @IWP_STAT_TX_FPDUS: FPDUs that were sent
 * @IWP_STAT_RX_FPDUS: FPDUs that were received, whole and in order
 * @IWP_STAT_RX_OOO_BYTES: bytes of the stream that had to wait for a hole to be
 *	filled, with markers
 * @IWP_STAT_RX_EARLY_BYTES: of these, in FPDUs that were placed meanwhile
 * @IWP_STAT_RX_EARLY_FPDUS: how many FPDUs that was
 * @IWP_STAT_RX_CRC_ERRORS: connections that a wrong checksum has ended
 * @IWP_STAT_TX_TERMINATES: TERMINATE messages that were sent
 * @IWP_STAT_RX_TERMINATES: and received
 * @IWP_STAT_TX_HOST_BYTES: payload that the host copied to send it, by one copy
 * @IWP_STAT_RX_HOST_BYTES: and to place it
 * @IWP_STAT_LOCAL_REQUESTS: requests that were executed without the wire
 * @IWP_STAT_LOCAL_BYTES: bytes that were copied for them
 * @IWP_STAT_COUNT: how many there are
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
	IWP_STAT_RX_HOST_BYTES,
	IWP_STAT_LOCAL_REQUESTS,
	IWP_STAT_LOCAL_BYTES,
	IWP_STAT_COUNT
};

/**
 * struct iwp_stats - the counters, as one processor has them
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
