// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "socket.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>

#include "../../include/uapi/linux/sdp.h"

namespace sdpbench
{

namespace
{

[[noreturn]] void fail(const std::string &what)
{
	throw std::system_error(errno, std::generic_category(), what);
}

const char *module_of(Family family)
{
	return family == Family::smc ? "smc" : "sdp";
}

Descriptor open_socket(Family family, bool v6)
{
	int domain = v6 ? AF_INET6 : AF_INET;
	int protocol = 0;

	if (family == Family::sdp) {
		domain = AF_SDP;
	} else if (family == Family::smc) {
		domain = AF_SMC;
		protocol = v6 ? 1 : 0;
	}
	Descriptor socket(::socket(domain, SOCK_STREAM, protocol));
	if (socket.get() >= 0)
		return socket;
	if (errno == EAFNOSUPPORT && family != Family::tcp)
		fail(fmt::format("no sockets of family {}: is the module '{}' loaded?", domain,
				 module_of(family)));
	fail(fmt::format("cannot make a socket of family {}", domain));
}

void bind_to(const Descriptor &socket, const Address &address)
{
	const int on = 1;

	if (::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0)
		fail("cannot set SO_REUSEADDR");
	if (::bind(socket.get(), address.get(), address.size()) != 0)
		fail(fmt::format("cannot bind to {}", address.text()));
}

std::uint16_t port_of(const Descriptor &socket)
{
	sockaddr_storage name{};
	socklen_t size = sizeof(name);

	if (::getsockname(socket.get(), reinterpret_cast<sockaddr *>(&name), &size) != 0)
		fail("cannot ask for the port");
	// The port is at the same place in an address of either family.
	static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
	return ntohs(reinterpret_cast<const sockaddr_in *>(&name)->sin_port);
}

Stream connect_socket(Descriptor socket, const Address &server)
{
	if (::connect(socket.get(), server.get(), server.size()) != 0)
		fail(fmt::format("cannot connect to {}", server.text()));
	return Stream(std::move(socket));
}

} // namespace

Address::Address(const std::string &text, std::uint16_t port)
	: text_(fmt::format("{} port {}", text, port))
{
	auto *const v4 = reinterpret_cast<sockaddr_in *>(&storage_);
	auto *const v6 = reinterpret_cast<sockaddr_in6 *>(&storage_);

	if (::inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(port);
		size_ = sizeof(*v4);
	} else if (::inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(port);
		size_ = sizeof(*v6);
	} else {
		throw std::invalid_argument(fmt::format("no numeric IP address: '{}'", text));
	}
}

void Stream::set_nodelay(bool on)
{
	const int value = on ? 1 : 0;

	if (::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &value, sizeof(value)) != 0)
		fail("cannot set TCP_NODELAY");
}

std::uint16_t Stream::local_port() const
{
	return port_of(socket_);
}

std::string Stream::flow_control() const
{
	std::array<char, 32> name{};
	socklen_t size = name.size();

	if (::getsockopt(socket_.get(), SOL_SDP, SDP_FLOW_CONTROL, name.data(), &size) != 0)
		fail("cannot ask for the engine of flow control");
	return {name.data(), ::strnlen(name.data(), size)};
}

std::uint64_t Stream::unread() const
{
	int bytes = 0;

	if (::ioctl(socket_.get(), SIOCINQ, &bytes) != 0)
		fail("cannot ask how much is unread");
	return static_cast<std::uint64_t>(bytes);
}

void Stream::send(std::span<const std::byte> data)
{
	while (!data.empty()) {
		const ssize_t sent = ::send(socket_.get(), data.data(), data.size(), MSG_NOSIGNAL);

		if (sent > 0)
			data = data.subspan(static_cast<std::size_t>(sent));
		else if (sent == 0)
			throw std::runtime_error("send() took no byte and gave no reason");
		else if (errno != EINTR)
			fail("cannot send");
	}
}

std::size_t Stream::receive_up_to(std::span<std::byte> data)
{
	std::size_t done = 0;

	while (done < data.size()) {
		const ssize_t got =
			::recv(socket_.get(), data.data() + done, data.size() - done, MSG_WAITALL);

		if (got > 0)
			done += static_cast<std::size_t>(got);
		else if (got == 0)
			break;
		else if (errno != EINTR)
			fail("cannot receive");
	}
	return done;
}

bool Stream::receive_or_end(std::span<std::byte> data)
{
	const std::size_t got = receive_up_to(data);

	if (got != 0 && got != data.size())
		throw std::runtime_error(fmt::format(
			"the peer ended the connection after {} of {} bytes", got, data.size()));
	return got != 0;
}

void Stream::receive(std::span<std::byte> data)
{
	if (!receive_or_end(data))
		throw std::runtime_error("the peer ended the connection");
}

Listener::Listener(Family family, const Address &address)
	: socket_(open_socket(family, address.is_v6()))
{
	bind_to(socket_, address);
	if (::listen(socket_.get(), SOMAXCONN) != 0)
		fail(fmt::format("cannot listen on {}", address.text()));
}

std::uint16_t Listener::port() const
{
	return port_of(socket_);
}

Stream Listener::accept()
{
	for (;;) {
		Descriptor socket(::accept(socket_.get(), nullptr, nullptr));

		if (socket.get() >= 0)
			return Stream(std::move(socket));
		if (errno != EINTR && errno != ECONNABORTED)
			fail("cannot accept");
	}
}

Stream connect_from(Family family, const Address &client, const Address &server)
{
	Descriptor socket = open_socket(family, server.is_v6());

	bind_to(socket, client);
	return connect_socket(std::move(socket), server);
}

Stream connect(Family family, const Address &server)
{
	return connect_socket(open_socket(family, server.is_v6()), server);
}

} // namespace sdpbench
