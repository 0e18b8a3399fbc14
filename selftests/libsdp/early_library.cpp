// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * A library whose static object opens a socket while the program starts.
 */
#include "probe.h"

namespace
{

struct Early {
	probe::Result result = probe::open_socket(AF_INET, SOCK_STREAM, 0);
};

const Early early;

} // namespace

[[gnu::visibility("default")]] probe::Result library_socket()
{
	return early.result;
}
