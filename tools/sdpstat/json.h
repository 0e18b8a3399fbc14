// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * What the tools' JSON has in common.
 */
#ifndef SDPSTAT_JSON_H
#define SDPSTAT_JSON_H

#include "endpoint.h"
#include "processes.h"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sdpstat
{

/** Members stay in their order. */
using Json = nlohmann::ordered_json;

/** null for what has no name. */
[[nodiscard]] Json name_json(const std::string &name);

/** {"address", "port"} */
[[nodiscard]] Json end_json(const Endpoint &end);

/** [{"name", "pid", "fd"}...] */
[[nodiscard]] Json holders_json(const std::vector<Holder> &holders);

/**
 * As text that ends with a newline. Names of programs need not be UTF-8, but JSON must be.
 *
 * @param indent blanks, or -1 for all on one line.
 */
[[nodiscard]] std::string dump(const Json &json, int indent = 2);

} // namespace sdpstat

#endif // SDPSTAT_JSON_H
