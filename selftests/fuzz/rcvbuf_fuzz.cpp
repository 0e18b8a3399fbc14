// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Fuzzer of receive buffers, whose number and size change.
 *
 * No message is longer than its buffer, limits are kept, and nobody waits for ever for credits
 * or for an answer.
 */
#include "schedule.h"
#include "rcvbuf_schedule.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	ByteChoice choice(data, length);
	BufferSchedule schedule(choice);

	run_phases(schedule, choice);
	require_success();
	return 0;
}
