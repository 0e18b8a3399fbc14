// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "check.h"

#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sdpctl
{

const char *name_of(Status status)
{
	switch (status) {
	case Status::ok:
		return "ok";
	case Status::warning:
		return "warning";
	case Status::wrong:
		return "wrong";
	default:
		return "unknown";
	}
}

std::string as_text(const Report &report)
{
	std::string text;

	for (const Check &check : report) {
		text += fmt::format("{:8} {}: {}\n", name_of(check.status), check.name, check.what);
		if (!check.advice.empty())
			text += fmt::format("{:8} -> {}\n", "", check.advice);
	}
	return text;
}

std::string as_json(const Report &report)
{
	auto list = nlohmann::ordered_json::array();

	for (const Check &check : report) {
		nlohmann::ordered_json item = {{"check", check.name},
					       {"status", name_of(check.status)},
					       {"what", check.what},
					       {"advice", nullptr}};

		if (!check.advice.empty())
			item["advice"] = check.advice;
		if (!check.decision.empty())
			item["decision"] = nlohmann::ordered_json::parse(check.decision);
		list.push_back(std::move(item));
	}
	return list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

void append(Report &report, Report more)
{
	std::move(more.begin(), more.end(), std::back_inserter(report));
}

} // namespace sdpctl
