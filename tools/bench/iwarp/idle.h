// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * How long the processors had nothing to do. The kernel's own account takes a soft
 * interrupt that another interrupt hits for idle time from there on, and with
 * engines that work by timers these are most of all there is. So what is counted
 * here is how far a thread on each processor gets that runs when nobody else wants
 * to.
 */
#ifndef IWARPBENCH_IDLE_H
#define IWARPBENCH_IDLE_H

#include <atomic>
#include <cstdint>
#include <deque>
#include <thread>

namespace iwarpbench
{

class IdleMeter
{
public:
	/** Takes some time to find out how far the threads get alone. */
	IdleMeter();

	/** @return what idle() takes the difference from. */
	[[nodiscard]] std::uint64_t now() const;
	/** @return seconds that all processors together were idle since @p before. */
	[[nodiscard]] double idle_since(std::uint64_t before) const;

private:
	std::deque<std::atomic<std::uint64_t>> turns_;
	std::deque<std::jthread> threads_; // they go before what they count in
	double seconds_per_turn_ = 0;
};

} // namespace iwarpbench

#endif // IWARPBENCH_IDLE_H
