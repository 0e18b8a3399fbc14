// SPDX-License-Identifier: GPL-2.0
/*
 * close() while another thread is inside a call on the same descriptor: the
 * call holds the file and goes on.
 */
#include <cerrno>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "run.h"

namespace conformance
{

CASE(close, while_reading)
{
	Pair pair = t.pair();
	const int fd = pair.c.fd();
	char byte = 0;
	Blocked reader(t, "recv(c)", [&] { return ::recv(fd, &byte, 1, 0); });

	pair.c.close();
	reader.look();
	pair.s.send("x");
	reader.join();
	pair.s.await(POLLRDHUP);
	pair.s.look();
}

CASE(close, while_reading_then_end)
{
	Pair pair = t.pair();
	const int fd = pair.c.fd();
	char byte = 0;
	Blocked reader(t, "recv(c)", [&] { return ::recv(fd, &byte, 1, 0); });

	pair.c.close();
	pair.s.shutdown(SHUT_WR);
	reader.join();
	pair.s.await(POLLHUP);
	pair.s.look();
}

CASE(close, while_writing)
{
	Pair pair = t.narrow_pair();
	const std::size_t total = pair.c.fill();
	const int fd = pair.c.fd();
	Blocked writer(t, "send(c)", [&] { return ::send(fd, "last", 4, MSG_NOSIGNAL); });

	pair.c.close();
	writer.look();
	std::string data(total, 0);
	std::size_t got = 0;
	while (got < total)
		got += ::recv(pair.s.fd(), data.data(), total - got, 0);
	writer.join();
	pair.s.recv_all(10);
}

CASE(close, while_accepting)
{
	Sock l = t.listener();
	const Addr to = l.local();
	const int fd = l.fd();
	Blocked acceptor(t, "accept(l)", [&] {
		const int got = ::accept(fd, nullptr, nullptr);
		return got < 0 ? -1L : 0L;
	});

	l.close();
	acceptor.look();
	Sock c = t.socket("c");
	c.connect(to);
	acceptor.join();
	Sock d = t.socket("d");
	d.connect(to);
}

CASE(close, while_connecting)
{
	Sock filler;
	const Sock l = t.full_listener(filler);
	Sock u = t.socket();
	const Addr to = l.local();
	const int fd = u.fd();
	Blocked connector(t, "connect(u)", [&] { return ::connect(fd, to.get(), to.length); });

	u.close();
	connector.look();
	const Sock first = t.take(l, "first");
	connector.join();
}

CASE(close, while_polling)
{
	Pair pair = t.pair();
	const int fd = pair.c.fd();
	pollfd p = {.fd = fd, .events = POLLIN, .revents = 0};
	Blocked sleeper(t, "poll(c)", [&] { return ::poll(&p, 1, t.deadline_ms()); });

	pair.c.close();
	sleeper.look();
	pair.s.send("x");
	sleeper.join();
}

CASE(close, while_in_epoll)
{
	Pair pair = t.pair();
	const int set = epoll_create1(0);
	epoll_event event = {.events = EPOLLIN, .data = {}};

	epoll_ctl(set, EPOLL_CTL_ADD, pair.c.fd(), &event);
	Blocked sleeper(t, "epoll_wait", [&] { return epoll_wait(set, &event, 1, 300); });
	pair.c.close();
	sleeper.join();
	pair.s.await(POLLRDHUP);
	::close(set);
}

CASE(close, while_splicing)
{
	Pair pair = t.pair();
	const int fd = pair.c.fd();
	int fds[2];

	t.require(pipe(fds) == 0, "pipe()");
	Blocked splicer(t, "splice(c)",
			[&] { return ::splice(fd, nullptr, fds[1], nullptr, 10, 0); });
	pair.c.close();
	splicer.look();
	pair.s.send("x");
	splicer.join();
	pair.s.await(POLLRDHUP);
	::close(fds[0]);
	::close(fds[1]);
}

CASE(close, while_sending_file)
{
	Pair pair = t.narrow_pair();
	const std::size_t total = pair.c.fill();
	const int fd = pair.c.fd();
	const int file = memfd_create("content", 0);

	t.require(::write(file, "a file", 6) == 6 && lseek(file, 0, SEEK_SET) == 0, "write()");
	Blocked sender(t, "sendfile(c)", [&] { return ::sendfile(fd, file, nullptr, 6); });

	pair.c.close();
	sender.look();
	std::string data(total, 0);
	std::size_t got = 0;
	while (got < total)
		got += ::recv(pair.s.fd(), data.data(), total - got, 0);
	sender.join();
	pair.s.recv_all(10);
	::close(file);
}

CASE(close, while_lingering)
{
	Pair pair = t.narrow_pair();
	const int fd = pair.c.fd();

	/* Waits until the peer has taken all. */
	pair.c.fill();
	pair.c.set_linger(20);
	pair.c.release();
	Blocked closer(t, "close(c)", [&] { return ::close(fd); });
	closer.look();
	std::string data(1 << 16, 0);
	while (::recv(pair.s.fd(), data.data(), data.size(), 0) > 0)
		continue;
	closer.join();
}

CASE(close, other_direction_goes_on)
{
	Pair pair = t.pair();
	Sock copy(t, "copy", dup(pair.c.fd()));
	char byte = 0;
	const int fd = pair.c.fd();
	Blocked reader(t, "recv(c)", [&] { return ::recv(fd, &byte, 1, 0); });

	pair.c.close();
	copy.send("by the copy");
	pair.s.recv_all(11);
	pair.s.send("x");
	reader.join();
	copy.poll();
}

CASE(close, descriptor_reused)
{
	Pair pair = t.pair();
	const int fd = pair.c.fd();
	char byte = 0;
	Blocked reader(t, "recv(c)", [&] { return ::recv(fd, &byte, 1, 0); });

	pair.c.close();
	Sock u = t.socket();
	t.note("the same number: {}", u.fd() == fd);
	u.poll();
	pair.s.send("x");
	reader.join();
	u.poll();
}

CASE(close, peer_closes_while_reading)
{
	Pair pair = t.pair();
	char data[100];
	Blocked reader(t, "recv(c, WAITALL)",
		       [&] { return ::recv(pair.c.fd(), data, 100, MSG_WAITALL); });

	pair.s.send("some");
	pair.s.close();
	reader.join();
	pair.c.look();
}

CASE(close, listener_with_connections)
{
	Sock l = t.listener();
	Sock one = t.connect_to(l, "one");
	Sock two = t.connect_to(l, "two");

	one.send("never read");
	l.await(POLLIN);
	l.close();
	one.await(POLLHUP);
	two.await(POLLHUP);
	one.look();
	two.look();
	one.recv(1);
	two.send("x");
}

CASE(close, listener_leaves_accepted)
{
	Sock l = t.listener();
	Sock c = t.connect_to(l);
	Sock s = t.take(l);

	l.close();
	c.send("goes on");
	s.recv(100);
	s.close();
	c.await(POLLRDHUP);
	c.recv(1);
}

CASE(close, twice)
{
	Sock u = t.socket();
	const int fd = u.fd();

	u.close();
	t.call("close(closed)", [&] { return ::close(fd); });
	t.call("recv(closed)", [&] { return ::recv(fd, nullptr, 0, 0); });
}

CASE(close, not_a_socket)
{
	const int fd = open("/dev/null", O_RDWR);
	char byte = 0;

	t.call("recv(file)", [&] { return ::recv(fd, &byte, 1, 0); });
	t.call("listen(file)", [&] { return ::listen(fd, 1); });
	::close(fd);
}

CASE(close, unread_data_makes_reset)
{
	Pair pair = t.pair();

	pair.s.send("1234");
	pair.c.await_bytes(4);
	pair.c.recv(2);
	pair.c.close();
	pair.s.await(POLLHUP);
	pair.s.look();
}

CASE(close, all_read_no_reset)
{
	Pair pair = t.pair();

	pair.s.send("1234");
	pair.c.await_bytes(4);
	pair.c.recv(4);
	pair.c.close();
	pair.s.await(POLLRDHUP);
	pair.s.look();
}

CASE(close, peeked_data_makes_reset)
{
	Pair pair = t.pair();

	pair.s.send("1234");
	pair.c.await_bytes(4);
	pair.c.recv(4, MSG_PEEK);
	pair.c.close();
	pair.s.await(POLLHUP);
	pair.s.look();
}

CASE(close, sent_data_arrives_before_reset)
{
	Pair pair = t.pair();

	pair.s.send("unread");
	pair.c.await_bytes(6);
	pair.c.send("sent before");
	pair.s.await_bytes(11);
	pair.c.close();
	pair.s.await(POLLHUP);
	pair.s.recv(100);
	pair.s.recv(100);
}

} // namespace conformance
