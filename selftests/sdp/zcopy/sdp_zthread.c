// SPDX-License-Identifier: GPL-2.0
/*
 * Threads and zero copy: memory that a thread may not touch it cannot send either, and
 * what one thread writes is not torn apart by what another does meanwhile.
 */
#define _GNU_SOURCE
#include <linux/userfaultfd.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_transfer.h"

#define SYSCTL_FAULT_LIMIT	"/proc/sys/net/sdp/zcopy_fault_limit"
#define PAGE	4096UL
#define LEN	THRESH
/* Behind the whole pages of a write, in a page that is missing. */
#define TAIL	100

/* ---- protection keys ---- */

/* Keys are a thread's own: others may write to the memory and send it. */
static void memory_of_another_key(void)
{
	unsigned char *buf = advised(2 * MIB, MADV_NOHUGEPAGE);
	int key = pkey_alloc(0, 0);
	struct pair p = new_pair();

	if (key < 0)
		sdp_skip("no protection keys");
	pattern_fill(buf, LEN, SEED_UP, 0);
	CHECK_OK(pkey_mprotect(buf, 2 * MIB, PROT_READ | PROT_WRITE, key));
	CHECK_OK(pkey_set(key, PKEY_DISABLE_ACCESS));
	CHECK_ERR(send(p.client, buf, LEN, MSG_NOSIGNAL), EFAULT);
	CHECK_OK(pkey_set(key, 0));
	write_async(p.client, buf, LEN, 0);
	read_all(p.server, 0, LEN);
	close_pair(p);
}

/* ---- a write that waits for its memory, and another one ---- */

struct torn {
	int fd;
	struct iovec iov[2];
	ssize_t ret;
	pthread_t thread;
};

static void *write_torn(void *arg)
{
	struct torn *t = arg;

	t->ret = writev(t->fd, t->iov, 2);
	return NULL;
}

static long send_mark(int fd)
{
	return send(fd, "!", 1, 0);
}

static void provide(int uffd, unsigned char *page, uint64_t pos)
{
	unsigned char fill[PAGE] = { 0 };
	struct uffdio_copy copy = {
		.dst = (uintptr_t)page,
		.src = (uintptr_t)fill,
		.len = PAGE,
	};

	pattern_fill(fill, TAIL, SEED_UP, pos);
	CHECK_OK(ioctl(uffd, UFFDIO_COPY, &copy));
}

/*
 * The second part of the write ends in a page that is not there yet, for which it
 * waits when its whole pages are protected already.
 */
static void writes_stay_whole(void)
{
	unsigned char *first = advised(2 * MIB, MADV_NOHUGEPAGE);
	unsigned char *second = first + MIB, *missing = second + LEN;
	struct pair p = new_pair();
	struct torn t = {
		.fd = p.client,
		.iov = { { first, LEN }, { second, LEN + TAIL } },
	};
	struct blocked other;
	int uffd;

	/* Room for all, so that nobody waits for the peer, even if it is copied. */
	set_int(p.client, SOL_SOCKET, SO_SNDBUF, MIB);
	pattern_fill(first, LEN, SEED_UP, 0);
	pattern_fill(second, LEN, SEED_UP, LEN);
	CHECK_OK(madvise(missing, PAGE, MADV_DONTNEED));
	uffd = watch_missing(missing, PAGE);
	thread_start(&t.thread, write_torn, &t);
	wait_poll(uffd, POLLIN);
	block_start(&other, send_mark, p.client);
	provide(uffd, missing, 2 * LEN);
	thread_join(t.thread);
	CHECK_EQ(t.ret, 2 * LEN + TAIL);
	CHECK_EQ(block_join(&other), 1);
	read_all(p.server, 0, 2 * LEN + TAIL);
	expect_text(p.server, "!", 0);
	CHECK_OK(close(uffd));
	close_pair(p);
}

/* ---- page tables that go and come ---- */

/* What one page table maps, or a huge page. */
#define TABLE		(2 * MIB)
#define GIVEN_BACK	300

struct giver {
	unsigned char *buf;
	/* Calls that have ended. */
	unsigned long rounds;
	bool enough;
};

/* An empty table goes with its last page, where the kernel frees such tables. */
static void *give_back(void *arg)
{
	struct giver *g = arg;

	while (!__atomic_load_n(&g->enough, __ATOMIC_RELAXED)) {
		/* EINVAL: no huge pages in this kernel. */
		CHECK(!madvise(g->buf, TABLE, g->rounds & 1 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) ||
		      errno == EINVAL);
		CHECK_OK(madvise(g->buf, TABLE, MADV_DONTNEED));
		__atomic_add_fetch(&g->rounds, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

/* Bytes whose page was given back after they were written are zeros. */
static bool is_of_round(const unsigned char *got, size_t at, size_t round)
{
	unsigned char want[8];
	size_t i;

	pattern_fill(want, sizeof(want), SEED_UP, round * LEN + at);
	for (i = 0; i < sizeof(want); i++)
		if (got[at + i] && got[at + i] != want[i])
			return false;
	return true;
}

/*
 * While one call of madvise() runs, a processor that it has not told yet may read a page
 * that it has taken away already, although another one is there by now, which was written
 * to since.  That holds for memory of any program, and whichever socket copies it.  So what
 * is sent in a round may be of one before if no call has ended since the next was written.
 */
static size_t oldest_round(const unsigned long *ended, size_t round)
{
	size_t i = round;

	while (i && ended[i] == ended[round])
		i--;
	return i;
}

static void expect_of_rounds(const unsigned char *got, size_t at, size_t oldest, size_t round)
{
	size_t i = round;

	while (!is_of_round(got, at, i))
		if (i-- == oldest)
			FAIL("round %zu, byte %zu: of no round since %zu", round, at, oldest);
}

static void memory_given_back_meanwhile(void)
{
	static unsigned long ended[GIVEN_BACK];
	static unsigned char got[LEN];
	struct giver g = { .buf = advised(TABLE, MADV_NOHUGEPAGE) };
	struct pair p = new_pair();
	pthread_t t;
	size_t i, at;

	need_page_protection();
	thread_start(&t, give_back, &g);
	for (i = 0; i < GIVEN_BACK; i++) {
		pattern_fill(g.buf, LEN, SEED_UP, i * LEN);
		ended[i] = __atomic_load_n(&g.rounds, __ATOMIC_SEQ_CST);
		write_all(p.client, g.buf, LEN);
		read_into(p.server, got, LEN);
		for (at = 0; at < LEN; at += 8)
			expect_of_rounds(got, at, oldest_round(ended, i), i);
	}
	WAIT_FOR(__atomic_load_n(&g.rounds, __ATOMIC_RELAXED) >= GIVEN_BACK);
	__atomic_store_n(&g.enough, true, __ATOMIC_RELAXED);
	thread_join(t);
	CHECK(info_of(p.client).sdpi_async_sent);
	close_pair(p);
}

/* ---- processors that have to be told of each write ---- */

/* So little that to interrupt another processor costs more than copies. */
#define LITTLE		(4 * PAGE)
#define WRITES		10
/* Nobody is interrupted while that processor runs another process for a while. */
#define BATCHES		100

static unsigned long turns;
static bool enough;

/* Runs the process on another processor. */
static void *run_elsewhere(void *arg)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(*(int *)arg, &cpus);
	CHECK_OK(sched_setaffinity(0, sizeof(cpus), &cpus));
	while (!__atomic_load_n(&enough, __ATOMIC_RELAXED))
		__atomic_add_fetch(&turns, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* A busy machine may have let that processor do other things for a while. */
static void wait_for_turn(void)
{
	unsigned long seen = __atomic_load_n(&turns, __ATOMIC_RELAXED);

	WAIT_FOR(__atomic_load_n(&turns, __ATOMIC_RELAXED) != seen);
}

/* Of memory that was not sent before, so that it has to be protected. */
static void write_little(struct pair *p, size_t nr)
{
	unsigned char *buf = advised(LITTLE, MADV_NOHUGEPAGE);

	pattern_fill(buf, LITTLE, SEED_UP, nr * LITTLE);
	wait_for_turn();
	write_all(p->client, buf, LITTLE);
	recv_pattern(p->server, SEED_UP, nr * LITTLE, LITTLE, LITTLE);
	CHECK_OK(munmap(buf, LITTLE));
}

/* How many of a batch were not copied. */
static uint64_t writes_not_copied(struct pair *p, size_t batch)
{
	uint64_t before = info_of(p->client).sdpi_async_sent;
	size_t i;

	for (i = 0; i < WRITES; i++)
		write_little(p, batch * WRITES + i);
	return (info_of(p->client).sdpi_async_sent - before) / LITTLE;
}

/* Whether one of so many batches is copied for the most part. */
static bool learns_to_copy(size_t batches)
{
	struct pair p = new_pair();
	bool learned = false;
	size_t i;

	set_int(p.client, SOL_TCP, SDP_ZCOPY_THRESH, PAGE);
	set_int(p.server, SOL_TCP, SDP_ZCOPY_THRESH, PAGE);
	for (i = 0; i < batches && !learned; i++)
		learned = writes_not_copied(&p, i) < WRITES / 2;
	close_pair(p);
	return learned;
}

static void run_on_two_processors(void)
{
	pthread_t other;
	int cpu;

	need_cpus(2);
	use_one_cpu();
	cpu = !sched_getcpu();
	thread_start(&other, run_elsewhere, &cpu);
	CHECK_EQ(write_sysctl(SYSCTL_FAULT_LIMIT, "100"), 0);
	CHECK(!learns_to_copy(1));
	CHECK_EQ(write_sysctl(SYSCTL_FAULT_LIMIT, "10"), 0);
	CHECK(learns_to_copy(BATCHES));
	__atomic_store_n(&enough, true, __ATOMIC_RELAXED);
	thread_join(other);
}

static char limit_before[16];

static void restore_limit(void)
{
	CHECK_EQ(write_sysctl(SYSCTL_FAULT_LIMIT, limit_before), 0);
}

static void little_on_two_processors(void)
{
	need_page_protection();
	read_sysctl(SYSCTL_FAULT_LIMIT, limit_before, sizeof(limit_before));
	run_and_undo(run_on_two_processors, restore_limit);
}

static const struct sdp_case cases[] = {
	CASE(memory_of_another_key, CASE_SDP_ONLY),
	CASE(writes_stay_whole, CASE_SDP_ONLY),
	CASE(memory_given_back_meanwhile, CASE_SDP_ONLY),
	CASE(little_on_two_processors, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return zcopy_main("async", argc, argv, cases, ARRAY_SIZE(cases));
}
