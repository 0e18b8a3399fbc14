// SPDX-License-Identifier: GPL-2.0
/*
 * Arithmetic of markers, and the copy that leaves gaps for them.
 */
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "marker.h"
#include "msg.h"

/* A marker: 16 bits that are reserved, 16 bits FPDUPTR. */
#define MARKER_FPDUPTR		2
/* Everything is aligned to four bytes, so the last two bits say nothing. */
#define FPDUPTR_MASK		0xfffcU

/**
 * iwarp_marker_count() - how many markers an FPDU gets
 * @interval: distance of the markers, or %IWARP_NO_MARKERS
 * @pos: where it begins
 * @len: its length without markers, not 0
 *
 * Return: the number of markers before its last byte.
 */
u32 iwarp_marker_count(u32 interval, u32 pos, u32 len)
{
	u32 first;

	if (!interval)
		return 0;
	first = iwarp_marker_dist(interval, pos);
	if (len <= first)
		return 0;
	return 1 + (len - first - 1) / (interval - IWARP_MARKER_LEN);
}

/**
 * iwarp_fpdu_wire_len() - how long an FPDU is on the wire
 * @interval: distance of the markers, or %IWARP_NO_MARKERS
 * @pos: where it begins
 * @ulpdu_len: its ULPDU_Length
 *
 * Return: its length in the TCP stream, markers included.
 */
u32 iwarp_fpdu_wire_len(u32 interval, u32 pos, u32 ulpdu_len)
{
	u32 len = iwarp_fpdu_len(ulpdu_len);

	return len + IWARP_MARKER_LEN * iwarp_marker_count(interval, pos, len);
}

/**
 * iwarp_mulpdu() - the longest ULPDU that fits a segment, wherever it begins
 * @interval: distance of the markers, or %IWARP_NO_MARKERS
 * @emss: payload of a TCP segment
 *
 * The formula of RFC 5044, section 4.5, within the limits of wire.h.
 *
 * Return: the longest ULPDU.
 */
u32 iwarp_mulpdu(u32 interval, u32 emss)
{
	u32 taken = IWARP_ULPDU_LENGTH_LEN + IWARP_CRC_LEN + emss % 4;

	if (interval)
		taken += IWARP_MARKER_LEN * ((emss + interval - 1) / interval);
	if (emss < taken + IWARP_MULPDU_MIN)
		return IWARP_MULPDU_MIN;
	return min(emss - taken, IWARP_MULPDU_MAX);
}

/**
 * iwarp_ulpdu_fit() - the longest ULPDU that fits in some bytes of the stream
 * @interval: distance of the markers, or %IWARP_NO_MARKERS
 * @pos: where its FPDU would begin
 * @room: bytes of the stream that the FPDU may have, markers included
 *
 * Unlike iwarp_mulpdu() this is exact, and leaves none of a segment unused.
 *
 * Return: the longest ULPDU, at most %IWARP_MULPDU_MAX, or 0.
 */
u32 iwarp_ulpdu_fit(u32 interval, u32 pos, u32 room)
{
	u32 first = iwarp_marker_dist(interval, pos), rest;

	if (interval && room > first) {
		rest = room - first;
		room = first + rest / interval * (interval - IWARP_MARKER_LEN);
		/* What the end cuts off behind a marker, or a part of one. */
		rest %= interval;
		room += rest - min_t(u32, rest, IWARP_MARKER_LEN);
	}
	room &= ~3U;
	if (room <= IWARP_ULPDU_LENGTH_LEN + IWARP_CRC_LEN)
		return 0;
	return min(room - IWARP_ULPDU_LENGTH_LEN - IWARP_CRC_LEN,
		   IWARP_MULPDU_MAX);
}

/**
 * iwarp_gap_marker() - write the marker that is due, if one is
 * @gap: where markers go; moved on behind the marker
 * @out: room for the marker
 *
 * Call it before each piece of the FPDU.
 *
 * Return: %IWARP_MARKER_LEN, or 0 if there is no marker here.
 */
u32 iwarp_gap_marker(struct iwarp_gap *gap, u8 out[IWARP_MARKER_LEN])
{
	/* The marker that begins an FPDU is before its head, and says 0. */
	u32 fpduptr = gap->pos + IWARP_MARKER_LEN == gap->head ?
			      0 : gap->pos - gap->head;

	if (!iwarp_marker_at(gap->interval, gap->pos))
		return 0;
	put_unaligned_be32(fpduptr, out);
	gap->pos += IWARP_MARKER_LEN;
	return IWARP_MARKER_LEN;
}

/**
 * iwarp_gap_copy() - write some of an FPDU and the markers in it
 * @gap: where markers go; moved on
 * @to: where to; it needs room for the markers, too
 * @from: what to write
 * @len: its length
 *
 * Return: bytes written, markers included.
 */
u32 iwarp_gap_copy(struct iwarp_gap *gap, u8 *to, const u8 *from, u32 len)
{
	u32 piece;
	u8 *at = to;

	while (len) {
		at += iwarp_gap_marker(gap, at);
		piece = min(len, iwarp_gap_room(gap));
		memcpy(at, from, piece);
		iwarp_gap_advance(gap, piece);
		at += piece;
		from += piece;
		len -= piece;
	}
	return at - to;
}

/**
 * iwarp_marker_parse() - read a marker
 * @marker: the marker
 *
 * Return: its FPDUPTR; what is reserved is ignored.
 */
u32 iwarp_marker_parse(const u8 marker[IWARP_MARKER_LEN])
{
	return get_unaligned_be16(marker + MARKER_FPDUPTR) & FPDUPTR_MASK;
}

/**
 * iwarp_marker_fpduptr() - what a marker has to say
 * @interval: distance of the markers
 * @start: where the FPDU begins that the marker is in
 * @pos: where the marker is
 *
 * Return: its FPDUPTR.  More than 16 bits can say is the sign of an FPDU that
 * is longer than it may be; no marker says that.
 */
u32 iwarp_marker_fpduptr(u32 interval, u32 start, u32 pos)
{
	return pos == start ? 0 : pos - iwarp_marker_head(interval, start);
}
