// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "server.h"

#include <exception>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "pattern.h"
#include "protocol.h"

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

void serve_pass(Stream &stream, const Request &request, std::vector<std::byte> &buffer)
{
	Verdict verdict;

	for_each_burst(request, [&](Range burst) {
		receive_burst(stream, request, burst, buffer, verdict);
		if (request.test == Test::bandwidth)
			return;
		answer_burst(stream, request, burst, buffer);
		compute(request);
	});
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
