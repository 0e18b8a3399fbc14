// SPDX-License-Identifier: GPL-2.0
/*
 * Parser of FPDUs. The stream is fed in parts of any length, so every step below
 * consumes what there is of one field and remembers its progress. Everything is aligned
 * to four bytes from the start of the stream: so a marker can be between any two
 * fields, and inside the header and the payload, but it splits neither ULPDU_Length nor
 * the checksum.
 */
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "framing.h"

static void iwarp_rx_next(struct iwarp_rx *rx)
{
	rx->start = rx->pos;
	rx->state = IWARP_RX_HEADER;
	rx->fpdu_len = 0;
	rx->done = 0;
	rx->skip = false;
	rx->verified = false;
	rx->crc = IWARP_CRC_SEED;
}

/**
 * iwarp_rx_init() - initialize a receiver
 * @rx: receiver
 * @ops: the owner's operations
 * @interval: marker interval of the stream, or %IWARP_NO_MARKERS
 * @use_crc: checksums are in use; if not they are ignored
 * @pos: position of the first byte that will be fed, where an FPDU starts
 */
void iwarp_rx_init(struct iwarp_rx *rx, const struct iwarp_rx_ops *ops,
		   u32 interval, bool use_crc, u32 pos)
{
	memset(rx, 0, sizeof(*rx));
	rx->ops = ops;
	rx->interval = interval;
	rx->use_crc = use_crc;
	rx->pos = pos;
	iwarp_rx_next(rx);
}

static u32 iwarp_rx_fail(struct iwarp_rx *rx, enum iwarp_error error)
{
	rx->error = error;
	return 0;
}

/* Whether to compute the checksum of the following bytes. */
static bool iwarp_rx_wants_crc(const struct iwarp_rx *rx)
{
	return rx->use_crc && !rx->skip;
}

/*
 * Consumes bytes that the checksum covers, and copies them to @to if that is not NULL.
 */
static u32 iwarp_rx_take(struct iwarp_rx *rx, const struct iwarp_source *src,
			 u32 off, u32 len, u8 *to)
{
	if (to)
		src->copy(src, off, to, len);
	if (iwarp_rx_wants_crc(rx))
		rx->crc = src->crc(src, off, len, rx->crc);
	rx->pos += len;
	return len;
}

/* FPDUPTR must point to the FPDU's start. */
static bool iwarp_rx_marker_ok(const struct iwarp_rx *rx,
			       const u8 marker[IWARP_MARKER_LEN], u32 pos)
{
	return iwarp_marker_parse(marker) ==
	       iwarp_marker_fpduptr(rx->interval, rx->start, pos);
}

static u32 iwarp_rx_take_marker(struct iwarp_rx *rx,
				const struct iwarp_source *src, u32 off,
				u32 len)
{
	u32 pos = rx->pos - rx->marker_len;

	len = min_t(u32, len, IWARP_MARKER_LEN - rx->marker_len);
	iwarp_rx_take(rx, src, off, len, rx->marker + rx->marker_len);
	rx->marker_len += len;
	if (rx->marker_len < IWARP_MARKER_LEN)
		return len;
	rx->marker_len = 0;
	if (!iwarp_rx_marker_ok(rx, rx->marker, pos))
		return iwarp_rx_fail(rx, IWARP_E_MPA_MARKER);
	return len;
}

static enum iwarp_error iwarp_rx_verify_markers(const struct iwarp_rx *rx,
						const struct iwarp_source *src,
						u32 off)
{
	u8 marker[IWARP_MARKER_LEN];
	u32 at;

	if (!rx->interval)
		return IWARP_OK;
	for (at = iwarp_marker_dist(rx->interval, rx->pos);
	     at < rx->end - rx->pos; at += rx->interval) {
		iwarp_source_peek(src, off + at, marker, sizeof(marker));
		if (!iwarp_rx_marker_ok(rx, marker, rx->pos + at))
			return IWARP_E_MPA_MARKER;
	}
	return IWARP_OK;
}

static enum iwarp_error iwarp_rx_verify_rest(struct iwarp_rx *rx,
					     const struct iwarp_source *src,
					     u32 off, u32 rest)
{
	u8 trailer[IWARP_CRC_LEN];
	u32 crc;

	if (rx->use_crc) {
		crc = src->crc(src, off, rest, rx->crc);
		iwarp_source_peek(src, off + rest, trailer, sizeof(trailer));
		if (!iwarp_crc_ok(crc, trailer))
			return IWARP_E_MPA_CRC;
	}
	return iwarp_rx_verify_markers(rx, src, off);
}

/* Verifies the rest of the FPDU if all of it has arrived. */
static enum iwarp_error iwarp_rx_verify(struct iwarp_rx *rx,
					const struct iwarp_source *src,
					u32 off, u32 len)
{
	u32 rest = rx->end - rx->pos - IWARP_CRC_LEN;

	if (len < rest + IWARP_CRC_LEN || rx->marker_len)
		return IWARP_OK;
	rx->verified = true;
	if (!rx->use_crc && !rx->interval)
		return IWARP_OK;
	return iwarp_rx_verify_rest(rx, src, off, rest);
}

/* Reports the header's error, or a wrong checksum instead. */
static u32 iwarp_rx_bad_header(struct iwarp_rx *rx, enum iwarp_error error,
			       const struct iwarp_source *src, u32 off, u32 len)
{
	if (rx->use_crc && (s32)(rx->end - rx->pos) >= IWARP_CRC_LEN &&
	    iwarp_rx_verify(rx, src, off, len) == IWARP_E_MPA_CRC)
		error = IWARP_E_MPA_CRC;
	return iwarp_rx_fail(rx, error);
}

/* Returns the number of bytes consumed; sets @whole when the header is complete. */
static u32 iwarp_rx_copy_header(struct iwarp_rx *rx,
				const struct iwarp_source *src, u32 off,
				u32 len, bool *whole)
{
	u32 need = IWARP_CTRL_LEN;

	if (!rx->fpdu_len && len >= IWARP_HDR_MAX) {
		/* May copy more than the header. */
		iwarp_source_peek(src, off, rx->fpdu, IWARP_HDR_MAX);
		len = iwarp_hdr_peek_len(rx->fpdu);
		rx->fpdu_len = len;
		*whole = true;
		return iwarp_rx_take(rx, src, off, len, NULL);
	}
	if (rx->fpdu_len >= IWARP_CTRL_LEN)
		need = iwarp_hdr_peek_len(rx->fpdu);
	len = iwarp_rx_take(rx, src, off, min(len, need - rx->fpdu_len),
			    rx->fpdu + rx->fpdu_len);
	rx->fpdu_len += len;
	*whole = rx->fpdu_len > IWARP_CTRL_LEN &&
		 rx->fpdu_len == iwarp_hdr_peek_len(rx->fpdu);
	return len;
}

static u32 iwarp_rx_take_header(struct iwarp_rx *rx,
				const struct iwarp_source *src, u32 off,
				u32 len)
{
	enum iwarp_error error;
	bool whole;
	u32 taken;

	taken = iwarp_rx_copy_header(rx, src, off, len, &whole);
	if (!whole)
		return taken;
	rx->end = rx->start +
		  iwarp_fpdu_wire_len(rx->interval, rx->start,
				      get_unaligned_be16(rx->fpdu));
	error = iwarp_hdr_parse(rx->fpdu, &rx->hdr);
	if (error)
		return iwarp_rx_bad_header(rx, error, src, off + taken,
					   len - taken);
	rx->state = IWARP_RX_BEGIN;
	return taken;
}

/* Asks the owner; returns whether to continue. */
static bool iwarp_rx_begin(struct iwarp_rx *rx, const struct iwarp_source *src,
			   u32 off, u32 len)
{
	u32 verdict = rx->ops->begin(rx);

	if (verdict == IWARP_RX_HOLD)
		return false;
	rx->skip = verdict == IWARP_RX_SKIP;
	if (verdict == IWARP_RX_GO)
		verdict = iwarp_rx_verify(rx, src, off, len);
	if (verdict > IWARP_RX_HOLD)
		return iwarp_rx_fail(rx, verdict);
	rx->state = IWARP_RX_PAYLOAD;
	return true;
}

static u32 iwarp_rx_take_payload(struct iwarp_rx *rx,
				 const struct iwarp_source *src, u32 off,
				 u32 len)
{
	enum iwarp_error error = IWARP_OK;
	u8 *to = NULL;

	len = min(len, rx->hdr.payload_len - rx->done);
	if (iwarp_opcode_control(rx->hdr.opcode)) {
		to = rx->fpdu + rx->fpdu_len;
		rx->fpdu_len += len;
	} else if (!rx->skip) {
		error = rx->ops->data(rx, src, off, len, rx->done);
	}
	if (error)
		return iwarp_rx_fail(rx, error);
	rx->done += len;
	return iwarp_rx_take(rx, src, off, len, to);
}

/* Payload without its markers, as a source within another. */
struct iwarp_unmarked {
	struct iwarp_source src;
	const struct iwarp_source *marked;
	u32 off;
	u32 interval;
	u32 first;
};

static void iwarp_unmarked_copy(const struct iwarp_source *src, u32 off,
				void *to, u32 len)
{
	const struct iwarp_unmarked *un = src->ctx;
	u32 stretch = un->interval - IWARP_MARKER_LEN;
	u32 at = un->off + off, room = un->first - off;

	if (off >= un->first) {
		at += ((off - un->first) / stretch + 1) * IWARP_MARKER_LEN;
		room = stretch - (off - un->first) % stretch;
	}
	while (len) {
		u32 n = min(len, room);

		un->marked->copy(un->marked, at, to, n);
		at += n + IWARP_MARKER_LEN;
		to += n;
		len -= n;
		room = stretch;
	}
}

/* Places the rest of the FPDU, which is contiguous payload and trailer. */
static enum iwarp_error iwarp_rx_place(struct iwarp_rx *rx,
				       const struct iwarp_source *src, u32 off)
{
	u32 len = rx->hdr.payload_len;

	if (iwarp_opcode_control(rx->hdr.opcode)) {
		src->copy(src, off, rx->fpdu + rx->fpdu_len, len);
		rx->fpdu_len += len;
		return IWARP_OK;
	}
	return len ? rx->ops->data(rx, src, off, len, 0) : IWARP_OK;
}

/* The same with markers. */
static noinline enum iwarp_error
iwarp_rx_place_marked(struct iwarp_rx *rx, const struct iwarp_source *src,
		      u32 off)
{
	struct iwarp_unmarked un = {
		.src.copy = iwarp_unmarked_copy,
		.src.ctx = &un,
		.marked = src,
		.off = off,
		.interval = rx->interval,
		.first = iwarp_marker_dist(rx->interval, rx->pos),
	};

	return iwarp_rx_place(rx, &un.src, 0);
}

/* All of the FPDU has arrived and is valid, and only its header was consumed. */
static u32 iwarp_rx_take_rest(struct iwarp_rx *rx,
			      const struct iwarp_source *src, u32 off)
{
	u32 rest = rx->end - rx->pos;
	enum iwarp_error error;

	error = rx->interval ? iwarp_rx_place_marked(rx, src, off) :
			       iwarp_rx_place(rx, src, off);
	rx->pos = rx->end;
	if (!error)
		error = rx->ops->end(rx);
	if (error)
		return iwarp_rx_fail(rx, error);
	iwarp_rx_next(rx);
	return rest;
}

static u32 iwarp_rx_take_pad(struct iwarp_rx *rx,
			     const struct iwarp_source *src, u32 off, u32 len)
{
	u32 pad_len = iwarp_pad_len(iwarp_ulpdu_len(&rx->hdr));

	len = min(len, pad_len - rx->done);
	rx->done += len;
	return iwarp_rx_take(rx, src, off, len, NULL);
}

static u32 iwarp_rx_take_trailer(struct iwarp_rx *rx,
				 const struct iwarp_source *src, u32 off,
				 u32 len)
{
	enum iwarp_error error = IWARP_OK;

	len = min(len, IWARP_CRC_LEN - rx->done);
	src->copy(src, off, rx->trailer + rx->done, len);
	rx->done += len;
	rx->pos += len;
	if (rx->done < IWARP_CRC_LEN)
		return len;
	if (iwarp_rx_wants_crc(rx) && !iwarp_crc_ok(rx->crc, rx->trailer))
		error = IWARP_E_MPA_CRC;
	if (!error)
		error = rx->ops->end(rx);
	if (error)
		return iwarp_rx_fail(rx, error);
	iwarp_rx_next(rx);
	return len;
}

/* Advances over fields without remaining bytes. */
static void iwarp_rx_advance(struct iwarp_rx *rx)
{
	if (rx->state == IWARP_RX_PAYLOAD && rx->done == rx->hdr.payload_len) {
		rx->state = IWARP_RX_PAD;
		rx->done = 0;
	}
	if (rx->state == IWARP_RX_PAD &&
	    rx->done == iwarp_pad_len(iwarp_ulpdu_len(&rx->hdr))) {
		rx->state = IWARP_RX_TRAILER;
		rx->done = 0;
	}
}

/*
 * After the header: takes all of the FPDU if it is there, by a source of it alone, which is
 * contiguous more often. Returns the number of bytes consumed, and whether that was all.
 */
static bool iwarp_rx_take_whole(struct iwarp_rx *rx, const struct iwarp_source *src, u32 off,
				u32 len, u32 *taken)
{
	struct iwarp_source fpdu = *src;
	u32 rest = rx->end - rx->pos;
	const u8 *linear;

	if (!fpdu.linear && fpdu.contiguous && len >= rest) {
		linear = fpdu.contiguous(src, off, rest);
		fpdu.linear = linear ? linear - off : NULL;
	}
	*taken = 0;
	if (!iwarp_rx_begin(rx, &fpdu, off, len))
		return true;
	if (!rx->verified)
		return false;
	*taken = iwarp_rx_take_rest(rx, &fpdu, off);
	return true;
}

/* Consumes bytes of one field; 0 if the owner holds, or after an error. */
static u32 iwarp_rx_step(struct iwarp_rx *rx, const struct iwarp_source *src,
			 u32 off, u32 len)
{
	u32 taken;

	if (rx->state == IWARP_RX_BEGIN && iwarp_rx_take_whole(rx, src, off, len, &taken))
		return taken;
	if (rx->marker_len || iwarp_marker_at(rx->interval, rx->pos))
		return iwarp_rx_take_marker(rx, src, off, len);
	iwarp_rx_advance(rx);
	if (rx->interval)
		len = min(len, iwarp_marker_dist(rx->interval, rx->pos));
	switch (rx->state) {
	case IWARP_RX_HEADER:
		return iwarp_rx_take_header(rx, src, off, len);
	case IWARP_RX_PAYLOAD:
		return iwarp_rx_take_payload(rx, src, off, len);
	case IWARP_RX_PAD:
		return iwarp_rx_take_pad(rx, src, off, len);
	default:
		return iwarp_rx_take_trailer(rx, src, off, len);
	}
}

/**
 * iwarp_rx_feed() - consume the next bytes of the stream
 * @rx: receiver
 * @src: source of the bytes
 * @off: offset of the first byte in @src
 * @len: number of bytes
 *
 * Calls the owner's operations for every segment.
 *
 * Return: number of bytes consumed: all, unless the owner holds, or @rx->error is set.
 */
u32 iwarp_rx_feed(struct iwarp_rx *rx, const struct iwarp_source *src, u32 off,
		  u32 len)
{
	u32 taken = 0, step;

	while (taken < len && !rx->error) {
		step = iwarp_rx_step(rx, src, off + taken, len - taken);
		if (!step)
			break;
		taken += step;
	}
	return taken;
}
