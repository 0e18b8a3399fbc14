// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "summary.h"

namespace sdpstat
{

Summary summarize(const std::vector<Socket> &sockets)
{
	Summary summary;

	for (const Socket &socket : sockets) {
		summary.states[socket.state]++;
		if (socket.state == State::listen)
			continue; // its queues are of connections
		if (!socket.flow.empty())
			summary.carriers[{socket.flow, socket.device}]++;
		summary.unread += socket.rx_queue;
		summary.unsent += socket.tx_queue;
	}
	return summary;
}

} // namespace sdpstat
