/* SPDX-License-Identifier: GPL-2.0 */
/*
 * MPA's receiver: parses FPDUs of a TCP stream into DDP segments, with and without
 * markers and checksums (RFC 5044, section 6), in order or ahead of a hole in the
 * stream. The owner decides what becomes of a segment.
 *
 * Pure: also compiled in user space by the unit tests and the fuzzers.
 * Documentation/protocol/iwarp.rst explains it.
 */
#ifndef _IWARP_FRAMING_H
#define _IWARP_FRAMING_H

#include <linux/string.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include "marker.h"
#include "place.h"
#include "msg.h"

/* Initial CRC32C; the final value is complemented, little-endian. */
#define IWARP_CRC_SEED		0xffffffffU

/* Writes the trailing CRC of an FPDU (RFC 5044, section 4.4). */
static inline void iwarp_crc_encode(u32 crc, u8 out[IWARP_CRC_LEN])
{
	put_unaligned_le32(~crc, out);
}

/* Whether the trailing CRC of an FPDU is correct. */
static inline bool iwarp_crc_ok(u32 crc, const u8 trailer[IWARP_CRC_LEN])
{
	return get_unaligned_le32(trailer) == (u32)~crc;
}

/* What becomes of contiguous bytes of a source. */
typedef void (*iwarp_piece_fn)(void *arg, const u8 *data, u32 len);

/**
 * struct iwarp_source - source of stream bytes: an skb, memory
 * @copy: copies bytes, which must exist
 * @crc: CRC32C of bytes, continued from @crc
 * @pieces: calls @piece for each contiguous part of such bytes, in order; or NULL
 * @contiguous: returns the address of such bytes, or NULL if they are not; or NULL
 * @ctx: argument of all
 * @linear: address of offset 0 if all bytes that are fed are contiguous, or NULL
 *
 * Only differences of offsets matter. A source of payload, as @data of struct
 * iwarp_rx_ops gets it, has no @crc, and no @pieces if it is without its markers.
 */
struct iwarp_source {
	void (*copy)(const struct iwarp_source *src, u32 off, void *to,
		     u32 len);
	u32 (*crc)(const struct iwarp_source *src, u32 off, u32 len, u32 crc);
	void (*pieces)(const struct iwarp_source *src, u32 off, u32 len, iwarp_piece_fn piece,
		       void *arg);
	const u8 *(*contiguous)(const struct iwarp_source *src, u32 off, u32 len);
	const void *ctx;
	const u8 *linear;
};

/* Copies bytes of a header; the length is a compile-time constant. */
static inline void iwarp_source_peek(const struct iwarp_source *src, u32 off,
				     void *to, u32 len)
{
	if (src->linear)
		memcpy(to, src->linear + off, len);
	else
		src->copy(src, off, to, len);
}

/* Verdict on a segment; an enum iwarp_error instead ends the stream. */
enum iwarp_rx_verdict {
	IWARP_RX_GO,	/* place its payload */
	IWARP_RX_SKIP,	/* skip its payload: it was placed before */
	IWARP_RX_HOLD,	/* not yet: consume no more of the stream */
};

struct iwarp_rx;

/**
 * struct iwarp_rx_ops - the owner's handling of segments
 * @begin: called with the header in @rx->hdr, checked by iwarp_hdr_parse(); returns
 *	enum iwarp_rx_verdict or enum iwarp_error. Called again after %IWARP_RX_HOLD
 *	when more is fed.
 * @data: place @len bytes of payload at @off of @src, which are at @at of the segment's
 *	payload; returns %IWARP_OK or an error. Not called for iwarp_opcode_control(),
 *	whose payload is copied to @rx->fpdu.
 * @end: deliver the segment: it is complete and its checksum is correct; returns
 *	%IWARP_OK or an error. With @rx->skip the payload was skipped, and nothing was
 *	verified.
 *
 * If all of an FPDU is fed at once, as with one FPDU in each TCP segment, it is
 * verified before @data is called, which is called once for all of the payload, with or
 * without markers. Otherwise payload of a damaged FPDU may be placed, but @end is never
 * called for it.
 */
struct iwarp_rx_ops {
	u32 (*begin)(struct iwarp_rx *rx);
	enum iwarp_error (*data)(struct iwarp_rx *rx,
				 const struct iwarp_source *src, u32 off,
				 u32 len, u32 at);
	enum iwarp_error (*end)(struct iwarp_rx *rx);
};

enum iwarp_rx_state {
	IWARP_RX_HEADER,
	IWARP_RX_BEGIN,
	IWARP_RX_PAYLOAD,
	IWARP_RX_PAD,
	IWARP_RX_TRAILER,
};

/**
 * struct iwarp_rx - state of the FPDU that is being received
 * @ops: the owner's operations
 * @interval: marker interval of the stream, or %IWARP_NO_MARKERS
 * @use_crc: checksums are in use
 * @error: error that ended the stream; nothing more is consumed then
 * @pos: position of the next byte
 * @start: position of the FPDU
 * @end: position after the FPDU; valid from %IWARP_RX_BEGIN on
 * @hdr: its header; likewise
 * @fpdu: its raw header, and the payload if it is iwarp_opcode_control()
 * @fpdu_len: bytes in @fpdu
 * @done: bytes of payload, padding or trailer consumed, according to @state
 * @skip: skip its payload
 * @verified: markers and checksum were verified in advance
 * @state: enum iwarp_rx_state
 * @marker_len: bytes in @marker
 * @crc: checksum so far
 * @marker: a marker that arrived in parts
 * @trailer: the received checksum
 */
struct iwarp_rx {
	const struct iwarp_rx_ops *ops;
	u32 interval;
	bool use_crc;
	enum iwarp_error error;
	u32 pos;
	u32 start;
	u32 end;
	struct iwarp_hdr hdr;
	u8 fpdu[IWARP_HDR_MAX + IWARP_CONTROL_MAX];
	u32 fpdu_len;
	u32 done;
	bool skip;
	bool verified;
	u8 state;
	u8 marker_len;
	u32 crc;
	u8 marker[IWARP_MARKER_LEN];
	u8 trailer[IWARP_CRC_LEN];
};

/* Payload of an iwarp_opcode_control() segment. */
static inline const u8 *iwarp_rx_control(const struct iwarp_rx *rx)
{
	return rx->fpdu + IWARP_UNTAGGED_LEN;
}

/* Whether the stream is at an FPDU boundary, where it may end. */
static inline bool iwarp_rx_idle(const struct iwarp_rx *rx)
{
	return rx->pos == rx->start;
}

void iwarp_rx_init(struct iwarp_rx *rx, const struct iwarp_rx_ops *ops,
		   u32 interval, bool use_crc, u32 pos);
u32 iwarp_rx_feed(struct iwarp_rx *rx, const struct iwarp_source *src, u32 off,
		  u32 len);

/* framing_ooo.c */
/* Bytes that an FPDU counts for at least, because its header has to be parsed. */
#define IWARP_EARLY_COST	1024U
bool iwarp_sync(const struct iwarp_source *src, u32 interval, u32 pos, u32 len,
		u32 *start);
u32 iwarp_rx_early(struct iwarp_rx *rx, const struct iwarp_placed *placed,
		   const struct iwarp_source *src, u32 pos, u32 len, u32 at,
		   u32 budget);

#endif /* _IWARP_FRAMING_H */
