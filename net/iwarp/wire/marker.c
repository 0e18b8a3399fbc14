// SPDX-License-Identifier: GPL-2.0
/* Marker positions, and the copy that inserts markers. */
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "marker.h"
#include "msg.h"

/* Marker: 16 reserved bits, 16 bits of FPDUPTR. */
#define MARKER_FPDUPTR		2
/* FPDUs are aligned to four bytes, so the last two bits are ignored. */
#define FPDUPTR_MASK		0xfffcU

/**
 * iwarp_marker_count() - count the markers of an FPDU
 * @interval: marker interval, or %IWARP_NO_MARKERS
 * @pos: position of the FPDU
 * @len: its length without markers, not 0
 *
 * Return: number of markers before its last byte.
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
 * iwarp_fpdu_wire_len() - get the length of an FPDU with its markers
 * @interval: marker interval, or %IWARP_NO_MARKERS
 * @pos: position of the FPDU
 * @ulpdu_len: its ULPDU_Length
 *
 * Return: its length in the TCP stream.
 */
u32 iwarp_fpdu_wire_len(u32 interval, u32 pos, u32 ulpdu_len)
{
	u32 len = iwarp_fpdu_len(ulpdu_len);

	return len + IWARP_MARKER_LEN * iwarp_marker_count(interval, pos, len);
}

/**
 * iwarp_mulpdu() - get the longest ULPDU that fits a segment at any position
 * @interval: marker interval, or %IWARP_NO_MARKERS
 * @emss: payload of a TCP segment
 *
 * The formula of RFC 5044, section 4.5, within the limits of msg.h.
 *
 * Return: MULPDU.
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
 * iwarp_ulpdu_fit() - get the longest ULPDU that fits at a position
 * @interval: marker interval, or %IWARP_NO_MARKERS
 * @pos: position of its FPDU
 * @room: stream bytes that the FPDU may have, including markers
 *
 * Unlike iwarp_mulpdu() this is exact, and leaves no space unused.
 *
 * Return: length of the longest ULPDU, at most %IWARP_MULPDU_MAX, or 0.
 */
u32 iwarp_ulpdu_fit(u32 interval, u32 pos, u32 room)
{
	u32 first = iwarp_marker_dist(interval, pos), rest;

	if (interval && room > first) {
		rest = room - first;
		room = first + rest / interval * (interval - IWARP_MARKER_LEN);
		/* Bytes after the last marker, if that is complete. */
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
 * iwarp_gap_marker() - write a marker if there is one at this position
 * @gap: marker positions; advanced over the marker
 * @out: buffer for the marker
 *
 * Call this before each part of the FPDU.
 *
 * Return: %IWARP_MARKER_LEN, or 0 if there is no marker here.
 */
u32 iwarp_gap_marker(struct iwarp_gap *gap, u8 out[IWARP_MARKER_LEN])
{
	/* A marker before ULPDU_Length has FPDUPTR 0. */
	u32 fpduptr = gap->pos + IWARP_MARKER_LEN == gap->head ?
			      0 : gap->pos - gap->head;

	if (!iwarp_marker_at(gap->interval, gap->pos))
		return 0;
	put_unaligned_be32(fpduptr, out);
	gap->pos += IWARP_MARKER_LEN;
	return IWARP_MARKER_LEN;
}

/**
 * iwarp_marker_parse() - parse a marker
 * @marker: the marker
 *
 * Return: its FPDUPTR; reserved bits are ignored.
 */
u32 iwarp_marker_parse(const u8 marker[IWARP_MARKER_LEN])
{
	return get_unaligned_be16(marker + MARKER_FPDUPTR) & FPDUPTR_MASK;
}

/**
 * iwarp_marker_fpduptr() - get the FPDUPTR of a marker
 * @interval: marker interval
 * @start: position of the FPDU that the marker is in
 * @pos: position of the marker
 *
 * Return: FPDUPTR. More than 16 bits mean that the FPDU is too long; no marker can have
 * that value.
 */
u32 iwarp_marker_fpduptr(u32 interval, u32 start, u32 pos)
{
	return pos == start ? 0 : pos - iwarp_marker_head(interval, start);
}
