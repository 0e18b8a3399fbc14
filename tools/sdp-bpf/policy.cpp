// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "policy.h"
#include "group.h"
#include "pattern.h"

#include "inspect.h"
#include "parser.h"
#include "rules.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <span>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

namespace sdpbpf
{
namespace
{

using libsdp::Parser;
using libsdp::Role;
using libsdp::Rule;
using libsdp::Transport;

constexpr unsigned mapped_bits = 96;

/** A rule with the tables of its pattern. */
struct Line {
	Rule rule;
	Pattern pattern;
};

using Lines = std::span<const Line>;

bool has_wildcard(std::string_view pattern)
{
	return pattern.find_first_of("*?[\\") != std::string_view::npos;
}

bool fits_literal(const Line &line, std::string_view name)
{
	return !has_wildcard(name) &&
	       libsdp::fits_program(line.rule.program, std::string(name).c_str());
}

// Whether a rule is for every program that two others are both for. "No" may be wrong.
bool covers(const Line &line, const Line &one, const Line &other)
{
	const std::string_view text = line.rule.program;

	return line.pattern.fits_all() || text == one.rule.program || text == other.rule.program ||
	       fits_literal(line, one.rule.program) || fits_literal(line, other.rule.program);
}

// Whether the programs that are of both rules never come to the second, in this role.
bool is_decided_before(Lines lines, std::size_t first, std::size_t second, Role role)
{
	return std::ranges::any_of(lines.first(second), [&](const Line &line) {
		return line.rule.counts_for(role) && line.rule.matches_all() &&
		       covers(line, lines[first], lines[second]);
	});
}

bool is_reached(Lines lines, std::size_t first, std::size_t second)
{
	return std::ranges::any_of(std::array{Role::server, Role::client}, [&](Role role) {
		return lines[second].rule.counts_for(role) &&
		       !is_decided_before(lines, first, second, role);
	});
}

// Rules that came too late would be taken for ones that bind.
void find_unreachable(const std::string &file, Lines lines, Errors &errors)
{
	for (std::size_t i = 0; i < lines.size(); i++)
		if (!is_reached(lines, i, i))
			errors.push_back(
				fmt::format("{}:{}: no use of a socket comes so far: rules "
					    "above it decide about all of them",
					    file, lines[i].rule.line));
}

bool are_tcp_and_sdp(const Rule &one, const Rule &other)
{
	return one.transport != other.transport && one.transport != Transport::none &&
	       other.transport != Transport::none;
}

// A socket is made as TCP's or SDP's when nobody knows what for.
void find_contradictions(const std::string &file, Lines lines, Errors &errors)
{
	for (std::size_t second = 0; second < lines.size(); second++) {
		for (std::size_t first = 0; first < second; first++) {
			const Rule &one = lines[first].rule, &other = lines[second].rule;

			if (!are_tcp_and_sdp(one, other) ||
			    !may_both_fit(lines[first].pattern, lines[second].pattern) ||
			    !is_reached(lines, first, second))
				continue;
			errors.push_back(fmt::format(
				"{}:{}: '{}' for a program that has '{}' by line {}: a socket is "
				"made before its address is known, and a program has one kind",
				file, other.line, name_of(other.transport), name_of(one.transport),
				one.line));
			break;
		}
	}
}

bool ends_all(const Line &line, Role role)
{
	return line.pattern.fits_all() && line.rule.matches_all() && line.rule.counts_for(role);
}

// What no rule matches would use "both", as in libsdp.conf.
void require_end(const std::string &file, Lines lines, unsigned last, Errors &errors)
{
	for (const Role role : {Role::server, Role::client})
		if (std::ranges::none_of(lines,
					 [role](const Line &line) { return ends_all(line, role); }))
			errors.push_back(fmt::format(
				"{}:{}: the rules leave a {} open (try: end with 'use tcp * * "
				"*:*' or 'use sdp * * *:*')",
				file, last, name_of(role)));
}

void set_place(sdp_bpf_rule &out, const Rule &rule)
{
	out.first_port = rule.first_port;
	out.last_port = rule.last_port;
	if (rule.any_address)
		return;
	std::array<std::uint8_t, 16> mask{};

	for (unsigned bit = 0; bit < rule.prefix.bits; bit++)
		mask[bit / 8] |= static_cast<std::uint8_t>(0x80U >> (bit % 8));
	static_assert(sizeof(out.mask) == sizeof(mask));
	std::memcpy(out.mask, mask.data(), sizeof(out.mask));
	std::memcpy(out.address, rule.prefix.address.bytes.data(), sizeof(out.address));
	out.v6_only = rule.prefix.bits < mapped_bits;
}

std::uint8_t transport_of(const Rule &rule)
{
	switch (rule.transport) {
	case Transport::tcp:
		return SDP_BPF_TCP;
	case Transport::sdp:
		return SDP_BPF_SDP;
	default:
		return SDP_BPF_NONE;
	}
}

sdp_bpf_rule compiled(const Line &line)
{
	sdp_bpf_rule out{};

	std::ranges::copy(line.pattern.step, out.step);
	out.stay = line.pattern.stay;
	out.end = line.pattern.end();
	out.line = line.rule.line;
	out.transport = transport_of(line.rule);
	out.roles = static_cast<std::uint8_t>((line.rule.server ? SDP_BPF_SERVER : 0) |
					      (line.rule.client ? SDP_BPF_CLIENT : 0));
	set_place(out, line.rule);
	return out;
}

void add_line(const std::string &file, const Rule &rule, std::vector<Line> &lines, Errors &errors)
{
	if (lines.size() == SDP_BPF_MAX_RULES) {
		errors.push_back(fmt::format("{}:{}: there are more than {} rules", file, rule.line,
					     SDP_BPF_MAX_RULES));
		return;
	}
	try {
		lines.push_back({.rule = rule, .pattern = pattern_of(rule.program)});
	} catch (const std::runtime_error &error) {
		errors.push_back(fmt::format("{}:{}: {}", file, rule.line, error.what()));
	}
}

std::vector<Line> parse(const std::string &file, const std::string &text, Errors &errors)
{
	Parser parser(text, Parser::Reader::kernel);
	std::vector<Line> lines;

	for (auto step = parser.next(); step != Parser::Step::end; step = parser.next()) {
		if (step == Parser::Step::error)
			errors.push_back(libsdp::text_of(file, parser.error()));
		else
			add_line(file, parser.rule(), lines, errors);
	}
	return lines;
}

} // namespace

Policy policy_of(const std::string &file, const std::string &text, Errors &errors)
{
	const std::vector<Line> lines = parse(file, text, errors);
	Policy policy;

	if (errors.empty()) {
		find_contradictions(file, lines, errors);
		find_unreachable(file, lines, errors);
		require_end(file, lines, lines.empty() ? 1 : lines.back().rule.line, errors);
	}
	for (const Line &line : lines) {
		policy.rules.push_back(compiled(line));
		if (line.rule.transport == Transport::sdp && policy.converts.empty())
			policy.converts = fmt::format("{}:{}", file, line.rule.line);
	}
	return policy;
}

Policy read_policy(const std::string &file)
{
	Errors errors;
	Policy policy = policy_of(file, libsdp::read_config_file(file), errors);

	if (!errors.empty())
		throw std::runtime_error(fmt::format("{}", fmt::join(errors, "\nsdp-bpf: ")));
	return policy;
}

} // namespace sdpbpf
