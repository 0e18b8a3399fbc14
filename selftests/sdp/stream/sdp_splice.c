// SPDX-License-Identifier: GPL-2.0
/*
 * splice(), tee(), vmsplice() and sendfile() with sockets at either end. Every
 * byte that comes out is checked. Cases marked for it also run on TCP.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

#include "sdp_test.h"

struct duct {
	int out;	/* to read from */
	int in;		/* to write to */
};

static struct duct new_duct(int flags)
{
	int fd[2];

	CHECK_OK(pipe2(fd, flags));
	return (struct duct){ fd[0], fd[1] };
}

static void verify_file(int fd, uint64_t seed, size_t len)
{
	unsigned char *m;

	m = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(m != MAP_FAILED);
	pattern_verify(m, len, seed, 0);
	CHECK_OK(munmap(m, len));
}

/* Something that moves bytes until it is done, in a thread. */
struct mover {
	pthread_t thread;
	int from;
	int to;
	uint64_t seed;
	size_t len;
	unsigned int flags;
};

static void *send_mover(void *arg)
{
	struct mover *m = arg;

	send_pattern(m->to, m->seed, 0, m->len, 30000);
	CHECK_OK(shutdown(m->to, SHUT_WR));
	return NULL;
}

/* Everything up to the end of the stream; the receiver of it sees the end. */
static void *splice_mover(void *arg)
{
	struct mover *m = arg;
	long n;

	do {
		n = CHECK_OK(splice(m->from, NULL, m->to, NULL, 100000,
				    m->flags));
		m->len += n;
	} while (n > 0);
	CHECK_OK(close(m->to));
	return NULL;
}

static void mover_start(struct mover *m, void *(*fn)(void *))
{
	thread_start(&m->thread, fn, m);
}

/* ---- from a file ---- */

static void sendfile_with_offset(void)
{
	size_t len = 100000;
	int file = pattern_file(1, len);
	struct pair p = new_pair();
	off_t at = 12345;

	CHECK_EQ(sendfile(p.client, file, &at, 5000), 5000);
	CHECK_EQ(at, 17345);
	CHECK_EQ(lseek(file, 0, SEEK_CUR), 0);
	recv_pattern(p.server, 1, 12345, 5000, 777);
}

/* More was promised than the file has: what there is leaves all the same. */
static void sendfile_beyond_end(void)
{
	struct pair p = new_pair();
	int file = pattern_file(2, 10000);

	set_int(p.client, SOL_TCP, TCP_NODELAY, 1);
	CHECK_EQ(sendfile(p.client, file, NULL, 1000000), 10000);
	recv_pattern(p.server, 2, 0, 10000, 3000);
	CHECK_EQ(sendfile(p.client, file, NULL, 1000000), 0);
	CHECK_ERR(recv(p.server, &(char){ 0 }, 1, MSG_DONTWAIT), EAGAIN);
}

/* Non-blocking: parts, then EAGAIN, and on it goes when there is room. */
static void sendfile_nonblocking(void)
{
	size_t len = scaled(24 * MIB), sent = 0, got = 0;
	int file = pattern_file(3, len);
	struct pair p = new_pair();
	bool full = false;

	/* Far less than the file, on slow machines, too. */
	set_int(p.client, SOL_SOCKET, SO_SNDBUF, 128 * KIB);
	set_int(p.server, SOL_SOCKET, SO_RCVBUF, 128 * KIB);
	set_nonblock(p.client, true);
	while (sent < len) {
		ssize_t n = sendfile(p.client, file, NULL, len - sent);

		if (n >= 0) {
			CHECK(n > 0);
			sent += n;
			continue;
		}
		CHECK_EQ(errno, EAGAIN);
		full = true;
		recv_pattern(p.server, 3, got, sent - got, 64 * KIB);
		got = sent;
		wait_poll(p.client, POLLOUT);
	}
	CHECK(full);
	CHECK_OK(shutdown(p.client, SHUT_WR));
	recv_pattern(p.server, 3, got, sent - got, 64 * KIB);
}

static void sendfile_to_ended(void)
{
	struct pair p = new_pair();
	int file = pattern_file(4, 100);

	CHECK_OK(shutdown(p.client, SHUT_WR));
	CHECK_ERR(sendfile(p.client, file, NULL, 100), EPIPE);
	CHECK_ERR(sendfile(new_socket(0), file, NULL, 100), EPIPE);
}

static void sendfile_raises_sigpipe(void)
{
	struct pair p = new_pair();
	int file = pattern_file(5, 100);
	sigset_t set;

	CHECK_OK(sigemptyset(&set));
	CHECK_OK(sigaddset(&set, SIGPIPE));
	CHECK_OK(sigprocmask(SIG_BLOCK, &set, NULL));
	signal(SIGPIPE, SIG_DFL);
	CHECK_OK(shutdown(p.client, SHUT_WR));
	CHECK_ERR(sendfile(p.client, file, NULL, 100), EPIPE);
	CHECK_OK(sigpending(&set));
	CHECK_EQ(sigismember(&set, SIGPIPE), 1);
	signal(SIGPIPE, SIG_IGN);
}

/* ---- from a pipe ---- */

/* Many small pages, the last bytes of which are promised and then sent. */
static void pipe_to_socket_more(void)
{
	struct pair p = new_pair();
	struct duct d = new_duct(0);
	unsigned char buf[700];
	uint64_t pos;

	for (pos = 0; pos < 30 * sizeof(buf); pos += sizeof(buf)) {
		pattern_fill(buf, sizeof(buf), 6, pos);
		CHECK_EQ(write(d.in, buf, sizeof(buf)), sizeof(buf));
		CHECK_EQ(splice(d.out, NULL, p.client, NULL, sizeof(buf),
				SPLICE_F_MORE), sizeof(buf));
	}
	recv_pattern(p.server, 6, 0, pos, 1000);
}

static void vmsplice_to_socket(void)
{
	static unsigned char buf[40000];
	struct iovec v = { buf, sizeof(buf) };
	struct pair p = new_pair();
	struct duct d = new_duct(0);

	pattern_fill(buf, sizeof(buf), 7, 0);
	CHECK_EQ(vmsplice(d.in, &v, 1, 0), sizeof(buf));
	CHECK_EQ(splice(d.out, NULL, p.client, NULL, sizeof(buf), 0),
		 sizeof(buf));
	recv_pattern(p.server, 7, 0, sizeof(buf), sizeof(buf));
}

static void empty_pipe_to_socket(void)
{
	struct pair p = new_pair();
	struct duct d = new_duct(0);

	CHECK_ERR(splice(d.out, NULL, p.client, NULL, 100, SPLICE_F_NONBLOCK),
		  EAGAIN);
	CHECK_OK(close(d.in));
	CHECK_EQ(splice(d.out, NULL, p.client, NULL, 100, 0), 0);
	watch_quiet(p.server, POLLIN);
}

/* Into a socket without room: EAGAIN, and the pipe still has its bytes. */
static void pipe_to_full_socket(void)
{
	struct pair p = new_pair();
	struct duct d = new_duct(0);
	uint64_t sent = fill_pipe(p.client, 8);
	unsigned char buf[1000];

	pattern_fill(buf, sizeof(buf), 8, sent);
	CHECK_EQ(write(d.in, buf, sizeof(buf)), sizeof(buf));
	set_nonblock(p.client, true);
	CHECK_ERR(splice(d.out, NULL, p.client, NULL, sizeof(buf), 0), EAGAIN);
	CHECK_EQ(ioctl_int(d.out, FIONREAD), sizeof(buf));
	recv_pattern(p.server, 8, 0, sent, 64 * KIB);
	wait_poll(p.client, POLLOUT);
	CHECK_EQ(splice(d.out, NULL, p.client, NULL, sizeof(buf), 0),
		 sizeof(buf));
	recv_pattern(p.server, 8, sent, sizeof(buf), sizeof(buf));
}

/* ---- into a pipe ---- */

static long op_splice_in(int fd)
{
	struct duct d = new_duct(0);

	return splice(fd, NULL, d.in, NULL, 1000, SPLICE_F_NONBLOCK);
}

/* The flag is for the pipe: what counts for the socket is O_NONBLOCK. */
static void empty_socket_to_pipe(void)
{
	struct pair p = new_pair();
	struct duct d = new_duct(0);
	struct blocked b;

	block_start(&b, op_splice_in, p.server);
	CHECK_EQ(send(p.client, "abc", 3, 0), 3);
	CHECK_EQ(block_join(&b), 3);
	set_nonblock(p.server, true);
	CHECK_ERR(splice(p.server, NULL, d.in, NULL, 1000, 0), EAGAIN);
}

/* What does not fit into the pipe stays in the socket. */
static void socket_to_full_pipe(void)
{
	struct pair p = new_pair();
	struct duct d = new_duct(O_NONBLOCK);
	unsigned char buf[4096];
	size_t len = 200000, pos = 0;
	struct mover out = { .to = p.client, .seed = 9, .len = len };
	ssize_t n;

	CHECK(CHECK_OK(fcntl(d.in, F_SETPIPE_SZ, 4096)) <= 64 * 1024);
	mover_start(&out, send_mover);
	for (;;) {
		n = splice(p.server, NULL, d.in, NULL, len, SPLICE_F_NONBLOCK);
		if (n == 0)
			break;
		if (n < 0)
			CHECK_EQ(errno, EAGAIN);
		while ((n = read(d.out, buf, sizeof(buf))) > 0) {
			pattern_verify(buf, n, 9, pos);
			pos += n;
		}
		CHECK(n < 0 && errno == EAGAIN);
	}
	CHECK_EQ(pos, len);
	thread_join(out.thread);
}

static void ended_socket_to_pipe(void)
{
	struct pair p = new_pair();
	struct duct d = new_duct(0);

	CHECK_ERR(splice(new_socket(0), NULL, d.in, NULL, 100, 0), ENOTCONN);
	CHECK_EQ(send(p.client, "abc", 3, 0), 3);
	CHECK_OK(shutdown(p.client, SHUT_WR));
	wait_poll(p.server, POLLRDHUP);
	CHECK_EQ(splice(p.server, NULL, d.in, NULL, 100, 0), 3);
	CHECK_EQ(splice(p.server, NULL, d.in, NULL, 100, 0), 0);
	CHECK_EQ(splice(p.server, NULL, d.in, NULL, 100, 0), 0);
}

static void reset_socket_to_pipe(void)
{
	struct pair p = new_pair();
	struct duct d = new_duct(0);

	set_linger(p.client, 1, 0);
	CHECK_OK(close(p.client));
	wait_poll(p.server, POLLERR);
	CHECK_ERR(splice(p.server, NULL, d.in, NULL, 100, 0), ECONNRESET);
	CHECK_EQ(splice(p.server, NULL, d.in, NULL, 100, 0), 0);
}

static void sockets_cannot_seek(void)
{
	struct pair p = new_pair();
	struct duct d = new_duct(0);
	loff_t off = 5;

	CHECK_ERR(splice(p.server, &off, d.in, NULL, 100, 0), EINVAL);
	CHECK_ERR(splice(d.out, NULL, p.client, &off, 100, 0), EINVAL);
	CHECK_ERR(splice(p.server, NULL, p.client, NULL, 100, 0), EINVAL);
	CHECK_ERR(sendfile(p.client, p.server, NULL, 100), EINVAL);
}

/* ---- all the way ---- */

static void socket_to_file(void)
{
	size_t len = scaled(MIB) + 99, pos = 0;
	struct pair p = new_pair();
	struct duct d = new_duct(0);
	int file = CHECK_OK(memfd_create("out", 0));
	struct mover out = { .to = p.client, .seed = 10, .len = len };
	struct mover in = { .from = p.server, .to = d.in };
	ssize_t n;

	mover_start(&out, send_mover);
	mover_start(&in, splice_mover);
	while ((n = CHECK_OK(splice(d.out, NULL, file, NULL, 5000, 0))) > 0)
		pos += n;
	CHECK_EQ(pos, len);
	verify_file(file, 10, len);
	thread_join(in.thread);
	thread_join(out.thread);
}

/* A proxy: from one connection to another, never through user memory. */
static void socket_to_socket(void)
{
	size_t len = scaled(2 * MIB) + 11;
	struct pair a = new_pair(), b = new_pair();
	struct duct d = new_duct(0);
	struct mover out = { .to = a.client, .seed = 11, .len = len };
	struct mover in = { .from = a.server, .to = d.in };
	struct mover on = { .from = d.out, .to = b.client,
			    .flags = SPLICE_F_MORE };

	mover_start(&out, send_mover);
	mover_start(&in, splice_mover);
	mover_start(&on, splice_mover);
	recv_pattern(b.server, 11, 0, len, 40000);
	CHECK_EQ(recv(b.server, &(char){ 0 }, 1, 0), 0);
	thread_join(out.thread);
	thread_join(in.thread);
	thread_join(on.thread);
	CHECK_EQ(on.len, len);
}

/* One stream in, two equal ones out. */
static void tee_to_two_sockets(void)
{
	struct pair a = new_pair(), b = new_pair(), c = new_pair();
	struct duct d = new_duct(0), e = new_duct(0);
	size_t pos = 0, len = 20000;
	ssize_t n;

	send_pattern(a.client, 12, 0, len, len);
	wait_inq(a.server, len);
	while (pos < len) {
		n = CHECK_OK(splice(a.server, NULL, d.in, NULL, 6000, 0));
		CHECK_EQ(tee(d.out, e.in, n, 0), n);
		CHECK_EQ(splice(d.out, NULL, b.client, NULL, n, 0), n);
		CHECK_EQ(splice(e.out, NULL, c.client, NULL, n, 0), n);
		pos += n;
	}
	recv_pattern(b.server, 12, 0, len, 5000);
	recv_pattern(c.server, 12, 0, len, 7000);
}

/* Pages in a pipe stay what they were when more arrives in the socket. */
static void pages_in_pipe_are_ours(void)
{
	struct pair p = new_pair();
	struct duct d = new_duct(0);
	unsigned char buf[3000];
	uint64_t pos;

	send_pattern(p.client, 13, 0, sizeof(buf), sizeof(buf));
	wait_inq(p.server, sizeof(buf));
	CHECK_EQ(splice(p.server, NULL, d.in, NULL, sizeof(buf), 0),
		 sizeof(buf));
	/* Often enough that every receive buffer is used once more. */
	for (pos = 0; pos < 2000 * 100; pos += 100) {
		send_pattern(p.client, 14, pos, 100, 100);
		recv_pattern(p.server, 14, pos, 100, 100);
	}
	CHECK_EQ(read(d.out, buf, sizeof(buf)), sizeof(buf));
	pattern_verify(buf, sizeof(buf), 13, 0);
}

static const struct sdp_case cases[] = {
	CASE(sendfile_with_offset, CASE_TCP),
	CASE(sendfile_beyond_end, CASE_TCP),
	CASE(sendfile_nonblocking, CASE_TCP | CASE_LONG),
	CASE(sendfile_to_ended, CASE_TCP),
	CASE(sendfile_raises_sigpipe, CASE_TCP),
	CASE(pipe_to_socket_more, CASE_TCP),
	CASE(vmsplice_to_socket, CASE_TCP),
	CASE(empty_pipe_to_socket, CASE_TCP),
	CASE(pipe_to_full_socket, CASE_TCP),
	CASE(empty_socket_to_pipe, CASE_TCP),
	CASE(socket_to_full_pipe, CASE_TCP),
	CASE(ended_socket_to_pipe, CASE_TCP),
	CASE(reset_socket_to_pipe, CASE_TCP),
	CASE(sockets_cannot_seek, CASE_TCP),
	CASE(socket_to_file, CASE_TCP),
	CASE(socket_to_socket, CASE_TCP | CASE_IPV6),
	CASE(tee_to_two_sockets, CASE_TCP),
	CASE(pages_in_pipe_are_ours, 0),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
