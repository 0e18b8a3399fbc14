/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The order of messages in a stream: numbers of untagged messages and of their
 * bytes (RFC 5041, section 5), what answers a request to read, and how many
 * such requests there may be (RFC 5040, section 5.2; RFC 6581).
 *
 * Pure: also compiled in user space by the unit tests.
 */
#ifndef _IWARP_ORDER_H
#define _IWARP_ORDER_H

#include <linux/types.h>

#include "msg.h"

/**
 * struct iwarp_inq - a queue of untagged messages that arrive
 * @msn: number of the message that is arriving, or comes next
 * @mo: offset of its next byte
 * @open: some of it has come
 * @opcode: if so, which message it is
 * @stag: likewise, what it invalidates
 */
struct iwarp_inq {
	u32 msn;
	u32 mo;
	bool open;
	u8 opcode;
	u32 stag;
};

/**
 * struct iwarp_sink - what the response to a request to read has to fill
 * @stag: where it goes
 * @to: offset of the next byte there
 * @left: bytes that are still to come
 */
struct iwarp_sink {
	u32 stag;
	u64 to;
	u32 left;
};

/**
 * struct iwarp_depth - requests to read, or atomic, in one direction
 * @max: how many there may be at a time
 * @used: how many there are
 */
struct iwarp_depth {
	u16 max;
	u16 used;
};

/**
 * struct iwarp_stream - the order of messages in both directions
 * @in: untagged messages that arrive, by their queue
 * @out_msn: number of the next message that is sent on each queue
 * @ird: requests of the peer that are not answered
 * @ord: our own, likewise
 */
struct iwarp_stream {
	struct iwarp_inq in[IWARP_QN_COUNT];
	u32 out_msn[IWARP_QN_COUNT];
	struct iwarp_depth ird;
	struct iwarp_depth ord;
};

/* Whether another request may be sent. */
static inline bool iwarp_depth_free(const struct iwarp_depth *depth)
{
	return depth->used < depth->max;
}

void iwarp_stream_init(struct iwarp_stream *stream, u16 ird, u16 ord);
enum iwarp_error iwarp_in_check(const struct iwarp_stream *stream,
				const struct iwarp_hdr *hdr);
void iwarp_in_advance(struct iwarp_stream *stream,
		      const struct iwarp_hdr *hdr);
u32 iwarp_in_ahead(const struct iwarp_stream *stream,
		   const struct iwarp_hdr *hdr);
u32 iwarp_out_msn(struct iwarp_stream *stream, enum iwarp_qn qn);

enum iwarp_error iwarp_sink_check(const struct iwarp_sink *sink,
				  const struct iwarp_hdr *hdr);
bool iwarp_sink_advance(struct iwarp_sink *sink, const struct iwarp_hdr *hdr);

enum iwarp_error iwarp_ird_take(struct iwarp_stream *stream);
void iwarp_ird_put(struct iwarp_stream *stream);
bool iwarp_ord_take(struct iwarp_stream *stream);
void iwarp_ord_put(struct iwarp_stream *stream);

#endif /* _IWARP_ORDER_H */
