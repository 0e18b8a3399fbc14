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
	 * Set the rates of sockets since the last look; of those that were not there then,
	 * or have begun another connection since, none.
	 */
	void look(std::vector<Socket> &sockets, Clock::time_point now);

private:
	struct Seen {
		std::uint64_t in = 0;
		std::uint64_t out = 0;
	};

	std::unordered_map<std::uint64_t, Seen> last_;
	Clock::time_point when_;
};

} // namespace sdpstat

#endif // SDPSTAT_WATCH_H
