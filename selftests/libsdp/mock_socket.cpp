// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * A socket() to be preloaded behind libsdp.so, in the place of libc's. It
 * writes down each call and answers as the environment tells it:
 *   MOCK_LOG  file that gets a line "DOMAIN TYPE PROTOCOL" for each call
 *   MOCK_SDP  errno for protocol 259; 0 gives an AF_UNIX socket, which is never
 *             what was asked for, and so tells who answered
 *   MOCK_TCP  errno for all others; 0 passes them on to the kernel
 */
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace
{

int setting(const char *name)
{
	const char *text = std::getenv(name);

	return text == nullptr ? 0 : std::atoi(text);
}

void write_down(int domain, int type, int protocol)
{
	const char *path = std::getenv("MOCK_LOG");
	const int log = path == nullptr ? -1 : open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

	if (log < 0 || dprintf(log, "%d %d %d\n", domain, type, protocol) < 0)
		std::abort();
	close(log);
}

} // namespace

extern "C" [[gnu::visibility("default")]] int socket(int domain, int type, int protocol) noexcept
{
	constexpr int protocol_sdp = 259;
	const bool sdp = protocol == protocol_sdp;
	const int error = setting(sdp ? "MOCK_SDP" : "MOCK_TCP");
	const int errno_before = errno;

	write_down(domain, type, protocol);
	errno = error != 0 ? error : errno_before;
	if (error != 0)
		return -1;
	return static_cast<int>(sdp ? syscall(SYS_socket, AF_UNIX, type, 0)
				    : syscall(SYS_socket, domain, type, protocol));
}
