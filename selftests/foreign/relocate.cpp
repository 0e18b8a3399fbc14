// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Lets programs that talk to themselves over the loopback address do so over
 * an RDMA device: on SDP sockets 127.0.0.1 and ::1 stand for a node's own
 * addresses. All other sockets are left alone.
 *
 * Preloaded behind libsdp. Not a part of the product: test suites have the
 * loopback address written into them, and no RDMA device has it.
 */
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace
{

constexpr int protocol_sdp = 259;
/** The node's addresses: the first stands in for loopback, both are shown as it. */
constexpr std::array<const char *, 2> node_v4 = {"10.0.0.2", "10.0.0.1"};
constexpr std::array<const char *, 2> node_v6 = {"fd00::2", "fd00::1"};

template <typename Function> Function *next(const char *name)
{
	return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
}

bool is_sdp(int fd)
{
	const int errno_before = errno;
	int protocol = 0;
	socklen_t len = sizeof(protocol);
	const bool yes = getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &len) == 0 &&
			 protocol == protocol_sdp;

	errno = errno_before;
	return yes;
}

in_addr v4(const char *text)
{
	in_addr address{};

	inet_pton(AF_INET, text, &address);
	return address;
}

in6_addr v6(const char *text)
{
	in6_addr address{};

	inet_pton(AF_INET6, text, &address);
	return address;
}

/** An address that a program hands over: copied, because it is not ours to change. */
struct Copy {
	sockaddr_storage storage{};

	Copy(const sockaddr *from, socklen_t len)
	{
		std::memcpy(&storage, from, len);
	}

	const sockaddr *get() const
	{
		return reinterpret_cast<const sockaddr *>(&storage);
	}

	void to_node()
	{
		if (storage.ss_family == AF_INET) {
			auto &sin = reinterpret_cast<sockaddr_in &>(storage);

			if (sin.sin_addr.s_addr == htonl(INADDR_LOOPBACK))
				sin.sin_addr = v4(node_v4[0]);
		} else if (storage.ss_family == AF_INET6) {
			auto &sin6 = reinterpret_cast<sockaddr_in6 &>(storage);

			if (IN6_IS_ADDR_LOOPBACK(&sin6.sin6_addr))
				sin6.sin6_addr = v6(node_v6[0]);
		}
	}
};

void show_v4(sockaddr_in &sin)
{
	for (const char *node : node_v4)
		if (sin.sin_addr.s_addr == v4(node).s_addr)
			sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
}

void show_v6(sockaddr_in6 &sin6)
{
	for (const char *node : node_v6) {
		const in6_addr address = v6(node);

		if (IN6_ARE_ADDR_EQUAL(&sin6.sin6_addr, &address))
			sin6.sin6_addr = in6addr_loopback;
	}
}

/** Shows a node's address as the loopback one, if the program got a whole address. */
void show(sockaddr *addr, const socklen_t *len)
{
	if (!addr || !len)
		return;
	if (addr->sa_family == AF_INET && *len >= sizeof(sockaddr_in))
		show_v4(*reinterpret_cast<sockaddr_in *>(addr));
	else if (addr->sa_family == AF_INET6 && *len >= sizeof(sockaddr_in6))
		show_v6(*reinterpret_cast<sockaddr_in6 *>(addr));
}

/** Passes on the result of a call that gave an address of @p fd. */
int shown(int ret, int fd, sockaddr *addr, const socklen_t *len)
{
	if (ret >= 0 && is_sdp(fd))
		show(addr, len);
	return ret;
}

bool can_copy(int fd, const sockaddr *addr, socklen_t len)
{
	return addr && len >= sizeof(sa_family_t) && len <= sizeof(sockaddr_storage) && is_sdp(fd);
}

} // namespace

#define EXPORT extern "C" [[gnu::visibility("default")]]

EXPORT int bind(int fd, const sockaddr *addr, socklen_t len) noexcept
{
	static auto *const original = next<int(int, const sockaddr *, socklen_t)>("bind");

	if (!can_copy(fd, addr, len))
		return original(fd, addr, len);

	Copy copy(addr, len);

	copy.to_node();
	return original(fd, copy.get(), len);
}

EXPORT int connect(int fd, const sockaddr *addr, socklen_t len)
{
	static auto *const original = next<int(int, const sockaddr *, socklen_t)>("connect");

	if (!can_copy(fd, addr, len))
		return original(fd, addr, len);

	Copy copy(addr, len);

	copy.to_node();
	return original(fd, copy.get(), len);
}

EXPORT int getsockname(int fd, sockaddr *addr, socklen_t *len) noexcept
{
	static auto *const original = next<int(int, sockaddr *, socklen_t *)>("getsockname");

	return shown(original(fd, addr, len), fd, addr, len);
}

EXPORT int getpeername(int fd, sockaddr *addr, socklen_t *len) noexcept
{
	static auto *const original = next<int(int, sockaddr *, socklen_t *)>("getpeername");

	return shown(original(fd, addr, len), fd, addr, len);
}

EXPORT int accept4(int fd, sockaddr *addr, socklen_t *len, int flags)
{
	static auto *const original = next<int(int, sockaddr *, socklen_t *, int)>("accept4");
	const int ret = original(fd, addr, len, flags);

	return shown(ret, ret, addr, len);
}

EXPORT int accept(int fd, sockaddr *addr, socklen_t *len)
{
	return accept4(fd, addr, len, 0);
}
