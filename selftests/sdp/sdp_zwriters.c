// SPDX-License-Identifier: GPL-2.0
/*
 * Many writers: threads of a program write to memory while another sends it, over
 * and over, without waiting.  No store may be lost, whoever makes it: each writer
 * has words of its own in the same pages, and finds there what it has stored
 * last.  And the peer gets what was there at the time of each write.
 *
 * What can go wrong takes a processor that still knows a page as writable while
 * another already replaces it, so that this needs three of them.
 * SDP_TEST_DEADLINE lets each case run for half as long, also for hours.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_transfer.h"

#define SYSCTL_FAULT		"/proc/sys/net/sdp/zcopy_fault"
#define SYSCTL_FAULT_LIMIT	"/proc/sys/net/sdp/zcopy_fault_limit"
#define PAGE			4096UL
#define HUGE			(2 * MIB)
#define CPUS			3
#define WRITERS			2
/* Pages to which all write: the last of one page table. */
#define SHARED			8
/* The others of a write are in the next table: to protect them takes a while. */
#define LEN			(4 * THRESH)
#define CASE_MS			3000

/* A writer has two words in each page, and stores the same in both. */
#define FIRST(writer)		((writer) * 64)
#define SECOND(writer)		(PAGE / 2 + (writer) * 64)

struct bounds {
	uint64_t least[WRITERS];
	uint64_t most[WRITERS];
};

/* What all threads of a case use. */
struct scene {
	unsigned char *buf;
	struct pair p;
	/* Rounds of each writer that are complete. */
	uint64_t rounds[WRITERS];
	bool stop;
	/* Of the write that is being read. */
	struct bounds bounds;
	sem_t sent, checked;
	uint64_t sends;
};

static struct scene scene;

static void use_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	CHECK_OK(sched_setaffinity(0, sizeof(set), &set));
}

static bool stopped(void)
{
	return __atomic_load_n(&scene.stop, __ATOMIC_ACQUIRE);
}

/* ---- writers ---- */

static uint64_t *word(size_t page, size_t offset)
{
	return (uint64_t *)(scene.buf + page * PAGE + offset);
}

static void expect_stored(int writer, size_t page, size_t offset, uint64_t n)
{
	uint64_t is = __atomic_load_n(word(page, offset), __ATOMIC_RELAXED);

	if (is != n)
		FAIL("writer %d: page %zu, offset %zu: stored %llu, found %llu",
		     writer, page, offset, (unsigned long long)n,
		     (unsigned long long)is);
}

static void store(size_t page, size_t offset, uint64_t n)
{
	__atomic_store_n(word(page, offset), n, __ATOMIC_RELEASE);
}

/* One more in each page, if all that was stored before is there. */
static void write_round(int writer,
			void (*put)(size_t page, size_t offset, uint64_t n))
{
	uint64_t n = scene.rounds[writer];
	size_t page;

	for (page = 0; page < SHARED; page++) {
		expect_stored(writer, page, FIRST(writer), n);
		expect_stored(writer, page, SECOND(writer), n);
		put(page, FIRST(writer), n + 1);
		put(page, SECOND(writer), n + 1);
	}
	__atomic_store_n(&scene.rounds[writer], n + 1, __ATOMIC_RELEASE);
}

/* Its processor knows the pages as they were for as long as nobody tells it. */
static void *write_always(void *arg)
{
	(void)arg;
	use_cpu(1);
	while (!stopped())
		write_round(0, store);
	return NULL;
}

/* Another process that answers each byte on the processor where it is asked. */
struct other {
	pid_t pid;
	int ask[2], answer[2];
};

static struct other other_start(int cpu)
{
	struct other o;
	char c;

	CHECK_OK(pipe(o.ask));
	CHECK_OK(pipe(o.answer));
	o.pid = fork_child();
	if (o.pid)
		return o;
	use_cpu(cpu);
	while (read(o.ask[0], &c, 1) == 1)
		CHECK_EQ(write(o.answer[1], &c, 1), 1);
	_exit(0);
}

/* To go there and back takes away what the processor knows of our memory. */
static void other_run(const struct other *o)
{
	char c = 0;

	CHECK_EQ(write(o->ask[1], &c, 1), 1);
	CHECK_EQ(read(o->answer[0], &c, 1), 1);
}

/* Its processor has to look up the pages in each round. */
static void *write_and_switch(void *arg)
{
	use_cpu(2);
	while (!stopped()) {
		write_round(1, store);
		other_run(arg);
	}
	return NULL;
}

/* ---- the peer ---- */

static void check_words(const unsigned char *page, int writer)
{
	uint64_t first = *(const uint64_t *)(page + FIRST(writer));
	uint64_t second = *(const uint64_t *)(page + SECOND(writer));

	/* Stored after the first, and read after it where bytes are copied. */
	CHECK(first <= second + 1);
	CHECK(first >= scene.bounds.least[writer]);
	/* What was stored after the write returned is not in it. */
	CHECK(first <= scene.bounds.most[writer] + 1);
	CHECK(second <= scene.bounds.most[writer] + 1);
}

/* The rest of the memory is zero, and nobody writes there. */
static void check_snapshot(const unsigned char *got)
{
	const unsigned char *rest = got + SHARED * PAGE;
	size_t page;
	int writer;

	for (page = 0; page < SHARED; page++)
		for (writer = 0; writer < WRITERS; writer++)
			check_words(got + page * PAGE, writer);
	CHECK(!rest[0] && !memcmp(rest, rest + 1, LEN - SHARED * PAGE - 1));
}

static void *read_and_check(void *arg)
{
	unsigned char *got = memory(LEN, 0);

	(void)arg;
	for (;;) {
		memset(got, 0xee, LEN);
		read_into(scene.p.server, got, LEN);
		CHECK_OK(sem_wait(&scene.sent));
		check_snapshot(got);
		CHECK_OK(sem_post(&scene.checked));
	}
	return NULL;
}

/* ---- the sender ---- */

static void take_rounds(uint64_t *rounds)
{
	int i;

	for (i = 0; i < WRITERS; i++)
		rounds[i] = __atomic_load_n(&scene.rounds[i], __ATOMIC_ACQUIRE);
}

static void send_once(void)
{
	struct bounds bounds;

	take_rounds(bounds.least);
	write_all(scene.p.client, scene.buf, LEN);
	take_rounds(bounds.most);
	scene.bounds = bounds;
	CHECK_OK(sem_post(&scene.sent));
	CHECK_OK(sem_wait(&scene.checked));
	scene.sends++;
}

/* How long a case lasts, and longer if somebody wants it to. */
static uint64_t case_ms(void)
{
	const char *deadline = getenv("SDP_TEST_DEADLINE");

	return deadline && atoi(deadline) ? atoi(deadline) * 500ULL : CASE_MS;
}

static void send_on(void (*between)(void))
{
	uint64_t end = now_ms() + case_ms();

	use_cpu(0);
	while (now_ms() < end || scene.sends < 3) {
		send_once();
		if (between)
			between();
	}
	__atomic_store_n(&scene.stop, true, __ATOMIC_RELEASE);
}

/* ---- cases ---- */

static char limit_before[16], fault_before[16];

static void restore(void)
{
	CHECK_EQ(write_sysctl(SYSCTL_FAULT_LIMIT, limit_before), 0);
	CHECK_EQ(write_sysctl(SYSCTL_FAULT, fault_before), 0);
}

static void set_up(const char *fault, void (*run)(void))
{
	if (sysconf(_SC_NPROCESSORS_ONLN) < CPUS)
		sdp_skip("needs %d processors", CPUS);
	read_sysctl(SYSCTL_FAULT_LIMIT, limit_before, sizeof(limit_before));
	read_sysctl(SYSCTL_FAULT, fault_before, sizeof(fault_before));
	CHECK_EQ(write_sysctl(SYSCTL_FAULT_LIMIT, "100"), 0);
	CHECK_EQ(write_sysctl(SYSCTL_FAULT, fault), 0);
	run_and_undo(run, restore);
}

/* The shared pages are the last ones of the first huge page, or page table. */
static void run_scene(int advice, void *(*second)(void *), void (*between)(void))
{
	struct other other = other_start(2);
	pthread_t writers[WRITERS], reader;
	int i;

	scene.buf = advised(2 * HUGE, advice) + HUGE - SHARED * PAGE;
	memset(scene.buf, 0, LEN);
	scene.p = new_pair();
	CHECK_OK(sem_init(&scene.sent, 0, 0));
	CHECK_OK(sem_init(&scene.checked, 0, 0));
	thread_start(&writers[0], write_always, NULL);
	thread_start(&writers[1], second, &other);
	thread_start(&reader, read_and_check, NULL);
	send_on(between);
	for (i = 0; i < WRITERS; i++)
		thread_join(writers[i]);
	ktap_diag("%llu writes, rounds %llu and %llu, %llu bytes async",
		  (unsigned long long)scene.sends,
		  (unsigned long long)scene.rounds[0],
		  (unsigned long long)scene.rounds[1],
		  (unsigned long long)info_of(scene.p.client).sdpi_async_sent);
	CHECK(info_of(scene.p.client).sdpi_async_sent > 0);
}

static void on_small_pages(void)
{
	run_scene(MADV_NOHUGEPAGE, write_and_switch, NULL);
}

static void small_pages_with_copies(void)
{
	set_up("copy", on_small_pages);
}

static void small_pages_with_waits(void)
{
	set_up("block", on_small_pages);
}

static const struct sdp_case cases[] = {
	CASE(small_pages_with_copies, CASE_SDP_ONLY),
	CASE(small_pages_with_waits, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return zcopy_main("async", argc, argv, cases, ARRAY_SIZE(cases));
}
