// SPDX-License-Identifier: GPL-2.0
/* Operations for kernel consumers beyond the verbs. */
#include <linux/export.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <net/tcp.h>

#include "offload/offload.h"
#include "stream/stream.h"
#include "loopback/loopback.h"
#include "cm/cm.h"
#include "verbs.h"

/* What TCP has in front of a segment, where that is longest. */
#define IWP_ULP_TCP_HEADERS						\
	(sizeof(struct ipv6hdr) + sizeof(struct tcphdr) + TCPOLEN_TSTAMP_ALIGNED)

static bool iwp_ulp_iter = true;
module_param_named(send_iter, iwp_ulp_iter, bool, 0644);
MODULE_PARM_DESC(send_iter, "Offer to take payload from where processes have it");

static bool iwp_ulp_recv = true;
module_param_named(recv_iter, iwp_ulp_recv, bool, 0644);
MODULE_PARM_DESC(recv_iter, "Offer to place payload where processes want it");

/* Less is copied twice for less than it takes to find where it belongs. */
#define IWP_ULP_ITER_MIN	SZ_16K

/* siw devices have the same driver number. */
static bool iwp_ulp_ours(const struct ib_device *ibdev)
{
	return ibdev->ops.post_send == iwp_post_send;
}

/* With markers it depends on the position in the stream how many there are: the most. */
static u32 iwp_ulp_segment(const struct iwp_device *dev, enum iwp_design design,
			   u32 interval)
{
	u32 mtu = READ_ONCE(dev->netdev->mtu);
	u32 room = mtu - min_t(u32, mtu, IWP_ULP_TCP_HEADERS);

	if (design == IWP_DESIGN_OFFLOADED_SG)
		room = min_t(u32, room, IWP_TX_SG_ROOM);
	return iwarp_mulpdu(interval, room) -
	       (iwarp_hdr_len(IWARP_SEND) - IWARP_ULPDU_LENGTH_LEN);
}

/*
 * Of the offload engine only what its model accounts for, see offload/offload.h: early
 * placement, the joining of short messages and holding are TCP's or the host's with all
 * designs.
 */
static void iwp_ulp_functions(u8 *functions, enum iwp_design design,
			      const struct iwp_mpa_wishes *wishes)
{
	bool offloaded = iwp_design_offloaded(design);
	u8 engine = design == IWP_DESIGN_HOST ? IW_ULP_SOFTWARE : IW_ULP_HARDWARE;
	u8 builder = offloaded ? IW_ULP_HARDWARE : IW_ULP_SOFTWARE;

	functions[IW_ULP_DEMUX] = engine;
	functions[IW_ULP_COALESCE] = IW_ULP_SOFTWARE;
	functions[IW_ULP_FLOW_CONTROL] = IW_ULP_SOFTWARE;
	if (wishes->crc)
		functions[IW_ULP_CRC] = engine;
	if (wishes->interval)
		functions[IW_ULP_MARKERS] = builder;
	if (wishes->interval && iwp_ooo_enabled())
		functions[IW_ULP_EARLY] = IW_ULP_SOFTWARE;
	/* Gathered data is sent, and sent again, from the consumer's memory. */
	if (design != IWP_DESIGN_OFFLOADED_SG)
		functions[IW_ULP_TX_BUFFER] = builder;
	if (offloaded)
		functions[IW_ULP_TX_ZCOPY] = IW_ULP_HARDWARE;
}

static int iwp_ulp_query(const struct ib_device *ibdev, struct iw_ulp_info *info,
			 size_t size)
{
	const struct iwp_device *dev = container_of(ibdev, struct iwp_device, ibdev);
	struct iw_ulp_info own = {
		.flags = IW_ULP_HOLD | IW_ULP_IMMEDIATE | IW_ULP_READ | IW_ULP_MODEL |
			 IW_ULP_SEND_ITER | IW_ULP_RECV_ITER,
		.tx_full = IWP_HOLD_UNSENT,
		.tx_wake = IWP_HOLD_UNSENT,
		.iter_max = READ_ONCE(iwp_ulp_iter) ? IWP_POST_ITER_MAX : 0,
		.iter_min = READ_ONCE(iwp_ulp_recv) ? IWP_ULP_ITER_MIN : 0,
	};
	struct iwp_mpa_wishes wishes;
	enum iwp_design design;

	if (!iwp_ulp_ours(ibdev))
		return -EOPNOTSUPP;
	design = READ_ONCE(dev->design);
	iwp_mpa_wishes(&wishes);
	own.segment = iwp_ulp_segment(dev, design, wishes.interval);
	/* An engine places payload; and what is between two markers is too little. */
	if (design != IWP_DESIGN_HOST || wishes.interval)
		own.iter_min = 0;
	iwp_ulp_functions(own.functions, design, &wishes);
	memcpy(info, &own, min(size, sizeof(own)));
	return 0;
}

static int iwp_ulp_hold(struct ib_qp *ibqp)
{
	return iwp_ulp_ours(ibqp->device) ? iwp_hold_enable(iwp_qp(ibqp)) :
					    -EOPNOTSUPP;
}

static ssize_t iwp_ulp_read(struct ib_qp *ibqp, u32 stag, u64 addr,
			    struct iov_iter *to, size_t len)
{
	return iwp_ulp_ours(ibqp->device) ?
	       iwp_loopback_read(iwp_qp(ibqp), stag, addr, to, len) : 0;
}

/* An engine that does everything reads the consumer's memory itself. */
static int iwp_ulp_send_iter(struct ib_qp *ibqp, const struct ib_send_wr *wr,
			     struct iov_iter *from, size_t len)
{
	if (!iwp_ulp_ours(ibqp->device) || iwp_design_offloaded(iwp_qp(ibqp)->design))
		return -EOPNOTSUPP;
	return iwp_post_iter(iwp_qp(ibqp), wr, from, len);
}

static bool iwp_ulp_places(struct ib_qp *ibqp)
{
	return iwp_ulp_ours(ibqp->device) && iwp_qp(ibqp)->design == IWP_DESIGN_HOST;
}

static u32 iwp_ulp_recv_iter(struct ib_qp *ibqp, const struct iw_ulp_recv *recv,
			     struct iov_iter *to)
{
	return iwp_ulp_places(ibqp) ? iwp_rx_iter(iwp_qp(ibqp), recv, to) : 0;
}

static int iwp_ulp_set_watermarks(struct ib_qp *ibqp, u32 rx_low, void (*ready)(void *context))
{
	return iwp_ulp_places(ibqp) && iwp_iter_set_low(iwp_qp(ibqp), rx_low, ready) == !!rx_low ?
	       0 : -ENOTCONN;
}

/* Consumers find it by its name, IW_ULP_OPS_FORMAT. */
const struct iw_ulp_ops iwarp_iw_ulp_ops = {
	.size = sizeof(struct iw_ulp_ops),
	.query = iwp_ulp_query,
	.hold = iwp_ulp_hold,
	.read = iwp_ulp_read,
	.send_iter = iwp_ulp_send_iter,
	.recv_iter = iwp_ulp_recv_iter,
	.set_watermarks = iwp_ulp_set_watermarks,
};
EXPORT_SYMBOL_GPL(iwarp_iw_ulp_ops);
