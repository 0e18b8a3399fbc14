// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Fuzzer of the parser of libsdp.conf.
 *
 * Whatever the text is: views stay inside of it, errors lie where they are said
 * to lie, what is accepted keeps its promises, and what is reported as decided
 * for all endpoints is decided for some that the rules themselves suggest.
 */
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "parser.h"
#include "rules.h"

namespace
{

using namespace libsdp;

void require(bool condition)
{
	if (!condition)
		std::abort();
}

/** Memory of exactly the text's size, so that the sanitizer sees every overrun. */
using Bytes = std::vector<char>;

void require_inside(std::string_view part, std::string_view text)
{
	require(part.data() >= text.data());
	require(part.data() + part.size() <= text.data() + text.size());
}

// Where a line begins; lines count from 1.
std::size_t begin_of(unsigned line, std::string_view text)
{
	std::size_t begin = 0;

	for (unsigned i = 1; i < line; i++) {
		begin = text.find('\n', begin);
		require(begin != std::string_view::npos);
		begin++;
	}
	return begin;
}

void check_error(const ParseError &error, std::string_view text)
{
	require(std::strlen(error.expected) > 0);
	require_inside(error.found, text);
	require(error.found.find('\n') == std::string_view::npos);
	require(error.found.data() == text.data() + begin_of(error.line, text) + error.column - 1);
}

void check_rule(const Rule &rule, std::string_view text)
{
	require_inside(rule.program, text);
	require(!rule.program.empty() && rule.program.size() <= 255);
	require(rule.server || rule.client);
	require(rule.first_port <= rule.last_port);
	require(rule.prefix.bits <= 128);
	const Address &own = rule.prefix.address;

	// The address that was written matches, but for one of IPv4 in ::/n.
	if (rule.any_address || !own.is_v4() || rule.prefix.bits >= 96)
		require(rule.matches({.address = own, .port = rule.last_port}));
	(void)fits_program(rule.program, "program");
}

void check_decisions(const std::vector<Rule> &rules)
{
	const auto common = always(rules);

	for (const Rule &rule : rules)
		for (const Role role : {Role::server, Role::client})
			for (const std::uint16_t port : {rule.first_port, rule.last_port}) {
				const Endpoint endpoint = {.address = rule.prefix.address,
							   .port = port};
				const Decision decision = decide(rules, role, endpoint);

				require(!common || decision.transport == *common);
				require(*text_of(endpoint).get() != '\0');
			}
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	const Bytes bytes(data, data + length);
	const std::string_view text(bytes.data(), bytes.size());
	Parser parser(text);
	std::vector<Rule> rules;

	for (auto step = parser.next(); step != Parser::Step::end; step = parser.next()) {
		if (step == Parser::Step::error) {
			check_error(parser.error(), text);
		} else {
			check_rule(parser.rule(), text);
			rules.push_back(parser.rule());
		}
	}
	require(parser.log().min_level <= 9);
	if (!parser.log().file.empty())
		require_inside(parser.log().file, text);
	check_decisions(rules);
	return 0;
}
