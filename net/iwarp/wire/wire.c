// SPDX-License-Identifier: GPL-2.0
/*
 * Encoding and decoding of DDP and RDMAP headers, and of the messages that the provider
 * itself interprets. Everything from the peer is checked here and refused unless known
 * to be valid; reserved bits are ignored (RFC 5041, section 4.1; RFC 5040, section
 * 4.1).
 */
#include <linux/string.h>
#include <linux/unaligned.h>

#include "msg.h"

/* Offsets of the common fields. */
#define HDR_ULPDU_LENGTH	0
#define HDR_DDP			2
#define HDR_RDMAP		3
/* Tagged header (RFC 5041, section 4.2). */
#define TAGGED_STAG		4
#define TAGGED_TO		8
/* Untagged header (RFC 5041, section 4.3). */
#define UNTAGGED_RSVDULP	4
#define UNTAGGED_QN		8
#define UNTAGGED_MSN		12
#define UNTAGGED_MO		16

#define DDP_TAGGED		0x80
#define DDP_LAST		0x40
#define DDP_VERSION_MASK	0x03
#define DDP_VERSION		1

#define RDMAP_VERSION_SHIFT	6
#define RDMAP_VERSION		1
#define RDMAP_OPCODE_MASK	0x0f

/**
 * struct iwarp_rule - valid segments of an opcode
 * @known: the opcode exists
 * @qn: its queue number, if untagged
 * @min_len: minimum payload length
 * @max_len: maximum payload length
 */
struct iwarp_rule {
	bool known;
	u8 qn;
	u16 min_len;
	u16 max_len;
};

#define DATA(qn)		{ true, qn, 0, 0xffff }
#define CONTROL(qn, min, max)	{ true, qn, min, max }

static const struct iwarp_rule iwarp_rules[RDMAP_OPCODE_MASK + 1] = {
	[IWARP_WRITE]		= DATA(0),
	[IWARP_READ_RESP]	= DATA(0),
	[IWARP_SEND]		= DATA(IWARP_QN_SEND),
	[IWARP_SEND_INV]	= DATA(IWARP_QN_SEND),
	[IWARP_SEND_SE]		= DATA(IWARP_QN_SEND),
	[IWARP_SEND_SE_INV]	= DATA(IWARP_QN_SEND),
	[IWARP_READ_REQ] = CONTROL(IWARP_QN_READ, IWARP_READ_REQ_LEN,
				   IWARP_READ_REQ_LEN),
	[IWARP_TERMINATE] = CONTROL(IWARP_QN_TERMINATE, IWARP_TERMINATE_MIN,
				    IWARP_TERMINATE_MAX),
	[IWARP_IMMEDIATE] = CONTROL(IWARP_QN_SEND, IWARP_IMMEDIATE_LEN,
				    IWARP_IMMEDIATE_LEN),
	[IWARP_IMMEDIATE_SE] = CONTROL(IWARP_QN_SEND, IWARP_IMMEDIATE_LEN,
				       IWARP_IMMEDIATE_LEN),
	[IWARP_ATOMIC_REQ] = CONTROL(IWARP_QN_READ, IWARP_ATOMIC_REQ_LEN,
				     IWARP_ATOMIC_REQ_LEN),
	[IWARP_ATOMIC_RESP] = CONTROL(IWARP_QN_ATOMIC, IWARP_ATOMIC_RESP_LEN,
				      IWARP_ATOMIC_RESP_LEN),
};

/**
 * iwarp_hdr_encode() - encode ULPDU_Length and the headers after it
 * @hdr: header; not checked
 * @buf: buffer
 *
 * Return: number of bytes written.
 */
u32 iwarp_hdr_encode(const struct iwarp_hdr *hdr, u8 buf[IWARP_HDR_MAX])
{
	bool tagged = iwarp_opcode_tagged(hdr->opcode);

	put_unaligned_be16(iwarp_ulpdu_len(hdr), buf + HDR_ULPDU_LENGTH);
	buf[HDR_DDP] = (tagged ? DDP_TAGGED : 0) | (hdr->last ? DDP_LAST : 0) |
		       DDP_VERSION;
	buf[HDR_RDMAP] = RDMAP_VERSION << RDMAP_VERSION_SHIFT | hdr->opcode;
	put_unaligned_be32(hdr->stag, buf + TAGGED_STAG);
	if (tagged) {
		put_unaligned_be64(hdr->to, buf + TAGGED_TO);
		return IWARP_TAGGED_LEN;
	}
	put_unaligned_be32(hdr->qn, buf + UNTAGGED_QN);
	put_unaligned_be32(hdr->msn, buf + UNTAGGED_MSN);
	put_unaligned_be32(hdr->mo, buf + UNTAGGED_MO);
	return IWARP_UNTAGGED_LEN;
}

/**
 * iwarp_hdr_peek_len() - get the length of a header
 * @ctrl: its first bytes
 *
 * Return: length including ULPDU_Length, as needed by iwarp_hdr_parse().
 */
u32 iwarp_hdr_peek_len(const u8 ctrl[IWARP_CTRL_LEN])
{
	return ctrl[HDR_DDP] & DDP_TAGGED ? IWARP_TAGGED_LEN :
					    IWARP_UNTAGGED_LEN;
}

static void iwarp_hdr_decode(const u8 *buf, struct iwarp_hdr *hdr)
{
	memset(hdr, 0, sizeof(*hdr));
	hdr->opcode = buf[HDR_RDMAP] & RDMAP_OPCODE_MASK;
	hdr->last = buf[HDR_DDP] & DDP_LAST;
	if (buf[HDR_DDP] & DDP_TAGGED) {
		hdr->stag = get_unaligned_be32(buf + TAGGED_STAG);
		hdr->to = get_unaligned_be64(buf + TAGGED_TO);
		return;
	}
	/* Reserved, and ignored, with all other opcodes. */
	if (iwarp_opcode_invalidates(hdr->opcode))
		hdr->stag = get_unaligned_be32(buf + UNTAGGED_RSVDULP);
	hdr->qn = get_unaligned_be32(buf + UNTAGGED_QN);
	hdr->msn = get_unaligned_be32(buf + UNTAGGED_MSN);
	hdr->mo = get_unaligned_be32(buf + UNTAGGED_MO);
}

/* DDP's checks of a tagged segment (RFC 5041, section 7.1). */
static enum iwarp_error iwarp_check_tagged(const struct iwarp_hdr *hdr)
{
	if (hdr->to + hdr->payload_len < hdr->to)
		return IWARP_E_TAGGED_WRAP;
	return IWARP_OK;
}

/* DDP's checks of an untagged segment (RFC 5041, section 7.1). */
static enum iwarp_error iwarp_check_untagged(const struct iwarp_hdr *hdr,
					     const struct iwarp_rule *rule)
{
	if (hdr->qn >= IWARP_QN_COUNT)
		return IWARP_E_UNTAGGED_QN;
	if (hdr->qn != rule->qn)
		return IWARP_E_OP_OPCODE;
	if (hdr->mo + hdr->payload_len < hdr->mo)
		return IWARP_E_UNTAGGED_MO;
	if (!iwarp_opcode_control(hdr->opcode))
		return IWARP_OK;
	if (hdr->mo)
		return IWARP_E_UNTAGGED_MO;
	if (hdr->payload_len > rule->max_len)
		return IWARP_E_UNTAGGED_LONG;
	if (hdr->payload_len < rule->min_len || !hdr->last)
		return IWARP_E_DDP_LOCAL;
	return IWARP_OK;
}

/* Checks the DDP and RDMAP versions. */
static enum iwarp_error iwarp_check_version(const u8 *buf)
{
	if ((buf[HDR_DDP] & DDP_VERSION_MASK) != DDP_VERSION)
		return buf[HDR_DDP] & DDP_TAGGED ? IWARP_E_TAGGED_VERSION :
						   IWARP_E_UNTAGGED_VERSION;
	if (buf[HDR_RDMAP] >> RDMAP_VERSION_SHIFT != RDMAP_VERSION)
		return IWARP_E_OP_VERSION;
	return IWARP_OK;
}

/**
 * iwarp_hdr_parse() - parse and check ULPDU_Length and the headers after it
 * @buf: as many bytes as iwarp_hdr_peek_len() says
 * @hdr: filled in as far as the header is known, also after an error
 *
 * An accepted segment has a known opcode that matches its kind of header and its queue
 * number; it is not shorter than its header; its offsets do not wrap; and if it is
 * iwarp_opcode_control(), it is a complete message of valid length, at most
 * %IWARP_CONTROL_MAX. Its order among other messages is checked in order.h.
 *
 * Return: error code or %IWARP_OK.
 */
enum iwarp_error iwarp_hdr_parse(const u8 *buf, struct iwarp_hdr *hdr)
{
	u32 ulpdu_len = get_unaligned_be16(buf + HDR_ULPDU_LENGTH);
	u32 hdr_len = iwarp_hdr_peek_len(buf) - IWARP_ULPDU_LENGTH_LEN;
	bool tagged = buf[HDR_DDP] & DDP_TAGGED;
	enum iwarp_error error;

	iwarp_hdr_decode(buf, hdr);
	/* There is no specific error code for an incomplete header. */
	if (ulpdu_len < hdr_len)
		return IWARP_E_DDP_LOCAL;
	hdr->payload_len = ulpdu_len - hdr_len;
	error = iwarp_check_version(buf);
	if (error)
		return error;
	if (!iwarp_rules[hdr->opcode].known ||
	    tagged != iwarp_opcode_tagged(hdr->opcode))
		return IWARP_E_OP_OPCODE;
	if (tagged)
		return iwarp_check_tagged(hdr);
	return iwarp_check_untagged(hdr, &iwarp_rules[hdr->opcode]);
}

/**
 * iwarp_read_req_encode() - encode the payload of an RDMA Read Request
 * @req: request; not checked
 * @buf: buffer
 */
void iwarp_read_req_encode(const struct iwarp_read_req *req,
			   u8 buf[IWARP_READ_REQ_LEN])
{
	put_unaligned_be32(req->sink_stag, buf);
	put_unaligned_be64(req->sink_to, buf + 4);
	put_unaligned_be32(req->len, buf + 12);
	put_unaligned_be32(req->src_stag, buf + 16);
	put_unaligned_be64(req->src_to, buf + 20);
}

/**
 * iwarp_read_req_parse() - parse the payload of an RDMA Read Request
 * @buf: the payload (RFC 5040, section 4.4)
 * @req: filled in, also after an error
 *
 * Neither range may wrap. The STags of a zero-length request need not be valid (RFC
 * 5040, section 5.2).
 *
 * Return: error code or %IWARP_OK.
 */
enum iwarp_error iwarp_read_req_parse(const u8 buf[IWARP_READ_REQ_LEN],
				      struct iwarp_read_req *req)
{
	req->sink_stag = get_unaligned_be32(buf);
	req->sink_to = get_unaligned_be64(buf + 4);
	req->len = get_unaligned_be32(buf + 12);
	req->src_stag = get_unaligned_be32(buf + 16);
	req->src_to = get_unaligned_be64(buf + 20);
	if (req->src_to + req->len < req->src_to ||
	    req->sink_to + req->len < req->sink_to)
		return IWARP_E_PROT_WRAP;
	return IWARP_OK;
}

/**
 * iwarp_immediate_encode() - encode the payload of immediate data
 * @data: the data
 * @buf: buffer
 */
void iwarp_immediate_encode(u64 data, u8 buf[IWARP_IMMEDIATE_LEN])
{
	put_unaligned_be64(data, buf);
}

/**
 * iwarp_immediate_parse() - parse the payload of immediate data
 * @buf: the payload (RFC 7306, section 6)
 *
 * Return: the data.
 */
u64 iwarp_immediate_parse(const u8 buf[IWARP_IMMEDIATE_LEN])
{
	return get_unaligned_be64(buf);
}
