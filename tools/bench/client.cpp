// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "client.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <stdexcept>

#include <fmt/format.h>

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

void await_verdict(Stream &stream, const Request &request)
{
	const Verdict verdict = Verdict::receive(stream);

	if (request.verify && verdict.wrong)
		report_wrong(request, "server", *verdict.wrong);
}

Pass bandwidth_pass(Stream &stream, const Request &request, std::vector<std::byte> &buffer)
{
	const Clock::time_point start = Clock::now();

	for_each_message(request, buffer, [&](std::span<std::byte> message, std::uint64_t offset) {
		if (request.verify)
			fill(message, client_stream, offset);
		stream.send(message);
	});
	await_verdict(stream, request);
	return {seconds_since(start), {}};
}

Pass latency_pass(Stream &stream, const Request &request, std::vector<std::byte> &buffer)
{
	Pass pass{};

	pass.one_way.reserve(static_cast<std::size_t>(request.total / request.message) + 1);
	const Clock::time_point start = Clock::now();
	for_each_message(request, buffer, [&](std::span<std::byte> message, std::uint64_t offset) {
		if (request.verify)
			fill(message, client_stream, offset);
		const Clock::time_point sent = Clock::now();
		stream.send(message);
		stream.receive(message);
		pass.one_way.push_back(seconds_since(sent) / 2);
		if (request.verify)
			check_echo(request, message, offset);
	});
	pass.seconds = seconds_since(start);
	await_verdict(stream, request);
	std::sort(pass.one_way.begin(), pass.one_way.end());
	return pass;
}

Pass run_pass(Stream &stream, const Request &request, std::vector<std::byte> &buffer)
{
	request.send(stream);
	if (request.test == Test::latency)
		return latency_pass(stream, request, buffer);
	return bandwidth_pass(stream, request, buffer);
}

// It warms the connection up as well.
Request verifying_request(const Plan &plan)
{
	const std::uint64_t wanted = std::max(verified_bytes, verified_messages * plan.message);

	return {plan.test, true, plan.nodelay, plan.message, std::min(plan.total, wanted)};
}

} // namespace

std::vector<Pass> run_plan(Stream &stream, const Plan &plan)
{
	std::vector<std::byte> buffer(static_cast<std::size_t>(plan.message));
	std::vector<Pass> passes;

	stream.set_nodelay(plan.nodelay);
	run_pass(stream, verifying_request(plan), buffer);
	for (unsigned i = 0; i < plan.repeat; i++)
		passes.push_back(
			run_pass(stream, {plan.test, false, plan.nodelay, plan.message, plan.total},
				 buffer));
	return passes;
}

} // namespace sdpbench
