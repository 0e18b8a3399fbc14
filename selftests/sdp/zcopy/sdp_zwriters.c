// SPDX-License-Identifier: GPL-2.0
/*
 * Many writers: threads of a program, and services of the kernel in its name, write
 * to memory while a thread sends it, over and over, without waiting.  No store may
 * be lost, whoever makes it: each writer has words of its own in the same pages, and
 * finds there what it has stored last.  And the peer gets what was there at the time
 * of each write.
 *
 * What can go wrong takes a processor that still knows a page as writable while
 * another already replaces it, so that this needs three of them.
 * SDP_TEST_DEADLINE lets each case run for a tenth as long, also for hours.
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
#include "sdp_zkinds.h"
#include "sdp_zpaths.h"

#define SYSCTL_FAULT		"/proc/sys/net/sdp/zcopy_fault"
#define SYSCTL_FAULT_LIMIT	"/proc/sys/net/sdp/zcopy_fault_limit"
#define PAGE			4096UL
#define HUGE			(2 * MIB)
#define CPUS			3
/* Pages to which all write: the last of one page table. */
#define SHARED			8
/* The others of a write are in the next table: to protect them takes a while. */
#define LEN			(4 * THRESH)
#define CASE_MS			3000

/* Who writes: two threads, and the kernel for a third. */
enum writer { ALWAYS, SECOND, KERNEL, WRITERS };

/* A writer has two places in each page, and stores the same in both. */
#define LEFT(writer)		((writer) * BLOCK / 2)
#define RIGHT(writer)		(PAGE / 2 + LEFT(writer))

/* What a case is about. */
struct plan {
	const struct kind *kind;
	const char *fault;
	/* Whether the second thread writes. */
	bool second;
	/* How the kernel does; NULL if it does not. */
	const struct path *path;
};

struct bounds {
	uint64_t least[WRITERS];
	uint64_t most[WRITERS];
};

/* What all threads of a case use. */
struct scene {
	struct plan plan;
	unsigned char *map, *buf;
	struct pair p;
	struct other *other;
	/* Rounds of each writer that are complete. */
	uint64_t rounds[WRITERS];
	bool stop;
	/* Of the write that is being read. */
	struct bounds bounds;
	sem_t sent, checked;
	uint64_t sends;
	/* Memories there were, and those that were large. */
	uint64_t maps, large;
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

static bool takes_part(enum writer writer)
{
	return writer == ALWAYS ||
	       (writer == SECOND ? scene.plan.second : !!scene.plan.path);
}

/* ---- writers ---- */

static uint64_t *place(size_t page, size_t offset)
{
	return (uint64_t *)(scene.buf + page * PAGE + offset);
}

/* Words that a writer fills at each of its places. */
static size_t words_of(enum writer writer)
{
	size_t len = writer == KERNEL && scene.plan.path ? scene.plan.path->len :
							   sizeof(uint64_t);

	return len / sizeof(uint64_t);
}

static void expect_stored(enum writer writer, size_t page, size_t offset,
			  uint64_t n)
{
	const uint64_t *at = place(page, offset);
	size_t i;

	for (i = 0; i < words_of(writer); i++) {
		uint64_t is = __atomic_load_n(at + i, __ATOMIC_RELAXED);

		if (is != n)
			FAIL("writer %d: page %zu, offset %zu: stored %llu, found %llu",
			     writer, page, offset + i * sizeof(is),
			     (unsigned long long)n, (unsigned long long)is);
	}
}

/* One more in each page, if all that was stored before is there. */
static void write_round(enum writer writer, void (*put)(uint64_t *at, uint64_t n))
{
	uint64_t n = scene.rounds[writer];
	size_t page;

	for (page = 0; page < SHARED; page++) {
		expect_stored(writer, page, LEFT(writer), n);
		expect_stored(writer, page, RIGHT(writer), n);
		put(place(page, LEFT(writer)), n + 1);
		put(place(page, RIGHT(writer)), n + 1);
	}
	__atomic_store_n(&scene.rounds[writer], n + 1, __ATOMIC_RELEASE);
}

/* Its processor knows the pages as they were for as long as nobody tells it. */
static void *write_always(void *arg)
{
	(void)arg;
	use_cpu(1);
	while (!stopped())
		write_round(ALWAYS, store);
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
	(void)arg;
	use_cpu(2);
	while (!stopped()) {
		write_round(SECOND, store);
		other_run(scene.other);
	}
	return NULL;
}

/* The kernel looks up each page, whatever the processor knows of it. */
static void *write_by_kernel(void *arg)
{
	const struct path *path = scene.plan.path;

	(void)arg;
	use_cpu(2);
	while (!stopped()) {
		if (path->begin)
			path->begin(scene.buf, SHARED * PAGE);
		write_round(KERNEL, path->put);
		if (path->end)
			path->end();
	}
	return NULL;
}

/* ---- the peer ---- */

/* What was stored before the write, or during it, and nothing later. */
static void expect_sent(enum writer writer, uint64_t is)
{
	uint64_t least = scene.bounds.least[writer];
	uint64_t most = scene.bounds.most[writer] + 1;

	if (is < least || is > most)
		FAIL("writer %d: sent %llu to %llu, got %llu", writer,
		     (unsigned long long)least, (unsigned long long)most,
		     (unsigned long long)is);
}

static void check_words(const unsigned char *page, enum writer writer)
{
	const uint64_t *left = (const uint64_t *)(page + LEFT(writer));
	const uint64_t *right = (const uint64_t *)(page + RIGHT(writer));
	size_t i;

	for (i = 0; i < words_of(writer); i++) {
		/* Stored after the first, and read after it where bytes are copied. */
		CHECK(left[i] <= right[i] + 1);
		expect_sent(writer, left[i]);
		expect_sent(writer, right[i]);
	}
}

/* The rest of the memory is zero, and nobody writes there. */
static void check_snapshot(const unsigned char *got)
{
	const unsigned char *rest = got + SHARED * PAGE;
	enum writer writer;
	size_t page;

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
	enum writer i;

	for (i = 0; i < WRITERS; i++)
		rounds[i] = __atomic_load_n(&scene.rounds[i], __ATOMIC_ACQUIRE);
}

static void send_once(void)
{
	struct bounds bounds;

	CHECK_EQ(pthread_mutex_lock(&sending), 0);
	take_rounds(bounds.least);
	write_all(scene.p.client, scene.buf, LEN);
	take_rounds(bounds.most);
	CHECK_EQ(pthread_mutex_unlock(&sending), 0);
	scene.bounds = bounds;
	CHECK_OK(sem_post(&scene.sent));
	CHECK_OK(sem_wait(&scene.checked));
	scene.sends++;
}

/* How long a case lasts, and longer if somebody wants it to. */
static uint64_t case_ms(void)
{
	const char *deadline = getenv("SDP_TEST_DEADLINE");
	uint64_t ms = deadline ? atoi(deadline) * 100ULL : 0;

	return ms > CASE_MS ? ms : CASE_MS;
}

static bool goes_on(uint64_t end)
{
	return now_ms() < end || scene.sends < 3;
}

/* ---- memory that is new ---- */

static void put_rounds(enum writer writer, size_t page, size_t offset)
{
	size_t i;

	for (i = 0; i < words_of(writer); i++)
		place(page, offset)[i] = scene.rounds[writer];
}

/* It has in it what writers expect. */
static void renew_memory(void)
{
	enum writer writer;
	size_t page;

	/* Without its page tables, which else would stay, and be for small pages. */
	CHECK(mmap(scene.map, 2 * HUGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == scene.map);
	CHECK_OK(madvise(scene.map, 2 * HUGE, scene.plan.kind->advice));
	memset(scene.buf, 0, LEN);
	for (page = 0; page < SHARED; page++) {
		for (writer = 0; writer < WRITERS; writer++) {
			put_rounds(writer, page, LEFT(writer));
			put_rounds(writer, page, RIGHT(writer));
		}
	}
	scene.maps++;
	scene.large += is_large(scene.buf);
}

static bool all_have_written(const uint64_t *before)
{
	uint64_t rounds[WRITERS];
	enum writer i;

	take_rounds(rounds);
	for (i = 0; i < WRITERS; i++)
		if (takes_part(i) && rounds[i] == before[i])
			return false;
	return true;
}

static void send_memory(uint64_t end)
{
	unsigned int sends = 0;

	do {
		send_once();
		sends++;
	} while (sends != scene.plan.kind->sends && goes_on(end));
}

/* Writers begin with it, and end with it. */
static void use_memory(uint64_t end)
{
	static void *(*const write[])(void *) = {
		write_always, write_and_switch, write_by_kernel,
	};
	pthread_t threads[WRITERS];
	uint64_t before[WRITERS];
	enum writer i;

	renew_memory();
	take_rounds(before);
	__atomic_store_n(&scene.stop, false, __ATOMIC_RELEASE);
	for (i = 0; i < WRITERS; i++)
		if (takes_part(i))
			thread_start(&threads[i], write[i], NULL);
	WAIT_FOR(all_have_written(before));
	send_memory(end);
	__atomic_store_n(&scene.stop, true, __ATOMIC_RELEASE);
	for (i = 0; i < WRITERS; i++)
		if (takes_part(i))
			thread_join(threads[i]);
}

/* ---- a case ---- */

/* The shared pages are the last ones of the first huge page, or page table. */
static void open_scene(struct other *other)
{
	pthread_t reader;

	if (scene.plan.path)
		scene.plan.path->open();
	*other = other_start(2);
	scene.other = other;
	scene.map = advised(2 * HUGE, MADV_NORMAL);
	scene.buf = scene.map + HUGE - SHARED * PAGE;
	scene.p = new_pair();
	CHECK_OK(sem_init(&scene.sent, 0, 0));
	CHECK_OK(sem_init(&scene.checked, 0, 0));
	thread_start(&reader, read_and_check, NULL);
}

static void report(void)
{
	const unsigned long long rounds[] = {
		scene.rounds[ALWAYS], scene.rounds[SECOND], scene.rounds[KERNEL],
	};

	ktap_diag("%llu writes, %llu bytes async, of %llu memories, %llu large",
		  (unsigned long long)scene.sends,
		  (unsigned long long)info_of(scene.p.client).sdpi_async_sent,
		  (unsigned long long)scene.maps,
		  (unsigned long long)scene.large);
	ktap_diag("rounds %llu, %llu and %llu", rounds[ALWAYS], rounds[SECOND],
		  rounds[KERNEL]);
}

static void run_scene(void)
{
	struct other other;
	uint64_t end;

	open_scene(&other);
	use_cpu(0);
	end = now_ms() + case_ms();
	while (goes_on(end))
		use_memory(end);
	report();
	CHECK(info_of(scene.p.client).sdpi_async_sent > 0);
	/* There may be no large one at times, if memory is short. */
	CHECK(scene.plan.kind == &small ? !scene.large : scene.large);
}

static void run_plan(struct plan plan)
{
	need_cpus(CPUS);
	scene.plan = plan;
	choose_kind(plan.kind);
	change(SYSCTL_FAULT_LIMIT, "100");
	change(SYSCTL_FAULT, plan.fault);
	run_and_undo(run_scene, restore);
}

/* ---- cases ---- */

#define PLAN(name, kind, fault, second, path)				\
	static void name(void)						\
	{								\
		run_plan((struct plan){ &(kind), fault, second, path });\
	}

PLAN(small_pages_with_copies, small, "copy", true, NULL)
PLAN(small_pages_with_waits, small, "block", true, NULL)
PLAN(small_pages_and_process_vm, small, "copy", true, &path_process_vm)
PLAN(small_pages_and_ptrace, small, "copy", true, &path_ptrace)
PLAN(small_pages_and_direct_io, small, "copy", true, &path_direct)
PLAN(small_pages_and_9p, small, "copy", true, &path_9p)
PLAN(small_pages_and_fixed_buffers, small, "copy", true, &path_fixed)
PLAN(small_pages_and_a_pipe, small, "copy", true, &path_vmsplice)
PLAN(waits_and_process_vm, small, "block", true, &path_process_vm)
PLAN(waits_and_direct_io, small, "block", true, &path_direct)
PLAN(huge_pages_with_copies, huge_always, "copy", true, NULL)
PLAN(huge_pages_of_one_thread, huge, "copy", false, NULL)
PLAN(huge_pages_with_waits, huge, "block", true, NULL)
PLAN(huge_pages_and_process_vm, huge, "copy", true, &path_process_vm)
PLAN(huge_pages_and_ptrace, huge, "copy", false, &path_ptrace)
PLAN(huge_pages_and_direct_io, huge, "copy", false, &path_direct)
PLAN(huge_pages_and_fixed_buffers, huge_always, "copy", true, &path_fixed)
PLAN(huge_pages_and_a_pipe, huge, "copy", false, &path_vmsplice)
PLAN(folios_with_copies, folios, "copy", true, NULL)
PLAN(folios_of_one_thread, folios, "copy", false, NULL)
PLAN(folios_and_process_vm, folios, "copy", true, &path_process_vm)
PLAN(folios_and_direct_io, folios, "copy", true, &path_direct)
PLAN(folios_and_9p, folios, "copy", true, &path_9p)
PLAN(folios_and_a_pipe, folios, "copy", false, &path_vmsplice)

static const struct sdp_case cases[] = {
	CASE(small_pages_with_copies, CASE_SDP_ONLY),
	CASE(small_pages_with_waits, CASE_SDP_ONLY),
	CASE(small_pages_and_process_vm, CASE_SDP_ONLY),
	CASE(small_pages_and_ptrace, CASE_SDP_ONLY),
	CASE(small_pages_and_direct_io, CASE_SDP_ONLY),
	CASE(small_pages_and_9p, CASE_SDP_ONLY),
	CASE(small_pages_and_fixed_buffers, CASE_SDP_ONLY),
	CASE(small_pages_and_a_pipe, CASE_SDP_ONLY),
	CASE(waits_and_process_vm, CASE_SDP_ONLY),
	CASE(waits_and_direct_io, CASE_SDP_ONLY),
	CASE(huge_pages_with_copies, CASE_SDP_ONLY),
	CASE(huge_pages_of_one_thread, CASE_SDP_ONLY),
	CASE(huge_pages_with_waits, CASE_SDP_ONLY),
	CASE(huge_pages_and_process_vm, CASE_SDP_ONLY),
	CASE(huge_pages_and_ptrace, CASE_SDP_ONLY),
	CASE(huge_pages_and_direct_io, CASE_SDP_ONLY),
	CASE(huge_pages_and_fixed_buffers, CASE_SDP_ONLY),
	CASE(huge_pages_and_a_pipe, CASE_SDP_ONLY),
	CASE(folios_with_copies, CASE_SDP_ONLY),
	CASE(folios_of_one_thread, CASE_SDP_ONLY),
	CASE(folios_and_process_vm, CASE_SDP_ONLY),
	CASE(folios_and_direct_io, CASE_SDP_ONLY),
	CASE(folios_and_9p, CASE_SDP_ONLY),
	CASE(folios_and_a_pipe, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return zcopy_main("async", argc, argv, cases, ARRAY_SIZE(cases));
}
