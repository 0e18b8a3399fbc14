// SPDX-License-Identifier: GPL-2.0
/*
 * FPDUs ahead of a hole in the stream: found by their markers, and taken apart
 * as those that come in order are, if they are there from end to end (RFC
 * 5044, section 6).  Whatever does not fit is left alone: it is looked at once
 * more when it comes in order, and only then it can be an error.
 */
#include <linux/minmax.h>
#include <linux/unaligned.h>

#include "framing.h"

/* Length of the FPDU that begins at offset @at, if @len bytes show it; or 0. */
static u32 iwarp_early_len(const struct iwarp_source *src, u32 interval,
			   u32 pos, u32 at, u32 len)
{
	u32 head = iwarp_marker_head(interval, pos + at) - pos;
	u8 ulpdu_len[IWARP_ULPDU_LENGTH_LEN];

	if (len - at < head - at + sizeof(ulpdu_len))
		return 0;
	src->copy(src, head, ulpdu_len, sizeof(ulpdu_len));
	return iwarp_fpdu_wire_len(interval, pos + at,
				   get_unaligned_be16(ulpdu_len));
}

/**
 * iwarp_sync() - find where an FPDU begins
 * @src: some bytes of the stream; the first is at offset 0
 * @interval: distance of the markers in the stream, or %IWARP_NO_MARKERS
 * @pos: position of the first
 * @len: how many there are
 * @start: offset of the first FPDU that begins in these bytes, and that a
 *	marker inside of it points to
 *
 * Return: whether there is one; without markers there never is.
 */
bool iwarp_sync(const struct iwarp_source *src, u32 interval, u32 pos, u32 len,
		u32 *start)
{
	u8 marker[IWARP_MARKER_LEN];
	u32 at, back;

	if (!interval)
		return false;
	for (at = iwarp_marker_dist(interval, pos);
	     len >= IWARP_MARKER_LEN && at <= len - IWARP_MARKER_LEN;
	     at += interval) {
		src->copy(src, at, marker, sizeof(marker));
		back = iwarp_marker_parse(marker);
		/* A marker before ULPDU_Length is a part of the FPDU. */
		if (back && iwarp_marker_at(interval,
					    pos + at - back - IWARP_MARKER_LEN))
			back += IWARP_MARKER_LEN;
		*start = at - back;
		if (back <= at &&
		    iwarp_early_len(src, interval, pos, *start, len) > back)
			return true;
	}
	return false;
}

/**
 * iwarp_rx_early() - take FPDUs out of some bytes ahead of a hole
 * @rx: a receiver for this alone, begun by iwarp_rx_init(); its position does
 *	not matter, its operations decide what is placed
 * @placed: what was placed before, and is passed over
 * @src: the bytes; the first is at offset 0
 * @pos: position of the first
 * @len: how many there are
 * @at: offset where an FPDU begins, by iwarp_sync(), or where this ended
 *	before
 * @budget: no further FPDU is begun after so many bytes of them
 *
 * Every FPDU is verified before its payload is placed.  Those that @begin does
 * not want, by %IWARP_RX_SKIP, are passed over.  An error, which may well be in
 * what we took for the beginning of an FPDU, ends the search, and so does
 * %IWARP_RX_HOLD.
 *
 * Return: the offset where the first FPDU begins that was not looked at to its
 * end.
 */
u32 iwarp_rx_early(struct iwarp_rx *rx, const struct iwarp_placed *placed,
		   const struct iwarp_source *src, u32 pos, u32 len, u32 at,
		   u32 budget)
{
	u32 fpdu_len;

	while (at < len && budget) {
		fpdu_len = iwarp_placed_len(placed, pos + at);
		if (!fpdu_len) {
			fpdu_len = iwarp_early_len(src, rx->interval, pos, at,
						   len);
			if (!fpdu_len || fpdu_len > len - at)
				break;
			iwarp_rx_init(rx, rx->ops, rx->interval, rx->use_crc,
				      pos + at);
			if (iwarp_rx_feed(rx, src, at, fpdu_len) < fpdu_len)
				break;
			budget -= min(budget, fpdu_len);
		}
		at += fpdu_len;
	}
	return at;
}
