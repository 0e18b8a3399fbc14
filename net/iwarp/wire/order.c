// SPDX-License-Identifier: GPL-2.0
/*
 * The order of messages in a stream.
 */
#include <linux/string.h>

#include "order.h"

/* Numbers of messages begin with this (RFC 5041, section 5.2). */
#define FIRST_MSN		1

/**
 * iwarp_stream_init() - begin a stream
 * @stream: the stream
 * @ird: requests to read that the peer may have outstanding
 * @ord: requests to read that we may have outstanding
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
 * iwarp_in_check() - whether an untagged segment continues its queue
 * @stream: the stream
 * @hdr: header of the segment, as iwarp_hdr_parse() accepted it
 *
 * TCP keeps segments in order, so each has to continue where the last one
 * ended: the same message from the next byte on, or the next from its first.
 *
 * Return: %IWARP_OK or what is wrong.
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
 * @hdr: header of the segment, which iwarp_in_check() accepted
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
 * iwarp_in_ahead() - how many messages are to come before an untagged one
 * @stream: the stream
 * @hdr: header of a segment that has come early
 *
 * Return: 0 if it belongs to the message that is arriving, or comes next; a
 * large number if its message has arrived before.
 */
u32 iwarp_in_ahead(const struct iwarp_stream *stream,
		   const struct iwarp_hdr *hdr)
{
	return hdr->msn - stream->in[hdr->qn].msn;
}

/**
 * iwarp_out_msn() - number the next message that is sent
 * @stream: the stream
 * @qn: its queue
 *
 * Return: its number.
 */
u32 iwarp_out_msn(struct iwarp_stream *stream, enum iwarp_qn qn)
{
	return stream->out_msn[qn]++;
}

/**
 * iwarp_sink_check() - whether a segment continues the response to a read
 * @sink: what the oldest request to read asked for
 * @hdr: header of a segment of a response
 *
 * An empty response has no place to go to, and may name any.
 *
 * Return: %IWARP_OK or what is wrong.
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
 * iwarp_sink_advance() - a segment of a response has arrived
 * @sink: what the request to read asked for
 * @hdr: its header, which iwarp_sink_check() accepted
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
 * iwarp_ird_take() - the peer requests to read, or an atomic operation
 * @stream: the stream
 *
 * Return: %IWARP_OK, or what is wrong: the peer may not have so many
 * outstanding, which is the same as having no buffer for another.
 */
enum iwarp_error iwarp_ird_take(struct iwarp_stream *stream)
{
	if (!iwarp_depth_free(&stream->ird))
		return IWARP_E_UNTAGGED_NOBUF;
	stream->ird.used++;
	return IWARP_OK;
}

/**
 * iwarp_ird_put() - a request of the peer is answered
 * @stream: the stream
 */
void iwarp_ird_put(struct iwarp_stream *stream)
{
	stream->ird.used--;
}

/**
 * iwarp_ord_take() - send a request to read, or an atomic one
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
 * iwarp_ord_put() - our request is answered
 * @stream: the stream
 */
void iwarp_ord_put(struct iwarp_stream *stream)
{
	stream->ord.used--;
}
