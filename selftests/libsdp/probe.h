// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * What the programs that run under libsdp.so report of a socket() call.
 */
#ifndef LIBSDP_TEST_PROBE_H
#define LIBSDP_TEST_PROBE_H

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace probe
{

/** errno before the call: a value that socket() never sets. */
constexpr int sentinel = EXDEV;

struct Result {
	int fd;
	int error;
};

inline Result open_socket(int domain, int type, int protocol)
{
	errno = sentinel;
	const int fd = socket(domain, type, protocol);
	const int error = errno;

	return {fd, error};
}

/** "opened|failed ERRNO DOMAIN NONBLOCK CLOEXEC" */
inline void report(const Result &result)
{
	int domain = -1;
	socklen_t length = sizeof(domain);

	getsockopt(result.fd, SOL_SOCKET, SO_DOMAIN, &domain, &length);
	std::printf("%s %d %d %d %d\n", result.fd >= 0 ? "opened" : "failed", result.error, domain,
		    result.fd >= 0 && (fcntl(result.fd, F_GETFL) & O_NONBLOCK) != 0,
		    result.fd >= 0 && (fcntl(result.fd, F_GETFD) & FD_CLOEXEC) != 0);
}

} // namespace probe

#endif // LIBSDP_TEST_PROBE_H
