// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Two credit engines under long random schedules.
 *
 * SDP_TEST_SEED=n repeats a run; the seed of each is printed.
 */
#include <iostream>
#include <random>

#include "credit_schedule.h"
#include "seed.h"

extern "C" {
#include "stream/rcvbuf.h"
}

namespace
{

TEST(CreditProperty, RandomSchedules)
{
	constexpr u32 steps_wanted = 2000000;
	RandomChoice random(seed());
	u64 sent = 0;

	for (u32 steps = 0; steps < steps_wanted && !HasFailure();) {
		// Mostly few buffers, where starvation lurks.
		const u32 most = random.pick(1, 4) == 1 ? 256 : 8;
		const std::array<u32, 2> buffers = {random.pick(SDP_CREDIT_BUFS_MIN, most),
						    random.pick(SDP_PEER_BUFS_MIN, most)};
		SCOPED_TRACE(std::to_string(buffers[0]) + " and " + std::to_string(buffers[1]) +
			     " buffers");
		CreditSchedule schedule(random, buffers);
		for (int phase = 0; phase < 50 && !HasFailure(); phase++) {
			schedule.phase(100);
			steps += 100;
		}
		sent += schedule.sent();
	}
	std::cout << sent << " messages with data" << std::endl;
	EXPECT_GT(sent, steps_wanted / 100) << "the schedules exercised little";
}

class CreditTotals : public testing::TestWithParam<u32>
{
};

/** Both programs write and read all the time; returns updates for @p data. */
u64 saturate(CreditLink &link, int writers, u32 data)
{
	for (u32 sent = 0; sent < data;) {
		bool moved = false;
		for (int i = 0; i < 2; i++) {
			for (; i < writers && link.may_send_data(i); sent++, moved = true)
				link.send_data(i);
			for (; !link.to(i).empty(); moved = true)
				link.deliver(i);
			if (link.side(i).unread > 0)
				link.read(i, link.side(i).unread);
		}
		EXPECT_TRUE(moved) << "deadlock after " << sent;
		if (!moved)
			break;
	}
	return link.side(0).updates + link.side(1).updates;
}

TEST_P(CreditTotals, SaturatedInBothDirections)
{
	CreditLink link({GetParam(), GetParam()}, UINT32_MAX - 500);

	saturate(link, 2, 10000);
}

// The point of delaying updates: about one for every half of the credits.
TEST_P(CreditTotals, FewUpdatesForAStream)
{
	CreditLink link({GetParam(), GetParam()}, UINT32_MAX - 500);
	const u64 half = GetParam() / 2;

	EXPECT_LE(saturate(link, 1, 10000), 10000 / half * (half + 1) / half + 2);
}

TEST_P(CreditTotals, IdleConnectionIsSilent)
{
	CreditLink link({GetParam(), GetParam()});

	saturate(link, 2, 100);
	settle(link, 4 * GetParam());
	ASSERT_TRUE(link.idle());
	for (int i = 0; i < 2; i++)
		link.read(i, link.side(i).unread);
	EXPECT_LE(settle(link, 4 * GetParam()), 4U);
}

// Both ends write, and nobody reads.
void write_unread(u32 buffers)
{
	CreditLink link({buffers, buffers});
	std::array<u32, 2> left = {1000, 1000};
	u32 steps = 0;

	while (left[0] > 0 || left[1] > 0) {
		const u32 before = left[0] + left[1];
		for (int i = 0; i < 2; i++)
			for (; left.at(i) > 0 && link.may_send_data(i); left.at(i)--)
				link.send_data(i);
		for (; !link.idle(); steps++) {
			const int to = link.to(0).empty() ? 1 : 0;
			link.deliver(to);
			link.pack(to);
			ASSERT_LT(steps, 20000U) << "the two sides update each other for ever";
		}
		ASSERT_LT(left[0] + left[1], before) << "both sides wait";
	}
}

TEST(PackedData, StopsNobody)
{
	for (const u32 buffers : {SDP_RCVBUF_UNREAD, 7U, 8U, 16U, 64U, 1024U})
		write_unread(buffers);
}

INSTANTIATE_TEST_SUITE_P(Totals, CreditTotals, testing::Values(4, 5, 6, 7, 8, 16, 64, 1024));

} // namespace
