// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * What two ends that advertise memory do for a while, and that nobody is stuck then.
 */
#pragma once

#include "choice.h"
#include "zcopy_link.h"

class ZcopySchedule
{
public:
	explicit ZcopySchedule(Choice &choice)
		: choice_(choice), link_({pick(4, 12), pick(4, 12)}, pick(1, SDP_ZCOPY_ADVERTS),
					 pick(0, 1) ? 0 - pick(1, 200) : pick(0, UINT32_MAX))
	{
	}

	/** Runs @p steps events, then checks that nobody is stuck. */
	void phase(u32 steps)
	{
		for (u32 &mood : mood_)
			mood = pick(0, 3) == 0 ? 0 : pick(1, 100);
		for (u32 n = 0; n < steps && !testing::Test::HasFatalFailure(); n++)
			step();
		drain();
	}

	[[nodiscard]] const ZcopyLink &link() const
	{
		return link_;
	}

private:
	u32 pick(u32 from, u32 to)
	{
		return choice_.pick(from, to);
	}

	bool feel(u32 which)
	{
		return pick(1, 100) <= mood_.at(which);
	}

	/** What a program does. */
	void act(int i)
	{
		switch (pick(0, 6)) {
		case 0:
			if (link_.side(i).written - link_.side(i).sent < 100)
				link_.write(i, pick(1, 60));
			break;
		case 1:
			if (feel(i))
				link_.choose(i, pick(1, 60), pick(0, 1) ? pick(0, 10) : 0);
			break;
		case 2:
			if (feel(2 + i))
				link_.take(i, pick(1, 4));
			break;
		case 3:
			if (feel(2 + i))
				link_.read_begin(i, pick(1, 40));
			break;
		case 4:
			if (feel(4 + i) && !pick(0, 4))
				link_.refuse(i);
			break;
		case 5:
			if (feel(4 + i) && !pick(0, 4))
				link_.cancel(i);
			break;
		default:
			link_.read_end(i);
		}
	}

	void step()
	{
		const int i = pick(0, 1) ? 1 : 0;

		if (pick(0, 2))
			act(i);
		else if (!link_.side(1 - i).wire.empty())
			link_.deliver(i);
	}

	/** Delivers all messages; devices are done, programs do nothing. */
	void settle()
	{
		u32 delivered = 0;

		link_.read_all(0);
		link_.read_all(1);
		while (!link_.idle() && !testing::Test::HasFatalFailure()) {
			ASSERT_LT(delivered++, 100000U) << "messages without end";
			link_.deliver(link_.side(1).wire.empty() ? 1 : 0);
		}
	}

	/** Once all patience is over everybody has his memory, though nobody reads. */
	void cancel()
	{
		link_.cancel(0);
		link_.cancel(1);
		settle();
		for (int i = 0; i < 2 && !testing::Test::HasFatalFailure(); i++) {
			ASSERT_FALSE(sdp_zsource_busy(&link_.side(i).source))
				<< "side " << i << " waits for ever for its memory";
			ASSERT_TRUE(link_.side(i).memory.empty());
		}
	}

	/**
	 * All arrives where one program reads, be it by copy only or as it comes.
	 * A report may wait for a credit, which the writers' patience brings.
	 */
	void drain()
	{
		settle();
		if (pick(0, 1))
			cancel();
		for (int reader = 0; reader < 2 && !testing::Test::HasFatalFailure(); reader++) {
			const int writer = 1 - reader;
			const bool refuse = pick(0, 1);

			for (u32 rounds = 0;
			     link_.side(reader).received < link_.side(writer).written; rounds++) {
				ASSERT_LT(rounds, 10000U)
					<< "side " << writer << " waits for ever at "
					<< link_.side(reader).received << " of "
					<< link_.side(writer).written << " bytes";
				link_.choose(writer, 0, 0);
				link_.take(reader, UINT32_MAX);
				if (refuse)
					link_.refuse(reader);
				else
					link_.read_begin(reader, 40);
				settle();
				if (rounds % 8 == 7) {
					link_.cancel(writer);
					link_.cancel(reader);
				}
				if (testing::Test::HasFatalFailure())
					return;
			}
		}
	}

	Choice &choice_;
	std::array<u32, 6> mood_ = {};
	ZcopyLink link_;
};
