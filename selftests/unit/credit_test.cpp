// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * The rules of credit-based flow control one by one.
 */
#include <cerrno>

#include <gtest/gtest.h>

extern "C" {
#include "flow/credit.h"
}

namespace
{

sdp_credit start(u32 rx_total, u32 peer_bufs)
{
	sdp_credit c;

	sdp_credit_init(&c, rx_total, peer_bufs);
	return c;
}

/** A header as the peer would send it. */
sdp_bsdh from_peer(u32 mseq, u32 mseq_ack, u16 bufs)
{
	return {SDP_MID_DATA, 0, bufs, SDP_BSDH_LEN, mseq, mseq_ack};
}

int receive(sdp_credit &c, const sdp_bsdh &bsdh)
{
	return sdp_credit_receive(&c, &bsdh, 1);
}

sdp_bsdh transmit(sdp_credit &c)
{
	sdp_bsdh bsdh = {};

	sdp_credit_transmit(&c, &bsdh, 1);
	return bsdh;
}

bool may_send(const sdp_credit &c, sdp_mid mid, u32 payload_len = 0)
{
	return sdp_credit_may_send(&c, mid, payload_len);
}

void expect_unchanged(const sdp_credit &c, const sdp_credit &before)
{
	EXPECT_EQ(c.tx_mseq, before.tx_mseq);
	EXPECT_EQ(c.tx_acked, before.tx_acked);
	EXPECT_EQ(c.tx_bufs, before.tx_bufs);
	EXPECT_EQ(c.rx_mseq, before.rx_mseq);
	EXPECT_EQ(c.rx_posted, before.rx_posted);
	EXPECT_EQ(c.rx_advertised, before.rx_advertised);
}

TEST(Credit, FirstCreditsComeFromTheHello)
{
	const sdp_credit c = start(64, 16);

	EXPECT_EQ(sdp_credit_available(&c), 16U);
	EXPECT_EQ(c.rx_advertised, 64U);
	EXPECT_FALSE(sdp_credit_want_update(&c));
}

TEST(Credit, FirstMessageIsNumberOne)
{
	sdp_credit c = start(64, 16);
	const sdp_bsdh bsdh = transmit(c);

	EXPECT_EQ(bsdh.mseq, 1U);
	EXPECT_EQ(bsdh.mseq_ack, 0U);
	EXPECT_EQ(bsdh.bufs, 64U);
	EXPECT_EQ(sdp_credit_available(&c), 15U);
	EXPECT_EQ(transmit(c).mseq, 2U);
}

// The other way to write it: mseq_ack - next mseq + 1 + bufs.
TEST(Credit, AvailableAsTheStandardCounts)
{
	sdp_credit c = start(64, 16);

	for (int i = 0; i < 7; i++)
		transmit(c);
	ASSERT_EQ(receive(c, from_peer(1, 5, 14)), 0);
	const u32 next_mseq = 8;
	EXPECT_EQ(sdp_credit_available(&c), 5 - next_mseq + 1 + 14);
}

TEST(Credit, DataNeedsMoreThanTwo)
{
	sdp_credit c = start(64, 4);

	EXPECT_TRUE(may_send(c, SDP_MID_DATA, 1));
	transmit(c);
	ASSERT_EQ(sdp_credit_available(&c), 3U);
	EXPECT_TRUE(may_send(c, SDP_MID_DATA, 1));
	EXPECT_TRUE(may_send(c, SDP_MID_SRCAVAIL));
	EXPECT_TRUE(may_send(c, SDP_MID_SINKAVAIL));
	transmit(c);
	ASSERT_EQ(sdp_credit_available(&c), 2U);
	EXPECT_FALSE(may_send(c, SDP_MID_DATA, 1));
	EXPECT_FALSE(may_send(c, SDP_MID_SRCAVAIL));
	EXPECT_FALSE(may_send(c, SDP_MID_SINKAVAIL));
}

TEST(Credit, SeveralWithPayloadUntilTwoAreLeft)
{
	sdp_credit c = start(8, 5);

	for (u32 left = 3; left > 0; left--) {
		EXPECT_EQ(sdp_credit_data(&c), left);
		transmit(c);
	}
	EXPECT_EQ(sdp_credit_data(&c), 0U);
	transmit(c);
	transmit(c);
	EXPECT_EQ(sdp_credit_data(&c), 0U) << "fewer than are kept";
}

TEST(Credit, ControlNeedsTwo)
{
	sdp_credit c = start(64, 3);

	transmit(c);
	ASSERT_EQ(sdp_credit_available(&c), 2U);
	EXPECT_TRUE(may_send(c, SDP_MID_SENDSM));
	EXPECT_TRUE(may_send(c, SDP_MID_DATA));
	transmit(c);
	ASSERT_EQ(sdp_credit_available(&c), 1U);
	EXPECT_FALSE(may_send(c, SDP_MID_SENDSM));
	EXPECT_FALSE(may_send(c, SDP_MID_RDMARDCOMPL));
	EXPECT_FALSE(may_send(c, SDP_MID_DATA));
}

TEST(Credit, LastIsForMessagesThatGiveCredits)
{
	sdp_credit c = start(64, 4);

	for (int i = 0; i < 3; i++)
		transmit(c);
	ASSERT_EQ(receive(c, from_peer(1, 3, 1)), 0);
	ASSERT_EQ(sdp_credit_available(&c), 1U);
	EXPECT_FALSE(may_send(c, SDP_MID_DATA));
	sdp_credit_posted(&c, 1);
	EXPECT_TRUE(may_send(c, SDP_MID_DATA));
	EXPECT_TRUE(may_send(c, SDP_MID_RDMARDCOMPL));
	EXPECT_FALSE(may_send(c, SDP_MID_DATA, 1));
	EXPECT_FALSE(may_send(c, SDP_MID_SRCAVAIL));
	transmit(c);
	EXPECT_FALSE(may_send(c, SDP_MID_DATA));
}

TEST(Credit, LastIsForTheEndOfTheStream)
{
	sdp_credit c = start(64, 3);

	transmit(c);
	transmit(c);
	ASSERT_EQ(sdp_credit_available(&c), 1U);
	EXPECT_TRUE(may_send(c, SDP_MID_DISCONN));
	EXPECT_TRUE(may_send(c, SDP_MID_ABORTCONN));
	transmit(c);
	ASSERT_EQ(sdp_credit_available(&c), 0U);
	EXPECT_FALSE(may_send(c, SDP_MID_DISCONN));
	EXPECT_FALSE(may_send(c, SDP_MID_ABORTCONN));
	EXPECT_FALSE(may_send(c, SDP_MID_DATA));
}

TEST(Credit, ReceivingConsumesABuffer)
{
	sdp_credit c = start(8, 8);

	ASSERT_EQ(receive(c, from_peer(1, 0, 8)), 0);
	EXPECT_EQ(c.rx_posted, 7U);
	EXPECT_EQ(c.rx_advertised, 7U);
	EXPECT_EQ(c.rx_mseq, 1U);
	const sdp_bsdh bsdh = transmit(c);
	EXPECT_EQ(bsdh.mseq_ack, 1U);
	EXPECT_EQ(bsdh.bufs, 7U);
}

TEST(Credit, UpdateAtHalf)
{
	sdp_credit c = start(8, 8);

	for (u32 mseq = 1; mseq <= 4; mseq++) {
		EXPECT_FALSE(sdp_credit_want_update(&c)) << mseq;
		ASSERT_EQ(receive(c, from_peer(mseq, 0, 8)), 0);
		sdp_credit_posted(&c, 1);
	}
	EXPECT_TRUE(sdp_credit_want_update(&c));
	EXPECT_EQ(transmit(c).bufs, 8U);
	EXPECT_FALSE(sdp_credit_want_update(&c));
}

TEST(Credit, DataTakesTheUpdateAlong)
{
	sdp_credit c = start(8, 8);

	for (u32 mseq = 1; mseq <= 3; mseq++) {
		ASSERT_EQ(receive(c, from_peer(mseq, 0, 8)), 0);
		sdp_credit_posted(&c, 1);
	}
	transmit(c);
	ASSERT_EQ(receive(c, from_peer(4, 1, 8)), 0);
	sdp_credit_posted(&c, 1);
	EXPECT_FALSE(sdp_credit_want_update(&c));
}

// Nothing was read; there is nothing to give.
TEST(Credit, NoUpdateWithoutGain)
{
	sdp_credit c = start(4, 4);

	for (u32 mseq = 1; mseq <= 4; mseq++)
		ASSERT_EQ(receive(c, from_peer(mseq, 0, 4)), 0);
	EXPECT_EQ(c.rx_advertised, 0U);
	EXPECT_FALSE(sdp_credit_want_update(&c));
	sdp_credit_posted(&c, 1);
	EXPECT_TRUE(sdp_credit_want_update(&c));
}

TEST(Credit, OneBufferForAPeerWithoutAnyIsWorthAnUpdate)
{
	sdp_credit c = start(64, 64);

	for (u32 mseq = 1; mseq <= 63; mseq++)
		ASSERT_EQ(receive(c, from_peer(mseq, 0, 64)), 0);
	sdp_credit_posted(&c, 1);
	EXPECT_FALSE(sdp_credit_want_update(&c));
	ASSERT_EQ(receive(c, from_peer(64, 0, 64)), 0);
	EXPECT_TRUE(sdp_credit_want_update(&c));
}

class CreditRefuses : public testing::Test
{
protected:
	/** Three messages sent, one of them acknowledged; one received. */
	void SetUp() override
	{
		c = start(8, 8);
		for (int i = 0; i < 3; i++)
			transmit(c);
		ASSERT_EQ(receive(c, from_peer(1, 1, 7)), 0);
	}

	void expect_refused(const sdp_bsdh &bsdh)
	{
		const sdp_credit before = c;

		EXPECT_EQ(receive(c, bsdh), -EPROTO);
		expect_unchanged(c, before);
	}

	sdp_credit c;
};

TEST_F(CreditRefuses, NothingOfThis)
{
	EXPECT_EQ(receive(c, from_peer(2, 1, 7)), 0);
}

TEST_F(CreditRefuses, WrongSequence)
{
	for (const u32 mseq : {0U, 1U, 3U, 0x80000002U, UINT32_MAX})
		expect_refused(from_peer(mseq, 1, 7));
}

TEST_F(CreditRefuses, AcknowledgementThatGoesBack)
{
	expect_refused(from_peer(2, 0, 8));
	expect_refused(from_peer(2, UINT32_MAX, 65535));
}

TEST_F(CreditRefuses, AcknowledgementOfWhatWasNotSent)
{
	expect_refused(from_peer(2, 4, 8));
	expect_refused(from_peer(2, 0x80000000, 8));
	EXPECT_EQ(receive(c, from_peer(2, 3, 8)), 0);
}

TEST_F(CreditRefuses, TakingBackCredits)
{
	expect_refused(from_peer(2, 1, 6));
	expect_refused(from_peer(2, 3, 4));
	expect_refused(from_peer(2, 3, 0));
	EXPECT_EQ(receive(c, from_peer(2, 3, 5)), 0);
	EXPECT_EQ(sdp_credit_available(&c), 5U);
}

TEST_F(CreditRefuses, MessageWithoutCredit)
{
	for (u32 mseq = 2; mseq <= 8; mseq++)
		ASSERT_EQ(receive(c, from_peer(mseq, 3, 8)), 0);
	expect_refused(from_peer(9, 3, 8));
	// A buffer that the peer has not been told of does not count.
	sdp_credit_posted(&c, 1);
	expect_refused(from_peer(9, 3, 8));
	transmit(c);
	EXPECT_EQ(receive(c, from_peer(9, 3, 8)), 0);
}

TEST(Credit, MostBuffersThatFitInAHeader)
{
	sdp_credit c = start(SDP_CREDIT_BUFS_MAX, 65535);

	EXPECT_EQ(transmit(c).bufs, 65535);
	EXPECT_EQ(sdp_credit_available(&c), 65534U);
	ASSERT_EQ(receive(c, from_peer(1, 1, 65535)), 0);
	EXPECT_EQ(sdp_credit_available(&c), 65535U);
}

TEST(Credit, SequenceNumbersWrap)
{
	sdp_credit c = start(8, 8);

	c.tx_mseq = c.tx_acked = UINT32_MAX - 1;
	c.rx_mseq = UINT32_MAX;
	EXPECT_EQ(transmit(c).mseq, UINT32_MAX);
	EXPECT_EQ(transmit(c).mseq, 0U);
	EXPECT_EQ(transmit(c).mseq, 1U);
	EXPECT_EQ(sdp_credit_available(&c), 5U);
	EXPECT_EQ(receive(c, from_peer(0, 2, 8)), -EPROTO);
	EXPECT_EQ(receive(c, from_peer(0, UINT32_MAX - 2, 8)), -EPROTO);
	ASSERT_EQ(receive(c, from_peer(0, 0, 8)), 0);
	EXPECT_EQ(sdp_credit_available(&c), 7U);
	ASSERT_EQ(receive(c, from_peer(1, 1, 8)), 0);
	EXPECT_EQ(sdp_credit_available(&c), 8U);
}

TEST(Credit, NewBuffersAreCreditsToGive)
{
	sdp_credit c = start(8, 8);

	sdp_credit_added(&c, 4);
	EXPECT_EQ(c.rx_total, 12U);
	EXPECT_FALSE(sdp_credit_want_update(&c));
	sdp_credit_added(&c, 8);
	EXPECT_TRUE(sdp_credit_want_update(&c)) << "12 of 20 are news";
	EXPECT_EQ(transmit(c).bufs, 20U);
	EXPECT_FALSE(sdp_credit_want_update(&c));
}

TEST(Credit, BufferThatGoesAwayTakesNothingBack)
{
	sdp_credit c = start(8, 8);

	ASSERT_EQ(receive(c, from_peer(1, 0, 8)), 0);
	sdp_credit_removed(&c);
	EXPECT_EQ(c.rx_total, 7U);
	const sdp_bsdh bsdh = transmit(c);
	// The bound of what the peer may send, 8, has not moved.
	EXPECT_EQ(bsdh.mseq_ack + bsdh.bufs, 8U);
}

bool is_probe(const sdp_credit &c, const sdp_bsdh &bsdh)
{
	return sdp_credit_is_probe(&c, &bsdh);
}

TEST(Credit, EmptyMessageWithoutCreditsIsProbe)
{
	sdp_credit c = start(8, 8);

	EXPECT_TRUE(is_probe(c, from_peer(1, 0, 8)));
	transmit(c);
	/* Acknowledging alone gives nothing: the buffer is still taken. */
	EXPECT_TRUE(is_probe(c, from_peer(1, 1, 7)));
	EXPECT_FALSE(is_probe(c, from_peer(1, 1, 8)));
	EXPECT_FALSE(is_probe(c, from_peer(1, 0, 9)));
}

TEST(Credit, OnlyDataIsProbe)
{
	sdp_credit c = start(8, 8);
	sdp_bsdh bsdh = from_peer(1, 0, 8);

	bsdh.mid = SDP_MID_DISCONN;
	EXPECT_FALSE(is_probe(c, bsdh));
}

/** Whatever is asked, the answer asks nothing. */
TEST(Credit, AnswerToProbeIsNoProbe)
{
	sdp_credit a = start(8, 8);
	sdp_credit b = start(8, 8);
	sdp_bsdh question = transmit(a);

	question.mid = SDP_MID_DATA;
	ASSERT_TRUE(is_probe(b, question));
	ASSERT_EQ(receive(b, question), 0);
	sdp_credit_posted(&b, 1);
	sdp_bsdh answer = transmit(b);

	answer.mid = SDP_MID_DATA;
	EXPECT_FALSE(is_probe(a, answer));
	EXPECT_EQ(receive(a, answer), 0);
	EXPECT_EQ(sdp_credit_available(&a), 8U);
}

TEST(Credit, ProbeMayNotCarryCredits)
{
	sdp_credit c = start(8, 8);

	EXPECT_TRUE(sdp_credit_may_probe(&c));
	ASSERT_EQ(receive(c, from_peer(1, 0, 8)), 0);
	sdp_credit_posted(&c, 1);
	EXPECT_FALSE(sdp_credit_may_probe(&c));
	transmit(c);
	EXPECT_TRUE(sdp_credit_may_probe(&c));
}

TEST(Credit, LastCreditForProbeOnlyIfPeerCanAnswer)
{
	sdp_credit c = start(2, 1);

	EXPECT_TRUE(sdp_credit_may_probe(&c));
	ASSERT_EQ(receive(c, from_peer(1, 0, 1)), 0);
	ASSERT_EQ(receive(c, from_peer(2, 0, 1)), 0);
	EXPECT_FALSE(sdp_credit_may_probe(&c));
	c = start(8, 1);
	transmit(c);
	EXPECT_FALSE(sdp_credit_may_probe(&c));
}

TEST(Credit, ProbeThatLeavesACreditNeedsNoAnswer)
{
	sdp_credit c = start(2, 2);

	ASSERT_EQ(receive(c, from_peer(1, 0, 2)), 0);
	ASSERT_EQ(receive(c, from_peer(2, 0, 2)), 0);
	EXPECT_EQ(sdp_credit_available(&c), 2U);
	EXPECT_TRUE(sdp_credit_may_probe(&c));
}

} // namespace
