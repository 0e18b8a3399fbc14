// SPDX-License-Identifier: GPL-2.0
/*
 * Signals: interrupted calls, SA_RESTART, SIGPIPE, SIGIO.
 */
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "run.h"

namespace conformance
{

namespace
{

/** Calls that can be interrupted, on a connection or a listener. */
struct Interruptible {
	const char *name;
	int timeout_option; ///< 0: none
	long (*call)(const Sock &c, const Sock &l);
	void (*finish)(Run &t, Pair &pair, Sock &l, Sock &another);
};

char sink[1 << 20];

long call_recv(const Sock &c, const Sock &)
{
	return ::recv(c.fd(), sink, 16, 0);
}

long call_read(const Sock &c, const Sock &)
{
	return ::read(c.fd(), sink, 16);
}

long call_recv_waitall(const Sock &c, const Sock &)
{
	return ::recv(c.fd(), sink, 4, MSG_WAITALL);
}

long call_peek(const Sock &c, const Sock &)
{
	return ::recv(c.fd(), sink, 16, MSG_PEEK);
}

long call_accept(const Sock &, const Sock &l)
{
	const int fd = ::accept(l.fd(), nullptr, nullptr);

	return fd < 0 ? -1 : 0;
}

long call_poll(const Sock &c, const Sock &)
{
	pollfd p = {.fd = c.fd(), .events = POLLIN, .revents = 0};

	return ::poll(&p, 1, 30000);
}

void finish_data(Run &, Pair &pair, Sock &, Sock &)
{
	pair.s.send("data");
}

void finish_connection(Run &t, Pair &, Sock &l, Sock &another)
{
	another = t.connect_to(l, "another");
}

constexpr Interruptible calls[] = {
	{"recv", SO_RCVTIMEO, call_recv, finish_data},
	{"read", SO_RCVTIMEO, call_read, finish_data},
	{"recv_waitall", SO_RCVTIMEO, call_recv_waitall, finish_data},
	{"peek", SO_RCVTIMEO, call_peek, finish_data},
	{"accept", SO_RCVTIMEO, call_accept, finish_connection},
	{"poll", 0, call_poll, finish_data},
};

void interrupted(Run &t, const Interruptible &what, int flags, bool timeout)
{
	Pair pair = t.pair();
	Sock l = t.listener();
	Sock another;

	count_signal(SIGUSR1, flags);
	if (timeout) {
		pair.c.set_timeout(what.timeout_option, 60000);
		l.set_timeout(what.timeout_option, 60000);
	}
	Blocked call(t, what.name, [&] { return what.call(pair.c, l); });
	call.signal(SIGUSR1);
	call.look();
	if (!call.done())
		what.finish(t, pair, l, another);
	call.join();
}

const Register all{[] {
	for (const Interruptible &what : calls) {
		const std::string name = std::string("signal.") + what.name;

		suite().push_back({name + "_interrupted",
				   [&what](Run &t) { interrupted(t, what, 0, false); }, false});
		suite().push_back({name + "_restarted",
				   [&what](Run &t) { interrupted(t, what, SA_RESTART, false); },
				   false});
		if (!what.timeout_option)
			continue;
		suite().push_back({name + "_timeout_not_restarted",
				   [&what](Run &t) { interrupted(t, what, SA_RESTART, true); },
				   false});
	}
}};

void interrupted_connect(Run &t, int flags)
{
	Sock filler;
	const Sock l = t.full_listener(filler);
	Sock u = t.socket();
	const Addr to = l.local();

	count_signal(SIGUSR1, flags);
	Blocked call(t, "connect(u)", [&] { return ::connect(u.fd(), to.get(), to.length); });
	call.signal(SIGUSR1);
	call.look();
	if (call.done()) {
		call.join();
		u.set_nonblock();
		u.connect(to);
	}
	const Sock first = t.take(l, "first");
	if (!call.done() || !(u.poll(POLLOUT) & POLLOUT))
		u.await(POLLOUT);
	if (flags)
		call.join();
	u.error();
	u.send("x");
}

void interrupted_send(Run &t, int flags)
{
	Pair pair = t.narrow_pair();

	count_signal(SIGUSR1, flags);
	const std::size_t total = pair.c.fill();
	Blocked call(t, "send(c)", [&] { return ::send(pair.c.fd(), "abcd", 4, 0); });
	call.signal(SIGUSR1);
	call.look();
	std::string data(total, 0);
	std::size_t got = 0;
	while (got < total)
		got += ::recv(pair.s.fd(), data.data(), total - got, 0);
	call.join();
}

} // namespace

CASE(signal, connect_interrupted)
{
	interrupted_connect(t, 0);
}

CASE(signal, connect_restarted)
{
	interrupted_connect(t, SA_RESTART);
}

CASE(signal, send_interrupted)
{
	interrupted_send(t, 0);
}

CASE(signal, send_restarted)
{
	interrupted_send(t, SA_RESTART);
}

CASE(signal, waitall_keeps_part)
{
	Pair pair = t.pair();
	char data[8];

	count_signal(SIGUSR1, SA_RESTART);
	Blocked call(t, "recv(c, 8, WAITALL)",
		     [&] { return ::recv(pair.c.fd(), data, 8, MSG_WAITALL); });
	pair.s.send("1234");
	/* Taken, but the read goes on. */
	pair.s.await_sent();
	pair.c.await_none(POLLIN);
	call.signal(SIGUSR1);
	call.join();
}

CASE(signal, large_send_keeps_part)
{
	Pair pair = t.pair();
	static std::string data(64 << 20, 'x');

	count_signal(SIGUSR1, SA_RESTART);
	Blocked call(t, "send(c, 64 MiB)",
		     [&] { return ::send(pair.c.fd(), data.data(), data.size(), 0); });
	call.signal(SIGUSR1);
	call.join([](long result) {
		const bool part = result > 0 && result < static_cast<long>(data.size());
		return std::string(part ? "a part" : "none or all");
	});
}

CASE(signal, sigpipe_by_write)
{
	Pair pair = t.pair();

	pair.c.shutdown(SHUT_WR);
	t.call("write(c)", [&] { return ::write(pair.c.fd(), "x", 1); });
	t.call("write(c, 0 bytes)", [&] { return ::write(pair.c.fd(), "", 0); });
}

CASE(signal, sigpipe_not_for_error)
{
	Pair pair = t.pair();

	pair.s.reset();
	pair.c.await(POLLHUP);
	pair.c.send("x", 0);
	pair.c.send("x", 0);
}

CASE(signal, sigpipe_kills)
{
	Pair pair = t.pair();

	pair.c.shutdown(SHUT_WR);
	std::signal(SIGPIPE, SIG_DFL);
	const pid_t pid = fork();
	if (pid == 0) {
		::send(pair.c.fd(), "x", 1, 0);
		_exit(0);
	}
	t.note("{}", show_exit(pid));
}

CASE(signal, sigio_for_data)
{
	Pair pair = t.pair();

	count_signal(SIGIO, SA_RESTART);
	t.call("F_SETOWN", [&] { return fcntl(pair.c.fd(), F_SETOWN, getpid()); });
	t.call("O_ASYNC", [&] { return fcntl(pair.c.fd(), F_SETFL, O_ASYNC); });
	pair.s.send("x");
	t.until("SIGIO comes", [] { return signals_seen(SIGIO) > 0; });
	pair.c.recv(1);
}

CASE(signal, sigio_for_end)
{
	Pair pair = t.pair();

	count_signal(SIGIO, SA_RESTART);
	fcntl(pair.c.fd(), F_SETOWN, getpid());
	fcntl(pair.c.fd(), F_SETFL, O_ASYNC);
	pair.s.shutdown(SHUT_WR);
	t.until("SIGIO comes", [] { return signals_seen(SIGIO) > 0; });
	pair.c.await(POLLIN);
	pair.c.recv(1);
}

CASE(signal, sigio_for_reset)
{
	Pair pair = t.pair();

	count_signal(SIGIO, SA_RESTART);
	fcntl(pair.c.fd(), F_SETOWN, getpid());
	fcntl(pair.c.fd(), F_SETFL, O_ASYNC);
	pair.s.reset();
	t.until("SIGIO comes", [] { return signals_seen(SIGIO) > 0; });
	pair.c.await(POLLHUP);
	pair.c.look();
}

CASE(signal, sigio_for_connection)
{
	Sock l = t.listener();

	count_signal(SIGIO, SA_RESTART);
	fcntl(l.fd(), F_SETOWN, getpid());
	fcntl(l.fd(), F_SETFL, O_ASYNC);
	const Sock c = t.connect_to(l);
	t.until("SIGIO comes", [] { return signals_seen(SIGIO) > 0; });
	l.await(POLLIN);
}

CASE(signal, sigio_for_room)
{
	Pair pair = t.narrow_pair();

	count_signal(SIGIO, SA_RESTART);
	fcntl(pair.c.fd(), F_SETOWN, getpid());
	const std::size_t total = pair.c.fill();
	fcntl(pair.c.fd(), F_SETFL, O_ASYNC | O_NONBLOCK);
	pair.c.send("x");
	std::string data(total, 0);
	std::size_t got = 0;
	while (got < total)
		got += ::recv(pair.s.fd(), data.data(), total - got, 0);
	t.until("SIGIO comes", [] { return signals_seen(SIGIO) > 0; });
	pair.c.await(POLLOUT);
}

CASE(signal, setsig_tells_descriptor)
{
	static int band;
	static int descriptor;
	Pair pair = t.pair();
	struct sigaction action = {};

	action.sa_sigaction = [](int, siginfo_t *info, void *) {
		band = static_cast<int>(info->si_band);
		descriptor = info->si_fd;
	};
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGRTMIN, &action, nullptr);
	fcntl(pair.c.fd(), F_SETSIG, SIGRTMIN);
	fcntl(pair.c.fd(), F_SETOWN, getpid());
	fcntl(pair.c.fd(), F_SETFL, O_ASYNC);
	pair.s.send("x");
	t.until("the signal comes", [] { return descriptor != 0; });
	t.note("band {}, right descriptor {}", show_poll(static_cast<unsigned>(band)),
	       descriptor == pair.c.fd());
}

CASE(signal, owner_by_ioctl)
{
	Pair pair = t.pair();
	int owner = getpid();
	int read = 0;

	count_signal(SIGIO, SA_RESTART);

	t.call("FIOSETOWN", [&] { return ::ioctl(pair.c.fd(), FIOSETOWN, &owner); });
	t.call("SIOCGPGRP", [&] { return ::ioctl(pair.c.fd(), SIOCGPGRP, &read); });
	t.note("the same: {}", owner == read);
	t.call("FIOASYNC", [&] { return ::ioctl(pair.c.fd(), FIOASYNC, &owner); });
	t.note("O_ASYNC {}", (fcntl(pair.c.fd(), F_GETFL) & O_ASYNC) != 0);
}

CASE(signal, ppoll_mask)
{
	Pair pair = t.pair();
	pollfd p = {.fd = pair.c.fd(), .events = POLLIN, .revents = 0};
	sigset_t blocked;
	sigset_t none;

	count_signal(SIGUSR1);
	sigemptyset(&none);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
	raise(SIGUSR1);
	t.call("ppoll(c)", [&] { return ::ppoll(&p, 1, nullptr, &none); });
	pair.s.send("x");
	pair.c.await(POLLIN);
	t.call("ppoll(c)", [&] { return ::ppoll(&p, 1, nullptr, &none); });
}

CASE(signal, pending_signal_nothing_to_wait_for)
{
	Pair pair = t.pair();
	sigset_t blocked;

	count_signal(SIGUSR1);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	pair.s.send("data");
	pair.c.await_bytes(4);
	raise(SIGUSR1);
	pair.c.recv(10);
	pair.c.send("x");
}

} // namespace conformance
