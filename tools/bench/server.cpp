// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "server.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "pattern.h"
#include "protocol.h"
#include "stats.h"

namespace sdpbench
{

namespace
{

// A program works on what it has read while it reads more, as far as that is little memory.
std::uint64_t messages_at_once(const Request &request)
{
	constexpr std::uint64_t most = 4;
	constexpr std::uint64_t memory = 1 << 20;

	return std::clamp<std::uint64_t>(memory / request.message, 1, most);
}

void note_wrong(Verdict &verdict, std::span<const std::byte> message, std::uint64_t offset)
{
	if (!verdict.wrong)
		verdict.wrong = find_wrong(message, client_stream, offset);
}

void receive_burst(Stream &stream, const Request &request, Range burst,
		   std::vector<std::byte> &buffer, Verdict &verdict)
{
	for_each_message(request, burst, buffer,
			 [&](std::span<std::byte> message, std::uint64_t offset) {
				 stream.receive(message);
				 if (request.verify)
					 note_wrong(verdict, message, offset);
			 });
}

void answer_burst(Stream &stream, const Request &request, Range burst,
		  std::vector<std::byte> &buffer)
{
	for_each_message(request, burst, buffer,
			 [&](std::span<std::byte> message, std::uint64_t offset) {
				 if (request.verify)
					 fill(message, server_stream, offset);
				 stream.send(message);
			 });
}

// At its beginning the buffers are empty, in the end the client sends no more.
bool in_middle(const Request &request, Range burst)
{
	return burst.begin >= request.total / 4 && burst.end <= request.total / 4 * 3;
}

/** A connection that is being served. */
struct Served {
	Stream stream;
	std::vector<std::byte> buffer{};
	Request request{};
	Verdict verdict{};
	Mean unread{};

	// Whether the client wants another pass.
	bool next()
	{
		const std::optional<Request> asked = Request::receive(stream);

		if (!asked)
			return false;
		request = *asked;
		verdict = {};
		unread = {};
		stream.set_nodelay(request.nodelay);
		buffer.resize(
			static_cast<std::size_t>(messages_at_once(request) * stride_of(request)));
		return true;
	}

	void serve_burst(Range burst)
	{
		if (request.test == Test::fill && in_middle(request, burst))
			unread.add(stream.unread());
		receive_burst(stream, request, burst, buffer, verdict);
		if (!one_way(request.test))
			answer_burst(stream, request, burst, buffer);
		if (request.test == Test::fill || request.test == Test::progress)
			compute(request);
	}

	void end_pass()
	{
		verdict.unread = unread.get();
		verdict.send(stream);
	}
};

// All connections have the same passes.
void serve_in_turn(std::span<Served> served)
{
	while (std::all_of(served.begin(), served.end(), [](Served &one) { return one.next(); })) {
		for_each_burst(served.front().request, [&](Range burst) {
			for (Served &one : served)
				one.serve_burst(burst);
		});
		for (Served &one : served)
			one.end_pass();
	}
}

// A thread's failure must not be that of the others.
void serve_or_report(std::span<Served> served)
{
	try {
		serve_in_turn(served);
	} catch (const std::exception &error) {
		fmt::print(stderr, "sdpbench: server: {}\n", error.what());
	}
}

} // namespace

void serve_client(Listener &listener)
{
	std::vector<Served> served;
	std::vector<std::jthread> threads;

	served.push_back({listener.accept()});
	const std::optional<Greeting> greeting = Greeting::receive(served.front().stream);
	if (!greeting)
		return;
	while (served.size() < greeting->connections)
		served.push_back({listener.accept()});
	if (greeting->in_turn || served.size() == 1)
		return serve_in_turn(served);
	threads.reserve(served.size());
	for (Served &one : served)
		threads.emplace_back(serve_or_report, std::span(&one, 1));
}

void serve(Listener &listener)
{
	for (;;) {
		try {
			serve_client(listener);
		} catch (const std::exception &error) {
			fmt::print(stderr, "sdpbench: server: {}\n", error.what());
		}
	}
}

} // namespace sdpbench
