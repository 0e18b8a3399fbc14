// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Numbers in text.
 */
#ifndef SDP_COMMON_NUMBER_H
#define SDP_COMMON_NUMBER_H

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace sdp
{

/** @return nothing unless the whole text is one number that fits. */
template <typename Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text, int base = 10)
{
	Number value{};
	const char *const end = text.data() + text.size();
	const auto [stop, error] = std::from_chars(text.data(), end, value, base);

	if (error != std::errc{} || stop != end)
		return std::nullopt;
	return value;
}

} // namespace sdp

#endif // SDP_COMMON_NUMBER_H
