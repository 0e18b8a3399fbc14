// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * The calls that libsdp.so makes on a socket, to be preloaded behind it. Each is
 * written down in the file MOCK_LOG, and none reaches the kernel:
 *   MOCK_OPTION  errno of setsockopt() at SDP's level
 *   MOCK_CALL    errno of bind(), listen() and connect(); EFAULT: the address is
 *                not read
 *   MOCK_NAME    errno of getsockname(); else it answers MOCK_ADDRESS, MOCK_PORT
 * A socket that succeeds leaves errno as it was.
 */
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace
{

constexpr int level_sdp = 1025;

std::string text_setting(const char *name)
{
	const char *text = std::getenv(name);

	return text == nullptr ? "" : text;
}

int setting(const char *name)
{
	return std::atoi(text_setting(name).c_str());
}

void write_down(const std::string &line)
{
	const int log = open(text_setting("MOCK_LOG").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);

	if (log < 0 || dprintf(log, "%s\n", line.c_str()) < 0)
		std::abort();
	close(log);
}

int answer(int error, int errno_before)
{
	errno = error != 0 ? error : errno_before;
	return error != 0 ? -1 : 0;
}

std::string text_of(const sockaddr *address)
{
	char text[INET6_ADDRSTRLEN] = "";

	if (address == nullptr)
		return "null";
	if (address->sa_family == AF_INET) {
		const auto *in = reinterpret_cast<const sockaddr_in *>(address);

		inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text));
		return std::string(text) + " " + std::to_string(ntohs(in->sin_port));
	}
	if (address->sa_family == AF_INET6) {
		const auto *in6 = reinterpret_cast<const sockaddr_in6 *>(address);

		inet_ntop(AF_INET6, &in6->sin6_addr, text, sizeof(text));
		return std::string(text) + " " + std::to_string(ntohs(in6->sin6_port));
	}
	return "family " + std::to_string(address->sa_family);
}

int call_with_address(const char *name, const sockaddr *address)
{
	const int errno_before = errno;

	const int error = setting("MOCK_CALL");

	write_down(std::string(name) + " " + (error == EFAULT ? "unread" : text_of(address)));
	return answer(error, errno_before);
}

} // namespace

extern "C" {

[[gnu::visibility("default")]] int setsockopt(int, int level, int name, const void *value,
					      socklen_t length) noexcept
{
	const int errno_before = errno;
	int number = -1;

	if (length == sizeof(number))
		std::memcpy(&number, value, sizeof(number));
	write_down((level == level_sdp ? "option " : "other option ") + std::to_string(name) + " " +
		   std::to_string(number));
	return answer(setting("MOCK_OPTION"), errno_before);
}

[[gnu::visibility("default")]] int getsockname(int, sockaddr *address, socklen_t *length) noexcept
{
	const int errno_before = errno;
	sockaddr_in in = {};

	write_down("getsockname");
	in.sin_family = AF_INET;
	in.sin_port = htons(static_cast<std::uint16_t>(setting("MOCK_PORT")));
	inet_pton(AF_INET, text_setting("MOCK_ADDRESS").c_str(), &in.sin_addr);
	std::memcpy(address, &in, sizeof(in));
	*length = sizeof(in);
	return answer(setting("MOCK_NAME"), errno_before);
}

[[gnu::visibility("default")]] int bind(int, const sockaddr *address, socklen_t) noexcept
{
	return call_with_address("bind", address);
}

[[gnu::visibility("default")]] int connect(int, const sockaddr *address, socklen_t)
{
	return call_with_address("connect", address);
}

[[gnu::visibility("default")]] int listen(int, int backlog) noexcept
{
	const int errno_before = errno;

	write_down("listen " + std::to_string(backlog));
	return answer(setting("MOCK_CALL"), errno_before);
}

} // extern "C"
