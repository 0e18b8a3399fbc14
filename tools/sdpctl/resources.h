// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Checks of limits and settings.
 */
#ifndef SDPCTL_RESOURCES_H
#define SDPCTL_RESOURCES_H

#include "check.h"

#include <cstdint>

namespace sdpctl
{

/** RLIMIT_MEMLOCK, and whether the caller is beyond it (CAP_IPC_LOCK). */
struct MemLock {
	std::uint64_t bytes = 0;
	bool unlimited = false;
};

/** Those of this process. */
[[nodiscard]] MemLock own_memlock();

/** "memlock", "memory", "settings" and "fallbacks"; they need the module. */
[[nodiscard]] Report check_resources(const Places &places, MemLock memlock);

} // namespace sdpctl

#endif // SDPCTL_RESOURCES_H
