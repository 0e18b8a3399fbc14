// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "run.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <stdexcept>
#include <thread>

#include <sys/prctl.h>

#include "../cpu.h"
#include "../pattern.h"
#include "idle.h"
#include "iso.h"

namespace iwarpbench
{

namespace
{

using Clock = std::chrono::steady_clock;

constexpr double nano = 1e-9;
/** Messages under way at a time. */
constexpr std::uint64_t window = 64;
/** In the pass that is not timed. */
constexpr std::uint64_t warm_up = 8;
constexpr std::uint64_t stream = 1;
/** Share of the time that is all of it, but for what the end of a pass adds. */
constexpr double never_idle = 0.99;
/** The device has room for some more than is ever used. */
constexpr std::uint32_t spare = 16;

double seconds_since(Clock::time_point start)
{
	return std::chrono::duration<double>(Clock::now() - start).count();
}

void check(End &end)
{
	if (sdpbench::find_wrong(end.incoming(), stream, 0))
		throw std::runtime_error("wrong content");
}

/** The pass that is not timed, and those of timed(). */
std::uint64_t all_messages(const Plan &plan)
{
	return warm_up + 2 * plan.count;
}

// All that will come is asked for before: iWARP has nothing that would stop a sender.
Depth server_depth(const Plan &plan)
{
	return {.send = spare, .receive = static_cast<std::uint32_t>(all_messages(plan)) + spare};
}

void serve_bandwidth(End &end, std::uint64_t count)
{
	for (std::uint64_t i = 0; i < count; i++)
		end.await_receive();
	check(end);
	end.post_send(0);
	end.await_send();
}

void serve_latency(End &end, std::uint64_t count)
{
	for (std::uint64_t i = 0; i < count; i++) {
		end.await_receive();
		end.post_send(0);
		(void)end.reap_sends();
	}
}

void serve(const Endpoint &listener, const Plan &plan)
{
	End end(next_request(listener), plan.size, 1);

	sdpbench::fill(end.outgoing(0), stream, 0);
	for (std::uint64_t i = 0; i < all_messages(plan); i++)
		end.post_receive();
	accept(end);
	for (const std::uint64_t count : {warm_up, plan.count, plan.count})
		plan.test == Test::bandwidth ? serve_bandwidth(end, count)
					     : serve_latency(end, count);
	// The client ends the connection when it has all.
	rdma_disconnect(end.id());
}

// The processor is free for others meanwhile, as if the program had one of its own.
void compute(const Plan &plan)
{
	if (plan.computation.count() != 0)
		std::this_thread::sleep_for(plan.computation);
}

void send_stream(End &end, const Plan &plan, std::uint64_t count)
{
	std::uint64_t under_way = 0;

	for (std::uint64_t i = 0; i < count; i++) {
		compute(plan);
		under_way -= end.reap_sends();
		for (; under_way >= window; under_way--)
			end.await_send();
		end.post_send(i);
		under_way++;
	}
	for (; under_way > 0; under_way--)
		end.await_send();
	end.await_receive();
}

void play(End &end, const Plan &plan, std::uint64_t count)
{
	for (std::uint64_t i = 0; i < count; i++) {
		compute(plan);
		end.post_send(i);
		end.await_receive();
		(void)end.reap_sends();
	}
}

void run_pass(End &end, const Plan &plan, std::uint64_t count)
{
	plan.test == Test::bandwidth ? send_stream(end, plan, count) : play(end, plan, count);
}

double read_number(const std::string &device, const std::string &name)
{
	std::ifstream file("/sys/class/infiniband/" + device + "/" + name);
	double number = 0;

	file >> number;
	return number;
}

double counter(const std::string &device, const std::string &name)
{
	return read_number(device, "ports/1/hw_counters/" + name);
}

// The sender's device paces what it sends; both take work off the host.
std::optional<Counters> read_counters(const std::string &sender, const std::string &receiver)
{
	if (!std::filesystem::exists("/sys/class/infiniband/" + sender + "/design"))
		return std::nullopt;
	return Counters{
		.engine_busy = read_number(sender, "engine_busy_ns") * nano,
		.engine_cpu = (read_number(sender, "engine_cpu_ns") +
			       read_number(receiver, "engine_cpu_ns")) *
			      nano,
		.tx_host_bytes = counter(sender, "tx_host_bytes"),
		.rx_host_bytes = counter(receiver, "rx_host_bytes"),
		.ooo_bytes = counter(receiver, "rx_ooo_bytes"),
		.early_bytes = counter(receiver, "rx_early_bytes"),
	};
}

Counters operator-(const Counters &after, const Counters &before)
{
	return {
		.engine_busy = after.engine_busy - before.engine_busy,
		.engine_cpu = after.engine_cpu - before.engine_cpu,
		.tx_host_bytes = after.tx_host_bytes - before.tx_host_bytes,
		.rx_host_bytes = after.rx_host_bytes - before.rx_host_bytes,
		.ooo_bytes = after.ooo_bytes - before.ooo_bytes,
		.early_bytes = after.early_bytes - before.early_bytes,
	};
}

/** How busy the processors are in another pass, with threads that tell, and cost something. */
double busy_in(const std::function<void()> &pass)
{
	const IdleMeter meter;
	const std::uint64_t idle = meter.now();
	const Clock::time_point start = Clock::now();

	pass();
	return seconds_since(start) * std::thread::hardware_concurrency() - meter.idle_since(idle);
}

/** Measure a pass between devices of these names. */
Outcome timed(const std::string &sender, const std::string &receiver,
	      const std::function<void()> &pass)
{
	const auto before = read_counters(sender, receiver);
	const sdpbench::BusyMeter meter;
	const Clock::time_point start = Clock::now();

	pass();
	Outcome outcome{.seconds = seconds_since(start), .busy = 0, .counters = {}};
	const double all = outcome.seconds * std::thread::hardware_concurrency();
	const double busy = meter.busy(outcome.seconds).value_or(all);
	if (before)
		outcome.counters = *read_counters(sender, receiver) - *before;
	const double another = busy_in(pass);
	// The kernel is right only if it says that they were never idle.
	outcome.busy = busy > all * never_idle ? all : std::min(another, all);
	return outcome;
}

Outcome be_client(const Addresses &addresses, const Plan &plan, const std::string &peer)
{
	const bool one_way = plan.test == Test::bandwidth;
	const std::uint64_t answers = one_way ? 3 : all_messages(plan);
	const auto depth = static_cast<std::uint32_t>(answers) + spare;
	End end(prepare(addresses, {.send = window + spare, .receive = depth}), plan.size,
		plan.buffers);

	for (std::size_t i = 0; i < plan.buffers; i++)
		sdpbench::fill(end.outgoing(i), stream, 0);
	for (std::uint64_t i = 0; i < answers; i++)
		end.post_receive();
	connect(end);
	run_pass(end, plan, warm_up);
	check(end);
	return timed(end.device(), peer, [&] { run_pass(end, plan, plan.count); });
}

Outcome measure_pair(const Addresses &addresses, const Plan &plan)
{
	const Endpoint listener = listen(addresses, server_depth(plan));
	const std::string peer = ibv_get_device_name(listener->verbs->device);
	auto server = std::async(std::launch::async, [&] { serve(listener, plan); });

	// Sleepers are gathered for up to 50 us otherwise.
	::prctl(PR_SET_TIMERSLACK, 1UL);
	const Outcome outcome = be_client(addresses, plan, peer);
	server.get();
	return outcome;
}

Outcome measure_pipeline(const Addresses &addresses, const Plan &plan)
{
	Pipeline pipeline(addresses, plan.size, all_messages(plan));

	pipeline.run(warm_up);
	return timed(pipeline.sender(), pipeline.receiver(), [&] { pipeline.run(plan.count); });
}

} // namespace

Outcome measure(const Addresses &addresses, const Plan &plan)
{
	return plan.test == Test::iso ? measure_pipeline(addresses, plan)
				      : measure_pair(addresses, plan);
}

} // namespace iwarpbench
