// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Where libsdp.conf is for who starts a program here.
 */
#ifndef LIBSDP_RULES_FILE_H
#define LIBSDP_RULES_FILE_H

#include <optional>
#include <string>

namespace libsdp
{

/** A file of rules, and its text. */
struct RulesFile {
	std::string path;
	bool exists = false;
	std::string text;
};

/** The file that is named, else the one in LIBSDP_CONFIG_FILE, else the default. */
[[nodiscard]] std::string rules_path(const std::optional<std::string> &named);

/**
 * Read that file. The default one need not be there: there are no rules then.
 *
 * @throws std::system_error if it cannot be read
 */
[[nodiscard]] RulesFile read_rules(const std::optional<std::string> &named);

} // namespace libsdp

#endif // LIBSDP_RULES_FILE_H
