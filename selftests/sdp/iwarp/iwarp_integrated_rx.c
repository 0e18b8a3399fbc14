// SPDX-License-Identifier: GPL-2.0
/*
 * What arrives is placed by the provider where a program reads it, by the only copy: that it
 * is, that it is the right bytes however a message comes in parts and whoever reads, and that
 * nothing waits for long that is left to a program which does something else.  Needs root,
 * netem, and two of our own iWARP devices in this node.
 */
#define _GNU_SOURCE
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "iwarp_end.h"
#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_transfer.h"
#include "sdp_wire.h"

#define PAGE	4096UL
/* The longest that one read takes by one copy. */
#define LONG	(64 * KIB)

static long placed(void)
{
	return sdp_stat("IntegratedBytesIn");
}

static void each_way(void (*run)(void))
{
	iwarp_run_over("host", false, false, run);
	iwarp_run_over("host", false, true, run);
}

static void over_host(void (*run)(void))
{
	iwarp_run_over("host", false, false, run);
}

static struct job job_of(int fd, uint64_t pos, size_t len, size_t chunk)
{
	return (struct job){ .fd = fd, .seed = SEED_UP, .pos = pos, .len = len, .chunk = chunk };
}

/* A read that waits, and what is written then. */
static void move(struct pair p, uint64_t *pos, size_t len, size_t written, size_t read)
{
	struct job writer = job_of(p.client, *pos, len, written);
	struct job reader = job_of(p.server, *pos, len, read);
	pthread_t thread;

	thread_start(&thread, read_job, &reader);
	write_job(&writer);
	thread_join(thread);
	*pos += len;
}

static bool one_was_placed(struct pair p, uint64_t *pos)
{
	long before = placed();

	move(p, pos, LONG, LONG, LONG);
	return placed() > before;
}

/* From now on what the client sends is left to the server's reads. */
static struct pair leaving_pair(const char *engine, uint64_t *pos)
{
	struct pair p = engine ? engine_pair(engine, engine, 0) : new_pair();

	*pos = 0;
	WAIT_FOR(one_was_placed(p, pos));
	return p;
}

static void run_streams(void)
{
	static const size_t sizes[] = { 20000, LONG - 1, LONG, 100001, MIB };
	static const char *const engines[] = { "credit", "auto" };
	size_t i, j, k, len = scaled(500000);

	for (i = 0; i < ARRAY_SIZE(engines); i++) {
		uint64_t pos;
		struct pair p = leaving_pair(engines[i], &pos);
		long before = placed();

		for (j = 0; j < ARRAY_SIZE(sizes); j++)
			for (k = 0; k < ARRAY_SIZE(sizes); k++)
				move(p, &pos, len, sizes[j], sizes[k]);
		/* Short messages may have found a ring. */
		CHECK(i || placed() - before >= 25 * (long)len / 8);
		close_pair(p);
	}
}

static void streams(void)
{
	each_way(run_streams);
}

/* What is written to a ring is told of afterwards. */
static void run_rings(void)
{
	static const char *const engines[] = { "rdma", "nic" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(engines); i++) {
		struct flow_pair f = flow_open(engines[i], MIB);
		long before = placed();

		move(f.p, &f.up, 2 * MIB, LONG, LONG);
		CHECK_EQ(placed(), before);
		close_pair(f.p);
	}
}

static void rings(void)
{
	over_host(run_rings);
}

/* The device counts the same. */
static void run_counted(void)
{
	uint64_t pos;
	struct pair p = leaving_pair(NULL, &pos);
	long sockets = placed(), devices = device_counters("rx_iter_bytes");
	unsigned int i;

	for (i = 0; i < 20; i++)
		move(p, &pos, LONG, LONG, LONG);
	sockets = placed() - sockets;
	CHECK(sockets > (long)LONG);
	WAIT_FOR(device_counters("rx_iter_bytes") - devices >= sockets);
	close_pair(p);
}

static void counted(void)
{
	each_way(run_counted);
}

static void run_nothing_placed(void)
{
	struct pair p = new_pair();
	long before = placed();
	uint64_t pos = 0;

	move(p, &pos, 2 * MIB, LONG, LONG);
	CHECK_EQ(placed(), before);
	close_pair(p);
}

static void run_not_offered(void)
{
	iwarp_set("recv_iter", false);
	run_nothing_placed();
}

static void not_offered_alone(void)
{
	over_host(run_not_offered);
}

static void offer_again(void)
{
	iwarp_set("recv_iter", true);
}

/* Nor where there are markers, or an engine that places everything anyway. */
static void not_offered(void)
{
	run_and_undo(not_offered_alone, offer_again);
	iwarp_run_over("host", true, true, run_nothing_placed);
	iwarp_run_over("assisted", false, false, run_nothing_placed);
	iwarp_run_over("offloaded", false, false, run_nothing_placed);
}

/* Packets come one by one, and so do parts of a message: reads return with what there is. */
static void run_parts(void)
{
	static const char *const engines[] = { "credit", "rdma", "nic" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(engines); i++) {
		struct flow_pair f = {};

		if (i)
			f = flow_open(engines[i], MIB);
		else
			f.p = leaving_pair(engines[i], &f.up);
		move(f.p, &f.up, scaled(200000), LONG, LONG);
		move(f.p, &f.up, scaled(300000), LONG, 7001);
		move(f.p, &f.up, scaled(300000), 30001, LONG);
		close_pair(f.p);
	}
}

static void wire_as_it_was(void)
{
	wire_is("");
	run_command("ip link set %s gso_max_segs 65535", wires[0]);
	run_command("ip link set %s gso_max_segs 65535", wires[1]);
}

static void parts_of(const char *netem, void (*run)(void))
{
	run_command("ip link set %s gso_max_segs 1", wires[0]);
	run_command("ip link set %s gso_max_segs 1", wires[1]);
	wire_is(netem);
	each_way(run);
}

static void slow_parts(void)
{
	parts_of("rate 100mbit", run_parts);
}

static void parts(void)
{
	wire_find();
	run_and_undo(slow_parts, wire_as_it_was);
}

static void lossy_parts(void)
{
	parts_of("delay 1ms loss 2% reorder 5%", run_parts);
}

static void parts_are_lost(void)
{
	wire_find();
	run_and_undo(lossy_parts, wire_as_it_was);
}

/* A message whose last byte is urgent, however it comes. */
static void expect_mark(struct pair p, uint64_t *pos, size_t len)
{
	static unsigned char buf[LONG];
	size_t got = 0;
	long n;

	while (got < len - 1) {
		n = CHECK_OK(recv(p.server, buf, LONG, 0));
		pattern_verify(buf, n, SEED_UP, *pos + got);
		got += n;
	}
	CHECK_EQ(got, len - 1);
	CHECK_EQ(ioctl_int(p.server, SIOCATMARK), 1);
	CHECK_EQ(recv(p.server, buf, 1, MSG_OOB), 1);
	pattern_verify(buf, 1, SEED_UP, *pos + len - 1);
	*pos += len;
}

static void *urgent_job(void *arg)
{
	struct job *j = arg;
	static unsigned char buf[LONG];

	pattern_fill(buf, j->len, j->seed, j->pos);
	CHECK_EQ(send(j->fd, buf, j->len, MSG_OOB), j->len);
	return NULL;
}

static void urgent_over(struct pair p, uint64_t *pos)
{
	static const size_t lens[] = { 2, 20000, LONG / 2, LONG - 100, LONG };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		struct job job;
		pthread_t writer;

		move(p, pos, LONG, LONG, LONG);
		job = job_of(p.client, *pos, lens[i], 0);
		thread_start(&writer, urgent_job, &job);
		expect_mark(p, pos, lens[i]);
		thread_join(writer);
		/* The mark is behind the reader before the next. */
		move(p, pos, LONG, LONG, LONG);
	}
}

static void run_urgent(void)
{
	uint64_t pos;
	struct pair p = leaving_pair("credit", &pos);
	struct flow_pair f;

	urgent_over(p, &pos);
	close_pair(p);
	f = flow_open("nic", MIB);
	urgent_over(f.p, &f.up);
	close_pair(f.p);
}

static void slow_urgent(void)
{
	parts_of("rate 200mbit", run_urgent);
}

static void urgent(void)
{
	each_way(run_urgent);
	wire_find();
	run_and_undo(slow_urgent, wire_as_it_was);
}

/* Reads to pages that are not there, or to a hole behind which there are more. */
static void run_memory_not_there(void)
{
	unsigned char *buf = memory(LONG, 0);
	unsigned int i;
	uint64_t pos;
	struct pair p = leaving_pair(NULL, &pos);

	for (i = 0; i < 40; i++) {
		struct job job = job_of(p.client, pos, LONG, LONG);
		size_t hole = i % 15 + 1;
		pthread_t writer;

		CHECK_OK(madvise(buf + hole * PAGE, PAGE, MADV_DONTNEED));
		thread_start(&writer, write_job, &job);
		read_into(p.server, buf, LONG);
		thread_join(writer);
		pattern_verify(buf, LONG, SEED_UP, pos);
		pos += LONG;
	}
	close_pair(p);
}

static void memory_not_there(void)
{
	each_way(run_memory_not_there);
}

/* What cannot be written to takes nothing away. */
static void run_memory_that_ends(void)
{
	unsigned char *buf = memory(16 * PAGE, 0);
	unsigned int i;
	uint64_t pos;
	struct pair p = leaving_pair(NULL, &pos);

	CHECK_OK(mprotect(buf + 8 * PAGE, 8 * PAGE, PROT_READ));
	for (i = 0; i < 40; i++) {
		struct job job = job_of(p.client, pos, LONG, LONG);
		pthread_t writer;
		long n;

		thread_start(&writer, write_job, &job);
		n = recv(p.server, buf + 2 * PAGE * (i % 4), 16 * PAGE, 0);
		CHECK(n == -1 ? errno == EFAULT : n > 0 && n <= 8 * (long)PAGE);
		n = n < 0 ? 0 : n;
		pattern_verify(buf + 2 * PAGE * (i % 4), n, SEED_UP, pos);
		recv_pattern(p.server, SEED_UP, pos + n, LONG - n, LONG);
		thread_join(writer);
		pos += LONG;
	}
	close_pair(p);
}

static void memory_that_ends(void)
{
	each_way(run_memory_that_ends);
}

/* Memory in pieces of all lengths. */
static void run_pieces(void)
{
	static unsigned char buf[60000];
	uint64_t pos;
	struct pair p = leaving_pair(NULL, &pos);
	struct iovec iov[60];
	unsigned int i, n;

	for (i = 20; i < 60; i++) {
		struct job job;
		struct msghdr msg = { .msg_iov = iov, .msg_iovlen = i };
		pthread_t writer;
		size_t at = 0;

		for (n = 0; n < i; n++) {
			iov[n].iov_base = buf + at;
			iov[n].iov_len = (n * 37 + i * 11) % 997;
			at += iov[n].iov_len;
		}
		job = job_of(p.client, pos, at, at);
		memset(buf, 0, at);
		thread_start(&writer, write_job, &job);
		CHECK_EQ(recvmsg(p.server, &msg, MSG_WAITALL), at);
		thread_join(writer);
		pattern_verify(buf, at, SEED_UP, pos);
		pos += at;
	}
	close_pair(p);
}

static void pieces(void)
{
	each_way(run_pieces);
}

/* What arrives is known to all other calls, at once or soon. */
static void run_other_calls(void)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int epoll = CHECK_OK(epoll_create1(0));
	unsigned char buf[100];
	uint64_t pos;
	struct pair p = leaving_pair(NULL, &pos);
	unsigned int i;

	CHECK_OK(epoll_ctl(epoll, EPOLL_CTL_ADD, p.server, &event));
	for (i = 0; i < 20; i++) {
		WAIT_FOR(one_was_placed(p, &pos));
		while (epoll_wait(epoll, &event, 1, 0) > 0)
			;
		WAIT_FOR(one_was_placed(p, &pos));
		send_pattern(p.client, SEED_UP, pos, LONG / 2, LONG / 2);
		switch (i % 5) {
		case 0:
			wait_poll(p.server, POLLIN);
			break;
		case 1:
			CHECK_EQ(epoll_wait(epoll, &event, 1, 10000), 1);
			break;
		case 2:
			wait_inq(p.server, LONG / 2);
			break;
		case 3:
			CHECK_EQ(recv(p.server, buf, sizeof(buf), MSG_PEEK), sizeof(buf));
			pattern_verify(buf, sizeof(buf), SEED_UP, pos);
			break;
		case 4:
			WAIT_FOR(info_of(p.server).sdpi_bytes_received >= pos + LONG / 2);
			break;
		}
		wait_inq(p.server, LONG / 2);
		CHECK_EQ(recv(p.server, NULL, 1000, MSG_TRUNC), 1000);
		recv_pattern(p.server, SEED_UP, pos + 1000, LONG / 2 - 1000, LONG);
		pos += LONG / 2;
	}
	close(epoll);
	close_pair(p);
}

static void other_calls(void)
{
	each_way(run_other_calls);
}

/* Who looks at more than there is gets what there is, and again, before and after the end. */
static void peek_more(int fd, uint64_t pos, size_t unread)
{
	static unsigned char buf[2 * LONG];
	int i;

	for (i = 0; i < 2; i++) {
		CHECK_EQ(recv(fd, buf, 2 * LONG, i ? MSG_PEEK : MSG_PEEK | MSG_DONTWAIT), unread);
		pattern_verify(buf, unread, SEED_UP, pos);
	}
}

static void run_peek(void)
{
	uint64_t pos;
	struct pair p = leaving_pair(NULL, &pos);

	send_pattern(p.client, SEED_UP, pos, LONG / 2, LONG / 2);
	wait_inq(p.server, LONG / 2);
	peek_more(p.server, pos, LONG / 2);
	recv_pattern(p.server, SEED_UP, pos, 100, 100);
	peek_more(p.server, pos + 100, LONG / 2 - 100);
	close(p.client);
	wait_poll(p.server, POLLRDHUP);
	peek_more(p.server, pos + 100, LONG / 2 - 100);
	recv_pattern(p.server, SEED_UP, pos + 100, LONG / 2 - 100, LONG);
	CHECK_EQ(recv(p.server, NULL, 0, 0), 0);
	close(p.server);
}

static void peek(void)
{
	each_way(run_peek);
}

/* Both ends write as much as they can, and nobody reads before that: none waits for ever. */
static void run_both_write(void)
{
	uint64_t up, down, pos;
	struct pair p = leaving_pair("credit", &pos);

	set_nonblock(p.client, true);
	set_nonblock(p.server, true);
	up = fill_pipe(p.client, SEED_DOWN);
	down = fill_pipe(p.server, SEED_DOWN);
	set_nonblock(p.client, false);
	set_nonblock(p.server, false);
	recv_pattern(p.server, SEED_DOWN, 0, up, LONG);
	recv_pattern(p.client, SEED_DOWN, 0, down, LONG);
	WAIT_FOR(one_was_placed(p, &pos));
	close_pair(p);
}

static void both_write(void)
{
	each_way(run_both_write);
}

/* The peer's end, behind what is left, or alone. */
static void run_end(void)
{
	unsigned int i;

	for (i = 0; i < 10; i++) {
		uint64_t pos;
		struct pair p = leaving_pair(NULL, &pos);
		size_t len = i % 5 ? 3 * LONG : 0;
		int err = 0;

		send_pattern(p.client, SEED_UP, pos, len, LONG);
		if (i % 2)
			close(p.client);
		else
			CHECK_OK(shutdown(p.client, SHUT_WR));
		if (i % 3)
			wait_poll(p.server, POLLRDHUP);
		CHECK_EQ(recv_pattern_to_end(p.server, SEED_UP, pos, &err), len);
		CHECK_EQ(err, 0);
		close(p.server);
		if (!(i % 2))
			close(p.client);
	}
}

static void end(void)
{
	each_way(run_end);
}

/* Who closes what he has not read resets the connection, as with TCP. */
static void run_unread(void)
{
	unsigned int i;

	for (i = 0; i < 10; i++) {
		uint64_t pos;
		struct pair p = leaving_pair(NULL, &pos);

		send_pattern(p.client, SEED_UP, pos, LONG, LONG);
		WAIT_FOR(iwarp_all_came(p.client, p.server));
		close(p.server);
		CHECK_EQ(recv_until_end(p.client), ECONNRESET);
		close(p.client);
	}
}

static void unread(void)
{
	each_way(run_unread);
}

struct taker {
	int fd;
	long bytes[256];
};

static void *take_job(void *arg)
{
	struct taker *t = arg;
	unsigned char *buf = malloc(LONG);
	long n, i;

	CHECK(buf);
	while ((n = CHECK_OK(recv(t->fd, buf, LONG, 0))))
		for (i = 0; i < n; i++)
			t->bytes[buf[i]]++;
	free(buf);
	return NULL;
}

/* Several readers: each byte is read by one of them. */
static void run_readers(void)
{
	unsigned int i, j, records = scaled_count(200);
	static struct taker takers[3];
	pthread_t readers[3];
	static unsigned char buf[LONG];
	uint64_t pos;
	struct pair p = leaving_pair(NULL, &pos);

	for (i = 0; i < ARRAY_SIZE(readers); i++) {
		takers[i].fd = p.server;
		thread_start(&readers[i], take_job, &takers[i]);
	}
	for (i = 0; i < records; i++) {
		memset(buf, i, LONG);
		write_all(p.client, buf, LONG);
	}
	CHECK_OK(shutdown(p.client, SHUT_WR));
	for (i = 0; i < ARRAY_SIZE(readers); i++)
		thread_join(readers[i]);
	for (i = 0; i < 256; i++) {
		long count = 0, want = 0;

		for (j = 0; j < ARRAY_SIZE(takers); j++)
			count += takers[j].bytes[i];
		for (j = i; j < records; j += 256)
			want += LONG;
		CHECK_EQ(count, want);
	}
	close_pair(p);
}

static void readers(void)
{
	over_host(run_readers);
}

/* A read that gives up after a time takes nothing away, whatever has come of a message. */
static void run_timeouts(void)
{
	static const char *const engines[] = { "credit", "nic" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(engines); i++) {
		static unsigned char buf[LONG];
		struct flow_pair f = { .p = engine_pair(engines[i], engines[i], MIB) };
		struct job job;
		unsigned int late = 0;
		pthread_t writer;
		uint64_t pos;

		if (i)
			flow_start(&f, MIB);
		pos = f.up;
		job = job_of(f.p.client, pos, 20 * LONG, LONG);
		set_timeout(f.p.server, SO_RCVTIMEO, 4);
		thread_start(&writer, write_job, &job);
		while (pos < f.up + job.len) {
			long n = recv(f.p.server, buf, LONG, MSG_WAITALL);

			CHECK(n > 0 || (n == -1 && errno == EAGAIN));
			late += n != (long)LONG;
			n = n < 0 ? 0 : n;
			pattern_verify(buf, n, SEED_UP, pos);
			pos += n;
		}
		thread_join(writer);
		ktap_diag("%s: %u reads were late", engines[i], late);
		CHECK(late);
		close_pair(f.p);
	}
}

static void slow_timeouts(void)
{
	parts_of("rate 50mbit", run_timeouts);
}

static void timeouts(void)
{
	wire_find();
	run_and_undo(slow_timeouts, wire_as_it_was);
}

static const struct sdp_case cases[] = {
	CASE(streams, CASE_LONG),
	CASE(rings, CASE_LONG),
	CASE(counted, 0),
	CASE(not_offered, 0),
	CASE(parts, CASE_LONG),
	CASE(parts_are_lost, CASE_LONG),
	CASE(urgent, CASE_LONG),
	CASE(memory_not_there, 0),
	CASE(memory_that_ends, 0),
	CASE(pieces, 0),
	CASE(other_calls, CASE_LONG),
	CASE(peek, 0),
	CASE(both_write, CASE_LONG),
	CASE(end, 0),
	CASE(unread, 0),
	CASE(readers, CASE_LONG),
	CASE(timeouts, CASE_LONG),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
