// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that move data, and those that ask or set something, with each fault that they may
 * meet, one at a time.  The call fails with an errno that says so, or does less; what it has
 * done is right to the byte, and the connection goes on.  What leaks is found at the end.
 * Needs root, and a kernel that injects faults.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/sdp.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_inject.h"
#include "sdp_memory.h"
#include "sdp_transfer.h"

/* What was taken arrives, and then the rest. */
static void after_send(struct scene *s, long ret)
{
	long n = ret < 0 ? 0 : ret;

	CHECK(n <= SCENE_LEN);
	write_all(s->p.client, s->buf + n, SCENE_LEN - n);
	recv_pattern(s->p.server, SEED_UP, 0, SCENE_LEN, SCENE_LEN);
	scene_end(s);
}

static long call_send(struct scene *s)
{
	return send(s->p.client, s->buf, SCENE_LEN, 0);
}

static long call_sendmsg(struct scene *s)
{
	struct iovec iov[] = {
		{ s->buf, 1 }, { s->buf + 1, 4999 }, { s->buf + 5000, SCENE_LEN - 5000 },
	};
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = ARRAY_SIZE(iov) };

	return sendmsg(s->p.client, &msg, 0);
}

static void send_some(void)
{
	static const struct op op = { scene_pair, call_send, after_send };

	CHECK(inject_each(&op));
}

static void send_pieces(void)
{
	static const struct op op = { scene_pair, call_sendmsg, after_send };

	CHECK(inject_each(&op));
}

static void after_recv(struct scene *s, long ret)
{
	long n = ret < 0 ? 0 : ret;

	pattern_verify(s->buf, n, SEED_UP, 0);
	recv_pattern(s->p.server, SEED_UP, n, SCENE_LEN - n, SCENE_LEN);
	scene_end(s);
}

static long call_recv(struct scene *s)
{
	return recv(s->p.server, s->buf, SCENE_LEN, 0);
}

static void make_arrived(struct scene *s)
{
	scene_written(s);
	wait_inq(s->p.server, SCENE_LEN);
}

static void recv_some(void)
{
	static const struct op op = { make_arrived, call_recv, after_recv };

	CHECK(inject_each(&op));
}

static long call_peek(struct scene *s)
{
	return recv(s->p.server, s->buf, SCENE_LEN, MSG_PEEK);
}

static void after_peek(struct scene *s, long ret)
{
	if (ret > 0)
		pattern_verify(s->buf, ret, SEED_UP, 0);
	recv_pattern(s->p.server, SEED_UP, 0, SCENE_LEN, SCENE_LEN);
	scene_end(s);
}

static void peek_some(void)
{
	static const struct op op = { make_arrived, call_peek, after_peek };

	CHECK(inject_each(&op));
}

/* ---- from and to files ---- */

static int file_of(const unsigned char *buf)
{
	int fd = CHECK_OK(memfd_create("pattern", MFD_CLOEXEC));

	CHECK_EQ(write(fd, buf, SCENE_LEN), SCENE_LEN);
	return fd;
}

static void make_file(struct scene *s)
{
	scene_pair(s);
	s->fd = file_of(s->buf);
}

static long call_sendfile(struct scene *s)
{
	off_t at = 0;

	return sendfile(s->p.client, s->fd, &at, SCENE_LEN);
}

static void after_sendfile(struct scene *s, long ret)
{
	close(s->fd);
	after_send(s, ret);
}

static void send_file(void)
{
	static const struct op op = { make_file, call_sendfile, after_sendfile };

	CHECK(inject_each(&op));
}

static int pipe_ends[2];

static void make_pipe(struct scene *s)
{
	make_arrived(s);
	CHECK_OK(pipe(pipe_ends));
}

static long call_splice(struct scene *s)
{
	return splice(s->p.server, NULL, pipe_ends[1], NULL, SCENE_LEN, 0);
}

static void after_splice(struct scene *s, long ret)
{
	if (ret > 0)
		CHECK_EQ(read(pipe_ends[0], s->buf, ret), ret);
	close(pipe_ends[0]);
	close(pipe_ends[1]);
	after_recv(s, ret);
}

static void splice_to_pipe(void)
{
	static const struct op op = { make_pipe, call_splice, after_splice };

	CHECK(inject_each(&op));
}

/* ---- without a copy ---- */

#define LONG	(256 * KIB)

static struct job reader;
static pthread_t thread;
static unsigned char *memory_sent;

static void make_mode(struct scene *s, const char *mode)
{
	s->p = zcopy_pair(mode, mode);
	memory_sent = memory(LONG, 0);
	pattern_fill(memory_sent, LONG, SEED_UP, 0);
	reader = (struct job){ .fd = s->p.server, .seed = SEED_UP, .len = LONG, .chunk = LONG };
	thread_start(&thread, read_job, &reader);
}

static void make_sync(struct scene *s)
{
	make_mode(s, "sync");
}

static void make_async(struct scene *s)
{
	make_mode(s, "async");
}

static long call_write_long(struct scene *s)
{
	return write(s->p.client, memory_sent, LONG);
}

static void after_write_long(struct scene *s, long ret)
{
	long n = ret < 0 ? 0 : ret;

	write_all(s->p.client, memory_sent + n, LONG - n);
	thread_join(thread);
	munmap(memory_sent, LONG);
	scene_end(s);
}

static void write_zsdp(void)
{
	static const struct op op = { make_sync, call_write_long, after_write_long };

	CHECK(inject_each(&op));
}

static void write_azsdp(void)
{
	static const struct op op = { make_async, call_write_long, after_write_long };

	CHECK(inject_each(&op));
}

static void make_blocking(struct scene *s)
{
	make_async(s);
	CHECK_OK(setsockopt(s->p.client, SOL_SDP, SDP_ZCOPY_FAULT, "block", 5));
}

static void write_blocking(void)
{
	static const struct op op = { make_blocking, call_write_long, after_write_long };

	CHECK(inject_each(&op));
}

/* A page that others have, too, is copied before the rest is protected. */
static void make_with_pipe(struct scene *s)
{
	struct iovec page;

	make_async(s);
	page = (struct iovec){ memory_sent + LONG / 2, sysconf(_SC_PAGESIZE) };
	CHECK_OK(pipe(pipe_ends));
	CHECK_EQ(vmsplice(pipe_ends[1], &page, 1, 0), page.iov_len);
}

static void after_write_with_pipe(struct scene *s, long ret)
{
	size_t len = sysconf(_SC_PAGESIZE);

	after_write_long(s, ret);
	CHECK_EQ(read(pipe_ends[0], s->buf, len), len);
	pattern_verify(s->buf, len, SEED_UP, LONG / 2);
	close(pipe_ends[0]);
	close(pipe_ends[1]);
}

static void write_with_page_in_pipe(void)
{
	static const struct op op = { make_with_pipe, call_write_long, after_write_with_pipe };

	CHECK(inject_each(&op));
}

static struct job writer;
static unsigned char *memory_read;

static void make_offered(struct scene *s)
{
	s->p = zcopy_pair("sync", "sync");
	memory_sent = memory(LONG, 0);
	memory_read = memory(LONG, 0);
	pattern_fill(memory_sent, LONG, SEED_UP, 0);
	writer = (struct job){ .fd = s->p.client, .len = LONG, .buf = memory_sent };
	thread_start(&thread, write_memory_job, &writer);
	wait_poll(s->p.server, POLLIN);
}

static long call_read_long(struct scene *s)
{
	return recv(s->p.server, memory_read, LONG, MSG_WAITALL);
}

static void after_read_long(struct scene *s, long ret)
{
	long n = ret < 0 ? 0 : ret;

	pattern_verify(memory_read, n, SEED_UP, 0);
	recv_pattern(s->p.server, SEED_UP, n, LONG - n, LONG);
	thread_join(thread);
	munmap(memory_sent, LONG);
	munmap(memory_read, LONG);
	scene_end(s);
}

static void read_offered(void)
{
	static const struct op op = { make_offered, call_read_long, after_read_long };

	CHECK(inject_each(&op));
}

/* ---- questions and options ---- */

static void after_any(struct scene *s, long ret)
{
	(void)ret;
	scene_end(s);
}

static long call_info(struct scene *s)
{
	struct sdp_info info;
	socklen_t len = sizeof(info);

	return getsockopt(s->p.client, SOL_SDP, SDP_INFO, &info, &len);
}

static long call_poll(struct scene *s)
{
	struct pollfd fd = { .fd = s->p.client, .events = POLLIN | POLLOUT };

	return poll(&fd, 1, 0);
}

static long call_outq(struct scene *s)
{
	int n;

	return ioctl(s->p.client, SIOCOUTQ, &n);
}

static void ask(void)
{
	static const struct op ops[] = {
		{ scene_pair, call_info, after_any },
		{ scene_pair, call_poll, after_any },
		{ scene_pair, call_outq, after_any },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ops); i++)
		inject_each(&ops[i]);
}

static const struct {
	int level, name;
	const char *value;
} options[] = {
	{ SOL_SOCKET, SO_RCVBUF, "\0\0\1" },
	{ SOL_SOCKET, SO_SNDBUF, "\0\0\1" },
	{ SOL_SOCKET, SO_KEEPALIVE, "\1\0\0" },
	{ IPPROTO_TCP, TCP_NODELAY, "\1\0\0" },
	{ IPPROTO_TCP, TCP_CORK, "\0\0\0" },
	{ IPPROTO_TCP, SDP_ZCOPY_THRESH, "\0\0\1" },
};

static size_t chosen;

static long call_set(struct scene *s)
{
	return setsockopt(s->p.client, options[chosen].level, options[chosen].name,
			  options[chosen].value, sizeof(int));
}

static void set(void)
{
	static const struct op op = { scene_pair, call_set, after_any };

	for (chosen = 0; chosen < ARRAY_SIZE(options); chosen++)
		inject_each(&op);
}

static const char *const shown[] = {
	"/proc/net/sdp", "/proc/net/sdpstats", "/proc/net/sdp_devices", SYSCTL_FLOW, SYSCTL_FLOWS,
};

static long call_show(struct scene *s)
{
	int fd = open(shown[chosen], O_RDONLY);
	ssize_t n;
	int err;

	if (fd < 0) {
		/* What /proc says if there is no memory for an inode of its own. */
		errno = errno == ENOENT ? ENOMEM : errno;
		return -1;
	}
	do
		n = read(fd, s->buf, SCENE_LEN);
	while (n > 0);
	err = errno;
	close(fd);
	errno = err;
	return n;
}

static void show(void)
{
	static const struct op op = { scene_pair, call_show, after_any };

	for (chosen = 0; chosen < ARRAY_SIZE(shown); chosen++)
		inject_each(&op);
}

static const struct sdp_case cases[] = {
	CASE(send_some, CASE_LONG),
	CASE(send_pieces, CASE_LONG),
	CASE(recv_some, CASE_LONG),
	CASE(peek_some, CASE_LONG),
	CASE(send_file, CASE_LONG),
	CASE(splice_to_pipe, CASE_LONG),
	CASE(write_zsdp, CASE_LONG | CASE_SDP_ONLY),
	CASE(write_azsdp, CASE_LONG | CASE_SDP_ONLY),
	CASE(write_blocking, CASE_LONG | CASE_SDP_ONLY),
	CASE(write_with_page_in_pipe, CASE_LONG | CASE_SDP_ONLY),
	CASE(read_offered, CASE_LONG | CASE_SDP_ONLY),
	CASE(ask, CASE_LONG | CASE_SDP_ONLY),
	CASE(set, CASE_LONG | CASE_SDP_ONLY),
	CASE(show, CASE_LONG | CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
