// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * The rules of a file, as the kernel takes them.
 */
#ifndef SDP_BPF_POLICY_H
#define SDP_BPF_POLICY_H

#include "match.h"

#include <string>
#include <vector>

namespace sdpbpf
{

/** What is wrong with a file: "FILE:LINE...: what". */
using Errors = std::vector<std::string>;

/** The rules of a control group. */
struct Policy {
	std::vector<sdp_bpf_rule> rules;
	/** Of the first rule that makes sockets SDP's, "FILE:LINE"; empty: there is none. */
	std::string converts;
};

/**
 * Translate the text of a file.
 * @param file    its name, for messages
 * @param errors  gets all that is wrong, or cannot be done by a kernel
 * @return what is of use only if there are no errors
 */
[[nodiscard]] Policy policy_of(const std::string &file, const std::string &text, Errors &errors);

/**
 * Read a file in which nothing may be wrong.
 * @throws std::system_error if it cannot be read
 * @throws std::runtime_error with a line for each error
 */
[[nodiscard]] Policy read_policy(const std::string &file);

} // namespace sdpbpf

#endif // SDP_BPF_POLICY_H
