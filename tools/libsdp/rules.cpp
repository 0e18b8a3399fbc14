// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "rules.h"

#include <algorithm>
#include <limits>

#include <fnmatch.h>

namespace libsdp
{
namespace
{

// What decide() gives for all endpoints of a role, if it is one transport.
std::optional<Transport> always(std::span<const Rule> rules, Role role) noexcept
{
	std::optional<Transport> common;

	for (const Rule &rule : rules) {
		if (!rule.counts_for(role))
			continue;
		if (common && *common != rule.transport)
			return std::nullopt;
		common = rule.transport;
		if (rule.matches_all())
			return common;
	}
	// What no rule matches is "both".
	if (common && *common != Transport::both)
		return std::nullopt;
	return Transport::both;
}

} // namespace

bool Rule::matches(const Endpoint &endpoint) const noexcept
{
	return endpoint.port >= first_port && endpoint.port <= last_port &&
	       (any_address || prefix.contains(endpoint.address));
}

bool Rule::matches_all() const noexcept
{
	return any_address && first_port == 0 &&
	       last_port == std::numeric_limits<std::uint16_t>::max();
}

bool fits_program(std::string_view pattern, const char *program) noexcept
{
	char terminated[256];

	if (pattern.size() >= sizeof(terminated))
		return false;
	*std::copy(pattern.begin(), pattern.end(), terminated) = '\0';
	return fnmatch(terminated, program, 0) == 0;
}

Decision decide(std::span<const Rule> rules, Role role, const Endpoint &endpoint) noexcept
{
	for (const Rule &rule : rules)
		if (rule.counts_for(role) && rule.matches(endpoint))
			return {.transport = rule.transport, .line = rule.line};
	return {};
}

std::optional<Transport> always(std::span<const Rule> rules) noexcept
{
	const std::optional<Transport> server = always(rules, Role::server);

	return server == always(rules, Role::client) ? server : std::nullopt;
}

const char *name_of(Transport transport) noexcept
{
	switch (transport) {
	case Transport::tcp:
		return "tcp";
	case Transport::sdp:
		return "sdp";
	case Transport::none:
		return "none";
	default:
		return "both";
	}
}

const char *name_of(Role role) noexcept
{
	return role == Role::server ? "server" : "client";
}

} // namespace libsdp
