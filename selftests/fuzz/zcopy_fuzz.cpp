// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Fuzzer of memory that an end lets the other read.
 *
 * What is read has not been released, bytes keep their order however they travel, and everybody
 * has his memory in the end.
 */
#include "schedule.h"
#include "zcopy_schedule.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	ByteChoice choice(data, length);
	ZcopySchedule schedule(choice);

	run_phases(schedule, choice);
	require_success();
	return 0;
}
