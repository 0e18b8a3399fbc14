// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Messages to the administrator, from wherever a program calls the library: in
 * signal handlers, after vfork(), in a chroot.  A message is put together on
 * the stack and leaves in one system call; no descriptor is kept.
 */
#ifndef LIBSDP_LOG_H
#define LIBSDP_LOG_H

#include "parser.h"

#include <array>
#include <cstddef>
#include <string_view>

namespace libsdp
{

/** What the levels of libsdp.conf mean; a higher one is more important. */
namespace level
{
constexpr unsigned error = 9;	///< the configuration cannot be used as it is
constexpr unsigned warning = 8; ///< a program stays on TCP
constexpr unsigned summary = 7; ///< what connect() and listen() were told to use
constexpr unsigned detail = 4;	///< likewise bind(), and sockets
} // namespace level

/** A message; what does not fit is cut off, what is not printable becomes '?'. */
class Message
{
public:
	Message &operator<<(std::string_view text) noexcept;
	Message &operator<<(unsigned number) noexcept;

	[[nodiscard]] std::string_view text() const noexcept
	{
		return {text_.data(), length_};
	}

private:
	std::array<char, 400> text_{};
	std::size_t length_ = 0;
};

/**
 * Write a message down, if its level is high enough.
 *
 * Changes neither errno nor anything else that the program could see.  If the
 * destination cannot be reached the message is lost.
 */
void write_log(const LogSettings &settings, unsigned level, const Message &message) noexcept;

} // namespace libsdp

#endif // LIBSDP_LOG_H
