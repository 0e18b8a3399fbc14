// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * How fast connections are, by looking twice.
 */
#ifndef SDPSTAT_WATCH_H
#define SDPSTAT_WATCH_H

#include "table.h"

#include <chrono>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace sdpstat
{

class Watch
{
public:
	using Clock = std::chrono::steady_clock;

	/**
	 * Set the rates of connections since the last look. None is known of those that were
	 * not there then, whose counters have begun anew, or whose bytes TCP carries, which
	 * counts none for us. Stalls are known if the sockets have what flow control did.
	 */
	void look(std::vector<Socket> &sockets, Clock::time_point now);

private:
	struct Seen {
		std::uint64_t in = 0;
		std::uint64_t out = 0;
		std::uint64_t zcopy = 0;
		std::uint64_t stalls = 0;
	};

	static Seen seen_of(const Socket &socket);
	static bool goes_on(const Seen &before, const Seen &now);
	static Rate rate_between(const Seen &before, const Seen &now, double seconds);

	std::unordered_map<std::uint64_t, Seen> last_;
	Clock::time_point when_;
};

} // namespace sdpstat

#endif // SDPSTAT_WATCH_H
