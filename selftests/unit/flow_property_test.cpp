// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Two ring engines under long random schedules.
 *
 * SDP_TEST_SEED=n repeats a run; the seed of each is printed.
 */
#include <iostream>

#include "flow_schedule.h"
#include "seed.h"

namespace
{

class FlowProperty : public testing::TestWithParam<Engine>
{
};

TEST_P(FlowProperty, RandomSchedules)
{
	constexpr u32 steps_wanted = 1000000;
	RandomChoice random(seed());
	u64 bytes = 0;
	u64 messages = 0;
	u64 held = 0;
	u64 updates = 0;

	for (u32 steps = 0; steps < steps_wanted && !HasFailure();) {
		FlowSchedule schedule(random, GetParam());
		for (int phase = 0; phase < 20 && !HasFailure(); phase++) {
			schedule.phase(250);
			steps += 250;
		}
		for (int i = 0; i < 2; i++) {
			bytes += schedule.link().side(i).read;
			messages += schedule.link().side(i).messages;
			held += schedule.link().side(i).held;
			updates += schedule.link().side(i).updates;
		}
	}
	std::cout << bytes << " bytes, " << messages << " messages, " << held << " times held, "
		  << updates << " updates" << std::endl;
	EXPECT_GT(bytes, steps_wanted) << "the schedules exercised little";
	EXPECT_GT(held, steps_wanted / 1000) << "nothing was ever held back";
}

INSTANTIATE_TEST_SUITE_P(Engines, FlowProperty, testing::Values(Engine::rdma, Engine::nic),
			 [](const auto &param) {
				 return param.param == Engine::rdma ? "rdma" : "nic";
			 });

// ---- rules of their own ----

TEST(OutRing, RefusesWhatCannotBe)
{
	sdp_outring out;

	EXPECT_EQ(sdp_outring_init(&out, 4096, 512), 0);
	EXPECT_LT(sdp_outring_init(&out, 2048, 256), 0) << "too small";
	EXPECT_LT(sdp_outring_init(&out, 5000, 512), 0) << "no power of two";
	EXPECT_LT(sdp_outring_init(&out, 4096, 513), 0) << "too few pieces";
	EXPECT_LT(sdp_outring_init(&out, 4096, 0), 0);
	EXPECT_LT(sdp_outring_init(&out, 0x80000000U, 512), 0);
}

TEST(OutRing, RefusesFreedWhatWasNotSent)
{
	sdp_outring out;

	ASSERT_EQ(sdp_outring_init(&out, 4096, 512), 0);
	sdp_outring_write(&out, 100);
	EXPECT_LT(sdp_outring_free(&out, 101), 0);
	EXPECT_EQ(sdp_outring_free(&out, 60), 0);
	EXPECT_LT(sdp_outring_free(&out, 59), 0);
	EXPECT_EQ(sdp_outring_space(&out), 4096U - 40);
}

TEST(OutRing, FitsAsAWholeOrInWholePieces)
{
	sdp_outring out;

	ASSERT_EQ(sdp_outring_init(&out, 4096, 512), 0);
	sdp_outring_write(&out, 4000);
	ASSERT_EQ(sdp_outring_free(&out, 296), 0);
	EXPECT_EQ(sdp_outring_space(&out), 392U);
	EXPECT_EQ(sdp_rdma_fit(&out, nullptr, 96), 96U);
	EXPECT_EQ(sdp_rdma_fit(&out, nullptr, 500), 96U) << "it ends with the ring";
	sdp_outring_write(&out, 96);
	EXPECT_EQ(sdp_rdma_fit(&out, nullptr, 296), 296U);
	EXPECT_EQ(sdp_rdma_fit(&out, nullptr, 297), 0U) << "a byte more than there is space";
	EXPECT_EQ(sdp_rdma_fit(&out, nullptr, 600), 0U);
	ASSERT_EQ(sdp_outring_free(&out, 600), 0);
	EXPECT_EQ(sdp_rdma_fit(&out, nullptr, 600), 600U);
	EXPECT_EQ(sdp_rdma_fit(&out, nullptr, 601), 512U) << "a whole piece";
	ASSERT_EQ(sdp_outring_free(&out, 2000), 0);
	EXPECT_EQ(sdp_rdma_fit(&out, nullptr, 5000), 1024U) << "a quarter of the ring";
}

TEST(InRing, RefusesWhatHasNoRoom)
{
	sdp_inring in;

	sdp_inring_init(&in, 4096, 512);
	EXPECT_LT(sdp_inring_receive(&in, 0), 0);
	EXPECT_LT(sdp_inring_receive(&in, 4097), 0);
	for (int n = 0; n < 4; n++)
		EXPECT_EQ(sdp_inring_receive(&in, 1024), 0);
	EXPECT_LT(sdp_inring_receive(&in, 1), 0);
	sdp_inring_read(&in, 512);
	EXPECT_EQ(sdp_inring_receive(&in, 500), 0);
	sdp_inring_read(&in, 512);
	EXPECT_LT(sdp_inring_receive(&in, 13), 0 + 1) << "12 bytes are left until the end";
}

TEST(Nic, WindowsMoveUp)
{
	sdp_inring in;

	// The paper's example: 64 KiB, windows of 8 KiB, messages of 1 KiB.
	sdp_inring_init(&in, 65536, sdp_nic_window(65536, 8192));
	EXPECT_EQ(sdp_nic_buffers(&in), 8U + 2);
	ASSERT_EQ(sdp_inring_receive(&in, 1024), 0);
	EXPECT_EQ(sdp_nic_buffers(&in), 7U + 2) << "7 KiB are left over";
	for (int n = 1; n < 8; n++)
		ASSERT_EQ(sdp_inring_receive(&in, 1024), 0);
	EXPECT_EQ(sdp_nic_buffers(&in), 7U + 2) << "8 messages have taken one window";
}

// Over a long wire one half is written while the other is read.
TEST(Nic, TellsOfHalfBeforeTheRestIsUsedUp)
{
	sdp_inring in;
	sdp_credit credit = {};

	sdp_inring_init(&in, 65536, 8192);
	in.head = in.tail = 32768;
	credit.rx_advertised = 6;
	credit.rx_posted = 9;
	EXPECT_EQ(sdp_nic_want_update(&credit, &in), SDP_UPDATE_NONE) << "three of eight windows";
	credit.rx_posted = 10;
	EXPECT_EQ(sdp_nic_want_update(&credit, &in), SDP_UPDATE_NOW);
}

// poll() looks without the lock, and may find a ring that goes.
TEST(Nic, RingThatGoesAsksForNothing)
{
	sdp_inring in = {};
	sdp_credit credit = {};

	in.tail = 1;
	credit.rx_advertised = 2;
	credit.rx_posted = 8;
	EXPECT_EQ(sdp_nic_want_update(&credit, &in), SDP_UPDATE_NONE);
	EXPECT_FALSE(sdp_nic_full(&credit, &in)) << "credits are about to be advertised";
}

TEST(Nic, LongMessagesTakeSeveralWindows)
{
	sdp_credit credit;
	sdp_outring out;
	sdp_bsdh bsdh = {};

	EXPECT_EQ(sdp_nic_windows(512, 1), 1U);
	EXPECT_EQ(sdp_nic_windows(512, 512), 1U);
	EXPECT_EQ(sdp_nic_windows(512, 513), 2U);
	ASSERT_EQ(sdp_outring_init(&out, 4096, 512), 0);
	sdp_credit_init(&credit, 8, 5);
	EXPECT_EQ(sdp_nic_fit(&out, &credit, 5000), 1024U) << "a quarter of the ring";
	sdp_credit_transmit(&credit, &bsdh, sdp_nic_windows(512, 1024));
	sdp_outring_write(&out, 1024);
	EXPECT_EQ(sdp_nic_fit(&out, &credit, 5000), 512U) << "the last window";
	sdp_credit_transmit(&credit, &bsdh, 1);
	EXPECT_EQ(sdp_nic_fit(&out, &credit, 5000), 0U) << "two are kept back";
	EXPECT_EQ(bsdh.mseq, 3U);
}

TEST(Credit, RefusesMoreWindowsThanThereAre)
{
	sdp_credit credit;
	sdp_bsdh bsdh = {};

	sdp_credit_init(&credit, 4, 4);
	bsdh.bufs = 4;
	bsdh.mseq = 5;
	EXPECT_LT(sdp_credit_receive(&credit, &bsdh, 5), 0);
	bsdh.mseq = 1;
	EXPECT_LT(sdp_credit_receive(&credit, &bsdh, 2), 0) << "out of sequence";
	bsdh.mseq = 2;
	EXPECT_EQ(sdp_credit_receive(&credit, &bsdh, 2), 0);
	EXPECT_EQ(credit.rx_posted, 2U);
}

TEST(Nic, KeepsBuffersForControlMessages)
{
	sdp_inring in;

	sdp_inring_init(&in, 4096, 512);
	for (int n = 0; n < 8; n++)
		ASSERT_EQ(sdp_inring_receive(&in, 512), 0);
	EXPECT_EQ(sdp_nic_buffers(&in), 2U) << "no window is left";
	sdp_inring_read(&in, 511);
	EXPECT_EQ(sdp_nic_buffers(&in), 2U);
	sdp_inring_read(&in, 1);
	EXPECT_EQ(sdp_nic_buffers(&in), 3U);
}

TEST(Nic, WindowsAreBounded)
{
	EXPECT_EQ(sdp_nic_window(4096, 1048576), 512U) << "larger than the ring";
	EXPECT_EQ(sdp_nic_window(1048576, 1), 2048U);
	EXPECT_EQ(sdp_nic_window(262144, 32768), 32768U);
	EXPECT_EQ(sdp_nic_window(262144, 32767), 16384U) << "a power of two";
}

/** One direction whose reader takes @p bite bytes at a time from a ring that is always full. */
class FullRing
{
public:
	FullRing(Engine engine, u32 bite, bool late, bool halves = false)
		: bite_(bite), link_(engine, {size, size}, size / SDP_RING_PIECES, 0)
	{
		link_.set_late(late);
		if (halves)
			link_.tell_halves();
		// Nothing is aligned.
		link_.write(0, 3000);
		link_.write(0, 2 * size);
	}

	/** @return the mean share of the ring that holds data when the reader comes. */
	double mean()
	{
		u64 sum = 0;

		for (u32 n = 0; n < rounds; n++) {
			link_.settle();
			sum += link_.side(1).received - link_.side(1).read;
			link_.read(1, bite_);
			link_.write(0, bite_);
		}
		return static_cast<double>(sum) / rounds / size;
	}

	[[nodiscard]] u64 updates() const
	{
		return link_.side(1).updates;
	}

	static constexpr u32 size = 65536;
	static constexpr u32 rounds = 1280;

private:
	u32 bite_;
	FlowLink link_;
};

class SlowReader : public testing::TestWithParam<Engine>
{
};

TEST_P(SlowReader, FindsAFullRing)
{
	FullRing ring(GetParam(), 512, true);

	EXPECT_GE(ring.mean(), 0.9);
	// A piece of an eighth for each update, and not one for each read.
	EXPECT_LE(ring.updates(), FullRing::rounds * 512 / (FullRing::size / SDP_RING_PIECES) + 2);
}

INSTANTIATE_TEST_SUITE_P(Engines, SlowReader, testing::Values(Engine::rdma, Engine::nic),
			 [](const auto &param) {
				 return param.param == Engine::rdma ? "rdma" : "nic";
			 });

TEST_P(SlowReader, ThatIsNoneIsToldOfHalves)
{
	FullRing ring(GetParam(), 512, false);

	ring.mean();
	EXPECT_LE(ring.updates(), FullRing::rounds * 512 / (FullRing::size / 2) + 2);
}

TEST_P(SlowReader, ThatWantsFewMessagesTellsOfHalves)
{
	FullRing ring(GetParam(), 512, true, true);

	ring.mean();
	EXPECT_LE(ring.updates(), FullRing::rounds * 512 / (FullRing::size / 2) + 2);
}

TEST_P(SlowReader, ThatReadsNothingGetsAnAlmostFullRing)
{
	FlowLink link(GetParam(), {65536, 65536}, 8192, 0);

	for (int n = 0; n < 700; n++) {
		link.write(0, 100);
		link.settle();
	}
	EXPECT_GE(link.side(1).received, 65536U * 5 / 8);
}

TEST(Rdma, TellsSeldomWhoKeepsUp)
{
	FlowLink link(Engine::rdma, {65536, 65536}, 8192, 0);

	for (int n = 0; n < 80; n++) {
		link.write(0, 8192);
		link.settle();
		link.read(1, 8192);
		link.settle();
	}
	EXPECT_EQ(link.side(1).read, 80U * 8192);
	// Of half of the ring each, and one of the receive requests that a ring has.
	EXPECT_LE(link.side(1).updates, 20U + 1);
}

TEST(Burst, GivesTheDeviceItsShare)
{
	sdp_burst burst = {};

	burst.share = 8192;
	for (int n = 0; n < 8; n++) {
		EXPECT_FALSE(sdp_burst_hold(&burst)) << "short message " << n;
		sdp_burst_sent(&burst, 1);
	}
	EXPECT_TRUE(sdp_burst_hold(&burst));
	sdp_burst_end(&burst);
	sdp_burst_sent(&burst, 5000);
	EXPECT_FALSE(sdp_burst_hold(&burst));
	sdp_burst_sent(&burst, 5000);
	EXPECT_TRUE(sdp_burst_hold(&burst));
}

TEST(Burst, HoldsNothingWithoutAShare)
{
	sdp_burst burst = {};

	for (int n = 0; n < 100; n++)
		sdp_burst_sent(&burst, 100000);
	EXPECT_FALSE(sdp_burst_hold(&burst));
}

TEST(Burst, WaitsForAWholeTime)
{
	sdp_burst burst = {};

	burst.share = 100;
	sdp_burst_sent(&burst, 100);
	EXPECT_TRUE(sdp_burst_wait(&burst)) << "the time begins";
	EXPECT_FALSE(sdp_burst_wait(&burst)) << "and runs";
	sdp_burst_joined(&burst);
	sdp_burst_sent(&burst, 1000);
	EXPECT_FALSE(sdp_burst_expired(&burst, true)) << "what is held now is younger";
	EXPECT_TRUE(sdp_burst_hold(&burst));
	EXPECT_TRUE(sdp_burst_wait(&burst));
	sdp_burst_joined(&burst);
	EXPECT_TRUE(sdp_burst_expired(&burst, true));
	EXPECT_FALSE(sdp_burst_hold(&burst));
	sdp_burst_sent(&burst, 10);
	EXPECT_TRUE(sdp_burst_hold(&burst)) << "the burst goes on";
}

TEST(Burst, EndsWhenNoCompanyComes)
{
	sdp_burst burst = {};

	burst.share = 100;
	sdp_burst_sent(&burst, 100);
	EXPECT_TRUE(sdp_burst_wait(&burst));
	EXPECT_TRUE(sdp_burst_expired(&burst, true));
	sdp_burst_sent(&burst, 10);
	EXPECT_FALSE(sdp_burst_hold(&burst));
}

TEST(Burst, GoesOnWhenNothingIsHeld)
{
	sdp_burst burst = {};

	burst.share = 100;
	sdp_burst_sent(&burst, 100);
	EXPECT_TRUE(sdp_burst_wait(&burst));
	sdp_burst_sent(&burst, 100);
	EXPECT_FALSE(sdp_burst_expired(&burst, false));
	EXPECT_TRUE(sdp_burst_hold(&burst));
}

TEST(Burst, EndsItsWaitByACompletion)
{
	sdp_burst burst = {};

	burst.share = 800;
	EXPECT_FALSE(sdp_burst_fills(&burst, 700));
	EXPECT_TRUE(sdp_burst_fills(&burst, 800));
	for (int n = 0; n < 7; n++)
		sdp_burst_sent(&burst, 1);
	EXPECT_TRUE(sdp_burst_fills(&burst, 1)) << "a message is an eighth of it";
	sdp_burst_sent(&burst, 1);
	EXPECT_TRUE(sdp_burst_hold(&burst));
	sdp_burst_complete(&burst, true, false);
	EXPECT_FALSE(sdp_burst_hold(&burst));
	EXPECT_TRUE(sdp_burst_fills(&burst, 1)) << "the next one waits for it";
	sdp_burst_sent(&burst, 1);
	EXPECT_TRUE(sdp_burst_hold(&burst)) << "the burst goes on";
}

// One that works on its writers' processor has always completed when they go on.
TEST(Burst, DoesNotWaitForAnIdleDevice)
{
	for (const bool apart : {false, true}) {
		sdp_burst burst = {};

		burst.share = 100;
		sdp_burst_sent(&burst, 100);
		sdp_burst_complete(&burst, false, apart);
		EXPECT_EQ(sdp_burst_hold(&burst), !apart);
	}
}

TEST(Burst, HasNoClockWithoutAShare)
{
	const sdp_burst burst = {};

	EXPECT_FALSE(sdp_burst_fills(&burst, 1 << 20));
}

TEST(Imm, CarriesTheHeader)
{
	sdp_bsdh bsdh = {SDP_MID_DATA, SDP_OOB_PRES | SDP_OOB_PEND, 65535, 0, 0, 0x12345};
	sdp_msg msg;

	sdp_imm_parse(sdp_imm_encode(&bsdh), 77, UINT32_MAX, 0x12345 - 0x3fff, &msg);
	EXPECT_EQ(msg.bsdh.mseq, 0U);
	EXPECT_EQ(msg.bsdh.mseq_ack, 0x12345U);
	EXPECT_EQ(msg.bsdh.bufs, 65535);
	EXPECT_EQ(msg.bsdh.flags, SDP_OOB_PRES | SDP_OOB_PEND);
	EXPECT_EQ(msg.payload_len, 77U);
	bsdh.flags = 0;
	sdp_imm_parse(sdp_imm_encode(&bsdh), 1, 0, 0x12345, &msg);
	EXPECT_EQ(msg.bsdh.mseq_ack, 0x12345U);
	EXPECT_EQ(msg.bsdh.flags, 0);
}

} // namespace
