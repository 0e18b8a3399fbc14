// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "protocol.h"

#include <array>
#include <limits>
#include <random>
#include <span>
#include <stdexcept>
#include <thread>

#include <endian.h>
#include <sys/prctl.h>

namespace sdpbench
{

namespace
{

constexpr std::uint64_t magic = 0x736470626e636833; // "sdpbnch3"
constexpr std::uint64_t nothing_wrong = std::numeric_limits<std::uint64_t>::max();
// A server must not be made to allocate what its client made up.
constexpr std::uint64_t largest_message = std::uint64_t{1} << 30;
constexpr std::uint64_t most_connections = 1000;
constexpr std::uint64_t largest_burst = std::uint64_t{1} << 20;
constexpr std::uint64_t longest_computation = 60'000'000; // microseconds

// In network order, so that nodes may differ.
template <std::size_t count> void send_words(Stream &stream, std::array<std::uint64_t, count> words)
{
	for (std::uint64_t &word : words)
		word = htobe64(word);
	stream.send(std::as_bytes(std::span(words)));
}

// Nothing if the peer has ended.
template <std::size_t count>
std::optional<std::array<std::uint64_t, count>> receive_words(Stream &stream)
{
	std::array<std::uint64_t, count> words{};

	if (!stream.receive_or_end(std::as_writable_bytes(std::span(words))))
		return std::nullopt;
	for (std::uint64_t &word : words)
		word = be64toh(word);
	return words;
}

} // namespace

void Greeting::send(Stream &stream) const
{
	send_words<3>(stream, {magic, connections, in_turn ? 1U : 0U});
}

std::optional<Greeting> Greeting::receive(Stream &stream)
{
	const auto words = receive_words<3>(stream);

	if (!words)
		return std::nullopt;
	const auto [sign, connections, in_turn] = *words;
	if (sign != magic || connections == 0 || connections > most_connections || in_turn > 1)
		throw std::runtime_error("the client's greeting makes no sense; is it sdpbench?");
	return Greeting{connections, in_turn == 1};
}

void Request::send(Stream &stream) const
{
	const std::uint64_t flags = (verify ? 1U : 0U) | (nodelay ? 2U : 0U) | (uneven ? 4U : 0U);

	send_words<7>(stream, {magic, static_cast<std::uint64_t>(test), flags, message, total,
			       burst, static_cast<std::uint64_t>(computation.count())});
}

std::optional<Request> Request::receive(Stream &stream)
{
	const auto words = receive_words<7>(stream);

	if (!words)
		return std::nullopt;
	const auto [sign, test, flags, message, total, burst, computation] = *words;
	if (sign != magic || test > static_cast<std::uint64_t>(Test::hotspot) || message == 0 ||
	    message > largest_message || burst == 0 || burst > largest_burst ||
	    computation > longest_computation)
		throw std::runtime_error("the client's request makes no sense; is it sdpbench?");
	return Request{static_cast<Test>(test),
		       (flags & 1) != 0,
		       (flags & 2) != 0,
		       message,
		       total,
		       burst,
		       std::chrono::microseconds(computation),
		       (flags & 4) != 0};
}

void Verdict::send(Stream &stream) const
{
	send_words<2>(stream, {wrong.value_or(nothing_wrong), unread});
}

Verdict Verdict::receive(Stream &stream)
{
	const auto words = receive_words<2>(stream);

	if (!words)
		throw std::runtime_error("the server ended the connection");
	const auto [wrong, unread] = *words;
	if (wrong == nothing_wrong)
		return {std::nullopt, unread};
	return {wrong, unread};
}

std::chrono::microseconds next_computation(const Request &request)
{
	static thread_local std::minstd_rand random;
	using Distribution = std::uniform_int_distribution<std::chrono::microseconds::rep>;

	if (!request.uneven)
		return request.computation;
	return std::chrono::microseconds(Distribution(0, 2 * request.computation.count())(random));
}

void compute(const Request &request)
{
	if (request.computation.count() == 0)
		return;
	// Sleepers are gathered for up to 50 us otherwise.
	::prctl(PR_SET_TIMERSLACK, 1UL);
	std::this_thread::sleep_for(next_computation(request));
}

} // namespace sdpbench
