// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * A program that opens sockets before main(): from its preinit array, which
 * runs before the constructors of every library, that of libsdp.so included;
 * from a library's static object; and from its own.
 */
#include "probe.h"

#include <cstdlib>

#include <unistd.h>

probe::Result library_socket();

namespace
{

probe::Result preinit_socket{-1, 0};

void before_all_constructors(int, char **, char **environment)
{
	environ = environment; // libc has not come to that yet, and the mock looks there
	preinit_socket = probe::open_socket(AF_INET6, SOCK_STREAM, 0);
}

[[gnu::section(".preinit_array"),
  gnu::used]] void (*const preinit_entry)(int, char **, char **) = before_all_constructors;

const probe::Result static_socket = probe::open_socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);

} // namespace

int main()
{
	probe::report(preinit_socket);
	probe::report(library_socket());
	probe::report(static_socket);
	return EXIT_SUCCESS;
}
