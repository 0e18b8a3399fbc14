// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * One end of a connection: an IPv4 or IPv6 address and a port.
 */
#ifndef SDPSTAT_ENDPOINT_H
#define SDPSTAT_ENDPOINT_H

#include "../common/address.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sdpstat
{

enum class Family : std::uint8_t {
	inet,
	inet6
};

struct Endpoint {
	Family family = Family::inet;
	sdp::Address address;
	std::uint16_t port = 0; ///< host byte order; 0 means any

	/** The address as inet_ntop(3) writes it for the family. */
	[[nodiscard]] std::string address_text() const;

	/** "address:port", an IPv6 address in brackets, "*" for any port. */
	[[nodiscard]] std::string text() const;

	/**
	 * Whether a range has it. The v4-mapped address of a socket of IPv6 is in ranges of
	 * both versions, the address of a socket of IPv4 in those of IPv4 only.
	 */
	[[nodiscard]] bool is_in(const sdp::Prefix &prefix) const;
};

/**
 * Read an endpoint as the kernel prints it in /proc/net/tcp and tcp6: one or
 * four words of 8 hexadecimal digits, each a word of the address in network
 * order read as a number of this machine; a colon; 4 digits of port.
 *
 * @return nothing if the text has another form.
 */
[[nodiscard]] std::optional<Endpoint> parse_endpoint(std::string_view text);

/**
 * Read a range of addresses, as "192.0.2.0/24", "2001:db8::1" and the like.
 *
 * @return nothing if the text is no address, or its length out of range.
 */
[[nodiscard]] std::optional<sdp::Prefix> parse_prefix(std::string_view text);

} // namespace sdpstat

#endif // SDPSTAT_ENDPOINT_H
