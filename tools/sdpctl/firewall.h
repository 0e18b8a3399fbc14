// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Checks of packet filters, as far as their rules say by themselves what they drop.
 */
#ifndef SDPCTL_FIREWALL_H
#define SDPCTL_FIREWALL_H

#include "check.h"
#include "command.h"
#include "fabric.h"

#include <set>
#include <string>
#include <vector>

namespace sdpctl
{

/** What devices in software send past packet filters; adapters send it by themselves. */
struct Wanted {
	bool roce = false;  ///< UDP to port 4791
	bool iwarp = false; ///< TCP to the programs' own ports
};

/** What a set of rules does to it. */
struct Verdict {
	std::set<std::string> drops;  ///< rules that drop it, for people
	std::set<std::string> closed; ///< chains that drop what they do not accept
};

/**
 * Judge what "nft --json list ruleset" has written: for each kind of device by itself.
 *
 * @throws std::exception if it is not that.
 */
[[nodiscard]] Verdict judge_nft(const std::string &text, Wanted wanted);

/** The same as a check; "unknown" if that could not be run. */
[[nodiscard]] Check check_of(const CommandOutcome &nft, Wanted wanted);

/** Whether the kernel may have rules of nft: not if nf_tables is a module, and not loaded. */
[[nodiscard]] bool may_have_nft(const Places &places);

/** "firewall" */
[[nodiscard]] Report check_firewall(const Places &places, const std::vector<libsdp::Port> &ports);

} // namespace sdpctl

#endif // SDPCTL_FIREWALL_H
