// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "endpoint.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace libsdp
{
namespace
{

constexpr std::array<std::uint8_t, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

Address from_v4(const in_addr &ip) noexcept
{
	Address address;

	std::copy(mapped.begin(), mapped.end(), address.bytes.begin());
	std::memcpy(address.bytes.data() + mapped.size(), &ip, sizeof(ip));
	return address;
}

Address from_v6(const in6_addr &ip) noexcept
{
	Address address;

	std::memcpy(address.bytes.data(), &ip, sizeof(ip));
	return address;
}

// The shortest form that the kernel takes ends before the scope.
constexpr socklen_t shortest_in6 = offsetof(sockaddr_in6, sin6_scope_id);

Endpoint from_in(const sockaddr *address) noexcept
{
	sockaddr_in in{};

	std::memcpy(&in, address, sizeof(in));
	return {.address = from_v4(in.sin_addr), .port = ntohs(in.sin_port)};
}

Endpoint from_in6(const sockaddr *address) noexcept
{
	sockaddr_in6 in6{};

	std::memcpy(&in6, address, shortest_in6);
	return {.address = from_v6(in6.sin6_addr), .port = ntohs(in6.sin6_port)};
}

// Decimal digits of a port, after what is there.
char *append_port(char *end, unsigned port) noexcept
{
	char digits[6];
	int count = 0;

	do
		digits[count++] = static_cast<char>('0' + port % 10);
	while ((port /= 10) != 0);
	while (count > 0)
		*end++ = digits[--count];
	return end;
}

} // namespace

bool Address::is_v4() const noexcept
{
	return std::equal(mapped.begin(), mapped.end(), bytes.begin());
}

std::optional<Endpoint> endpoint_of(const sockaddr *address, socklen_t length) noexcept
{
	sa_family_t family = AF_UNSPEC;

	if (address == nullptr || length < sizeof(family))
		return std::nullopt;
	std::memcpy(&family, &address->sa_family, sizeof(family));
	if (family == AF_INET && length >= sizeof(sockaddr_in))
		return from_in(address);
	if (family == AF_INET6 && length >= shortest_in6)
		return from_in6(address);
	return std::nullopt;
}

std::optional<Address> parse_address(std::string_view text) noexcept
{
	char terminated[INET6_ADDRSTRLEN + 1] = {};
	in_addr v4{};
	in6_addr v6{};

	if (text.size() >= sizeof(terminated) ||
	    std::memchr(text.data(), 0, text.size()) != nullptr)
		return std::nullopt;
	std::copy(text.begin(), text.end(), terminated);
	if (inet_pton(AF_INET, terminated, &v4) == 1)
		return from_v4(v4);
	if (inet_pton(AF_INET6, terminated, &v6) == 1)
		return from_v6(v6);
	return std::nullopt;
}

EndpointText text_of(const Endpoint &endpoint) noexcept
{
	const bool v4 = endpoint.address.is_v4();
	const std::uint8_t *ip = endpoint.address.bytes.data() + (v4 ? mapped.size() : 0);
	EndpointText text;
	char *end = text.characters.data();

	if (!v4)
		*end++ = '[';
	inet_ntop(v4 ? AF_INET : AF_INET6, ip, end, INET6_ADDRSTRLEN);
	end += std::strlen(end);
	if (!v4)
		*end++ = ']';
	*end++ = ':';
	*append_port(end, endpoint.port) = '\0';
	return text;
}

bool Prefix::contains(const Address &candidate) const noexcept
{
	const std::size_t whole = bits / 8U;
	const unsigned rest = bits % 8U;
	const auto *mine = address.bytes.data(), *other = candidate.bytes.data();

	// Short prefixes are of IPv6, even ::/0, in which mapped addresses would lie.
	if (bits < 8 * mapped.size() && candidate.is_v4())
		return false;
	if (std::memcmp(mine, other, whole) != 0)
		return false;
	return rest == 0 || ((mine[whole] ^ other[whole]) >> (8U - rest)) == 0;
}

} // namespace libsdp
