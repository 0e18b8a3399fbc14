// SPDX-License-Identifier: GPL-2.0
/*
 * Urgent data: out of band and in line, the mark, SIGURG.
 */
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "run.h"

namespace conformance
{

namespace
{

constexpr int urgent = MSG_OOB | MSG_NOSIGNAL;

void mark(Sock &sock)
{
	sock.ioctl(SIOCATMARK, "SIOCATMARK");
}

} // namespace

CASE(oob, send_and_receive)
{
	Pair pair = t.pair();

	pair.s.send("!", urgent);
	pair.c.await(POLLPRI);
	pair.c.poll();
	pair.c.recv(1, MSG_OOB);
	pair.c.poll();
	pair.c.recv(1, MSG_OOB);
	pair.c.recv(1, MSG_DONTWAIT);
}

CASE(oob, none_sent)
{
	Pair pair = t.pair();

	pair.c.recv(1, MSG_OOB);
	mark(pair.c);
	pair.s.send("normal");
	pair.c.await_bytes(6);
	pair.c.recv(1, MSG_OOB);
}

CASE(oob, among_data)
{
	Pair pair = t.pair();

	pair.s.send("before");
	pair.s.send("!", urgent);
	pair.s.send("after");
	pair.c.await(POLLPRI);
	pair.c.await_bytes(6);
	mark(pair.c);
	pair.c.recv(100);
	mark(pair.c);
	pair.c.recv(1, MSG_OOB);
	pair.c.await(POLLIN);
	pair.c.recv_all(5);
	mark(pair.c);
}

CASE(oob, last_byte_is_urgent)
{
	Pair pair = t.pair();

	pair.s.send("abc", urgent);
	pair.c.await(POLLPRI);
	pair.c.await_bytes(2);
	pair.c.recv(10, MSG_OOB);
	pair.c.recv(10);
	mark(pair.c);
}

CASE(oob, read_stops_at_mark)
{
	Pair pair = t.pair();

	pair.s.send("before!", urgent);
	pair.s.send("after");
	pair.c.await(POLLPRI);
	pair.c.await_bytes(6);
	pair.c.recv(100);
	mark(pair.c);
	pair.c.recv(100);
	mark(pair.c);
}

CASE(oob, peek_urgent)
{
	Pair pair = t.pair();

	pair.s.send("!", urgent);
	pair.c.await(POLLPRI);
	pair.c.recv(1, MSG_OOB | MSG_PEEK);
	pair.c.recv(1, MSG_OOB);
	pair.c.recv(1, MSG_OOB | MSG_PEEK);
}

CASE(oob, receive_nothing)
{
	Pair pair = t.pair();

	pair.s.send("!", urgent);
	pair.c.await(POLLPRI);
	pair.c.recv(0, MSG_OOB);
	pair.c.recv(1, MSG_OOB);
}

CASE(oob, second_replaces_first)
{
	Pair pair = t.pair();

	pair.s.send("1", urgent);
	pair.c.await(POLLPRI);
	pair.s.send("2", urgent);
	t.until("the second has come", [&] {
		char byte = 0;
		return ::recv(pair.c.fd(), &byte, 1, MSG_OOB | MSG_PEEK) == 1 && byte == '2';
	});
	pair.c.recv(1, MSG_OOB);
	pair.c.recv(10, MSG_DONTWAIT);
	pair.c.recv(10, MSG_DONTWAIT);
}

CASE(oob, inline_read)
{
	Pair pair = t.pair();

	pair.c.set(OPTION(SOL_SOCKET, SO_OOBINLINE), 1);
	pair.s.send("ab!", urgent);
	pair.s.send("cd");
	pair.c.await_bytes(5);
	pair.c.recv(1, MSG_OOB);
	mark(pair.c);
	pair.c.recv(100);
	mark(pair.c);
	pair.c.poll();
	pair.c.recv(100);
	mark(pair.c);
	pair.c.poll();
}

CASE(oob, inline_single)
{
	Pair pair = t.pair();

	pair.c.set(OPTION(SOL_SOCKET, SO_OOBINLINE), 1);
	pair.s.send("!", urgent);
	pair.c.await(POLLIN);
	pair.c.poll();
	mark(pair.c);
	pair.c.recv(1);
	mark(pair.c);
}

CASE(oob, inline_set_late)
{
	Pair pair = t.pair();

	pair.s.send("!", urgent);
	pair.c.await(POLLPRI);
	pair.c.set(OPTION(SOL_SOCKET, SO_OOBINLINE), 1);
	pair.c.recv(1, MSG_OOB);
	pair.c.recv(1, MSG_DONTWAIT);
}

CASE(oob, mask_with_data_behind)
{
	Pair pair = t.pair();

	pair.s.send("!", urgent);
	pair.s.send("x");
	pair.c.await(POLLPRI);
	pair.c.await(POLLIN);
	pair.c.poll();
	pair.c.recv(1, MSG_OOB);
	pair.c.poll();
	pair.c.recv(10);
	pair.c.poll();
}

CASE(oob, skipped_by_reading_on)
{
	Pair pair = t.pair();

	pair.s.send("a!", urgent);
	pair.s.send("b");
	pair.c.await_bytes(1);
	pair.c.await(POLLPRI);
	pair.c.recv(1);
	pair.c.recv(1);
	pair.c.recv(1, MSG_OOB);
	pair.c.poll();
}

CASE(oob, inq_counts_to_mark)
{
	Pair pair = t.pair();

	pair.s.send("123!", urgent);
	pair.s.send("45");
	pair.c.await(POLLPRI);
	t.until("all is there", [&] {
		char data[16];
		return ::recv(pair.c.fd(), data, 16, MSG_PEEK | MSG_DONTWAIT) == 3;
	});
	pair.c.ioctl(SIOCINQ, "SIOCINQ");
	pair.c.recv(3);
	pair.c.ioctl(SIOCINQ, "SIOCINQ");
}

CASE(oob, sigurg)
{
	Pair pair = t.pair();

	count_signal(SIGURG);
	t.call("F_SETOWN", [&] { return fcntl(pair.c.fd(), F_SETOWN, getpid()); });
	pair.s.send("!", urgent);
	t.until("SIGURG comes", [] { return signals_seen(SIGURG) > 0; });
	pair.c.await(POLLPRI);
	pair.c.recv(1, MSG_OOB);
}

CASE(oob, sigurg_inline)
{
	Pair pair = t.pair();

	count_signal(SIGURG);
	pair.c.set_int(SOL_SOCKET, SO_OOBINLINE, 1);
	fcntl(pair.c.fd(), F_SETOWN, getpid());
	pair.s.send("!", urgent);
	t.until("SIGURG comes", [] { return signals_seen(SIGURG) > 0; });
	pair.c.await(POLLIN);
	pair.c.recv(1);
}

CASE(oob, wakes_poll)
{
	Pair pair = t.pair();
	pollfd p = {.fd = pair.c.fd(), .events = POLLPRI, .revents = 0};
	Blocked sleeper(t, "poll(c, PRI)", [&] { return ::poll(&p, 1, t.deadline_ms()); });

	pair.s.send("x");
	pair.c.await(POLLIN);
	sleeper.look();
	pair.s.send("!", urgent);
	sleeper.join();
	t.note("{}", show_poll(static_cast<unsigned short>(p.revents)));
}

CASE(oob, passed_over_by_reader)
{
	Pair pair = t.pair();
	char data[8];
	Blocked reader(t, "recv(c)", [&] { return ::recv(pair.c.fd(), data, 8, 0); });

	pair.s.send("!", urgent);
	pair.s.send("x");
	reader.join();
	pair.c.recv(1, MSG_OOB);
}

CASE(oob, before_accept)
{
	Sock l = t.listener();
	Sock c = t.connect_to(l);

	c.send("!", urgent);
	Sock s = t.take(l);
	s.await(POLLPRI);
	s.recv(1, MSG_OOB);
}

CASE(oob, before_end)
{
	Pair pair = t.pair();

	pair.s.send("!", urgent);
	pair.s.shutdown(SHUT_WR);
	pair.c.await(POLLRDHUP);
	pair.c.poll();
	pair.c.recv(1, MSG_OOB);
	pair.c.recv(1);
	pair.c.recv(1, MSG_OOB);
	mark(pair.c);
}

CASE(oob, after_end)
{
	Pair pair = t.pair();

	pair.c.shutdown(SHUT_WR);
	pair.c.send("!", urgent);
	pair.c.send("!", MSG_OOB);
}

CASE(oob, on_reset)
{
	Pair pair = t.pair();

	pair.s.send("!", urgent);
	pair.c.await(POLLPRI);
	pair.s.reset();
	pair.c.await(POLLHUP);
	pair.c.recv(1, MSG_OOB);
	pair.c.look();
	pair.c.recv(1, MSG_OOB);
}

CASE(oob, close_with_urgent_unread)
{
	Pair pair = t.pair();

	pair.s.send("!", urgent);
	pair.c.await(POLLPRI);
	pair.c.close();
	pair.s.await(POLLRDHUP | POLLHUP);
	pair.s.await(POLLHUP);
	pair.s.look();
}

CASE(oob, peek_normal_around_mark)
{
	Pair pair = t.pair();

	pair.s.send("12!", urgent);
	pair.s.send("34");
	pair.c.await_bytes(2);
	pair.c.await(POLLPRI);
	pair.c.recv(10, MSG_PEEK);
	pair.c.recv(2);
	pair.c.recv(10, MSG_PEEK);
	pair.c.recv(10);
}

CASE(oob, waitall_stops_at_mark)
{
	Pair pair = t.pair();

	pair.s.send("12!", urgent);
	pair.s.send("345");
	pair.c.await(POLLPRI);
	pair.c.await_bytes(2);
	pair.c.recv(4, MSG_WAITALL);
	pair.c.recv(3, MSG_WAITALL);
}

CASE(oob, urgent_only_marks)
{
	Pair pair = t.pair();

	pair.s.send("!", urgent);
	pair.c.await(POLLPRI);
	mark(pair.c);
	pair.c.recv(1, MSG_DONTWAIT);
	mark(pair.c);
	pair.c.recv(1, MSG_OOB);
	mark(pair.c);
}

CASE(oob, epoll_edge)
{
	Pair pair = t.pair();
	const int set = epoll_create1(0);
	epoll_event event = {.events = EPOLLPRI | EPOLLET, .data = {}};

	epoll_ctl(set, EPOLL_CTL_ADD, pair.c.fd(), &event);
	pair.s.send("!", urgent);
	t.call("epoll_wait", [&] { return epoll_wait(set, &event, 1, t.deadline_ms()); });
	t.note("{}", show_poll(event.events));
	t.call("epoll_wait", [&] { return epoll_wait(set, &event, 1, 0); });
	pair.s.send("?", urgent);
	t.call("epoll_wait", [&] { return epoll_wait(set, &event, 1, t.deadline_ms()); });
	close(set);
}

} // namespace conformance
