// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "cpu.h"

#include <charconv>
#include <fstream>
#include <iterator>
#include <string>

#include <unistd.h>

namespace sdpbench
{

namespace
{

constexpr double nano = 1e-9;

// /proc/stat has hundredths of a second, which are longer than many a pass.
std::optional<std::uint64_t> read_idle()
{
	std::ifstream file("/proc/timer_list");
	const std::string text((std::istreambuf_iterator<char>(file)),
			       std::istreambuf_iterator<char>());

	return idle_nanoseconds(text);
}

std::optional<std::uint64_t> number_in(std::string_view text)
{
	const std::size_t digits = text.find_first_of("0123456789");
	std::uint64_t value = 0;

	if (digits == std::string_view::npos)
		return std::nullopt;
	text.remove_prefix(digits);
	if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc{})
		return std::nullopt;
	return value;
}

} // namespace

// A processor is either idle or idle while a program waits for a disk: the
// kernel counts in one place or in the other.
std::optional<std::uint64_t> idle_nanoseconds(std::string_view timer_list)
{
	std::optional<std::uint64_t> sum;

	while (!timer_list.empty()) {
		const std::size_t end = timer_list.find('\n');
		const std::string_view line = timer_list.substr(0, end);

		if (line.find(".idle_sleeptime") != std::string_view::npos ||
		    line.find(".iowait_sleeptime") != std::string_view::npos) {
			const std::optional<std::uint64_t> value = number_in(line);

			if (!value)
				return std::nullopt;
			sum = sum.value_or(0) + *value;
		}
		timer_list.remove_prefix(end == std::string_view::npos ? timer_list.size()
								       : end + 1);
	}
	return sum;
}

BusyMeter::BusyMeter() : idle_before_(read_idle())
{
}

std::optional<double> BusyMeter::busy(double elapsed) const
{
	const std::optional<std::uint64_t> idle_after = read_idle();

	if (!idle_before_ || !idle_after)
		return std::nullopt;
	const double idle = static_cast<double>(*idle_after - *idle_before_) * nano;
	return elapsed * static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN)) - idle;
}

} // namespace sdpbench
