// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * Runs a case with both families at once, each in a process of its own, and
 * compares what they did.
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

/** What the two runs of a case have shown. */
struct Comparison {
	std::string name;
	Verdict verdict = Verdict::equal;
	std::string why;		  ///< what failed, or the reasons of what was accepted
	std::vector<std::string> details; ///< for a reader who looks for the cause
	Outcome runs[2];
};

Comparison compare(const Case &test, const Family (&families)[2], const Options &options,
		   const AcceptedTable &accepted);

} // namespace conformance

#endif
