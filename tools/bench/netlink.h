// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * A netlink socket on which one request at a time is made.
 */
#ifndef SDPBENCH_NETLINK_H
#define SDPBENCH_NETLINK_H

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <libmnl/libmnl.h>

namespace sdpbench
{

class Netlink
{
public:
	/**
	 * @param bus NETLINK_GENERIC and the like.
	 * @param size bytes of the longest message.
	 * @throw std::system_error if there is no such socket.
	 */
	Netlink(int bus, std::size_t size);

	/** @return the header of a new request, in place of the one before. */
	nlmsghdr *begin()
	{
		return mnl_nlmsg_put_header(buffer_.data());
	}

	/** @throw std::system_error with @p what if the request cannot be sent. */
	void send(const nlmsghdr *request, const std::string &what);

	/**
	 * Give the answers to @p read until the last has come.
	 *
	 * @throw std::system_error with @p what if the kernel refuses.
	 */
	void receive(const std::string &what, mnl_cb_t read, void *data);

private:
	std::unique_ptr<mnl_socket, decltype(&mnl_socket_close)> socket_;
	std::vector<char> buffer_;
};

} // namespace sdpbench

#endif // SDPBENCH_NETLINK_H
