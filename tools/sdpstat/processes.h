// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Which processes hold which sockets.
 */
#ifndef SDPSTAT_PROCESSES_H
#define SDPSTAT_PROCESSES_H

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sdpstat
{

/** A descriptor of a process that refers to a socket. */
struct Holder {
	std::string name; ///< as in /proc/PID/comm: any bytes a program chose
	int pid = 0;
	int fd = 0;
};

/** By the socket's inode. */
using Holders = std::map<std::uint64_t, std::vector<Holder>>;

/**
 * Look through the descriptors of all processes.
 *
 * Processes that end meanwhile, and those of other users that the caller may
 * not look into, are left out.
 *
 * @param proc where the proc file system is mounted.
 */
[[nodiscard]] Holders find_holders(const std::filesystem::path &proc);

/** Those of one socket. */
[[nodiscard]] const std::vector<Holder> &holders_of(std::uint64_t inode, const Holders &holders);

} // namespace sdpstat

#endif // SDPSTAT_PROCESSES_H
