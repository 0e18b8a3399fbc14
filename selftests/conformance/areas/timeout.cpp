// SPDX-License-Identifier: GPL-2.0
/*
 * SO_RCVTIMEO and SO_SNDTIMEO on every call that waits.
 */
#include <cerrno>

#include <sys/time.h>
#include <unistd.h>

#include "run.h"

namespace conformance
{

namespace
{

constexpr int short_ms = 60;

void timed(Run &t, const std::string &what, const std::function<long()> &call)
{
	const Stopwatch watch;

	t.call(what, call);
	/* Not exactly: the kernel counts in jiffies. */
	t.note("waited: {}", watch.ms() >= short_ms / 2);
}

void set_timeval(Run &t, const Sock &sock, int option, timeval value, socklen_t length)
{
	t.call(fmt::format("set timeout {} s {} us, {} bytes", value.tv_sec, value.tv_usec, length),
	       [&] { return ::setsockopt(sock.fd(), SOL_SOCKET, option, &value, length); });
	length = sizeof(value);
	value = {.tv_sec = 77, .tv_usec = 77};
	t.call(
		"get timeout",
		[&] { return ::getsockopt(sock.fd(), SOL_SOCKET, option, &value, &length); },
		[&](long result) {
			return fmt::format("{} {} s {} us {} bytes", result, value.tv_sec,
					   value.tv_usec, length);
		});
}

} // namespace

CASE(timeout, recv)
{
	Pair pair = t.pair();

	pair.c.set_timeout(SO_RCVTIMEO, short_ms);
	timed(t, "recv(c)", [&] { return ::recv(pair.c.fd(), nullptr, 1, 0); });
}

CASE(timeout, recv_of_nothing)
{
	Pair pair = t.pair();
	char byte = 0;

	pair.c.set_timeout(SO_RCVTIMEO, short_ms);
	timed(t, "recv(c, 0)", [&] { return ::recv(pair.c.fd(), &byte, 0, 0); });
}

CASE(timeout, peek)
{
	Pair pair = t.pair();
	char byte = 0;

	pair.c.set_timeout(SO_RCVTIMEO, short_ms);
	timed(t, "recv(c, PEEK)", [&] { return ::recv(pair.c.fd(), &byte, 1, MSG_PEEK); });
}

CASE(timeout, waitall_part)
{
	Pair pair = t.pair();
	char data[8];

	pair.c.set_timeout(SO_RCVTIMEO, short_ms);
	pair.s.send("1234");
	timed(t, "recv(c, 8, WAITALL)", [&] { return ::recv(pair.c.fd(), data, 8, MSG_WAITALL); });
}

CASE(timeout, lowat_part)
{
	Pair pair = t.pair();
	char data[8];

	pair.c.set_timeout(SO_RCVTIMEO, short_ms);
	pair.c.set_int(SOL_SOCKET, SO_RCVLOWAT, 8);
	pair.s.send("1234");
	timed(t, "recv(c, 8)", [&] { return ::recv(pair.c.fd(), data, 8, 0); });
}

CASE(timeout, send)
{
	Pair pair = t.narrow_pair();

	pair.c.fill();
	pair.c.set_timeout(SO_SNDTIMEO, short_ms);
	timed(t, "send(c)", [&] { return ::send(pair.c.fd(), "x", 1, MSG_NOSIGNAL); });
	timed(t, "write(c)", [&] { return ::write(pair.c.fd(), "x", 1); });
}

CASE(timeout, send_part)
{
	Pair pair = t.pair();
	const std::string data = pattern(64 << 20);

	pair.c.set_timeout(SO_SNDTIMEO, short_ms);
	timed(t, "send(c, 64 MiB) is partial", [&] {
		const long sent = ::send(pair.c.fd(), data.data(), data.size(), MSG_NOSIGNAL);
		return static_cast<long>(sent > 0 && sent < static_cast<long>(data.size()));
	});
}

CASE(timeout, accept)
{
	const Sock l = t.listener();

	timeval value = {.tv_sec = 0, .tv_usec = short_ms * 1000L};
	::setsockopt(l.fd(), SOL_SOCKET, SO_RCVTIMEO, &value, sizeof(value));
	timed(t, "accept(l)", [&] { return ::accept(l.fd(), nullptr, nullptr); });
}

CASE(timeout, connect)
{
	Sock filler;
	const Sock l = t.full_listener(filler);
	Sock u = t.socket();
	const Addr to = l.local();

	u.set_timeout(SO_SNDTIMEO, short_ms);
	timed(t, "connect(u)", [&] { return ::connect(u.fd(), to.get(), to.length); });
	timed(t, "connect(u)", [&] { return ::connect(u.fd(), to.get(), to.length); });
	u.look();
}

CASE(timeout, connect_then_completes)
{
	Sock filler;
	const Sock l = t.full_listener(filler);
	Sock u = t.socket();

	u.set_timeout(SO_SNDTIMEO, short_ms);
	u.connect(l.local());
	const Sock first = t.take(l, "first");
	u.await(POLLOUT);
	u.connect(l.local());
	u.connect(l.local());
}

CASE(timeout, send_while_connecting)
{
	Sock filler;
	const Sock l = t.full_listener(filler);
	Sock u = t.socket("u", SOCK_NONBLOCK);

	u.connect(l.local());
	u.set_nonblock(false);
	u.set_timeout(SO_SNDTIMEO, short_ms);
	timed(t, "send(u)", [&] { return ::send(u.fd(), "x", 1, MSG_NOSIGNAL); });
}

CASE(timeout, recv_while_connecting)
{
	Sock filler;
	const Sock l = t.full_listener(filler);
	Sock u = t.socket("u", SOCK_NONBLOCK);
	char byte = 0;

	u.connect(l.local());
	u.set_nonblock(false);
	u.set_timeout(SO_RCVTIMEO, short_ms);
	timed(t, "recv(u)", [&] { return ::recv(u.fd(), &byte, 1, 0); });
}

CASE(timeout, data_in_time)
{
	Pair pair = t.pair();
	char byte = 0;

	pair.c.set_timeout(SO_RCVTIMEO, 60000);
	Blocked reader(t, "recv(c, 1)", [&] { return ::recv(pair.c.fd(), &byte, 1, 0); });
	pair.s.send("x");
	reader.join();
}

CASE(timeout, inherited_by_accept)
{
	Sock l = t.listener();

	l.set_timeout(SO_RCVTIMEO, short_ms);
	const Sock c = t.connect_to(l);
	const Sock s = t.take(l);
	timeval value{};
	socklen_t length = sizeof(value);
	::getsockopt(s.fd(), SOL_SOCKET, SO_RCVTIMEO, &value, &length);
	t.note("{} s {} us", value.tv_sec, value.tv_usec);
}

CASE(timeout, values)
{
	const Sock u = t.socket();

	set_timeval(t, u, SO_RCVTIMEO, {.tv_sec = 1, .tv_usec = 500000}, sizeof(timeval));
	set_timeval(t, u, SO_RCVTIMEO, {.tv_sec = 0, .tv_usec = 0}, sizeof(timeval));
	set_timeval(t, u, SO_RCVTIMEO, {.tv_sec = 0, .tv_usec = 1}, sizeof(timeval));
	set_timeval(t, u, SO_RCVTIMEO, {.tv_sec = -1, .tv_usec = 0}, sizeof(timeval));
	set_timeval(t, u, SO_RCVTIMEO, {.tv_sec = 0, .tv_usec = 1000000}, sizeof(timeval));
	set_timeval(t, u, SO_RCVTIMEO, {.tv_sec = 0, .tv_usec = -1}, sizeof(timeval));
	set_timeval(t, u, SO_SNDTIMEO, {.tv_sec = 1, .tv_usec = 0}, 8);
	set_timeval(t, u, SO_SNDTIMEO, {.tv_sec = 3, .tv_usec = 0}, 64);
}

CASE(timeout, nonblock_wins)
{
	Pair pair = t.pair();
	const long start = now_ms();

	pair.c.set_timeout(SO_RCVTIMEO, 30000);
	pair.c.set_nonblock();
	pair.c.recv(1);
	t.note("at once: {}", now_ms() - start < 20000);
}

} // namespace conformance
