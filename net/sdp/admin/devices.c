// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/net/sdp_devices: a line for each RDMA device that carries SDP, with what its
 * provider says of it.
 */
#include <linux/seq_file.h>

#include "rdma/rdma.h"
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

static void sdp_device_show_flags(struct seq_file *seq, u32 flags)
{
	const char *before = " ";
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sdp_flag_names); i++) {
		if (!(flags & BIT(i)))
			continue;
		seq_printf(seq, "%s%s", before, sdp_flag_names[i]);
		before = ",";
	}
	if (*before == ' ')
		seq_puts(seq, " -");
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
	sdp_device_show_flags(seq, info.flags);
	seq_printf(seq, " %u %u %u", info.segment, info.tx_full, info.tx_wake);
	for (i = 0; i < ARRAY_SIZE(sdp_function_names); i++)
		seq_printf(seq, " %s", known ? sdp_where_name(info.functions[i]) : "-");
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
	seq_putc(seq, '\n');
	sdp_device_for_each(seq_file_single_net(seq), sdp_device_show, seq);
	return 0;
}
