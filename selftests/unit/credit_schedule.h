// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * What two ends with credits do for a while, and that nobody is stuck then.
 */
#pragma once

#include "choice.h"
#include "credit_link.h"

/** How two programs behave for a while: chances out of 100 in a step. */
struct CreditMood {
	u32 write[2];
	u32 read[2];
	u32 control[2];
	/** Out of 10000, because it can happen only once. */
	u32 end;
};

class CreditSchedule
{
public:
	CreditSchedule(Choice &choice, std::array<u32, 2> buffers)
		: choice_(choice), link_(buffers, choice.pick(0, UINT32_MAX)),
		  limit_(4 * (buffers[0] + buffers[1]) + 64)
	{
	}

	/** Runs @p steps events, then checks that nobody is stuck. */
	void phase(u32 steps)
	{
		const CreditMood mood = {{chance(), chance()},
					 {chance(), chance()},
					 {chance(), chance()},
					 choice_.pick(0, 5)};

		for (u32 n = 0; n < steps && !testing::Test::HasFatalFailure(); n++)
			step(mood);
		check();
	}

	[[nodiscard]] u64 sent() const
	{
		return sent_;
	}

private:
	/** Sometimes never: a program that only writes is the hard case. */
	u32 chance()
	{
		return choice_.pick(0, 3) == 0 ? 0 : choice_.pick(1, 100);
	}

	bool luck(u32 percent)
	{
		return choice_.pick(1, 100) <= percent;
	}

	void step(const CreditMood &mood)
	{
		const int i = choice_.pick(0, 1) ? 1 : 0;

		switch (choice_.pick(0, 3)) {
		case 0:
			if (luck(mood.write[i]) && link_.may_send_data(i)) {
				link_.send_data(i);
				sent_++;
			}
			break;
		case 1:
			if (link_.side(i).unread > 0 && luck(mood.read[i]))
				link_.read(i, choice_.pick(1, link_.side(i).unread));
			break;
		case 2:
			if (luck(mood.control[i]) && link_.may_send_control(i))
				link_.send_control(i);
			else if (choice_.pick(1, 10000) <= mood.end && link_.may_end(i))
				link_.end(i);
			break;
		default:
			if (!link_.to(i).empty())
				link_.deliver(i, luck(mood.write[i]));
		}
	}

	void check()
	{
		ASSERT_LE(settle(link_, limit_), limit_) << "updates without end";
		expect_no_starvation(link_, limit_);
	}

	Choice &choice_;
	CreditLink link_;
	u32 limit_;
	u64 sent_ = 0;
};
