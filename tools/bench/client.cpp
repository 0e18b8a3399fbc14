// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "client.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <stdexcept>

#include <fmt/format.h>

#include "cpu.h"
#include "pattern.h"

namespace sdpbench
{

namespace
{

using Clock = std::chrono::steady_clock;

// Enough to wrap every ring on the way, little enough for an emulated node.
constexpr std::uint64_t verified_bytes = std::uint64_t{1} << 20;
constexpr std::uint64_t verified_messages = 4;

double seconds_since(Clock::time_point start)
{
	return std::chrono::duration<double>(Clock::now() - start).count();
}

[[noreturn]] void report_wrong(const Request &request, const char *receiver, std::uint64_t offset)
{
	throw std::runtime_error(
		fmt::format("wrong content: the {} got a wrong byte at offset {} of {}, message "
			    "size {}",
			    receiver, offset, request.total, request.message));
}

void check_echo(const Request &request, std::span<const std::byte> message, std::uint64_t offset)
{
	if (const auto wrong = find_wrong(message, server_stream, offset))
		report_wrong(request, "client", *wrong);
}

Verdict await_verdict(Stream &stream, const Request &request)
{
	const Verdict verdict = Verdict::receive(stream);

	if (request.verify && verdict.wrong)
		report_wrong(request, "server", *verdict.wrong);
	return verdict;
}

void send_burst(Stream &stream, const Request &request, Range burst, std::vector<std::byte> &buffer)
{
	for_each_message(request, burst, buffer,
			 [&](std::span<std::byte> message, std::uint64_t offset) {
				 if (request.verify)
					 fill(message, client_stream, offset);
				 stream.send(message);
			 });
}

void receive_burst(Stream &stream, const Request &request, Range burst,
		   std::vector<std::byte> &buffer)
{
	for_each_message(request, burst, buffer,
			 [&](std::span<std::byte> message, std::uint64_t offset) {
				 stream.receive(message);
				 if (request.verify)
					 check_echo(request, message, offset);
			 });
}

Pass bandwidth_pass(Stream &stream, const Request &request, std::vector<std::byte> &buffer)
{
	const BusyMeter meter;
	const Clock::time_point start = Clock::now();

	send_burst(stream, request, {0, request.total}, buffer);
	const Verdict verdict = await_verdict(stream, request);
	const double seconds = seconds_since(start);
	return {seconds, meter.busy(seconds), verdict.unread, {}};
}

Pass exchange_pass(Stream &stream, const Request &request, std::vector<std::byte> &buffer)
{
	Pass pass{};

	pass.one_way.reserve(static_cast<std::size_t>(request.total / request.message) + 1);
	const BusyMeter meter;
	const Clock::time_point start = Clock::now();
	for_each_burst(request, [&](Range burst) {
		const Clock::time_point sent = Clock::now();
		send_burst(stream, request, burst, buffer);
		compute(request);
		receive_burst(stream, request, burst, buffer);
		pass.one_way.push_back(seconds_since(sent) / 2);
	});
	pass.seconds = seconds_since(start);
	pass.busy = meter.busy(pass.seconds);
	await_verdict(stream, request);
	std::sort(pass.one_way.begin(), pass.one_way.end());
	return pass;
}

Pass run_pass(Stream &stream, const Request &request, std::vector<std::byte> &buffer)
{
	request.send(stream);
	if (one_way(request.test))
		return bandwidth_pass(stream, request, buffer);
	return exchange_pass(stream, request, buffer);
}

// What the server's last word takes on its way is not the data's.
double one_way_of_verdict(Stream &stream, bool nodelay)
{
	constexpr std::uint64_t round_trips = 20;
	std::vector<std::byte> word(sizeof(std::uint64_t));
	const Request request{
		Test::latency, false, nodelay, word.size(), word.size() * round_trips, 1, {}};

	return run_pass(stream, request, word).seconds / 2 / round_trips;
}

Request request_of(const Plan &plan, bool verify, std::uint64_t total)
{
	return {plan.test, verify, plan.nodelay, plan.message, total, plan.burst, plan.computation};
}

// It warms the connection up as well.
Request verifying_request(const Plan &plan)
{
	const std::uint64_t wanted = std::max(verified_bytes, verified_messages * plan.message);

	return request_of(plan, true, std::min(plan.total, wanted));
}

} // namespace

std::vector<Pass> run_plan(Stream &stream, const Plan &plan)
{
	std::vector<std::byte> buffer(static_cast<std::size_t>(plan.message));
	std::vector<Pass> passes;
	double last_word = 0;

	stream.set_nodelay(plan.nodelay);
	run_pass(stream, verifying_request(plan), buffer);
	if (one_way(plan.test))
		last_word = one_way_of_verdict(stream, plan.nodelay);
	for (unsigned i = 0; i < plan.repeat; i++) {
		passes.push_back(run_pass(stream, request_of(plan, false, plan.total), buffer));
		passes.back().seconds -= last_word;
	}
	return passes;
}

} // namespace sdpbench
