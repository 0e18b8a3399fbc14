// SPDX-License-Identifier: GPL-2.0
/*
 * splice(), tee(), vmsplice() and sendfile() from and to sockets.
 */
#include <cerrno>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "run.h"

namespace conformance
{

namespace
{

struct Pipe {
	int out = -1;
	int in = -1;

	Pipe()
	{
		int fds[2];

		if (pipe(fds) == 0) {
			out = fds[0];
			in = fds[1];
		}
	}
	Pipe(const Pipe &) = delete;
	Pipe &operator=(const Pipe &) = delete;
	~Pipe()
	{
		close(out);
		close(in);
	}
	[[nodiscard]] std::string read(std::size_t length) const
	{
		std::string data(length, 0);
		const ssize_t got = ::read(out, data.data(), length);

		data.resize(got < 0 ? 0 : got);
		return data;
	}
};

struct File {
	int fd;

	explicit File(const std::string &content) : fd(memfd_create("content", 0))
	{
		if (::write(fd, content.data(), content.size()) !=
		    static_cast<ssize_t>(content.size()))
			fd = -1;
		lseek(fd, 0, SEEK_SET);
	}
	File(const File &) = delete;
	File &operator=(const File &) = delete;
	~File()
	{
		close(fd);
	}
};

long splice_call(Run &t, const char *what, int from, int to, std::size_t length, unsigned flags = 0)
{
	return t.call(fmt::format("splice({}, {}, {:#x})", what, length, flags),
		      [&] { return ::splice(from, nullptr, to, nullptr, length, flags); });
}

} // namespace

CASE(splice, socket_to_pipe)
{
	Pair pair = t.pair();
	const Pipe pipe;

	pair.s.send("through a pipe");
	pair.c.await_bytes(14);
	splice_call(t, "c to pipe", pair.c.fd(), pipe.in, 100);
	t.note("{}", show_bytes(pipe.read(100)));
}

CASE(splice, socket_to_pipe_in_parts)
{
	Pair pair = t.pair();
	const Pipe pipe;

	pair.s.send("123456789");
	pair.c.await_bytes(9);
	splice_call(t, "c to pipe", pair.c.fd(), pipe.in, 4);
	pair.c.recv(2);
	splice_call(t, "c to pipe", pair.c.fd(), pipe.in, 100);
	t.note("{}", show_bytes(pipe.read(100)));
}

CASE(splice, socket_to_pipe_nothing_there)
{
	Pair pair = t.pair();
	const Pipe pipe;

	pair.c.set_nonblock();
	splice_call(t, "c to pipe", pair.c.fd(), pipe.in, 100, SPLICE_F_NONBLOCK);
	splice_call(t, "c to pipe", pair.c.fd(), pipe.in, 100);
	splice_call(t, "c to pipe", pair.c.fd(), pipe.in, 0);
}

CASE(splice, socket_to_pipe_blocks)
{
	Pair pair = t.pair();
	const Pipe pipe;
	Blocked splicer(t, "splice(c to pipe)",
			[&] { return ::splice(pair.c.fd(), nullptr, pipe.in, nullptr, 100, 0); });

	pair.s.send("late");
	splicer.join();
	t.note("{}", show_bytes(pipe.read(100)));
}

CASE(splice, socket_to_pipe_timeout)
{
	Pair pair = t.pair();
	const Pipe pipe;

	pair.c.set_timeout(SO_RCVTIMEO, 50);
	splice_call(t, "c to pipe", pair.c.fd(), pipe.in, 100);
}

CASE(splice, socket_to_pipe_end)
{
	Pair pair = t.pair();
	const Pipe pipe;

	pair.s.send("last");
	pair.s.shutdown(SHUT_WR);
	pair.c.await(POLLRDHUP);
	splice_call(t, "c to pipe", pair.c.fd(), pipe.in, 100);
	splice_call(t, "c to pipe", pair.c.fd(), pipe.in, 100);
	t.note("{}", show_bytes(pipe.read(100)));
}

CASE(splice, socket_to_pipe_reset)
{
	Pair pair = t.pair();
	const Pipe pipe;

	pair.s.reset();
	pair.c.await(POLLHUP);
	splice_call(t, "c to pipe", pair.c.fd(), pipe.in, 100);
	splice_call(t, "c to pipe", pair.c.fd(), pipe.in, 100);
}

CASE(splice, socket_to_pipe_states)
{
	const Sock u = t.socket();
	const Sock l = t.listener();
	const Pipe pipe;

	splice_call(t, "u to pipe", u.fd(), pipe.in, 100);
	splice_call(t, "l to pipe", l.fd(), pipe.in, 100);
}

CASE(splice, socket_to_full_pipe)
{
	Pair pair = t.pair();
	const Pipe pipe;

	fcntl(pipe.in, F_SETFL, O_NONBLOCK);
	const std::string page = pattern(4096);
	while (::write(pipe.in, page.data(), page.size()) > 0)
		continue;
	pair.s.send("stays");
	pair.c.await_bytes(5);
	splice_call(t, "c to pipe", pair.c.fd(), pipe.in, 100, SPLICE_F_NONBLOCK);
	pair.c.recv(10);
}

CASE(splice, pipe_to_socket)
{
	Pair pair = t.pair();
	const Pipe pipe;

	t.require(::write(pipe.in, "out of a pipe", 13) == 13, "write()");
	splice_call(t, "pipe to c", pipe.out, pair.c.fd(), 5);
	splice_call(t, "pipe to c", pipe.out, pair.c.fd(), 100);
	pair.s.recv_all(13);
}

CASE(splice, pipe_to_socket_more)
{
	Pair pair = t.pair();
	const Pipe pipe;

	t.require(::write(pipe.in, "more and more", 13) == 13, "write()");
	splice_call(t, "pipe to c", pipe.out, pair.c.fd(), 5, SPLICE_F_MORE);
	splice_call(t, "pipe to c", pipe.out, pair.c.fd(), 100);
	pair.s.recv_all(13);
}

CASE(splice, pipe_to_socket_full)
{
	Pair pair = t.narrow_pair();
	const Pipe pipe;

	pair.c.fill();
	t.require(::write(pipe.in, "no room", 7) == 7, "write()");
	pair.c.set_nonblock();
	splice_call(t, "pipe to c", pipe.out, pair.c.fd(), 100, SPLICE_F_NONBLOCK);
	t.note("{}", show_bytes(pipe.read(100)));
}

CASE(splice, pipe_to_socket_shut)
{
	Pair pair = t.pair();
	const Pipe pipe;

	t.require(::write(pipe.in, "too late", 8) == 8, "write()");
	pair.c.shutdown(SHUT_WR);
	splice_call(t, "pipe to c", pipe.out, pair.c.fd(), 100);
}

CASE(splice, pipe_to_unconnected)
{
	const Sock u = t.socket();
	const Pipe pipe;

	t.require(::write(pipe.in, "nowhere", 7) == 7, "write()");
	splice_call(t, "pipe to u", pipe.out, u.fd(), 100);
}

CASE(splice, with_offset)
{
	Pair pair = t.pair();
	const Pipe pipe;
	off64_t offset = 0;

	t.call("splice(c at an offset)", [&] {
		return ::splice(pair.c.fd(), &offset, pipe.in, nullptr, 4, SPLICE_F_NONBLOCK);
	});
	t.call("splice(to c at an offset)",
	       [&] { return ::splice(pipe.out, nullptr, pair.c.fd(), &offset, 4, 0); });
}

CASE(splice, socket_to_socket)
{
	Pair one = t.pair();
	Pair two = t.pair();

	splice_call(t, "c to c", one.c.fd(), two.c.fd(), 100);
}

CASE(splice, proxy)
{
	Pair in = t.pair();
	Pair out = t.pair();
	const Pipe pipe;
	const std::string data = pattern(200000);

	Blocked writer(t, "send(200000)", [&] {
		const long sent = ::send(in.s.fd(), data.data(), data.size(), 0);
		::shutdown(in.s.fd(), SHUT_WR);
		return sent;
	});
	Blocked proxy(t, "proxy", [&] {
		long total = 0;
		long got = 0;
		while ((got = ::splice(in.c.fd(), nullptr, pipe.in, nullptr, 65536,
				       SPLICE_F_MOVE)) > 0) {
			total += got;
			while (got > 0)
				got -= ::splice(pipe.out, nullptr, out.c.fd(), nullptr, got, 0);
		}
		::shutdown(out.c.fd(), SHUT_WR);
		return total;
	});
	out.s.recv_all(300000);
	writer.join();
	proxy.join();
}

CASE(splice, tee_of_socket_data)
{
	Pair pair = t.pair();
	const Pipe one;
	const Pipe two;

	pair.s.send("twice");
	pair.c.await_bytes(5);
	splice_call(t, "c to pipe", pair.c.fd(), one.in, 100);
	t.call("tee", [&] { return ::tee(one.out, two.in, 100, 0); });
	t.note("{} {}", show_bytes(one.read(10)), show_bytes(two.read(10)));
	t.call("tee(socket)", [&] { return ::tee(pair.c.fd(), two.in, 100, 0); });
}

CASE(splice, tee_to_socket)
{
	Pair pair = t.pair();
	const Pipe one;
	const Pipe two;

	t.require(::write(one.in, "teed", 4) == 4, "write()");
	t.call("tee", [&] { return ::tee(one.out, two.in, 100, 0); });
	splice_call(t, "two to c", two.out, pair.c.fd(), 100);
	splice_call(t, "one to c", one.out, pair.c.fd(), 100);
	pair.s.recv_all(8);
}

CASE(splice, vmsplice_to_socket)
{
	Pair pair = t.pair();
	const Pipe pipe;
	std::string data = pattern(10000);
	iovec iov = {.iov_base = data.data(), .iov_len = data.size()};

	t.call("vmsplice", [&] { return ::vmsplice(pipe.in, &iov, 1, 0); });
	splice_call(t, "pipe to c", pipe.out, pair.c.fd(), 10000);
	pair.s.recv_all(10000);
}

CASE(splice, sendfile)
{
	Pair pair = t.pair();
	const File file(pattern(50000));

	Blocked sender(t, "sendfile(50000)",
		       [&] { return ::sendfile(pair.c.fd(), file.fd, nullptr, 50000); });
	pair.s.recv_all(50000);
	sender.join();
	t.note("file at {}", lseek(file.fd, 0, SEEK_CUR));
}

CASE(splice, sendfile_offset)
{
	Pair pair = t.pair();
	const File file("0123456789");
	off_t offset = 4;

	t.call("sendfile", [&] { return ::sendfile(pair.c.fd(), file.fd, &offset, 3); });
	t.note("offset {}, file at {}", offset, lseek(file.fd, 0, SEEK_CUR));
	pair.s.recv_all(3);
	t.call("sendfile(past the end)",
	       [&] { return ::sendfile(pair.c.fd(), file.fd, &offset, 100); });
	pair.s.recv_all(3);
	t.call("sendfile(at the end)",
	       [&] { return ::sendfile(pair.c.fd(), file.fd, &offset, 100); });
}

CASE(splice, sendfile_full)
{
	Pair pair = t.narrow_pair();
	const File file("no room");

	pair.c.fill();
	pair.c.set_nonblock();
	t.call("sendfile", [&] { return ::sendfile(pair.c.fd(), file.fd, nullptr, 7); });
	t.note("file at {}", lseek(file.fd, 0, SEEK_CUR));
}

CASE(splice, sendfile_large_nonblock)
{
	Pair pair = t.pair();
	const File file(pattern(32 << 20));

	pair.c.set_nonblock();
	t.call(
		"sendfile(32 MiB)",
		[&] { return ::sendfile(pair.c.fd(), file.fd, nullptr, 32 << 20); },
		[](long result) {
			const bool part = result > 0 && result < (32 << 20);
			return std::string(part ? "a part" : "none or all");
		});
}

CASE(splice, sendfile_shut)
{
	Pair pair = t.pair();
	const File file("too late");

	pair.c.shutdown(SHUT_WR);
	t.call("sendfile", [&] { return ::sendfile(pair.c.fd(), file.fd, nullptr, 8); });
}

CASE(splice, sendfile_reset)
{
	Pair pair = t.pair();
	const File file("too late");

	pair.s.reset();
	pair.c.await(POLLHUP);
	t.call("sendfile", [&] { return ::sendfile(pair.c.fd(), file.fd, nullptr, 8); });
	t.call("sendfile", [&] { return ::sendfile(pair.c.fd(), file.fd, nullptr, 8); });
}

CASE(splice, sendfile_from_socket)
{
	Pair pair = t.pair();
	const File file("");

	pair.s.send("data");
	pair.c.await_bytes(4);
	t.call("sendfile", [&] { return ::sendfile(file.fd, pair.c.fd(), nullptr, 4); });
	pair.c.recv(4);
}

CASE(splice, copy_file_range)
{
	Pair pair = t.pair();
	const File file("data");

	t.call("copy_file_range",
	       [&] { return ::copy_file_range(file.fd, nullptr, pair.c.fd(), nullptr, 4, 0); });
}

CASE(splice, mmap_of_socket)
{
	const Sock u = t.socket();

	t.call("mmap", [&] {
		return ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, u.fd(), 0) == MAP_FAILED ? -1
											     : 0;
	});
}

} // namespace conformance
