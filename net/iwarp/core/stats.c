// SPDX-License-Identifier: GPL-2.0
/*
 * What a device counts, for "rdma statistic" and in sysfs.
 */
#include "stats.h"

static const struct rdma_stat_desc iwp_stat_descs[] = {
	[IWP_STAT_TX_FPDUS].name = "tx_fpdus",
	[IWP_STAT_RX_FPDUS].name = "rx_fpdus",
	[IWP_STAT_RX_OOO_BYTES].name = "rx_ooo_bytes",
	[IWP_STAT_RX_EARLY_BYTES].name = "rx_early_bytes",
	[IWP_STAT_RX_EARLY_FPDUS].name = "rx_early_fpdus",
	[IWP_STAT_RX_CRC_ERRORS].name = "rx_crc_errors",
	[IWP_STAT_TX_TERMINATES].name = "tx_terminates",
	[IWP_STAT_RX_TERMINATES].name = "rx_terminates",
	[IWP_STAT_TX_HOST_BYTES].name = "tx_host_bytes",
	[IWP_STAT_RX_HOST_BYTES].name = "rx_host_bytes",
	[IWP_STAT_LOCAL_REQUESTS].name = "local_requests",
	[IWP_STAT_LOCAL_BYTES].name = "local_bytes",
};

/**
 * iwp_alloc_hw_port_stats() - room for what the core tells of a port
 * @ibdev: device
 * @port: the only one
 *
 * Return: the room, or NULL.
 */
struct rdma_hw_stats *iwp_alloc_hw_port_stats(struct ib_device *ibdev,
					      u32 port)
{
	static_assert(ARRAY_SIZE(iwp_stat_descs) == IWP_STAT_COUNT);

	return rdma_alloc_hw_stats_struct(iwp_stat_descs, IWP_STAT_COUNT,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

/**
 * iwp_get_hw_stats() - what was counted so far
 * @ibdev: device
 * @stats: filled in
 * @port: the only one, or 0 for the device, which has none
 * @index: which counter is wanted; all are told
 *
 * Return: how many were filled in, or -EINVAL.
 */
int iwp_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		     u32 port, int index)
{
	const struct iwp_device *dev = iwp_device(ibdev);
	int cpu, i;

	if (port != IWP_PORT)
		return -EINVAL;
	memset(stats->value, 0, IWP_STAT_COUNT * sizeof(*stats->value));
	for_each_possible_cpu(cpu) {
		const struct iwp_stats *one = per_cpu_ptr(dev->stats, cpu);

		for (i = 0; i < IWP_STAT_COUNT; i++)
			stats->value[i] += READ_ONCE(one->values[i]);
	}
	return IWP_STAT_COUNT;
}
