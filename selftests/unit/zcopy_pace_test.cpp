// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * How long a peer that reads what it is offered may be expected to take.
 */
#include <initializer_list>

#include <gtest/gtest.h>

extern "C" {
#include "zcopy/state.h"
}

namespace
{

sdp_zpace pace_after(std::initializer_list<u32> times)
{
	sdp_zpace pace = {};

	for (const u32 time : times)
		sdp_zpace_learn(&pace, time);
	return pace;
}

TEST(Pace, NothingIsKnownAtFirst)
{
	const sdp_zpace pace = {};

	EXPECT_EQ(sdp_zpace_bound(&pace), 0U);
}

TEST(Pace, AllowsMoreThanItHasSeen)
{
	const sdp_zpace pace = pace_after({10});

	EXPECT_EQ(sdp_zpace_bound(&pace), 30U);
}

TEST(Pace, ComesCloseToWhatAlwaysTakesAsLong)
{
	sdp_zpace pace = {};

	for (int i = 0; i < 100; i++)
		sdp_zpace_learn(&pace, 1000);
	EXPECT_GE(sdp_zpace_bound(&pace), 1000U);
	EXPECT_LE(sdp_zpace_bound(&pace), 1010U);
}

TEST(Pace, FollowsAPeerThatBecomesBusy)
{
	sdp_zpace pace = {};

	for (u32 time = 1; time <= 100; time++) {
		sdp_zpace_learn(&pace, time);
		EXPECT_GT(sdp_zpace_bound(&pace), time);
	}
}

TEST(Pace, ForgetsATimeThatWasAnException)
{
	sdp_zpace pace = pace_after({10, 10, 10, 10000});

	EXPECT_GT(sdp_zpace_bound(&pace), 1000U);
	for (int i = 0; i < 200; i++)
		sdp_zpace_learn(&pace, 10);
	EXPECT_LE(sdp_zpace_bound(&pace), 20U);
}

TEST(Pace, TakesNoTimeForATime)
{
	const sdp_zpace pace = pace_after({0, 0, 0});

	EXPECT_EQ(sdp_zpace_bound(&pace), 0U);
}

} // namespace
