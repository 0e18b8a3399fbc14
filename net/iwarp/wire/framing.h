/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From the bytes of a TCP stream to segments of DDP: takes FPDUs apart, with
 * and without markers and checksums (RFC 5044, section 6), in order or ahead
 * of a hole in the stream.  What becomes of a segment is up to the owner.
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

/* CRC32C before the first byte; the end is its complement, little-endian. */
#define IWARP_CRC_SEED		0xffffffffU

/* Write the checksum behind an FPDU (RFC 5044, section 4.4). */
static inline void iwarp_crc_encode(u32 crc, u8 out[IWARP_CRC_LEN])
{
	put_unaligned_le32(~crc, out);
}

/* Whether the checksum behind an FPDU is right. */
static inline bool iwarp_crc_ok(u32 crc, const u8 trailer[IWARP_CRC_LEN])
{
	return get_unaligned_le32(trailer) == (u32)~crc;
}

/**
 * struct iwarp_source - where bytes of the stream are: an skb, memory
 * @copy: copy some; they are known to be there
 * @crc: CRC32C of some, continued from @crc
 * @ctx: whatever these need
 * @linear: where offset 0 would be, if all that is fed lies together in memory, or
 *	NULL
 *
 * Offsets are the source's own: only their differences matter.  A source of
 * payload, as @data of struct iwarp_rx_ops gets it, has no @crc.
 */
struct iwarp_source {
	void (*copy)(const struct iwarp_source *src, u32 off, void *to,
		     u32 len);
	u32 (*crc)(const struct iwarp_source *src, u32 off, u32 len, u32 crc);
	const void *ctx;
	const u8 *linear;
};

/* Some bytes of a header, of which the compiler knows how many they are. */
static inline void iwarp_source_peek(const struct iwarp_source *src, u32 off,
				     void *to, u32 len)
{
	if (src->linear)
		memcpy(to, src->linear + off, len);
	else
		src->copy(src, off, to, len);
}

/* What to do with a segment; any enum iwarp_error ends the stream instead. */
enum iwarp_rx_verdict {
	IWARP_RX_GO,	/* place it */
	IWARP_RX_SKIP,	/* its payload is not wanted: it was placed before */
	IWARP_RX_HOLD,	/* not yet: take no more of the stream */
};

struct iwarp_rx;

/**
 * struct iwarp_rx_ops - what becomes of a segment
 * @begin: its header is in @rx->hdr, checked by iwarp_hdr_parse(); returns
 *	enum iwarp_rx_verdict or enum iwarp_error.  After %IWARP_RX_HOLD it is
 *	asked again as soon as more is fed.
 * @data: place some payload: @len bytes at @off of @src, which are at @at of
 *	the segment's payload; returns %IWARP_OK or what is wrong.  Not called
 *	for iwarp_opcode_control(), whose payload goes to @rx->fpdu.
 * @end: the segment is complete and its checksum is right: now it may take
 *	effect; returns %IWARP_OK or what is wrong.  @rx->skip tells whether
 *	the payload was skipped, and then nothing was verified.
 *
 * If all of an FPDU is fed at once, as it is with segments of TCP that carry
 * one each, it is verified before @data is called, and that once for all of
 * the payload, markers or not.  Otherwise payload of a
 * damaged FPDU may be placed; but @end is never called for it.
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
 * struct iwarp_rx - an FPDU that is being received
 * @ops: what becomes of it
 * @interval: distance of the markers in the stream, or %IWARP_NO_MARKERS
 * @use_crc: checksums are in use
 * @error: what ended the stream; nothing more is taken then
 * @pos: position of the next byte
 * @start: position where the FPDU begins
 * @end: position behind it; known from the state %IWARP_RX_BEGIN on
 * @hdr: its header; likewise
 * @fpdu: its header as it came, and behind it the payload, if it is one of
 *	iwarp_opcode_control()
 * @fpdu_len: how much of @fpdu there is
 * @done: bytes of payload, padding or trailer that were taken, of the state
 * @skip: its payload is not wanted
 * @verified: markers and checksum are known to be right
 * @state: enum iwarp_rx_state
 * @marker_len: how much of @marker there is
 * @crc: checksum so far
 * @marker: a marker that came in pieces
 * @trailer: the checksum that came with it
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

/* Payload of a segment that is one of iwarp_opcode_control(). */
static inline const u8 *iwarp_rx_control(const struct iwarp_rx *rx)
{
	return rx->fpdu + IWARP_UNTAGGED_LEN;
}

/* Whether the next byte begins an FPDU: a good place for the stream to end. */
static inline bool iwarp_rx_idle(const struct iwarp_rx *rx)
{
	return rx->pos == rx->start;
}

void iwarp_rx_init(struct iwarp_rx *rx, const struct iwarp_rx_ops *ops,
		   u32 interval, bool use_crc, u32 pos);
u32 iwarp_rx_feed(struct iwarp_rx *rx, const struct iwarp_source *src, u32 off,
		  u32 len);

/* framing_ooo.c */
bool iwarp_sync(const struct iwarp_source *src, u32 interval, u32 pos, u32 len,
		u32 *start);
u32 iwarp_rx_early(struct iwarp_rx *rx, const struct iwarp_placed *placed,
		   const struct iwarp_source *src, u32 pos, u32 len, u32 at,
		   u32 budget);

#endif /* _IWARP_FRAMING_H */
