// SPDX-License-Identifier: GPL-2.0
/*
 * io_uring: data and poll, submitted and completed.
 */
#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "ring.h"

namespace conformance
{

CASE(uring, send_and_recv)
{
	Pair pair = t.pair();
	Ring ring(t);
	char data[16];

	submit_send(ring, pair.s, "by ring");
	ring.wait("send");
	pair.c.await_bytes(7);
	submit_recv(ring, pair.c, data, 16);
	const int got = ring.wait("recv");
	t.note("{}", show_bytes({data, static_cast<std::size_t>(std::max(got, 0))}));
}

CASE(uring, recv_waits)
{
	Pair pair = t.pair();
	Ring ring(t);
	char data[16];

	submit_recv(ring, pair.c, data, 16);
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

	submit_recv(ring, pair.c, data, 16, MSG_DONTWAIT);
	ring.wait("recv");
}

CASE(uring, recv_nonblock_socket)
{
	Pair pair = t.pair();
	Ring ring(t);
	char data[16];

	pair.c.set_nonblock();
	submit_recv(ring, pair.c, data, 16);
	/* Some kernels wait for data all the same. */
	pair.s.send("x");
	ring.wait("recv");
}

CASE(uring, recv_waitall)
{
	Pair pair = t.pair();
	Ring ring(t);
	char data[8];

	submit_recv(ring, pair.c, data, 8, MSG_WAITALL);
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

	submit_recv(ring, pair.c, data, 8);
	pair.s.close();
	ring.wait("recv");
}

CASE(uring, recv_reset)
{
	Pair pair = t.pair();
	Ring ring(t);
	char data[8];

	submit_recv(ring, pair.c, data, 8);
	pair.s.reset();
	ring.wait("recv");
}

CASE(uring, recv_cancelled)
{
	Pair pair = t.pair();
	Ring ring(t);
	char data[8];

	submit_recv(ring, pair.c, data, 8);
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
		submit_recv(ring, pair.c, data, 8);
	}
	pair.s.send("still there");
	pair.c.recv(100);
}

CASE(uring, recv_shutdown)
{
	Pair pair = t.pair();
	Ring ring(t);
	char data[8];

	submit_recv(ring, pair.c, data, 8);
	pair.c.shutdown(SHUT_RD);
	ring.wait("recv");
}

CASE(uring, send_waits)
{
	Pair pair = t.narrow_pair();
	Ring ring(t);
	const std::size_t total = pair.c.fill();

	submit_send(ring, pair.c, "last");
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
	submit_send(ring, pair.c, "x");
	ring.wait("send");
}

CASE(uring, send_large)
{
	Pair pair = t.pair();
	Ring ring(t);
	const std::string data = pattern(1 << 20);

	submit_send(ring, pair.c, data, MSG_NOSIGNAL | MSG_WAITALL);
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

CASE(uring, send_zc_large)
{
	Pair pair = t.pair();
	Ring ring(t);
	const std::string data = pattern(1 << 20);
	io_uring_sqe *sqe = ring.next();

	io_uring_prep_send_zc(sqe, pair.c.fd(), data.data(), data.size(),
			      MSG_NOSIGNAL | MSG_WAITALL, 0);
	ring.submit(sqe, 5);
	pair.s.recv_all(1 << 20);
	const io_uring_cqe first = ring.take("send_zc");
	t.note("{}, more {}", first.res, (first.flags & IORING_CQE_F_MORE) != 0);
	const io_uring_cqe second = ring.take("notification");
	t.note("notification {}, {}", (second.flags & IORING_CQE_F_NOTIF) != 0, second.res);
}

CASE(uring, sendmsg_zc)
{
	Pair pair = t.pair();
	Ring ring(t);
	iovec parts[2] = {{const_cast<char *>("zero "), 5}, {const_cast<char *>("copy"), 4}};
	msghdr message{};
	io_uring_sqe *sqe = ring.next();

	message.msg_iov = parts;
	message.msg_iovlen = 2;
	io_uring_prep_sendmsg_zc(sqe, pair.c.fd(), &message, MSG_NOSIGNAL);
	ring.submit(sqe, 5);
	const io_uring_cqe first = ring.take("sendmsg_zc");
	t.note("{}, more {}", first.res, (first.flags & IORING_CQE_F_MORE) != 0);
	pair.s.recv(20);
	const io_uring_cqe second = ring.take("notification");
	t.note("notification {}, {}", (second.flags & IORING_CQE_F_NOTIF) != 0, second.res);
}

CASE(uring, send_zc_shut)
{
	Pair pair = t.pair();
	Ring ring(t);
	io_uring_sqe *sqe = ring.next();

	pair.c.shutdown(SHUT_WR);
	io_uring_prep_send_zc(sqe, pair.c.fd(), "x", 1, MSG_NOSIGNAL, 0);
	ring.submit(sqe, 5);
	const io_uring_cqe first = ring.take("send_zc");
	t.note("{}, more {}", strerrorname_np(-first.res), (first.flags & IORING_CQE_F_MORE) != 0);
	if (first.flags & IORING_CQE_F_MORE) {
		const io_uring_cqe second = ring.take("notification");
		t.note("notification {}", (second.flags & IORING_CQE_F_NOTIF) != 0);
	}
}

CASE(uring, poll_data)
{
	Pair pair = t.pair();
	Ring ring(t);

	submit_poll(ring, pair.c, POLLIN);
	pair.s.send("x");
	ring.wait("poll", show_mask);
}

CASE(uring, poll_out)
{
	Pair pair = t.pair();
	Ring ring(t);

	submit_poll(ring, pair.c, POLLOUT);
	ring.wait("poll", show_mask);
}

CASE(uring, poll_reset)
{
	Pair pair = t.pair();
	Ring ring(t);

	submit_poll(ring, pair.c, POLLIN);
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

	submit_poll(ring, pair.c, POLLIN, 6);
	io_uring_sqe *sqe = ring.next();
	io_uring_prep_poll_remove(sqe, 6);
	ring.submit(sqe, 7);
	const io_uring_cqe one = ring.take("remove");
	const io_uring_cqe two = ring.take("poll");
	t.note("{} and {}", std::min(one.res, two.res), std::max(one.res, two.res));
}

} // namespace conformance
