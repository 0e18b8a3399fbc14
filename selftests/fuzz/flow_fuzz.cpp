// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Fuzzer of flow control: two ends with credits, or with the rings of an engine.
 *
 * No message finds its receiver without room, no byte is lost or moved, and once all messages
 * have arrived nobody waits for ever.
 */
#include "schedule.h"
#include "credit_schedule.h"
#include "flow_schedule.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	ByteChoice choice(data, length);

	switch (choice.pick(0, 2)) {
	case 0: {
		const u32 most = choice.pick(0, 3) == 0 ? 256 : 8;
		const std::array<u32, 2> buffers = {choice.pick(SDP_CREDIT_BUFS_MIN, most),
						    choice.pick(SDP_PEER_BUFS_MIN, most)};
		CreditSchedule schedule(choice, buffers);

		run_phases(schedule, choice);
		break;
	}
	case 1: {
		FlowSchedule schedule(choice, Engine::rdma);

		run_phases(schedule, choice);
		break;
	}
	default: {
		FlowSchedule schedule(choice, Engine::nic);

		run_phases(schedule, choice);
	}
	}
	require_success();
	return 0;
}
