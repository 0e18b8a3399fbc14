// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Blocking stream sockets of any address family. Every failure is thrown as
 * std::system_error whose text names what was tried.
 */
#ifndef SDPBENCH_SOCKET_H
#define SDPBENCH_SOCKET_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include <sys/socket.h>

#include "../common/descriptor.h"

namespace sdpbench
{

using sdp::Descriptor;

/** A numeric IPv4 or IPv6 address with a port. */
class Address
{
public:
	/** @throw std::invalid_argument if @p text is no numeric address. */
	Address(const std::string &text, std::uint16_t port);

	[[nodiscard]] const sockaddr *get() const
	{
		return reinterpret_cast<const sockaddr *>(&storage_);
	}
	[[nodiscard]] socklen_t size() const
	{
		return size_;
	}
	[[nodiscard]] bool is_v6() const
	{
		return storage_.ss_family == AF_INET6;
	}
	[[nodiscard]] const std::string &text() const
	{
		return text_;
	}

private:
	sockaddr_storage storage_{};
	socklen_t size_;
	std::string text_;
};

enum class Family {
	sdp,
	tcp,
	smc
};

/** A connected socket. */
class Stream
{
public:
	explicit Stream(Descriptor socket) : socket_(std::move(socket))
	{
	}

	void set_nodelay(bool on);
	[[nodiscard]] std::uint16_t local_port() const;
	/** @return the name of an AF_SDP connection's engine of flow control. */
	[[nodiscard]] std::string flow_control() const;
	/** @return bytes that have been received and not read. */
	[[nodiscard]] std::uint64_t unread() const;
	/** Send all of @p data. */
	void send(std::span<const std::byte> data);
	/** Receive as many bytes as @p data has. @throw std::runtime_error if the peer ends before.
	 */
	void receive(std::span<std::byte> data);
	/** As receive(). @return false if the peer has ended before the first byte. */
	[[nodiscard]] bool receive_or_end(std::span<std::byte> data);

private:
	std::size_t receive_up_to(std::span<std::byte> data);

	Descriptor socket_;
};

/** A listening socket. */
class Listener
{
public:
	Listener(Family family, const Address &address);

	/** @return the port listened on; of use if it was asked for as 0. */
	[[nodiscard]] std::uint16_t port() const;
	[[nodiscard]] Stream accept();

private:
	Descriptor socket_;
};

/** Connect to @p server from @p client, whose port is usually 0. */
[[nodiscard]] Stream connect_from(Family family, const Address &client, const Address &server);

/** Connect to @p server from any address. */
[[nodiscard]] Stream connect(Family family, const Address &server);

} // namespace sdpbench

#endif // SDPBENCH_SOCKET_H
