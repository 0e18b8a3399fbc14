// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that somebody else has found by its address, and still uses, while it is
 * sent without waiting: the program, who uses it, and the peer see what they would
 * see with a copy.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_transfer.h"

#define PAGE	4096UL
#define LEN	(8 * THRESH)

/* ---- a pipe has a page, and gives out what is in it when it is read ---- */

static void put_into_pipe(const int *pipe, unsigned char *page)
{
	struct iovec iov = { page, PAGE };

	CHECK_EQ(vmsplice(pipe[1], &iov, 1, 0), PAGE);
}

/* Whether the pipe still has the page that the program writes to. */
static void expect_same_page(const int *pipe, unsigned char *page)
{
	unsigned char got[PAGE];

	memset(page, 0xdd, PAGE);
	CHECK_EQ(read(pipe[0], got, PAGE), PAGE);
	CHECK(!memcmp(got, page, PAGE));
}

static void a_page_in_a_pipe(void)
{
	unsigned char *buf = advised(LEN, MADV_NOHUGEPAGE);
	struct pair p = new_pair();
	int pipe_of[2];

	pattern_fill(buf, LEN, SEED_UP, 0);
	CHECK_OK(pipe(pipe_of));
	put_into_pipe(pipe_of, buf + 3 * PAGE);
	/* The other pages are protected, and this one is copied. */
	write_async(p.client, buf, LEN, 0);
	expect_same_page(pipe_of, buf + 3 * PAGE);
	read_all(p.server, 0, LEN);
	close_pair(p);
}

/* What is sent is another part of the same huge page. */
static void a_part_of_a_huge_page_in_a_pipe(void)
{
	unsigned char *buf = advised(2 * MIB, MADV_HUGEPAGE);
	struct pair p = new_pair();
	struct job job = { p.server, SEED_UP, 0, LEN, LEN };
	pthread_t reader;
	int pipe_of[2];

	pattern_fill(buf, 2 * MIB, SEED_UP, 0);
	CHECK_OK(pipe(pipe_of));
	put_into_pipe(pipe_of, buf + MIB + 3 * PAGE);
	thread_start(&reader, read_job, &job);
	write_all(p.client, buf, LEN);
	expect_same_page(pipe_of, buf + MIB + 3 * PAGE);
	thread_join(reader);
	close_pair(p);
}

/* ---- direct I/O has a page, and has not read to it yet ---- */

#define SEED_DISK	33

static int open_disk(void)
{
	const char *path = ram_disk();
	unsigned char page[PAGE];
	int disk;

	pattern_fill(page, PAGE, SEED_DISK, 0);
	disk = CHECK_OK(open(path, O_RDWR));
	CHECK_EQ(pwrite(disk, page, PAGE, 0), PAGE);
	CHECK_OK(fsync(disk));
	CHECK_OK(close(disk));
	return CHECK_OK(open(path, O_RDONLY | O_DIRECT));
}

/* A read into a page, and into another one that is not there yet. */
struct direct {
	int disk, uffd;
	unsigned char *page, *missing;
	pthread_t thread;
};

static void *read_directly(void *arg)
{
	struct direct *d = arg;
	struct iovec iov[] = { { d->page, PAGE }, { d->missing, PAGE } };

	CHECK_EQ(preadv(d->disk, iov, 2, 0), 2 * PAGE);
	return NULL;
}

/* Returns when the kernel has found the page, and waits for the other. */
static void direct_start(struct direct *d, unsigned char *page)
{
	d->disk = open_disk();
	d->page = page;
	d->missing = memory(PAGE, 0);
	d->uffd = watch_missing(d->missing, PAGE);
	thread_start(&d->thread, read_directly, d);
	wait_poll(d->uffd, POLLIN);
}

static void direct_end(struct direct *d)
{
	struct uffdio_zeropage zero = {
		.range = { (uintptr_t)d->missing, PAGE },
	};

	CHECK_OK(ioctl(d->uffd, UFFDIO_ZEROPAGE, &zero));
	thread_join(d->thread);
	CHECK_OK(close(d->uffd));
	CHECK_OK(close(d->disk));
}

/* What it reads is seen by the program, though that has written there, too. */
static void a_page_that_is_read_to(void)
{
	unsigned char *buf = advised(LEN, MADV_NOHUGEPAGE);
	unsigned char *page = buf + 3 * PAGE;
	struct pair p = new_pair();
	struct direct d;

	pattern_fill(buf, LEN, SEED_UP, 0);
	direct_start(&d, page);
	write_async(p.client, buf, LEN, 0);
	memset(page, 0xdd, PAGE);
	direct_end(&d);
	pattern_verify(page, PAGE, SEED_DISK, 0);
	read_all(p.server, 0, LEN);
	close_pair(p);
}

static void a_part_of_a_huge_page_that_is_read_to(void)
{
	unsigned char *buf = advised(2 * MIB, MADV_HUGEPAGE);
	unsigned char *page = buf + MIB + 3 * PAGE;
	struct pair p = new_pair();
	struct job job = { p.server, SEED_UP, 0, LEN, LEN };
	pthread_t reader;
	struct direct d;

	pattern_fill(buf, 2 * MIB, SEED_UP, 0);
	direct_start(&d, page);
	thread_start(&reader, read_job, &job);
	write_all(p.client, buf, LEN);
	memset(page, 0xdd, PAGE);
	direct_end(&d);
	pattern_verify(page, PAGE, SEED_DISK, 0);
	thread_join(reader);
	close_pair(p);
}

/* ---- the pages of a large folio are mapped one by one ---- */

/* Nobody has written to them, so that none is counted as written to. */
static void untouched_parts_of_a_large_folio(void)
{
	unsigned char *buf = advised(2 * MIB, MADV_HUGEPAGE);
	struct pair p = new_pair();
	struct job job = { p.server, SEED_UP, 0, LEN, LEN };
	pthread_t reader;

	pattern_fill(buf, 2 * MIB, SEED_UP, 0);
	CHECK_OK(mprotect(buf + 2 * MIB - PAGE, PAGE, PROT_READ));
	thread_start(&reader, read_job, &job);
	write_all(p.client, buf, LEN);
	thread_join(reader);
	WAIT_FOR(ioctl_int(p.client, SIOCOUTQ) == 0);
	WAIT_FOR(sdp_stat("ZcopyPages") == 0);
	CHECK_EQ(info_of(p.client).sdpi_guard_faults, 0);
	close_pair(p);
}

/* ---- pages that the kernel has found to be equal are one (KSM) ---- */

#define KSM	"/sys/kernel/mm/ksm/"

static void ksm_stop(void)
{
	file_write(KSM "run", "2");
	file_write(KSM "run", "0");
}

static int merged_pages(void)
{
	char text[32];

	file_read("/proc/self/ksm_merging_pages", text, sizeof(text));
	return atoi(text);
}

static void send_merged(void)
{
	unsigned char *buf = advised(LEN, MADV_NOHUGEPAGE), *page = buf + 3 * PAGE;
	unsigned char *twin = advised(PAGE, MADV_NOHUGEPAGE);
	struct pair p = new_pair();

	pattern_fill(buf, LEN, SEED_UP, 0);
	memcpy(twin, page, PAGE);
	CHECK_OK(madvise(page, PAGE, MADV_MERGEABLE));
	CHECK_OK(madvise(twin, PAGE, MADV_MERGEABLE));
	WAIT_FOR(merged_pages() == 2);
	CHECK_EQ(send(p.client, buf, LEN, 0), LEN);
	memset(twin, 0xaa, PAGE);
	pattern_verify(page, PAGE, SEED_UP, page - buf);
	memset(page, 0xdd, PAGE);
	read_all(p.server, 0, LEN);
	expect_bytes(page, PAGE, 0xdd);
	expect_bytes(twin, PAGE, 0xaa);
	close_pair(p);
}

static void a_page_that_is_merged(void)
{
	if (!file_write(KSM "pages_to_scan", "1000") || !file_write(KSM "sleep_millisecs", "1") ||
	    !file_write(KSM "run", "1"))
		sdp_skip("this kernel does not merge pages");
	run_and_undo(send_merged, ksm_stop);
}

static const struct sdp_case cases[] = {
	CASE(a_page_in_a_pipe, CASE_SDP_ONLY),
	CASE(a_part_of_a_huge_page_in_a_pipe, CASE_SDP_ONLY),
	CASE(a_page_that_is_read_to, CASE_SDP_ONLY),
	CASE(a_part_of_a_huge_page_that_is_read_to, CASE_SDP_ONLY),
	CASE(untouched_parts_of_a_large_folio, CASE_SDP_ONLY),
	CASE(a_page_that_is_merged, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return zcopy_main("async", argc, argv, cases, ARRAY_SIZE(cases));
}
