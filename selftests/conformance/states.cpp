// SPDX-License-Identifier: GPL-2.0
#include "states.h"

#include <cerrno>
#include <cstring>

namespace conformance
{

namespace
{

Sock unbound(Run &t, Surroundings &)
{
	return t.socket();
}

Sock bound(Run &t, Surroundings &)
{
	return t.bound("u");
}

Sock listening(Run &t, Surroundings &)
{
	return t.listener(5, "u");
}

Sock listening_ready(Run &t, Surroundings &around)
{
	Sock u = t.listener(5, "u");

	around.peer = t.connect_to(u, "p");
	u.await(POLLIN);
	return u;
}

Sock listener_shut(Run &t, Surroundings &)
{
	Sock u = t.listener(5, "u");

	t.require(::shutdown(u.fd(), SHUT_RDWR) == 0, "shutdown()");
	return u;
}

/* Nobody answers as long as the listener's queue is full. */
Sock connecting(Run &t, Surroundings &around)
{
	around.listener = t.full_listener(around.filler);
	Sock u = t.socket("u", SOCK_NONBLOCK);
	const Addr addr = around.listener.local();

	t.require(::connect(u.fd(), addr.get(), addr.length) == -1 && errno == EINPROGRESS,
		  "connect()");
	/* With RDMA the route, and so the address, is known a little later. */
	t.until("the socket has an address", [&] { return !u.local().any(); });
	return u;
}

Sock refused(Run &t, Surroundings &)
{
	const Addr addr = t.dead();
	Sock u = t.socket("u", SOCK_NONBLOCK);

	t.require(::connect(u.fd(), addr.get(), addr.length) == -1 && errno == EINPROGRESS,
		  "connect()");
	u.await(POLLERR);
	return u;
}

Sock connected(Run &t, Surroundings &around)
{
	Pair pair = t.pair();

	around.peer = std::move(pair.s);
	return {t, "u", pair.c.release()};
}

Sock accepted(Run &t, Surroundings &around)
{
	Pair pair = t.pair();

	around.peer = std::move(pair.c);
	return {t, "u", pair.s.release()};
}

void say(Run &t, const Sock &from, const char *what)
{
	const auto length = static_cast<ssize_t>(strlen(what));

	t.require(::send(from.fd(), what, length, MSG_NOSIGNAL) == length, "send()");
}

Sock with_data(Run &t, Surroundings &around)
{
	Sock u = connected(t, around);

	say(t, around.peer, "waiting");
	u.await_bytes(7);
	return u;
}

/* A peer that knows of it has answered whatever there is to answer. */
Sock wr_shut(Run &t, Surroundings &around)
{
	Sock u = connected(t, around);

	t.require(::shutdown(u.fd(), SHUT_WR) == 0, "shutdown()");
	around.peer.await(POLLRDHUP);
	u.await_sent();
	return u;
}

Sock rd_shut(Run &t, Surroundings &around)
{
	Sock u = connected(t, around);

	t.require(::shutdown(u.fd(), SHUT_RD) == 0, "shutdown()");
	return u;
}

Sock rdwr_shut(Run &t, Surroundings &around)
{
	Sock u = connected(t, around);

	t.require(::shutdown(u.fd(), SHUT_RDWR) == 0, "shutdown()");
	around.peer.await(POLLRDHUP);
	u.await_sent();
	return u;
}

Sock peer_wr_shut(Run &t, Surroundings &around)
{
	Sock u = connected(t, around);

	t.require(::shutdown(around.peer.fd(), SHUT_WR) == 0, "shutdown()");
	u.await(POLLRDHUP);
	around.peer.await_sent();
	return u;
}

Sock peer_wr_shut_with_data(Run &t, Surroundings &around)
{
	Sock u = with_data(t, around);

	t.require(::shutdown(around.peer.fd(), SHUT_WR) == 0, "shutdown()");
	u.await(POLLRDHUP);
	return u;
}

Sock both_shut(Run &t, Surroundings &around)
{
	Sock u = wr_shut(t, around);

	t.require(::shutdown(around.peer.fd(), SHUT_WR) == 0, "shutdown()");
	u.await(POLLHUP);
	around.peer.await(POLLHUP);
	return u;
}

Sock peer_closed(Run &t, Surroundings &around)
{
	Sock u = connected(t, around);

	around.peer.drop();
	around.answers_reset = true;
	u.await(POLLRDHUP);
	return u;
}

Sock peer_closed_with_data(Run &t, Surroundings &around)
{
	Sock u = with_data(t, around);

	around.peer.drop();
	around.answers_reset = true;
	u.await(POLLRDHUP);
	return u;
}

Sock reset(Run &t, Surroundings &around)
{
	Sock u = connected(t, around);

	around.peer.reset();
	u.await(POLLHUP);
	return u;
}

Sock reset_with_data(Run &t, Surroundings &around)
{
	Sock u = with_data(t, around);

	around.peer.reset();
	u.await(POLLHUP);
	return u;
}

Sock reset_seen(Run &t, Surroundings &around)
{
	Sock u = reset(t, around);
	char byte = 0;

	t.require(::recv(u.fd(), &byte, 1, 0) == -1 && errno == ECONNRESET, "recv()");
	return u;
}

constexpr State all[] = {
	{"unbound", unbound},
	{"bound", bound},
	{"listening", listening},
	{"listening_ready", listening_ready},
	{"listener_shut", listener_shut},
	{"connecting", connecting},
	{"refused", refused},
	{"connected", connected},
	{"accepted", accepted},
	{"with_data", with_data},
	{"wr_shut", wr_shut},
	{"rd_shut", rd_shut},
	{"rdwr_shut", rdwr_shut},
	{"peer_wr_shut", peer_wr_shut},
	{"peer_wr_shut_with_data", peer_wr_shut_with_data},
	{"both_shut", both_shut},
	{"peer_closed", peer_closed},
	{"peer_closed_with_data", peer_closed_with_data},
	{"reset", reset},
	{"reset_with_data", reset_with_data},
	{"reset_seen", reset_seen},
};

} // namespace

std::span<const State> states()
{
	return all;
}

} // namespace conformance
