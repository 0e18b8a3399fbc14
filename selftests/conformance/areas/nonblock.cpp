// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets that do not block: by O_NONBLOCK, by MSG_DONTWAIT, from birth.
 */
#include <cerrno>

#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "run.h"

namespace conformance
{

CASE(nonblock, recv_nothing_there)
{
	Pair pair = t.pair();

	pair.c.recv(10, MSG_DONTWAIT);
	pair.c.set_nonblock();
	pair.c.recv(10);
	pair.c.recv(0);
	pair.c.recv(10, MSG_PEEK);
	pair.c.recv(10, MSG_WAITALL);
}

CASE(nonblock, waitall_takes_what_is_there)
{
	Pair pair = t.pair();

	pair.s.send("part");
	pair.c.await_bytes(4);
	pair.c.recv(10, MSG_WAITALL | MSG_DONTWAIT);
	pair.c.recv(10, MSG_WAITALL | MSG_DONTWAIT);
}

CASE(nonblock, lowat_does_not_hold_back)
{
	Pair pair = t.pair();

	pair.c.set_int(SOL_SOCKET, SO_RCVLOWAT, 100);
	pair.s.send("part");
	pair.c.await_bytes(4);
	pair.c.recv(10, MSG_DONTWAIT);
}

CASE(nonblock, connect_in_progress)
{
	Sock filler;
	const Sock l = t.full_listener(filler);
	Sock u = t.socket("u", SOCK_NONBLOCK);

	u.connect(l.local());
	u.connect(l.local());
	u.poll();
	u.error();
}

CASE(nonblock, connect_completes)
{
	const Sock l = t.listener();
	Sock u = t.socket("u", SOCK_NONBLOCK);

	u.connect(l.local());
	u.await(POLLOUT);
	u.connect(l.local());
	u.connect(l.local());
	u.error();
	u.getpeername();
}

CASE(nonblock, connect_fails)
{
	const Addr dead = t.dead();
	Sock u = t.socket("u", SOCK_NONBLOCK);

	u.connect(dead);
	u.await(POLLERR);
	u.connect(dead);
	u.poll();
}

CASE(nonblock, connect_fails_error_taken)
{
	const Addr dead = t.dead();
	Sock u = t.socket("u", SOCK_NONBLOCK);

	u.connect(dead);
	u.await(POLLERR);
	u.error();
	u.connect(dead);
	u.look();
}

CASE(nonblock, connect_again_elsewhere)
{
	const Sock l = t.listener();
	Sock u = t.socket("u", SOCK_NONBLOCK);

	u.connect(t.dead());
	u.await(POLLERR);
	u.error();
	u.set_nonblock(false);
	u.connect(l.local());
	u.connect(l.local());
	const Sock s = t.take(l);
	u.send("x");
}

CASE(nonblock, connect_goes_on_blocking)
{
	const Sock l = t.listener();
	Sock u = t.socket("u", SOCK_NONBLOCK);

	u.connect(l.local());
	u.set_nonblock(false);
	u.connect(l.local());
	u.connect(l.local());
}

CASE(nonblock, send_while_connecting)
{
	Sock filler;
	const Sock l = t.full_listener(filler);
	Sock u = t.socket("u", SOCK_NONBLOCK);

	u.connect(l.local());
	u.send("early");
	u.send("early", MSG_DONTWAIT | MSG_NOSIGNAL);
	u.recv(1);
}

CASE(nonblock, accept_nothing_there)
{
	Sock l = t.listener();

	l.set_nonblock();
	l.accept();
	const Sock c = t.connect_to(l);
	l.await(POLLIN);
	Sock s = l.accept("s");
	l.accept();
}

CASE(nonblock, accepted_blocks)
{
	Sock l = t.listener();

	l.set_nonblock();
	const Sock c = t.connect_to(l);
	l.await(POLLIN);
	const Sock s = l.accept("s");
	t.note("O_NONBLOCK {}", (fcntl(s.fd(), F_GETFL) & O_NONBLOCK) != 0);
	t.note("FD_CLOEXEC {}", (fcntl(s.fd(), F_GETFD) & FD_CLOEXEC) != 0);
}

CASE(nonblock, accept4_flags)
{
	Sock l = t.listener();
	const Sock c = t.connect_to(l);
	const Sock s = l.accept("s", SOCK_NONBLOCK | SOCK_CLOEXEC);

	t.note("O_NONBLOCK {}", (fcntl(s.fd(), F_GETFL) & O_NONBLOCK) != 0);
	t.note("FD_CLOEXEC {}", (fcntl(s.fd(), F_GETFD) & FD_CLOEXEC) != 0);
}

CASE(nonblock, accept4_bad_flags)
{
	Sock l = t.listener();
	const Sock c = t.connect_to(l);

	l.accept("s", 1);
	l.accept("s", 0x4000000);
	l.await(POLLIN);
}

CASE(nonblock, send_until_full)
{
	Pair pair = t.narrow_pair();

	pair.c.fill();
	pair.c.set_nonblock();
	pair.c.send("x");
	pair.c.send("");
	pair.c.poll(POLLOUT);
}

CASE(nonblock, large_send_is_partial)
{
	Pair pair = t.pair();
	const std::string data = pattern(64 << 20);
	long sent = 0;

	pair.c.set_nonblock();
	t.call(
		"send(c, 64 MiB)",
		[&] { return sent = ::send(pair.c.fd(), data.data(), data.size(), 0); },
		[&](long result) {
			const bool part = result > 0 && result < static_cast<long>(data.size());
			return std::string(part ? "a part" : "none or all");
		});
	std::string got(sent, 0);
	const long read = ::recv(pair.s.fd(), got.data(), got.size(), MSG_WAITALL);
	t.note("all of it came: {}", read == sent && got == data.substr(0, sent));
}

CASE(nonblock, fionbio)
{
	Pair pair = t.pair();
	int on = 1;

	t.call("ioctl(c, FIONBIO)", [&] { return ::ioctl(pair.c.fd(), FIONBIO, &on); });
	pair.c.recv(1);
	t.note("O_NONBLOCK {}", (fcntl(pair.c.fd(), F_GETFL) & O_NONBLOCK) != 0);
}

CASE(nonblock, set_while_blocked)
{
	Pair pair = t.pair();
	char byte = 0;
	Blocked reader(t, "recv(c, 1)", [&] { return ::recv(pair.c.fd(), &byte, 1, 0); });

	pair.c.set_nonblock();
	reader.look();
	pair.s.send("x");
	reader.join();
	pair.c.recv(1);
}

CASE(nonblock, read_and_write)
{
	Pair pair = t.pair();
	char byte[4];

	pair.c.set_nonblock();
	t.call("read(c)", [&] { return ::read(pair.c.fd(), byte, 4); });
	t.call("read(c, 0 bytes)", [&] { return ::read(pair.c.fd(), byte, 0); });
	t.call("write(c)", [&] { return ::write(pair.c.fd(), "data", 4); });
	t.call("write(c, 0 bytes)", [&] { return ::write(pair.c.fd(), "", 0); });
	pair.s.recv(10);
}

CASE(nonblock, preadv2_nowait)
{
	Pair pair = t.pair();
	char byte[4];
	iovec iov = {.iov_base = byte, .iov_len = 4};

	t.call("preadv2(c, NOWAIT)",
	       [&] { return ::preadv2(pair.c.fd(), &iov, 1, -1, RWF_NOWAIT); });
	pair.s.send("data");
	pair.c.await_bytes(4);
	t.call("preadv2(c, NOWAIT)",
	       [&] { return ::preadv2(pair.c.fd(), &iov, 1, -1, RWF_NOWAIT); });
	t.call("pread(c)", [&] { return ::pread(pair.c.fd(), byte, 4, 0); });
	t.call("pwrite(c)", [&] { return ::pwrite(pair.c.fd(), byte, 4, 0); });
	t.call("lseek(c)", [&] { return ::lseek(pair.c.fd(), 0, SEEK_CUR); });
}

CASE(nonblock, from_birth)
{
	const Sock u = t.socket("u", SOCK_NONBLOCK | SOCK_CLOEXEC);

	t.note("O_NONBLOCK {}", (fcntl(u.fd(), F_GETFL) & O_NONBLOCK) != 0);
	t.note("FD_CLOEXEC {}", (fcntl(u.fd(), F_GETFD) & FD_CLOEXEC) != 0);
}

CASE(nonblock, linger_close)
{
	Pair pair = t.narrow_pair();

	pair.c.fill();
	pair.c.set_linger(1);
	pair.c.set_nonblock();
	const Stopwatch watch;
	pair.c.close();
	t.note("waited: {}", watch.ms() >= 950);
}

} // namespace conformance
