// SPDX-License-Identifier: GPL-2.0
/*
 * FPDUs ahead of a hole in the stream: found by their markers, and parsed as those in
 * order if they are complete (RFC 5044, section 6). What is not valid is ignored: it is
 * parsed again when it arrives in order, and only then it is an error.
 */
#include <linux/minmax.h>
#include <linux/unaligned.h>

#include "framing.h"

/* Length of the FPDU at offset @at, or 0 if its ULPDU_Length is not in @len bytes. */
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
 * iwarp_sync() - find the start of an FPDU
 * @src: bytes of the stream; the first is at offset 0
 * @interval: marker interval of the stream, or %IWARP_NO_MARKERS
 * @pos: position of the first byte
 * @len: number of bytes
 * @start: offset of the first FPDU that starts in these bytes and is pointed to by a
 *	marker in it
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
		/* A marker before ULPDU_Length belongs to the FPDU. */
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
 * iwarp_rx_early() - parse FPDUs ahead of a hole
 * @rx: receiver for this purpose only, after iwarp_rx_init(); its position does not
 *	matter, its operations decide what is placed
 * @placed: FPDUs that were placed before, which are skipped
 * @src: bytes of the stream; the first is at offset 0
 * @pos: position of the first byte
 * @len: number of bytes
 * @at: offset of an FPDU's start, from iwarp_sync() or a previous call
 * @budget: no FPDU is started after so many bytes of them, of which each has
 *	IWARP_EARLY_COST at least
 *
 * Every FPDU is verified before its payload is placed. Those for which @begin returns
 * %IWARP_RX_SKIP are skipped. An error, which may just mean that no FPDU starts there,
 * ends the search, and so does %IWARP_RX_HOLD.
 *
 * Return: offset of the first FPDU that was not parsed completely.
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
			budget -= min(budget, max(fpdu_len, IWARP_EARLY_COST));
		}
		at += fpdu_len;
	}
	return at;
}
