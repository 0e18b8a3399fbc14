// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * A server in a process of its own, for as long as the object lives.
 */
#ifndef SDPBENCH_LOCAL_SERVER_H
#define SDPBENCH_LOCAL_SERVER_H

#include <cstdint>

#include <sys/types.h>

#include "socket.h"

namespace sdpbench
{

class LocalServer
{
public:
	/** Start it and wait until it listens. @throw std::runtime_error if it does not. */
	LocalServer(Family family, const Address &address);
	LocalServer(const LocalServer &) = delete;
	LocalServer &operator=(const LocalServer &) = delete;
	LocalServer(LocalServer &&) = delete;
	LocalServer &operator=(LocalServer &&) = delete;
	~LocalServer();

	[[nodiscard]] std::uint16_t port() const
	{
		return port_;
	}

private:
	pid_t pid_;
	std::uint16_t port_ = 0;
};

} // namespace sdpbench

#endif // SDPBENCH_LOCAL_SERVER_H
