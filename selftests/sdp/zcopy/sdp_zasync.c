// SPDX-License-Identifier: GPL-2.0
/*
 * Large writes that return before they are sent: the peer gets what was written,
 * whatever becomes of the memory afterwards.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_transfer.h"

#define SYSCTL_FAULT_LIMIT	"/proc/sys/net/sdp/zcopy_fault_limit"

/* At least so many writes are copied after one whose memory was overwritten too early. */
#define SKIPPED			16

/* ---- the program writes to its memory at once ---- */

static void overwritten_at_once(void)
{
	/* A MiB is at the start of a page: there are devices that read 256 pages. */
	static const size_t sizes[] = {
		MIB, THRESH, THRESH + 1, THRESH + 4095, 100000, MIB - 4096,
		MIB - 4097,
	};
	struct pair p = new_pair();
	uint64_t pos = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		/* Faults of the case before are no reason to copy in this one. */
		close_pair(p);
		p = new_pair();
		overwritten(p, memory(sizes[i], i * 1000 % 4096), sizes[i], pos);
	}
	close_pair(p);
}

/*
 * What is before the first whole page and behind the last one may be in one page
 * of the kernel's, or in two: whether they overlap, touch, or are apart.
 */
static void ends_that_fill_no_page(void)
{
	static const size_t before[] = { 0, 1, 16, 2048, 4080, 4095 };
	size_t page = 4096, i, j;
	struct pair p;

	skip_where_copied();
	for (i = 0; i < ARRAY_SIZE(before); i++) {
		for (j = 0; j < ARRAY_SIZE(before); j++) {
			/* Ends so many bytes into a page. */
			size_t len = THRESH + 4 * page + before[j] - before[i];

			p = new_pair();
			overwritten(p, memory(len, before[i]), len, 0);
			close_pair(p);
		}
	}
}

static void part_of_a_huge_page(size_t offset, size_t len)
{
	struct pair p = new_pair();

	overwritten(p, advised(2 * MIB, MADV_HUGEPAGE) + offset, len, 0);
	close_pair(p);
}

static void huge_pages(void)
{
	part_of_a_huge_page(0, MIB);
	part_of_a_huge_page(5000, MIB - 8192);
}

static void small_pages(void)
{
	struct pair p = new_pair();

	overwritten(p, advised(MIB, MADV_NOHUGEPAGE), MIB, 0);
	close_pair(p);
}

/* Pages that were never written to are all zero, and none of ours. */
static void untouched_memory(void)
{
	struct pair p = new_pair();
	unsigned char *buf = memory(MIB, 0);
	unsigned char *got = memory(MIB, 0);
	size_t i;

	CHECK_EQ(send(p.client, buf, MIB, 0), MIB);
	memset(buf, 0xee, MIB);
	memset(got, 0x11, MIB);
	read_into(p.server, got, MIB);
	for (i = 0; i < MIB; i++)
		CHECK_EQ(got[i], 0);
	close_pair(p);
}

struct writer {
	unsigned char *buf;
	size_t len;
	bool stop;
};

/* Fills page after page with a number, from its start to its end. */
static void *write_on(void *arg)
{
	struct writer *w = arg;
	uint64_t n = 0;
	size_t i;

	while (!__atomic_load_n(&w->stop, __ATOMIC_RELAXED))
		for (n++, i = 0; i < w->len; i += sizeof(n))
			__atomic_store_n((uint64_t *)(w->buf + i), n,
					 __ATOMIC_RELEASE);
	return NULL;
}

/*
 * What a page had in it at any one time is a number at its start, and the one
 * before at its end; a page that changes while it is sent has it otherwise.
 */
static bool is_frozen(const unsigned char *page)
{
	const uint64_t *word = (const uint64_t *)page;
	size_t i;

	for (i = 1; i < 4096 / sizeof(*word); i++)
		if (word[i] != word[i - 1] && word[i] + 1 != word[i - 1])
			return false;
	return word[0] - word[i - 1] <= 1;
}

/*
 * A page that another processor has just got for the writer looks used until that one
 * has put it on the kernel's lists, and is copied like any other byte that is sent
 * while somebody writes to it. Few are, and of these few are caught.
 */
#define MOST_ARE_FROZEN	16

static void write_while_sent(void)
{
	struct pair p = new_pair();
	size_t len = 4 * THRESH, frozen = 0, changed = 0, n, i;
	unsigned char *buf = memory(len, 0);
	unsigned char *got = memory(len, 0);
	struct writer w = { .buf = buf, .len = len };
	pthread_t thread;

	memset(buf, 0, len);
	thread_start(&thread, write_on, &w);
	for (n = 0; n < scaled_count(100); n++) {
		uint64_t before = info_of(p.client).sdpi_async_sent;

		CHECK_EQ(send(p.client, buf, len, 0), len);
		read_into(p.server, got, len);
		/* What waits, or is copied, is none of this test's affair. */
		if (info_of(p.client).sdpi_async_sent - before != len)
			continue;
		for (i = 0; i < len; i += 4096)
			if (is_frozen(got + i))
				frozen++;
			else
				changed++;
	}
	__atomic_store_n(&w.stop, true, __ATOMIC_RELAXED);
	thread_join(thread);
	ktap_diag("%zu pages kept what they had, %zu did not", frozen, changed);
	CHECK(frozen > 0);
	CHECK(changed <= frozen / MOST_ARE_FROZEN);
	close_pair(p);
}

static char limit_before[16];

static void restore_limit(void)
{
	CHECK_EQ(write_sysctl(SYSCTL_FAULT_LIMIT, limit_before), 0);
}

/* Nothing is copied because the memory of what was sent before was touched too early. */
static void with_any_faults(void (*run)(void))
{
	read_sysctl(SYSCTL_FAULT_LIMIT, limit_before, sizeof(limit_before));
	CHECK_EQ(write_sysctl(SYSCTL_FAULT_LIMIT, "100"), 0);
	run_and_undo(run, restore_limit);
}

static void other_thread_writes(void)
{
	need_page_protection();
	with_any_faults(write_while_sent);
}

static void send_twice(void)
{
	struct pair p = new_pair();
	unsigned char *buf = memory(4 * THRESH, 0);

	write_async(p.client, buf, 4 * THRESH, 0);
	write_async(p.client, buf, 4 * THRESH, 4 * THRESH);
	memset(buf, 0, 4 * THRESH);
	read_all(p.server, 0, 8 * THRESH);
	close_pair(p);
}

static void sent_twice_and_changed_between(void)
{
	with_any_faults(send_twice);
}

static void sent_on_two_sockets(void)
{
	struct pair a = new_pair(), b = new_pair();
	unsigned char *buf = memory(8 * THRESH, 40);

	write_async(a.client, buf, 8 * THRESH, 0);
	write_async(b.client, buf, 8 * THRESH, 0);
	memset(buf, 0xee, 8 * THRESH);
	read_all(b.server, 0, 8 * THRESH);
	read_all(a.server, 0, 8 * THRESH);
	close_pair(a);
	close_pair(b);
}

/* ---- the memory goes ---- */

static void unmapped(void)
{
	struct pair p = new_pair();
	unsigned char *buf = memory(8 * THRESH, 0);

	write_async(p.client, buf, 8 * THRESH, 0);
	CHECK_OK(munmap(buf, 8 * THRESH));
	read_all(p.server, 0, 8 * THRESH);
	close_pair(p);
}

static void moved(void)
{
	struct pair p = new_pair();
	unsigned char *buf = memory(8 * THRESH, 0);
	unsigned char *to = memory(8 * THRESH, 0);

	write_async(p.client, buf, 8 * THRESH, 0);
	CHECK(mremap(buf, 8 * THRESH, 8 * THRESH, MREMAP_MAYMOVE | MREMAP_FIXED,
		     to) == to);
	pattern_verify(to, 8 * THRESH, SEED_UP, 0);
	memset(to, 0xee, 8 * THRESH);
	read_all(p.server, 0, 8 * THRESH);
	close_pair(p);
}

static void given_up(int advice)
{
	struct pair p = new_pair();
	unsigned char *buf = memory(8 * THRESH, 0);
	size_t i;

	write_async(p.client, buf, 8 * THRESH, 0);
	CHECK_OK(madvise(buf, 8 * THRESH, advice));
	if (advice == MADV_DONTNEED)
		for (i = 0; i < 8 * THRESH; i++)
			CHECK_EQ(buf[i], 0);
	else
		pattern_verify(buf, 8 * THRESH, SEED_UP, 0);
	memset(buf, 0xee, 8 * THRESH);
	read_all(p.server, 0, 8 * THRESH);
	close_pair(p);
}

static void not_needed(void)
{
	given_up(MADV_DONTNEED);
}

static void paged_out(void)
{
	given_up(MADV_PAGEOUT);
}

static void made_read_only(void)
{
	struct pair p = new_pair();
	unsigned char *buf = memory(8 * THRESH, 0);

	write_async(p.client, buf, 8 * THRESH, 0);
	CHECK_OK(mprotect(buf, 8 * THRESH, PROT_READ));
	read_all(p.server, 0, 8 * THRESH);
	CHECK_OK(mprotect(buf, 8 * THRESH, PROT_READ | PROT_WRITE));
	memset(buf, 0xee, 8 * THRESH);
	close_pair(p);
}

/* ---- the program goes, or becomes two ---- */

static void forked_after_the_write(void)
{
	struct pair p = new_pair();
	unsigned char *buf = memory(8 * THRESH, 0);
	pid_t pid;

	write_async(p.client, buf, 8 * THRESH, 0);
	pid = fork_child();
	memset(buf, pid ? 0xee : 0xdd, 8 * THRESH);
	if (!pid)
		_exit(0);
	join_child(pid);
	read_all(p.server, 0, 8 * THRESH);
	CHECK_EQ(buf[5 * THRESH], 0xee);
	close_pair(p);
}

/* Pages that a child has, too, are shared already. */
static void forked_before_the_write(void)
{
	struct pair p = new_pair();
	unsigned char *buf = memory(8 * THRESH, 0);
	int go[2];
	pid_t pid;
	char c;

	pattern_fill(buf, 8 * THRESH, SEED_UP, 0);
	CHECK_OK(pipe(go));
	pid = fork_child();
	if (!pid) {
		CHECK_EQ(read(go[0], &c, 1), 1);
		pattern_verify(buf, 8 * THRESH, SEED_UP, 0);
		memset(buf, 0xdd, 8 * THRESH);
		_exit(0);
	}
	CHECK_EQ(send(p.client, buf, 8 * THRESH, 0), 8 * THRESH);
	memset(buf, 0xee, 8 * THRESH);
	CHECK_EQ(write(go[1], "", 1), 1);
	join_child(pid);
	read_all(p.server, 0, 8 * THRESH);
	close_pair(p);
}

/* As with TCP, what a program has written arrives, also when it is gone. */
static void writer_is_gone(bool killed)
{
	struct pair p = new_pair();
	pid_t pid = fork_child();
	int err;

	if (!pid) {
		CHECK_OK(close(p.server));
		write_async(p.client, memory(8 * THRESH, 9), 8 * THRESH, 0);
		if (killed)
			raise(SIGSTOP);
		_exit(0);
	}
	CHECK_OK(close(p.client));
	if (killed) {
		CHECK_EQ(waitpid(pid, &err, WUNTRACED), pid);
		kill_child(pid);
	} else {
		join_child(pid);
	}
	CHECK_EQ(recv_pattern_to_end(p.server, SEED_UP, 0, &err), 8 * THRESH);
	CHECK_EQ(err, 0);
	CHECK_OK(close(p.server));
}

static void writer_exits(void)
{
	writer_is_gone(false);
}

static void writer_is_killed(void)
{
	writer_is_gone(true);
}

/* ---- memory that cannot be protected ---- */

static void refused(unsigned char *buf, size_t len)
{
	struct pair p = new_pair();
	struct job job = { p.server, SEED_UP, 0, len, len };
	pthread_t reader;

	pattern_fill(buf, len, SEED_UP, 0);
	thread_start(&reader, read_job, &job);
	write_all(p.client, buf, len);
	memset(buf, 0xee, len);
	thread_join(reader);
	CHECK_EQ(info_of(p.client).sdpi_async_sent, 0);
	CHECK(info_of(p.client).sdpi_guard_refusals > 0);
	close_pair(p);
}

static void shared_memory(void)
{
	unsigned char *buf = mmap(NULL, 8 * THRESH, PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CHECK(buf != MAP_FAILED);
	refused(buf, 8 * THRESH);
}

static void memory_of_a_file(void)
{
	int file;

	refused(file_memory(8 * THRESH, &file), 8 * THRESH);
	CHECK_OK(close(file));
}

static void unreadable_memory(void)
{
	struct pair p = new_pair();
	unsigned char *buf = memory(4 * THRESH, 0);

	CHECK_OK(mprotect(buf + 2 * THRESH, 2 * THRESH, PROT_NONE));
	CHECK_ERR(send(p.client, buf + 2 * THRESH, THRESH, 0), EFAULT);
	write_async(p.client, buf, THRESH, 0);
	read_all(p.server, 0, THRESH);
	close_pair(p);
}

/* ---- limits and numbers ---- */

static void memlock_limit(void)
{
	struct rlimit none = { 0, 0 };
	struct pair p = new_pair();
	pid_t pid = fork_child();

	if (!pid) {
		CHECK_OK(setrlimit(RLIMIT_MEMLOCK, &none));
		CHECK_OK(setresuid(65534, 65534, 65534));
		one_way(p.client, p.server, 8 * THRESH, 3, 0);
		_exit(0);
	}
	join_child(pid);
	CHECK_EQ(info_of(p.client).sdpi_async_sent, 0);
	close_pair(p);
}

/*
 * What a program writes that always overwrites it too early is copied.  It does
 * so on one processor: new pages that another has in a list of its own look used.
 */
static void early_writes_are_noticed(void)
{
	struct sdp_info info;
	unsigned char *buf;
	struct pair p;
	uint64_t pos;

	need_page_protection();
	use_one_cpu();
	p = new_pair();
	buf = advised(8 * THRESH, MADV_NOHUGEPAGE);
	overwritten(p, buf, 8 * THRESH, 0);
	WAIT_FOR(info_of(p.client).sdpi_guard_faults > 0);
	info = info_of(p.client);
	/* Pages that were given up before it came to them were not touched. */
	if (!info.sdpi_zcopy_cancels && writes_are_offered())
		CHECK(info.sdpi_guard_faults >= 8 * THRESH / 4096 - 2);
	/* And given another chance, at last. */
	for (pos = 8 * THRESH; info_of(p.client).sdpi_async_sent == info.sdpi_async_sent;
	     pos += THRESH) {
		CHECK(pos < 1000 * THRESH);
		one_way(p.client, p.server, THRESH, 0, pos);
	}
	CHECK(pos > (8 + SKIPPED) * THRESH);
	close_pair(p);
}

static void sync_is_not_async(void)
{
	struct pair p;

	CHECK_EQ(write_sysctl(SYSCTL_ZCOPY, "sync"), 0);
	p = new_pair();
	CHECK_EQ(write_sysctl(SYSCTL_ZCOPY, "async"), 0);
	one_way(p.client, p.server, 8 * THRESH, 0, 0);
	CHECK_EQ(info_of(p.client).sdpi_async_sent, 0);
	close_pair(p);
}

static const struct sdp_case cases[] = {
	CASE(overwritten_at_once, CASE_SDP_ONLY | CASE_IPV6),
	CASE(ends_that_fill_no_page, CASE_SDP_ONLY),
	CASE(huge_pages, CASE_SDP_ONLY),
	CASE(small_pages, CASE_SDP_ONLY),
	CASE(untouched_memory, CASE_SDP_ONLY),
	CASE(other_thread_writes, CASE_SDP_ONLY),
	CASE(sent_twice_and_changed_between, CASE_SDP_ONLY),
	CASE(sent_on_two_sockets, CASE_SDP_ONLY),
	CASE(unmapped, CASE_SDP_ONLY),
	CASE(moved, CASE_SDP_ONLY),
	CASE(not_needed, CASE_SDP_ONLY),
	CASE(paged_out, CASE_SDP_ONLY),
	CASE(made_read_only, CASE_SDP_ONLY),
	CASE(forked_after_the_write, CASE_SDP_ONLY),
	CASE(forked_before_the_write, CASE_SDP_ONLY),
	CASE(writer_exits, CASE_SDP_ONLY),
	CASE(writer_is_killed, CASE_SDP_ONLY),
	CASE(shared_memory, CASE_SDP_ONLY),
	CASE(memory_of_a_file, CASE_SDP_ONLY),
	CASE(unreadable_memory, CASE_SDP_ONLY),
	CASE(memlock_limit, CASE_SDP_ONLY),
	CASE(early_writes_are_noticed, CASE_SDP_ONLY),
	CASE(sync_is_not_async, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return zcopy_main("async", argc, argv, cases, ARRAY_SIZE(cases));
}
