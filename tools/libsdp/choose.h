// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Tell the kernel what the rules say of a socket.
 *
 * Nothing is kept about descriptors, so that it does not matter where one comes
 * from: the kernel's socket is the only place where the choice is stored, and
 * the kernel refuses it on everything that is no SDP socket or is connected
 * already. errno is left as it is.
 */
#ifndef LIBSDP_CHOOSE_H
#define LIBSDP_CHOOSE_H

#include <sys/socket.h>

namespace libsdp
{

/** Whether all sockets of this program use TCP, so that none is converted. */
[[nodiscard]] bool nothing_to_convert() noexcept;

/** A new SDP socket, about whose use nothing is known yet. */
void choose_for_new(int fd) noexcept;

/** The kernel has refused an SDP socket; said once in a process. */
void note_refusal(int error) noexcept;

void choose_for_bind(int fd, const sockaddr *address, socklen_t length) noexcept;
void choose_for_listen(int fd) noexcept;
void choose_for_connect(int fd, const sockaddr *address, socklen_t length) noexcept;

} // namespace libsdp

#endif // LIBSDP_CHOOSE_H
