// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* When a receiver offers a ring (flow/auto.c). */
#include <gtest/gtest.h>

extern "C" {
#include "flow/auto.h"
}

namespace
{

constexpr std::uint32_t short_one = 64, page = 4096, long_one = 65536;
constexpr int run = 16, run_full = 8;

struct Need : sdp_need {
	Need() : sdp_need{}
	{
		adapts = true;
	}

	bool arrives(std::uint32_t len, bool soon = true)
	{
		return sdp_need_arrived(this, len, len >= page, soon);
	}

	/* How many such messages it takes at most. */
	int arrive_until_due(std::uint32_t len, int most = 1000)
	{
		for (int n = 1; n <= most; n++)
			if (arrives(len))
				return n;
		return 0;
	}
};

TEST(Auto, StreamOfShortMessagesWantsRing)
{
	EXPECT_EQ(Need().arrive_until_due(1), run);
	EXPECT_EQ(Need().arrive_until_due(short_one), run);
	EXPECT_EQ(Need().arrive_until_due(page), run);
	EXPECT_EQ(Need().arrive_until_due(32768), run);
}

TEST(Auto, LongMessagesDoNot)
{
	EXPECT_EQ(Need().arrive_until_due(32769), 0);
	EXPECT_EQ(Need().arrive_until_due(long_one), 0);
}

TEST(Auto, AnswersDoNot)
{
	Need need;

	for (int i = 0; i < 1000; i++) {
		EXPECT_FALSE(need.arrives(short_one));
		sdp_need_answered(&need);
	}
	EXPECT_EQ(need.run, 0);
	/* Nothing was asked before. */
	sdp_need_answered(&need);
	EXPECT_EQ(need.arrive_until_due(short_one), run);
}

TEST(Auto, SeveralMessagesAnAnswerDo)
{
	Need need;
	bool due = false;

	for (int i = 0; i < run && !due; i++) {
		need.arrives(short_one);
		due = need.arrives(short_one);
		sdp_need_answered(&need);
	}
	EXPECT_TRUE(due);
}

TEST(Auto, RareMessagesDoNot)
{
	Need need;

	for (int i = 0; i < 1000; i++)
		EXPECT_FALSE(need.arrives(short_one, false));
	EXPECT_EQ(need.arrive_until_due(short_one), run - 1);
}

TEST(Auto, LongMessageBeginsAnew)
{
	Need need;

	EXPECT_EQ(need.arrive_until_due(short_one, run - 1), 0);
	EXPECT_FALSE(need.arrives(long_one));
	EXPECT_EQ(need.arrive_until_due(short_one), run);
}

TEST(Auto, CreditsUsedUpByShortMessages)
{
	Need need;

	EXPECT_EQ(need.arrive_until_due(short_one, run_full - 1), 0);
	EXPECT_FALSE(sdp_need_full(&need));
	EXPECT_FALSE(need.arrives(short_one));
	EXPECT_TRUE(sdp_need_full(&need));
	EXPECT_FALSE(need.arrives(long_one));
	EXPECT_FALSE(sdp_need_full(&need));
}

TEST(Auto, PiecesOfLongMessagesDoNotCount)
{
	Need need;

	EXPECT_FALSE(sdp_need_longer(&need, long_one));
	EXPECT_EQ(need.arrive_until_due(page, 100), 0);
	EXPECT_FALSE(sdp_need_full(&need));
	/* They are over with the first whole one. */
	EXPECT_FALSE(need.arrives(long_one));
	EXPECT_EQ(need.arrive_until_due(page), run);
}

TEST(Auto, LongerBuffersForFewerMessages)
{
	Need need;

	EXPECT_FALSE(sdp_need_longer(&need, 3 * page));
	EXPECT_EQ(need.arrive_until_due(page, run_full), 0);
	EXPECT_TRUE(sdp_need_longer(&need, 3 * page));
	EXPECT_FALSE(sdp_need_longer(&need, long_one));
}

/* Who has chosen an engine gets its ring for each reason. */
TEST(Auto, FixedEngineTakesAnyReason)
{
	Need need;

	need.adapts = false;
	EXPECT_TRUE(sdp_need_full(&need));
	EXPECT_TRUE(sdp_need_longer(&need, long_one));
	EXPECT_EQ(need.arrive_until_due(short_one), run);
}

} // namespace
