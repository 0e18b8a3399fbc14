// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * What decides on this machine which measured figures apply to it.
 */
#ifndef SDPCTL_MACHINE_H
#define SDPCTL_MACHINE_H

#include "check.h"
#include "fabric.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sdpctl
{

/** Devices that figures differ by. */
enum class DeviceKind : std::uint8_t {
	none,
	other, ///< in software, and not measured: the kernel's own iWARP
	iwarp, ///< of iwarp.ko
	soft_roce,
	adapter,
};

/** An RDMA device. */
struct MeasuredDevice {
	std::string name;
	DeviceKind kind = DeviceKind::none;
	unsigned packet = 0; ///< bytes that a packet of RoCE carries at most, 0 if not known
};

/** The machine. */
struct Machine {
	std::string release; ///< of the kernel
	unsigned processors = 1;
	std::uint64_t memory = 0; ///< bytes
	std::uint64_t page = 4096;
	std::vector<MeasuredDevice> devices; ///< that have an active port

	/** The kind whose figures apply: the last of DeviceKind that there is. */
	[[nodiscard]] DeviceKind kind() const;

	/** Whether the figures of Soft-RoCE in threads apply, as it works since Linux 6.4. */
	[[nodiscard]] bool has_threaded_soft_roce() const;
};

/** Look at this machine, of which the ports are known. */
[[nodiscard]] Machine look_at_machine(const Places &places, const std::vector<libsdp::Port> &ports);

/** "Soft-RoCE" and so on. */
[[nodiscard]] const char *name_of(DeviceKind kind);

} // namespace sdpctl

#endif // SDPCTL_MACHINE_H
