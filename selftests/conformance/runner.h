// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * Runs a case on TCP and at the doors to SDP at once, each in a process of its own,
 * and compares what they did.
 */
#ifndef CONFORMANCE_RUNNER_H
#define CONFORMANCE_RUNNER_H

#include <string>
#include <vector>

#include "accepted.h"
#include "run.h"

namespace conformance
{

/** How one run of a case went. */
struct Outcome {
	std::vector<std::string> lines;
	std::string failure; ///< why it did not come to its end; empty if it did
};

enum class Verdict {
	equal,
	accepted,
	different,
	failed
};

/** What TCP's run of a case and the one at a door have shown. */
struct Comparison {
	std::string name; ///< of the case
	Door door{};
	Verdict verdict = Verdict::equal;
	std::string why;		  ///< what failed, or the reasons of what was accepted
	std::vector<std::string> details; ///< for a reader who looks for the cause
	Outcome runs[2];
};

/**
 * Run a case at these doors, those of SDP or, to see that it agrees with itself, of
 * TCP. A case of IPv6 is the same at both doors of the inet families, and left out at
 * the second one.
 */
std::vector<Comparison> compare(const Case &test, Family other, const std::vector<Door> &doors,
				const Options &options, const AcceptedTable &accepted);

} // namespace conformance

#endif
