// SPDX-License-Identifier: GPL-2.0
/*
 * Encode and decode of every SDP message.  All that comes from the peer is
 * checked here, and refused unless it is known to be right.
 */
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "wire.h"

/* Offsets in the base header. */
#define BSDH_MID		0
#define BSDH_FLAGS		1
#define BSDH_BUFS		2
#define BSDH_LENGTH		4
#define BSDH_MSEQ		8
#define BSDH_MSEQ_ACK		12

/* ModeChange: mode in bits 6:4, half connection in bit 7, the rest is zero. */
#define MCH_MODE_SHIFT		28
#define MCH_MODE_MASK		0x7
#define MCH_HALF		0x80000000U
#define MCH_RESERVED		0x0fffffffU

/* Immediate data in place of a base header: flags, mseq_ack, bufs. */
#define IMM_OOB_PRES		0x80000000U
#define IMM_OOB_PEND		0x40000000U
#define IMM_ACK_SHIFT		16
#define IMM_ACK_MASK		0x3fffU
#define IMM_BUFS_MASK		0xffffU

/**
 * struct sdp_mid_rule - what a message may look like
 * @known: it may be sent once the connection is set up
 * @payload: payload may follow the headers
 * @flags: flags that may be set in the base header
 * @ext_len: length of its extended header
 */
struct sdp_mid_rule {
	bool known;
	bool payload;
	u8 flags;
	u8 ext_len;
};

#define CONTROL(len)	{ true, false, SDP_OOB_PEND, len }
#define AVAIL(len)	{ true, true, SDP_OOB_PEND | SDP_REQ_PIPE, len }

static const struct sdp_mid_rule sdp_mid_rules[256] = {
	[SDP_MID_DISCONN]		= CONTROL(0),
	[SDP_MID_ABORTCONN]		= CONTROL(0),
	[SDP_MID_SENDSM]		= CONTROL(0),
	[SDP_MID_RDMAWRCOMPL]		= CONTROL(SDP_RWCH_LEN),
	[SDP_MID_RDMARDCOMPL]		= CONTROL(SDP_RRCH_LEN),
	[SDP_MID_MODECHANGE]		= CONTROL(SDP_MCH_LEN),
	[SDP_MID_SRCAVAILCANCEL]	= CONTROL(0),
	[SDP_MID_SINKAVAILCANCEL]	= CONTROL(0),
	[SDP_MID_SINKCANCELACK]		= CONTROL(0),
	[SDP_MID_CHRCVBUF]		= CONTROL(SDP_CRBH_LEN),
	[SDP_MID_CHRCVBUFACK]		= CONTROL(SDP_CRBAH_LEN),
	[SDP_MID_SUSPCOMM]		= CONTROL(SDP_SUSPCH_LEN),
	[SDP_MID_SUSPCOMMACK]		= CONTROL(0),
	[SDP_MID_RINGAVAIL]		= CONTROL(SDP_RAVAH_LEN),
	[SDP_MID_RINGSPACE]		= CONTROL(SDP_RSPCH_LEN),
	[SDP_MID_RINGDATA] = {
		true, false, SDP_OOB_PRES | SDP_OOB_PEND, SDP_RDATH_LEN
	},
	[SDP_MID_SINKAVAIL]		= AVAIL(SDP_SINKAH_LEN),
	[SDP_MID_SRCAVAIL]		= AVAIL(SDP_SRCAH_LEN),
	[SDP_MID_DATA] = {
		true, true, SDP_OOB_PRES | SDP_OOB_PEND | SDP_REQ_PIPE, 0
	},
};

/**
 * sdp_bsdh_encode() - write a base header
 * @bsdh: what to write; nothing is checked or filled in
 * @out: where to
 */
void sdp_bsdh_encode(const struct sdp_bsdh *bsdh, u8 out[SDP_BSDH_LEN])
{
	out[BSDH_MID] = bsdh->mid;
	out[BSDH_FLAGS] = bsdh->flags;
	put_unaligned_be16(bsdh->bufs, out + BSDH_BUFS);
	put_unaligned_be32(bsdh->len, out + BSDH_LENGTH);
	put_unaligned_be32(bsdh->mseq, out + BSDH_MSEQ);
	put_unaligned_be32(bsdh->mseq_ack, out + BSDH_MSEQ_ACK);
}

/**
 * sdp_bsdh_decode() - read a base header
 * @buf: the first SDP_BSDH_LEN bytes of a message
 * @bsdh: what they say; nothing is checked
 */
void sdp_bsdh_decode(const u8 *buf, struct sdp_bsdh *bsdh)
{
	bsdh->mid = buf[BSDH_MID];
	bsdh->flags = buf[BSDH_FLAGS];
	bsdh->bufs = get_unaligned_be16(buf + BSDH_BUFS);
	bsdh->len = get_unaligned_be32(buf + BSDH_LENGTH);
	bsdh->mseq = get_unaligned_be32(buf + BSDH_MSEQ);
	bsdh->mseq_ack = get_unaligned_be32(buf + BSDH_MSEQ_ACK);
}

static void sdp_mch_encode(const struct sdp_mch *mch, u8 *buf)
{
	u32 word = (mch->mode & MCH_MODE_MASK) << MCH_MODE_SHIFT;

	put_unaligned_be32(mch->half ? word | MCH_HALF : word, buf);
}

static int sdp_mch_parse(const u8 *buf, struct sdp_mch *mch)
{
	u32 word = get_unaligned_be32(buf);

	mch->mode = word >> MCH_MODE_SHIFT & MCH_MODE_MASK;
	mch->half = word & MCH_HALF;
	if (word & MCH_RESERVED || mch->mode > SDP_MODE_PIPELINED)
		return -EPROTO;
	return 0;
}

static void sdp_srcah_encode(const struct sdp_srcah *srcah, u8 *buf)
{
	put_unaligned_be32(srcah->len, buf);
	put_unaligned_be32(srcah->rkey, buf + 4);
	put_unaligned_be64(srcah->vaddr, buf + 8);
}

static void sdp_sinkah_encode(const struct sdp_sinkah *sinkah, u8 *buf)
{
	put_unaligned_be32(sinkah->size, buf);
	put_unaligned_be32(sinkah->rkey, buf + 4);
	put_unaligned_be64(sinkah->vaddr, buf + 8);
	put_unaligned_be32(sinkah->non_disc, buf + 16);
}

/* Remote memory is at least a byte, and its last byte has an address. */
static bool sdp_range_ok(u64 vaddr, u32 len)
{
	return len && vaddr + (len - 1) >= vaddr;
}

static int sdp_srcah_parse(const u8 *buf, u32 payload_len,
			   struct sdp_srcah *srcah)
{
	srcah->len = get_unaligned_be32(buf);
	srcah->rkey = get_unaligned_be32(buf + 4);
	srcah->vaddr = get_unaligned_be64(buf + 8);
	if (!sdp_range_ok(srcah->vaddr, srcah->len) || payload_len > srcah->len)
		return -EPROTO;
	return 0;
}

static int sdp_sinkah_parse(const u8 *buf, struct sdp_sinkah *sinkah)
{
	sinkah->size = get_unaligned_be32(buf);
	sinkah->rkey = get_unaligned_be32(buf + 4);
	sinkah->vaddr = get_unaligned_be64(buf + 8);
	sinkah->non_disc = get_unaligned_be32(buf + 16);
	return sdp_range_ok(sinkah->vaddr, sinkah->size) ? 0 : -EPROTO;
}

static void sdp_ravah_encode(const struct sdp_ravah *ravah, u8 *buf)
{
	put_unaligned_be32(ravah->size, buf);
	put_unaligned_be32(ravah->piece, buf + 4);
	put_unaligned_be32(ravah->rkey, buf + 8);
	put_unaligned_be64(ravah->vaddr, buf + 12);
}

static int sdp_ravah_parse(const u8 *buf, struct sdp_ravah *ravah)
{
	ravah->size = get_unaligned_be32(buf);
	ravah->piece = get_unaligned_be32(buf + 4);
	ravah->rkey = get_unaligned_be32(buf + 8);
	ravah->vaddr = get_unaligned_be64(buf + 12);
	return sdp_range_ok(ravah->vaddr, ravah->size) ? 0 : -EPROTO;
}

static void sdp_ext_hdr_encode(const struct sdp_msg *msg, u8 *buf)
{
	switch (msg->bsdh.mid) {
	case SDP_MID_RDMAWRCOMPL:
	case SDP_MID_RDMARDCOMPL:
		put_unaligned_be32(msg->rdma_len, buf);
		break;
	case SDP_MID_MODECHANGE:
		sdp_mch_encode(&msg->mch, buf);
		break;
	case SDP_MID_CHRCVBUF:
	case SDP_MID_CHRCVBUFACK:
		put_unaligned_be32(msg->rcv_size, buf);
		break;
	case SDP_MID_SUSPCOMM:
		put_unaligned_be64(msg->service_id, buf);
		break;
	case SDP_MID_RINGAVAIL:
		sdp_ravah_encode(&msg->ravah, buf);
		break;
	case SDP_MID_RINGSPACE:
		put_unaligned_be32(msg->ring_tail, buf);
		break;
	case SDP_MID_RINGDATA:
		put_unaligned_be32(msg->ring_len, buf);
		break;
	case SDP_MID_SINKAVAIL:
		sdp_sinkah_encode(&msg->sinkah, buf);
		break;
	case SDP_MID_SRCAVAIL:
		sdp_srcah_encode(&msg->srcah, buf);
		break;
	}
}

static int sdp_ext_hdr_parse(const u8 *buf, struct sdp_msg *msg)
{
	switch (msg->bsdh.mid) {
	case SDP_MID_RDMAWRCOMPL:
	case SDP_MID_RDMARDCOMPL:
		msg->rdma_len = get_unaligned_be32(buf);
		return msg->rdma_len ? 0 : -EPROTO;
	case SDP_MID_MODECHANGE:
		return sdp_mch_parse(buf, &msg->mch);
	case SDP_MID_CHRCVBUF:
	case SDP_MID_CHRCVBUFACK:
		msg->rcv_size = get_unaligned_be32(buf);
		return sdp_rcv_size_ok(msg->rcv_size) ? 0 : -EPROTO;
	case SDP_MID_SUSPCOMM:
		msg->service_id = get_unaligned_be64(buf);
		return 0;
	case SDP_MID_RINGAVAIL:
		return sdp_ravah_parse(buf, &msg->ravah);
	case SDP_MID_RINGSPACE:
		msg->ring_tail = get_unaligned_be32(buf);
		return 0;
	case SDP_MID_RINGDATA:
		msg->ring_len = get_unaligned_be32(buf);
		return msg->ring_len ? 0 : -EPROTO;
	case SDP_MID_SINKAVAIL:
		return sdp_sinkah_parse(buf, &msg->sinkah);
	case SDP_MID_SRCAVAIL:
		return sdp_srcah_parse(buf, msg->payload_len, &msg->srcah);
	default:
		return 0;
	}
}

/**
 * sdp_msg_encode() - write the headers of a message
 * @msg: the message; @bsdh.len is computed from @payload_len
 * @buf: where to
 * @size: bytes at @buf, SDP_MSG_HDR_MAX suffice for any message
 *
 * Return: length of the base and the extended header, 0 if @size is too small
 * or the message cannot be sent on a connection.
 */
u32 sdp_msg_encode(const struct sdp_msg *msg, u8 *buf, u32 size)
{
	const struct sdp_mid_rule *rule = &sdp_mid_rules[msg->bsdh.mid];
	u32 hdr_len = SDP_BSDH_LEN + rule->ext_len;
	struct sdp_bsdh bsdh = msg->bsdh;

	if (!rule->known || size < hdr_len)
		return 0;
	bsdh.len = hdr_len + msg->payload_len;
	sdp_bsdh_encode(&bsdh, buf);
	sdp_ext_hdr_encode(msg, buf + SDP_BSDH_LEN);
	return hdr_len;
}

static bool sdp_flags_ok(const struct sdp_msg *msg, u8 allowed)
{
	if (msg->bsdh.flags & ~allowed)
		return false;
	/* The urgent byte is the last one of the payload, or of what is announced. */
	return !(msg->bsdh.flags & SDP_OOB_PRES) || msg->payload_len ||
	       msg->bsdh.mid == SDP_MID_RINGDATA;
}

/**
 * sdp_msg_parse() - decode and check a message received on a connection
 * @bsdh: the first SDP_BSDH_LEN bytes
 * @body: the bytes behind them
 * @body_len: how many the device received there
 * @msg: result, undefined on error
 *
 * Hello and HelloAck are refused, they belong to the connection manager's
 * messages.  Sequence numbers and credits are for sdp_credit_receive().
 *
 * Return: 0, or -EPROTO if the message is not right.
 */
int sdp_msg_parse(const u8 *bsdh, const u8 *body, u32 body_len,
		  struct sdp_msg *msg)
{
	const struct sdp_mid_rule *rule;

	sdp_bsdh_decode(bsdh, &msg->bsdh);
	rule = &sdp_mid_rules[msg->bsdh.mid];
	if (!rule->known || body_len < rule->ext_len ||
	    body_len > SDP_RCV_SIZE_MAX - SDP_BSDH_LEN ||
	    msg->bsdh.len != SDP_BSDH_LEN + body_len)
		return -EPROTO;

	msg->payload_off = rule->ext_len;
	msg->payload_len = body_len - rule->ext_len;
	if ((msg->payload_len && !rule->payload) ||
	    !sdp_flags_ok(msg, rule->flags))
		return -EPROTO;
	return sdp_ext_hdr_parse(body, msg);
}

/**
 * sdp_imm_encode() - the base header of data that has none: what is written into
 *	a ring, or needs a packet less without
 * @bsdh: base header of a Data message; sequence number and length go without
 *	saying
 *
 * Return: immediate data.
 */
u32 sdp_imm_encode(const struct sdp_bsdh *bsdh)
{
	u32 imm = bsdh->bufs | (bsdh->mseq_ack & IMM_ACK_MASK) << IMM_ACK_SHIFT;

	if (bsdh->flags & SDP_OOB_PRES)
		imm |= IMM_OOB_PRES;
	if (bsdh->flags & SDP_OOB_PEND)
		imm |= IMM_OOB_PEND;
	return imm;
}

/**
 * sdp_imm_parse() - the message that data without a header stands for
 * @imm: immediate data
 * @len: its bytes
 * @mseq: sequence number of the message before
 * @mseq_ack: what it acknowledged; fewer than 2^14 of ours are in flight
 * @msg: result, a Data message
 */
void sdp_imm_parse(u32 imm, u32 len, u32 mseq, u32 mseq_ack,
		   struct sdp_msg *msg)
{
	u32 acked = ((imm >> IMM_ACK_SHIFT) - mseq_ack) & IMM_ACK_MASK;

	*msg = (struct sdp_msg){
		.bsdh.mid = SDP_MID_DATA,
		.bsdh.bufs = imm & IMM_BUFS_MASK,
		.bsdh.mseq = mseq + 1,
		.bsdh.mseq_ack = mseq_ack + acked,
		.bsdh.len = SDP_BSDH_LEN + len,
		.payload_len = len,
	};
	if (imm & IMM_OOB_PRES)
		msg->bsdh.flags |= SDP_OOB_PRES;
	if (imm & IMM_OOB_PEND)
		msg->bsdh.flags |= SDP_OOB_PEND;
}
