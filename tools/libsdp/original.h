// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * The functions that libsdp stands in front of, as the program would have
 * reached them without it: those of libc, or those of another preloaded library
 * behind this one.
 *
 * May be called before this library's constructor has run. Once that has run
 * they are safe in signal handlers and after vfork(): they neither lock nor
 * allocate. Results and errno are those of the functions.
 */
#ifndef LIBSDP_ORIGINAL_H
#define LIBSDP_ORIGINAL_H

#include "convert.h"

#include <sys/socket.h>

namespace libsdp
{

int original_socket(const SocketCall &call) noexcept;
int original_bind(int fd, const sockaddr *address, socklen_t length) noexcept;
int original_listen(int fd, int backlog) noexcept;

/** A cancellation point, whose end passes through here as an exception. */
int original_connect(int fd, const sockaddr *address, socklen_t length);

} // namespace libsdp

#endif // LIBSDP_ORIGINAL_H
