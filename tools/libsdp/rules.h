// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * The rules of libsdp.conf: which transport a program's sockets use.  Without
 * side effects, allocation and locks.
 */
#ifndef LIBSDP_RULES_H
#define LIBSDP_RULES_H

#include "endpoint.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace libsdp
{

enum class Transport : std::uint8_t {
	tcp,
	sdp,
	both, ///< SDP where it leads to the peer, else TCP; a listener has both
	none, ///< refused; only sdp-bpf has it
};

enum class Role : std::uint8_t {
	server, ///< the address is the own one
	client, ///< the address is the peer's
};

/** One line "use TRANSPORT ROLE PROGRAM ADDRESS:PORT". */
struct Rule {
	Transport transport = Transport::both;
	bool server = false;
	bool client = false;
	bool any_address = false; ///< then the prefix has no meaning
	Prefix prefix;
	std::uint16_t first_port = 0;
	std::uint16_t last_port = 0;
	unsigned line = 0;
	std::string_view program; ///< pattern, in the text that the rule was read from

	[[nodiscard]] bool counts_for(Role role) const noexcept
	{
		return role == Role::server ? server : client;
	}
	[[nodiscard]] bool matches(const Endpoint &endpoint) const noexcept;
	[[nodiscard]] bool matches_all() const noexcept;
};

struct Decision {
	Transport transport = Transport::both;
	unsigned line = 0; ///< of the rule; 0: none matched
};

/** Whether a rule's pattern, as of fnmatch(3), fits a program's name. */
[[nodiscard]] bool fits_program(std::string_view pattern, const char *program) noexcept;

/** The first rule that matches decides; "both" if there is none. */
[[nodiscard]] Decision decide(std::span<const Rule> rules, Role role,
			      const Endpoint &endpoint) noexcept;

/** The transport that decide() gives for every role and endpoint, if there is one. */
[[nodiscard]] std::optional<Transport> always(std::span<const Rule> rules) noexcept;

/** As libsdp.conf has it. */
[[nodiscard]] const char *name_of(Transport transport) noexcept;
/** "server" or "client". */
[[nodiscard]] const char *name_of(Role role) noexcept;

} // namespace libsdp

#endif // LIBSDP_RULES_H
