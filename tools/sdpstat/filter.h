// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Which sockets the user asked for.
 */
#ifndef SDPSTAT_FILTER_H
#define SDPSTAT_FILTER_H

#include "table.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sdpstat
{

/** What a socket must be to be shown, besides matching port and address. */
enum class Selection : std::uint8_t {
	connections, ///< neither listening nor closed
	listening,
	all,
};

struct Filter {
	Selection selection = Selection::connections;
	std::optional<std::uint16_t> port; ///< at either end
	std::optional<Prefix> address;	   ///< at either end

	[[nodiscard]] bool accepts(const Socket &socket) const;
};

} // namespace sdpstat

#endif // SDPSTAT_FILTER_H
