// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * What a program under sdp-run would use for addresses, and why: the rule that
 * decides, and what the kernel then makes of it.
 */
#ifndef LIBSDP_WHY_H
#define LIBSDP_WHY_H

#include "endpoint.h"
#include "rules_file.h"

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace libsdp
{

struct WhyQuestion {
	RulesFile file;
	std::string program;			 ///< empty: a program that no rule names
	std::optional<std::string> program_file; ///< nothing: there is none here
	std::vector<Endpoint> endpoints;
};

/**
 * What is said of them, each decision with its "words" on the rule: for who says it in a report
 * of their own.
 */
[[nodiscard]] nlohmann::json answer_to(const WhyQuestion &question);

/** What is said of them, for people or in JSON, with its last newline. */
[[nodiscard]] std::string why(const WhyQuestion &question, bool as_json);

} // namespace libsdp

#endif // LIBSDP_WHY_H
