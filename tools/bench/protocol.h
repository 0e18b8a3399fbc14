// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * What client and server say to each other: the client asks for a pass, the
 * server acknowledges when it has all of it. A connection carries any number
 * of passes.
 */
#ifndef SDPBENCH_PROTOCOL_H
#define SDPBENCH_PROTOCOL_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "socket.h"

namespace sdpbench
{

enum class Test : std::uint32_t {
	bandwidth, /**< the client sends, the server receives */
	latency,   /**< each message comes back as one of the same size */
};

/** Streams of the pattern, by direction. */
constexpr std::uint64_t client_stream = 1;
constexpr std::uint64_t server_stream = 2;

struct Request {
	Test test;
	bool verify;
	bool nodelay;
	std::uint64_t message; /**< bytes of a message; the last may be shorter */
	std::uint64_t total;   /**< bytes of the pass in each direction used */

	void send(Stream &stream) const;
	/** @return nothing if the client has no more. @throw std::runtime_error if it is garbled.
	 */
	[[nodiscard]] static std::optional<Request> receive(Stream &stream);
};

/** The server's last word on a pass: nothing, or where the client's bytes were wrong. */
struct Verdict {
	std::optional<std::uint64_t> wrong;

	void send(Stream &stream) const;
	[[nodiscard]] static Verdict receive(Stream &stream);
};

/**
 * Call @p action(message, offset) for each message of the pass that
 * @p request describes, with the part of @p buffer that holds the message.
 */
template <typename Action>
void for_each_message(const Request &request, std::vector<std::byte> &buffer, Action action)
{
	std::uint64_t offset = 0;

	while (offset < request.total) {
		const std::uint64_t size = std::min(request.message, request.total - offset);

		action(std::span(buffer).first(static_cast<std::size_t>(size)), offset);
		offset += size;
	}
}

} // namespace sdpbench

#endif // SDPBENCH_PROTOCOL_H
