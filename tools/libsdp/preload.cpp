// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * The interposed symbols. An SDP socket takes and gives the addresses and
 * options of a TCP socket by itself, and can use TCP by itself, so that there
 * are only the calls in which a rule may say what it uses; every other call on
 * the descriptor goes to the kernel untouched.
 */
#include "choose.h"
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
	if (!wants_tcp_stream(call) || nothing_to_convert())
		return original_socket(call);

	// A call that succeeds in the end must not show a failed attempt.
	const int errno_before = errno;
	const int fd = original_socket(converted(call));

	if (fd >= 0)
		choose_for_new(fd);
	if (fd >= 0 || !stays_on_tcp(errno))
		return fd;
	note_refusal(errno);
	errno = errno_before;
	return original_socket(call);
}

} // namespace
} // namespace libsdp

extern "C" {

[[gnu::visibility("default")]] int socket(int domain, int type, int protocol) noexcept
{
	return libsdp::open_socket({.domain = domain, .type = type, .protocol = protocol});
}

[[gnu::visibility("default")]] int bind(int fd, const sockaddr *address, socklen_t length) noexcept
{
	libsdp::choose_for_bind(fd, address, length);
	return libsdp::original_bind(fd, address, length);
}

[[gnu::visibility("default")]] int listen(int fd, int backlog) noexcept
{
	libsdp::choose_for_listen(fd);
	return libsdp::original_listen(fd, backlog);
}

[[gnu::visibility("default")]] int connect(int fd, const sockaddr *address, socklen_t length)
{
	libsdp::choose_for_connect(fd, address, length);
	return libsdp::original_connect(fd, address, length);
}

} // extern "C"
