// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "server.h"

#include <exception>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "pattern.h"
#include "protocol.h"
#include "stats.h"

namespace sdpbench
{

namespace
{

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

void serve_pass(Stream &stream, const Request &request, std::vector<std::byte> &buffer)
{
	Verdict verdict;
	Mean unread;

	for_each_burst(request, [&](Range burst) {
		if (request.test == Test::fill && in_middle(request, burst))
			unread.add(stream.unread());
		receive_burst(stream, request, burst, buffer, verdict);
		if (!one_way(request.test))
			answer_burst(stream, request, burst, buffer);
		compute(request);
	});
	verdict.unread = unread.get();
	verdict.send(stream);
}

} // namespace

void serve_client(Stream stream)
{
	std::vector<std::byte> buffer;

	while (const std::optional<Request> request = Request::receive(stream)) {
		stream.set_nodelay(request->nodelay);
		buffer.resize(static_cast<std::size_t>(request->message));
		serve_pass(stream, *request, buffer);
	}
}

void serve(Listener &listener)
{
	for (;;) {
		try {
			serve_client(listener.accept());
		} catch (const std::exception &error) {
			fmt::print(stderr, "sdpbench: server: {}\n", error.what());
		}
	}
}

} // namespace sdpbench
