// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * The command line.
 */
#ifndef SDPSTAT_OPTIONS_H
#define SDPSTAT_OPTIONS_H

#include "filter.h"
#include "output.h"

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace sdpstat
{

struct Options {
	sdpstat::Filter filter;
	sdpstat::Columns columns;
	std::optional<std::string> proc; ///< where recorded tables are, instead of the kernel
	std::string address;
	std::vector<std::string> states;
	std::optional<double> watch; ///< seconds between two looks
	std::uint64_t rounds = 0;    ///< looks, 0 for any number
	bool statistics = false;
	bool summary = false;
	bool prometheus = false;
	bool devices = false;
	bool json = false;
	bool info = false;
	bool listening = false;
	bool all = false;
};

/** Say which options there are. */
void describe(CLI::App &app, Options &options);

/**
 * After they were parsed.
 *
 * @throws CLI::ParseError if some of them contradict others.
 */
void finish(const CLI::App &app, Options &options);

} // namespace sdpstat

#endif // SDPSTAT_OPTIONS_H
