// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "convert.h"

#include <cerrno>

#include <linux/sdp.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace libsdp
{

bool wants_tcp_stream(const SocketCall &call) noexcept
{
	const bool internet = call.domain == AF_INET || call.domain == AF_INET6;
	const bool stream = (call.type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) == SOCK_STREAM;
	const bool tcp = call.protocol == 0 || call.protocol == IPPROTO_TCP ||
			 call.protocol == IPPROTO_MPTCP;

	return internet && stream && tcp;
}

SocketCall converted(const SocketCall &call) noexcept
{
	return {.domain = call.domain, .type = call.type, .protocol = IPPROTO_SDP};
}

bool stays_on_tcp(int error) noexcept
{
	switch (error) {
	case EMFILE:
	case ENFILE:
	case ENOMEM:
	case ENOBUFS:
		return false;
	default:
		return true;
	}
}

} // namespace libsdp
