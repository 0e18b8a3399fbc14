// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * A tool's answer.
 */
#ifndef SDP_COMMON_PRINT_H
#define SDP_COMMON_PRINT_H

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

namespace sdp
{

/**
 * Write all of a text to standard output, now.
 *
 * @throws std::system_error if it does not take it.
 */
inline void print(const std::string &text)
{
	if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
		throw std::system_error(errno, std::generic_category(), "standard output");
}

} // namespace sdp

#endif // SDP_COMMON_PRINT_H
