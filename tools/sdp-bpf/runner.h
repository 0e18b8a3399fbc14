// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * A command whose sockets, and those of all that it starts, are converted.
 */
#ifndef SDP_BPF_RUNNER_H
#define SDP_BPF_RUNNER_H

#include "policy.h"

#include <optional>
#include <string>
#include <vector>

namespace sdpbpf
{

/**
 * Runs a command in a control group of its own, and waits until all that it has
 * started has ended.
 * @return the command's exit status, as a shell would give it
 * @throws std::runtime_error, Unsupported, std::system_error if it cannot be run
 */
int run_converted(const std::vector<std::string> &command, const std::optional<Policy> &policy);

} // namespace sdpbpf

#endif // SDP_BPF_RUNNER_H
