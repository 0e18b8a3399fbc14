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

} // namespace

void Watch::look(std::vector<Socket> &sockets, Clock::time_point now)
{
	const double seconds = std::chrono::duration<double>(now - when_).count();
	std::unordered_map<std::uint64_t, Seen> seen;

	for (Socket &socket : sockets) {
		if (socket.state == State::listen || socket.flow.starts_with("tcp"))
			continue;

		const Seen bytes = {socket.zcopy.received, socket.zcopy.sent};
		const auto before = last_.find(key_of(socket));

		if (before != last_.end() && seconds > 0 && bytes.in >= before->second.in &&
		    bytes.out >= before->second.out)
			socket.rate = {static_cast<double>(bytes.in - before->second.in) / seconds,
				       static_cast<double>(bytes.out - before->second.out) /
					       seconds};
		seen[key_of(socket)] = bytes;
	}
	last_ = std::move(seen);
	when_ = now;
}

} // namespace sdpstat
