// SPDX-License-Identifier: GPL-2.0
/*
 * A connection that carries a pattern in both directions.  Each write and each read is of a
 * size and a kind that chance picks, threads are interrupted, and the process forks; and
 * each byte that arrives is the one that belongs there.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/sdp.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/sdp_memory.h"
#include "fuzz.h"

#define MOST	(512 * KIB)
#define PIECE	(160 * KIB)
#define PAGE	4096

/* One end of one direction. */
struct end {
	pthread_t thread;
	int fd;
	uint32_t state;
	uint64_t seed, pos, total;
	unsigned char *memory;	/* PIECE bytes, and then nothing */
	unsigned char *stream;	/* a writer's: all of it, of a file */
	int file;
	int pipe[2];
	bool done;
};

static uint32_t any(struct end *e, uint32_t below)
{
	return fuzz_below(&e->state, below);
}

/* As likely short as long. */
static size_t any_size(struct end *e)
{
	return 1 + any(e, 1U << any(e, 18)) % PIECE;
}

/* Who goes on behind it gets no further. */
static unsigned char *fenced(size_t len)
{
	unsigned char *at = mmap(NULL, len + PAGE, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(at != MAP_FAILED);
	CHECK_OK(mprotect(at + len, PAGE, PROT_NONE));
	return at;
}

static void pieces_of(struct end *e, struct iovec iov[4], unsigned char *from, size_t len)
{
	int i;

	for (i = 0; i < 3; i++) {
		iov[i].iov_base = from;
		iov[i].iov_len = any(e, len + 1);
		from += iov[i].iov_len;
		len -= iov[i].iov_len;
	}
	iov[3] = (struct iovec){ .iov_base = from, .iov_len = len };
}

/* ---- writers ---- */

static ssize_t write_flags(struct end *e, size_t len)
{
	static const int flags[] = {
		0, MSG_MORE, MSG_DONTWAIT, MSG_ZEROCOPY, MSG_ZEROCOPY | MSG_DONTWAIT, MSG_EOR,
	};
	int how = flags[any(e, ARRAY_SIZE(flags))];
	ssize_t n = send(e->fd, e->stream + e->pos, len, MSG_NOSIGNAL | how);

	/* Nobody reads the words of writes that are done, and there is room for so many. */
	if (n < 0 && errno == ENOBUFS && (how & MSG_ZEROCOPY))
		errno = EAGAIN;
	return n;
}

static ssize_t write_pieces(struct end *e, size_t len)
{
	struct iovec iov[4];

	pieces_of(e, iov, e->stream + e->pos, len);
	return writev(e->fd, iov, 4);
}

static ssize_t write_file(struct end *e, size_t len)
{
	off_t at = e->pos;

	return sendfile(e->fd, e->file, &at, len);
}

/* The memory is the writer's again once the call has returned. */
static ssize_t write_and_store(struct end *e, size_t len)
{
	unsigned char *from = e->memory + any(e, PIECE - len + 1);
	ssize_t n;

	memcpy(from, e->stream + e->pos, len);
	n = send(e->fd, from, len, MSG_NOSIGNAL | (any(e, 2) ? MSG_DONTWAIT : 0));
	if (any(e, 4))
		memset(from, 0xee, len);
	else
		madvise(e->memory, PIECE, MADV_DONTNEED);
	return n;
}

/* Half of it is not there. */
static ssize_t write_over_the_edge(struct end *e, size_t len)
{
	unsigned char *from = e->memory + PIECE - len;
	ssize_t n;

	memcpy(from, e->stream + e->pos, len);
	n = send(e->fd, from, 2 * len, MSG_NOSIGNAL);
	CHECK(n <= (ssize_t)len);
	return n;
}

/* All that is in the pipe has to go. */
static ssize_t write_splice(struct end *e, size_t len)
{
	struct iovec iov = { .iov_base = e->stream + e->pos, .iov_len = len };
	ssize_t n = vmsplice(e->pipe[1], &iov, 1, SPLICE_F_NONBLOCK), left, moved;

	for (left = n; left > 0; left -= moved) {
		moved = splice(e->pipe[0], NULL, e->fd, NULL, left,
			       any(e, 2) ? SPLICE_F_MORE : 0);
		if (moved < 0) {
			CHECK(errno == EINTR || errno == EAGAIN);
			moved = 0;
		}
	}
	return n;
}

/* With less room, or with a reader who waits for more than there is room, TCP hardly moves. */
static void change(struct end *e)
{
	static const int names[][2] = {
		{ IPPROTO_TCP, TCP_NODELAY }, { IPPROTO_TCP, TCP_CORK }, { SOL_SOCKET, SO_SNDBUF },
		{ SOL_SOCKET, SO_RCVBUF }, { SOL_SOCKET, SO_RCVLOWAT },
		{ IPPROTO_TCP, SDP_ZCOPY_THRESH }, { IPPROTO_TCP, TCP_NOTSENT_LOWAT },
	};
	static const int values[] = { 0, 1, 1, 4096, 65536, 200000 };
	const int *name = names[any(e, ARRAY_SIZE(names) - opts.tcp * 2)];
	int value = values[any(e, ARRAY_SIZE(values))];

	if (name[1] == SO_RCVBUF || name[1] == SO_SNDBUF || name[1] == TCP_NOTSENT_LOWAT)
		value += 65536;
	if (name[1] == SO_RCVLOWAT)
		value %= 4097;
	setsockopt(e->fd, name[0], name[1], &value, sizeof(value));
}

/* What a call returned; now and then settings change. */
static void count(struct end *e, ssize_t n)
{
	if (n < 0)
		CHECK(errno == EINTR || errno == EAGAIN || errno == EFAULT);
	else
		e->pos += n;
	if (any(e, 16) == 0)
		change(e);
}

static void *writer(void *arg)
{
	static ssize_t (*const kinds[])(struct end *e, size_t len) = {
		write_flags, write_flags, write_pieces, write_file, write_and_store,
		write_and_store, write_over_the_edge, write_splice,
	};
	struct end *e = arg;

	while (e->pos < e->total) {
		size_t len = any_size(e), left = e->total - e->pos;
		ssize_t n = kinds[any(e, ARRAY_SIZE(kinds))](e, len < left ? len : left);

		count(e, n);
	}
	CHECK_OK(shutdown(e->fd, SHUT_WR));
	__atomic_store_n(&e->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* ---- readers ---- */

static void seen(struct end *e, const unsigned char *at, ssize_t n)
{
	if (n > 0)
		pattern_verify(at, n, e->seed, e->pos);
}

static ssize_t read_flags(struct end *e, size_t len)
{
	static const int flags[] = { 0, MSG_DONTWAIT, MSG_WAITALL, MSG_PEEK };
	int how = flags[any(e, ARRAY_SIZE(flags))];
	unsigned char *to = e->memory + any(e, PIECE - len + 1);
	ssize_t n = recv(e->fd, to, len, how);

	seen(e, to, n);
	/* What is only looked at is still to come; the end is seen by who takes it. */
	if (how == MSG_PEEK && n >= 0) {
		errno = EAGAIN;
		return -1;
	}
	return n;
}

static ssize_t read_pieces(struct end *e, size_t len)
{
	struct iovec iov[4];
	ssize_t n;

	pieces_of(e, iov, e->memory, len);
	n = readv(e->fd, iov, 4);
	seen(e, e->memory, n);
	return n;
}

static ssize_t read_over_the_edge(struct end *e, size_t len)
{
	unsigned char *to = e->memory + PIECE - len;
	ssize_t n = recv(e->fd, to, 2 * len, 0);

	CHECK(n <= (ssize_t)len);
	seen(e, to, n);
	return n;
}

/* Into pages that nobody has touched yet. */
static ssize_t read_fresh(struct end *e, size_t len)
{
	ssize_t n;

	CHECK_OK(madvise(e->memory, PIECE, MADV_DONTNEED));
	n = recv(e->fd, e->memory, len, any(e, 2) ? MSG_WAITALL : 0);
	seen(e, e->memory, n);
	return n;
}

static ssize_t read_splice(struct end *e, size_t len)
{
	ssize_t n = splice(e->fd, NULL, e->pipe[1], NULL, len, any(e, 2) ? SPLICE_F_NONBLOCK : 0);
	ssize_t got, at;

	for (at = 0; at < n; at += got) {
		got = read(e->pipe[0], e->memory + at, n - at);
		if (got < 0) {
			CHECK_EQ(errno, EINTR);
			got = 0;
		}
	}
	seen(e, e->memory, n);
	return n;
}

static void *reader(void *arg)
{
	static ssize_t (*const kinds[])(struct end *e, size_t len) = {
		read_flags, read_flags, read_pieces, read_over_the_edge, read_fresh, read_splice,
	};
	struct end *e = arg;
	unsigned int kind;
	size_t len;
	ssize_t n;

	do {
		kind = any(e, ARRAY_SIZE(kinds));
		len = any_size(e);
		n = kinds[kind](e, len);
		count(e, n);
	} while (n);
	if (e->pos != e->total)
		FAIL("read %u of %zu bytes: the end at byte %llu of %llu; state %d", kind, len,
		     (unsigned long long)e->pos, (unsigned long long)e->total,
		     get_int(e->fd, IPPROTO_TCP, TCP_INFO) & 0xff);
	__atomic_store_n(&e->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* ---- connections ---- */

static void choose_options(int fd, uint32_t *state)
{
	static const char *const recvs[] = { "sync", "async" };
	static const char *const faults[] = { "copy", "block" };
	int sizes[] = { 0, 1, 16384, 300000 }, size = sizes[fuzz_below(state, 4)];
	int thresh = 4096 << fuzz_below(state, 5);
	uint32_t flow = fuzz_below(state, 4), zcopy = fuzz_below(state, 4);

	fuzz_want(fd, flow, zcopy);
	fuzz_set_word(fd, SDP_ZCOPY_RECV, recvs[fuzz_below(state, 2)]);
	fuzz_set_word(fd, SDP_ZCOPY_FAULT, faults[fuzz_below(state, 2)]);
	setsockopt(fd, IPPROTO_TCP, SDP_ZCOPY_THRESH, &thresh, sizeof(thresh));
	if (size) {
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	}
}

static int open_end(const char *const addresses[2], uint32_t door, uint32_t *state)
{
	int fd = opts.tcp ? new_socket(0) : CHECK_OK(fuzz_open(door, 0));
	struct addr a = make_addr(addresses[door == 3 && !opts.tcp], 0);

	if (!opts.tcp)
		choose_options(fd, state);
	CHECK_OK(bind(fd, &a.sa, a.len));
	return fd;
}

static struct pair connect_ends(uint32_t *state)
{
	uint32_t door = fuzz_below(state, 4);
	int listener = open_end(opts.server, door, state);
	struct pair p = { .client = open_end(opts.client, door, state) };
	struct addr a;

	CHECK_OK(listen(listener, 1));
	a = local_addr(listener);
	CHECK_OK(connect(p.client, &a.sa, a.len));
	p.server = CHECK_OK(accept(listener, NULL, NULL));
	close(listener);
	set_timeout(p.client, SO_SNDTIMEO, fuzz_below(state, 3) * 20);
	set_timeout(p.server, SO_RCVTIMEO, fuzz_below(state, 3) * 20);
	return p;
}

static void prepare(struct end *e, int fd, uint64_t seed, uint64_t total, uint32_t state)
{
	*e = (struct end){ .fd = fd, .seed = seed, .total = total, .state = state };
	e->memory = fenced(PIECE);
	CHECK_OK(pipe(e->pipe));
	fcntl(e->pipe[0], F_SETPIPE_SZ, MIB);
}

/* The bytes are there from the start, and nobody changes them. */
static void prepare_stream(struct end *e)
{
	e->file = CHECK_OK(memfd_create("sdp_stream", MFD_CLOEXEC));
	CHECK_OK(ftruncate(e->file, e->total));
	e->stream = mmap(NULL, e->total, PROT_READ | PROT_WRITE, MAP_SHARED, e->file, 0);
	CHECK(e->stream != MAP_FAILED);
	pattern_fill(e->stream, e->total, e->seed, 0);
}

static void release(struct end *e)
{
	munmap(e->memory, PIECE + PAGE);
	close(e->pipe[0]);
	close(e->pipe[1]);
	if (e->stream) {
		munmap(e->stream, e->total);
		close(e->file);
	}
}

static void woken(int sig)
{
	(void)sig;
}

/* Until all have ended; a child has all pages and descriptors for a moment. */
static void disturb(struct end ends[4], uint32_t *state)
{
	unsigned int i;
	pid_t pid;

	for (i = 0; i < 4;) {
		if (__atomic_load_n(&ends[i].done, __ATOMIC_ACQUIRE)) {
			i++;
			continue;
		}
		pause_a_bit();
		if (fuzz_below(state, 4) == 0)
			pthread_kill(ends[fuzz_below(state, 4)].thread, SIGUSR1);
		if (fuzz_below(state, 20))
			continue;
		pid = CHECK_OK(fork());
		if (!pid)
			_exit(0);
		while (waitpid(pid, NULL, 0) < 0)
			CHECK_EQ(errno, EINTR);
	}
}

/* With or without the device between them, and writes sent from their pages or offered. */
static void choose_settings(uint32_t *state)
{
	static const char *const direct[] = { "0", "4096", "65536", "1048576" };

	if (opts.tcp)
		return;
	file_write("/proc/sys/net/sdp/local", fuzz_below(state, 3) ? "0" : "1");
	file_write("/proc/sys/net/sdp/zcopy_direct", direct[fuzz_below(state, 4)]);
	file_write("/proc/sys/net/sdp/device_share", fuzz_below(state, 2) ? "0" : "1");
}

void fuzz_stream(uint32_t seed)
{
	struct sigaction act = { .sa_handler = woken };
	struct end ends[4];
	uint32_t state = seed;
	struct pair p;
	int i;

	sigaction(SIGUSR1, &act, NULL);
	choose_settings(&state);
	p = connect_ends(&state);
	for (i = 0; i < 4; i++) {
		prepare(&ends[i], i == 0 || i == 3 ? p.client : p.server, seed + i / 2,
			i % 2 ? ends[i - 1].total : 1 + fuzz_below(&state, scaled(MOST)),
			random_next(&state));
		if (i % 2 == 0)
			prepare_stream(&ends[i]);
	}
	for (i = 0; i < 4; i++)
		thread_start(&ends[i].thread, i % 2 ? reader : writer, &ends[i]);
	disturb(ends, &state);
	for (i = 0; i < 4; i++) {
		thread_join(ends[i].thread);
		release(&ends[i]);
	}
	close_pair(p);
}
