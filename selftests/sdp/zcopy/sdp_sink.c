// SPDX-License-Identifier: GPL-2.0
/*
 * Reads that let the peer write to their memory (SinkAvail): what is written there, what
 * comes in its place, and that a read which waits no longer has its memory to itself.
 */
#define _GNU_SOURCE
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_transfer.h"

#define LEN		(2 * THRESH)
/* Not the first byte of a page. */
#define OFFSET		100
#define ROUNDS		8
#define MARK		0xa5
/* How long a read waits that waits in vain. */
#define SHORTLY_MS	200

/* A read in a thread of its own, into memory that is marked before. */
struct reader {
	struct blocked call;
	unsigned char *buf;
};

/* One read at a time. */
static struct reader r;
static unsigned char *into;
/* Pages that are pinned while none reads. */
static long idle_pins;

static long op_read_marked(int fd)
{
	return recv(fd, into, LEN, 0);
}

static void start_read(int fd)
{
	if (!into) {
		into = memory(LEN, OFFSET);
		idle_pins = pinned_pages();
	}
	r.buf = into;
	memset(r.buf, MARK, LEN);
	block_start(&r.call, op_read_marked, fd);
}

static long end_read(void)
{
	return block_join(&r.call);
}

static void expect_mark(const unsigned char *buf, size_t from)
{
	expect_bytes(buf + from, LEN - from, MARK);
}

/* A write whose memory is left alone. */
static void write_fresh(int fd, uint64_t pos)
{
	unsigned char *buf = memory(LEN, OFFSET);

	pattern_fill(buf, LEN, SEED_UP, pos);
	write_all(fd, buf, LEN);
}

/* Writes that are copied, for a read that has started. */
static void finish_read(struct pair p, uint64_t *pos)
{
	long got;

	send_pattern(p.client, SEED_UP, *pos, LEN, THRESH / 2);
	got = end_read();
	CHECK(got > 0);
	pattern_verify(r.buf, got, SEED_UP, *pos);
	recv_pattern(p.server, SEED_UP, *pos + got, LEN - got, LEN);
	*pos += LEN;
}

/* What brings so much that the next read expects as much. */
static void bring(struct pair p, uint64_t *pos)
{
	start_read(p.server);
	finish_read(p, pos);
}

/* Starts a read; whether the peer has been told of its memory. If not it is over. */
static bool advertised_once(struct pair p, uint64_t *pos)
{
	long adverts = sdp_stat("SinkAdverts");
	uint64_t heard = info_of(p.client).sdpi_msgs_in;

	start_read(p.server);
	/* A read that sleeps has its memory pinned for the peer by now, or will not. */
	WAIT_FOR(sdp_stat("SinkAdverts") > adverts || pinned_pages() <= idle_pins);
	if (sdp_stat("SinkAdverts") > adverts) {
		WAIT_FOR(info_of(p.client).sdpi_msgs_in > heard);
		return true;
	}
	finish_read(p, pos);
	return false;
}

/* A reader whose memory was not written to passes over up to 256 chances. */
static void advertised(struct pair p, uint64_t *pos)
{
	bring(p, pos);
	WAIT_FOR(advertised_once(p, pos));
}

/* ---- written ---- */

static void written(const char *mode)
{
	struct pair p = zcopy_pair(mode, "sync");
	long in = sdp_stat("SinkBytesIn"), out = sdp_stat("SinkBytesOut");
	long before = pinned_pages();
	uint64_t pos = 0;

	/* One that comes too late to be written there is read. */
	while (sdp_stat("SinkBytesOut") - out < (long)(ROUNDS * LEN)) {
		advertised(p, &pos);
		write_fresh(p.client, pos);
		CHECK_EQ(end_read(), LEN);
		pattern_verify(r.buf, LEN, SEED_UP, pos);
		pos += LEN;
	}
	CHECK_EQ(sdp_stat("SinkBytesIn") - in, sdp_stat("SinkBytesOut") - out);
	/* A call that does not wait is over before the peer says what it has read. */
	WAIT_FOR(info_of(p.server).sdpi_zcopy_received == info_of(p.client).sdpi_zcopy_sent);
	CHECK(info_of(p.server).sdpi_zcopy_received >= ROUNDS * LEN);
	close_pair(p);
	expect_pinned(before);
}

static void written_by_a_call_that_waits(void)
{
	written("sync");
}

static void written_by_a_call_that_does_not(void)
{
	written("async");
}

/* What is overwritten too early is sent as it was. */
static void overwritten_at_once(void)
{
	struct pair p = zcopy_pair("async", "sync");
	unsigned char *buf = memory(LEN, OFFSET);
	long before = sdp_stat("SinkBytesOut");
	uint64_t pos = 0;

	WAIT_FOR(({
		advertised(p, &pos);
		write_and_overwrite(p.client, buf, LEN, pos);
		CHECK_EQ(end_read(), LEN);
		pattern_verify(r.buf, LEN, SEED_UP, pos);
		pos += LEN;
		sdp_stat("SinkBytesOut") - before >= (long)LEN;
	}));
	close_pair(p);
}

/* What the memory has no room for comes behind it. */
static void longer_write(void)
{
	struct pair p = new_pair();
	unsigned char *buf = memory(5 * LEN, OFFSET);
	struct job job = { .fd = p.client, .seed = SEED_UP, .len = 5 * LEN, .buf = buf };
	uint64_t pos = 0;
	pthread_t writer;
	long got;

	advertised(p, &pos);
	job.pos = pos;
	pattern_fill(buf, job.len, SEED_UP, pos);
	pthread_create(&writer, NULL, write_memory_job, &job);
	got = end_read();
	CHECK(got > 0);
	pattern_verify(r.buf, got, SEED_UP, pos);
	recv_pattern(p.server, SEED_UP, pos + got, job.len - got, LEN);
	pthread_join(writer, NULL);
	close_pair(p);
}

/* Ends that wait for each other in turns, each with its memory open to the other. */
static void ping_pong(void)
{
	struct pair p = new_pair();
	struct job jobs[4] = {
		{ .fd = p.client, .seed = SEED_UP, .len = 4 * MIB, .chunk = LEN },
		{ .fd = p.server, .seed = SEED_DOWN, .len = 4 * MIB, .chunk = LEN },
		{ .fd = p.server, .seed = SEED_UP, .len = 4 * MIB, .chunk = LEN },
		{ .fd = p.client, .seed = SEED_DOWN, .len = 4 * MIB, .chunk = LEN },
	};

	both_ways(jobs, write_job);
	close_pair(p);
}

/* ---- not written ---- */

/* A copied write comes as a message, behind which nothing is written. */
static void short_write(void)
{
	struct pair p = new_pair();
	uint64_t pos = 0;

	advertised(p, &pos);
	send_pattern(p.client, SEED_UP, pos, 100, 100);
	CHECK_EQ(end_read(), 100);
	pattern_verify(r.buf, 100, SEED_UP, pos);
	expect_mark(r.buf, 100);
	close_pair(p);
}

static void urgent_byte(void)
{
	struct pair p = new_pair();
	uint64_t pos = 0;

	advertised(p, &pos);
	CHECK_EQ(send(p.client, "abc!", 4, MSG_OOB), 4);
	CHECK_EQ(end_read(), 3);
	CHECK(!memcmp(r.buf, "abc", 3));
	expect_mark(r.buf, 3);
	expect_urgent(p.server, '!', 0);
	close_pair(p);
}

static void end_of_stream(void)
{
	struct pair p = new_pair();
	long before = pinned_pages();
	uint64_t pos = 0;

	advertised(p, &pos);
	CHECK_OK(shutdown(p.client, SHUT_WR));
	CHECK_EQ(end_read(), 0);
	expect_mark(r.buf, 0);
	close_pair(p);
	expect_pinned(before);
}

static void reset(void)
{
	struct pair p = new_pair();
	long before = pinned_pages();
	uint64_t pos = 0;

	advertised(p, &pos);
	set_linger(p.client, 1, 0);
	close(p.client);
	CHECK_EQ(end_read(), -1);
	CHECK_EQ(errno, ECONNRESET);
	expect_mark(r.buf, 0);
	close(p.server);
	expect_pinned(before);
}

static void shut_down_by_another_thread(void)
{
	struct pair p = new_pair();
	uint64_t pos = 0;

	advertised(p, &pos);
	CHECK_OK(shutdown(p.server, SHUT_RD));
	CHECK_EQ(end_read(), 0);
	expect_mark(r.buf, 0);
	close_pair(p);
}

/* Whether a read that has waited in vain had its memory open. */
static bool timed_out_once(struct pair p)
{
	long before = sdp_stat("SinkCancels");

	start_read(p.server);
	CHECK_EQ(end_read(), -1);
	CHECK_EQ(errno, EAGAIN);
	expect_mark(r.buf, 0);
	return sdp_stat("SinkCancels") == before + 1;
}

/* What is written when the read has returned goes to the next one. */
static void timed_out(void)
{
	struct pair p = new_pair();
	unsigned char *first;
	uint64_t pos = 0;

	bring(p, &pos);
	set_timeout(p.server, SO_RCVTIMEO, SHORTLY_MS);
	WAIT_FOR(timed_out_once(p));
	first = r.buf;
	into = NULL;
	set_timeout(p.server, SO_RCVTIMEO, 0);
	start_read(p.server);
	send_pattern(p.client, SEED_UP, pos, LEN, LEN);
	CHECK(end_read() > 0);
	pattern_verify(r.buf, THRESH, SEED_UP, pos);
	expect_mark(first, 0);
	close_pair(p);
}

static void on_signal(int __attribute__((unused)) sig)
{
}

static void interrupted(void)
{
	struct sigaction act = { .sa_handler = on_signal };
	struct pair p = new_pair();
	uint64_t pos = 0;

	sigaction(SIGUSR1, &act, NULL);
	advertised(p, &pos);
	pthread_kill(r.call.thread, SIGUSR1);
	CHECK_EQ(end_read(), -1);
	CHECK_EQ(errno, EINTR);
	send_pattern(p.client, SEED_UP, pos, 1000, 1000);
	recv_pattern(p.server, SEED_UP, pos, 1000, 1000);
	expect_mark(r.buf, 0);
	close_pair(p);
}

static void killed(void)
{
	struct pair p = new_pair();
	long before = pinned_pages(), adverts;
	uint64_t pos = 0;
	pid_t pid;

	bring(p, &pos);
	adverts = sdp_stat("SinkAdverts");
	pid = fork_child();
	if (!pid) {
		close(p.client);
		/* Not every read has its memory open. */
		set_timeout(p.server, SO_RCVTIMEO, 2 * SHORTLY_MS);
		for (;;)
			recv(p.server, into, LEN, 0);
	}
	close(p.server);
	WAIT_FOR(sdp_stat("SinkAdverts") > adverts);
	kill_child(pid);
	CHECK_EQ(recv_until_end(p.client), 0);
	close(p.client);
	expect_pinned(before);
}

/* The memory that is there now is not the read's. */
static void unmapped_meanwhile(void)
{
	struct pair p = new_pair();
	unsigned char *page;
	uint64_t pos = 0;

	advertised(p, &pos);
	page = (unsigned char *)((uintptr_t)r.buf & -4096UL) + 4096;
	CHECK(mmap(page, 4096, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page);
	memset(page, MARK, 4096);
	send_pattern(p.client, SEED_UP, pos, LEN, LEN);
	CHECK_EQ(end_read(), LEN);
	pattern_verify(r.buf, page - r.buf, SEED_UP, pos);
	pattern_verify(page + 4096, LEN - 4096 - (page - r.buf), SEED_UP,
		       pos + (page - r.buf) + 4096);
	CHECK_EQ(page[0], MARK);
	CHECK_EQ(page[4095], MARK);
	close_pair(p);
}

/* A peer that sends copies is asked seldom. */
static void copied_always(void)
{
	struct pair p = zcopy_pair("sync", "sync");
	long before = sdp_stat("SinkAdverts");
	uint64_t pos = 0;
	int i;

	set_int(p.client, SOL_TCP, SDP_ZCOPY_THRESH, 0);
	for (i = 0; i < 64; i++)
		bring(p, &pos);
	CHECK(sdp_stat("SinkAdverts") - before <= 8);
	close_pair(p);
}

/* A peer that does not take part, or memory that may not be written to. */
static void no_part_in_it(void)
{
	struct pair p = zcopy_pair("off", "sync");
	long before = sdp_stat("SinkAdverts");
	uint64_t pos = 0;
	int i;

	for (i = 0; i < ROUNDS; i++)
		bring(p, &pos);
	CHECK_EQ(sdp_stat("SinkAdverts"), before);
	close_pair(p);
}

static const struct sdp_case cases[] = {
	CASE(written_by_a_call_that_waits, CASE_SDP_ONLY),
	CASE(written_by_a_call_that_does_not, CASE_SDP_ONLY),
	CASE(overwritten_at_once, CASE_SDP_ONLY),
	CASE(longer_write, CASE_SDP_ONLY),
	CASE(ping_pong, CASE_SDP_ONLY),
	CASE(short_write, CASE_SDP_ONLY),
	CASE(urgent_byte, CASE_SDP_ONLY),
	CASE(end_of_stream, CASE_SDP_ONLY),
	CASE(reset, CASE_SDP_ONLY),
	CASE(shut_down_by_another_thread, CASE_SDP_ONLY),
	CASE(timed_out, CASE_SDP_ONLY),
	CASE(interrupted, CASE_SDP_ONLY),
	CASE(killed, CASE_SDP_ONLY),
	CASE(unmapped_meanwhile, CASE_SDP_ONLY),
	CASE(copied_always, CASE_SDP_ONLY),
	CASE(no_part_in_it, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return zcopy_main("sync", argc, argv, cases, ARRAY_SIZE(cases));
}
