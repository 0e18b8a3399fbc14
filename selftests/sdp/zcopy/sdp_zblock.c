// SPDX-License-Identifier: GPL-2.0
/*
 * Large writes that return before they are sent, of programs that then have to
 * wait when they touch the memory: not for long, and the peer gets what was
 * written.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <linux/sockios.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_transfer.h"

#define SYSCTL_FAULT	"/proc/sys/net/sdp/zcopy_fault"
#define LEN		(4 * THRESH)
#define PAGES		(LEN / 4096)

static int set_fault(int fd, const char *name)
{
	return setsockopt(fd, SOL_SDP, SDP_ZCOPY_FAULT, name, strlen(name));
}

static struct pair block_pair(void)
{
	struct pair p = new_pair();

	CHECK_OK(set_fault(p.client, "block"));
	return p;
}

/* All is over: the writes are counted, and no page is in use. */
static void expect_open(struct pair p)
{
	WAIT_FOR(ioctl_int(p.client, SIOCOUTQ) == 0);
	WAIT_FOR(sdp_stat("ZcopyPages") == 0);
}

/*
 * A program has touched all of its memory before anybody has read it.  Where a
 * test is so slow that the offer was given up, it may have waited for that; and what is
 * not offered is sent without anybody who reads.
 */
static void expect_copies(struct pair p)
{
	struct sdp_info info;

	expect_open(p);
	info = info_of(p.client);
	if (!writes_are_offered())
		return;
	CHECK(info.sdpi_guard_waits > 0);
	if (info.sdpi_zcopy_cancels)
		return;
	/* What another processor keeps for its list of pages looks used. */
	CHECK(info.sdpi_guard_faults >= PAGES / 2);
	CHECK_EQ(info.sdpi_guard_copies, info.sdpi_guard_faults);
}

/*
 * Nobody reads: the program waits for the first page, and then goes on with a
 * copy of each.
 */
static void a_writer_gets_copies(void)
{
	struct pair p = block_pair();
	unsigned char *buf = memory(LEN, 0);

	need_page_protection();
	write_async(p.client, buf, LEN, 0);
	memset(buf, 0xee, LEN);
	read_all(p.server, 0, LEN);
	expect_copies(p);
	CHECK_EQ(buf[0], 0xee);
	CHECK_EQ(buf[LEN - 1], 0xee);
	close_pair(p);
}

/* Who only reads goes on, and keeps nobody waiting. */
static void a_reader_goes_on(void)
{
	struct pair p = block_pair();
	unsigned char *buf = memory(LEN, 0);

	need_page_protection();
	write_async(p.client, buf, LEN, 0);
	pattern_verify(buf, LEN, SEED_UP, 0);
	CHECK_EQ(info_of(p.client).sdpi_guard_waits, 0);
	memset(buf, 0xee, LEN);
	read_all(p.server, 0, LEN);
	expect_copies(p);
	close_pair(p);
}

/* Who does not touch the memory is not disturbed. */
static void untouched(void)
{
	struct pair p = block_pair();
	unsigned char *buf = memory(LEN, 0);

	write_async(p.client, buf, LEN, 0);
	read_all(p.server, 0, LEN);
	expect_open(p);
	pattern_verify(buf, LEN, SEED_UP, 0);
	CHECK_EQ(info_of(p.client).sdpi_guard_faults, 0);
	close_pair(p);
}

/* The pages of an edge are the program's at once. */
static void edges_are_free(void)
{
	struct pair p = block_pair();
	unsigned char *buf = memory(LEN + 200, 4096 - 100);

	write_async(p.client, buf, LEN + 200, 0);
	memset(buf, 0xee, 100);
	memset(buf + LEN + 100, 0xee, 100);
	read_all(p.server, 0, LEN + 200);
	expect_open(p);
	CHECK_EQ(info_of(p.client).sdpi_guard_faults, 0);
	close_pair(p);
}

/* One buffer is filled again and again while it may still be on its way. */
static void the_same_buffer(void)
{
	struct pair p = block_pair();
	unsigned int n, count = scaled_count(50);
	struct job job = { p.server, SEED_UP, 0, count * LEN, LEN };
	unsigned char *buf = memory(LEN, 77);
	pthread_t reader;

	need_page_protection();
	thread_start(&reader, read_job, &job);
	for (n = 0; n < count; n++) {
		pattern_fill(buf, LEN, SEED_UP, (uint64_t)n * LEN);
		write_all(p.client, buf, LEN);
	}
	thread_join(reader);
	expect_open(p);
	CHECK(info_of(p.client).sdpi_async_sent > 0);
	close_pair(p);
}

/* The same pages are on their way twice. */
static void sent_twice_on_two_sockets(void)
{
	struct pair a = block_pair(), b = block_pair();
	struct job jobs[] = {
		{ a.server, SEED_UP, 0, 0, LEN },
		{ b.server, SEED_UP, 0, 0, LEN },
	};
	unsigned int n, count = scaled_count(20);
	unsigned char *buf = memory(LEN, 0);
	pthread_t readers[2];
	int i;

	pattern_fill(buf, LEN, SEED_UP, 0);
	for (n = 0; n < count; n++) {
		for (i = 0; i < 2; i++) {
			jobs[i].len = LEN;
			thread_start(&readers[i], read_job, &jobs[i]);
		}
		write_all(a.client, buf, LEN);
		write_all(b.client, buf, LEN);
		for (i = 0; i < 2; i++)
			thread_join(readers[i]);
	}
	expect_open(a);
	expect_open(b);
	close_pair(a);
	close_pair(b);
}

#define TIMES		3
#define TRIES		5

/* How often this thread has slept. */
static long sleeps(void)
{
	struct rusage usage;

	CHECK_OK(getrusage(RUSAGE_THREAD, &usage));
	return usage.ru_nvcsw;
}

/*
 * How often a store sleeps to memory that was sent on all of them, and nobody reads;
 * 0 if it was copied, since the page was in another processor's list of new ones.
 */
static long sleeps_of_store(const struct pair p[TIMES])
{
	unsigned char *buf = memory(LEN, 0);
	uint64_t waits = 0;
	long before, slept;
	int i;

	pattern_fill(buf, LEN, SEED_UP, 0);
	for (i = 0; i < TIMES; i++)
		CHECK_EQ(send(p[i].client, buf, LEN, 0), LEN);
	before = sleeps();
	buf[0] ^= 0xff;
	slept = sleeps() - before;
	for (i = 0; i < TIMES; i++)
		read_all(p[i].server, 0, LEN);
	for (i = 0; i < TIMES; i++) {
		expect_open(p[i]);
		CHECK(info_of(p[i].client).sdpi_async_sent > 0);
		waits += info_of(p[i].client).sdpi_guard_waits;
	}
	return waits ? slept : 0;
}

static long sleeps_with_pairs(void)
{
	struct pair p[TIMES];
	long slept;
	int i;

	for (i = 0; i < TIMES; i++)
		p[i] = block_pair();
	slept = sleeps_of_store(p);
	for (i = 0; i < TIMES; i++)
		close_pair(p[i]);
	return slept;
}

/*
 * Who writes gives up waiting for all of them at once, not for one after the other.
 * A store may sleep for other reasons, too, but not each time.
 */
static void sent_often(void)
{
	long least = LONG_MAX, slept;
	int tries = 0, i;

	need_page_protection();
	for (i = 0; tries < TRIES; i++) {
		CHECK(i < 10 * TRIES);
		slept = sleeps_with_pairs();
		if (!slept)
			continue;
		tries++;
		least = slept < least ? slept : least;
	}
	CHECK_EQ(least, 1);
}

/* Who splits a huge page to change what may be done there writes to none. */
static void part_is_protected(void)
{
	struct pair p = block_pair();
	unsigned char *buf = advised(2 * MIB, MADV_HUGEPAGE);

	write_async(p.client, buf, LEN, 0);
	CHECK_OK(mprotect(buf + MIB, 4096, PROT_READ));
	CHECK_OK(munmap(buf + MIB + THRESH, 4096));
	read_all(p.server, 0, LEN);
	expect_open(p);
	CHECK_EQ(info_of(p.client).sdpi_guard_waits, 0);
	close_pair(p);
}

/* What comes in goes to memory that is being sent: a read waits for none of it. */
static void received_into(void)
{
	struct pair p = block_pair();
	unsigned char *buf = memory(LEN, 0);

	write_async(p.client, buf, LEN, 0);
	send_pattern(p.server, SEED_DOWN, 0, 1000, 1000);
	read_into(p.client, buf + 5000, 1000);
	pattern_verify(buf + 5000, 1000, SEED_DOWN, 0);
	read_all(p.server, 0, LEN);
	expect_open(p);
	CHECK_EQ(info_of(p.client).sdpi_guard_waits, 0);
	close_pair(p);
}

static void *fill_job(void *arg)
{
	memset(arg, 0xee, LEN);
	return NULL;
}

/* Several threads wait, and others of the program change its memory. */
static void threads_wait(void)
{
	struct pair p = block_pair();
	unsigned char *buf = memory(LEN, 0), *other;
	pthread_t threads[4];
	int i;

	write_async(p.client, buf, LEN, 0);
	for (i = 0; i < 4; i++)
		thread_start(&threads[i], fill_job, buf);
	for (i = 0; i < 20; i++) {
		other = memory(THRESH, 0);
		memset(other, i, THRESH);
		CHECK_OK(munmap(other, THRESH));
	}
	for (i = 0; i < 4; i++)
		thread_join(threads[i]);
	read_all(p.server, 0, LEN);
	expect_open(p);
	close_pair(p);
}

/* A program that waits for its memory can be killed soon. */
static void killed_while_it_waits(void)
{
	struct pair p = block_pair();
	int go[2], err;
	pid_t pid;
	char c;

	CHECK_OK(pipe(go));
	pid = fork_child();
	if (!pid) {
		unsigned char *buf = memory(LEN, 0);

		CHECK_OK(close(p.server));
		write_async(p.client, buf, LEN, 0);
		CHECK_EQ(write(go[1], "", 1), 1);
		for (;;)
			memset(buf, 0xee, LEN);
	}
	CHECK_OK(close(p.client));
	CHECK_EQ(read(go[0], &c, 1), 1);
	kill_child(pid);
	CHECK_EQ(recv_pattern_to_end(p.server, SEED_UP, 0, &err), LEN);
	CHECK_EQ(err, 0);
	WAIT_FOR(sdp_stat("ZcopyPages") == 0);
	CHECK_OK(close(p.server));
}

/* What is mapped there later has nothing to do with it. */
static void unmapped_in_part(void)
{
	struct pair p = block_pair();
	unsigned char *buf = memory(LEN, 0);

	write_async(p.client, buf, LEN, 0);
	CHECK_OK(munmap(buf + THRESH, 3 * THRESH));
	memset(buf, 0xee, THRESH);
	CHECK_OK(munmap(buf, THRESH));
	read_all(p.server, 0, LEN);
	expect_open(p);
	close_pair(p);
}

static void peer_is_gone(void)
{
	struct pair p = block_pair();
	unsigned char *buf = memory(LEN, 0);

	write_async(p.client, buf, LEN, 0);
	set_linger(p.server, 1, 0);
	CHECK_OK(close(p.server));
	memset(buf, 0xee, LEN);
	send_until_error(p.client);
	WAIT_FOR(sdp_stat("ZcopyPages") == 0);
	CHECK_OK(close(p.client));
}

static void names(void)
{
	struct pair p = new_pair();
	char name[16] = {};
	socklen_t len = sizeof(name);

	CHECK_ERR(set_fault(p.client, "perhaps"), EINVAL);
	CHECK_ERR(set_fault(p.client, ""), EINVAL);
	CHECK_OK(set_fault(p.client, "block"));
	CHECK_OK(getsockopt(p.client, SOL_SDP, SDP_ZCOPY_FAULT, name, &len));
	CHECK(!strcmp(name, "block"));
	len = sizeof(name);
	CHECK_OK(getsockopt(p.server, SOL_SDP, SDP_ZCOPY_FAULT, name, &len));
	CHECK(!strcmp(name, "copy"));
	CHECK_EQ(write_sysctl(SYSCTL_FAULT, "perhaps"), EINVAL);
	CHECK_EQ(write_sysctl(SYSCTL_FAULT, "block"), 0);
	len = sizeof(name);
	CHECK_OK(getsockopt(p.server, SOL_SDP, SDP_ZCOPY_FAULT, name, &len));
	CHECK(!strcmp(name, "block"));
	CHECK_EQ(write_sysctl(SYSCTL_FAULT, "copy"), 0);
	close_pair(p);
}

static const struct sdp_case cases[] = {
	CASE(a_writer_gets_copies, CASE_SDP_ONLY),
	CASE(a_reader_goes_on, CASE_SDP_ONLY),
	CASE(untouched, CASE_SDP_ONLY),
	CASE(edges_are_free, CASE_SDP_ONLY),
	CASE(the_same_buffer, CASE_SDP_ONLY),
	CASE(sent_twice_on_two_sockets, CASE_SDP_ONLY),
	CASE(sent_often, CASE_SDP_ONLY),
	CASE(part_is_protected, CASE_SDP_ONLY),
	CASE(received_into, CASE_SDP_ONLY),
	CASE(threads_wait, CASE_SDP_ONLY),
	CASE(killed_while_it_waits, CASE_SDP_ONLY),
	CASE(unmapped_in_part, CASE_SDP_ONLY),
	CASE(peer_is_gone, CASE_SDP_ONLY),
	CASE(names, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return zcopy_main("async", argc, argv, cases, ARRAY_SIZE(cases));
}
