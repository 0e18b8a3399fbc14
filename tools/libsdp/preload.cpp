// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * The interposed symbols. socket() is the only one: an AF_SDP socket takes and
 * gives the addresses and options of a TCP socket by itself, so every other
 * call on the descriptor goes to the kernel untouched.
 */
#include "convert.h"
#include "original.h"

#include <cerrno>

#include <sys/socket.h>

namespace libsdp
{
namespace
{

int open_socket(const SocketCall &call) noexcept
{
	if (!wants_tcp_stream(call))
		return original_socket(call);

	// A call that succeeds in the end must not show a failed attempt.
	const int errno_before = errno;
	const int fd = original_socket(converted(call));

	if (fd >= 0 || !stays_on_tcp(errno))
		return fd;
	errno = errno_before;
	return original_socket(call);
}

} // namespace
} // namespace libsdp

extern "C" [[gnu::visibility("default")]] int socket(int domain, int type, int protocol) noexcept
{
	return libsdp::open_socket({.domain = domain, .type = type, .protocol = protocol});
}
