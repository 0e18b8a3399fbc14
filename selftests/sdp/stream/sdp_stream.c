// SPDX-License-Identifier: GPL-2.0
/* Bulk transfers of every shape: sizes, chunkings, directions, files, pipes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/sendfile.h>

#include "sdp_test.h"

/* One side of a transfer, run by a thread. */
struct flow {
	int fd;
	uint64_t seed;
	size_t len;
	size_t chunk;		/* of one call; 0 for random sizes */
};

static size_t next_chunk(const struct flow *f, uint32_t *rnd, size_t left)
{
	size_t n = f->chunk ? f->chunk : 1 + random_next(rnd) % 20000;

	return n < left ? n : left;
}

static void *sender(void *arg)
{
	struct flow *f = arg;
	uint32_t rnd = opts.seed + 1;
	uint64_t pos = 0;

	while (pos < f->len) {
		size_t n = next_chunk(f, &rnd, f->len - pos);

		send_pattern(f->fd, f->seed, pos, n, n);
		pos += n;
	}
	return NULL;
}

static void *receiver(void *arg)
{
	struct flow *f = arg;
	uint32_t rnd = opts.seed + 2;
	uint64_t pos = 0;

	while (pos < f->len) {
		size_t n = next_chunk(f, &rnd, f->len - pos);

		recv_pattern(f->fd, f->seed, pos, n, n);
		pos += n;
	}
	return NULL;
}

/* len bytes from client to server with the given sizes of the calls. */
static void one_way(size_t len, size_t out_chunk, size_t in_chunk)
{
	struct pair p = new_pair();
	struct flow out = { p.client, 1, len, out_chunk };
	struct flow in = { p.server, 1, len, in_chunk };
	pthread_t t;

	set_int(p.client, SOL_TCP, TCP_NODELAY, 1);
	thread_start(&t, sender, &out);
	receiver(&in);
	thread_join(t);
	close_pair(p);
}

/* Each power of two and its neighbours as one send() on one connection. */
static void sizes_around_powers_of_two(void)
{
	struct pair p = new_pair();
	size_t limit = scaled(MIB), size;
	pthread_t t;
	int delta;

	for (size = 1; size <= limit; size *= 2) {
		for (delta = -1; delta <= 1; delta++) {
			struct flow out = { p.client, size + delta,
					    size + delta, size + delta };

			if (!out.len)
				continue;
			thread_start(&t, sender, &out);
			recv_pattern(p.server, out.seed, 0, out.len, out.len);
			thread_join(t);
		}
	}
}

static void sizes_of_several_mib(void)
{
	one_way(scaled(3 * MIB + 1), 3 * MIB + 1, 3 * MIB + 1);
	one_way(scaled(8 * MIB - 5), 8 * MIB, 100000);
}

static void bulk_64_mib(void)
{
	one_way(scaled(64 * MIB), 64 * KIB, 64 * KIB);
}

static void bulk_in_one_call(void)
{
	one_way(scaled(16 * MIB), 16 * MIB, 16 * MIB);
}

static void both_directions(void)
{
	struct pair p = new_pair();

	exchange(p.client, p.server, scaled(8 * MIB));
}

static void random_chunks(void)
{
	ktap_diag("seed %u", opts.seed);
	one_way(scaled(4 * MIB), 0, 0);
}

static void byte_writer_big_reader(void)
{
	one_way(scaled_count(16384), 1, 64 * KIB);
}

static void big_writer_byte_reader(void)
{
	one_way(scaled_count(16384), 64 * KIB, 1);
}

static void odd_writer_odd_reader(void)
{
	one_way(scaled(MIB), 4093, 8209);
}

/* Without TCP_NODELAY, with the pause of an answer after each pair of calls. */
static void write_write_read(void)
{
	struct pair p = new_pair();
	uint64_t pos;

	for (pos = 0; pos < 20 * 200; pos += 200) {
		send_pattern(p.client, 3, pos, 100, 100);
		send_pattern(p.client, 3, pos + 100, 100, 100);
		recv_pattern(p.server, 3, pos, 200, 200);
		send_pattern(p.server, 4, pos, 200, 200);
		recv_pattern(p.client, 4, pos, 200, 200);
	}
}

/* ---- several threads on one socket ---- */

#define RECORD	1000
#define RECORDS	20

/*
 * Records of one send() each: they may mix, their bytes may not as long as
 * the send buffer has room for all of them.
 */
static void *record_sender(void *arg)
{
	struct flow *f = arg;
	unsigned char buf[RECORD];
	size_t i;

	for (i = 0; i < f->len; i++) {
		memcpy(buf, &f->seed, sizeof(f->seed));
		pattern_fill(buf + 8, RECORD - 8, f->seed, i * RECORD);
		CHECK_EQ(send(f->fd, buf, RECORD, MSG_NOSIGNAL), RECORD);
	}
	return NULL;
}

static void two_threads_send(void)
{
	struct pair p = new_pair();
	struct flow f[2] = { { p.client, 1, RECORDS, 0 },
			     { p.client, 2, RECORDS, 0 } };
	unsigned char buf[RECORD];
	size_t count[3] = { 0 };
	uint64_t seed;
	pthread_t t[2];
	int i;

	set_int(p.client, SOL_SOCKET, SO_SNDBUF, 128 * KIB);
	for (i = 0; i < 2; i++)
		thread_start(&t[i], record_sender, &f[i]);
	for (i = 0; i < 2 * RECORDS; i++) {
		CHECK_EQ(recv(p.server, buf, RECORD, MSG_WAITALL), RECORD);
		memcpy(&seed, buf, sizeof(seed));
		CHECK(seed == 1 || seed == 2);
		pattern_verify(buf + 8, RECORD - 8, seed,
			       count[seed]++ * RECORD);
	}
	for (i = 0; i < 2; i++)
		thread_join(t[i]);
}

/* ---- files and pipes ---- */

struct file_flow {
	int fd;
	int file;
	size_t len;
};

static void *file_sender(void *arg)
{
	struct file_flow *f = arg;
	size_t left = f->len;

	while (left) {
		size_t n = CHECK_OK(sendfile(f->fd, f->file, NULL, left));

		CHECK(n > 0 && n <= left);
		left -= n;
	}
	CHECK_OK(shutdown(f->fd, SHUT_WR));
	return NULL;
}

static void sendfile_from_file(void)
{
	size_t len = scaled(2 * MIB) + 123;
	struct pair p = new_pair();
	struct file_flow f = { p.client, pattern_file(5, len), len };
	pthread_t t;
	char c;

	thread_start(&t, file_sender, &f);
	recv_pattern(p.server, 5, 0, len, 50000);
	CHECK_EQ(recv(p.server, &c, 1, 0), 0);
	thread_join(t);
}

static void *pipe_to_socket(void *arg)
{
	struct file_flow *f = arg;
	size_t left = f->len;

	while (left) {
		size_t n = CHECK_OK(splice(f->file, NULL, f->fd, NULL, left,
					   SPLICE_F_MOVE));

		CHECK(n > 0 && n <= left);
		left -= n;
	}
	return NULL;
}

static void splice_from_pipe(void)
{
	size_t len = scaled(MIB) + 77, pos = 0;
	struct pair p = new_pair();
	struct flow in = { p.server, 6, len, 30000 };
	unsigned char buf[3001];
	struct file_flow f;
	pthread_t t, r;
	int pipes[2];

	CHECK_OK(pipe(pipes));
	f = (struct file_flow){ p.client, pipes[0], len };
	thread_start(&t, pipe_to_socket, &f);
	thread_start(&r, receiver, &in);
	while (pos < len) {
		size_t n = len - pos < sizeof(buf) ? len - pos : sizeof(buf);

		pattern_fill(buf, n, 6, pos);
		CHECK_EQ(write(pipes[1], buf, n), n);
		pos += n;
	}
	thread_join(t);
	thread_join(r);
}

static void *socket_to_pipe(void *arg)
{
	struct file_flow *f = arg;
	long n;

	do {
		n = CHECK_OK(splice(f->fd, NULL, f->file, NULL, 64 * KIB,
				    SPLICE_F_MOVE));
	} while (n > 0);
	CHECK_OK(close(f->file));
	return NULL;
}

static void *send_and_end(void *arg)
{
	struct flow *f = arg;

	sender(f);
	CHECK_OK(shutdown(f->fd, SHUT_WR));
	return NULL;
}

static void splice_to_pipe(void)
{
	size_t len = scaled(MIB) + 55, pos = 0;
	struct pair p = new_pair();
	struct flow out = { p.client, 7, len, 30000 };
	unsigned char buf[3001];
	struct file_flow f;
	pthread_t t, s;
	int pipes[2];
	long n;

	CHECK_OK(pipe(pipes));
	f = (struct file_flow){ p.server, pipes[1], len };
	thread_start(&t, socket_to_pipe, &f);
	thread_start(&s, send_and_end, &out);
	while ((n = CHECK_OK(read(pipes[0], buf, sizeof(buf)))) > 0) {
		pattern_verify(buf, n, 7, pos);
		pos += n;
	}
	CHECK_EQ(pos, len);
	thread_join(t);
	thread_join(s);
}

static const struct sdp_case cases[] = {
	CASE(sizes_around_powers_of_two, CASE_LONG),
	CASE(sizes_of_several_mib, CASE_LONG),
	CASE(bulk_64_mib, CASE_LONG),
	CASE(bulk_in_one_call, CASE_LONG),
	CASE(both_directions, CASE_IPV6 | CASE_LONG),
	CASE(random_chunks, 0),
	CASE(byte_writer_big_reader, CASE_LONG),
	CASE(big_writer_byte_reader, CASE_LONG),
	CASE(odd_writer_odd_reader, 0),
	CASE(write_write_read, 0),
	CASE(two_threads_send, 0),
	CASE(sendfile_from_file, 0),
	CASE(splice_from_pipe, 0),
	CASE(splice_to_pipe, 0),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
