// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * A program that has a socket() of its own in front of every library's, as tracers
 * and sanitizers have, and its own allocator, which may call socket() and therefore
 * must not be called from there.
 */
#include "probe.h"

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <unistd.h>

namespace
{

bool inside = false; ///< a call of socket()
int calls = 0;

/** Nothing is ever given back: the program is short. */
void *take(std::size_t size) noexcept
{
	alignas(std::max_align_t) static std::array<char, std::size_t{1} << 22> memory;
	static std::size_t used = 0;
	// What precedes a piece is its size, for realloc().
	const std::size_t needed =
		(size + 2 * alignof(std::max_align_t) - 1) & ~(alignof(std::max_align_t) - 1);

	if (inside || needed > memory.size() - used)
		std::abort();
	char *piece = memory.data() + used + alignof(std::max_align_t);

	std::memcpy(piece - sizeof(size), &size, sizeof(size));
	used += needed;
	return piece;
}

} // namespace

extern "C" {

int socket(int domain, int type, int protocol) noexcept
{
	static const auto next =
		reinterpret_cast<int (*)(int, int, int)>(dlsym(RTLD_NEXT, "socket"));

	calls++;
	inside = true;
	const int fd = next(domain, type, protocol);

	inside = false;
	return fd;
}

void *malloc(std::size_t size) noexcept
{
	return take(size);
}

void *calloc(std::size_t count, std::size_t size) noexcept
{
	return take(count * size); // from memory that is zero
}

void *realloc(void *piece, std::size_t size) noexcept
{
	void *larger = take(size);
	std::size_t before = 0;

	if (piece == nullptr)
		return larger;
	std::memcpy(&before, static_cast<char *>(piece) - sizeof(before), sizeof(before));
	return std::memcpy(larger, piece, before < size ? before : size);
}

void free(void *) noexcept
{
}

} // extern "C"

int main()
{
	probe::report(probe::open_socket(AF_INET, SOCK_STREAM, 0));
	return calls == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
