// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * IP addresses and ranges of them, without allocation and without locks: a preloaded
 * library uses them, too.
 */
#ifndef SDP_COMMON_ADDRESS_H
#define SDP_COMMON_ADDRESS_H

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace sdp
{

/** What stands before an address of IPv4 in its mapped form (RFC 4291, 2.5.5.2). */
constexpr std::array<std::uint8_t, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr unsigned mapped_bits = 8 * mapped.size();

/** An address of IPv6; those of IPv4 in their mapped form. */
struct Address {
	std::array<std::uint8_t, 16> bytes{};

	[[nodiscard]] bool is_v4() const noexcept
	{
		return std::equal(mapped.begin(), mapped.end(), bytes.begin());
	}

	/** The 4 bytes of one of IPv4. */
	[[nodiscard]] const std::uint8_t *v4() const noexcept
	{
		return bytes.data() + mapped.size();
	}
};

/** @param ip 4 bytes, in network order */
[[nodiscard]] inline Address address_of_v4(const void *ip) noexcept
{
	Address address;

	std::copy(mapped.begin(), mapped.end(), address.bytes.begin());
	std::memcpy(address.bytes.data() + mapped.size(), ip, sizeof(in_addr));
	return address;
}

/** @param ip 16 bytes, in network order */
[[nodiscard]] inline Address address_of_v6(const void *ip) noexcept
{
	Address address;

	std::memcpy(address.bytes.data(), ip, sizeof(in6_addr));
	return address;
}

/** Read an address in its usual notation; no host names, no brackets. */
[[nodiscard]] inline std::optional<Address> parse_address(std::string_view text) noexcept
{
	char terminated[INET6_ADDRSTRLEN + 1] = {};
	in_addr v4{};
	in6_addr v6{};

	if (text.size() >= sizeof(terminated) ||
	    std::memchr(text.data(), 0, text.size()) != nullptr)
		return std::nullopt;
	std::copy(text.begin(), text.end(), terminated);
	if (inet_pton(AF_INET, terminated, &v4) == 1)
		return address_of_v4(&v4);
	if (inet_pton(AF_INET6, terminated, &v6) == 1)
		return address_of_v6(&v6);
	return std::nullopt;
}

/** The addresses whose first bits are the same. */
struct Prefix {
	Address address;
	std::uint8_t bits = 0; ///< of 128; those of a prefix of IPv4 are mapped_bits more

	/** Whether it has an address in this form, be it one of IPv6 or a mapped one. */
	[[nodiscard]] bool covers(const Address &candidate) const noexcept
	{
		const std::size_t whole = bits / 8U;
		const unsigned rest = bits % 8U;
		const auto *mine = address.bytes.data(), *other = candidate.bytes.data();

		if (std::memcmp(mine, other, whole) != 0)
			return false;
		return rest == 0 || ((mine[whole] ^ other[whole]) >> (8U - rest)) == 0;
	}

	/**
	 * Whether it has an address of the same IP version: short prefixes are of IPv6, and
	 * have none of IPv4, even ::/0, in which their mapped forms would lie.
	 */
	[[nodiscard]] bool contains(const Address &candidate) const noexcept
	{
		return !(bits < mapped_bits && candidate.is_v4()) && covers(candidate);
	}
};

} // namespace sdp

#endif // SDP_COMMON_ADDRESS_H
