// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * What client and server say to each other: first how many connections the
 * client has made; then it asks for a pass, and the server acknowledges when it
 * has all of it. A connection carries any number of passes.
 */
#ifndef SDPBENCH_PROTOCOL_H
#define SDPBENCH_PROTOCOL_H

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "socket.h"

namespace sdpbench
{

enum class Test : std::uint32_t {
	/** The client sends, and computes after each message; the server receives. */
	bandwidth,
	/** Each message comes back as one of the same size. */
	latency,
	/**
	 * As bandwidth, with a server that computes after each message; before it
	 * reads one, it looks at how much is there to be read.
	 */
	fill,
	/** As latency, but with bursts of messages and computation between them. */
	progress,
	/** As bandwidth, with a client that overwrites its memory after each burst. */
	touch,
	/** As latency, on several connections that the server goes through in turn. */
	hotspot,
};

/** Streams of the pattern, by direction. */
constexpr std::uint64_t client_stream = 1;
constexpr std::uint64_t server_stream = 2;

/** The client's first word, on the first connection it has made. */
struct Greeting {
	std::uint64_t connections; /**< that belong together, this one among them */
	bool in_turn;		   /**< the server is to serve one after the other */

	void send(Stream &stream) const;
	/** @return nothing if the client has no more. @throw std::runtime_error if it is garbled.
	 */
	[[nodiscard]] static std::optional<Greeting> receive(Stream &stream);
};

struct Request {
	Test test;
	bool verify;
	bool nodelay;
	std::uint64_t message;		       /**< bytes of a message; the last may be shorter */
	std::uint64_t total;		       /**< bytes of the pass in each direction used */
	std::uint64_t burst;		       /**< messages to one side before any to the other */
	std::chrono::microseconds computation; /**< after each burst; whose, the test says */
	bool uneven = false;		       /**< it takes a random time, that one on average */

	void send(Stream &stream) const;
	/** @return nothing if the client has no more. @throw std::runtime_error if it is garbled.
	 */
	[[nodiscard]] static std::optional<Request> receive(Stream &stream);
};

/** @return whether data goes to the server only. */
[[nodiscard]] constexpr bool one_way(Test test)
{
	return test == Test::bandwidth || test == Test::fill || test == Test::touch;
}

/** The server's last word on a pass. */
struct Verdict {
	std::optional<std::uint64_t> wrong; /**< where the client's bytes were, if they were */
	std::uint64_t unread = 0;	    /**< bytes, on average, for Test::fill */

	void send(Stream &stream) const;
	[[nodiscard]] static Verdict receive(Stream &stream);
};

/** Bytes of a pass, from one offset to another. */
struct Range {
	std::uint64_t begin;
	std::uint64_t end;
};

/** @return how far apart messages are in a buffer for several: no two of them share a page. */
inline std::uint64_t stride_of(const Request &request)
{
	constexpr std::uint64_t page = 4096;

	return (request.message + 2 * page - 1) / page * page;
}

/**
 * Call @p action(message, offset) for each message in @p range of the pass that
 * @p request describes, with the part of @p buffer that holds the message; one of several if
 * it has room for more.
 */
template <typename Action>
void for_each_message(const Request &request, Range range, std::vector<std::byte> &buffer,
		      Action action)
{
	const std::uint64_t stride = stride_of(request);
	const std::uint64_t room = std::max<std::uint64_t>(buffer.size() / stride, 1);

	for (std::uint64_t offset = range.begin; offset < range.end; offset += request.message) {
		const std::uint64_t size = std::min(request.message, range.end - offset);
		const std::uint64_t place = offset / request.message % room * stride;

		action(std::span(buffer).subspan(static_cast<std::size_t>(place),
						 static_cast<std::size_t>(size)),
		       offset);
	}
}

/** Call @p action(range) for each burst of the pass that @p request describes. */
template <typename Action> void for_each_burst(const Request &request, Action action)
{
	const std::uint64_t size = request.message * request.burst;

	for (std::uint64_t offset = 0; offset < request.total; offset += size)
		action(Range{offset, std::min(offset + size, request.total)});
}

/**
 * @return how long the next computation takes.
 *
 * Uneven computation takes up to twice as long as is said, by numbers that are
 * random and the same in each run: what looks at the program from time to time
 * must not fall into step with it.
 */
[[nodiscard]] std::chrono::microseconds next_computation(const Request &request);

/**
 * Stand for the computation of a program on a processor of its own: let the
 * time pass, and leave the processor, of which there may be only one, to the
 * device and to the peer.
 */
void compute(const Request &request);

} // namespace sdpbench

#endif // SDPBENCH_PROTOCOL_H
