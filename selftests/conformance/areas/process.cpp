// SPDX-License-Identifier: GPL-2.0
/*
 * Descriptors among processes: dup, fork, exec, SCM_RIGHTS, /proc.
 */
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "run.h"

namespace conformance
{

namespace
{

void send_descriptor(Run &t, int channel, int fd)
{
	char byte = 'd';
	iovec iov = {.iov_base = &byte, .iov_len = 1};
	alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
	msghdr header{};

	header.msg_iov = &iov;
	header.msg_iovlen = 1;
	header.msg_control = control;
	header.msg_controllen = sizeof(control);
	cmsghdr *c = CMSG_FIRSTHDR(&header);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	*reinterpret_cast<int *>(CMSG_DATA(c)) = fd;
	t.require(::sendmsg(channel, &header, 0) == 1, "sendmsg(SCM_RIGHTS)");
}

int receive_descriptor(Run &t, int channel)
{
	char byte = 0;
	iovec iov = {.iov_base = &byte, .iov_len = 1};
	alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
	msghdr header{};

	header.msg_iov = &iov;
	header.msg_iovlen = 1;
	header.msg_control = control;
	header.msg_controllen = sizeof(control);
	t.require(::recvmsg(channel, &header, 0) == 1, "recvmsg(SCM_RIGHTS)");
	return *reinterpret_cast<int *>(CMSG_DATA(CMSG_FIRSTHDR(&header)));
}

} // namespace

CASE(process, dup_keeps_connection)
{
	Pair pair = t.pair();
	Sock copy(t, "copy", dup(pair.c.fd()));

	pair.c.close();
	pair.s.send("x");
	copy.recv(1);
	copy.close();
	pair.s.await(POLLRDHUP);
	pair.s.recv(1);
}

CASE(process, dup_shares_flags)
{
	Pair pair = t.pair();
	Sock copy(t, "copy", dup(pair.c.fd()));

	pair.c.set_nonblock();
	copy.recv(1);
}

CASE(process, dup2_closes_connection)
{
	Pair pair = t.pair();
	const Sock u = t.socket();

	t.call("dup2", [&] { return ::dup2(u.fd(), pair.c.fd()) == pair.c.fd() ? 0 : -1; });
	pair.s.await(POLLRDHUP);
	pair.s.recv(1);
}

CASE(process, child_reads_parent_writes)
{
	Pair pair = t.pair();

	pair.s.send("for the child");
	in_child(t, [&] { pair.c.recv(100); });
	pair.s.send("for the parent");
	pair.c.recv(100);
}

CASE(process, child_closes)
{
	Pair pair = t.pair();

	in_child(t, [&] { pair.c.close(); });
	pair.s.send("x");
	pair.c.recv(1);
	pair.s.poll();
}

CASE(process, child_shuts_down)
{
	Pair pair = t.pair();

	in_child(t, [&] { pair.c.shutdown(SHUT_WR); });
	pair.c.send("x");
	pair.s.await(POLLRDHUP);
	pair.s.recv(1);
}

CASE(process, child_accepts)
{
	Sock l = t.listener();
	Sock c = t.connect_to(l);

	in_child(t, [&] {
		Sock s = l.accept("s");
		s.send("from the child");
	});
	c.recv_all(100);
}

CASE(process, child_connects)
{
	Sock l = t.listener();
	Sock u = t.socket();

	in_child(t, [&] { u.connect(l.local()); });
	u.getpeername();
	u.connect(l.local());
	const Sock s = t.take(l);
	u.send("x");
}

CASE(process, child_listens)
{
	Sock b = t.bound();

	in_child(t, [&] { b.listen(); });
	const Sock c = t.connect_to(b);
	const Sock s = b.accept("s");
}

CASE(process, killed_child_ends_connection)
{
	Pair pair = t.pair();
	const pid_t pid = fork();

	if (pid == 0) {
		for (;;)
			pause();
	}
	pair.c.drop();
	pair.s.poll();
	kill(pid, SIGKILL);
	t.note("{}", show_exit(pid));
	pair.s.await(POLLRDHUP);
	pair.s.recv(1);
}

CASE(process, killed_while_reading)
{
	Pair pair = t.pair();
	char byte = 0;
	const pid_t pid = fork();

	if (pid == 0) {
		::recv(pair.c.fd(), &byte, 1, 0);
		_exit(1);
	}
	pair.c.drop();
	kill(pid, SIGKILL);
	t.note("{}", show_exit(pid));
	pair.s.await(POLLRDHUP);
	pair.s.look();
}

CASE(process, killed_with_unread_data)
{
	Pair pair = t.pair();
	const pid_t pid = fork();

	if (pid == 0) {
		for (;;)
			pause();
	}
	pair.s.send("never read");
	pair.c.await_bytes(10);
	pair.c.drop();
	kill(pid, SIGKILL);
	t.note("{}", show_exit(pid));
	pair.s.await(POLLHUP);
	pair.s.look();
}

CASE(process, exec_keeps_descriptor)
{
	Pair pair = t.pair();
	const pid_t pid = fork();

	if (pid == 0) {
		dup2(pair.c.fd(), 0);
		dup2(pair.c.fd(), 1);
		execl("/bin/cat", "cat", nullptr);
		_exit(1);
	}
	pair.c.drop();
	pair.s.send("through cat");
	pair.s.shutdown(SHUT_WR);
	pair.s.recv_all(100);
	t.note("{}", show_exit(pid));
}

CASE(process, exec_closes_descriptor)
{
	Pair pair = t.pair();
	const pid_t pid = fork();

	fcntl(pair.c.fd(), F_SETFD, FD_CLOEXEC);
	if (pid == 0) {
		fcntl(pair.c.fd(), F_SETFD, FD_CLOEXEC);
		execl("/bin/sleep", "sleep", "60", nullptr);
		_exit(1);
	}
	pair.c.drop();
	pair.s.await(POLLRDHUP);
	pair.s.recv(1);
	kill(pid, SIGKILL);
	t.note("{}", show_exit(pid));
}

CASE(process, passed_to_child)
{
	Pair pair = t.pair();
	int channel[2];

	t.require(socketpair(AF_UNIX, SOCK_STREAM, 0, channel) == 0, "socketpair()");
	send_descriptor(t, channel[0], pair.c.fd());
	pair.c.close();
	in_child(t, [&] {
		Sock got(t, "got", receive_descriptor(t, channel[1]));
		got.send("passed");
		got.getpeername();
	});
	pair.s.recv(6);
	close(channel[0]);
	close(channel[1]);
	pair.s.await(POLLRDHUP);
	pair.s.recv(1);
}

CASE(process, passed_listener)
{
	Sock l = t.listener();
	int channel[2];

	t.require(socketpair(AF_UNIX, SOCK_STREAM, 0, channel) == 0, "socketpair()");
	send_descriptor(t, channel[0], l.fd());
	const Sock c = t.connect_to(l);
	l.close();
	Sock got(t, "got", receive_descriptor(t, channel[1]));
	const Sock s = got.accept("s");
	close(channel[0]);
	close(channel[1]);
}

CASE(process, in_flight_ends_connection)
{
	Pair pair = t.pair();
	int channel[2];

	t.require(socketpair(AF_UNIX, SOCK_STREAM, 0, channel) == 0, "socketpair()");
	send_descriptor(t, channel[0], pair.c.fd());
	pair.c.close();
	pair.s.poll();
	close(channel[0]);
	close(channel[1]);
	pair.s.await(POLLRDHUP);
	pair.s.recv(1);
}

CASE(process, file_kind)
{
	const Sock u = t.socket();
	struct stat status {
	};
	char link[64] = {};
	const std::string path = fmt::format("/proc/self/fd/{}", u.fd());

	t.call("fstat", [&] { return fstat(u.fd(), &status); });
	t.note("a socket: {}, mode {:#o}", S_ISSOCK(status.st_mode), status.st_mode & 0777);
	t.require(readlink(path.c_str(), link, sizeof(link) - 1) > 0, "readlink()");
	t.note("{}", std::string(link).substr(0, 8));
}

CASE(process, calls_of_other_files)
{
	const Sock u = t.socket();

	t.call("ftruncate", [&] { return ftruncate(u.fd(), 0); });
	t.call("fsync", [&] { return fsync(u.fd()); });
	t.call("fallocate", [&] { return fallocate(u.fd(), 0, 0, 1); });
	t.call("flock", [&] { return fcntl(u.fd(), F_GETLEASE); });
	t.call("F_GETPIPE_SZ", [&] { return fcntl(u.fd(), F_GETPIPE_SZ); });
}

CASE(process, socketpair)
{
	int fds[2];

	t.call("socketpair",
	       [&] { return ::socketpair(t.family(), SOCK_STREAM, t.protocol(), fds); });
}

CASE(process, socket_types)
{
	for (const int type : {4, 5, 9, 77}) {
		t.call(fmt::format("socket(type {})", type),
		       [&] { return ::socket(t.family(), type, t.protocol() ?: IPPROTO_TCP); });
	}
	t.call("socket(flags)",
	       [&] { return ::socket(t.family(), SOCK_STREAM | 0x10, t.protocol()); });
}

CASE(process, socket_protocols)
{
	t.call("socket(IPPROTO_TCP)",
	       [&] { return ::socket(t.family(), SOCK_STREAM, IPPROTO_TCP) >= 0 ? 0 : -1; });
	t.call("socket(IPPROTO_UDP)",
	       [&] { return ::socket(t.family(), SOCK_STREAM, IPPROTO_UDP); });
	t.call("socket(-1)", [&] { return ::socket(t.family(), SOCK_STREAM, -1); });
	t.call("socket(500)", [&] { return ::socket(t.family(), SOCK_STREAM, 500); });
}

} // namespace conformance
