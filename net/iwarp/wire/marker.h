/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Markers: where they are, how long an FPDU becomes by them, and how they are
 * put in (RFC 5044, sections 4.2, 4.3 and 4.5).
 *
 * A position is a distance from the first byte that a direction carries in full
 * operation, modulo 2^32: TCP's sequence number less that of this byte.  There
 * is a marker at each multiple of the interval, so the first byte of all is
 * one.  A marker between two FPDUs belongs to the second.
 *
 * Pure: also compiled in user space by the unit tests and the fuzzers.
 */
#ifndef _IWARP_MARKER_H
#define _IWARP_MARKER_H

#include <linux/types.h>

#define IWARP_MARKER_LEN	4
/* The standard's interval; others, powers of two, are for experiments only. */
#define IWARP_MARKER_INTERVAL	512U
#define IWARP_MARKER_INTERVAL_MIN 16U
/* In place of an interval: there are no markers. */
#define IWARP_NO_MARKERS	0U

/* Bytes from a position to the next marker; 0 if it is at one. */
static inline u32 iwarp_marker_dist(u32 interval, u32 pos)
{
	return -pos & (interval - 1);
}

/* Whether there is a marker at a position. */
static inline bool iwarp_marker_at(u32 interval, u32 pos)
{
	return interval && !iwarp_marker_dist(interval, pos);
}

/* Where ULPDU_Length of an FPDU is that begins at a position. */
static inline u32 iwarp_marker_head(u32 interval, u32 pos)
{
	return iwarp_marker_at(interval, pos) ? pos + IWARP_MARKER_LEN : pos;
}

/**
 * struct iwarp_gap - where markers go into an FPDU that is being written
 * @interval: distance of the markers, or %IWARP_NO_MARKERS
 * @pos: position of the next byte
 * @head: position of its ULPDU_Length
 */
struct iwarp_gap {
	u32 interval;
	u32 pos;
	u32 head;
};

/* Begin to write an FPDU at a position. */
static inline void iwarp_gap_init(struct iwarp_gap *gap, u32 interval, u32 pos)
{
	gap->interval = interval;
	gap->pos = pos;
	gap->head = iwarp_marker_head(interval, pos);
}

/* How many bytes can be written before the next marker; not asked at one. */
static inline u32 iwarp_gap_room(const struct iwarp_gap *gap)
{
	return gap->interval ? iwarp_marker_dist(gap->interval, gap->pos) : ~0U;
}

/* Some of the FPDU was written, at most iwarp_gap_room(). */
static inline void iwarp_gap_advance(struct iwarp_gap *gap, u32 len)
{
	gap->pos += len;
}

u32 iwarp_marker_count(u32 interval, u32 pos, u32 len);
u32 iwarp_fpdu_wire_len(u32 interval, u32 pos, u32 ulpdu_len);
u32 iwarp_mulpdu(u32 interval, u32 emss);
u32 iwarp_ulpdu_fit(u32 interval, u32 pos, u32 room);

u32 iwarp_gap_marker(struct iwarp_gap *gap, u8 out[IWARP_MARKER_LEN]);
u32 iwarp_gap_copy(struct iwarp_gap *gap, u8 *to, const u8 *from, u32 len);

u32 iwarp_marker_parse(const u8 marker[IWARP_MARKER_LEN]);
u32 iwarp_marker_fpduptr(u32 interval, u32 start, u32 pos);

#endif /* _IWARP_MARKER_H */
