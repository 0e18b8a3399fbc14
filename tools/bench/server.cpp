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

void serve_pass(Stream &stream, const Request &request, std::vector<std::byte> &buffer)
{
	Verdict verdict;

	for_each_message(request, buffer, [&](std::span<std::byte> message, std::uint64_t offset) {
		stream.receive(message);
		if (request.verify)
			note_wrong(verdict, message, offset);
		if (request.test != Test::latency)
			return;
		if (request.verify)
			fill(message, server_stream, offset);
		stream.send(message);
	});
	verdict.send(stream);
}

void serve_client(Stream stream)
{
	std::vector<std::byte> buffer;

	while (const std::optional<Request> request = Request::receive(stream)) {
		stream.set_nodelay(request->nodelay);
		buffer.resize(static_cast<std::size_t>(request->message));
		serve_pass(stream, *request, buffer);
	}
}

} // namespace

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
