// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Programs of the system that know what no file tells.
 */
#ifndef SDPCTL_COMMAND_H
#define SDPCTL_COMMAND_H

#include <string>
#include <vector>

namespace sdpctl
{

/** What has come of a program. */
struct CommandOutcome {
	int status = -1; ///< exit status; -1: it could not be run, or was killed
	std::string output;
};

/**
 * Run a program of the system: one in /usr/sbin, /sbin, /usr/bin or /bin, whatever PATH is.
 * Its errors are not shown.
 */
[[nodiscard]] CommandOutcome run_command(const std::vector<std::string> &command);

} // namespace sdpctl

#endif // SDPCTL_COMMAND_H
