// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "inspect.h"

#include "../common/printable.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <string_view>
#include <system_error>
#include <vector>

#include <nlohmann/json.hpp>

namespace libsdp
{
namespace
{

using sdp::printable;

using nlohmann::json;

struct Parsed {
	std::vector<Rule> rules; ///< of all programs
	std::vector<ParseError> errors;
	std::size_t rules_before_error = 0; ///< those that the library uses
};

Parsed parse(std::string_view text)
{
	Parser parser(text);
	Parsed parsed;

	for (auto step = parser.next(); step != Parser::Step::end; step = parser.next()) {
		if (step == Parser::Step::error) {
			parsed.errors.push_back(parser.error());
			continue;
		}
		parsed.rules.push_back(parser.rule());
		if (parsed.errors.empty())
			parsed.rules_before_error++;
	}
	return parsed;
}

// A line without its blanks, and without bytes that a terminal would act upon.
std::string line_of(const std::string &text, unsigned number)
{
	std::size_t begin = 0;

	for (unsigned i = 1; i < number; i++)
		begin = text.find('\n', begin) + 1;
	std::string line = text.substr(begin, text.find_first_of("\r\n", begin) - begin);

	line.erase(0, std::min(line.find_first_not_of(" \t"), line.size()));
	return printable(line);
}

std::string found_text(const ParseError &error)
{
	return error.found.empty() ? "nothing" : "'" + printable(error.found) + "'";
}

json json_of(const ParseError &error)
{
	return {{"line", error.line},
		{"column", error.column},
		{"expected", error.expected},
		{"found", printable(error.found)}};
}

std::string address_text(const Rule &rule)
{
	if (rule.any_address)
		return "*";
	const bool v4 = rule.prefix.address.is_v4() && rule.prefix.bits >= sdp::mapped_bits;
	const std::string with_port = text_of({.address = rule.prefix.address, .port = 0}).get();

	return with_port.substr(0, with_port.rfind(':')) + "/" +
	       std::to_string(rule.prefix.bits - (v4 ? sdp::mapped_bits : 0));
}

json json_of(const Rule &rule)
{
	const char *role = rule.server && rule.client ? "*" : rule.server ? "server" : "client";

	return {{"line", rule.line},
		{"use", name_of(rule.transport)},
		{"role", role},
		{"program", printable(rule.program)},
		{"address", address_text(rule)},
		{"first_port", rule.first_port},
		{"last_port", rule.last_port}};
}

template <typename Items> json json_of_all(const Items &items)
{
	json all = json::array();

	for (const auto &item : items)
		all.push_back(json_of(item));
	return all;
}

// A file without any rule leaves the decision to the kernel.
bool kernel_decides(const Parsed &parsed)
{
	return parsed.rules.empty() && parsed.errors.empty();
}

std::vector<Rule> rules_for(const std::string &program, const Parsed &parsed)
{
	std::vector<Rule> mine;

	std::copy_if(parsed.rules.begin(),
		     parsed.rules.begin() + static_cast<std::ptrdiff_t>(parsed.rules_before_error),
		     std::back_inserter(mine), [&program](const Rule &rule) {
			     return fits_program(rule.program, program.c_str());
		     });
	return mine;
}

std::vector<Role> roles_of(const Question &question)
{
	if (question.role)
		return {*question.role};
	return {Role::server, Role::client};
}

json explanation(const Question &question, const std::string &text, Role role)
{
	const Choice choice = choose(text, question.program, question.endpoint, role);
	json result = {{"role", name_of(role)},
		       {"use", choice.kernel_decides ? "sdp" : name_of(choice.transport)}};

	result["line"] = nullptr;
	if (choice.line != 0) {
		result["line"] = choice.line;
		result["rule"] = choice.rule;
	}
	return result;
}

std::string reason(const json &explained, const Parsed &parsed)
{
	if (explained.contains("rule"))
		return "by line " + explained["line"].dump() + ": " +
		       explained["rule"].get<std::string>();
	if (kernel_decides(parsed))
		return "since there are no rules; TCP only as net.sdp.tcp_fallback allows it";
	return "since no rule matches";
}

} // namespace

std::string text_of(const std::string &file, const ParseError &error)
{
	return file + ":" + std::to_string(error.line) + ":" + std::to_string(error.column) +
	       ": expected " + error.expected + ", found " + found_text(error);
}

std::string read_config_file(const std::string &path)
{
	std::ifstream input(path, std::ios::binary);
	std::string text{std::istreambuf_iterator<char>(input), {}};

	if (!input.is_open() || input.bad())
		throw std::system_error(errno, std::generic_category(), path);
	return text;
}

Choice choose(const std::string &text, const std::string &program, const Endpoint &endpoint,
	      Role role)
{
	const Parsed parsed = parse(text);
	const Decision decision = decide(rules_for(program, parsed), role, endpoint);
	Choice choice;

	choice.transport = decision.transport;
	choice.line = decision.line;
	choice.kernel_decides = kernel_decides(parsed);
	if (choice.line != 0)
		choice.rule = line_of(text, choice.line);
	return choice;
}

Summary summary_of(const std::string &text, const std::string &program)
{
	const Parsed parsed = parse(text);
	const auto mine = rules_for(program, parsed);

	return {.rules = parsed.rules.size(),
		.first_error = parsed.errors.empty() ? 0 : parsed.errors.front().line,
		.only_tcp = !kernel_decides(parsed) && always(mine) == Transport::tcp};
}

bool check(const Question &question, const std::string &text)
{
	const Parsed parsed = parse(text);

	if (question.json) {
		const json result = {{"file", question.file},
				     {"rules", json_of_all(parsed.rules)},
				     {"errors", json_of_all(parsed.errors)}};

		std::printf("%s\n", result.dump(2).c_str());
		return parsed.errors.empty();
	}
	for (const ParseError &error : parsed.errors)
		std::printf("%s\n", text_of(question.file, error).c_str());
	if (parsed.errors.empty())
		std::printf("%s: %zu rules, no errors\n", question.file.c_str(),
			    parsed.rules.size());
	return parsed.errors.empty();
}

void explain(const Question &question, const std::string &text)
{
	const Parsed parsed = parse(text);
	json result = {{"file", question.file},
		       {"program", printable(question.program)},
		       {"endpoint", text_of(question.endpoint).get()},
		       {"decisions", json::array()}};

	for (const Role role : roles_of(question))
		result["decisions"].push_back(explanation(question, text, role));
	if (question.json) {
		std::printf("%s\n", result.dump(2).c_str());
		return;
	}
	for (const json &explained : result["decisions"])
		std::printf("%s: %s, %s\n", explained["role"].get<std::string>().c_str(),
			    explained["use"].get<std::string>().c_str(),
			    reason(explained, parsed).c_str());
	if (!parsed.errors.empty())
		std::printf("Line %u is wrong (see --check): it and what follows do not count.\n",
			    parsed.errors.front().line);
}

} // namespace libsdp
