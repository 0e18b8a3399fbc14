// SPDX-License-Identifier: GPL-2.0
/*
 * Several threads on one socket. What each of them gets is a matter of chance;
 * what all of them get together is not.
 */
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <thread>

#include <unistd.h>

#include "run.h"

namespace conformance
{

namespace
{

using Threads = std::vector<std::unique_ptr<Blocked>>;

Threads start(Run &t, int count, const std::function<long(int)> &call)
{
	Threads threads;

	for (int i = 0; i < count; i++) {
		threads.push_back(std::make_unique<Blocked>(t, fmt::format("thread {}", i),
							    [i, call] { return call(i); }));
	}
	return threads;
}

/* The results in order, so that chance does not show. */
void join_sorted(Run &t, Threads &threads)
{
	std::vector<std::string> results;

	for (auto &thread : threads) {
		thread->wait();
		results.push_back(thread->shown());
	}
	std::sort(results.begin(), results.end());
	for (const std::string &result : results)
		t.note("a thread: {}", result);
}

} // namespace

CASE(threads, readers_share_data)
{
	Pair pair = t.pair();
	auto threads = start(t, 4, [&](int) {
		char byte = 0;
		return ::recv(pair.c.fd(), &byte, 1, 0);
	});

	pair.s.send("abcd");
	join_sorted(t, threads);
	pair.c.recv(1, MSG_DONTWAIT);
}

CASE(threads, readers_and_end)
{
	Pair pair = t.pair();
	auto threads = start(t, 4, [&](int) {
		char byte = 0;
		return ::recv(pair.c.fd(), &byte, 1, 0);
	});

	pair.s.close();
	join_sorted(t, threads);
}

CASE(threads, readers_and_reset)
{
	Pair pair = t.pair();
	auto threads = start(t, 4, [&](int) {
		char byte = 0;
		return ::recv(pair.c.fd(), &byte, 1, 0);
	});

	pair.s.reset();
	join_sorted(t, threads);
}

CASE(threads, readers_and_shutdown)
{
	Pair pair = t.pair();
	auto threads = start(t, 4, [&](int) {
		char byte = 0;
		return ::recv(pair.c.fd(), &byte, 1, 0);
	});

	pair.c.shutdown(SHUT_RD);
	join_sorted(t, threads);
}

CASE(threads, writers_and_reset)
{
	Pair pair = t.narrow_pair();

	pair.c.fill();
	auto threads = start(t, 3, [&](int) { return ::send(pair.c.fd(), "x", 1, MSG_NOSIGNAL); });
	pair.s.reset();
	join_sorted(t, threads);
}

CASE(threads, writers_and_shutdown)
{
	Pair pair = t.narrow_pair();

	pair.c.fill();
	auto threads = start(t, 3, [&](int) { return ::send(pair.c.fd(), "x", 1, MSG_NOSIGNAL); });
	pair.c.shutdown(SHUT_WR);
	join_sorted(t, threads);
}

CASE(threads, acceptors_one_connection_each)
{
	Sock l = t.listener();
	auto threads = start(t, 3, [&](int) {
		const int fd = ::accept(l.fd(), nullptr, nullptr);
		return fd < 0 ? -1L : 0L;
	});
	const Sock one = t.connect_to(l, "one");
	const Sock two = t.connect_to(l, "two");
	const Sock three = t.connect_to(l, "three");

	join_sorted(t, threads);
}

CASE(threads, acceptors_and_shutdown)
{
	Sock l = t.listener();
	auto threads = start(t, 3, [&](int) { return ::accept(l.fd(), nullptr, nullptr); });

	l.shutdown(SHUT_RDWR);
	join_sorted(t, threads);
}

CASE(threads, connectors)
{
	const Sock l = t.listener();
	const Sock u = t.socket();
	const Addr to = l.local();
	auto threads = start(t, 3, [&](int) { return ::connect(u.fd(), to.get(), to.length); });
	int succeeded = 0;

	for (auto &thread : threads) {
		thread->wait();
		succeeded += thread->shown() == "0";
	}
	t.note("at least one: {}", succeeded >= 1);
}

CASE(threads, listeners)
{
	Sock b = t.bound();
	auto threads = start(t, 3, [&](int i) { return ::listen(b.fd(), i + 1); });

	join_sorted(t, threads);
	const Sock c = t.connect_to(b);
}

CASE(threads, binders)
{
	Sock u = t.socket();
	const Addr to = t.server();
	auto threads = start(t, 4, [&](int) { return ::bind(u.fd(), to.get(), to.length); });

	join_sorted(t, threads);
}

CASE(threads, writers_do_not_mix)
{
	Pair pair = t.pair();
	constexpr int size = 1000;
	constexpr int times = 40;
	auto threads = start(t, 3, [&](int i) {
		const std::string data(size, static_cast<char>('a' + i));
		long total = 0;
		for (int n = 0; n < times; n++)
			total += ::send(pair.c.fd(), data.data(), data.size(), 0);
		return total;
	});
	std::string got(std::size_t{3} * size * times, 0);
	std::size_t done = 0;
	int changes = 0;

	while (done < got.size())
		done += ::recv(pair.s.fd(), got.data() + done, got.size() - done, 0);
	join_sorted(t, threads);
	for (std::size_t i = 0; i < got.size(); i++)
		changes += i % size && got[i] != got[i - 1];
	t.note("{} bytes, mixed {}", done, changes);
	for (char c = 'a'; c < 'd'; c++)
		t.note("{} of {}", std::count(got.begin(), got.end(), c), c);
}

CASE(threads, both_directions)
{
	Pair pair = t.pair();
	const std::string data = pattern(300000);
	std::atomic<long> right = 0;
	auto threads = start(t, 4, [&](int i) {
		const Sock &sock = i < 2 ? pair.c : pair.s;
		if (i % 2)
			return ::send(sock.fd(), data.data(), data.size(), 0);
		std::string got(data.size(), 0);
		const long count = ::recv(sock.fd(), got.data(), got.size(), MSG_WAITALL);
		right += got == data;
		return count;
	});

	join_sorted(t, threads);
	t.note("right {}", right.load());
}

CASE(threads, reader_and_poller)
{
	Pair pair = t.pair();
	auto threads = start(t, 2, [&](int i) {
		char byte = 0;
		pollfd p = {.fd = pair.c.fd(), .events = POLLRDHUP, .revents = 0};
		if (i == 0)
			return ::recv(pair.c.fd(), &byte, 1, 0);
		return static_cast<ssize_t>(::poll(&p, 1, t.deadline_ms()));
	});

	pair.s.send("x");
	pair.s.shutdown(SHUT_WR);
	join_sorted(t, threads);
}

CASE(threads, options_while_reading)
{
	Pair pair = t.pair();
	char byte = 0;
	Blocked reader(t, "recv(c)", [&] { return ::recv(pair.c.fd(), &byte, 1, 0); });

	pair.c.set(OPTION(SOL_SOCKET, SO_RCVLOWAT), 1);
	pair.c.set(OPTION(SOL_SOCKET, SO_KEEPALIVE), 1);
	pair.c.getsockname();
	pair.c.getpeername();
	pair.c.poll();
	pair.c.send("from the other thread");
	pair.s.recv(100);
	reader.look();
	pair.s.send("x");
	reader.join();
}

CASE(threads, timeout_of_running_read)
{
	Pair pair = t.pair();
	char byte = 0;
	Blocked reader(t, "recv(c)", [&] { return ::recv(pair.c.fd(), &byte, 1, 0); });

	/* Counts for the next call only. */
	pair.c.set_timeout(SO_RCVTIMEO, 20);
	pair.c.recv(1);
	reader.look();
	pair.s.send("x");
	reader.join();
}

} // namespace conformance
