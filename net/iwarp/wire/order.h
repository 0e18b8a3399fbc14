/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Order of messages in a stream: sequence numbers and offsets of untagged messages (RFC
 * 5041, section 5), RDMA Read Responses, and the depth of RDMA Reads (RFC 5040, section
 * 5.2; RFC 6581).
 *
 * Pure: also compiled in user space by the unit tests.
 */
#ifndef _IWARP_ORDER_H
#define _IWARP_ORDER_H

#include <linux/types.h>

#include "msg.h"

/**
 * struct iwarp_inq - an inbound queue of untagged messages
 * @msn: sequence number of the current or next message
 * @mo: offset of its next byte
 * @open: a part of it has arrived
 * @opcode: its opcode, if @open
 * @stag: the STag that it invalidates, if @open
 */
struct iwarp_inq {
	u32 msn;
	u32 mo;
	bool open;
	u8 opcode;
	u32 stag;
};

/**
 * struct iwarp_sink - data sink of an RDMA Read Response
 * @stag: STag
 * @to: offset of the next byte
 * @left: bytes still to arrive
 */
struct iwarp_sink {
	u32 stag;
	u64 to;
	u32 left;
};

/**
 * struct iwarp_depth - RDMA Read and atomic requests of one direction
 * @max: maximum number outstanding
 * @used: number outstanding
 */
struct iwarp_depth {
	u16 max;
	u16 used;
};

/**
 * struct iwarp_stream - order of messages in both directions
 * @in: inbound untagged messages, by queue number
 * @out_msn: next outbound sequence number, by queue number
 * @ird: outstanding inbound requests
 * @ord: outstanding outbound requests
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
