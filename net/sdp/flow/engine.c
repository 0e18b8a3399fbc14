// SPDX-License-Identifier: GPL-2.0
/*
 * The engines of flow control.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "flow.h"

/* From the weakest to the strongest. */
static const struct sdp_flow_ops sdp_flows[] = {
	{
		.name = "credit",
		.id = SDP_FLOW_CREDIT,
		.feature = SDP_FEAT_CREDIT,
		.async = true,
	}, {
		.name = "rdma",
		.id = SDP_FLOW_RDMA,
		.feature = SDP_FEAT_RDMA,
		.tells_space = true,
		.piece = sdp_rdma_piece,
		.fit = sdp_rdma_fit,
		.buffers = sdp_rdma_buffers,
		.want_update = sdp_rdma_want_update,
		.full = sdp_rdma_full,
	}, {
		.name = "nic",
		.id = SDP_FLOW_NIC,
		.feature = SDP_FEAT_NIC,
		.async = true,
		.piece = sdp_nic_window,
		.fit = sdp_nic_fit,
		.windows = sdp_nic_windows,
		.buffers = sdp_nic_buffers,
		.want_update = sdp_nic_want_update,
		.full = sdp_nic_full,
	},
};

/* No connection has it once the peer has answered. */
static const struct sdp_flow_ops sdp_flow_auto = {
	.name = "auto",
	.id = SDP_FLOW_AUTO,
	.feature = SDP_FEAT_NIC,
	.async = true,
	.adapts = true,
};

const struct sdp_flow_ops *const sdp_flow_default = &sdp_flow_auto;

/**
 * sdp_flow_find() - look for an engine
 * @name: its name
 *
 * Return: the engine, or NULL.
 */
const struct sdp_flow_ops *sdp_flow_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sdp_flows); i++)
		if (!strcmp(sdp_flows[i].name, name))
			return &sdp_flows[i];
	return strcmp(sdp_flow_auto.name, name) ? NULL : &sdp_flow_auto;
}

/**
 * sdp_flow_names() - write down the names of all engines, and that of their choice
 * @buf: where to
 * @size: bytes there, SDP_FLOW_BUF_MAX suffice
 */
void sdp_flow_names(char *buf, size_t size)
{
	size_t len = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sdp_flows); i++)
		len += scnprintf(buf + len, size - len, "%s ", sdp_flows[i].name);
	scnprintf(buf + len, size - len, "%s", sdp_flow_auto.name);
}

/**
 * sdp_flow_strongest() - the strongest of some engines
 * @features: SDP_FEAT_* of each
 *
 * Return: that engine; the one of credits if there is none.
 */
const struct sdp_flow_ops *sdp_flow_strongest(u16 features)
{
	size_t i = ARRAY_SIZE(sdp_flows);

	while (--i)
		if (sdp_flows[i].feature & features)
			break;
	return &sdp_flows[i];
}
