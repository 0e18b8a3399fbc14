// SPDX-License-Identifier: GPL-2.0
/* Terminate messages (RFC 5040, section 4.8). */
#include <linux/string.h>
#include <linux/unaligned.h>

#include "msg.h"

/* Terminate Control: layer and type, code, flags of what follows. */
#define TERM_LAYER_TYPE		0
#define TERM_CODE		1
#define TERM_HDRCT		2
#define TERM_LEN		IWARP_TERMINATE_MIN

#define HDRCT_LEN		0x80
#define HDRCT_DDP		0x40
#define HDRCT_RDMAP		0x20

/* Lengths of DDP headers without ULPDU_Length. */
#define DDP_TAGGED_LEN		(IWARP_TAGGED_LEN - IWARP_ULPDU_LENGTH_LEN)
#define DDP_UNTAGGED_LEN	(IWARP_UNTAGGED_LEN - IWARP_ULPDU_LENGTH_LEN)

/* Whether the error has a segment whose header is valid. */
static bool iwarp_error_has_segment(enum iwarp_error error)
{
	switch (error) {
	case IWARP_E_RDMAP_LOCAL:
	case IWARP_E_DDP_LOCAL:
	case IWARP_E_TAGGED_VERSION:
	case IWARP_E_UNTAGGED_VERSION:
		return false;
	default:
		return iwarp_error_layer(error) != 2;
	}
}

/**
 * iwarp_terminate_encode() - encode the payload of a Terminate
 * @error: error code, not %IWARP_OK
 * @fpdu: the segment in error, from ULPDU_Length on, without markers; with its payload
 *	if it is an RDMA Read Request
 * @len: bytes of it that are known; 0 if the error is not about a segment
 * @buf: buffer
 *
 * The segment's length, its header, and an RDMA Read Request's payload are quoted, but
 * not after an error of MPA, a local catastrophic error, or an unknown DDP version,
 * where the header is not valid.
 *
 * Return: length of the payload.
 */
u32 iwarp_terminate_encode(enum iwarp_error error, const u8 *fpdu, u32 len,
			   u8 buf[IWARP_TERMINATE_MAX])
{
	u32 hdr_len;

	memset(buf, 0, TERM_LEN);
	buf[TERM_LAYER_TYPE] = iwarp_error_layer(error) << 4 |
			       iwarp_error_type(error);
	buf[TERM_CODE] = iwarp_error_code(error);
	if (len < IWARP_CTRL_LEN || !iwarp_error_has_segment(error))
		return TERM_LEN;
	hdr_len = iwarp_hdr_peek_len(fpdu);
	if (len < hdr_len)
		return TERM_LEN;
	buf[TERM_HDRCT] = HDRCT_LEN | HDRCT_DDP;
	if (hdr_len == IWARP_UNTAGGED_LEN &&
	    (fpdu[IWARP_CTRL_LEN - 1] & 0xf) == IWARP_READ_REQ &&
	    len >= IWARP_UNTAGGED_LEN + IWARP_READ_REQ_LEN) {
		buf[TERM_HDRCT] |= HDRCT_RDMAP;
		hdr_len += IWARP_READ_REQ_LEN;
	}
	memcpy(buf + TERM_LEN, fpdu, hdr_len);
	return TERM_LEN + hdr_len;
}

/* Parses the quoted header, without ULPDU_Length; returns its length. */
static u32 iwarp_terminate_hdr(const u8 *buf, u32 len,
			       struct iwarp_terminate *term)
{
	u8 hdr[IWARP_HDR_MAX] = { 0 };
	u32 hdr_len;

	if (len < DDP_TAGGED_LEN)
		return 0;
	memcpy(hdr + IWARP_ULPDU_LENGTH_LEN, buf, 2);
	hdr_len = iwarp_hdr_peek_len(hdr);
	if (len < hdr_len - IWARP_ULPDU_LENGTH_LEN)
		return 0;
	put_unaligned_be16(term->seg_len, hdr);
	memcpy(hdr + IWARP_ULPDU_LENGTH_LEN, buf,
	       hdr_len - IWARP_ULPDU_LENGTH_LEN);
	/* It often quotes an invalid header. */
	iwarp_hdr_parse(hdr, &term->hdr);
	return hdr_len - IWARP_ULPDU_LENGTH_LEN;
}

/**
 * iwarp_terminate_parse() - parse the payload of a Terminate
 * @buf: the payload
 * @len: its length, at least %IWARP_TERMINATE_MIN
 * @term: filled in
 *
 * The peer ends the connection in any case: so the payload is parsed as far as
 * possible, and what it quotes is not checked.
 *
 * Return: the peer's error code, never %IWARP_OK.
 */
enum iwarp_error iwarp_terminate_parse(const u8 *buf, u32 len,
				       struct iwarp_terminate *term)
{
	u32 at = TERM_LEN, hdr_len;

	memset(term, 0, sizeof(*term));
	term->error = IWARP_ERROR(buf[TERM_LAYER_TYPE] >> 4,
				  buf[TERM_LAYER_TYPE] & 0xf, buf[TERM_CODE]);
	if (buf[TERM_HDRCT] & HDRCT_LEN && len - at >= 2) {
		term->has_len = true;
		term->seg_len = get_unaligned_be16(buf + at);
		at += 2;
	}
	if (!(buf[TERM_HDRCT] & HDRCT_DDP))
		return term->error;
	hdr_len = iwarp_terminate_hdr(buf + at, len - at, term);
	term->has_hdr = hdr_len;
	at += hdr_len;
	if (term->has_hdr && buf[TERM_HDRCT] & HDRCT_RDMAP &&
	    len - at >= IWARP_READ_REQ_LEN) {
		term->has_read = true;
		iwarp_read_req_parse(buf + at, &term->read);
	}
	return term->error;
}
