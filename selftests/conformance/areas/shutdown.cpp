// SPDX-License-Identifier: GPL-2.0
/*
 * Ends of streams: shutdown() and close() with data waiting on either side.
 */
#include <cerrno>
#include <csignal>

#include <linux/sockios.h>
#include <unistd.h>

#include "run.h"

namespace conformance
{

namespace
{

/* How one end leaves, and what waits for it and for the other end. */
struct End {
	const char *name;
	void (*leave)(Sock &sock);
	bool gone; ///< there is no descriptor any more
};

void leave_rd(Sock &sock)
{
	sock.shutdown(SHUT_RD);
}

void leave_wr(Sock &sock)
{
	sock.shutdown(SHUT_WR);
}

void leave_rdwr(Sock &sock)
{
	sock.shutdown(SHUT_RDWR);
}

void leave_close(Sock &sock)
{
	sock.close();
}

void leave_linger(Sock &sock)
{
	sock.set_linger(5);
	sock.close();
}

void leave_reset(Sock &sock)
{
	sock.set_linger(0);
	sock.close();
}

constexpr End ends[] = {
	{"rd", leave_rd, false},      {"wr", leave_wr, false},	      {"rdwr", leave_rdwr, false},
	{"close", leave_close, true}, {"linger", leave_linger, true}, {"reset", leave_reset, true},
};

struct Waiting {
	const char *name;
	bool for_leaver; ///< data that the end that leaves has not read
	bool for_stayer; ///< data that it has sent
};

constexpr Waiting waiting[] = {
	{"nothing", false, false},
	{"unread", true, false},
	{"sent", false, true},
	{"both", true, true},
};

/* Whether the other end learns of it at once, and how. */
bool resets(const End &end, const Waiting &data)
{
	return end.gone && (data.for_leaver || std::string_view(end.name) == "reset");
}

void leave(Run &t, const End &end, const Waiting &data)
{
	Pair pair = t.pair();

	if (data.for_leaver) {
		pair.s.send("for the leaver");
		pair.c.await_bytes(14);
	}
	if (data.for_stayer) {
		pair.c.send("for the stayer");
		pair.s.await_bytes(14);
	}
	end.leave(pair.c);
	if (resets(end, data))
		pair.s.await(POLLHUP);
	else if (std::string_view(end.name) != "rd")
		pair.s.await(POLLRDHUP);
	pair.s.look();
	pair.s.recv(100, MSG_DONTWAIT);
	pair.s.recv(100, MSG_DONTWAIT);
	if (!end.gone) {
		pair.c.look();
		pair.c.recv(100, MSG_DONTWAIT);
		pair.c.recv(100, MSG_DONTWAIT);
		pair.c.send("more");
	}
}

const Register all{[] {
	for (const End &end : ends) {
		for (const Waiting &data : waiting) {
			suite().push_back({fmt::format("shutdown.{}_with_{}", end.name, data.name),
					   [&](Run &t) { leave(t, end, data); }, false});
		}
	}
}};

} // namespace

CASE(shutdown, twice)
{
	Pair pair = t.pair();

	pair.c.shutdown(SHUT_WR);
	pair.c.shutdown(SHUT_WR);
	pair.c.shutdown(SHUT_RD);
	pair.c.shutdown(SHUT_RDWR);
	pair.c.poll();
}

CASE(shutdown, both_ends_write_side)
{
	Pair pair = t.pair();

	pair.c.shutdown(SHUT_WR);
	pair.s.await(POLLRDHUP);
	pair.s.shutdown(SHUT_WR);
	pair.c.await(POLLHUP);
	pair.s.await(POLLHUP);
	pair.c.look();
	pair.s.look();
	pair.c.recv(1);
	pair.s.recv(1);
	pair.c.send("x");
}

CASE(shutdown, data_after_half_close)
{
	Pair pair = t.pair();

	pair.c.send("request");
	pair.c.shutdown(SHUT_WR);
	pair.s.recv_all(100);
	pair.s.send("answer");
	pair.s.shutdown(SHUT_WR);
	pair.c.recv_all(100);
	pair.c.await(POLLHUP);
	pair.c.look();
}

CASE(shutdown, half_close_then_close)
{
	Pair pair = t.pair();

	pair.c.shutdown(SHUT_WR);
	pair.s.await(POLLRDHUP);
	pair.s.close();
	pair.c.await(POLLHUP);
	pair.c.look();
	pair.c.recv(1);
}

CASE(shutdown, large_data_then_close)
{
	Pair pair = t.pair();
	const std::string data = pattern(1 << 20);

	Blocked writer(t, "send(c, 1 MiB)",
		       [&] { return ::send(pair.c.fd(), data.data(), data.size(), 0); });
	const std::string first = pair.s.recv_all(1 << 19);
	writer.join();
	pair.c.close();
	pair.s.recv_all(1 << 20);
}

CASE(shutdown, large_data_then_shutdown)
{
	Pair pair = t.narrow_pair();
	const std::size_t total = pair.c.fill();

	pair.c.shutdown(SHUT_WR);
	std::string data(total + 1, 0);
	std::size_t got = 0;
	ssize_t last = 0;
	while ((last = ::recv(pair.s.fd(), data.data(), data.size(), 0)) > 0)
		got += last;
	t.note("all came {}, then {}", got == total, show_result(last, errno));
}

CASE(shutdown, large_data_then_process_dies)
{
	Sock l = t.listener();
	const pid_t pid = fork();

	if (pid == 0) {
		const Sock c = t.connect_to(l);
		const std::string data = pattern(50000);
		::send(c.fd(), data.data(), data.size(), 0);
		_exit(0);
	}
	Sock s = t.take(l);
	s.recv_all(100000);
	t.note("{}", show_exit(pid));
}

CASE(shutdown, wakes_own_reader)
{
	Pair pair = t.pair();
	char byte = 0;
	Blocked reader(t, "recv(c)", [&] { return ::recv(pair.c.fd(), &byte, 1, 0); });

	pair.c.shutdown(SHUT_RD);
	reader.join();
}

CASE(shutdown, wr_leaves_own_reader)
{
	Pair pair = t.pair();
	char byte = 0;
	Blocked reader(t, "recv(c)", [&] { return ::recv(pair.c.fd(), &byte, 1, 0); });

	pair.c.shutdown(SHUT_WR);
	reader.look();
	pair.s.send("x");
	reader.join();
}

CASE(shutdown, wakes_own_writer)
{
	Pair pair = t.narrow_pair();

	count_signal(SIGPIPE);
	pair.c.fill();
	Blocked writer(t, "send(c)", [&] { return ::send(pair.c.fd(), "x", 1, MSG_NOSIGNAL); });
	pair.c.shutdown(SHUT_WR);
	writer.join();
}

CASE(shutdown, wakes_acceptor)
{
	Sock l = t.listener();
	Blocked acceptor(t, "accept(l)", [&] { return ::accept(l.fd(), nullptr, nullptr); });

	l.shutdown(SHUT_RDWR);
	acceptor.join();
}

CASE(shutdown, wr_leaves_listener)
{
	Sock l = t.listener();

	l.shutdown(SHUT_WR);
	l.poll();
	const Sock c = t.connect_to(l);
	const Sock s = l.accept("s");
}

CASE(shutdown, listener_listens_again)
{
	Sock l = t.listener();

	l.shutdown(SHUT_RD);
	l.listen();
	const Sock c = t.connect_to(l);
	const Sock s = l.accept("s");
}

CASE(shutdown, listener_connects_afterwards)
{
	Sock l = t.listener();
	Sock other = t.listener(5, "other");

	l.shutdown(SHUT_RD);
	l.connect(other.local());
	Sock s = other.accept("s");
	l.send("x");
	s.recv(1);
}

CASE(shutdown, listener_resets_waiting)
{
	Sock l = t.listener();
	Sock c = t.connect_to(l);

	l.await(POLLIN);
	l.shutdown(SHUT_RDWR);
	c.await(POLLHUP);
	c.look();
}

CASE(shutdown, rd_then_data_comes)
{
	Pair pair = t.pair();

	pair.c.shutdown(SHUT_RD);
	pair.s.send("unwanted");
	pair.s.await_sent();
	pair.c.await_bytes(8);
	pair.c.poll();
	pair.c.recv(100);
	pair.c.recv(100);
	pair.s.look();
}

CASE(shutdown, rdwr_then_data_comes)
{
	Pair pair = t.pair();

	pair.c.shutdown(SHUT_RDWR);
	pair.s.await(POLLRDHUP);
	pair.s.send("unwanted");
	pair.s.await(POLLHUP);
	pair.s.look();
	pair.s.send("again");
}

CASE(shutdown, closed_then_data_comes)
{
	Pair pair = t.pair();

	pair.c.close();
	pair.s.await(POLLRDHUP);
	pair.s.send("unwanted");
	pair.s.await(POLLHUP);
	pair.s.recv(1);
	pair.s.look();
	pair.s.send("again");
}

CASE(shutdown, reader_gone_mid_write)
{
	Pair pair = t.narrow_pair();

	pair.c.fill();
	Blocked writer(t, "send(c)", [&] { return ::send(pair.c.fd(), "x", 1, MSG_NOSIGNAL); });
	pair.s.close();
	writer.join();
	pair.c.look();
	pair.c.send("x");
}

CASE(shutdown, reset_wakes_writer)
{
	Pair pair = t.narrow_pair();

	pair.c.fill();
	Blocked writer(t, "send(c)", [&] { return ::send(pair.c.fd(), "x", 1, MSG_NOSIGNAL); });
	pair.s.reset();
	writer.join();
	pair.c.look();
}

CASE(shutdown, reset_wakes_reader)
{
	Pair pair = t.pair();
	char byte = 0;
	Blocked reader(t, "recv(c)", [&] { return ::recv(pair.c.fd(), &byte, 1, 0); });

	pair.s.reset();
	reader.join();
	pair.c.recv(1);
}

CASE(shutdown, end_wakes_reader)
{
	Pair pair = t.pair();
	char byte = 0;
	Blocked reader(t, "recv(c)", [&] { return ::recv(pair.c.fd(), &byte, 1, 0); });

	pair.s.close();
	reader.join();
	pair.c.recv(1);
}

CASE(shutdown, linger_waits_for_delivery)
{
	Pair pair = t.pair();

	pair.c.send("to be read");
	pair.c.set_linger(8);
	const long start = now_ms();
	pair.c.close();
	t.note("at once: {}", now_ms() - start < 4000);
	pair.s.recv_all(100);
}

CASE(shutdown, linger_times_out)
{
	Pair pair = t.narrow_pair();

	pair.c.fill();
	pair.c.set_linger(1);
	const Stopwatch watch;
	pair.c.close();
	t.note("waited: {}", watch.ms() >= 950);
}

CASE(shutdown, linger_of_unconnected)
{
	Sock u = t.socket();
	Sock b = t.bound();
	Sock l = t.listener();

	for (Sock *sock : {&u, &b, &l}) {
		sock->set_linger(8);
		const long start = now_ms();
		sock->close();
		t.note("at once: {}", now_ms() - start < 4000);
	}
}

CASE(shutdown, linger_zero_of_listener)
{
	Sock l = t.listener();
	Sock c = t.connect_to(l);

	l.await(POLLIN);
	l.set_linger(0);
	l.close();
	c.await(POLLHUP);
	c.look();
}

CASE(shutdown, reconnect_after_end)
{
	Sock l = t.listener();
	Sock c = t.connect_to(l);
	Sock s = t.take(l);

	c.shutdown(SHUT_RDWR);
	s.drop();
	/* It hangs up at once, because it has closed both directions itself. */
	c.await_end();
	c.connect(l.local());
	c.getpeername();
}

CASE(shutdown, error_then_end)
{
	Pair pair = t.pair();

	pair.s.reset();
	pair.c.await(POLLHUP);
	pair.c.send("x");
	pair.c.send("x");
	pair.c.recv(1);
	pair.c.look();
}

} // namespace conformance
