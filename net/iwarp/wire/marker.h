/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Markers: positions, FPDU lengths, and insertion (RFC 5044, sections 4.2, 4.3 and
 * 4.5).
 *
 * A position is the distance from a direction's first byte in Full Operation, modulo
 * 2^32: TCP's sequence number minus that byte's. There is a marker at each multiple of
 * the interval, including position 0. A marker between two FPDUs belongs to the second.
 *
 * Pure: also compiled in user space by the unit tests and the fuzzers.
 */
#ifndef _IWARP_MARKER_H
#define _IWARP_MARKER_H

#include <linux/types.h>

#define IWARP_MARKER_LEN	4
/* The standard's interval; others are for experiments, and powers of two. */
#define IWARP_MARKER_INTERVAL	512U
#define IWARP_MARKER_INTERVAL_MIN 16U
/* As an interval: no markers. */
#define IWARP_NO_MARKERS	0U

/* Distance from a position to the next marker, 0 at a marker. */
static inline u32 iwarp_marker_dist(u32 interval, u32 pos)
{
	return -pos & (interval - 1);
}

/* Whether there is a marker at a position. */
static inline bool iwarp_marker_at(u32 interval, u32 pos)
{
	return interval && !iwarp_marker_dist(interval, pos);
}

/* Position of ULPDU_Length of the FPDU at a position. */
static inline u32 iwarp_marker_head(u32 interval, u32 pos)
{
	return iwarp_marker_at(interval, pos) ? pos + IWARP_MARKER_LEN : pos;
}

/**
 * struct iwarp_gap - marker positions in an FPDU that is being built
 * @interval: marker interval, or %IWARP_NO_MARKERS
 * @pos: position of the next byte
 * @head: position of ULPDU_Length
 */
struct iwarp_gap {
	u32 interval;
	u32 pos;
	u32 head;
};

/* Starts an FPDU at a position. */
static inline void iwarp_gap_init(struct iwarp_gap *gap, u32 interval, u32 pos)
{
	gap->interval = interval;
	gap->pos = pos;
	gap->head = iwarp_marker_head(interval, pos);
}

/* Bytes before the next marker; not valid at a marker. */
static inline u32 iwarp_gap_room(const struct iwarp_gap *gap)
{
	return gap->interval ? iwarp_marker_dist(gap->interval, gap->pos) : ~0U;
}

/* Advances over bytes of the FPDU, at most iwarp_gap_room(). */
static inline void iwarp_gap_advance(struct iwarp_gap *gap, u32 len)
{
	gap->pos += len;
}

u32 iwarp_marker_count(u32 interval, u32 pos, u32 len);
u32 iwarp_fpdu_wire_len(u32 interval, u32 pos, u32 ulpdu_len);
u32 iwarp_mulpdu(u32 interval, u32 emss);
u32 iwarp_ulpdu_fit(u32 interval, u32 pos, u32 room);

u32 iwarp_gap_marker(struct iwarp_gap *gap, u8 out[IWARP_MARKER_LEN]);

u32 iwarp_marker_parse(const u8 marker[IWARP_MARKER_LEN]);
u32 iwarp_marker_fpduptr(u32 interval, u32 start, u32 pos);

#endif /* _IWARP_MARKER_H */
