// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * IP addresses with ports and prefixes, without allocation and without locks.
 */
#ifndef LIBSDP_ENDPOINT_H
#define LIBSDP_ENDPOINT_H

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include <sys/socket.h>

namespace libsdp
{

/** An address of IPv6; those of IPv4 in their mapped form. */
struct Address {
	std::array<std::uint8_t, 16> bytes{};

	[[nodiscard]] bool is_v4() const noexcept;
};

struct Endpoint {
	Address address;
	std::uint16_t port = 0;
};

/** How to write an endpoint: "192.0.2.1:80", "[2001:db8::1]:80". */
struct EndpointText {
	std::array<char, 64> characters{};
	[[nodiscard]] const char *get() const noexcept
	{
		return characters.data();
	}
};

/**
 * Read an address that a program passes to the kernel.
 *
 * @param length what the program says of its length; no byte beyond is read.
 * @return nothing if it is not a complete one of AF_INET or AF_INET6.
 */
[[nodiscard]] std::optional<Endpoint> endpoint_of(const sockaddr *address,
						  socklen_t length) noexcept;

/** Read an address in its usual notation; no host names, no brackets. */
[[nodiscard]] std::optional<Address> parse_address(std::string_view text) noexcept;

/** The usual notation, an address of IPv6 in brackets. */
[[nodiscard]] EndpointText text_of(const Endpoint &endpoint) noexcept;

/** The addresses of one IP version whose first bits are the same. */
struct Prefix {
	Address address;
	std::uint8_t bits = 0; ///< of 128; those of a prefix of IPv4 are 96 more

	[[nodiscard]] bool contains(const Address &candidate) const noexcept;
};

} // namespace libsdp

#endif // LIBSDP_ENDPOINT_H
