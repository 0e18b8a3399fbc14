// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "watch.h"

#include <utility>

namespace sdpstat
{
namespace
{

// Recorded tables have no cookies.
std::uint64_t key_of(const Socket &socket)
{
	return socket.cookie != 0 ? socket.cookie : socket.inode;
}

double a_second(std::uint64_t before, std::uint64_t now, double seconds)
{
	return static_cast<double>(now - before) / seconds;
}

} // namespace

Watch::Seen Watch::seen_of(const Socket &socket)
{
	const Zcopy &bytes = socket.zcopy;

	return {bytes.received, bytes.sent, bytes.received_zcopy + bytes.sent_zcopy,
		socket.flow_state.stalls};
}

bool Watch::goes_on(const Seen &before, const Seen &now)
{
	return now.in >= before.in && now.out >= before.out && now.zcopy >= before.zcopy &&
	       now.stalls >= before.stalls;
}

Rate Watch::rate_between(const Seen &before, const Seen &now, double seconds)
{
	return {.in = a_second(before.in, now.in, seconds),
		.out = a_second(before.out, now.out, seconds),
		.zcopy = a_second(before.zcopy, now.zcopy, seconds),
		.stalls = a_second(before.stalls, now.stalls, seconds)};
}

void Watch::look(std::vector<Socket> &sockets, Clock::time_point now)
{
	const double seconds = std::chrono::duration<double>(now - when_).count();
	std::unordered_map<std::uint64_t, Seen> seen;

	for (Socket &socket : sockets) {
		if (socket.state == State::listen || socket.flow.starts_with("tcp"))
			continue;

		const Seen now_seen = seen_of(socket);
		const auto before = last_.find(key_of(socket));

		if (before != last_.end() && seconds > 0 && goes_on(before->second, now_seen))
			socket.rate = rate_between(before->second, now_seen, seconds);
		seen[key_of(socket)] = now_seen;
	}
	last_ = std::move(seen);
	when_ = now;
}

} // namespace sdpstat
