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

struct CommandOutcome {
	int status = -1; ///< exit status; -1: it could not be run, or was killed
	std::string output;
};

/** Run a program, looked for in PATH and where only root's PATH leads; not its errors. */
[[nodiscard]] CommandOutcome run_command(const std::vector<std::string> &command);

} // namespace sdpctl

#endif // SDPCTL_COMMAND_H
