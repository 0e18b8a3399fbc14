// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * Preloaded, it makes a program's TCP sockets AF_SMC's, so that what others wrote can be
 * measured over SMC-R; Debian has nothing that does.
 */

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace
{

constexpr int smc_over_ipv4 = 0, smc_over_ipv6 = 1;

bool is_tcp(int domain, int type)
{
	return (domain == AF_INET || domain == AF_INET6) &&
	       (type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) == SOCK_STREAM;
}

} // namespace

extern "C" [[gnu::visibility("default")]] int socket(int domain, int type, int protocol) noexcept
{
	if (is_tcp(domain, type)) {
		protocol = domain == AF_INET ? smc_over_ipv4 : smc_over_ipv6;
		domain = AF_SMC;
	}
	return static_cast<int>(syscall(SYS_socket, domain, type, protocol));
}
