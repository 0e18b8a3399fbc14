// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "local_server.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <unistd.h>

#include "server.h"

namespace sdpbench
{

namespace
{

[[noreturn]] void run(Family family, const Address &address, const Descriptor &announce)
{
	// The sockets are made here: a library that emulates them may not survive a fork.
	Listener listener(family, address);
	const std::uint16_t port = listener.port();

	if (::write(announce.get(), &port, sizeof(port)) != sizeof(port))
		throw std::runtime_error("cannot announce the port");
	serve(listener);
}

[[noreturn]] void child(Family family, const Address &address, const Descriptor &announce)
{
	::prctl(PR_SET_PDEATHSIG, SIGKILL);
	try {
		run(family, address, announce);
	} catch (const std::exception &error) {
		fmt::print(stderr, "sdpbench: server: {}\n", error.what());
	}
	std::fflush(nullptr);
	::_exit(EXIT_FAILURE);
}

void end(pid_t pid)
{
	::kill(pid, SIGTERM);
	while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR)
		;
}

} // namespace

LocalServer::LocalServer(Family family, const Address &address)
{
	std::array<int, 2> ends{};

	if (::pipe2(ends.data(), O_CLOEXEC) != 0)
		throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
	const Descriptor listened(ends[0]);
	Descriptor announce(ends[1]);
	pid_ = ::fork();
	if (pid_ < 0)
		throw std::system_error(errno, std::generic_category(), "cannot fork");
	if (pid_ == 0)
		child(family, address, announce);
	announce = Descriptor();
	if (::read(listened.get(), &port_, sizeof(port_)) != sizeof(port_)) {
		end(pid_);
		throw std::runtime_error("the server did not start");
	}
}

LocalServer::~LocalServer()
{
	end(pid_);
}

} // namespace sdpbench
