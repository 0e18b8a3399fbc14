// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "netlink.h"

#include <cerrno>
#include <system_error>

#include <sys/types.h>

namespace sdpbench
{

namespace
{

[[noreturn]] void fail(const std::string &what)
{
	throw std::system_error(errno, std::generic_category(), what);
}

} // namespace

Netlink::Netlink(int bus, std::size_t size)
	: socket_(mnl_socket_open(bus), mnl_socket_close), buffer_(size)
{
	if (!socket_)
		fail("cannot open netlink");
}

void Netlink::send(const nlmsghdr *request, const std::string &what)
{
	if (mnl_socket_sendto(socket_.get(), request, request->nlmsg_len) < 0)
		fail(what);
}

void Netlink::receive(const std::string &what, mnl_cb_t read, void *data)
{
	int more = MNL_CB_OK;

	while (more > MNL_CB_STOP) {
		const ssize_t got =
			mnl_socket_recvfrom(socket_.get(), buffer_.data(), buffer_.size());

		more = got < 0 ? MNL_CB_ERROR
			       : mnl_cb_run(buffer_.data(), static_cast<std::size_t>(got), 0, 0,
					    read, data);
	}
	if (more == MNL_CB_ERROR)
		fail(what);
}

} // namespace sdpbench
