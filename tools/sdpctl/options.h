// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * The command line.
 */
#ifndef SDPCTL_OPTIONS_H
#define SDPCTL_OPTIONS_H

#include "top.h"
#include "tune.h"

#include <string>

#include <CLI/CLI.hpp>

namespace sdpctl
{

/** The command line's values. */
struct Options {
	std::string peer;    ///< of doctor
	std::string program; ///< of doctor
	bool json = false;
	TopOptions top;
	TuneOptions tune;
	double interval = 1; ///< of top, in seconds
};

/** Say which commands and options there are. */
void describe(CLI::App &app, Options &options);

/**
 * After they were parsed: give each command what it shares with others.
 *
 * @throws CLI::ValidationError of options that do not go together.
 */
void finish(Options &options);

} // namespace sdpctl

#endif // SDPCTL_OPTIONS_H
