// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "rules_file.h"

#include "inspect.h"

#include <cstdlib>

#include <unistd.h>

namespace libsdp
{

std::string rules_path(const std::optional<std::string> &named)
{
	const char *variable = std::getenv("LIBSDP_CONFIG_FILE");

	if (named)
		return *named;
	return variable != nullptr ? variable : SDP_CONFIG_FILE;
}

RulesFile read_rules(const std::optional<std::string> &named)
{
	const bool is_default = !named && std::getenv("LIBSDP_CONFIG_FILE") == nullptr;
	RulesFile file;

	file.path = rules_path(named);
	file.exists = access(file.path.c_str(), F_OK) == 0;
	if (file.exists || !is_default)
		file.text = read_config_file(file.path);
	return file;
}

} // namespace libsdp
