// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * A program that knows nothing of SDP and makes the calls that it is told, all
 * on the socket that was opened last:
 *   stderr FILE, has a file of its own get descriptor 2
 *   socket | bind ADDRESS PORT | connect ADDRESS PORT | listen | null | unspec | short |
 *   unmapped | halfway ADDRESS PORT
 * It prints "ok" or "failed" and errno for each, whose value before is one that
 * none of these calls sets.
 */
#include "probe.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>

#include <arpa/inet.h>
#include <sys/mman.h>
#include <unistd.h>

namespace
{

char **next_argument;
int fd = -1;

std::string argument()
{
	if (*next_argument == nullptr)
		std::exit(EXIT_FAILURE);
	return *next_argument++;
}

struct Name {
	sockaddr_storage storage{};
	socklen_t length = 0;

	[[nodiscard]] const sockaddr *get() const
	{
		return reinterpret_cast<const sockaddr *>(&storage);
	}
};

Name name_argument()
{
	const std::string text = argument();
	const auto port = static_cast<std::uint16_t>(std::stoi(argument()));
	Name name;
	sockaddr_in in = {};
	sockaddr_in6 in6 = {};

	in.sin_family = AF_INET;
	in6.sin6_family = AF_INET6;
	in.sin_port = in6.sin6_port = htons(port);
	if (inet_pton(AF_INET, text.c_str(), &in.sin_addr) == 1) {
		std::memcpy(&name.storage, &in, name.length = sizeof(in));
	} else if (inet_pton(AF_INET6, text.c_str(), &in6.sin6_addr) == 1) {
		std::memcpy(&name.storage, &in6, name.length = sizeof(in6));
	}
	return name;
}

int do_stderr()
{
	const std::string name = argument();

	close(STDERR_FILENO);
	const int file = open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	errno = probe::sentinel;
	return file == STDERR_FILENO ? 0 : -1;
}

int do_socket()
{
	return fd = socket(AF_INET, SOCK_STREAM, 0);
}

int do_bind()
{
	const Name name = name_argument();

	errno = probe::sentinel;
	return bind(fd, name.get(), name.length);
}

int do_connect()
{
	const Name name = name_argument();

	errno = probe::sentinel;
	return connect(fd, name.get(), name.length);
}

int do_short()
{
	const Name name = name_argument();

	errno = probe::sentinel;
	return connect(fd, name.get(), sizeof(sa_family_t));
}

int do_listen()
{
	return listen(fd, 5);
}

int do_null()
{
	return connect(fd, nullptr, 0);
}

int do_unspec()
{
	const Name name;

	return connect(fd, name.get(), sizeof(sockaddr));
}

int do_unmapped()
{
	const auto *address = reinterpret_cast<const sockaddr *>(8);

	(void)bind(fd, address, sizeof(sockaddr_in));
	errno = probe::sentinel;
	return connect(fd, address, sizeof(sockaddr_in));
}

// The address begins on a page behind which there is none, and goes on there.
int do_halfway()
{
	const Name name = name_argument();
	const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
	void *map =
		mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	constexpr std::size_t there = 4;

	if (map == MAP_FAILED || mprotect(static_cast<char *>(map) + page, page, PROT_NONE) != 0)
		return -1;
	char *address = static_cast<char *>(map) + page - there;

	std::memcpy(address, &name.storage, there);
	errno = probe::sentinel;
	return connect(fd, reinterpret_cast<const sockaddr *>(address), name.length);
}

const std::map<std::string, std::function<int()>> calls = {
	{"socket", do_socket},	 {"bind", do_bind},	{"connect", do_connect},
	{"listen", do_listen},	 {"null", do_null},	{"short", do_short},
	{"unspec", do_unspec},	 {"stderr", do_stderr}, {"unmapped", do_unmapped},
	{"halfway", do_halfway},
};

} // namespace

int main(int, char **argv)
{
	next_argument = argv + 1;
	while (*next_argument != nullptr) {
		const std::string name = argument();

		errno = probe::sentinel;
		const int result = calls.at(name)();
		const int error = errno;

		std::printf("%s %d\n", result >= 0 ? "ok" : "failed", error);
	}
	return EXIT_SUCCESS;
}
