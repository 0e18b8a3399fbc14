// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * What sdp-run says about a configuration: whether it is right, and which rule
 * decides.
 */
#ifndef LIBSDP_INSPECT_H
#define LIBSDP_INSPECT_H

#include "endpoint.h"
#include "parser.h"
#include "rules.h"

#include <cstddef>
#include <optional>
#include <string>

namespace libsdp
{

/** What the options of sdp-run ask for. */
struct Question {
	std::string file; ///< libsdp.conf
	bool json = false;
	std::string program;
	Endpoint endpoint;
	std::optional<Role> role; ///< nothing: both
};

/** "FILE:LINE:COLUMN: expected ..., found ..." */
[[nodiscard]] std::string text_of(const std::string &file, const ParseError &error);

/** @throws std::system_error if the file cannot be read */
std::string read_config_file(const std::string &path);

/**
 * Print every error, or how many rules there are.
 * @return whether there are none.
 */
bool check(const Question &question, const std::string &text);

/** What the rules say of one role at one endpoint. */
struct Choice {
	Transport transport = Transport::both;
	unsigned line = 0;	     ///< of the rule; 0: none matched
	std::string rule;	     ///< that line, for people
	bool kernel_decides = false; ///< there are no rules at all
};

/** What the rules decide for the program's socket. */
[[nodiscard]] Choice choose(const std::string &text, const std::string &program,
			    const Endpoint &endpoint, Role role);

/** What a configuration is to a program. */
struct Summary {
	std::size_t rules = 0;	  ///< of all programs
	unsigned first_error = 0; ///< line from which on nothing counts; 0: none
	bool only_tcp = false;	  ///< the program's sockets use TCP, whatever they are for
};

/** Whether there is an error, and what the rules leave to the program. */
[[nodiscard]] Summary summary_of(const std::string &text, const std::string &program);

/** Print which rule decides for the program and the endpoint. */
void explain(const Question &question, const std::string &text);

} // namespace libsdp

#endif // LIBSDP_INSPECT_H
