// SPDX-License-Identifier: GPL-2.0
/*
 * MPA's startup phase: Request and Reply frame, and what they negotiate (RFC 5044,
 * section 7; RFC 6581).
 */
#include <linux/delay.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "internal.h"

/* Limit of FPDUPTR, and of the length of a segment without a marker. */
#define IWP_INTERVAL_MAX	32768

static bool iwp_markers;
module_param_named(markers, iwp_markers, bool, 0644);
MODULE_PARM_DESC(markers, "Ask peers for markers in what we receive");

static bool iwp_crc;
module_param_named(crc, iwp_crc, bool, 0644);
MODULE_PARM_DESC(crc, "Ask for checksums in both directions");

static bool iwp_long_fpdus = true;
module_param_named(long_fpdus, iwp_long_fpdus, bool, 0644);
MODULE_PARM_DESC(long_fpdus, "Without markers and checksums FPDUs are longer than TCP's segments");

static u32 iwp_interval = IWARP_MARKER_INTERVAL;

/* Only longer intervals than the standard's, as IWP_TX_SEG_VECS is limited. */
static int iwp_interval_set(const char *text, const struct kernel_param *kp)
{
	u32 value;
	int err = kstrtou32(text, 0, &value);

	if (err)
		return err;
	if (!is_power_of_2(value) || value < IWARP_MARKER_INTERVAL ||
	    value > IWP_INTERVAL_MAX)
		return -EINVAL;
	WRITE_ONCE(iwp_interval, value);
	return 0;
}

static const struct kernel_param_ops iwp_interval_ops = {
	.set = iwp_interval_set,
	.get = param_get_uint,
};
module_param_cb(marker_interval, &iwp_interval_ops, &iwp_interval, 0644);
MODULE_PARM_DESC(marker_interval, "Distance of markers, for experiments between two ends of ours");

/**
 * iwp_mpa_interval() - get the marker interval of one direction of a new connection
 * @markers: the receiver wants markers
 *
 * Return: bytes, a power of two, or %IWARP_NO_MARKERS.
 */
u32 iwp_mpa_interval(bool markers)
{
	return markers ? READ_ONCE(iwp_interval) : IWARP_NO_MARKERS;
}

/**
 * iwp_mpa_wishes() - get what new connections of this end ask for
 * @wishes: filled in
 *
 * Context: any.
 */
void iwp_mpa_wishes(struct iwp_mpa_wishes *wishes)
{
	wishes->interval = iwp_mpa_interval(READ_ONCE(iwp_markers));
	wishes->crc = READ_ONCE(iwp_crc);
}

/* Checksums cost nothing in the engine's model, so an engine does not ask for them. */
static bool iwp_mpa_crc(const struct iwp_ep *ep)
{
	return READ_ONCE(iwp_crc) &&
	       (!ep->qp || ep->qp->design == IWP_DESIGN_HOST);
}

/* Nor has an engine memory for a part of an FPDU. */
static bool iwp_mpa_long_fpdus(const struct iwp_ep *ep)
{
	return READ_ONCE(iwp_long_fpdus) && (!ep->qp || ep->qp->design == IWP_DESIGN_HOST);
}

static int iwp_mpa_send(struct iwp_ep *ep, const void *priv)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	struct kvec vec;
	int sent;
	u8 *buf;

	if (iwp_fault(IWP_FAULT_MPA_LOST))
		return 0;
	if (iwp_fault(IWP_FAULT_MPA_LATE))
		ssleep(IWP_FAULT_MPA_DELAY);
	buf = kmalloc(IWARP_MPA_FRAME_MAX, GFP_KERNEL);
	if (!buf)
		return -ENOMEM;
	vec.iov_base = buf;
	vec.iov_len = iwarp_mpa_encode(&ep->mpa_tx, priv, buf,
				       IWARP_MPA_FRAME_MAX);
	sent = vec.iov_len ? kernel_sendmsg(ep->sock, &msg, &vec, 1,
					    vec.iov_len) : -EINVAL;
	kfree(buf);
	if (sent < 0)
		return sent;
	/* A single frame always fits into an empty send buffer. */
	return sent == vec.iov_len ? 0 : -ECONNABORTED;
}

/**
 * iwp_mpa_request() - send the MPA Request
 * @ep: endpoint, with the consumer's IRD and ORD
 * @priv: private data
 * @len: its length
 *
 * The responder may have to send first, but must not (RFC 6581, section 9), so we offer
 * an empty RDMA Write as the RTR message.
 *
 * Return: 0 or a negative error number.
 */
int iwp_mpa_request(struct iwp_ep *ep, const void *priv, u16 len)
{
	ep->mpa_tx = (struct iwarp_mpa) {
		.rev = IWARP_MPA_REV_2,
		.markers = READ_ONCE(iwp_markers),
		.crc = iwp_mpa_crc(ep),
		.long_fpdus = iwp_mpa_long_fpdus(ep),
		.enhanced = true,
		.peer_to_peer = true,
		.rtr = IWARP_RTR_WRITE,
		.ird = ep->ird,
		.ord = ep->ord,
		.priv_len = len,
	};
	return iwp_mpa_send(ep, priv);
}

/**
 * iwp_mpa_reply() - send the MPA Reply
 * @ep: endpoint that has received an MPA Request
 * @reject: reject the connection
 * @priv: private data
 * @len: its length
 *
 * Return: 0 or a negative error number.
 */
int iwp_mpa_reply(struct iwp_ep *ep, bool reject, const void *priv, u16 len)
{
	ep->mpa_tx = (struct iwarp_mpa) {
		.reply = true,
		.rev = ep->mpa_rx.rev == IWARP_MPA_REV_1 ? IWARP_MPA_REV_1 :
							   IWARP_MPA_REV_2,
		.markers = READ_ONCE(iwp_markers),
		.crc = ep->mpa_rx.crc || iwp_mpa_crc(ep),
		.long_fpdus = !reject && ep->mpa_rx.long_fpdus && iwp_mpa_long_fpdus(ep),
		.reject = reject,
		.enhanced = ep->mpa_rx.enhanced,
		.peer_to_peer = ep->mpa_rx.peer_to_peer,
		.rtr = ep->mpa_rx.rtr & IWARP_RTR_WRITE ?: ep->mpa_rx.rtr & IWARP_RTR_READ,
		.ird = ep->ird,
		.ord = ep->ord,
		.priv_len = len,
	};
	return iwp_mpa_send(ep, priv);
}

/* Returns the number of bytes received, or a negative error number. */
static int iwp_mpa_read(struct iwp_ep *ep, u32 want)
{
	struct msghdr msg = {};
	struct kvec vec = {
		.iov_base = ep->frame + ep->received,
		.iov_len = want - ep->received,
	};
	int got;

	got = kernel_recvmsg(ep->sock, &msg, &vec, 1, vec.iov_len,
			     MSG_DONTWAIT);
	if (!got)
		return -ECONNRESET;
	if (got > 0)
		ep->received += got;
	return got;
}

static int iwp_mpa_read_head(struct iwp_ep *ep, bool reply)
{
	enum iwarp_error bad;
	u32 pd_len;
	int got;

	got = iwp_mpa_read(ep, IWARP_MPA_HDR_LEN);
	if (got < 0)
		return got;
	if (ep->received < IWARP_MPA_HDR_LEN)
		return -EAGAIN;
	bad = iwarp_mpa_parse(ep->frame, reply, &ep->mpa_rx, &pd_len);
	ep->frame_len = IWARP_MPA_HDR_LEN + pd_len;
	return bad ? -EPROTO : 0;
}

/**
 * iwp_mpa_receive() - receive the peer's MPA frame, as far as it has arrived
 * @ep: endpoint
 * @reply: a Reply is expected
 *
 * Does not read beyond the frame: further data is for the queue pair.
 *
 * Return: 0 if the frame is complete, -EAGAIN if not, or another negative error number.
 */
int iwp_mpa_receive(struct iwp_ep *ep, bool reply)
{
	const u8 *pd = ep->frame + IWARP_MPA_HDR_LEN;
	int got;

	if (ep->received < IWARP_MPA_HDR_LEN) {
		got = iwp_mpa_read_head(ep, reply);
		if (got)
			return got;
	}
	while (ep->received < ep->frame_len) {
		got = iwp_mpa_read(ep, ep->frame_len);
		if (got < 0)
			return got;
	}
	if (iwarp_mpa_parse_pd(pd, ep->frame_len - IWARP_MPA_HDR_LEN, &ep->mpa_rx,
			       &ep->priv))
		return -EPROTO;
	return 0;
}

static u16 iwp_mpa_depth(u16 depth)
{
	return depth == IWARP_DEPTH_NO_NEGOTIATION ? IWP_MAX_RD_ATOM :
						     min_t(u16, depth, IWP_MAX_RD_ATOM);
}

/**
 * iwp_mpa_check_request() - evaluate a complete MPA Request
 * @ep: endpoint; its depths are set to the peer's wishes
 *
 * Return: 0, or -EPROTO if the peer requires something unsupported.
 */
int iwp_mpa_check_request(struct iwp_ep *ep)
{
	ep->ird = iwp_mpa_depth(ep->mpa_rx.ord);
	ep->ord = iwp_mpa_depth(ep->mpa_rx.ird);
	if (ep->mpa_rx.enhanced && ep->mpa_rx.peer_to_peer &&
	    !(ep->mpa_rx.rtr & (IWARP_RTR_WRITE | IWARP_RTR_READ)))
		return -EPROTO;
	return 0;
}

/**
 * iwp_mpa_check_reply() - evaluate a complete MPA Reply
 * @ep: endpoint; its depths are set to what both support
 *
 * Return: 0, -ECONNREFUSED if the peer rejects, or -EPROTO if the Reply does not match
 * the Request.
 */
int iwp_mpa_check_reply(struct iwp_ep *ep)
{
	const struct iwarp_mpa *mpa = &ep->mpa_rx;

	if (mpa->reject)
		return -ECONNREFUSED;
	if (ep->mpa_tx.crc && !mpa->crc)
		return -EPROTO;
	if (!mpa->enhanced)
		return 0;
	if (mpa->peer_to_peer && mpa->rtr != IWARP_RTR_WRITE)
		return -EPROTO;
	ep->ord = min(ep->ord, iwp_mpa_depth(mpa->ird));
	/* An ORD above our IRD would end the connection later. */
	if (mpa->ord != IWARP_DEPTH_NO_NEGOTIATION && mpa->ord > ep->ird)
		ep->ird = iwp_mpa_depth(mpa->ord);
	return 0;
}
