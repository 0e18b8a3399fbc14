// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Advertised memory under long random schedules, and peers that lie.
 *
 * SDP_TEST_SEED=n repeats a run; the seed of each is printed.
 */
#include <cerrno>
#include <iostream>
#include <optional>
#include <random>

#include "zcopy_schedule.h"
#include "seed.h"

namespace
{

TEST(ZcopyProperty, RandomSchedules)
{
	constexpr u32 steps_wanted = 2000000;
	RandomChoice random(seed());
	u64 bytes = 0;
	u64 read = 0;
	u64 adverts = 0;
	u64 refusals = 0;
	u64 cancels = 0;
	u64 voided = 0;
	size_t most_reads = 0;

	for (u32 steps = 0; steps < steps_wanted && !HasFailure();) {
		ZcopySchedule schedule(random);
		for (int phase = 0; phase < 20 && !HasFailure(); phase++) {
			schedule.phase(250);
			steps += 250;
		}
		for (int i = 0; i < 2; i++) {
			const ZcopySide &side = schedule.link().side(i);

			bytes += side.received;
			read += side.read_bytes;
			adverts += side.adverts;
			refusals += side.refusals;
			cancels += side.cancels;
			voided += side.voided;
			most_reads = std::max(most_reads, side.most_reads);
		}
	}
	std::cout << bytes << " bytes, " << read << " of them without a copy, " << adverts
		  << " advertisements, " << refusals << " refused, " << cancels << " cancelled, "
		  << voided << " void" << std::endl;
	EXPECT_GT(read, steps_wanted / 10) << "the schedules exercised little";
	EXPECT_GT(refusals, steps_wanted / 1000);
	EXPECT_GT(cancels, steps_wanted / 1000);
	EXPECT_GT(voided, steps_wanted / 10000) << "nothing ever crossed a SendSm";
	EXPECT_GT(most_reads, SDP_ZCOPY_ADVERTS) << "reads hardly overlapped";
}

/** Whatever a peer says, at most what was advertised is taken for read. */
TEST(ZcopyProperty, LyingSinks)
{
	std::mt19937 random(seed());
	u64 refused = 0;

	for (u32 run = 0; run < 20000; run++) {
		sdp_zsource z;
		u32 mseq = random();
		u32 advertised = 0;

		sdp_zsource_init(&z, 1 + random() % SDP_ZCOPY_ADVERTS);
		for (u32 n = 0; n < 30; n++) {
			const u32 mseq_ack = mseq - random() % 5;
			int err = 0;

			switch (random() % 4) {
			case 0:
				if (sdp_zsource_may_advertise(&z)) {
					const u32 len = 1 + random() % 100;

					sdp_zsource_advertise(&z, ++mseq, len);
					advertised += len;
				}
				break;
			case 1:
				err = sdp_zsource_read(&z, mseq_ack, 1 + random() % 120);
				break;
			case 2:
				err = sdp_zsource_refused(&z, mseq_ack);
				break;
			default:
				sdp_zsource_cancel(&z);
			}
			ASSERT_LE(z.done, advertised);
			ASSERT_LE(z.fifo.head - z.fifo.tail, z.max);
			ASSERT_TRUE(sdp_zsource_busy(&z) || !(z.cancel_due || z.cancelled));
			if (err) {
				ASSERT_EQ(err, -EPROTO);
				refused++;
				break;
			}
		}
	}
	EXPECT_GT(refused, 1000U);
}

// ---- the source, case by case ----

class Source : public testing::Test
{
protected:
	void SetUp() override
	{
		sdp_zsource_init(&z, 2);
		sdp_zsource_advertise(&z, 10, 100);
	}

	sdp_zsource z = {};
};

TEST_F(Source, EndsWhenAllWasRead)
{
	EXPECT_EQ(sdp_zsource_read(&z, 10, 60), 0);
	EXPECT_TRUE(sdp_zsource_busy(&z));
	EXPECT_EQ(sdp_zsource_read(&z, 10, 40), 0);
	EXPECT_FALSE(sdp_zsource_busy(&z));
	EXPECT_EQ(z.done, 100U);
}

TEST_F(Source, RefusesMoreThanWasAdvertised)
{
	EXPECT_EQ(sdp_zsource_read(&z, 10, 101), -EPROTO);
	EXPECT_LE(z.done, 100U);
}

TEST_F(Source, RefusesRepeatedAndForgedReports)
{
	EXPECT_EQ(sdp_zsource_read(&z, 9, 1), -EPROTO) << "it has not seen the offer";
	EXPECT_EQ(sdp_zsource_read(&z, 10, 100), 0);
	EXPECT_EQ(sdp_zsource_read(&z, 10, 100), -EPROTO) << "said twice";
	EXPECT_EQ(sdp_zsource_refused(&z, 10), -EPROTO) << "there is nothing to refuse";
}

TEST_F(Source, OneReportMayStandForSeveral)
{
	sdp_zsource_advertise(&z, 11, 50);
	EXPECT_FALSE(sdp_zsource_may_advertise(&z)) << "the peer holds two";
	EXPECT_EQ(sdp_zsource_read(&z, 11, 120), 0);
	EXPECT_TRUE(sdp_zsource_may_advertise(&z));
	EXPECT_EQ(sdp_zsource_read(&z, 11, 30), 0);
	EXPECT_FALSE(sdp_zsource_busy(&z));
}

TEST_F(Source, RoomIsWhatThePeerStillHolds)
{
	EXPECT_EQ(sdp_zsource_room(&z), 1U);
	sdp_zsource_advertise(&z, 11, 50);
	EXPECT_EQ(sdp_zsource_room(&z), 0U);
	EXPECT_EQ(sdp_zsource_read(&z, 11, 100), 0);
	EXPECT_EQ(sdp_zsource_room(&z), 1U);
	sdp_zsource_cancel(&z);
	EXPECT_EQ(sdp_zsource_room(&z), 0U) << "no more before it is settled";
}

TEST_F(Source, ReportsDoNotReachBeyondWhatWasSeen)
{
	sdp_zsource_advertise(&z, 11, 50);
	EXPECT_EQ(sdp_zsource_read(&z, 10, 101), -EPROTO);
}

TEST_F(Source, SendSmEndsAll)
{
	sdp_zsource_advertise(&z, 11, 50);
	EXPECT_EQ(sdp_zsource_read(&z, 10, 30), 0);
	EXPECT_EQ(sdp_zsource_refused(&z, 10), 0);
	EXPECT_FALSE(sdp_zsource_busy(&z));
	EXPECT_EQ(z.done, 30U);
}

TEST_F(Source, SendSmHasToMeanSomething)
{
	EXPECT_EQ(sdp_zsource_refused(&z, 9), -EPROTO);
}

TEST_F(Source, CancelIsSentOnce)
{
	sdp_zsource_cancel(&z);
	EXPECT_TRUE(z.cancel_due);
	EXPECT_FALSE(sdp_zsource_may_advertise(&z));
	sdp_zsource_cancel_sent(&z);
	sdp_zsource_cancel(&z);
	EXPECT_FALSE(z.cancel_due);
	EXPECT_FALSE(sdp_zsource_may_advertise(&z));
	EXPECT_EQ(sdp_zsource_refused(&z, 10), 0);
	EXPECT_TRUE(sdp_zsource_may_advertise(&z));
}

TEST_F(Source, CancelIsForgottenWithWhatItWasFor)
{
	sdp_zsource_cancel(&z);
	EXPECT_EQ(sdp_zsource_read(&z, 10, 100), 0);
	EXPECT_FALSE(z.cancel_due);
	sdp_zsource_cancel(&z);
	EXPECT_FALSE(z.cancel_due) << "nothing is outstanding";
}

TEST_F(Source, NoneWithAPeerThatHoldsNone)
{
	sdp_zsource_init(&z, 0);
	EXPECT_FALSE(sdp_zsource_may_advertise(&z));
	sdp_zsource_init(&z, UINT32_MAX);
	EXPECT_EQ(z.max, SDP_ZCOPY_ADVERTS);
}

// ---- the sink, case by case ----

class Sink : public testing::Test
{
protected:
	void SetUp() override
	{
		sdp_zsink_init(&z, 2);
	}

	int advertise(u32 len, u32 inlined = 0)
	{
		sdp_msg msg = {};

		msg.srcah = {len, 77, 0x1000};
		msg.payload_len = inlined;
		return sdp_zsink_advertised(&z, &msg);
	}

	/** Whether the report of what was read gives a key back, and which. */
	std::optional<u32> spent()
	{
		u32 rkey = 0;

		return sdp_zsink_spent(&z, &rkey) ? std::optional(rkey) : std::nullopt;
	}

	sdp_zsink z = {};
};

TEST_F(Sink, AKeyIsGivenBackOnceNoAdvertisementHasIt)
{
	ASSERT_EQ(advertise(100), 1);
	ASSERT_EQ(advertise(50), 1);
	sdp_zsink_read(&z, 40);
	sdp_zsink_read_done(&z, 40);
	EXPECT_EQ(spent(), std::nullopt) << "60 are left of it";
	sdp_zsink_read(&z, 60);
	sdp_zsink_read_done(&z, 60);
	EXPECT_EQ(spent(), std::nullopt) << "the second has the same";
	sdp_zsink_read(&z, 50);
	sdp_zsink_read_done(&z, 50);
	EXPECT_EQ(spent(), 77U);
	sdp_zsink_told(&z, SDP_MID_RDMARDCOMPL, 1);
	EXPECT_EQ(spent(), std::nullopt) << "it was given back";
}

TEST_F(Sink, ReadsBehindTheInlineHead)
{
	EXPECT_EQ(advertise(100, 10), 1);
	EXPECT_EQ(sdp_zsink_readable(&z), 90U);
	const sdp_zadvert from = sdp_zsink_read(&z, 50);
	EXPECT_EQ(from.vaddr, 0x100aU);
	EXPECT_EQ(from.rkey, 77U);
	sdp_zsink_read_done(&z, 50);
	EXPECT_EQ(sdp_zsink_due(&z), SDP_MID_RDMARDCOMPL);
	EXPECT_EQ(z.unreported, 50U);
	sdp_zsink_told(&z, SDP_MID_RDMARDCOMPL, 1);
	EXPECT_EQ(sdp_zsink_due(&z), SDP_MID_DATA);
	EXPECT_EQ(sdp_zsink_read(&z, 40).vaddr, 0x103cU);
	sdp_zsink_read_done(&z, 40);
	EXPECT_FALSE(sdp_zsink_busy(&z));
	EXPECT_EQ(sdp_zsink_due(&z), SDP_MID_RDMARDCOMPL);
}

// Who sleeps looks without the lock, and may find the ends of two connections.
TEST_F(Sink, NothingIsBetweenEndsOfDifferentConnections)
{
	z.fifo.tail = 1;
	z.fifo.adverts[2].left = 100;
	EXPECT_EQ(sdp_zsink_readable(&z), 0U);
}

TEST_F(Sink, ReadsBehindWhatIsBeingRead)
{
	ASSERT_EQ(advertise(100), 1);
	ASSERT_EQ(advertise(50), 1);
	EXPECT_EQ(sdp_zsink_read(&z, 60).vaddr, 0x1000U);
	EXPECT_EQ(sdp_zsink_readable(&z), 40U);
	EXPECT_EQ(sdp_zsink_read(&z, 40).vaddr, 0x103cU);
	EXPECT_EQ(sdp_zsink_readable(&z), 50U) << "of the second";
	EXPECT_EQ(sdp_zsink_read(&z, 20).vaddr, 0x1000U);
	EXPECT_EQ(sdp_zsink_readable(&z), 30U);
	sdp_zsink_read_done(&z, 60);
	EXPECT_EQ(sdp_zsink_readable(&z), 30U);
	sdp_zsink_refuse(&z);
	sdp_zsink_read_done(&z, 40);
	sdp_zsink_told(&z, SDP_MID_RDMARDCOMPL, 1);
	EXPECT_EQ(sdp_zsink_due(&z), SDP_MID_DATA) << "20 are still being read";
	sdp_zsink_read_done(&z, 20);
	EXPECT_EQ(z.unreported, 20U);
	sdp_zsink_told(&z, SDP_MID_RDMARDCOMPL, 2);
	EXPECT_EQ(sdp_zsink_due(&z), SDP_MID_SENDSM);
}

TEST_F(Sink, RefusesWhatPeersMayNotSay)
{
	EXPECT_EQ(advertise(10, 10), -EPROTO) << "there is nothing to read";
	EXPECT_EQ(advertise(10), 1);
	EXPECT_EQ(advertise(10, 1), -EPROTO) << "payload has no place in the stream";
	EXPECT_EQ(advertise(10), 1);
	EXPECT_EQ(advertise(10), -EPROTO) << "two were agreed on";
}

TEST_F(Sink, CancelDuringAReadIsAnsweredAfterIt)
{
	ASSERT_EQ(advertise(100), 1);
	sdp_zsink_read(&z, 60);
	sdp_zsink_refuse(&z);
	EXPECT_EQ(sdp_zsink_due(&z), SDP_MID_DATA);
	sdp_zsink_read_done(&z, 60);
	EXPECT_EQ(sdp_zsink_readable(&z), 0U);
	EXPECT_EQ(sdp_zsink_due(&z), SDP_MID_RDMARDCOMPL);
	sdp_zsink_told(&z, SDP_MID_RDMARDCOMPL, 5);
	EXPECT_EQ(sdp_zsink_due(&z), SDP_MID_SENDSM);
	sdp_zsink_told(&z, SDP_MID_SENDSM, 6);
	EXPECT_FALSE(sdp_zsink_busy(&z));
	EXPECT_EQ(sdp_zsink_due(&z), SDP_MID_DATA);
}

TEST_F(Sink, CancelOfWhatWasReadToTheEndHasNoOtherAnswer)
{
	ASSERT_EQ(advertise(100), 1);
	sdp_zsink_read(&z, 100);
	sdp_zsink_refuse(&z);
	sdp_zsink_read_done(&z, 100);
	sdp_zsink_told(&z, SDP_MID_RDMARDCOMPL, 5);
	EXPECT_EQ(sdp_zsink_due(&z), SDP_MID_DATA);
	sdp_zsink_refuse(&z);
	EXPECT_EQ(sdp_zsink_due(&z), SDP_MID_DATA) << "it has crossed the report";
}

TEST_F(Sink, WhatCrossesSendSmIsVoid)
{
	ASSERT_EQ(advertise(100), 1);
	sdp_zsink_refuse(&z);
	sdp_zsink_told(&z, SDP_MID_SENDSM, 6);
	sdp_zsink_heard(&z, 5);
	EXPECT_EQ(advertise(100), 0);
	EXPECT_EQ(advertise(100, 1), -EPROTO);
	EXPECT_EQ(sdp_zsink_readable(&z), 0U);
	sdp_zsink_heard(&z, 6);
	EXPECT_EQ(advertise(100), 1) << "sent after it was seen";
}

TEST_F(Sink, RefusalCoversWhatComesBeforeItLeaves)
{
	ASSERT_EQ(advertise(100), 1);
	sdp_zsink_read(&z, 100);
	sdp_zsink_refuse(&z);
	ASSERT_EQ(advertise(100), 1);
	sdp_zsink_read_done(&z, 100);
	sdp_zsink_told(&z, SDP_MID_RDMARDCOMPL, 5);
	EXPECT_EQ(sdp_zsink_due(&z), SDP_MID_SENDSM);
}

} // namespace
