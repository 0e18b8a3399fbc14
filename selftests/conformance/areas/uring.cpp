// SPDX-License-Identifier: GPL-2.0
/*
 * io_uring: the same calls, submitted and completed.
 */
#include <cerrno>

#include <fcntl.h>
#include <liburing.h>
#include <poll.h>
#include <unistd.h>

#include "run.h"

namespace conformance
{

namespace
{

/** A ring whose completions are written down, in the order of the requests. */
class Ring
{
public:
	explicit Ring(Run &t) : t_(t)
	{
		const int err = io_uring_queue_init(16, &ring_, 0);

		if (err)
			t_.fail(fmt::format("io_uring_queue_init(): {}", strerrorname_np(-err)));
	}
	Ring(const Ring &) = delete;
	Ring &operator=(const Ring &) = delete;
	~Ring()
	{
		io_uring_queue_exit(&ring_);
	}
	io_uring_sqe *next()
	{
		io_uring_sqe *sqe = io_uring_get_sqe(&ring_);

		t_.require(sqe != nullptr, "io_uring_get_sqe()");
		return sqe;
	}
	void submit(io_uring_sqe *sqe, std::uint64_t data)
	{
		sqe->user_data = data;
		t_.require(io_uring_submit(&ring_) == 1, "io_uring_submit()");
	}
	/** The next completion, written down. */
	int wait(const char *what)
	{
		return wait(what, [](int result) {
			return result < 0 ? std::string(strerrorname_np(-result))
					  : fmt::format("{}", result);
		});
	}
	int wait(const char *what, const std::function<std::string(int)> &show)
	{
		const io_uring_cqe cqe = take(what);

		t_.note("{}: request {} = {}", what, cqe.user_data, show(cqe.res));
		return cqe.res;
	}
	io_uring_cqe take(const char *what)
	{
		__kernel_timespec limit = {.tv_sec = t_.deadline_ms() / 1000, .tv_nsec = 0};
		io_uring_cqe *cqe = nullptr;
		int err = 0;

		t_.trace().enter(fmt::format("waiting for the completion of {}", what));
		do {
			err = io_uring_wait_cqe_timeout(&ring_, &cqe, &limit);
		} while (err == -EINTR);
		t_.trace().enter({});
		if (err)
			t_.fail(fmt::format("{} does not complete", what));
		const io_uring_cqe copy = *cqe;
		io_uring_cqe_seen(&ring_, cqe);
		return copy;
	}
	/** Whether a completion is there already. */
	bool ready()
	{
		io_uring_cqe *cqe = nullptr;

		return io_uring_peek_cqe(&ring_, &cqe) == 0;
	}
	io_uring *get()
	{
		return &ring_;
	}

private:
	Run &t_;
	io_uring ring_{};
};

std::string show_mask(int result)
{
	return result < 0 ? strerrorname_np(-result) : show_poll(static_cast<unsigned>(result));
}

std::string show_fd(int result)
{
	return result < 0 ? strerrorname_np(-result) : "a descriptor";
}

void recv(Ring &ring, const Sock &sock, char *data, std::size_t length, int flags = 0)
{
	io_uring_sqe *sqe = ring.next();

	io_uring_prep_recv(sqe, sock.fd(), data, length, flags);
	ring.submit(sqe, 1);
}

void send(Ring &ring, const Sock &sock, std::string_view data, int flags = MSG_NOSIGNAL)
{
	io_uring_sqe *sqe = ring.next();

	io_uring_prep_send(sqe, sock.fd(), data.data(), data.size(), flags);
	ring.submit(sqe, 2);
}

void poll_add(Ring &ring, const Sock &sock, unsigned mask, std::uint64_t data = 3)
{
	io_uring_sqe *sqe = ring.next();

	io_uring_prep_poll_add(sqe, sock.fd(), mask);
	ring.submit(sqe, data);
}

} // namespace

CASE(uring, send_and_recv)
{
	Pair pair = t.pair();
	Ring ring(t);
	char data[16];

	send(ring, pair.s, "by ring");
	ring.wait("send");
	pair.c.await_bytes(7);
	recv(ring, pair.c, data, 16);
	const int got = ring.wait("recv");
	t.note("{}", show_bytes({data, static_cast<std::size_t>(std::max(got, 0))}));
}

CASE(uring, recv_waits)
{
	Pair pair = t.pair();
	Ring ring(t);
	char data[16];

	recv(ring, pair.c, data, 16);
	t.note("at once: {}", ring.ready());
	pair.s.send("late");
	const int got = ring.wait("recv");
	t.note("{}", show_bytes({data, static_cast<std::size_t>(std::max(got, 0))}));
}

CASE(uring, recv_dontwait)
{
	Pair pair = t.pair();
	Ring ring(t);
	char data[16];

	recv(ring, pair.c, data, 16, MSG_DONTWAIT);
	ring.wait("recv");
}

CASE(uring, recv_nonblock_socket)
{
	Pair pair = t.pair();
	Ring ring(t);
	char data[16];

	pair.c.set_nonblock();
	recv(ring, pair.c, data, 16);
	/* Some kernels wait for data all the same. */
	pair.s.send("x");
	ring.wait("recv");
}

CASE(uring, recv_waitall)
{
	Pair pair = t.pair();
	Ring ring(t);
	char data[8];

	recv(ring, pair.c, data, 8, MSG_WAITALL);
	pair.s.send("1234");
	pair.s.await_sent();
	t.note("at once: {}", ring.ready());
	pair.s.send("5678");
	ring.wait("recv");
	t.note("{}", show_bytes({data, 8}));
}

CASE(uring, recv_end)
{
	Pair pair = t.pair();
	Ring ring(t);
	char data[8];

	recv(ring, pair.c, data, 8);
	pair.s.close();
	ring.wait("recv");
}

CASE(uring, recv_reset)
{
	Pair pair = t.pair();
	Ring ring(t);
	char data[8];

	recv(ring, pair.c, data, 8);
	pair.s.reset();
	ring.wait("recv");
}

CASE(uring, recv_cancelled)
{
	Pair pair = t.pair();
	Ring ring(t);
	char data[8];

	recv(ring, pair.c, data, 8);
	io_uring_sqe *sqe = ring.next();
	io_uring_prep_cancel64(sqe, 1, 0);
	ring.submit(sqe, 9);
	const io_uring_cqe one = ring.take("cancel");
	const io_uring_cqe two = ring.take("recv");
	const io_uring_cqe &cancel = one.user_data == 9 ? one : two;
	const io_uring_cqe &recv = one.user_data == 9 ? two : one;
	t.note("cancel {}, recv {}", cancel.res, strerrorname_np(-recv.res));
	pair.s.send("still there");
	pair.c.recv(100);
}

CASE(uring, recv_by_ring_closed)
{
	Pair pair = t.pair();
	char data[8];

	{
		Ring ring(t);
		recv(ring, pair.c, data, 8);
	}
	pair.s.send("still there");
	pair.c.recv(100);
}

CASE(uring, recv_shutdown)
{
	Pair pair = t.pair();
	Ring ring(t);
	char data[8];

	recv(ring, pair.c, data, 8);
	pair.c.shutdown(SHUT_RD);
	ring.wait("recv");
}

CASE(uring, send_waits)
{
	Pair pair = t.narrow_pair();
	Ring ring(t);
	const std::size_t total = pair.c.fill();

	send(ring, pair.c, "last");
	t.note("at once: {}", ring.ready());
	std::string data(total, 0);
	std::size_t got = 0;
	while (got < total)
		got += ::recv(pair.s.fd(), data.data(), total - got, 0);
	ring.wait("send");
	pair.s.recv_all(4);
}

CASE(uring, send_shut)
{
	Pair pair = t.pair();
	Ring ring(t);

	pair.c.shutdown(SHUT_WR);
	send(ring, pair.c, "x");
	ring.wait("send");
}

CASE(uring, send_large)
{
	Pair pair = t.pair();
	Ring ring(t);
	const std::string data = pattern(1 << 20);

	send(ring, pair.c, data, MSG_NOSIGNAL | MSG_WAITALL);
	pair.s.recv_all(1 << 20);
	ring.wait("send");
}

CASE(uring, send_zc)
{
	Pair pair = t.pair();
	Ring ring(t);
	io_uring_sqe *sqe = ring.next();

	io_uring_prep_send_zc(sqe, pair.c.fd(), "zero copy", 9, MSG_NOSIGNAL, 0);
	ring.submit(sqe, 5);
	const io_uring_cqe first = ring.take("send_zc");
	t.note("{}, more {}", first.res, (first.flags & IORING_CQE_F_MORE) != 0);
	if (first.flags & IORING_CQE_F_MORE) {
		const io_uring_cqe second = ring.take("notification");
		t.note("notification {}", (second.flags & IORING_CQE_F_NOTIF) != 0);
	}
	pair.s.recv(20);
}

CASE(uring, poll_data)
{
	Pair pair = t.pair();
	Ring ring(t);

	poll_add(ring, pair.c, POLLIN);
	pair.s.send("x");
	ring.wait("poll", show_mask);
}

CASE(uring, poll_out)
{
	Pair pair = t.pair();
	Ring ring(t);

	poll_add(ring, pair.c, POLLOUT);
	ring.wait("poll", show_mask);
}

CASE(uring, poll_reset)
{
	Pair pair = t.pair();
	Ring ring(t);

	poll_add(ring, pair.c, POLLIN);
	pair.s.reset();
	ring.wait("poll", show_mask);
}

CASE(uring, poll_multishot)
{
	Pair pair = t.pair();
	Ring ring(t);
	io_uring_sqe *sqe = ring.next();

	io_uring_prep_poll_multishot(sqe, pair.c.fd(), POLLIN);
	ring.submit(sqe, 4);
	pair.s.send("a");
	ring.wait("poll", show_mask);
	pair.c.recv(1);
	pair.s.send("b");
	ring.wait("poll", show_mask);
}

CASE(uring, poll_removed)
{
	Pair pair = t.pair();
	Ring ring(t);

	poll_add(ring, pair.c, POLLIN, 6);
	io_uring_sqe *sqe = ring.next();
	io_uring_prep_poll_remove(sqe, 6);
	ring.submit(sqe, 7);
	const io_uring_cqe one = ring.take("remove");
	const io_uring_cqe two = ring.take("poll");
	t.note("{} and {}", std::min(one.res, two.res), std::max(one.res, two.res));
}

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

	io_uring_prep_rw(IORING_OP_SOCKET, sqe, t.family(), nullptr, 0, SOCK_STREAM);
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

	send(ring, pair.s, "!", MSG_OOB | MSG_NOSIGNAL);
	ring.wait("send");
	pair.c.await(POLLPRI);
	recv(ring, pair.c, &byte, 1, MSG_OOB);
	ring.wait("recv");
	t.note("{}", byte);
}

} // namespace conformance
