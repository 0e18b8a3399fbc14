// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that a program has sent without waiting, and then reads into without a
 * copy: it becomes writable again without page faults, where it is the program's
 * alone, and nobody else sees what is read.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_transfer.h"

#define LEN	(4 * THRESH)
#define PAGES	(LEN / 4096)
#define HUGE	(2 * MIB)
#define ROUNDS	16
/* In a round; each page has one where none is given back. */
#define FEW_FAULTS	4
/* Of which the first few show what the program does. */
#define WRITES		150

/* Memory of small pages, which is protected page by page. */
static unsigned char *small_pages(void)
{
	return advised(LEN, MADV_NOHUGEPAGE);
}

static void choose_fault(int fd, const char *name)
{
	CHECK_OK(setsockopt(fd, SOL_SDP, SDP_ZCOPY_FAULT, name, strlen(name)));
}

/* The peer has all of it, and the pages are the program's again. */
static void send_and_wait(struct pair p, unsigned char *buf)
{
	write_async(p.client, buf, LEN, 0);
	read_all(p.server, 0, LEN);
	WAIT_FOR(ioctl_int(p.client, SIOCOUTQ) == 0);
}

/* Something else comes in, without a copy if it is offered and the test fast enough. */
static void receive(struct pair p, unsigned char *buf)
{
	uint64_t before = info_of(p.client).sdpi_zcopy_received;

	send_pattern(p.server, SEED_DOWN, 0, LEN, LEN);
	read_into(p.client, buf, LEN);
	pattern_verify(buf, LEN, SEED_DOWN, 0);
	if (!info_of(p.server).sdpi_zcopy_cancels)
		CHECK_EQ(info_of(p.client).sdpi_zcopy_received - before,
			 writes_are_offered() ? LEN : 0);
}

/* ---- page faults ---- */

/* A peer that answers with something else. */
static void *answer(void *arg)
{
	uint64_t pos;
	int fd = *(int *)arg;

	for (pos = 0; pos < ROUNDS * LEN; pos += LEN) {
		read_all(fd, pos, LEN);
		send_pattern(fd, SEED_DOWN, pos, LEN, LEN);
	}
	return NULL;
}

/* Page faults of this thread, its system calls included. */
static long faults(void)
{
	struct rusage usage;

	CHECK_OK(getrusage(RUSAGE_THREAD, &usage));
	return usage.ru_minflt;
}

static void there_and_back(int fd, unsigned char *buf, uint64_t pos)
{
	pattern_fill(buf, LEN, SEED_UP, pos);
	write_all(fd, buf, LEN);
	read_into(fd, buf, LEN);
	pattern_verify(buf, LEN, SEED_DOWN, pos);
}

/*
 * Each round writes to all pages, sends them, and has them written to by the
 * device, or by the kernel.  The first one finds that there are none yet; and for a
 * while other processors may have new pages in lists of their own, with which they
 * look used.
 */
static void ping_pong(const char *fault)
{
	uint64_t read = writes_are_offered() ? LEN : 0;
	long before, had, least = PAGES;
	struct sdp_info was, is;
	unsigned char *buf;
	pthread_t peer;
	struct pair p;
	uint64_t pos;

	use_one_cpu();
	p = new_pair();
	buf = small_pages();
	choose_fault(p.client, fault);
	thread_start(&peer, answer, &p.server);
	there_and_back(p.client, buf, 0);
	for (pos = LEN; pos < ROUNDS * LEN; pos += LEN) {
		was = info_of(p.client);
		before = faults();
		there_and_back(p.client, buf, pos);
		is = info_of(p.client);
		/* What is copied has faults, and is none of this test's affair. */
		if (is.sdpi_async_sent - was.sdpi_async_sent != LEN ||
		    is.sdpi_zcopy_received - was.sdpi_zcopy_received != read)
			continue;
		had = faults() - before;
		least = had < least ? had : least;
	}
	thread_join(peer);
	CHECK(least <= FEW_FAULTS);
	close_pair(p);
}

static void no_faults_with_copies(void)
{
	need_page_protection();
	ping_pong("copy");
}

static void no_faults_with_waits(void)
{
	need_page_protection();
	ping_pong("block");
}

/* What comes in on one connection goes out on another; the fewest faults of a read. */
static long faults_when_passed_on(struct pair in, struct pair out, unsigned char *buf)
{
	long before, had, least = PAGES;
	bool protected = false;
	uint64_t pos, sent;

	for (pos = 0; pos < ROUNDS * LEN; pos += LEN) {
		send_pattern(in.client, SEED_UP, pos, LEN, LEN);
		before = faults();
		read_into(in.server, buf, LEN);
		had = faults() - before;
		if (protected && had < least)
			least = had;
		pattern_verify(buf, LEN, SEED_UP, pos);
		sent = info_of(out.client).sdpi_async_sent;
		write_all(out.client, buf, LEN);
		read_all(out.server, pos, LEN);
		WAIT_FOR(ioctl_int(out.client, SIOCOUTQ) == 0);
		protected = info_of(out.client).sdpi_async_sent - sent == LEN;
	}
	return least;
}

/*
 * Where time passes unevenly it may look for a while as if copies were cheaper, and pages
 * look used that a processor has in a list of its own, for as long as it is idle: then other
 * memory of other connections is tried.
 */
static void no_faults_when_passed_on(void)
{
	struct pair in, out;
	long had;

	need_page_protection();
	use_one_cpu();
	do {
		in = new_pair();
		out = new_pair();
		had = faults_when_passed_on(in, out, small_pages());
		close_pair(in);
		close_pair(out);
	} while (had > FEW_FAULTS);
}

/* ---- filled again ---- */

/* How many of these writes, of the same memory each, were not copied. */
static uint64_t sent_without_a_copy(unsigned char *buf, size_t len, bool filled)
{
	struct job job = { .seed = SEED_UP, .len = len, .chunk = len };
	struct pair p;
	pthread_t reader;
	uint64_t sent;
	int i;

	use_one_cpu();
	p = new_pair();
	job.fd = p.server;
	pattern_fill(buf, len, SEED_UP, 0);
	for (i = 0; i < WRITES; i++) {
		thread_start(&reader, read_job, &job);
		write_all(p.client, buf, len);
		thread_join(reader);
		WAIT_FOR(ioctl_int(p.client, SIOCOUTQ) == 0);
		job.pos += filled ? len : 0;
		if (filled)
			pattern_fill(buf, len, SEED_UP, job.pos);
	}
	sent = info_of(p.client).sdpi_async_sent / len;
	close_pair(p);
	return sent;
}

/* Each page would take a page fault, which is dearer than its copy. */
static void filled_again(void)
{
	CHECK(sent_without_a_copy(small_pages(), LEN, true) <= WRITES / 8);
}

/* In several pieces, which are protected one after the other. */
static void filled_again_long(void)
{
	CHECK(sent_without_a_copy(advised(MIB, MADV_NOHUGEPAGE), MIB, true) <= WRITES / 8);
}

/* Where a test is so slow that a write was given up, some more are copied. */
static void sent_again(void)
{
	need_page_protection();
	CHECK(sent_without_a_copy(small_pages(), LEN, false) >= WRITES / 2);
}

/* One page fault for all of it. */
static void filled_again_huge(void)
{
	unsigned char *buf = advised(HUGE, MADV_HUGEPAGE);

	need_page_protection();
	memset(buf, 0, HUGE);
	if (file_has("/proc/self/smaps_rollup", "AnonHugePages:         0 kB"))
		sdp_skip("no huge page");
	CHECK(sent_without_a_copy(buf, LEN, true) >= WRITES / 2);
}

/* ---- somebody else has the pages, too ---- */

/* A child has the same pages; one of both reads into them, the other looks. */
static void forked(bool child_reads)
{
	struct pair p = new_pair();
	unsigned char *buf = small_pages();
	int go[2];
	pid_t pid;
	char c;

	send_and_wait(p, buf);
	CHECK_OK(pipe(go));
	pid = fork_child();
	if (!pid) {
		if (child_reads) {
			receive(p, buf);
		} else {
			CHECK_EQ(read(go[0], &c, 1), 1);
			pattern_verify(buf, LEN, SEED_UP, 0);
		}
		_exit(0);
	}
	if (!child_reads) {
		receive(p, buf);
		CHECK_EQ(write(go[1], "", 1), 1);
	}
	join_child(pid);
	pattern_verify(buf, LEN, child_reads ? SEED_UP : SEED_DOWN, 0);
	close_pair(p);
}

static void child_keeps_what_it_has(void)
{
	forked(false);
}

static void parent_keeps_what_it_has(void)
{
	forked(true);
}

/* Half of the pages are on their way to somebody else. */
static void still_sent_elsewhere(const char *fault)
{
	struct pair a = new_pair(), b = new_pair();
	unsigned char *buf = small_pages();

	choose_fault(a.client, fault);
	choose_fault(b.client, fault);
	send_and_wait(b, buf);
	write_async(a.client, buf + LEN / 4, LEN / 2, 0);
	receive(b, buf);
	read_all(a.server, 0, LEN / 2);
	pattern_verify(buf, LEN, SEED_DOWN, 0);
	close_pair(a);
	close_pair(b);
}

static void sent_elsewhere_with_copies(void)
{
	still_sent_elsewhere("copy");
}

static void sent_elsewhere_with_waits(void)
{
	still_sent_elsewhere("block");
}

/* The answer comes before anybody has read the question. */
static void still_sent_here(void)
{
	struct pair p = new_pair();
	unsigned char *buf = small_pages();

	write_async(p.client, buf, LEN, 0);
	receive(p, buf);
	read_all(p.server, 0, LEN);
	close_pair(p);
}

struct rounds {
	int fd;
	unsigned char *buf;
	bool over;
};

static void *go_there_and_back(void *arg)
{
	struct rounds *r = arg;
	uint64_t pos;

	for (pos = 0; pos < ROUNDS * LEN; pos += LEN)
		there_and_back(r->fd, r->buf, pos);
	__atomic_store_n(&r->over, true, __ATOMIC_RELEASE);
	return NULL;
}

/* All of the memory, at any time, is what it was when the process began. */
static void expect_no_change(const unsigned char *buf)
{
	unsigned char *copy = malloc(LEN);
	int n;

	CHECK(copy);
	memcpy(copy, buf, LEN);
	for (n = 0; n < 10; n++) {
		CHECK(!memcmp(copy, buf, LEN));
		pause_a_bit();
	}
}

static void join_rounds(struct pair p, void (*meanwhile)(unsigned char *buf))
{
	struct rounds r = { .fd = p.client, .buf = small_pages() };
	pthread_t peer, self;

	thread_start(&peer, answer, &p.server);
	thread_start(&self, go_there_and_back, &r);
	do
		meanwhile(r.buf);
	while (!__atomic_load_n(&r.over, __ATOMIC_ACQUIRE));
	thread_join(self);
	thread_join(peer);
	close_pair(p);
}

static void fork_once(unsigned char *buf)
{
	pid_t pid = fork_child();

	if (!pid) {
		expect_no_change(buf);
		_exit(0);
	}
	join_child(pid);
}

/* Children come and go while the memory is sent and read into. */
static void forked_meanwhile(void)
{
	join_rounds(new_pair(), fork_once);
}

/* The kernel moves the pages, and tries to put them elsewhere. */
static void move_pages_once(unsigned char *buf)
{
	file_write("/proc/sys/vm/compact_memory", "1");
	madvise(buf, LEN, MADV_PAGEOUT);
}

static void moved_meanwhile(void)
{
	join_rounds(new_pair(), move_pages_once);
}

/* ---- memory that is not what it was ---- */

static void changed(int advice)
{
	struct pair p = new_pair();
	unsigned char *buf = small_pages();

	send_and_wait(p, buf);
	CHECK_OK(madvise(buf, LEN, advice));
	receive(p, buf);
	/* Nor does the kernel think that it may discard it. */
	CHECK_OK(madvise(buf, LEN, MADV_PAGEOUT));
	pattern_verify(buf, LEN, SEED_DOWN, 0);
	close_pair(p);
}

static void not_needed(void)
{
	changed(MADV_DONTNEED);
}

static void freed(void)
{
	changed(MADV_FREE);
}

static void paged_out(void)
{
	changed(MADV_PAGEOUT);
}

/* Nobody writes to what the program may only read. */
static void made_read_only(void)
{
	struct pair p = new_pair();
	unsigned char *buf = small_pages();

	send_and_wait(p, buf);
	CHECK_OK(mprotect(buf, LEN, PROT_READ));
	send_pattern(p.server, SEED_DOWN, 0, LEN, LEN);
	CHECK_ERR(recv(p.client, buf, LEN, 0), EFAULT);
	pattern_verify(buf, LEN, SEED_UP, 0);
	CHECK_OK(mprotect(buf, LEN, PROT_READ | PROT_WRITE));
	read_into(p.client, buf, LEN);
	pattern_verify(buf, LEN, SEED_DOWN, 0);
	close_pair(p);
}

/* Only a part may be written to, and there is a hole. */
static void in_pieces(void)
{
	struct pair p = new_pair();
	unsigned char *buf = small_pages();
	ssize_t n;

	send_and_wait(p, buf);
	CHECK_OK(mprotect(buf + 2 * THRESH, THRESH, PROT_READ));
	CHECK_OK(munmap(buf + 3 * THRESH, THRESH));
	send_pattern(p.server, SEED_DOWN, 0, LEN, LEN);
	n = recv(p.client, buf, LEN, 0);
	if (n < 0) {
		CHECK_EQ(errno, EFAULT);
		n = 0;
	}
	CHECK(n <= (ssize_t)(2 * THRESH));
	pattern_verify(buf, n, SEED_DOWN, 0);
	pattern_verify(buf + 2 * THRESH, THRESH, SEED_UP, 2 * THRESH);
	recv_pattern(p.client, SEED_DOWN, n, LEN - n, THRESH);
	close_pair(p);
}

static const struct sdp_case cases[] = {
	CASE(no_faults_with_copies, CASE_SDP_ONLY),
	CASE(no_faults_with_waits, CASE_SDP_ONLY),
	CASE(no_faults_when_passed_on, CASE_SDP_ONLY),
	CASE(filled_again, CASE_SDP_ONLY),
	CASE(filled_again_long, CASE_SDP_ONLY),
	CASE(sent_again, CASE_SDP_ONLY),
	CASE(filled_again_huge, CASE_SDP_ONLY),
	CASE(child_keeps_what_it_has, CASE_SDP_ONLY),
	CASE(parent_keeps_what_it_has, CASE_SDP_ONLY),
	CASE(sent_elsewhere_with_copies, CASE_SDP_ONLY),
	CASE(sent_elsewhere_with_waits, CASE_SDP_ONLY),
	CASE(still_sent_here, CASE_SDP_ONLY),
	CASE(forked_meanwhile, CASE_SDP_ONLY),
	CASE(moved_meanwhile, CASE_SDP_ONLY),
	CASE(not_needed, CASE_SDP_ONLY),
	CASE(freed, CASE_SDP_ONLY),
	CASE(paged_out, CASE_SDP_ONLY),
	CASE(made_read_only, CASE_SDP_ONLY),
	CASE(in_pieces, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return zcopy_main("async", argc, argv, cases, ARRAY_SIZE(cases));
}
