// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Where sockets, counters and devices come from: the kernel, or recorded tables.
 */
#ifndef SDPSTAT_SOURCE_H
#define SDPSTAT_SOURCE_H

#include "diag.h"
#include "table.h"

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace sdpstat
{

/** Nobody knows of sockets, counters or devices. */
class ModuleAbsent : public std::runtime_error
{
	using std::runtime_error::runtime_error;
};

/**
 * @param proc a directory of tables instead of the kernel's, for each of these.
 * @throws ModuleAbsent
 * @throws std::exception
 */
[[nodiscard]] std::vector<Socket> read_sockets(const std::optional<std::string> &proc,
					       const Question &question);
[[nodiscard]] std::vector<Counter> read_counters(const std::optional<std::string> &proc);
[[nodiscard]] std::vector<Device> read_devices(const std::optional<std::string> &proc);

} // namespace sdpstat

#endif // SDPSTAT_SOURCE_H
