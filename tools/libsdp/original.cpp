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

using SocketFunction = int (*)(int, int, int);

static_assert(std::atomic<SocketFunction>::is_always_lock_free,
	      "a signal handler may interrupt a thread that uses the pointer");

// Initialised by the loader, not by a constructor: the first call may come
// from another object's constructor before any of ours has run.
constinit std::atomic<SocketFunction> next_socket{nullptr};

// Stands in if no further socket() is visible, so that the program works.
int system_call_socket(int domain, int type, int protocol)
{
	return static_cast<int>(syscall(SYS_socket, domain, type, protocol));
}

// Threads that get here at the same time find the same answer.
SocketFunction resolve_socket() noexcept
{
	auto found = reinterpret_cast<SocketFunction>(dlsym(RTLD_NEXT, "socket"));

	if (found == nullptr)
		found = system_call_socket;
	next_socket.store(found, std::memory_order_relaxed);
	return found;
}

// dlsym() takes the loader's lock, which a signal handler must not: get it
// over with while the program starts.
[[gnu::constructor]] void resolve_early() noexcept
{
	resolve_socket();
}

} // namespace

int original_socket(const SocketCall &call) noexcept
{
	SocketFunction function = next_socket.load(std::memory_order_relaxed);

	if (function == nullptr)
		function = resolve_socket();
	return function(call.domain, call.type, call.protocol);
}

} // namespace libsdp
