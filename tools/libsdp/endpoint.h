// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * IP addresses with ports, without allocation and without locks.
 */
#ifndef LIBSDP_ENDPOINT_H
#define LIBSDP_ENDPOINT_H

#include "../common/address.h"

#include <array>
#include <cstdint>
#include <optional>

#include <sys/socket.h>

namespace libsdp
{

using sdp::Address;
using sdp::parse_address;
using sdp::Prefix;

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

/** The usual notation, an address of IPv6 in brackets. */
[[nodiscard]] EndpointText text_of(const Endpoint &endpoint) noexcept;

} // namespace libsdp

#endif // LIBSDP_ENDPOINT_H
