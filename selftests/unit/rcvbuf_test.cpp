// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * How the number and the size of receive buffers change, rule by rule and in
 * long random schedules of both ends.
 *
 * SDP_TEST_SEED=n repeats a run; the seed of each is printed.
 */
#include <cerrno>
#include <iostream>

#include "rcvbuf_schedule.h"
#include "seed.h"

namespace
{

constexpr u32 page = BufferLink::page;
constexpr u32 most = BufferLink::most;
constexpr u32 no_limit = 1U << 30;

sdp_rcvbuf buffers(u32 total, u32 max_total = 16)
{
	sdp_rcvbuf rb;

	sdp_rcvbuf_init(&rb, page, most, max_total);
	for (u32 n = 0; n < total; n++) {
		sdp_rcvbuf_added(&rb, page);
		sdp_rcvbuf_posted(&rb, page);
	}
	return rb;
}

TEST(RcvBuf, StartsWithFewSmallOnes)
{
	sdp_rcvbuf rb = buffers(0);

	EXPECT_EQ(sdp_rcvbuf_first(&rb, no_limit), SDP_RCVBUF_FIRST);
	EXPECT_EQ(sdp_rcvbuf_first(&rb, 5 * page), 5U);
	EXPECT_EQ(sdp_rcvbuf_first(&rb, 1), u32{SDP_CREDIT_BUFS_MIN});
	rb = buffers(0, 6);
	EXPECT_EQ(sdp_rcvbuf_first(&rb, no_limit), 6U);
}

TEST(RcvBuf, NumberDoublesUpToTheLimits)
{
	sdp_rcvbuf rb = buffers(8, 18);

	EXPECT_EQ(sdp_rcvbuf_more(&rb, no_limit), 8U);
	EXPECT_EQ(sdp_rcvbuf_more(&rb, 11 * page), 3U);
	EXPECT_EQ(sdp_rcvbuf_more(&rb, 7 * page), 0U);
	rb = buffers(16, 18);
	EXPECT_EQ(sdp_rcvbuf_more(&rb, no_limit), 2U);
	rb = buffers(18, 18);
	EXPECT_EQ(sdp_rcvbuf_more(&rb, no_limit), 0U);
	rb = buffers(19, 18);
	EXPECT_EQ(sdp_rcvbuf_more(&rb, no_limit), 0U);
}

TEST(RcvBuf, SizeGrowsToTheWishWithinTheLimits)
{
	sdp_rcvbuf rb = buffers(8);

	ASSERT_EQ(sdp_rcvbuf_asked(&rb, page + 1), 0);
	EXPECT_EQ(sdp_rcvbuf_larger(&rb, no_limit), 2 * page);
	rb.wish = page;
	EXPECT_EQ(sdp_rcvbuf_larger(&rb, no_limit), page);
	rb.wish = UINT32_MAX;
	EXPECT_EQ(sdp_rcvbuf_larger(&rb, no_limit), most);
	EXPECT_EQ(sdp_rcvbuf_larger(&rb, 16 * page), 4 * page);
	EXPECT_EQ(sdp_rcvbuf_larger(&rb, 16 * page - 1), 2 * page);
	EXPECT_EQ(sdp_rcvbuf_larger(&rb, 1), page);
	rb.total = rb.max_total + 1;
	EXPECT_EQ(sdp_rcvbuf_larger(&rb, no_limit), page) << "one growth at a time";
}

TEST(RcvBuf, SecondQuestionBeforeTheAnswerIsRefused)
{
	sdp_rcvbuf rb = buffers(8);

	EXPECT_EQ(sdp_rcvbuf_asked(&rb, 2 * page), 0);
	EXPECT_EQ(sdp_rcvbuf_asked(&rb, 2 * page), -EPROTO);
}

TEST(RcvBuf, AnswerWaitsUntilNoSmallBufferIsPosted)
{
	sdp_rcvbuf rb = buffers(8);

	EXPECT_FALSE(sdp_rcvbuf_ack_due(&rb));
	ASSERT_EQ(sdp_rcvbuf_asked(&rb, most), 0);
	EXPECT_TRUE(sdp_rcvbuf_ack_due(&rb)) << "nothing has changed, so it can be said";
	rb.growing = true;
	EXPECT_FALSE(sdp_rcvbuf_ack_due(&rb));
	sdp_rcvbuf_resize(&rb, most, 8);
	for (int n = 0; n < SDP_CREDIT_BUFS_MIN; n++) {
		sdp_rcvbuf_added(&rb, most);
		sdp_rcvbuf_posted(&rb, most);
	}
	rb.growing = false;
	for (int n = 0; n < 8; n++) {
		EXPECT_FALSE(sdp_rcvbuf_ack_due(&rb));
		sdp_rcvbuf_consumed(&rb, page);
	}
	EXPECT_TRUE(sdp_rcvbuf_ack_due(&rb));
	rb.wish = 0;
	EXPECT_FALSE(sdp_rcvbuf_ack_due(&rb));
}

TEST(RcvBuf, SmallBuffersAreNotPostedAgain)
{
	sdp_rcvbuf rb = buffers(8);

	EXPECT_TRUE(sdp_rcvbuf_keep(&rb, page, no_limit, false));
	sdp_rcvbuf_resize(&rb, 2 * page, 8);
	for (int n = 0; n < SDP_CREDIT_BUFS_MIN; n++)
		sdp_rcvbuf_added(&rb, 2 * page);
	EXPECT_FALSE(sdp_rcvbuf_keep(&rb, page, no_limit, false));
	EXPECT_TRUE(sdp_rcvbuf_keep(&rb, 2 * page, no_limit, false));
}

TEST(RcvBuf, FillIsInEqualSteps)
{
	sdp_rcvbuf rb{};

	sdp_rcvbuf_init(&rb, 1000, 1000, 8);
	for (unsigned int number = 0; number < 8; number++)
		sdp_rcvbuf_added(&rb, 1000);
	for (std::uint32_t used = 0; used <= 8000; used++)
		ASSERT_EQ(sdp_rcvbuf_fill(&rb, used), std::min(used / 1000, 7U)) << used;
	sdp_rcvbuf_removed(&rb, 1000);
	EXPECT_EQ(sdp_rcvbuf_fill(&rb, 874), 0U);
	EXPECT_EQ(sdp_rcvbuf_fill(&rb, 875), 1U);
	EXPECT_EQ(sdp_rcvbuf_fill(&rb, 100000), 7U) << "more than before they were taken away";
}

TEST(RcvBuf, ShrinksToTheLimitButNotBelowTheMinimum)
{
	sdp_rcvbuf rb = buffers(8);

	EXPECT_TRUE(sdp_rcvbuf_keep(&rb, page, 8 * page, false));
	EXPECT_FALSE(sdp_rcvbuf_keep(&rb, page, 8 * page - 1, false));
	EXPECT_FALSE(sdp_rcvbuf_keep(&rb, page, no_limit, true));
	while (rb.total > SDP_CREDIT_BUFS_MIN)
		sdp_rcvbuf_removed(&rb, page);
	EXPECT_EQ(rb.bytes, SDP_CREDIT_BUFS_MIN * page);
	EXPECT_TRUE(sdp_rcvbuf_keep(&rb, page, 0, true));
}

sdp_peerbuf peer(u32 size = page)
{
	sdp_peerbuf pb;

	sdp_peerbuf_init(&pb, size, most);
	return pb;
}

TEST(PeerBuf, AsksOnceForWhatAWriteNeeds)
{
	sdp_peerbuf pb = peer();

	EXPECT_EQ(sdp_peerbuf_payload(&pb), page);
	sdp_peerbuf_want(&pb, page);
	EXPECT_EQ(sdp_peerbuf_ask(&pb), 0U);
	sdp_peerbuf_want(&pb, 3 * page);
	sdp_peerbuf_want(&pb, 10);
	EXPECT_EQ(sdp_peerbuf_ask(&pb), 4 * page);
	sdp_peerbuf_asked(&pb, 4 * page);
	sdp_peerbuf_want(&pb, 8 * page);
	EXPECT_EQ(sdp_peerbuf_ask(&pb), 0U) << "one question at a time";
	ASSERT_EQ(sdp_peerbuf_acked(&pb, 4 * page), 0);
	EXPECT_EQ(sdp_peerbuf_payload(&pb), 4 * page);
	EXPECT_EQ(sdp_peerbuf_ask(&pb), 8 * page);
}

TEST(PeerBuf, NeverAsksForMoreThanItCouldSend)
{
	sdp_peerbuf pb = peer();

	sdp_peerbuf_want(&pb, UINT32_MAX);
	EXPECT_EQ(sdp_peerbuf_ask(&pb), most);
	sdp_peerbuf_asked(&pb, most);
	// A peer may round up.
	ASSERT_EQ(sdp_peerbuf_acked(&pb, 4 * most), 0);
	EXPECT_EQ(sdp_peerbuf_payload(&pb), most);
	sdp_peerbuf_want(&pb, UINT32_MAX);
	EXPECT_EQ(sdp_peerbuf_ask(&pb), 0U);
}

TEST(PeerBuf, HugeBuffersNeedNoQuestion)
{
	sdp_peerbuf pb = peer(SDP_RCV_SIZE_MAX);

	sdp_peerbuf_want(&pb, UINT32_MAX);
	EXPECT_EQ(sdp_peerbuf_ask(&pb), 0U);
	EXPECT_EQ(sdp_peerbuf_payload(&pb), most);
}

TEST(PeerBuf, WhatWasRefusedIsNotAskedAgain)
{
	sdp_peerbuf pb = peer();

	sdp_peerbuf_want(&pb, 4 * page);
	sdp_peerbuf_asked(&pb, 4 * page);
	ASSERT_EQ(sdp_peerbuf_acked(&pb, page), 0);
	EXPECT_EQ(sdp_peerbuf_ask(&pb), 0U);
	sdp_peerbuf_want(&pb, 8 * page);
	EXPECT_EQ(sdp_peerbuf_ask(&pb), 8 * page);
}

TEST(PeerBuf, WrongAnswersAreRefused)
{
	sdp_peerbuf pb = peer(2 * page);

	EXPECT_EQ(sdp_peerbuf_acked(&pb, 4 * page), -EPROTO) << "nobody has asked";
	sdp_peerbuf_asked(&pb, 4 * page);
	EXPECT_EQ(sdp_peerbuf_acked(&pb, page), -EPROTO) << "buffers would shrink";
	EXPECT_EQ(sdp_peerbuf_payload(&pb), 2 * page);
	EXPECT_EQ(sdp_peerbuf_acked(&pb, 4 * page), 0);
	EXPECT_EQ(sdp_peerbuf_acked(&pb, 4 * page), -EPROTO) << "it was answered";
}

TEST(BufferLink, LargeWritesGetLargeBuffers)
{
	BufferLink link(16, 16 * most);

	for (int n = 0; n < 40; n++) {
		link.write(0, 4 * most);
		settle(link, 1000);
		read_all(link, 1);
		settle(link, 1000);
	}
	EXPECT_EQ(link.end(0).acks, 1U);
	EXPECT_EQ(sdp_peerbuf_payload(&link.end(0).pb), most);
	EXPECT_EQ(link.end(1).rb.size, most);
	EXPECT_EQ(link.end(1).rb.small, 0U);
	EXPECT_EQ(link.end(1).rb.total, link.end(1).rb.fit);
	EXPECT_EQ(link.end(0).rb.total, SDP_RCVBUF_FIRST) << "the other side stays small";
}

TEST(BufferLink, UnreadSmallMessagesGetMoreBuffers)
{
	BufferLink link(16, 16 * most);

	for (int n = 0; n < 40; n++) {
		link.write(0, 1);
		settle(link, 1000);
	}
	EXPECT_EQ(link.end(1).unread.size(), 14U) << "all but the last two credits";
	EXPECT_EQ(link.end(1).rb.total, 16U);
	EXPECT_EQ(link.end(1).rb.size, page);
}

TEST(BufferLink, RandomSchedules)
{
	RandomChoice random(seed());
	u64 acks = 0;

	for (int run = 0; run < 1000 && !HasFailure(); run++) {
		BufferSchedule schedule(random);
		for (int phase = 0; phase < 30 && !HasFailure(); phase++)
			schedule.phase(100);
		acks += schedule.acks();
	}
	std::cout << acks << " answers" << std::endl;
	EXPECT_GT(acks, 1000U) << "the schedules exercised little";
}

} // namespace
