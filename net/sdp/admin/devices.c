// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/net/sdp_devices: a line for each RDMA device that carries SDP, with what its
 * provider says of it, what SDP can do on it, and what stands in the way of the rest.
 */
#include <linux/log2.h>
#include <linux/seq_file.h>

#include "flow/flow.h"
#include "guard/guard.h"
#include "rdma/rdma.h"
#include "zcopy/zcopy.h"
#include "admin.h"

/* The headings of functions; who reads the file knows what is behind them by these. */
static const char * const sdp_function_names[] = {
	[IW_ULP_MARKERS] = "markers",
	[IW_ULP_CRC] = "crc",
	[IW_ULP_DEMUX] = "demux",
	[IW_ULP_EARLY] = "early",
	[IW_ULP_TX_BUFFER] = "tx_buffer",
	[IW_ULP_COALESCE] = "coalesce",
	[IW_ULP_FLOW_CONTROL] = "flow_control",
	[IW_ULP_TX_ZCOPY] = "tx_zcopy",
};

static const char * const sdp_flag_names[] = {
	"hold",
	"immediate",
	"read",
	"model",
	"send_iter",
	"recv_iter",
};

/* The engine of virtual windows is the last. */
#define SDP_DEVICE_ENGINES	(ilog2(SDP_FEAT_NIC) + 1)

static const char *sdp_where_name(u8 where)
{
	switch (where) {
	case IW_ULP_ABSENT:
		return "absent";
	case IW_ULP_SOFTWARE:
		return "software";
	case IW_ULP_HARDWARE:
		return "hardware";
	default:
		return "unknown";
	}
}

static const char *sdp_transport_name(struct ib_device *ibdev)
{
	u32 port = rdma_start_port(ibdev);

	if (rdma_cap_iw_cm(ibdev, port))
		return "iwarp";
	return rdma_cap_eth_ah(ibdev, port) ? "roce" : "infiniband";
}

/* A column of names with commas between them; "-" for none. */
static void sdp_device_show_names(struct seq_file *seq, const char * const *names, u32 count,
				  u32 bits)
{
	const char *before = " ";
	u32 i;

	for (i = 0; i < count; i++) {
		if (!(bits & BIT(i)))
			continue;
		seq_printf(seq, "%s%s", before, names[i]);
		before = ",";
	}
	if (*before == ' ')
		seq_puts(seq, " -");
}

static void sdp_device_show_engines(struct seq_file *seq, const struct sdp_device *dev)
{
	const char *names[SDP_DEVICE_ENGINES];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		names[i] = sdp_flow_strongest(BIT(i))->name;
	sdp_device_show_names(seq, names, ARRAY_SIZE(names), dev->flows);
}

static void sdp_device_show_zcopy(struct seq_file *seq, const struct sdp_device *dev)
{
	const char * const names[] = {
		sdp_zcopy_mode_name(SDP_ZCOPY_SYNC), sdp_zcopy_mode_name(SDP_ZCOPY_ASYNC),
	};
	u32 modes = 0;

	if (sdp_zcopy_device(dev))
		modes = sdp_guard_works() ? BIT(0) | BIT(1) : BIT(0);
	sdp_device_show_names(seq, names, ARRAY_SIZE(names), modes);
}

/* What keeps it from an engine or from zero copy; the kernel, too, may be what lacks it. */
static void sdp_device_show_lacks(struct seq_file *seq, const struct sdp_device *dev)
{
	static const char * const names[] = { "registration", "hold", "reads", "protection" };
	const bool has[] = {
		sdp_device_registers(dev), dev->holds, sdp_device_reads(dev), sdp_guard_works(),
	};
	u32 lacks = 0;
	u32 i;

	static_assert(ARRAY_SIZE(has) == ARRAY_SIZE(names));
	for (i = 0; i < ARRAY_SIZE(has); i++)
		if (!has[i])
			lacks |= BIT(i);
	sdp_device_show_names(seq, names, ARRAY_SIZE(names), lacks);
}

/* What is not known is shown as "-". */
static void sdp_device_show(const struct sdp_device *dev, void *ctx)
{
	struct seq_file *seq = ctx;
	struct iw_ulp_info info;
	bool known = sdp_ulp_query(dev, &info);
	u32 i;

	seq_printf(seq, "%s %s %s", dev->ibdev->name,
		   sdp_transport_name(dev->ibdev), known ? "provider" : "verbs");
	sdp_device_show_names(seq, sdp_flag_names, ARRAY_SIZE(sdp_flag_names), info.flags);
	seq_printf(seq, " %u %u %u", info.segment, info.tx_full, info.tx_wake);
	for (i = 0; i < ARRAY_SIZE(sdp_function_names); i++)
		seq_printf(seq, " %s", known ? sdp_where_name(info.functions[i]) : "-");
	sdp_device_show_engines(seq, dev);
	sdp_device_show_zcopy(seq, dev);
	sdp_device_show_lacks(seq, dev);
	seq_putc(seq, '\n');
}

/**
 * sdp_devices_show() - print the devices that a namespace has access to
 * @seq: file of the namespace
 * @v: unused
 *
 * Return: 0
 */
int sdp_devices_show(struct seq_file *seq, void *v)
{
	u32 i;

	seq_puts(seq, "device transport interface flags segment tx_full tx_wake");
	for (i = 0; i < ARRAY_SIZE(sdp_function_names); i++)
		seq_printf(seq, " %s", sdp_function_names[i]);
	seq_puts(seq, " engines zcopy lacks\n");
	sdp_device_for_each(seq_file_single_net(seq), sdp_device_show, seq);
	return 0;
}
