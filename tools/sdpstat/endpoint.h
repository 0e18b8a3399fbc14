// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * One end of a connection: an IPv4 or IPv6 address and a port.
 */
#ifndef SDPSTAT_ENDPOINT_H
#define SDPSTAT_ENDPOINT_H

#include <array>
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

/** An IPv6 address; an IPv4 address is kept in its v4-mapped form. */
using AddressBytes = std::array<std::uint8_t, 16>;

struct Endpoint {
	Family family = Family::inet;
	AddressBytes address{};
	std::uint16_t port = 0; ///< host byte order; 0 means any

	/** The address as inet_ntop(3) writes it for the family. */
	[[nodiscard]] std::string address_text() const;

	/** "address:port", an IPv6 address in brackets, "*" for any port. */
	[[nodiscard]] std::string text() const;
};

/**
 * Read an endpoint as the kernel prints it in /proc/net/tcp and tcp6: one or
 * four words of 8 hexadecimal digits, each a word of the address in network
 * order read as a number of this machine; a colon; 4 digits of port.
 *
 * @return nothing if the text has another form.
 */
[[nodiscard]] std::optional<Endpoint> parse_endpoint(std::string_view text);

/** A range of addresses, as "192.0.2.0/24", "2001:db8::1" and the like. */
struct Prefix {
	AddressBytes address{};
	unsigned int length = 0; ///< in bits of the 128 of AddressBytes

	[[nodiscard]] bool contains(const AddressBytes &candidate) const;
};

/** @return nothing if the text is no address, or its length out of range. */
[[nodiscard]] std::optional<Prefix> parse_prefix(std::string_view text);

} // namespace sdpstat

#endif // SDPSTAT_ENDPOINT_H
