/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/**
 * @file
 * Where the random numbers of a test begin.
 */
#ifndef SDP_UNIT_SEED_H
#define SDP_UNIT_SEED_H

#include <cstdlib>
#include <iostream>
#include <random>

#include <linux/types.h>

/** The number in SDP_TEST_SEED, else another one each time; it is printed. */
inline u32 seed()
{
	const char *given = std::getenv("SDP_TEST_SEED");
	const u32 value =
		given ? static_cast<u32>(std::strtoul(given, nullptr, 0)) : std::random_device()();

	std::cout << "SDP_TEST_SEED=" << value << std::endl;
	return value;
}

#endif /* SDP_UNIT_SEED_H */
