// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "client.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
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

// Every byte, for the kernel to see that the program uses its memory.
void overwrite(std::vector<std::byte> &buffer)
{
	std::fill(buffer.begin(), buffer.end(), buffer.front() ^ std::byte{1});
}

Pass bandwidth_pass(Stream &stream, const Request &request, std::vector<std::byte> &buffer)
{
	const BusyMeter meter;
	const Clock::time_point start = Clock::now();

	for_each_burst(request, [&](Range burst) {
		send_burst(stream, request, burst, buffer);
		if (request.test == Test::touch)
			overwrite(buffer);
		if (request.test == Test::bandwidth)
			compute(request);
	});
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
	return {plan.test, verify,     plan.nodelay,	 plan.message,
		total,	   plan.burst, plan.computation, plan.uneven};
}

// It warms the connection up as well.
Request verifying_request(const Plan &plan)
{
	const std::uint64_t wanted = std::max(verified_bytes, verified_messages * plan.message);

	return request_of(plan, true, std::min(plan.total, wanted));
}

using Start = std::barrier<>;

/** Those who wait for a thread that has failed would wait for ever. */
class Starter
{
public:
	explicit Starter(Start &start) : start_(start)
	{
	}
	Starter(const Starter &) = delete;
	Starter &operator=(const Starter &) = delete;
	Starter(Starter &&) = delete;
	Starter &operator=(Starter &&) = delete;
	~Starter()
	{
		start_.arrive_and_drop();
	}

	void wait()
	{
		start_.arrive_and_wait();
	}

private:
	Start &start_;
};

std::vector<Pass> run_alone(Stream &stream, const Plan &plan, Start &start)
{
	std::vector<std::byte> buffer(static_cast<std::size_t>(plan.message));
	std::vector<Pass> passes;
	Starter starter(start);
	double last_word = 0;

	stream.set_nodelay(plan.nodelay);
	run_pass(stream, verifying_request(plan), buffer);
	if (one_way(plan.test))
		last_word = one_way_of_verdict(stream, plan.nodelay);
	for (unsigned i = 0; i < plan.repeat; i++) {
		starter.wait();
		passes.push_back(run_pass(stream, request_of(plan, false, plan.total), buffer));
		passes.back().seconds -= last_word;
	}
	return passes;
}

/** What the same pass gave on several connections. */
Pass together(const Plan &plan, const std::vector<Pass> &parts)
{
	const auto seconds = [](const Pass &one, const Pass &other) {
		return one.seconds < other.seconds;
	};
	Pass all = *std::max_element(parts.begin(), parts.end(), seconds);

	if (one_way(plan.test))
		return all;
	all.seconds = 0;
	all.one_way.clear();
	for (const Pass &part : parts) {
		all.seconds += part.seconds / static_cast<double>(parts.size());
		all.one_way.insert(all.one_way.end(), part.one_way.begin(), part.one_way.end());
	}
	std::sort(all.one_way.begin(), all.one_way.end());
	return all;
}

std::vector<Pass> run_together(std::vector<Stream> &streams, const Plan &plan)
{
	std::vector<std::future<std::vector<Pass>>> clients;
	std::vector<std::vector<Pass>> passes(plan.repeat);
	Start start(static_cast<std::ptrdiff_t>(streams.size()));

	clients.reserve(streams.size());
	for (Stream &stream : streams)
		clients.push_back(std::async(std::launch::async, run_alone, std::ref(stream),
					     std::cref(plan), std::ref(start)));
	for (auto &client : clients) {
		const std::vector<Pass> own = client.get();

		for (std::size_t i = 0; i < own.size(); i++)
			passes[i].push_back(own[i]);
	}
	std::vector<Pass> all;
	all.reserve(passes.size());
	for (const std::vector<Pass> &parts : passes)
		all.push_back(together(plan, parts));
	return all;
}

} // namespace

std::vector<Pass> run_plan(std::vector<Stream> &streams, const Plan &plan)
{
	Greeting{streams.size(), plan.test == Test::hotspot}.send(streams.front());
	if (streams.size() > 1)
		return run_together(streams, plan);
	Start start(1);
	return run_alone(streams.front(), plan, start);
}

} // namespace sdpbench
