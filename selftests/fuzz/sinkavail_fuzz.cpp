// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Fuzzer of memory of a reader that the peer writes to.
 *
 * Nothing is written behind its end, and the reader gets it back.
 */
#include "schedule.h"
#include "sinkavail_link.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	ByteChoice choice(data, length);
	SinkLink link;

	while (!choice.empty() && !testing::Test::HasFailure())
		act(link, choice.pick(0, sink_acts - 1));
	link.settle();
	require_success();
	return 0;
}
