// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "endpoint.h"

#include <cstddef>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace libsdp
{
namespace
{

// The shortest form that the kernel takes ends before the scope.
constexpr socklen_t shortest_in6 = offsetof(sockaddr_in6, sin6_scope_id);

Endpoint from_in(const sockaddr *address) noexcept
{
	sockaddr_in in{};

	std::memcpy(&in, address, sizeof(in));
	return {.address = sdp::address_of_v4(&in.sin_addr), .port = ntohs(in.sin_port)};
}

Endpoint from_in6(const sockaddr *address) noexcept
{
	sockaddr_in6 in6{};

	std::memcpy(&in6, address, shortest_in6);
	return {.address = sdp::address_of_v6(&in6.sin6_addr), .port = ntohs(in6.sin6_port)};
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

EndpointText text_of(const Endpoint &endpoint) noexcept
{
	const bool v4 = endpoint.address.is_v4();
	const std::uint8_t *ip = v4 ? endpoint.address.v4() : endpoint.address.bytes.data();
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

} // namespace libsdp
