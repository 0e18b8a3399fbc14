// SPDX-License-Identifier: GPL-2.0
/*
 * Flags of send and receive calls, vectors, ancillary data.
 */
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <sys/uio.h>
#include <unistd.h>

#include "run.h"

namespace conformance
{

namespace
{

struct Message {
	std::array<char, 64> data{};
	std::array<char, 256> control{};
	sockaddr_storage name{};
	iovec iov{};
	msghdr header{};

	Message()
	{
		iov = {.iov_base = data.data(), .iov_len = data.size()};
		header.msg_iov = &iov;
		header.msg_iovlen = 1;
	}
};

void receive(Run &t, const Sock &sock, Message &m, int flags)
{
	m.header.msg_flags = 0x7fffffff;
	t.call(
		fmt::format("recvmsg({}, {:#x})", sock.name(), flags),
		[&] { return ::recvmsg(sock.fd(), &m.header, flags); },
		[&](long result) {
			if (result < 0)
				return show_result(result, errno);
			return fmt::format(
				"{} {} flags {:#x}, name {}, control {}", result,
				show_bytes({m.data.data(), static_cast<std::size_t>(result)}),
				m.header.msg_flags, m.header.msg_namelen, m.header.msg_controllen);
		});
}

} // namespace

CASE(flags, peek_then_read)
{
	Pair pair = t.pair();

	pair.s.send("123456");
	pair.c.await_bytes(6);
	pair.c.recv(3, MSG_PEEK);
	pair.c.recv(10, MSG_PEEK);
	pair.c.recv(2);
	pair.c.recv(10, MSG_PEEK);
	pair.c.recv(10);
}

CASE(flags, peek_across_writes)
{
	Pair pair = t.pair();

	for (const char *part : {"one ", "two ", "three"})
		pair.s.send(part);
	pair.c.await_bytes(13);
	pair.c.recv(100, MSG_PEEK);
	pair.c.recv(6);
	pair.c.recv(100, MSG_PEEK);
	pair.c.recv(100);
}

CASE(flags, peek_at_end)
{
	Pair pair = t.pair();

	pair.s.send("x");
	pair.s.shutdown(SHUT_WR);
	pair.c.await(POLLRDHUP);
	pair.c.recv(10, MSG_PEEK);
	pair.c.recv(10);
	pair.c.recv(10, MSG_PEEK);
	pair.c.recv(10, MSG_PEEK | MSG_WAITALL);
}

CASE(flags, peek_waitall)
{
	Pair pair = t.pair();
	char data[8];

	pair.s.send("1234");
	pair.c.await_bytes(4);
	Blocked reader(t, "recv(c, 8, PEEK|WAITALL)",
		       [&] { return ::recv(pair.c.fd(), data, 8, MSG_PEEK | MSG_WAITALL); });
	pair.s.send("5678");
	reader.join();
	pair.c.recv(10);
}

CASE(flags, peek_offset)
{
	Pair pair = t.pair();

	pair.c.set(OPTION(SOL_SOCKET, SO_PEEK_OFF), 2);
	pair.c.get(OPTION(SOL_SOCKET, SO_PEEK_OFF));
	pair.s.send("123456");
	pair.c.await_bytes(6);
	pair.c.recv(2, MSG_PEEK);
	pair.c.get(OPTION(SOL_SOCKET, SO_PEEK_OFF));
	pair.c.recv(2, MSG_PEEK);
	pair.c.recv(1);
	pair.c.get(OPTION(SOL_SOCKET, SO_PEEK_OFF));
	pair.c.recv(10, MSG_PEEK | MSG_DONTWAIT);
}

CASE(flags, waitall_across_writes)
{
	Pair pair = t.pair();
	char data[9];

	Blocked reader(t, "recv(c, 9, WAITALL)",
		       [&] { return ::recv(pair.c.fd(), data, 9, MSG_WAITALL); });
	pair.s.send("123");
	pair.s.send("456");
	reader.look();
	pair.s.send("789x");
	reader.join();
	pair.c.recv(10);
}

CASE(flags, waitall_at_end)
{
	Pair pair = t.pair();
	char data[9];

	Blocked reader(t, "recv(c, 9, WAITALL)",
		       [&] { return ::recv(pair.c.fd(), data, 9, MSG_WAITALL); });
	pair.s.send("123");
	pair.s.shutdown(SHUT_WR);
	reader.join();
	pair.c.recv(10, MSG_WAITALL);
}

CASE(flags, waitall_reset)
{
	Pair pair = t.pair();
	char data[9];

	pair.s.send("123");
	pair.c.await_bytes(3);
	Blocked reader(t, "recv(c, 9, WAITALL)",
		       [&] { return ::recv(pair.c.fd(), data, 9, MSG_WAITALL); });
	pair.s.reset();
	reader.join();
	pair.c.recv(10);
	pair.c.recv(10);
}

CASE(flags, truncate_discards)
{
	Pair pair = t.pair();

	pair.s.send("123456");
	pair.c.await_bytes(6);
	pair.c.discard(4, MSG_TRUNC);
	pair.c.recv(10);
}

CASE(flags, truncate_peek)
{
	Pair pair = t.pair();

	pair.s.send("123456");
	pair.c.await_bytes(6);
	pair.c.discard(100, MSG_TRUNC | MSG_PEEK);
	pair.c.discard(4, MSG_TRUNC | MSG_PEEK);
	pair.c.recv(10);
}

CASE(flags, truncate_waitall)
{
	Pair pair = t.pair();

	pair.s.send("123456");
	pair.c.await_bytes(6);
	pair.c.discard(6, MSG_TRUNC | MSG_WAITALL);
	pair.c.recv(10, MSG_DONTWAIT);
}

CASE(flags, error_queue_empty)
{
	Pair pair = t.pair();

	pair.c.recv(10, MSG_ERRQUEUE);
	pair.s.reset();
	pair.c.await(POLLHUP);
	pair.c.recv(10, MSG_ERRQUEUE);
	pair.c.recv(10);
}

CASE(flags, unknown_flags_recv)
{
	Pair pair = t.pair();

	pair.s.send("123456");
	pair.c.await_bytes(6);
	pair.c.recv(1, MSG_DONTROUTE);
	pair.c.recv(1, MSG_CONFIRM);
	pair.c.recv(1, MSG_EOR);
	pair.c.recv(1, MSG_NOSIGNAL);
	pair.c.recv(1, 0x1000000);
}

CASE(flags, unknown_flags_send)
{
	Pair pair = t.pair();

	pair.c.send("a", MSG_DONTROUTE | MSG_NOSIGNAL);
	pair.c.send("b", MSG_CONFIRM | MSG_NOSIGNAL);
	pair.c.send("c", MSG_EOR | MSG_NOSIGNAL);
	pair.c.send("d", MSG_WAITALL | MSG_NOSIGNAL);
	pair.c.send("e", MSG_PEEK | MSG_NOSIGNAL);
	pair.c.send("f", MSG_TRUNC | MSG_NOSIGNAL);
	pair.c.send("g", 0x1000000 | MSG_NOSIGNAL);
	pair.s.recv_all(7);
}

CASE(flags, more_holds_back)
{
	Pair pair = t.pair();

	pair.c.send("first ", MSG_MORE | MSG_NOSIGNAL);
	pair.c.send("second", MSG_NOSIGNAL);
	pair.s.await_bytes(12);
	pair.s.recv(20);
}

CASE(flags, more_then_close)
{
	Pair pair = t.pair();

	pair.c.send("all of it", MSG_MORE | MSG_NOSIGNAL);
	pair.c.close();
	pair.s.await(POLLRDHUP);
	pair.s.recv_all(20);
}

CASE(flags, more_then_shutdown)
{
	Pair pair = t.pair();

	pair.c.send("all of it", MSG_MORE | MSG_NOSIGNAL);
	pair.c.shutdown(SHUT_WR);
	pair.s.await(POLLRDHUP);
	pair.s.recv_all(20);
}

CASE(flags, more_then_nodelay)
{
	Pair pair = t.pair();

	pair.c.send("pushed", MSG_MORE | MSG_NOSIGNAL);
	pair.c.set(OPTION(SOL_TCP, TCP_NODELAY), 1);
	pair.s.await_bytes(6);
	pair.s.recv(10);
}

CASE(flags, cork_then_uncork)
{
	Pair pair = t.pair();

	pair.c.set(OPTION(SOL_TCP, TCP_CORK), 1);
	pair.c.send("one");
	pair.c.send("two");
	pair.c.set(OPTION(SOL_TCP, TCP_CORK), 0);
	pair.s.await_bytes(6);
	pair.s.recv(10);
}

CASE(flags, recvmsg_result)
{
	Pair pair = t.pair();
	Message m;

	pair.s.send("data");
	m.header.msg_name = &m.name;
	m.header.msg_namelen = sizeof(m.name);
	m.header.msg_control = m.control.data();
	m.header.msg_controllen = m.control.size();
	receive(t, pair.c, m, 0);
}

CASE(flags, recvmsg_at_end)
{
	Pair pair = t.pair();
	Message m;

	pair.s.shutdown(SHUT_WR);
	m.header.msg_name = &m.name;
	m.header.msg_namelen = sizeof(m.name);
	receive(t, pair.c, m, 0);
	receive(t, pair.c, m, MSG_CMSG_CLOEXEC);
}

CASE(flags, recvmsg_vectors)
{
	Pair pair = t.pair();
	char a[3];
	char b[1];
	char c[10];
	iovec iov[4] = {{a, 3}, {nullptr, 0}, {b, 1}, {c, 10}};
	msghdr header{};

	pair.s.send("1234567");
	pair.c.await_bytes(7);
	header.msg_iov = iov;
	header.msg_iovlen = 4;
	t.call("recvmsg(c)", [&] { return ::recvmsg(pair.c.fd(), &header, 0); });
	t.note("{} {} {}", show_bytes({a, 3}), show_bytes({b, 1}), show_bytes({c, 3}));
}

CASE(flags, sendmsg_vectors)
{
	Pair pair = t.pair();
	char a[] = "one ";
	char b[] = "two ";
	iovec iov[3] = {{a, 4}, {nullptr, 0}, {b, 4}};
	msghdr header{};

	header.msg_iov = iov;
	header.msg_iovlen = 3;
	t.call("sendmsg(c)", [&] { return ::sendmsg(pair.c.fd(), &header, 0); });
	pair.s.recv_all(8);
}

CASE(flags, sendmsg_no_vectors)
{
	Pair pair = t.pair();
	msghdr header{};

	t.call("sendmsg(c)", [&] { return ::sendmsg(pair.c.fd(), &header, 0); });
	t.call("recvmsg(c)", [&] { return ::recvmsg(pair.c.fd(), &header, MSG_DONTWAIT); });
	header.msg_iovlen = 1025;
	t.call("sendmsg(c, 1025 vectors)", [&] { return ::sendmsg(pair.c.fd(), &header, 0); });
}

CASE(flags, sendto_connected)
{
	Pair pair = t.pair();
	const Addr other = t.client(9);

	t.call("sendto(c, elsewhere)",
	       [&] { return ::sendto(pair.c.fd(), "x", 1, 0, other.get(), other.length); });
	pair.s.recv(1);
}

CASE(flags, sendto_unconnected)
{
	const Sock l = t.listener();
	const Sock u = t.socket();
	const Addr to = l.local();

	t.call("sendto(u)",
	       [&] { return ::sendto(u.fd(), "x", 1, MSG_NOSIGNAL, to.get(), to.length); });
}

CASE(flags, recvfrom_name)
{
	Pair pair = t.pair();
	Addr from;
	char data[8];

	from.length = sizeof(from.storage);
	pair.s.send("x");
	t.call("recvfrom(c)",
	       [&] { return ::recvfrom(pair.c.fd(), data, 8, 0, from.get(), &from.length); });
	t.note("name of {} bytes", from.length);
}

CASE(flags, bad_buffers)
{
	Pair pair = t.pair();
	auto *bad = reinterpret_cast<char *>(8);

	t.call("send(c, bad)", [&] { return ::send(pair.c.fd(), bad, 4, 0); });
	pair.s.send("1234");
	pair.c.await_bytes(4);
	t.call("recv(c, bad)", [&] { return ::recv(pair.c.fd(), bad, 4, 0); });
	pair.c.recv(10);
}

CASE(flags, partly_bad_buffers)
{
	Pair pair = t.pair();
	char good[2];
	iovec iov[2] = {{good, 2}, {reinterpret_cast<void *>(8), 2}};

	pair.s.send("1234");
	pair.c.await_bytes(4);
	t.call("readv(c, partly bad)", [&] { return ::readv(pair.c.fd(), iov, 2); });
	pair.c.recv(10);
	t.call("writev(c, partly bad)", [&] { return ::writev(pair.c.fd(), iov, 2); });
}

CASE(flags, control_message_garbage)
{
	Pair pair = t.pair();
	Message m;

	m.iov.iov_len = 1;
	m.header.msg_control = m.control.data();
	m.header.msg_controllen = 20;
	auto *c = reinterpret_cast<cmsghdr *>(m.control.data());
	c->cmsg_len = 1000;
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_TIMESTAMP;
	t.call("sendmsg(c)", [&] { return ::sendmsg(pair.c.fd(), &m.header, 0); });
	c->cmsg_len = 20;
	t.call("sendmsg(c)", [&] { return ::sendmsg(pair.c.fd(), &m.header, 0); });
	c->cmsg_level = SOL_IP;
	t.call("sendmsg(c)", [&] { return ::sendmsg(pair.c.fd(), &m.header, 0); });
}

CASE(flags, sendmmsg)
{
	Pair pair = t.pair();
	char a[] = "one ";
	char b[] = "two ";
	iovec iov[2] = {{a, 4}, {b, 4}};
	mmsghdr headers[2] = {};

	for (int i = 0; i < 2; i++) {
		headers[i].msg_hdr.msg_iov = &iov[i];
		headers[i].msg_hdr.msg_iovlen = 1;
	}
	t.call("sendmmsg(c)", [&] { return ::sendmmsg(pair.c.fd(), headers, 2, 0); });
	t.note("{} and {} bytes", headers[0].msg_len, headers[1].msg_len);
	pair.s.recv_all(8);
}

CASE(flags, recvmmsg)
{
	Pair pair = t.pair();
	char a[4];
	char b[4];
	iovec iov[2] = {{a, 4}, {b, 4}};
	mmsghdr headers[2] = {};
	timespec now{};

	for (int i = 0; i < 2; i++) {
		headers[i].msg_hdr.msg_iov = &iov[i];
		headers[i].msg_hdr.msg_iovlen = 1;
	}
	pair.s.send("123456");
	pair.c.await_bytes(6);
	t.call("recvmmsg(c)",
	       [&] { return ::recvmmsg(pair.c.fd(), headers, 2, MSG_DONTWAIT, &now); });
	t.note("{} and {} bytes", headers[0].msg_len, headers[1].msg_len);
	t.call("recvmmsg(c)", [&] {
		return ::recvmmsg(pair.c.fd(), headers, 2, MSG_WAITFORONE | MSG_DONTWAIT, nullptr);
	});
}

CASE(flags, fastopen_connects)
{
	Sock l = t.listener();
	Sock u = t.socket();
	const Addr to = l.local();

	t.call("sendto(u, FASTOPEN)", [&] {
		return ::sendto(u.fd(), "fast", 4, MSG_FASTOPEN | MSG_NOSIGNAL, to.get(),
				to.length);
	});
	u.getpeername();
}

CASE(flags, large_transfer)
{
	Pair pair = t.pair();
	const std::string data = pattern(3 << 20);

	Blocked writer(t, "send(c, 3 MiB)",
		       [&] { return ::send(pair.c.fd(), data.data(), data.size(), 0); });
	pair.s.recv_all(3 << 20);
	writer.join();
}

CASE(flags, many_small_writes)
{
	Pair pair = t.pair();
	const std::string data = pattern(2000);

	Blocked writer(t, "2000 times send(c, 1)", [&] {
		for (const char &c : data) {
			if (::send(pair.c.fd(), &c, 1, 0) != 1)
				return -1L;
		}
		return 0L;
	});
	pair.s.recv_all(2000);
	writer.join();
}

} // namespace conformance
