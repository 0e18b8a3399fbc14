// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * A reader whose memory the peer may write to, and this peer, with a wire in each direction.
 */
#pragma once

#include <algorithm>
#include <deque>

#include <gtest/gtest.h>

extern "C" {
#include "zcopy/sinkavail.h"
}

constexpr u32 sink_size = 1000;

/** What is on its way, as far as it matters here. */
struct SinkMessage {
	sdp_mid mid;
	u32 len;
	u32 count;
	u32 mseq;
	u32 mseq_ack;
};

/**
 * A writer and a reader, with a wire in each direction.  The writer may write only while
 * the reader's key lives, which the model knows.
 */
class SinkLink
{
public:
	SinkLink()
	{
		sdp_zsource_init(&source_, SDP_ZCOPY_ADVERTS);
		sdp_zsink_init(&sink_, SDP_ZCOPY_ADVERTS);
	}

	/** The reader is about to wait, has waited enough, or is done with it. */
	void read()
	{
		if (!sdp_sinkadvert_may_begin(&advert_))
			return;
		sdp_sinkadvert_begin(&advert_, sink_size);
		sdp_sinkadvert_sent(&advert_);
		key_ = true;
		tell_writer(SDP_MID_SINKAVAIL, sink_size, received_);
	}

	void give_up()
	{
		sdp_sinkadvert_cancel(&advert_);
		if (!advert_.cancel_due)
			return;
		sdp_sinkadvert_cancel_sent(&advert_);
		tell_writer(SDP_MID_SINKAVAILCANCEL);
	}

	/** The reader wants what is offered by copy. */
	void refuse()
	{
		sdp_zsink_refuse(&sink_);
		if (sdp_zsink_due(&sink_) != SDP_MID_SENDSM)
			return;
		tell_writer(SDP_MID_SENDSM);
		sdp_zsink_told(&sink_, SDP_MID_SENDSM, reader_mseq_);
	}

	void end()
	{
		if (advert_.state != SDP_SINKADVERT_OVER)
			return;
		key_ = false;
		sdp_sinkadvert_end(&advert_);
	}

	/** The writer writes to the memory if it may, or sends a message. */
	void write(u32 len)
	{
		if (sdp_sinktarget_usable(&target_, sent_)) {
			EXPECT_TRUE(key_) << "written behind the end";
			sdp_sinktarget_drop(&target_);
			tell_reader(SDP_MID_RDMAWRCOMPL, std::min(len, sink_size));
			direct_++;
			return;
		}
		send();
	}

	void send()
	{
		if (sdp_zsource_busy(&source_))
			return;
		sent_++;
		tell_reader(SDP_MID_DATA, 1);
	}

	/** Or lets the reader read. */
	void offer()
	{
		if (!sdp_zsource_may_advertise(&source_))
			return;
		sdp_sinktarget_drop(&target_);
		tell_reader(SDP_MID_SRCAVAIL, sink_size);
		sdp_zsource_advertise(&source_, writer_mseq_, sink_size);
	}

	/** The next message arrives, if there is one; whether there was. */
	bool reader_hears()
	{
		if (to_reader_.empty())
			return false;
		const SinkMessage msg = to_reader_.front();

		to_reader_.pop_front();
		reader_seen_ = msg.mseq;
		sdp_zsink_heard(&sink_, msg.mseq_ack);
		if (msg.mid == SDP_MID_RDMAWRCOMPL) {
			EXPECT_EQ(sdp_sinkadvert_written(&advert_, msg.len), 0);
		} else if (msg.mid == SDP_MID_SRCAVAIL) {
			sdp_msg srcavail = {};

			srcavail.srcah = {msg.len, 7, 0};
			// What has crossed our refusal is void, and not the next of the stream.
			if (sdp_zsink_advertised(&sink_, &srcavail) > 0)
				sdp_sinkadvert_passed(&advert_);
		} else if (msg.mid == SDP_MID_SINKCANCELACK) {
			EXPECT_EQ(sdp_sinkadvert_cancelled(&advert_), 0);
		} else {
			received_++;
			sdp_sinkadvert_passed(&advert_);
		}
		return true;
	}

	bool writer_hears()
	{
		if (to_writer_.empty())
			return false;
		const SinkMessage msg = to_writer_.front();

		to_writer_.pop_front();
		writer_seen_ = msg.mseq;
		if (msg.mid == SDP_MID_SINKAVAIL) {
			const sdp_sinkah sinkah = {msg.len, 7, 0, msg.count};

			EXPECT_EQ(sdp_sinktarget_advertised(&target_, &sinkah, sent_,
							    sdp_zsource_busy(&source_)),
				  0);
		} else if (msg.mid == SDP_MID_SENDSM) {
			EXPECT_EQ(sdp_zsource_refused(&source_, msg.mseq_ack), 0);
		} else {
			EXPECT_EQ(sdp_sinktarget_cancelled(&target_), 0);
			sdp_sinktarget_acked(&target_);
			tell_reader(SDP_MID_SINKCANCELACK);
		}
		return true;
	}

	/** All arrives, and a reader that gives up gets its memory back. */
	void settle()
	{
		do {
			give_up();
			refuse();
		} while (writer_hears() || reader_hears());
		end();
		EXPECT_FALSE(sdp_zsource_busy(&source_));
		EXPECT_EQ(advert_.state, SDP_SINKADVERT_NONE);
		EXPECT_FALSE(advert_.unanswered);
		EXPECT_TRUE(sdp_sinkadvert_may_begin(&advert_));
		EXPECT_FALSE(key_);
	}

	[[nodiscard]] u32 direct() const
	{
		return direct_;
	}

private:
	void tell_reader(sdp_mid mid, u32 len = 0)
	{
		to_reader_.push_back({mid, len, 0, ++writer_mseq_, writer_seen_});
	}

	void tell_writer(sdp_mid mid, u32 len = 0, u32 count = 0)
	{
		to_writer_.push_back({mid, len, count, ++reader_mseq_, reader_seen_});
	}

	sdp_zsource source_ = {};
	sdp_zsink sink_ = {};
	/** Sequence numbers of what each end has sent last, and has seen. */
	u32 writer_mseq_ = -3U;
	u32 reader_mseq_ = -7U;
	u32 writer_seen_ = -7U;
	u32 reader_seen_ = -3U;
	sdp_sinkadvert advert_ = {};
	sdp_sinktarget target_ = {};
	std::deque<SinkMessage> to_writer_;
	std::deque<SinkMessage> to_reader_;
	/** Messages with payload; near the end of what a counter holds. */
	u32 sent_ = -3U;
	u32 received_ = -3U;
	u32 direct_ = 0;
	bool key_ = false;
};

inline void act(SinkLink &link, unsigned what)
{
	switch (what) {
	case 0:
		return link.read();
	case 1:
		return link.give_up();
	case 2:
		return link.end();
	case 3:
		return link.write(sink_size / 2);
	case 4:
		return link.send();
	case 5:
		return link.offer();
	case 6:
		return link.refuse();
	case 7:
		static_cast<void>(link.reader_hears());
		return;
	default:
		static_cast<void>(link.writer_hears());
	}
}

/** How many of these there are. */
constexpr unsigned sink_acts = 9;
