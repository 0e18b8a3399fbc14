// SPDX-License-Identifier: GPL-2.0
/*
 * Which engine of flow control a connection uses: what the administrator or the
 * program wants, what the device can do, and what the peer offers.
 */
#include <linux/string.h>
#include <rdma/ib_verbs.h>

#include "rdma/device.h"
#include "flow.h"
#include "nic.h"
#include "rdma.h"
#include "base/mib.h"
#include "base/net.h"
#include "rdma/provider.h"
#include "socket/socket.h"
#include "wire/wire.h"

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
		.fit = sdp_rdma_fit,
		.buffers = sdp_rdma_buffers,
		.want_update = sdp_rdma_want_update,
		.full = sdp_rdma_full,
	}, {
		.name = "nic",
		.id = SDP_FLOW_NIC,
		.feature = SDP_FEAT_NIC,
		.async = true,
		.fit = sdp_nic_fit,
		.windows = sdp_nic_windows,
		.buffers = sdp_nic_buffers,
		.want_update = sdp_nic_want_update,
		.full = sdp_nic_full,
	},
};

const struct sdp_flow_ops *const sdp_flow_default = &sdp_flows[0];

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
	return NULL;
}

/**
 * sdp_flow_names() - write down the names of all engines
 * @buf: where to
 * @size: bytes there, SDP_FLOW_BUF_MAX suffice
 */
void sdp_flow_names(char *buf, size_t size)
{
	size_t len = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sdp_flows); i++)
		len += scnprintf(buf + len, size - len, "%s%s", i ? " " : "",
				 sdp_flows[i].name);
}

/**
 * sdp_flow_device() - which engines a device can carry
 * @dev: device
 *
 * A ring is registered for the peer's writes by a fast registration.  Virtual
 * windows need a device that holds a message back while the receiver is not
 * ready; iWARP promises none.
 *
 * Return: SDP_FEAT_* of each.
 */
u16 sdp_flow_device(const struct sdp_device *dev)
{
	u64 needed = IB_DEVICE_MEM_MGT_EXTENSIONS;

	if ((dev->ibdev->attrs.device_cap_flags & needed) != needed)
		return SDP_FEAT_CREDIT;
	if (dev->iwarp && !(dev->caps & IW_ULP_HOLD))
		return SDP_FEAT_CREDIT | SDP_FEAT_RDMA;
	return SDP_FEAT_CREDIT | SDP_FEAT_RDMA | SDP_FEAT_NIC;
}

static const struct sdp_flow_ops *sdp_flow_wanted(const struct sdp_sock *ssk)
{
	return ssk->opt.flow ?:
	       READ_ONCE(sdp_net(sock_net(&ssk->sk))->flow_control);
}

/* The engine that is wanted, and all that are weaker. */
static u16 sdp_flow_up_to(const struct sdp_flow_ops *flow)
{
	return flow->feature | (flow->feature - 1);
}

/**
 * sdp_flow_begin() - decide which engines to offer the peer
 * @ssk: socket that nobody else can transmit on yet, whose device is known
 *
 * What is offered stays, because buffers are made for it and the peer is told:
 * the administrator may want another engine before the peer has answered.
 */
void sdp_flow_begin(struct sdp_sock *ssk)
{
	struct sdp_conn *conn = &ssk->conn;

	conn->flow = sdp_flow_wanted(ssk);
	conn->flow_reason = SDP_FLOW_REASON_NONE;
	conn->features = sdp_flow_up_to(conn->flow) & conn->dev->flows;
}

static const char *sdp_flow_reason(enum sdp_flow_reason reason)
{
	return reason == SDP_FLOW_REASON_DEVICE ? "the device cannot do it" :
						  "the peer does not offer it";
}

/* What has kept a connection from the engine that was wanted. */
static enum sdp_flow_reason sdp_flow_obstacle(const struct sdp_conn *conn,
					      const struct sdp_flow_ops *want)
{
	if (conn->flow == want)
		return SDP_FLOW_REASON_NONE;
	return want->feature & conn->dev->flows ? SDP_FLOW_REASON_PEER :
						  SDP_FLOW_REASON_DEVICE;
}

/**
 * sdp_flow_choose() - use the strongest engine that both sides offer
 * @ssk: locked socket, or one that nobody else knows; sdp_flow_begin() was
 *	called
 * @peer: SDP_FEAT_* that the peer has offered; a peer that has said nothing
 *	gets credits
 */
void sdp_flow_choose(struct sdp_sock *ssk, u16 peer)
{
	struct sdp_conn *conn = &ssk->conn;
	const struct sdp_flow_ops *want = conn->flow;
	size_t i;

	conn->features &= peer;
	conn->flow = &sdp_flows[0];
	for (i = 0; i < ARRAY_SIZE(sdp_flows); i++)
		if (sdp_flows[i].feature & conn->features)
			conn->flow = &sdp_flows[i];
	conn->flow_reason = sdp_flow_obstacle(conn, want);
	if (!conn->flow_reason)
		return;
	SDP_INC_STATS(sock_net(&ssk->sk), SDP_MIB_FLOWDOWNGRADES);
	pr_info_ratelimited("sdp: flow control on %s is %s and not %s: %s\n",
			    ssk->dev_name, conn->flow->name, want->name,
			    sdp_flow_reason(conn->flow_reason));
}

/**
 * sdp_flow_setsockopt() - set SDP_FLOW_CONTROL
 * @sk: socket, not locked
 * @optval: the engine's name
 * @optlen: its length
 *
 * As with TCP_CONGESTION a name may be cut off anywhere, and need not end in a
 * zero.
 *
 * Return: 0; -ENOENT if there is no such engine; -EINVAL without a name, or
 * when the socket is connected or listens; -EFAULT.
 */
int sdp_flow_setsockopt(struct sock *sk, sockptr_t optval, unsigned int optlen)
{
	const struct sdp_flow_ops *flow;
	char name[SDP_NAME_MAX];
	int err;

	err = sdp_name_get(name, optval, optlen);
	if (err)
		return err;
	flow = sdp_flow_find(name);
	if (!flow)
		return -ENOENT;
	sdp_lock_sock(sk);
	if (sdp_in_state(sk, TCPF_CLOSE))
		sdp_sk(sk)->opt.flow = flow;
	else
		err = -EINVAL;
	sdp_release_sock(sk);
	return err;
}

/**
 * sdp_flow_getsockopt() - read SDP_FLOW_CONTROL
 * @sk: socket, not locked
 * @len: room for the answer, not negative
 * @optval: where to put the name: of the engine in use, without a connection of
 *	the one that is wanted
 * @optlen: set to what was written
 *
 * Return: 0 or -EFAULT.
 */
int sdp_flow_getsockopt(struct sock *sk, int len, char __user *optval,
			int __user *optlen)
{
	const struct sdp_sock *ssk = sdp_sk(sk);
	const struct sdp_flow_ops *flow;

	sdp_lock_sock(sk);
	flow = sdp_flow_wanted(ssk);
	if (ssk->conn.qp && !sdp_in_state(sk, SDPF_CONNECTING))
		flow = ssk->conn.flow;
	sdp_release_sock(sk);
	return sdp_name_put(flow->name, len, optval, optlen);
}
