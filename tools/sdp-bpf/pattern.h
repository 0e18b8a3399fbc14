// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Patterns of fnmatch(3) as tables, which the kernel can follow byte by byte.
 */
#ifndef SDP_BPF_PATTERN_H
#define SDP_BPF_PATTERN_H

#include <array>
#include <cstdint>
#include <string_view>

namespace sdpbpf
{

/** What struct sdp_bpf_rule has of a pattern. */
struct Pattern {
	std::array<std::uint16_t, 256> step{};
	std::uint16_t stay = 0;
	unsigned length = 0; ///< bytes that a name has at least

	[[nodiscard]] std::uint16_t end() const
	{
		return static_cast<std::uint16_t>(1U << length);
	}
	/** Whether there is nothing but "*". */
	[[nodiscard]] bool fits_all() const
	{
		return length == 0 && stay != 0;
	}
};

/**
 * Translate a pattern.
 * @throws std::runtime_error that says what is wrong, or beyond the kernel's means
 */
[[nodiscard]] Pattern pattern_of(std::string_view text);

/** Whether there is a name that fits both. */
[[nodiscard]] bool may_both_fit(const Pattern &one, const Pattern &other);

} // namespace sdpbpf

#endif // SDP_BPF_PATTERN_H
