// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * The end that asks for passes and holds the clock.
 */
#ifndef SDPBENCH_CLIENT_H
#define SDPBENCH_CLIENT_H

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "protocol.h"
#include "socket.h"

namespace sdpbench
{

struct Plan {
	Test test;
	bool nodelay;
	std::uint64_t message;		       /**< bytes */
	std::uint64_t total;		       /**< bytes of a connection in one direction, timed */
	std::uint64_t burst;		       /**< messages of a burst */
	std::chrono::microseconds computation; /**< after each burst */
	unsigned repeat;		       /**< timed passes */
	unsigned connections = 1;
	bool uneven = false; /**< computation takes a random time, that one on average */
};

/** What one timed pass gave. */
struct Pass {
	double seconds;
	/** Seconds that processors of this node were busy, if the kernel tells. */
	std::optional<double> busy;
	/** Bytes that the server had not read yet, on average; for Test::fill. */
	std::uint64_t unread;
	/** Half a round trip each, in seconds, ascending; none but for latency. */
	std::vector<double> one_way;
};

/**
 * Run a pass that checks every byte and is not timed, then the timed ones, on
 * all connections at once, each in a thread of its own if there are several. A
 * pass of all of them took as long as the longest, and a round trip as long as
 * on average. The connections are new, and made for this.
 * @throw std::runtime_error if a byte was wrong.
 */
[[nodiscard]] std::vector<Pass> run_plan(std::vector<Stream> &streams, const Plan &plan);

} // namespace sdpbench

#endif // SDPBENCH_CLIENT_H
