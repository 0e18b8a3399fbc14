// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Schedules of the unit tests whose choices are the bytes of an input.
 */
#pragma once

#include <cstdlib>

#include <gtest/gtest.h>

#include "choice.h"

/** Runs phases for as long as there are bytes to choose by. */
template <typename Schedule> void run_phases(Schedule &schedule, ByteChoice &choice)
{
	constexpr int most = 16;

	for (int n = 0; n < most && !choice.empty(); n++)
		schedule.phase(choice.pick(1, 256));
}

/** What a test would fail for, which gtest has written down. */
inline void require_success()
{
	if (testing::Test::HasFailure())
		std::abort();
}
