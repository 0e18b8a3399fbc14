// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * What two ends whose buffers grow and shrink do for a while, and that nobody is stuck then.
 */
#pragma once

#include <sstream>
#include <string>

#include "choice.h"
#include "rcvbuf_link.h"

/** Delivers and grows until nothing moves; returns how often. */
inline u32 settle(BufferLink &link, u32 limit)
{
	u32 moved = 0;

	for (; !link.idle() && moved <= limit; moved++) {
		const int i = link.end(1).wire.empty() ? 1 : 0;
		if (!link.end(1 - i).wire.empty())
			link.deliver(i);
		link.grow(0);
		link.grow(1);
	}
	return moved;
}

inline void read_all(BufferLink &link, int i)
{
	link.read(i, link.end(i).unread.size());
}

inline std::string state(const End &end)
{
	const sdp_credit &c = end.credit;
	std::ostringstream out;

	out << "credits " << sdp_credit_available(&c) << " posted " << c.rx_posted << " advertised "
	    << c.rx_advertised << " total " << c.rx_total << "; size " << end.rb.size << " total "
	    << end.rb.total << " fit " << end.rb.fit << " small " << end.rb.small << " unread "
	    << end.unread.size() << "\n";
	return out.str();
}

class BufferSchedule
{
public:
	explicit BufferSchedule(Choice &choice)
		: choice_(choice), link_(pick(4, 20), pick(0, 64) * BufferLink::page)
	{
	}

	void phase(u32 steps)
	{
		longest_ = pick(0, 1) ? 4 * BufferLink::most : 100;
		readers_ = pick(0, 3);
		for (u32 n = 0; n < steps && !testing::Test::HasFatalFailure(); n++)
			step(pick(0, 1) ? 1 : 0);
		check();
	}

	[[nodiscard]] u64 acks() const
	{
		return link_.end(0).acks + link_.end(1).acks;
	}

private:
	u32 pick(u32 from, u32 to)
	{
		return choice_.pick(from, to);
	}

	void upset(int i)
	{
		link_.set_pressure(i, pick(0, 3) == 0);
		link_.set_limit(i, pick(0, 64) * BufferLink::page);
		link_.set_memory(i, BufferLink::page << pick(0, 4));
	}

	void step(int i)
	{
		switch (pick(0, 9)) {
		case 0:
		case 1:
			link_.write(i, pick(1, longest_));
			break;
		case 2:
		case 3:
			if ((readers_ >> i & 1) && !link_.end(i).unread.empty())
				link_.read(i, pick(1, link_.end(i).unread.size()));
			break;
		case 4:
			link_.grow(i);
			break;
		case 5:
			if (pick(0, 20) == 0)
				upset(i);
			else if (pick(0, 3) == 0)
				link_.control(i);
			break;
		default:
			if (!link_.end(1 - i).wire.empty())
				link_.deliver(i);
		}
	}

	/** Nobody waits for ever, for credits or for an answer. */
	void check()
	{
		ASSERT_LE(settle(link_, limit), limit) << "messages without end";
		for (int i = 0; i < 2; i++) {
			BufferLink link = link_;
			read_all(link, 1 - i);
			ASSERT_LE(settle(link, limit), limit);
			ASSERT_TRUE(link.may_send(i)) << "side " << i << " waits for credits\n"
						      << state(link.end(0)) << state(link.end(1));
			for (u32 n = 0; n < 64 && link.end(i).pb.asked > 0; n++) {
				link.write(i, 1);
				ASSERT_LE(settle(link, limit), limit);
				read_all(link, 0);
				read_all(link, 1);
				ASSERT_LE(settle(link, limit), limit);
			}
			ASSERT_EQ(link.end(i).pb.asked, 0U) << "side " << i << " got no answer";
		}
	}

	static constexpr u32 limit = 4000;
	Choice &choice_;
	BufferLink link_;
	u32 longest_ = 1;
	u32 readers_ = 3;
};
