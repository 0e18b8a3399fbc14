// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Sockets, counters and devices as text for people and as JSON for programs. Each text
 * ends with a newline.
 */
#ifndef SDPSTAT_OUTPUT_H
#define SDPSTAT_OUTPUT_H

#include "processes.h"
#include "table.h"

#include <string>
#include <vector>

namespace sdpstat
{

/** Columns that are shown only if asked for. */
struct Columns {
	bool extended = false; ///< owner, inode and queue pair
	bool processes = false;
	bool flow = false;  ///< rings, and what flow control did
	bool zcopy = false; ///< what went without a copy, and what could not
	bool memory = false;
	bool timeouts = false;
	bool rates = false;
};

/** A row for each socket, below the names of the columns. */
[[nodiscard]] std::string sockets_as_text(const std::vector<Socket> &sockets,
					  const Holders &holders, Columns columns);

/**
 * {"sockets": [...]}. What a socket does not have yet (flow, device) is null;
 * "processes" is there only if asked for.
 */
[[nodiscard]] std::string sockets_as_json(const std::vector<Socket> &sockets,
					  const Holders &holders, Columns columns);

/** How many there are, by state and by what carries them. */
[[nodiscard]] std::string summary_as_text(const std::vector<Socket> &sockets);

/** {"summary": {...}} with the same. */
[[nodiscard]] std::string summary_as_json(const std::vector<Socket> &sockets);

/** The same with a row for each counter. */
[[nodiscard]] std::string counters_as_text(const std::vector<Counter> &counters);

/** {"statistics": {"Name": value, ...}} in the kernel's order. */
[[nodiscard]] std::string counters_as_json(const std::vector<Counter> &counters);

/** What is done in hardware and in software, by name; what is absent is not listed. */
[[nodiscard]] std::string devices_as_text(const std::vector<Device> &devices);

/**
 * {"devices": [...]}. "provider" is null for a device of which only the verbs are known,
 * and an object otherwise.
 */
[[nodiscard]] std::string devices_as_json(const std::vector<Device> &devices);

} // namespace sdpstat

#endif // SDPSTAT_OUTPUT_H
