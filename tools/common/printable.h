// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Text of others, for a terminal.
 */
#ifndef SDP_COMMON_PRINTABLE_H
#define SDP_COMMON_PRINTABLE_H

#include <algorithm>
#include <string>
#include <string_view>

namespace sdp
{

/**
 * What somebody else has chosen, with '?' in place of what a terminal might act upon: all
 * bytes but those that ASCII can print.
 */
inline std::string printable(std::string_view text)
{
	std::string result(text);

	std::replace_if(
		result.begin(), result.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
	return result;
}

} // namespace sdp

#endif // SDP_COMMON_PRINTABLE_H
