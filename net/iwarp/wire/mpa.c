// SPDX-License-Identifier: GPL-2.0
/* MPA Request and Reply frames (RFC 5044, section 7.1; IRD, ORD and RTR: RFC 6581). */
#include <linux/string.h>
#include <linux/unaligned.h>

#include "msg.h"

#define MPA_KEY_LEN		16
#define MPA_FLAGS		16
#define MPA_REV			17
#define MPA_PD_LENGTH		18

#define MPA_MARKERS		0x80
#define MPA_CRC			0x40
#define MPA_REJECT		0x20
#define MPA_ENHANCED		0x10
/*
 * A flag that the standards reserve, so that it is ignored. Only siw may use it, for the
 * same, if it is built so; else it repeats it in its Reply, and takes FPDUs of any length.
 */
#define MPA_LONG_FPDUS		0x08

/* IRD and ORD: two flags each above 14 bits of depth. */
#define IRD_PEER_TO_PEER	0x8000
#define IRD_RTR_SEND		0x4000
#define ORD_RTR_WRITE		0x8000
#define ORD_RTR_READ		0x4000
#define DEPTH_MASK		0x3fff

static const char iwarp_mpa_key_req[] = "MPA ID Req Frame";
static const char iwarp_mpa_key_rep[] = "MPA ID Rep Frame";

static void iwarp_mpa_encode_depths(const struct iwarp_mpa *mpa, u8 *buf)
{
	u16 ird = mpa->ird & DEPTH_MASK;
	u16 ord = mpa->ord & DEPTH_MASK;

	if (mpa->peer_to_peer)
		ird |= IRD_PEER_TO_PEER;
	if (mpa->rtr & IWARP_RTR_SEND)
		ird |= IRD_RTR_SEND;
	if (mpa->rtr & IWARP_RTR_WRITE)
		ord |= ORD_RTR_WRITE;
	if (mpa->rtr & IWARP_RTR_READ)
		ord |= ORD_RTR_READ;
	put_unaligned_be16(ird, buf);
	put_unaligned_be16(ord, buf + 2);
}

static u8 iwarp_mpa_flags(const struct iwarp_mpa *mpa)
{
	return (mpa->markers ? MPA_MARKERS : 0) | (mpa->crc ? MPA_CRC : 0) |
	       (mpa->reject ? MPA_REJECT : 0) | (mpa->long_fpdus ? MPA_LONG_FPDUS : 0) |
	       (mpa->enhanced ? MPA_ENHANCED : 0);
}

/**
 * iwarp_mpa_encode() - encode an MPA Request or Reply
 * @mpa: contents
 * @priv: @mpa->priv_len bytes of private data
 * @buf: buffer
 * @size: its size; %IWARP_MPA_FRAME_MAX is always enough
 *
 * Return: length of the frame, or 0 if the private data is too long for it or for @buf.
 */
u32 iwarp_mpa_encode(const struct iwarp_mpa *mpa, const u8 *priv, u8 *buf,
		     u32 size)
{
	u32 depths = mpa->enhanced ? IWARP_MPA_DEPTHS_LEN : 0;
	u32 pd_len = depths + mpa->priv_len;

	if (pd_len > IWARP_MPA_PD_MAX || IWARP_MPA_HDR_LEN + pd_len > size)
		return 0;
	memcpy(buf, mpa->reply ? iwarp_mpa_key_rep : iwarp_mpa_key_req,
	       MPA_KEY_LEN);
	buf[MPA_FLAGS] = iwarp_mpa_flags(mpa);
	buf[MPA_REV] = mpa->rev;
	put_unaligned_be16(pd_len, buf + MPA_PD_LENGTH);
	if (mpa->enhanced)
		iwarp_mpa_encode_depths(mpa, buf + IWARP_MPA_HDR_LEN);
	if (mpa->priv_len)
		memcpy(buf + IWARP_MPA_HDR_LEN + depths, priv, mpa->priv_len);
	return IWARP_MPA_HDR_LEN + pd_len;
}

/**
 * iwarp_mpa_parse() - parse the fixed part of an MPA Request or Reply
 * @hdr: the fixed part
 * @reply: a Reply is expected
 * @mpa: filled in; @rev is 0 unless the key is correct
 * @pd_len: length of the private data that follows, at most %IWARP_MPA_PD_MAX
 *
 * For an unknown revision @mpa is filled in, too, as that is answered by a Reply with our
 * own revision and the reject flag (RFC 5044, section 7.1). Other flags are ignored.
 *
 * Return: %IWARP_OK, or %IWARP_E_MPA_FRAME if the key, the revision or the length is
 * wrong.
 */
enum iwarp_error iwarp_mpa_parse(const u8 hdr[IWARP_MPA_HDR_LEN], bool reply,
				 struct iwarp_mpa *mpa, u32 *pd_len)
{
	const char *key = reply ? iwarp_mpa_key_rep : iwarp_mpa_key_req;

	memset(mpa, 0, sizeof(*mpa));
	*pd_len = 0;
	if (memcmp(hdr, key, MPA_KEY_LEN))
		return IWARP_E_MPA_FRAME;
	mpa->reply = reply;
	mpa->rev = hdr[MPA_REV];
	mpa->markers = hdr[MPA_FLAGS] & MPA_MARKERS;
	mpa->crc = hdr[MPA_FLAGS] & MPA_CRC;
	mpa->long_fpdus = hdr[MPA_FLAGS] & MPA_LONG_FPDUS;
	mpa->reject = reply && hdr[MPA_FLAGS] & MPA_REJECT;
	mpa->enhanced = mpa->rev == IWARP_MPA_REV_2 &&
			hdr[MPA_FLAGS] & MPA_ENHANCED;
	if (mpa->rev != IWARP_MPA_REV_1 && mpa->rev != IWARP_MPA_REV_2)
		return IWARP_E_MPA_FRAME;
	if (get_unaligned_be16(hdr + MPA_PD_LENGTH) > IWARP_MPA_PD_MAX)
		return IWARP_E_MPA_FRAME;
	*pd_len = get_unaligned_be16(hdr + MPA_PD_LENGTH);
	return IWARP_OK;
}

/**
 * iwarp_mpa_parse_pd() - parse the private data of an MPA Request or Reply
 * @pd: private data
 * @pd_len: its length, from iwarp_mpa_parse()
 * @mpa: filled by iwarp_mpa_parse(); completed
 * @priv: set to the consumer's private data, @mpa->priv_len bytes
 *
 * Return: %IWARP_OK, or %IWARP_E_MPA_FRAME if it is too short.
 */
enum iwarp_error iwarp_mpa_parse_pd(const u8 *pd, u32 pd_len,
				    struct iwarp_mpa *mpa, const u8 **priv)
{
	u16 ird, ord;

	*priv = pd;
	mpa->priv_len = pd_len;
	mpa->ird = IWARP_DEPTH_NO_NEGOTIATION;
	mpa->ord = IWARP_DEPTH_NO_NEGOTIATION;
	if (!mpa->enhanced)
		return IWARP_OK;
	if (pd_len < IWARP_MPA_DEPTHS_LEN)
		return IWARP_E_MPA_FRAME;
	ird = get_unaligned_be16(pd);
	ord = get_unaligned_be16(pd + 2);
	mpa->ird = ird & DEPTH_MASK;
	mpa->ord = ord & DEPTH_MASK;
	mpa->peer_to_peer = ird & IRD_PEER_TO_PEER;
	mpa->rtr = (ird & IRD_RTR_SEND ? IWARP_RTR_SEND : 0) |
		   (ord & ORD_RTR_WRITE ? IWARP_RTR_WRITE : 0) |
		   (ord & ORD_RTR_READ ? IWARP_RTR_READ : 0);
	*priv = pd + IWARP_MPA_DEPTHS_LEN;
	mpa->priv_len = pd_len - IWARP_MPA_DEPTHS_LEN;
	return IWARP_OK;
}
