// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * How long the processors of this node were busy: with both ends if they are
 * both here, with the kernel, and with a device that is made of software. The
 * times that the kernel charges to processes would leave interrupts out or
 * charge them to whom they happened to interrupt.
 */
#ifndef SDPBENCH_CPU_H
#define SDPBENCH_CPU_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace sdpbench
{

/**
 * @return nanoseconds that all processors together have been idle, from the
 * text of /proc/timer_list; nothing if it does not say.
 */
[[nodiscard]] std::optional<std::uint64_t> idle_nanoseconds(std::string_view timer_list);

/** Measures from its construction on. */
class BusyMeter
{
public:
	BusyMeter();

	/**
	 * @return seconds of all processors together, of the @p elapsed ones, that
	 * they were not idle; nothing if the kernel does not tell this user.
	 */
	[[nodiscard]] std::optional<double> busy(double elapsed) const;

private:
	std::optional<std::uint64_t> idle_before_;
};

} // namespace sdpbench

#endif // SDPBENCH_CPU_H
