// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "idle.h"

#include <cerrno>
#include <chrono>
#include <stop_token>
#include <system_error>

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

namespace iwarpbench
{

namespace
{

using namespace std::chrono_literals;

void require(int error, const char *what)
{
	if (error != 0)
		throw std::system_error(error, std::generic_category(), what);
}

/** Only when nothing else wants the processor. */
void stand_behind_all(std::jthread &thread, unsigned processor)
{
	const sched_param none{};
	cpu_set_t where;

	CPU_ZERO(&where);
	CPU_SET(processor, &where);
	require(::pthread_setaffinity_np(thread.native_handle(), sizeof(where), &where),
		"pthread_setaffinity_np");
	require(::pthread_setschedparam(thread.native_handle(), SCHED_IDLE, &none),
		"pthread_setschedparam");
}

} // namespace

IdleMeter::IdleMeter()
{
	constexpr auto alone = 20ms;
	const auto processors = static_cast<unsigned>(::sysconf(_SC_NPROCESSORS_ONLN));

	for (unsigned i = 0; i < processors; i++) {
		auto &turns = turns_.emplace_back(0);
		auto &thread = threads_.emplace_back([&turns](const std::stop_token &stop) {
			while (!stop.stop_requested())
				turns.fetch_add(1, std::memory_order_relaxed);
		});
		stand_behind_all(thread, i);
	}
	const std::uint64_t before = now();
	const auto start = std::chrono::steady_clock::now();
	std::this_thread::sleep_for(alone);
	const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
	seconds_per_turn_ = elapsed.count() * processors / static_cast<double>(now() - before);
}

std::uint64_t IdleMeter::now() const
{
	std::uint64_t sum = 0;

	for (const auto &turns : turns_)
		sum += turns.load(std::memory_order_relaxed);
	return sum;
}

double IdleMeter::idle_since(std::uint64_t before) const
{
	return static_cast<double>(now() - before) * seconds_per_turn_;
}

} // namespace iwarpbench
