// SPDX-License-Identifier: GPL-2.0
/* Order of messages in a stream. */
#include <linux/string.h>

#include "order.h"

/* First sequence number (RFC 5041, section 5.2). */
#define FIRST_MSN		1

/**
 * iwarp_stream_init() - initialize a stream
 * @stream: the stream
 * @ird: inbound RDMA Read depth
 * @ord: outbound RDMA Read depth
 */
void iwarp_stream_init(struct iwarp_stream *stream, u16 ird, u16 ord)
{
	int qn;

	memset(stream, 0, sizeof(*stream));
	for (qn = 0; qn < IWARP_QN_COUNT; qn++) {
		stream->in[qn].msn = FIRST_MSN;
		stream->out_msn[qn] = FIRST_MSN;
	}
	stream->ird.max = ird;
	stream->ord.max = ord;
}

/**
 * iwarp_in_check() - check whether an untagged segment is the next of its queue
 * @stream: the stream
 * @hdr: header of the segment, accepted by iwarp_hdr_parse()
 *
 * TCP delivers in order, so each segment must continue the current message, or start
 * the next one.
 *
 * Return: error code or %IWARP_OK.
 */
enum iwarp_error iwarp_in_check(const struct iwarp_stream *stream,
				const struct iwarp_hdr *hdr)
{
	const struct iwarp_inq *in = &stream->in[hdr->qn];

	if (hdr->msn != in->msn)
		return IWARP_E_UNTAGGED_MSN;
	if (hdr->mo != in->mo)
		return IWARP_E_UNTAGGED_MO;
	if (in->open && (hdr->opcode != in->opcode || hdr->stag != in->stag))
		return IWARP_E_OP_OPCODE;
	return IWARP_OK;
}

/**
 * iwarp_in_advance() - an untagged segment has arrived
 * @stream: the stream
 * @hdr: header of the segment, accepted by iwarp_in_check()
 */
void iwarp_in_advance(struct iwarp_stream *stream, const struct iwarp_hdr *hdr)
{
	struct iwarp_inq *in = &stream->in[hdr->qn];

	in->open = !hdr->last;
	in->opcode = hdr->opcode;
	in->stag = hdr->stag;
	in->mo += hdr->payload_len;
	if (hdr->last) {
		in->mo = 0;
		in->msn++;
	}
}

/**
 * iwarp_in_ahead() - get the number of messages before an early untagged one
 * @stream: the stream
 * @hdr: header of a segment that arrived early
 *
 * Return: 0 if it belongs to the current or next message; a large number if its message
 * has arrived before.
 */
u32 iwarp_in_ahead(const struct iwarp_stream *stream,
		   const struct iwarp_hdr *hdr)
{
	return hdr->msn - stream->in[hdr->qn].msn;
}

/**
 * iwarp_out_msn() - allocate the sequence number of an outbound message
 * @stream: the stream
 * @qn: its queue number
 *
 * Return: the sequence number.
 */
u32 iwarp_out_msn(struct iwarp_stream *stream, enum iwarp_qn qn)
{
	return stream->out_msn[qn]++;
}

/**
 * iwarp_sink_check() - check whether a segment continues an RDMA Read Response
 * @sink: data sink of the oldest outbound request
 * @hdr: header of the segment
 *
 * A zero-length response may name any data sink.
 *
 * Return: error code or %IWARP_OK.
 */
enum iwarp_error iwarp_sink_check(const struct iwarp_sink *sink,
				  const struct iwarp_hdr *hdr)
{
	if (hdr->payload_len > sink->left)
		return IWARP_E_TAGGED_BOUNDS;
	if (sink->left && hdr->stag != sink->stag)
		return IWARP_E_TAGGED_STAG;
	if (sink->left && hdr->to != sink->to)
		return IWARP_E_TAGGED_BOUNDS;
	if (hdr->last && hdr->payload_len < sink->left)
		return IWARP_E_OP_OTHER;
	if (!hdr->last && hdr->payload_len == sink->left)
		return IWARP_E_OP_OTHER;
	return IWARP_OK;
}

/**
 * iwarp_sink_advance() - a segment of an RDMA Read Response has arrived
 * @sink: data sink of the request
 * @hdr: header of the segment, accepted by iwarp_sink_check()
 *
 * Return: whether the response is complete.
 */
bool iwarp_sink_advance(struct iwarp_sink *sink, const struct iwarp_hdr *hdr)
{
	sink->to += hdr->payload_len;
	sink->left -= hdr->payload_len;
	return hdr->last;
}

/**
 * iwarp_ird_take() - count an inbound RDMA Read or atomic request
 * @stream: the stream
 *
 * Return: %IWARP_OK, or the error code for a lack of buffers if too many are
 * outstanding.
 */
enum iwarp_error iwarp_ird_take(struct iwarp_stream *stream)
{
	if (!iwarp_depth_free(&stream->ird))
		return IWARP_E_UNTAGGED_NOBUF;
	stream->ird.used++;
	return IWARP_OK;
}

/**
 * iwarp_ird_put() - an inbound request was responded to
 * @stream: the stream
 */
void iwarp_ird_put(struct iwarp_stream *stream)
{
	stream->ird.used--;
}

/**
 * iwarp_ord_take() - count an outbound RDMA Read or atomic request
 * @stream: the stream
 *
 * Return: whether it may be sent now.
 */
bool iwarp_ord_take(struct iwarp_stream *stream)
{
	if (!iwarp_depth_free(&stream->ord))
		return false;
	stream->ord.used++;
	return true;
}

/**
 * iwarp_ord_put() - an outbound request was responded to
 * @stream: the stream
 */
void iwarp_ord_put(struct iwarp_stream *stream)
{
	stream->ord.used--;
}
