// SPDX-License-Identifier: GPL-2.0
/*
 * Large writes that return before they are sent: the stream is what it is with
 * any other write, however the peer reads, and whoever leaves.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_transfer.h"

/* How long a writer waits at first for a peer that reads nothing. */
#define PATIENCE_MS	50

/* ---- the stream ---- */

static void closed_at_once(void)
{
	struct pair p = new_pair();
	int err;

	write_async(p.client, memory(8 * THRESH, 1), 8 * THRESH, 0);
	CHECK_OK(close(p.client));
	CHECK_EQ(recv_pattern_to_end(p.server, SEED_UP, 0, &err), 8 * THRESH);
	CHECK_EQ(err, 0);
	CHECK_OK(close(p.server));
}

static void shut_down_at_once(void)
{
	struct pair p = new_pair();
	int err;

	write_async(p.client, memory(8 * THRESH, 1), 8 * THRESH, 0);
	CHECK_OK(shutdown(p.client, SHUT_WR));
	CHECK_EQ(recv_pattern_to_end(p.server, SEED_UP, 0, &err), 8 * THRESH);
	CHECK_EQ(err, 0);
	send_pattern(p.server, SEED_DOWN, 0, 100, 100);
	recv_pattern(p.client, SEED_DOWN, 0, 100, 100);
	close_pair(p);
}

static void reset_at_once(void)
{
	struct pair p = new_pair();

	/* A read that has returned before says more. */
	CHECK_OK(set_zcopy_recv(p.server, "sync"));
	write_async(p.client, memory(8 * THRESH, 0), 8 * THRESH, 0);
	set_linger(p.client, 1, 0);
	CHECK_OK(close(p.client));
	CHECK_EQ(recv_until_end(p.server), ECONNRESET);
	CHECK_OK(close(p.server));
}

static void peer_resets(void)
{
	struct pair p = new_pair();

	write_async(p.client, memory(8 * THRESH, 0), 8 * THRESH, 0);
	set_linger(p.server, 1, 0);
	CHECK_OK(close(p.server));
	send_until_error(p.client);
	CHECK_OK(close(p.client));
}

/* Small writes go between the large ones. */
static void large_and_small(void)
{
	static const size_t sizes[] = {
		2 * THRESH, 10, THRESH, THRESH + 7, 3000, 5 * THRESH, 1,
	};
	struct pair p = new_pair();
	size_t n, i, chunk = 20000;
	struct job job = { p.server, SEED_UP, 0, 0, chunk };
	uint64_t pos = 0;
	pthread_t reader;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		job.len += sizes[i];
	job.len *= scaled_count(20);
	thread_start(&reader, read_job, &job);
	for (n = 0; n < scaled_count(20); n++) {
		for (i = 0; i < ARRAY_SIZE(sizes); i++) {
			unsigned char *buf = memory(sizes[i], 0);

			pattern_fill(buf, sizes[i], SEED_UP, pos);
			write_all(p.client, buf, sizes[i]);
			memset(buf, 0xee, sizes[i]);
			munmap(buf, sizes[i]);
			pos += sizes[i];
		}
	}
	thread_join(reader);
	close_pair(p);
}

/* As many as the peer holds are under way, the next write waits. */
static void several_under_way(void)
{
	struct pair p = new_pair();
	unsigned char *buf = memory(5 * THRESH, 0);
	int n;

	for (n = 0; n < 4; n++)
		write_async(p.client, buf + n * THRESH, THRESH, n * THRESH);
	/* What is not offered arrives, although nobody reads it; so does what is given up. */
	if (writes_are_offered() && !info_of(p.client).sdpi_zcopy_cancels)
		CHECK(ioctl_int(p.client, SIOCOUTQ) >= (int)(4 * THRESH));
	memset(buf, 0xee, 4 * THRESH);
	read_all(p.server, 0, 4 * THRESH);
	WAIT_FOR(ioctl_int(p.client, SIOCOUTQ) == 0);
	close_pair(p);
}

/* Who does not wait gets as much accepted as there is room for. */
static void without_waiting(void)
{
	struct pair p = new_pair();
	size_t len = 2 * THRESH;
	unsigned char *buf = memory(len, 0);
	uint64_t pos = fill_and_overwrite(p.client, buf, len), got = 0;

	CHECK(info_of(p.client).sdpi_async_sent > 0);
	read_all(p.server, got, pos);
	wait_poll(p.client, POLLOUT);
	close_pair(p);
}

/* ---- readers that take it by copy ---- */

static void small_reads(const char *engine)
{
	struct pair p = engine_pair(engine, engine, 64 * KIB);
	unsigned char *buf = memory(5 * THRESH, 77);

	if (info_of(p.client).sdpi_flow_reason == SDP_FLOW_REASON_DEVICE)
		sdp_skip("the device cannot carry the engine %s", engine);
	write_async(p.client, buf, 2 * THRESH, 0);
	write_async(p.client, buf + 2 * THRESH, 3 * THRESH, 2 * THRESH);
	memset(buf, 0xee, 5 * THRESH);
	recv_pattern(p.server, SEED_UP, 0, 5 * THRESH, 1000);
	/* Where this takes long the writer's side may have come first. */
	CHECK_EQ(info_of(p.server).sdpi_zcopy_refusals > 0 ||
		 info_of(p.client).sdpi_zcopy_cancels > 0, writes_are_offered());
	close_pair(p);
}

static void small_reads_credit(void)
{
	small_reads("credit");
}

static void small_reads_rdma(void)
{
	small_reads("rdma");
}

static void small_reads_nic(void)
{
	small_reads("nic");
}

static void *write_random(void *arg)
{
	unsigned char *buf = memory(5 * THRESH, 0);
	uint32_t random = opts.seed;
	struct job *j = arg;
	size_t len;

	while (j->pos < j->len) {
		len = 1 + random_next(&random) % (5 * THRESH - 64);
		if (len > j->len - j->pos)
			len = j->len - j->pos;
		pattern_fill(buf + len % 64, len, SEED_UP, j->pos);
		write_all(j->fd, buf + len % 64, len);
		memset(buf, 0xee, 5 * THRESH);
		j->pos += len;
	}
	return NULL;
}

/* Each read takes what is offered, some of it, or none. */
static void random_reads(void)
{
	struct pair p = new_pair();
	struct job job = { p.client, SEED_UP, 0, scaled(32 * MIB), 0 };
	unsigned char *buf = memory(MIB, 0);
	uint32_t random = opts.seed + 1;
	uint64_t got = 0;
	pthread_t writer;
	size_t want;
	ssize_t n;

	thread_start(&writer, write_random, &job);
	while (got < job.len) {
		want = 1 + random_next(&random) % (6 * THRESH);
		if (random_next(&random) % 3 == 0)
			want = 1 + want % 5000;
		n = recv(p.server, buf, want,
			 random_next(&random) % 3 ? 0 : MSG_DONTWAIT);
		if (n < 0) {
			CHECK_EQ(errno, EAGAIN);
			continue;
		}
		CHECK(n > 0);
		pattern_verify(buf, n, SEED_UP, got);
		got += n;
	}
	thread_join(writer);
	close_pair(p);
}

/* Each read takes several offers, and waits for more, until it is full. */
static void reads_over_many_writes(void)
{
	struct pair p = new_pair();
	struct job job = { p.client, SEED_UP, 0, scaled(32 * MIB), 0 };
	unsigned char *buf = memory(3 * MIB, 0), *to;
	uint32_t random = opts.seed + 2;
	uint64_t got = 0;
	pthread_t writer;
	size_t want;

	thread_start(&writer, write_random, &job);
	while (got < job.len) {
		want = 1 + random_next(&random) % (2 * MIB);
		if (want > job.len - got)
			want = job.len - got;
		to = buf + random_next(&random) % MIB;
		CHECK_EQ(recv(p.server, to, want, MSG_WAITALL), want);
		pattern_verify(to, want, SEED_UP, got);
		memset(to, 0xdd, want);
		got += want;
	}
	thread_join(writer);
	CHECK(info_of(p.server).sdpi_zcopy_received > 0 || !writes_are_offered());
	close_pair(p);
}

/* ---- two readers share a stream: each byte is one's, and each piece whole ---- */

#define MARK	0xff

/* Each eight bytes begin with a mark and say which they are. */
static unsigned char byte_at(uint64_t pos)
{
	unsigned int i = pos % 8;

	return i ? (pos / 8) >> (7 * (i - 1)) & 0x7f : MARK;
}

/* Where in the stream a piece is. */
static uint64_t place_of(const unsigned char *piece)
{
	unsigned int skip = 0, i;
	uint64_t word = 0;

	while (piece[skip] != MARK)
		CHECK(++skip < 8);
	for (i = 1; i < 8; i++)
		word |= (uint64_t)piece[skip + i] << (7 * (i - 1));
	return word * 8 - skip;
}

struct share {
	int fd;
	unsigned char *seen;
	size_t total, got;
};

static void *read_share(void *arg)
{
	unsigned char *buf = memory(7 * THRESH, 5);
	struct share *s = arg;
	uint64_t pos;
	ssize_t n, i;

	while ((n = CHECK_OK(recv(s->fd, buf, 6 * THRESH, 0)))) {
		__atomic_add_fetch(&s->got, n, __ATOMIC_RELAXED);
		if (n < 16)
			continue;
		pos = place_of(buf);
		CHECK(pos + n <= s->total);
		for (i = 0; i < n; i++) {
			CHECK_EQ(buf[i], byte_at(pos + i));
			CHECK(!__atomic_exchange_n(&s->seen[pos + i], 1,
						   __ATOMIC_RELAXED));
		}
	}
	return NULL;
}

static void two_readers(void)
{
	struct pair p = new_pair();
	struct share s = { p.server, NULL, scaled_count(128) * 2 * THRESH, 0 };
	unsigned char *buf = memory(2 * THRESH, 0);
	pthread_t readers[2];
	uint64_t pos = 0;
	size_t i;

	s.seen = memory(s.total, 0);
	for (i = 0; i < 2; i++)
		thread_start(&readers[i], read_share, &s);
	while (pos < s.total) {
		for (i = 0; i < 2 * THRESH; i++)
			buf[i] = byte_at(pos + i);
		write_all(p.client, buf, 2 * THRESH);
		pos += 2 * THRESH;
	}
	CHECK_OK(shutdown(p.client, SHUT_WR));
	for (i = 0; i < 2; i++)
		thread_join(readers[i]);
	CHECK_EQ(s.got, s.total);
	close_pair(p);
}

/* Both write one more than are under way at once, and read then. */
static void both_write_first(void)
{
	struct pair p = new_pair();
	struct job job = { p.client, SEED_UP, 0, 5 * THRESH, THRESH };
	pthread_t writer;

	thread_start(&writer, write_job, &job);
	send_pattern(p.server, SEED_DOWN, 0, job.len, THRESH);
	thread_join(writer);
	read_all(p.server, 0, job.len);
	recv_pattern(p.client, SEED_DOWN, 0, job.len, job.len);
	close_pair(p);
}

/*
 * Sends what is read after so many milliseconds.  Returns whether the reader got
 * it as it was offered, however long he took.
 */
static bool waits_for_reader(struct pair p, unsigned int ms, uint64_t *pos)
{
	struct sdp_info before = info_of(p.client), after;
	unsigned char *buf = memory(2 * THRESH, 0);
	uint64_t since = now_ms();

	write_async(p.client, buf, 2 * THRESH, *pos);
	while (now_ms() - since < ms)
		pause_a_bit();
	recv_pattern(p.server, SEED_UP, *pos, 2 * THRESH, 2 * THRESH);
	*pos += 2 * THRESH;
	WAIT_FOR(ioctl_int(p.client, SIOCOUTQ) == 0);
	munmap(buf, 2 * THRESH);
	after = info_of(p.client);
	return after.sdpi_zcopy_sent > before.sdpi_zcopy_sent &&
	       after.sdpi_zcopy_cancels == before.sdpi_zcopy_cancels;
}

/* A reader who becomes slower by and by is waited for longer than others. */
static void slow_reader_is_waited_for(void)
{
	unsigned int ms = 10, slow = 3 * PATIENCE_MS;
	struct pair p = new_pair();
	bool waited = false;
	uint64_t pos = 0;

	if (!writes_are_offered())
		sdp_skip("nothing is offered");
	WAIT_FOR(({
		waited = waits_for_reader(p, ms, &pos);
		if (waited && ms < slow)
			ms += ms / 4;
		waited && ms >= slow;
	}));
	close_pair(p);
}

/* A peer that does not come gets it by copy, and keeps what it was offered. */
static void given_up_after_a_while(void)
{
	struct pair p = new_pair();
	unsigned char *buf = memory(4 * THRESH, 0);

	if (!writes_are_offered())
		sdp_skip("nothing is offered");
	write_async(p.client, buf, 4 * THRESH, 0);
	memset(buf, 0xee, 4 * THRESH);
	WAIT_FOR(info_of(p.client).sdpi_zcopy_cancels == 1);
	WAIT_FOR(info_of(p.server).sdpi_unread > 0);
	read_all(p.server, 0, 4 * THRESH);
	WAIT_FOR(ioctl_int(p.client, SIOCOUTQ) == 0);
	CHECK_EQ(info_of(p.client).sdpi_bytes_acked, 4 * THRESH);
	CHECK_EQ(info_of(p.client).sdpi_bytes_sent, 4 * THRESH);
	close_pair(p);
}

/* Some of it is read, and the rest refused. */
static void mixed_reads(void)
{
	struct pair p = new_pair();
	unsigned char *buf = memory(12 * THRESH, 0);

	write_async(p.client, buf, 12 * THRESH, 0);
	memset(buf, 0xee, 12 * THRESH);
	read_all(p.server, 0, THRESH);
	recv_pattern(p.server, SEED_UP, THRESH, 2 * THRESH, 3000);
	read_all(p.server, 3 * THRESH, 9 * THRESH);
	close_pair(p);
}

/*
 * Whoever was busy when the offer came, and then waits otherwise than by a read,
 * gets a copy: nothing else would tell it.
 */
static struct pair offered(size_t len)
{
	struct pair p = new_pair();
	unsigned char *buf = memory(len, 0);

	set_int(p.client, SOL_TCP, SDP_ZCOPY_THRESH, 8192);
	write_async(p.client, buf, len, 0);
	memset(buf, 0xee, len);
	/* The offer is there; the probe of this call is answered behind it. */
	WAIT_FOR(info_of(p.server).sdpi_msgs_in > 1);
	return p;
}

static void polled_later(void)
{
	struct pair p = offered(4 * THRESH);

	wait_poll(p.server, POLLIN);
	read_all(p.server, 0, 4 * THRESH);
	close_pair(p);
}

/* All of it has to fit into the reader's first buffers. */
static void end_polled_later(void)
{
	struct pair p = offered(16 * KIB);

	CHECK_OK(shutdown(p.client, SHUT_WR));
	wait_poll(p.server, POLLRDHUP);
	read_all(p.server, 0, 16 * KIB);
	close_pair(p);
}

static void added_to_epoll_later(void)
{
	struct pair p = offered(4 * THRESH);
	int ep = CHECK_OK(epoll_create1(0));
	struct epoll_event e = { .events = EPOLLIN | EPOLLET };

	CHECK_OK(epoll_ctl(ep, EPOLL_CTL_ADD, p.server, &e));
	CHECK_EQ(epoll_wait(ep, &e, 1, wait_limit_ms()), 1);
	read_all(p.server, 0, 4 * THRESH);
	CHECK_OK(close(ep));
	close_pair(p);
}

static void counted_later(void)
{
	struct pair p = offered(4 * THRESH);

	WAIT_FOR(ioctl_int(p.server, FIONREAD) > 0);
	read_all(p.server, 0, 4 * THRESH);
	close_pair(p);
}

static void signalled(void)
{
	struct pair p = new_pair();
	struct timespec limit = { .tv_sec = wait_limit_ms() / 1000 };
	sigset_t io;

	sigemptyset(&io);
	sigaddset(&io, SIGIO);
	CHECK_OK(sigprocmask(SIG_BLOCK, &io, NULL));
	CHECK_OK(fcntl(p.server, F_SETOWN, getpid()));
	CHECK_OK(fcntl(p.server, F_SETFL, O_ASYNC));
	write_async(p.client, memory(4 * THRESH, 0), 4 * THRESH, 0);
	CHECK_EQ(sigtimedwait(&io, NULL, &limit), SIGIO);
	WAIT_FOR(ioctl_int(p.server, FIONREAD) > 0);
	read_all(p.server, 0, 4 * THRESH);
	close_pair(p);
}

static const struct sdp_case cases[] = {
	CASE(closed_at_once, CASE_SDP_ONLY),
	CASE(shut_down_at_once, CASE_SDP_ONLY),
	CASE(reset_at_once, CASE_SDP_ONLY),
	CASE(peer_resets, CASE_SDP_ONLY),
	CASE(large_and_small, CASE_SDP_ONLY),
	CASE(several_under_way, CASE_SDP_ONLY),
	CASE(without_waiting, CASE_SDP_ONLY),
	CASE(small_reads_credit, CASE_SDP_ONLY),
	CASE(small_reads_rdma, CASE_SDP_ONLY),
	CASE(small_reads_nic, CASE_SDP_ONLY),
	CASE(mixed_reads, CASE_SDP_ONLY),
	CASE(random_reads, CASE_SDP_ONLY),
	CASE(reads_over_many_writes, CASE_SDP_ONLY),
	CASE(two_readers, CASE_SDP_ONLY),
	CASE(both_write_first, CASE_SDP_ONLY),
	CASE(slow_reader_is_waited_for, CASE_SDP_ONLY),
	CASE(given_up_after_a_while, CASE_SDP_ONLY),
	CASE(polled_later, CASE_SDP_ONLY),
	CASE(end_polled_later, CASE_SDP_ONLY),
	CASE(added_to_epoll_later, CASE_SDP_ONLY),
	CASE(counted_later, CASE_SDP_ONLY),
	CASE(signalled, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return zcopy_main("async", argc, argv, cases, ARRAY_SIZE(cases));
}
