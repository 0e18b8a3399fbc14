// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "program.h"

#include "binary.h"
#include "rules_file.h"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sdpctl
{
namespace
{

using nlohmann::json;

Check check_rules(const json &answer)
{
	const auto file = answer["file"].get<std::string>();

	if (!answer["file_exists"])
		return {"rules", Status::ok, fmt::format("none, there is no {}", file), ""};
	if (!answer["first_wrong_line"].is_null())
		return {"rules", Status::warning,
			fmt::format("line {} of {} is wrong: it and what follows do not count",
				    answer["first_wrong_line"].get<unsigned>(), file),
			"sdp-run --check tells what is wrong"};
	return {"rules", Status::ok,
		fmt::format("{}, {} rules", file, answer["rules"].get<std::size_t>()), ""};
}

Check check_decision(const std::string &program, const libsdp::Endpoint &endpoint, json decision)
{
	const std::string name =
		fmt::format("{} {}", decision["role"] == "server" ? "listen" : "connect",
			    libsdp::text_of(endpoint).get());
	const std::string words =
		fmt::format("{}: {}", program, decision["words"].get<std::string>());

	if (is_link_local(endpoint.address))
		return {name, Status::unknown,
			words + "; which device leads to a link-local address is not looked into",
			""};
	const auto outcome = decision["outcome"].get<std::string>();

	decision.erase("words");
	return {name, outcome == "error" ? Status::warning : Status::ok,
		fmt::format("{}; result: {}, {}", words, outcome,
			    decision["reason"].get<std::string>()),
		"", decision.dump()};
}

} // namespace

Report check_decisions(const libsdp::WhyQuestion &question)
{
	const json answer = libsdp::answer_to(question);
	Report report = {check_rules(answer)};

	for (std::size_t i = 0; i < question.endpoints.size(); i++)
		for (const json &decision : answer["endpoints"][i]["decisions"])
			report.push_back(check_decision(answer["program"].get<std::string>(),
							question.endpoints[i], decision));
	return report;
}

Report check_program(const std::string &program, const Peer &peer)
{
	libsdp::WhyQuestion question;

	try {
		question.file = libsdp::read_rules(std::nullopt);
	} catch (const std::system_error &error) {
		return {{"rules", Status::unknown, error.what(), ""}};
	}
	question.program = std::filesystem::path(program).filename();
	question.program_file = libsdp::find_program(program);
	question.endpoints = endpoints_of(peer);
	return check_decisions(question);
}

} // namespace sdpctl
