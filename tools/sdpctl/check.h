// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * What a check of this host says.
 */
#ifndef SDPCTL_CHECK_H
#define SDPCTL_CHECK_H

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace sdpctl
{

/** How bad it is. */
enum class Status : std::uint8_t {
	ok,
	warning, ///< it may be meant so
	wrong,
	unknown, ///< it cannot be seen from here
};

/** One line of the report. */
struct Check {
	std::string name; ///< programs know it by this
	Status status = Status::ok;
	std::string what;
	std::string advice;	///< what to do; empty if nothing
	std::string decision{}; ///< in JSON, what rules decide; empty of checks of anything else
};

/** All checks, in the order in which they were made. */
using Report = std::vector<Check>;

/** Where the kernel's files are; tests have others. */
struct Places {
	std::filesystem::path proc = "/proc";
	std::filesystem::path sys = "/sys";
	std::filesystem::path modules = "/lib/modules";
};

/** "ok", "warning", "wrong" or "unknown". */
[[nodiscard]] const char *name_of(Status status);

/** A line for each check, and one for its advice. */
[[nodiscard]] std::string as_text(const Report &report);

/**
 * [{"check", "status", "what", "advice"}...]; "advice" is null if there is none. Those that have
 * a decision have it as "decision".
 */
[[nodiscard]] std::string as_json(const Report &report);

/** Append the checks of one group to those of the others. */
void append(Report &report, Report more);

} // namespace sdpctl

#endif // SDPCTL_CHECK_H
