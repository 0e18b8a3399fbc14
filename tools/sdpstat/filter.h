// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Which sockets the user asked for.
 */
#ifndef SDPSTAT_FILTER_H
#define SDPSTAT_FILTER_H

#include "processes.h"
#include "table.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sdpstat
{

/** A set of states: a bit for each number. */
using States = std::uint32_t;

/** Numbers that no state has share the lowest bit, which no state has either. */
constexpr States bit(State state)
{
	const auto number = static_cast<unsigned int>(state);

	return 1U << (number < 32 ? number : 0);
}

constexpr States all_states = ~0U;
constexpr States connected_states = ~(bit(State::listen) | bit(State::close));

/**
 * The states of a name: as sdpstat or ss(8) writes it, in small letters or capitals, or
 * one of ss(8)'s names for several.
 *
 * @return nothing if there is none of this name.
 */
[[nodiscard]] std::optional<States> parse_states(std::string_view name);

struct Filter {
	States states = connected_states;
	std::optional<std::uint16_t> port;  ///< at either end
	std::optional<sdp::Prefix> address; ///< at either end
	std::vector<std::string> engines;   ///< one of them, if there are any
	std::vector<std::string> processes; ///< names or process IDs, likewise

	[[nodiscard]] bool accepts(const Socket &socket, const Holders &holders) const;
};

} // namespace sdpstat

#endif // SDPSTAT_FILTER_H
