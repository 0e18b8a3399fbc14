// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Sockets counted.
 */
#ifndef SDPSTAT_SUMMARY_H
#define SDPSTAT_SUMMARY_H

#include "table.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sdpstat
{

struct Summary {
	std::map<State, std::size_t> states;
	/** Those that have one: by engine of flow control and device. */
	std::map<std::pair<std::string, std::string>, std::size_t> carriers;
	std::uint64_t unread = 0; ///< bytes in all
	std::uint64_t unsent = 0; ///< bytes that the peer has not acknowledged
};

/** Count the sockets. */
[[nodiscard]] Summary summarize(const std::vector<Socket> &sockets);

} // namespace sdpstat

#endif // SDPSTAT_SUMMARY_H
