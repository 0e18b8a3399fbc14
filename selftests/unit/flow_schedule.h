// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * What two ends with rings do for a while, and that nobody is stuck then.
 */
#pragma once

#include "choice.h"
#include "flow_link.h"

class FlowSchedule
{
public:
	FlowSchedule(Choice &choice, Engine engine)
		: choice_(choice), sizes_({size(), size()}),
		  link_(engine, sizes_, pick(1, 2 * most_), pick(0, 3) ? pick(1, 512) : 0)
	{
		// Half of the schedules pass the wrap of all positions.
		link_.start_at(pick(0, 1) ? 0 - pick(1, 4 * most_) : pick(0, UINT32_MAX));
		if (pick(0, 1))
			link_.tell_halves();
	}

	/** Runs @p steps events, then checks that nobody is stuck. */
	void phase(u32 steps)
	{
		for (u32 &mood : mood_)
			mood = pick(0, 3) == 0 ? 0 : pick(1, 100);
		// Most programs write and read little at a time; some do not.
		chunk_ = pick(0, 9) ? 64 : 2 * most_;
		link_.set_late(pick(0, 1));
		for (u32 n = 0; n < steps && !testing::Test::HasFatalFailure(); n++)
			step();
		drain();
	}

	[[nodiscard]] const FlowLink &link() const
	{
		return link_;
	}

private:
	u32 pick(u32 from, u32 to)
	{
		return choice_.pick(from, to);
	}

	u32 size()
	{
		const u32 bytes = SDP_RING_MIN << pick(0, 3);

		most_ = std::max(most_, bytes);
		return bytes;
	}

	void step()
	{
		const int i = pick(0, 1) ? 1 : 0;

		switch (pick(0, 3)) {
		case 0:
			// The send ring takes only so much.
			if (pick(1, 100) <= mood_.at(i) &&
			    link_.side(i).written - link_.side(i).sent < 2 * most_)
				link_.write(i, pick(1, chunk_));
			break;
		case 1:
			if (pick(1, 100) <= mood_.at(2 + i))
				link_.read(i, pick(1, chunk_));
			break;
		case 2:
			if (pick(1, 10) == 1)
				link_.timer(i);
			break;
		default:
			if (!link_.side(1 - i).wire.empty())
				link_.deliver(i);
		}
	}

	/**
	 * What is held and has space leaves, without any call of its program: one
	 * side's reader is enough, and the other's need not read at all.
	 */
	void drain()
	{
		for (int reader = 0; reader < 2 && !testing::Test::HasFatalFailure(); reader++) {
			const int writer = 1 - reader;

			link_.settle();
			for (u32 rounds = 0; link_.side(reader).read < link_.side(writer).written;
			     rounds++) {
				ASSERT_LT(rounds, 100000U)
					<< "side " << writer << " waits for ever with "
					<< link_.side(writer).written - link_.side(writer).sent
					<< " bytes";
				link_.read(reader, UINT32_MAX);
				link_.settle();
				// What has just begun to wait waits once more.
				for (int n = 0; n < 2; n++) {
					link_.timer(writer);
					link_.settle();
				}
				if (testing::Test::HasFatalFailure())
					return;
				ASSERT_TRUE(!link_.must_progress(writer) ||
					    link_.side(reader).received > link_.side(reader).read)
					<< "space for what side " << writer << " holds";
			}
		}
	}

	Choice &choice_;
	u32 most_ = 0;
	u32 chunk_ = 0;
	std::array<u32, 4> mood_ = {};
	std::array<u32, 2> sizes_;
	FlowLink link_;
};
