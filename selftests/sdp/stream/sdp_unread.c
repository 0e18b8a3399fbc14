// SPDX-License-Identifier: GPL-2.0
/*
 * A program does not read what has come, or not yet: it waits for more, it only
 * looks, or it is busy with something else. What its peer may count on, and who
 * waits for room meanwhile, are woken as with TCP.
 */
#define _GNU_SOURCE
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "sdp_engine.h"
#include "sdp_memory.h"

#define SEED	3
#define RING	(64 * KIB)

/* Nothing of this may take for ever. */
static struct pair with_limits(struct pair p)
{
	int i, fd[] = { p.client, p.server };

	for (i = 0; i < 2; i++) {
		set_int(fd[i], SOL_TCP, TCP_NODELAY, 1);
		set_timeout(fd[i], SO_SNDTIMEO, wait_limit_ms());
		set_timeout(fd[i], SO_RCVTIMEO, wait_limit_ms());
	}
	return p;
}

static struct pair plain_pair(void)
{
	return with_limits(new_pair());
}

static struct pair rdma_pair(void)
{
	return with_limits(flow_connect("rdma", RING).p);
}

static struct pair nic_pair(void)
{
	return with_limits(flow_connect("nic", RING).p);
}

/* The least that there may be. */
static struct pair small_pair(void)
{
	return with_limits(new_limited_pair(1));
}

/* ---- a reader that waits for more ---- */

#define WORD	10
#define WANTED	100

static void set_mark(int fd)
{
	set_int(fd, SOL_SOCKET, SO_RCVLOWAT, WANTED);
}

static long poll_for_all(int fd)
{
	long mask = op_poll(fd);

	return mask == POLLIN ? ioctl_int(fd, FIONREAD) : mask;
}

static long peek_at_all(int fd)
{
	char buf[WANTED];

	return recv(fd, buf, sizeof(buf), MSG_PEEK | MSG_WAITALL);
}

static void send_words(int from, int to, uint64_t *pos, int count)
{
	int had = ioctl_int(to, FIONREAD);
	int i;

	for (i = 1; i <= count; i++, *pos += WORD) {
		send_pattern(from, SEED, *pos, WORD, WORD);
		wait_inq(to, had + i * WORD);
	}
}

static void take_words(int fd, int count)
{
	int i;

	for (i = 0; i < count; i++)
		recv_pattern(fd, SEED, i * WORD, WORD, WORD);
}

/*
 * One end waits for ten words. The other sends some, reads what it had got
 * itself, for which it may have to tell the first of its room, and sends the rest.
 */
static void wait_for_words(struct pair p, sdp_op wait, int back, int before)
{
	uint64_t up = 0, down = 0;
	struct blocked b;

	send_words(p.client, p.server, &up, back);
	block_start(&b, wait, p.client);
	send_words(p.server, p.client, &down, before);
	take_words(p.server, back);
	send_words(p.server, p.client, &down, WANTED / WORD - before);
	WAIT_FOR(__atomic_load_n(&b.done, __ATOMIC_ACQUIRE));
	CHECK_EQ(block_join(&b), WANTED);
	recv_pattern(p.client, SEED, 0, WANTED, WANTED);
	close_pair(p);
}

static void wait_each_way(struct pair (*connect)(void), void (*prepare)(int fd),
			  sdp_op wait)
{
	static const int back[] = { 2, 4, 6 }, before[] = { 3, 5, 6 };
	struct pair p;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(back) * ARRAY_SIZE(before); i++) {
		p = connect();
		if (prepare)
			prepare(p.client);
		wait_for_words(p, wait, back[i / 3], before[i % 3]);
	}
}

static void mark_is_reached(void)
{
	wait_each_way(plain_pair, set_mark, poll_for_all);
}

static void mark_is_reached_in_little(void)
{
	wait_each_way(small_pair, set_mark, poll_for_all);
}

static void mark_is_reached_rdma(void)
{
	wait_each_way(rdma_pair, set_mark, poll_for_all);
}

static void mark_is_reached_nic(void)
{
	wait_each_way(nic_pair, set_mark, poll_for_all);
}

static void peek_waits_for_all(void)
{
	wait_each_way(plain_pair, NULL, peek_at_all);
}

static void peek_waits_for_all_rdma(void)
{
	wait_each_way(rdma_pair, NULL, peek_at_all);
}

static void peek_waits_for_all_nic(void)
{
	wait_each_way(nic_pair, NULL, peek_at_all);
}

/* ---- what a peer may send to whom does not read ---- */

static void peek_pattern(int fd, uint64_t pos, size_t len)
{
	unsigned char *buf = malloc(len);

	CHECK(buf);
	CHECK_EQ(recv(fd, buf, len, MSG_PEEK), len);
	pattern_verify(buf, len, SEED, pos);
	free(buf);
}

/*
 * Writes of one size, up to so many bytes that are not read; then a few are, and
 * as many come again.
 */
static void send_unread(struct pair p, size_t size, size_t total)
{
	uint64_t sent = 0, read = 0;
	size_t take;

	for (take = 1; take <= 3 * KIB; take *= 40) {
		send_pattern(p.client, SEED, sent, read + total - sent, size);
		sent = read + total;
		wait_inq(p.server, total);
		peek_pattern(p.server, read, total);
		recv_pattern(p.server, SEED, read, take, take);
		read += take;
	}
	recv_pattern(p.server, SEED, read, sent - read, 4 * KIB);
	close_pair(p);
}

static void unread_bytes(void)
{
	send_unread(plain_pair(), 1, 5000);
}

static void unread_bytes_in_little(void)
{
	send_unread(small_pair(), 1, 4 * KIB);
}

static void unread_writes(struct pair (*connect)(void), size_t total)
{
	static const size_t sizes[] = { 11, 100, 1100, 2100, 3000, 5000 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		send_unread(connect(), sizes[i], total);
}

static void unread_writes_of_any_size(void)
{
	unread_writes(plain_pair, 40 * KIB);
}

static void unread_writes_rdma(void)
{
	unread_writes(rdma_pair, RING - RING / 8);
}

static void unread_writes_nic(void)
{
	unread_writes(nic_pair, RING / 2);
}

/* What is moved together is charged as before, and not more. */
static void unread_is_charged(void)
{
	struct pair p = plain_pair();
	size_t most;

	set_int(p.server, SOL_SOCKET, SO_RCVBUF, 50000);
	most = get_int(p.server, SOL_SOCKET, SO_RCVBUF);
	send_pattern(p.client, SEED, 0, 40 * KIB, 700);
	wait_inq(p.server, 40 * KIB);
	CHECK(mem_received(p.server) <= most);
	recv_pattern(p.server, SEED, 0, 40 * KIB, 900);
	close_pair(p);
}

/* ---- writers that wait for room ---- */

static size_t send_limit;

/* The highest bit of a byte says which of two writers has written it. */
#define WRITERS	2

static void writer_fill(unsigned char *buf, size_t len, int writer,
			uint64_t pos)
{
	size_t i;

	pattern_fill(buf, len, SEED + 1 + writer, pos);
	for (i = 0; i < len; i++)
		buf[i] = (buf[i] & 0x7f) | writer << 7;
}

static long send_as(int fd, int writer, size_t len)
{
	static unsigned char buf[WRITERS][256 * KIB];

	CHECK(len <= sizeof(buf[writer]));
	writer_fill(buf[writer], len, writer, 0);
	return send(fd, buf[writer], len, MSG_NOSIGNAL);
}

static long op_send_third(int fd)
{
	return send_as(fd, 0, send_limit / 3 - 16);
}

static long op_send_limit(int fd)
{
	return send_as(fd, 1, send_limit);
}

/* Pages until none goes in any more, and the peer's end is full, too. */
static size_t fill_with_pages(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	static char buf[4 * KIB];
	size_t len = 0;
	ssize_t n;

	for (;;) {
		pattern_fill(buf, sizeof(buf), SEED, len);
		n = send(fd, buf, sizeof(buf), MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n > 0)
			len += n;
		else if (!poll(&p, 1, quiet_ms()))
			return len;
	}
}

/* Slowly, so that writers are woken as soon as there is room enough. */
static size_t read_a_bit(int fd, unsigned char *buf, size_t most)
{
	pause_a_bit();
	return CHECK_OK(recv(fd, buf, most < 4 * KIB ? most : 4 * KIB, 0));
}

static void read_what_filled(int fd, size_t len)
{
	unsigned char buf[4 * KIB];
	size_t pos, n;

	for (pos = 0; pos < len; pos += n) {
		n = read_a_bit(fd, buf, len - pos);
		CHECK(n);
		pattern_verify(buf, n, SEED, pos);
	}
}

/* Verifies what one of them has written in a row; returns how much that is. */
static size_t verify_piece(const unsigned char *buf, size_t len,
			   size_t pos[WRITERS])
{
	unsigned char want[4 * KIB];
	int writer = buf[0] >> 7;
	size_t n = 1;

	while (n < len && buf[n] >> 7 == writer)
		n++;
	writer_fill(want, n, writer, pos[writer]);
	CHECK(!memcmp(buf, want, n));
	pos[writer] += n;
	return n;
}

/*
 * A writer that waits for room lets the other one write, as with TCP: the bytes of
 * each come in their order, and in pieces of any size.
 */
static void read_writers(int fd, const size_t len[WRITERS])
{
	size_t left = len[0] + len[1], pos[WRITERS] = { 0 }, n, i;
	unsigned char buf[4 * KIB];

	for (; left; left -= n) {
		n = read_a_bit(fd, buf, left);
		CHECK(n);
		for (i = 0; i < n;)
			i += verify_piece(buf + i, n - i, pos);
	}
	CHECK_EQ(pos[0], len[0]);
	CHECK_EQ(pos[1], len[1]);
}

/* The room that wakes two writers is enough for the first only. */
static void second_writer_is_woken(void)
{
	unsigned int round;

	for (round = 0; round < 3; round++) {
		struct pair p = plain_pair();
		struct blocked first, second;
		size_t filled, len[WRITERS];

		set_int(p.client, SOL_SOCKET, SO_SNDBUF, 32 * KIB);
		send_limit = get_int(p.client, SOL_SOCKET, SO_SNDBUF);
		len[0] = send_limit / 3 - 16;
		len[1] = send_limit;
		filled = fill_with_pages(p.client);
		block_start(&second, op_send_limit, p.client);
		block_start(&first, op_send_third, p.client);
		read_what_filled(p.server, filled);
		read_writers(p.server, len);
		CHECK_EQ(block_join(&first), len[0]);
		CHECK_EQ(block_join(&second), len[1]);
		close_pair(p);
	}
}

/*
 * What was written while there was room enough arrives without a word, but for
 * every now and then; then there is none any more.
 */
static void poll_after_room_has_shrunk(void)
{
	struct stopwatch watch = start_watch();
	uint64_t limit = wait_limit_ms();
	struct pair p;
	int i;

	for (i = 0; i < 4; i++) {
		p = plain_pair();
		send_pattern(p.client, SEED, 0, 9000, 3000);
		set_int(p.client, SOL_SOCKET, SO_SNDBUF, 1);
		wait_poll(p.client, POLLOUT);
		recv_pattern(p.server, SEED, 0, 9000, 9000);
		close_pair(p);
	}
	/* An idle socket is looked after every five seconds. */
	CHECK(watch_ms(watch) < 8000 || limit > 30000);
}

static const struct sdp_case cases[] = {
	CASE(mark_is_reached, CASE_IPV6 | CASE_TCP),
	CASE(mark_is_reached_in_little, CASE_SDP_ONLY),
	CASE(mark_is_reached_rdma, CASE_SDP_ONLY),
	CASE(mark_is_reached_nic, CASE_SDP_ONLY),
	CASE(peek_waits_for_all, CASE_TCP),
	CASE(peek_waits_for_all_rdma, CASE_SDP_ONLY),
	CASE(peek_waits_for_all_nic, CASE_SDP_ONLY),
	CASE(unread_bytes, CASE_IPV6 | CASE_TCP),
	CASE(unread_bytes_in_little, CASE_SDP_ONLY),
	CASE(unread_writes_of_any_size, CASE_TCP),
	CASE(unread_writes_rdma, CASE_SDP_ONLY),
	CASE(unread_writes_nic, CASE_SDP_ONLY),
	CASE(unread_is_charged, CASE_SDP_ONLY),
	CASE(second_writer_is_woken, CASE_TCP),
	CASE(poll_after_room_has_shrunk, CASE_TCP),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
