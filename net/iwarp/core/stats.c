// SPDX-License-Identifier: GPL-2.0
/* Device counters, for "rdma statistic" and sysfs. */
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
	[IWP_STAT_TX_ITER_BYTES].name = "tx_iter_bytes",
	[IWP_STAT_RX_ITER_BYTES].name = "rx_iter_bytes",
	[IWP_STAT_RX_HOST_BYTES].name = "rx_host_bytes",
	[IWP_STAT_LOCAL_REQUESTS].name = "local_requests",
	[IWP_STAT_LOCAL_BYTES].name = "local_bytes",
};

/**
 * iwp_alloc_hw_port_stats() - allocate counters for the RDMA core
 * @ibdev: device
 * @port: the only port
 *
 * Return: the counters or NULL.
 */
struct rdma_hw_stats *iwp_alloc_hw_port_stats(struct ib_device *ibdev,
					      u32 port)
{
	static_assert(ARRAY_SIZE(iwp_stat_descs) == IWP_STAT_COUNT);

	return rdma_alloc_hw_stats_struct(iwp_stat_descs, IWP_STAT_COUNT,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

/**
 * iwp_get_hw_stats() - sum the counters of all CPUs
 * @ibdev: device
 * @stats: filled in
 * @port: ignored: there is one, and the device itself has no counters
 * @index: ignored: all counters are returned
 *
 * Return: number of counters.
 */
int iwp_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		     u32 port, int index)
{
	const struct iwp_device *dev = iwp_device(ibdev);
	int cpu, i;

	memset(stats->value, 0, IWP_STAT_COUNT * sizeof(*stats->value));
	for_each_possible_cpu(cpu) {
		const struct iwp_stats *one = per_cpu_ptr(dev->stats, cpu);

		for (i = 0; i < IWP_STAT_COUNT; i++)
			stats->value[i] += READ_ONCE(one->values[i]);
	}
	return IWP_STAT_COUNT;
}
