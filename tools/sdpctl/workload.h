// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * What the measured figures say of the settings for a kind of work.
 */
#ifndef SDPCTL_WORKLOAD_H
#define SDPCTL_WORKLOAD_H

#include "machine.h"
#include "settings.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sdpctl
{

/** What a judgement rests on. */
struct Facts {
	Machine machine;
	Settings present;
	std::uint64_t connections = 0; ///< that there shall be, 0 if that was not said
};

/** What the figures say of one setting. */
struct Judgement {
	std::string setting;
	std::string present;
	std::string proposed; ///< the same as present: it is as good as any
	std::string reason;   ///< with the figure
	std::string source;   ///< where that is

	[[nodiscard]] bool is_change() const
	{
		return proposed != present;
	}
};

/** All that they say. Settings that are not there are not judged. */
using Judgements = std::vector<Judgement>;

/** A kind of work. */
struct Workload {
	std::string_view name;
	std::string_view meaning;
	/** @throws std::runtime_error if it cannot be on this machine. */
	Judgements (*judge)(const Facts &facts);
};

/** All that there are. */
[[nodiscard]] const std::vector<Workload> &workloads();

} // namespace sdpctl

#endif // SDPCTL_WORKLOAD_H
