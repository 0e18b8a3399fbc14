// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * The same report again and again, until interrupted.
 */
#ifndef SDPSTAT_ROUNDS_H
#define SDPSTAT_ROUNDS_H

#include "../common/descriptor.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <csignal>

namespace sdpstat
{

/** How often, and for whom. */
struct Rounds {
	std::chrono::duration<double> interval{1};
	std::uint64_t count = 0; ///< 0: until interrupted
	bool json = false;	 ///< for a program, which needs no line between two reports
};

/**
 * While there is one, SIGINT and SIGTERM end nothing but its pauses and writes that nobody takes,
 * so that no other report is cut off by them.
 */
class Pauses
{
public:
	Pauses();
	~Pauses();
	Pauses(const Pauses &) = delete;
	Pauses &operator=(const Pauses &) = delete;
	Pauses(Pauses &&) = delete;
	Pauses &operator=(Pauses &&) = delete;

	/** @return whether nothing has ended it. */
	[[nodiscard]] bool pause(std::chrono::duration<double> time) const;

	/**
	 * Write a text to standard output.
	 *
	 * @return whether nothing has ended it.
	 * @throws std::system_error if standard output does not take it.
	 */
	[[nodiscard]] bool print(std::string_view text) const;

private:
	[[nodiscard]] bool wait_for_room() const;

	sigset_t signals_{};
	sigset_t before_{};
	sdp::Descriptor pending_; ///< can be read while a signal waits
};

/**
 * Print reports until there were enough, or SIGINT or SIGTERM comes. A terminal shows the
 * newest alone, as much of it as it has room for; a file has all of them, and so has a program.
 *
 * @throws std::exception what a report does, or standard output
 */
void show_rounds(const Rounds &rounds, const Pauses &pauses,
		 const std::function<std::string()> &report);

/** The first lines of a text, each cut off where the screen ends. */
[[nodiscard]] std::string clipped(std::string_view text, std::size_t lines, std::size_t columns);

} // namespace sdpstat

#endif // SDPSTAT_ROUNDS_H
