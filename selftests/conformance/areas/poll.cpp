// SPDX-License-Identifier: GPL-2.0
/*
 * poll() and select(): masks in every state, and what wakes a sleeper.
 */
#include <cerrno>

#include <sys/select.h>
#include <sys/socket.h>

#include "states.h"

namespace conformance
{

namespace
{

/* What one asks for must not change what one is told of the rest. */
void poll_masks(Run &t, const State &state)
{
	Surroundings around;
	Sock u = state.reach(t, around);

	u.poll();
	u.poll(0);
	u.poll(POLLIN);
	u.poll(POLLOUT);
	u.poll(POLLRDHUP | POLLPRI);
	u.poll();
}

void select_sets(Run &t, const State &state)
{
	Surroundings around;
	Sock u = state.reach(t, around);
	fd_set in;
	fd_set out;
	fd_set except;
	timeval now{};

	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_ZERO(&except);
	FD_SET(u.fd(), &in);
	FD_SET(u.fd(), &out);
	FD_SET(u.fd(), &except);
	t.call(
		"select(u)", [&] { return ::select(u.fd() + 1, &in, &out, &except, &now); },
		[&](long result) {
			return fmt::format("{}{}{}{}", result, FD_ISSET(u.fd(), &in) ? " in" : "",
					   FD_ISSET(u.fd(), &out) ? " out" : "",
					   FD_ISSET(u.fd(), &except) ? " except" : "");
		});
}

const Register all{[] {
	for (const State &state : states()) {
		suite().push_back({std::string("poll.masks_") + state.name,
				   [&state](Run &t) { poll_masks(t, state); }, false});
		suite().push_back({std::string("poll.select_") + state.name,
				   [&state](Run &t) { select_sets(t, state); }, false});
	}
}};

std::string mask_of(const pollfd &p)
{
	return show_poll(static_cast<unsigned short>(p.revents));
}

/* Sleeps in poll(), until EVENT happens. */
void woken(Run &t, Sock &u, short events, const std::function<void()> &event)
{
	pollfd p = {.fd = u.fd(), .events = events, .revents = 0};
	Blocked sleeper(t, fmt::format("sleeping poll(u, {})", show_poll(events)),
			[&] { return ::poll(&p, 1, t.deadline_ms()); });

	event();
	sleeper.join([&](long result) { return fmt::format("{} {}", result, mask_of(p)); });
}

} // namespace

CASE(poll, woken_by_data)
{
	Pair pair = t.pair();

	woken(t, pair.c, POLLIN, [&] { pair.s.send("x"); });
}

CASE(poll, woken_by_end)
{
	Pair pair = t.pair();

	woken(t, pair.c, POLLIN, [&] { pair.s.shutdown(SHUT_WR); });
}

CASE(poll, woken_by_end_rdhup_only)
{
	Pair pair = t.pair();

	woken(t, pair.c, POLLRDHUP, [&] { pair.s.shutdown(SHUT_WR); });
}

CASE(poll, woken_by_reset)
{
	Pair pair = t.pair();

	woken(t, pair.c, 0, [&] { pair.s.reset(); });
	pair.c.look();
}

CASE(poll, woken_by_own_shutdown_rd)
{
	Pair pair = t.pair();

	woken(t, pair.c, POLLIN, [&] { pair.c.shutdown(SHUT_RD); });
}

CASE(poll, woken_by_own_shutdown_rdwr)
{
	Pair pair = t.pair();

	woken(t, pair.c, 0, [&] { pair.c.shutdown(SHUT_RDWR); });
}

CASE(poll, woken_by_connection)
{
	Sock l = t.listener();
	Sock c;

	woken(t, l, POLLIN, [&] { c = t.connect_to(l); });
	l.accept("s");
}

CASE(poll, woken_by_end_of_connecting)
{
	Sock filler;
	Sock l = t.full_listener(filler);
	Sock u = t.socket("u", SOCK_NONBLOCK);

	u.connect(l.local());
	woken(t, u, POLLOUT, [&] { u.shutdown(SHUT_RDWR); });
	u.look();
}

CASE(poll, woken_by_end_of_listening)
{
	Sock l = t.listener();

	woken(t, l, POLLIN, [&] { l.shutdown(SHUT_RDWR); });
	l.look();
}

CASE(poll, woken_by_room)
{
	Pair pair = t.narrow_pair();

	const std::size_t total = pair.c.fill();
	pair.c.poll();
	woken(t, pair.c, POLLOUT, [&] {
		std::string sink(total, 0);
		std::size_t got = 0;
		while (got < total)
			got += ::recv(pair.s.fd(), sink.data(), sink.size(), 0);
	});
}

CASE(poll, full_pipe_mask)
{
	Pair pair = t.narrow_pair();

	pair.c.fill();
	pair.c.poll();
	pair.c.send("more", MSG_DONTWAIT | MSG_NOSIGNAL);
	pair.s.poll(POLLIN);
}

CASE(poll, full_pipe_then_peer_gone)
{
	Pair pair = t.narrow_pair();

	pair.c.fill();
	pair.s.reset();
	pair.c.await(POLLHUP);
	pair.c.look();
	pair.c.send("x");
}

CASE(poll, full_pipe_then_shut)
{
	Pair pair = t.narrow_pair();

	pair.c.fill();
	pair.c.shutdown(SHUT_WR);
	pair.c.poll();
	pair.c.send("x");
}

CASE(poll, not_woken_by_peek)
{
	Pair pair = t.pair();

	pair.s.send("peek");
	pair.c.await(POLLIN);
	pair.c.recv(4, MSG_PEEK);
	pair.c.poll();
	pair.c.recv(4);
	pair.c.poll();
}

CASE(poll, lowat_masks)
{
	Pair pair = t.pair();

	pair.c.set(OPTION(SOL_SOCKET, SO_RCVLOWAT), 8);
	pair.s.send("1234");
	pair.c.await_bytes(4);
	pair.c.poll(POLLIN);
	pair.s.send("5678");
	pair.c.await_bytes(8);
	pair.c.poll(POLLIN);
	pair.c.recv(1);
	pair.c.poll(POLLIN);
}

CASE(poll, lowat_and_end)
{
	Pair pair = t.pair();

	pair.c.set(OPTION(SOL_SOCKET, SO_RCVLOWAT), 100);
	pair.s.send("less");
	pair.s.shutdown(SHUT_WR);
	pair.c.await(POLLRDHUP);
	pair.c.poll();
	pair.c.recv(10);
}

CASE(poll, lowat_lowered)
{
	Pair pair = t.pair();

	pair.c.set(OPTION(SOL_SOCKET, SO_RCVLOWAT), 100);
	pair.s.send("less");
	pair.c.await_bytes(4);
	woken(t, pair.c, POLLIN, [&] { pair.c.set(OPTION(SOL_SOCKET, SO_RCVLOWAT), 4); });
}

CASE(poll, two_connections_waiting)
{
	Sock l = t.listener();
	const Sock one = t.connect_to(l, "one");
	const Sock two = t.connect_to(l, "two");

	l.await(POLLIN);
	const Sock first = l.accept("first");
	l.await(POLLIN);
	const Sock second = l.accept("second");
	l.poll();
}

CASE(poll, waiting_connection_reset)
{
	Sock l = t.listener();
	Sock c = t.connect_to(l);

	l.await(POLLIN);
	c.reset();
	Sock s = l.accept("s");
	s.await(POLLHUP);
	s.look();
	s.recv(1);
}

CASE(poll, waiting_connection_with_data)
{
	Sock l = t.listener();
	Sock c = t.connect_to(l);

	c.send("early");
	c.shutdown(SHUT_WR);
	l.await(POLLIN);
	Sock s = l.accept("s");
	s.await(POLLRDHUP);
	s.poll();
	s.recv(10);
	s.recv(10);
}

CASE(poll, closed_descriptor)
{
	Sock u = t.socket();
	pollfd p = {.fd = u.fd(), .events = POLLIN, .revents = 0};

	u.drop();
	t.call(
		"poll(closed)", [&] { return ::poll(&p, 1, 0); },
		[&](long result) { return fmt::format("{} {}", result, mask_of(p)); });
}

CASE(poll, many_sockets_one_ready)
{
	std::vector<Pair> pairs;
	std::vector<pollfd> set;

	for (int i = 0; i < 5; i++) {
		pairs.push_back(t.pair());
		set.push_back({.fd = pairs.back().c.fd(), .events = POLLIN, .revents = 0});
	}
	pairs[3].s.send("x");
	t.call("poll(five)", [&] { return ::poll(set.data(), set.size(), t.deadline_ms()); });
	for (const pollfd &p : set)
		t.note("{}", mask_of(p));
}

CASE(poll, same_socket_twice)
{
	Pair pair = t.pair();
	pollfd set[2] = {{.fd = pair.c.fd(), .events = POLLIN, .revents = 0},
			 {.fd = pair.c.fd(), .events = POLLOUT, .revents = 0}};

	pair.s.send("x");
	pair.c.await(POLLIN);
	t.call("poll(twice)", [&] { return ::poll(set, 2, 0); });
	t.note("{}, {}", mask_of(set[0]), mask_of(set[1]));
}

CASE(poll, times_out)
{
	Pair pair = t.pair();
	pollfd p = {.fd = pair.c.fd(), .events = POLLIN, .revents = 0};
	const long start = now_ms();

	t.call("poll(c, 60 ms)", [&] { return ::poll(&p, 1, 60); });
	t.note("waited: {}", now_ms() - start >= 60);
}

CASE(poll, error_reported_once)
{
	Sock u = t.socket("u", SOCK_NONBLOCK);

	u.connect(t.dead());
	u.await(POLLERR);
	u.poll();
	u.recv(1);
	u.poll();
	u.recv(1);
	u.send("x");
	u.poll();
}

} // namespace conformance
