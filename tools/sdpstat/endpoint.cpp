// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "endpoint.h"

#include "../common/number.h"

#include <array>
#include <cstring>

#include <arpa/inet.h>
#include <fmt/format.h>

namespace sdpstat
{
namespace
{

constexpr std::size_t word_digits = 8;
constexpr std::size_t word_bytes = 4;
constexpr unsigned int longest_prefix = 128;

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
		inet_ntop(AF_INET, address.v4(), buffer.data(), buffer.size());
	else
		inet_ntop(AF_INET6, address.bytes.data(), buffer.data(), buffer.size());
	return buffer.data();
}

std::string Endpoint::text() const
{
	const std::string port_text = port == 0 ? "*" : std::to_string(port);

	if (family == Family::inet)
		return fmt::format("{}:{}", address_text(), port_text);
	return fmt::format("[{}]:{}", address_text(), port_text);
}

bool Endpoint::is_in(const sdp::Prefix &prefix) const
{
	return family == Family::inet ? prefix.contains(address) : prefix.covers(address);
}

std::optional<Endpoint> parse_endpoint(std::string_view text)
{
	const std::size_t colon = text.find(':');

	if (colon != word_digits && colon != 4 * word_digits)
		return std::nullopt;

	const bool inet = colon == word_digits;
	const auto port = sdp::parse_number<std::uint16_t>(text.substr(colon + 1), 16);
	std::array<std::uint8_t, 4 * word_bytes> ip{};

	if (!port || !parse_words(text.substr(0, colon), ip.data()))
		return std::nullopt;
	return Endpoint{.family = inet ? Family::inet : Family::inet6,
			.address = inet ? sdp::address_of_v4(ip.data())
					: sdp::address_of_v6(ip.data()),
			.port = *port};
}

std::optional<sdp::Prefix> parse_prefix(std::string_view text)
{
	const std::string_view host = text.substr(0, text.find('/'));
	const bool inet = host.find(':') == std::string_view::npos;
	const unsigned int offset = inet ? sdp::mapped_bits : 0;
	const auto address = sdp::parse_address(host);

	if (!address)
		return std::nullopt;
	if (host.size() == text.size())
		return sdp::Prefix{.address = *address, .bits = longest_prefix};

	const auto bits = sdp::parse_number<unsigned int>(text.substr(host.size() + 1));

	if (!bits || *bits > longest_prefix - offset)
		return std::nullopt;
	return sdp::Prefix{.address = *address, .bits = static_cast<std::uint8_t>(*bits + offset)};
}

} // namespace sdpstat
