// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "endpoint.h"

#include "../common/number.h"

#include <algorithm>
#include <cstring>

#include <arpa/inet.h>
#include <fmt/format.h>

namespace sdpstat
{
namespace
{

constexpr std::size_t word_digits = 8;
constexpr std::size_t word_bytes = 4;
constexpr std::size_t inet_offset = 12; // of IPv4 in a v4-mapped address
constexpr unsigned int inet_bits_offset = 96;

// What stands before the IPv4 address in a v4-mapped one (RFC 4291, 2.5.5.2).
AddressBytes mapped_base()
{
	AddressBytes base{};

	base[10] = base[11] = 0xff;
	return base;
}

bool parse_words(std::string_view digits, std::uint8_t *destination)
{
	for (; !digits.empty(); digits.remove_prefix(word_digits), destination += word_bytes) {
		const auto word =
			sdp::parse_number<std::uint32_t>(digits.substr(0, word_digits), 16);

		if (!word)
			return false;
		std::memcpy(destination, &*word, word_bytes);
	}
	return true;
}

} // namespace

std::string Endpoint::address_text() const
{
	std::array<char, INET6_ADDRSTRLEN> buffer{};

	if (family == Family::inet)
		inet_ntop(AF_INET, &address[inet_offset], buffer.data(), buffer.size());
	else
		inet_ntop(AF_INET6, address.data(), buffer.data(), buffer.size());
	return buffer.data();
}

std::string Endpoint::text() const
{
	const std::string port_text = port == 0 ? "*" : std::to_string(port);

	if (family == Family::inet)
		return fmt::format("{}:{}", address_text(), port_text);
	return fmt::format("[{}]:{}", address_text(), port_text);
}

std::optional<Endpoint> parse_endpoint(std::string_view text)
{
	const std::size_t colon = text.find(':');

	if (colon != word_digits && colon != 4 * word_digits)
		return std::nullopt;

	const bool inet = colon == word_digits;
	const auto port = sdp::parse_number<std::uint16_t>(text.substr(colon + 1), 16);
	Endpoint endpoint{.family = inet ? Family::inet : Family::inet6,
			  .address = inet ? mapped_base() : AddressBytes{},
			  .port = port.value_or(0)};

	if (!port || !parse_words(text.substr(0, colon), &endpoint.address[inet ? inet_offset : 0]))
		return std::nullopt;
	return endpoint;
}

bool Prefix::contains(const AddressBytes &candidate) const
{
	const std::size_t whole = length / 8;
	const unsigned int rest = length % 8;

	if (!std::equal(address.begin(), address.begin() + whole, candidate.begin()))
		return false;
	return rest == 0 || ((address[whole] ^ candidate[whole]) >> (8 - rest)) == 0;
}

std::optional<Prefix> parse_prefix(std::string_view text)
{
	const std::size_t slash = text.find('/');
	const std::string host(text.substr(0, slash));
	const bool inet = host.find(':') == std::string::npos;
	const unsigned int offset = inet ? inet_bits_offset : 0;
	Prefix prefix{.address = inet ? mapped_base() : AddressBytes{}, .length = 128};

	if (inet_pton(inet ? AF_INET : AF_INET6, host.c_str(),
		      &prefix.address[inet ? inet_offset : 0]) != 1)
		return std::nullopt;
	if (slash == std::string_view::npos)
		return prefix;

	const auto bits = sdp::parse_number<unsigned int>(text.substr(slash + 1));

	if (!bits || *bits > prefix.length - offset)
		return std::nullopt;
	prefix.length = *bits + offset;
	return prefix;
}

} // namespace sdpstat
