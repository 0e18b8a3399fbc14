// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * The order of messages: numbers, offsets, responses and depths.
 */
#include <gtest/gtest.h>

#include "iwarp_model.h"

extern "C" {
#include "wire/order.h"
}

namespace
{

iwarp_hdr send(u32 msn, u32 mo, u16 len, bool last, u8 opcode = IWARP_SEND, u32 stag = 0)
{
	iwarp_hdr hdr = {};

	hdr.opcode = opcode;
	hdr.qn = IWARP_QN_SEND;
	hdr.msn = msn;
	hdr.mo = mo;
	hdr.payload_len = len;
	hdr.last = last;
	hdr.stag = stag;
	return hdr;
}

class Stream : public testing::Test
{
protected:
	Stream()
	{
		iwarp_stream_init(&stream, 2, 3);
	}

	iwarp_error arrive(const iwarp_hdr &hdr)
	{
		const iwarp_error error = iwarp_in_check(&stream, &hdr);

		if (error == IWARP_OK)
			iwarp_in_advance(&stream, &hdr);
		return error;
	}

	iwarp_stream stream;
};

TEST_F(Stream, MessagesAreNumberedFromOne)
{
	EXPECT_EQ(arrive(send(0, 0, 10, true)), IWARP_E_UNTAGGED_MSN);
	EXPECT_EQ(arrive(send(2, 0, 10, true)), IWARP_E_UNTAGGED_MSN);
	EXPECT_EQ(arrive(send(1, 0, 10, true)), IWARP_OK);
	EXPECT_EQ(arrive(send(1, 0, 10, true)), IWARP_E_UNTAGGED_MSN);
	EXPECT_EQ(arrive(send(2, 0, 0, true)), IWARP_OK);
	EXPECT_EQ(arrive(send(3, 0, 10, true)), IWARP_OK);
}

TEST_F(Stream, SegmentsContinueTheirMessage)
{
	EXPECT_EQ(arrive(send(1, 4, 10, false)), IWARP_E_UNTAGGED_MO);
	EXPECT_EQ(arrive(send(1, 0, 10, false)), IWARP_OK);
	EXPECT_EQ(arrive(send(1, 0, 10, false)), IWARP_E_UNTAGGED_MO);
	EXPECT_EQ(arrive(send(1, 14, 10, false)), IWARP_E_UNTAGGED_MO);
	EXPECT_EQ(arrive(send(2, 0, 10, false)), IWARP_E_UNTAGGED_MSN);
	EXPECT_EQ(arrive(send(1, 10, 5, true, IWARP_SEND_SE)), IWARP_E_OP_OPCODE);
	EXPECT_EQ(arrive(send(1, 10, 5, true)), IWARP_OK);
	EXPECT_EQ(arrive(send(2, 0, 4, false, IWARP_SEND_INV, 7)), IWARP_OK);
	EXPECT_EQ(arrive(send(2, 4, 4, true, IWARP_SEND_INV, 8)), IWARP_E_OP_OPCODE);
	EXPECT_EQ(arrive(send(2, 4, 4, true, IWARP_SEND_INV, 7)), IWARP_OK);
}

TEST_F(Stream, QueuesAreIndependent)
{
	iwarp_hdr read = send(1, 0, 28, true, IWARP_READ_REQ);

	read.qn = IWARP_QN_READ;
	EXPECT_EQ(arrive(send(1, 0, 10, false)), IWARP_OK);
	EXPECT_EQ(arrive(read), IWARP_OK);
	EXPECT_EQ(arrive(send(1, 10, 10, true)), IWARP_OK);
	read.msn = 2;
	EXPECT_EQ(arrive(read), IWARP_OK);
}

TEST_F(Stream, NumbersWrap)
{
	stream.in[IWARP_QN_SEND].msn = 0xffffffff;
	stream.out_msn[IWARP_QN_READ] = 0xffffffff;
	EXPECT_EQ(arrive(send(0xffffffff, 0, 1, true)), IWARP_OK);
	EXPECT_EQ(arrive(send(0, 0, 1, true)), IWARP_OK);
	EXPECT_EQ(iwarp_out_msn(&stream, IWARP_QN_READ), 0xffffffffU);
	EXPECT_EQ(iwarp_out_msn(&stream, IWARP_QN_READ), 0U);
	EXPECT_EQ(iwarp_out_msn(&stream, IWARP_QN_SEND), 1U);
}

TEST_F(Stream, HowFarAMessageIsAhead)
{
	const iwarp_hdr third = send(3, 0, 1, true), zeroth = send(0, 0, 1, true);

	EXPECT_EQ(iwarp_in_ahead(&stream, &third), 2U);
	EXPECT_EQ(iwarp_in_ahead(&stream, &zeroth), 0xffffffffU);
}

iwarp_error respond(iwarp_sink *sink, u32 stag, u64 to, u16 len, bool last, bool *done)
{
	const IwarpSegment segment = tagged(IWARP_READ_RESP, stag, to, Bytes(len), last);
	const iwarp_error error = iwarp_sink_check(sink, &segment.hdr);

	if (error == IWARP_OK)
		*done = iwarp_sink_advance(sink, &segment.hdr);
	return error;
}

TEST(Sink, IsFilledFromFirstToLast)
{
	iwarp_sink sink = {5, 0x1000, 300};
	bool done = false;

	EXPECT_EQ(respond(&sink, 6, 0x1000, 100, false, &done), IWARP_E_TAGGED_STAG);
	EXPECT_EQ(respond(&sink, 5, 0x1001, 100, false, &done), IWARP_E_TAGGED_BOUNDS);
	EXPECT_EQ(respond(&sink, 5, 0x1000, 301, true, &done), IWARP_E_TAGGED_BOUNDS);
	EXPECT_EQ(respond(&sink, 5, 0x1000, 100, true, &done), IWARP_E_OP_OTHER);
	EXPECT_EQ(respond(&sink, 5, 0x1000, 300, false, &done), IWARP_E_OP_OTHER);
	EXPECT_EQ(respond(&sink, 5, 0x1000, 100, false, &done), IWARP_OK);
	EXPECT_FALSE(done);
	EXPECT_EQ(respond(&sink, 5, 0x1000, 100, false, &done), IWARP_E_TAGGED_BOUNDS);
	EXPECT_EQ(respond(&sink, 5, 0x1064, 200, true, &done), IWARP_OK);
	EXPECT_TRUE(done);
}

TEST(Sink, AnEmptyResponseGoesNowhere)
{
	iwarp_sink sink = {5, 0x1000, 0};
	bool done = false;

	EXPECT_EQ(respond(&sink, 1, 99, 1, true, &done), IWARP_E_TAGGED_BOUNDS);
	EXPECT_EQ(respond(&sink, 1, 99, 0, true, &done), IWARP_OK);
	EXPECT_TRUE(done);
}

TEST_F(Stream, DepthsAreKept)
{
	EXPECT_EQ(iwarp_ird_take(&stream), IWARP_OK);
	EXPECT_EQ(iwarp_ird_take(&stream), IWARP_OK);
	EXPECT_EQ(iwarp_ird_take(&stream), IWARP_E_UNTAGGED_NOBUF);
	iwarp_ird_put(&stream);
	EXPECT_EQ(iwarp_ird_take(&stream), IWARP_OK);

	for (int i = 0; i < 3; i++)
		EXPECT_TRUE(iwarp_ord_take(&stream));
	EXPECT_FALSE(iwarp_ord_take(&stream));
	iwarp_ord_put(&stream);
	EXPECT_TRUE(iwarp_ord_take(&stream));
}

} // namespace
