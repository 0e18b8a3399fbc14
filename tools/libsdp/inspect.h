// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * What sdp-run says about a configuration: whether it is right, and which rule
 * decides.
 */
#ifndef LIBSDP_INSPECT_H
#define LIBSDP_INSPECT_H

#include "endpoint.h"
#include "rules.h"

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

/** @throws std::system_error if the file cannot be read */
std::string read_config_file(const std::string &path);

/**
 * Print every error, or how many rules there are.
 * @return whether there are none.
 */
bool check(const Question &question, const std::string &text);

/** Print which rule decides for the program and the endpoint. */
void explain(const Question &question, const std::string &text);

} // namespace libsdp

#endif // LIBSDP_INSPECT_H
