// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Memory of a reader that the peer may write to: every order in which the messages of
 * both ends can cross leaves no write behind the end, and no end out.
 */
#include <random>

#include <gtest/gtest.h>

#include "seed.h"
#include "sinkavail_link.h"

namespace
{

/** All orders of so few steps, each brought to its end. */
TEST(SinkAvail, AllOrders)
{
	constexpr unsigned STEPS = 6;
	unsigned orders = 1;

	for (unsigned i = 0; i < STEPS; i++)
		orders *= sink_acts;
	for (unsigned order = 0; order < orders; order++) {
		SinkLink link;
		unsigned rest = order;

		for (unsigned i = 0; i < STEPS; i++, rest /= sink_acts)
			act(link, rest % sink_acts);
		link.settle();
		ASSERT_FALSE(::testing::Test::HasFailure()) << "order " << order;
	}
}

TEST(SinkAvail, ManySteps)
{
	std::mt19937 random(seed());
	SinkLink link;

	// More arrives than is sent, so that there is often nothing on its way.
	for (int i = 0; i < 200000; i++) {
		const unsigned what = random() % (3 * sink_acts);

		act(link, what < sink_acts ? what : 6 + what % 3);
	}
	link.settle();
	EXPECT_GT(link.direct(), 100U);
}

TEST(SinkAvail, WriterLies)
{
	sdp_sinkadvert advert = {};

	EXPECT_EQ(sdp_sinkadvert_written(&advert, 1), -EPROTO);
	EXPECT_EQ(sdp_sinkadvert_cancelled(&advert), -EPROTO);
	sdp_sinkadvert_begin(&advert, sink_size);
	EXPECT_EQ(sdp_sinkadvert_written(&advert, 1), -EPROTO);
	sdp_sinkadvert_sent(&advert);
	EXPECT_EQ(sdp_sinkadvert_written(&advert, sink_size + 1), -EPROTO);
	EXPECT_EQ(sdp_sinkadvert_cancelled(&advert), -EPROTO);
	EXPECT_EQ(sdp_sinkadvert_written(&advert, sink_size), 0);
	EXPECT_EQ(sdp_sinkadvert_written(&advert, 1), -EPROTO);
}

/** A key that ends without the peer's consent: it is still asked, and has to answer. */
TEST(SinkAvail, Revoked)
{
	sdp_sinkadvert advert = {};

	sdp_sinkadvert_begin(&advert, sink_size);
	sdp_sinkadvert_sent(&advert);
	sdp_sinkadvert_cancel(&advert);
	sdp_sinkadvert_revoke(&advert);
	EXPECT_EQ(advert.state, SDP_SINKADVERT_OVER);
	sdp_sinkadvert_end(&advert);
	EXPECT_TRUE(advert.cancel_due);
	EXPECT_TRUE(sdp_sinkadvert_reserves(&advert));
	EXPECT_FALSE(sdp_sinkadvert_may_begin(&advert));
	sdp_sinkadvert_cancel_sent(&advert);
	EXPECT_FALSE(sdp_sinkadvert_may_begin(&advert));
	EXPECT_EQ(sdp_sinkadvert_written(&advert, 1), -EPROTO);
	EXPECT_EQ(sdp_sinkadvert_cancelled(&advert), 0);
	EXPECT_TRUE(sdp_sinkadvert_may_begin(&advert));
}

TEST(SinkAvail, ReaderLies)
{
	const sdp_sinkah sinkah = {sink_size, 7, 0, 5};
	sdp_sinktarget target = {};

	EXPECT_EQ(sdp_sinktarget_advertised(&target, &sinkah, 5, false), 0);
	EXPECT_EQ(sdp_sinktarget_advertised(&target, &sinkah, 5, false), -EPROTO);
	EXPECT_EQ(sdp_sinktarget_cancelled(&target), 0);
	EXPECT_FALSE(sdp_sinktarget_usable(&target, 5));
	EXPECT_EQ(sdp_sinktarget_cancelled(&target), -EPROTO);
	EXPECT_EQ(sdp_sinktarget_advertised(&target, &sinkah, 5, false), -EPROTO);
	sdp_sinktarget_acked(&target);
	EXPECT_EQ(sdp_sinktarget_advertised(&target, &sinkah, 6, false), 0);
	EXPECT_FALSE(sdp_sinktarget_usable(&target, 6)) << "it knows of fewer messages";
	EXPECT_EQ(sdp_sinktarget_advertised(&target, &sinkah, 5, true), 0);
	EXPECT_FALSE(sdp_sinktarget_usable(&target, 5)) << "what we offer comes first";
}

/** Whatever may be sent, both requests for an end can still be. */
TEST(SinkAvail, CreditsAreKept)
{
	for (u32 credits = 0; credits < 12; credits++) {
		sdp_zsource source = {};
		sdp_sinkadvert advert = {};
		sdp_credit credit = {};

		sdp_credit_init(&credit, 8, credits);
		sdp_zsource_init(&source, 4);
		const auto send = [&](sdp_mid mid) {
			sdp_bsdh bsdh = {};

			if (!sdp_zcopy_may_send(&source, &advert, &credit, mid, 0))
				return false;
			sdp_credit_transmit(&credit, &bsdh, 1);
			return true;
		};
		if (send(SDP_MID_SRCAVAIL))
			sdp_zsource_advertise(&source, credit.tx_mseq, 1);
		sdp_sinkadvert_begin(&advert, sink_size);
		if (send(SDP_MID_SINKAVAIL))
			sdp_sinkadvert_sent(&advert);
		while (send(SDP_MID_DATA) || send(SDP_MID_RDMARDCOMPL))
			;
		sdp_zsource_cancel(&source);
		if (source.cancel_due) {
			EXPECT_TRUE(send(SDP_MID_SRCAVAILCANCEL)) << credits;
			sdp_zsource_cancel_sent(&source);
		}
		sdp_sinkadvert_cancel(&advert);
		if (advert.cancel_due) {
			EXPECT_TRUE(send(SDP_MID_SINKAVAILCANCEL)) << credits;
		}
	}
}

} // namespace
