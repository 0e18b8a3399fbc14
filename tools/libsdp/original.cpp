// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "original.h"

#include <atomic>

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace libsdp
{
namespace
{

/** A function of the next object in the search order. */
template <typename Function> class Next
{
public:
	/** @param fallback stands in if no further one is visible. */
	constexpr Next(const char *name, Function fallback) noexcept
		: name_(name), fallback_(fallback)
	{
	}

	Function get() noexcept
	{
		const Function known = found_.load(std::memory_order_relaxed);

		return known != nullptr ? known : resolve();
	}

	// Threads that get here at the same time find the same answer.
	Function resolve() noexcept
	{
		auto found = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name_));

		if (found == nullptr)
			found = fallback_;
		found_.store(found, std::memory_order_relaxed);
		return found;
	}

private:
	static_assert(std::atomic<Function>::is_always_lock_free,
		      "a signal handler may interrupt a thread that uses the pointer");

	const char *name_;
	Function fallback_;
	std::atomic<Function> found_{nullptr};
};

using SocketFunction = int (*)(int, int, int);
using AddressFunction = int (*)(int, const sockaddr *, socklen_t);
using ListenFunction = int (*)(int, int);

int system_call_socket(int domain, int type, int protocol)
{
	return static_cast<int>(syscall(SYS_socket, domain, type, protocol));
}

int system_call_bind(int fd, const sockaddr *address, socklen_t length)
{
	return static_cast<int>(syscall(SYS_bind, fd, address, length));
}

int system_call_connect(int fd, const sockaddr *address, socklen_t length)
{
	return static_cast<int>(syscall(SYS_connect, fd, address, length));
}

int system_call_listen(int fd, int backlog)
{
	return static_cast<int>(syscall(SYS_listen, fd, backlog));
}

// Initialised by the loader, not by a constructor: the first call may come
// from another object's constructor before any of ours has run.
constinit Next<SocketFunction> next_socket("socket", system_call_socket);
constinit Next<AddressFunction> next_bind("bind", system_call_bind);
constinit Next<AddressFunction> next_connect("connect", system_call_connect);
constinit Next<ListenFunction> next_listen("listen", system_call_listen);

// dlsym() takes the loader's lock, which a signal handler must not: get it
// over with while the program starts.
[[gnu::constructor]] void resolve_early() noexcept
{
	next_socket.resolve();
	next_bind.resolve();
	next_connect.resolve();
	next_listen.resolve();
}

} // namespace

int original_socket(const SocketCall &call) noexcept
{
	return next_socket.get()(call.domain, call.type, call.protocol);
}

int original_bind(int fd, const sockaddr *address, socklen_t length) noexcept
{
	return next_bind.get()(fd, address, length);
}

int original_connect(int fd, const sockaddr *address, socklen_t length)
{
	return next_connect.get()(fd, address, length);
}

int original_listen(int fd, int backlog) noexcept
{
	return next_listen.get()(fd, backlog);
}

} // namespace libsdp
