// SPDX-License-Identifier: GPL-2.0
/*
 * io_uring: connections, chains of requests, and the other calls on sockets.
 */
#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "ring.h"

namespace conformance
{

CASE(uring, accept)
{
	Sock l = t.listener();
	Ring ring(t);
	io_uring_sqe *sqe = ring.next();

	io_uring_prep_accept(sqe, l.fd(), nullptr, nullptr, 0);
	ring.submit(sqe, 1);
	Sock c = t.connect_to(l);
	Sock s(t, "s", ring.wait("accept", show_fd));
	c.send("x");
	s.recv(1);
}

CASE(uring, accept_name)
{
	Sock l = t.listener();
	Ring ring(t);
	Addr from;
	const Sock c = t.connect_to(l);

	from.length = sizeof(from.storage);
	io_uring_sqe *sqe = ring.next();
	io_uring_prep_accept(sqe, l.fd(), from.get(), &from.length, SOCK_NONBLOCK);
	ring.submit(sqe, 1);
	Sock s(t, "s", ring.wait("accept", show_fd));
	t.note("{}", t.show(from));
	s.recv(1);
}

CASE(uring, accept_multishot)
{
	Sock l = t.listener();
	Ring ring(t);
	io_uring_sqe *sqe = ring.next();

	io_uring_prep_multishot_accept(sqe, l.fd(), nullptr, nullptr, 0);
	ring.submit(sqe, 1);
	const Sock one = t.connect_to(l, "one");
	const Sock first(t, "first", ring.wait("accept", show_fd));
	const Sock two = t.connect_to(l, "two");
	const Sock second(t, "second", ring.wait("accept", show_fd));
}

CASE(uring, accept_shutdown)
{
	Sock l = t.listener();
	Ring ring(t);
	io_uring_sqe *sqe = ring.next();

	io_uring_prep_accept(sqe, l.fd(), nullptr, nullptr, 0);
	ring.submit(sqe, 1);
	l.shutdown(SHUT_RDWR);
	ring.wait("accept", show_fd);
}

CASE(uring, connect)
{
	Sock l = t.listener();
	Sock u = t.socket();
	Ring ring(t);
	const Addr to = l.local();
	io_uring_sqe *sqe = ring.next();

	io_uring_prep_connect(sqe, u.fd(), to.get(), to.length);
	ring.submit(sqe, 1);
	ring.wait("connect");
	u.getpeername();
}

CASE(uring, connect_refused)
{
	Sock u = t.socket();
	Ring ring(t);
	const Addr to = t.dead();
	io_uring_sqe *sqe = ring.next();

	io_uring_prep_connect(sqe, u.fd(), to.get(), to.length);
	ring.submit(sqe, 1);
	ring.wait("connect");
	u.look();
}

CASE(uring, connect_nonblock_socket)
{
	Sock filler;
	const Sock l = t.full_listener(filler);
	Sock u = t.socket("u", SOCK_NONBLOCK);
	Ring ring(t);
	const Addr to = l.local();
	io_uring_sqe *sqe = ring.next();

	io_uring_prep_connect(sqe, u.fd(), to.get(), to.length);
	ring.submit(sqe, 1);
	/* Some kernels wait for the answer all the same. */
	const Sock first = t.take(l, "first");
	ring.wait("connect");
	u.await(POLLOUT);
	u.error();
}

CASE(uring, shutdown)
{
	Pair pair = t.pair();
	Ring ring(t);
	io_uring_sqe *sqe = ring.next();

	io_uring_prep_shutdown(sqe, pair.c.fd(), SHUT_WR);
	ring.submit(sqe, 1);
	ring.wait("shutdown");
	pair.s.await(POLLRDHUP);
	pair.s.recv(1);
}

CASE(uring, close)
{
	Pair pair = t.pair();
	Ring ring(t);
	io_uring_sqe *sqe = ring.next();

	io_uring_prep_close(sqe, pair.c.release());
	ring.submit(sqe, 1);
	ring.wait("close");
	pair.s.await(POLLRDHUP);
	pair.s.recv(1);
}

CASE(uring, socket)
{
	Ring ring(t);
	io_uring_sqe *sqe = ring.next();

	io_uring_prep_rw(IORING_OP_SOCKET, sqe, t.family(), nullptr, t.protocol(), SOCK_STREAM);
	ring.submit(sqe, 1);
	Sock u(t, "u", ring.wait("socket", show_fd));
	u.get(OPTION(SOL_SOCKET, SO_TYPE));
}

CASE(uring, sendmsg_and_recvmsg)
{
	Pair pair = t.pair();
	Ring ring(t);
	char out[] = "message";
	char in[16];
	iovec iov = {.iov_base = out, .iov_len = 7};
	msghdr header{};

	header.msg_iov = &iov;
	header.msg_iovlen = 1;
	io_uring_sqe *sqe = ring.next();
	io_uring_prep_sendmsg(sqe, pair.c.fd(), &header, MSG_NOSIGNAL);
	ring.submit(sqe, 1);
	ring.wait("sendmsg");
	iov = {.iov_base = in, .iov_len = 16};
	sqe = ring.next();
	io_uring_prep_recvmsg(sqe, pair.s.fd(), &header, MSG_PEEK);
	ring.submit(sqe, 2);
	ring.wait("recvmsg");
	t.note("flags {:#x}", header.msg_flags);
}

CASE(uring, read_and_write)
{
	Pair pair = t.pair();
	Ring ring(t);
	char data[8];
	io_uring_sqe *sqe = ring.next();

	io_uring_prep_write(sqe, pair.c.fd(), "written", 7, 0);
	ring.submit(sqe, 1);
	ring.wait("write");
	sqe = ring.next();
	io_uring_prep_read(sqe, pair.s.fd(), data, 8, 0);
	ring.submit(sqe, 2);
	ring.wait("read");
}

CASE(uring, splice)
{
	Pair pair = t.pair();
	Ring ring(t);
	int fds[2];
	char data[8];

	t.require(pipe(fds) == 0, "pipe()");
	pair.s.send("spliced");
	pair.c.await_bytes(7);
	io_uring_sqe *sqe = ring.next();
	io_uring_prep_splice(sqe, pair.c.fd(), -1, fds[1], -1, 100, 0);
	ring.submit(sqe, 1);
	ring.wait("splice");
	t.note("{}", ::read(fds[0], data, 8));
	::close(fds[0]);
	::close(fds[1]);
}

CASE(uring, linked_send_recv)
{
	Pair pair = t.pair();
	Ring ring(t);
	char data[8];
	io_uring_sqe *first = ring.next();

	io_uring_prep_send(first, pair.c.fd(), "linked", 6, MSG_NOSIGNAL);
	first->flags |= IOSQE_IO_LINK;
	first->user_data = 1;
	io_uring_sqe *second = ring.next();
	io_uring_prep_recv(second, pair.s.fd(), data, 8, 0);
	second->user_data = 2;
	t.require(io_uring_submit(ring.get()) == 2, "io_uring_submit()");
	ring.wait("send");
	ring.wait("recv");
}

CASE(uring, link_timeout)
{
	Pair pair = t.pair();
	Ring ring(t);
	char data[8];
	__kernel_timespec limit = {.tv_sec = 0, .tv_nsec = 50000000};
	io_uring_sqe *first = ring.next();

	io_uring_prep_recv(first, pair.c.fd(), data, 8, 0);
	first->flags |= IOSQE_IO_LINK;
	first->user_data = 1;
	io_uring_sqe *second = ring.next();
	io_uring_prep_link_timeout(second, &limit, 0);
	second->user_data = 2;
	t.require(io_uring_submit(ring.get()) == 2, "io_uring_submit()");
	const io_uring_cqe one = ring.take("recv");
	const io_uring_cqe two = ring.take("timeout");
	t.note("recv {}, timeout {}", strerrorname_np(-(one.user_data == 1 ? one : two).res),
	       strerrorname_np(-(one.user_data == 1 ? two : one).res));
}

CASE(uring, buffer_select)
{
	Pair pair = t.pair();
	Ring ring(t);
	char buffers[2][16];
	io_uring_sqe *sqe = ring.next();

	io_uring_prep_provide_buffers(sqe, buffers, 16, 2, 7, 0);
	ring.submit(sqe, 1);
	ring.wait("provide");
	pair.s.send("chosen");
	pair.c.await_bytes(6);
	sqe = ring.next();
	io_uring_prep_recv(sqe, pair.c.fd(), nullptr, 16, 0);
	sqe->flags |= IOSQE_BUFFER_SELECT;
	sqe->buf_group = 7;
	ring.submit(sqe, 2);
	ring.wait("recv");
}

CASE(uring, urgent_data)
{
	Pair pair = t.pair();
	Ring ring(t);
	char byte = 0;

	submit_send(ring, pair.s, "!", MSG_OOB | MSG_NOSIGNAL);
	ring.wait("send");
	pair.c.await(POLLPRI);
	submit_recv(ring, pair.c, &byte, 1, MSG_OOB);
	ring.wait("recv");
	t.note("{}", byte);
}

} // namespace conformance
