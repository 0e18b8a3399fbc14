// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Writing a line where it can neither harm nor hold up the program.
 */
#ifndef LIBSDP_OUTPUT_H
#define LIBSDP_OUTPUT_H

#include <string_view>

namespace libsdp
{

/**
 * Whether descriptor 2 is still what it was when the program began.
 *
 * A program that closes it may get the same number for a file or a connection of
 * its own, where no message belongs.
 */
[[nodiscard]] bool has_standard_error() noexcept;

/**
 * Write a line if that is possible at once.
 *
 * The line is lost if nobody reads a pipe, or if it is full.  No signal is left
 * behind.  May be called in signal handlers; may change errno.
 */
void write_at_once(int fd, std::string_view line) noexcept;

} // namespace libsdp

#endif // LIBSDP_OUTPUT_H
