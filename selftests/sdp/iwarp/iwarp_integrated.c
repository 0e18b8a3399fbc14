// SPDX-License-Identifier: GPL-2.0
/*
 * What programs write is taken by the provider from where they have it, by the only copy:
 * that it is, that it is the right bytes in all kinds of memory, and that nothing is
 * promised that has not arrived.  Needs root, and two of our own iWARP devices in this node.
 */
#define _GNU_SOURCE
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "iwarp_end.h"
#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_ring.h"
#include "sdp_transfer.h"

#ifndef IORING_RECVSEND_BUNDLE
#define IORING_RECVSEND_BUNDLE	0x10
#endif

#define PAGE		4096UL

static void (*the_case)(void);
static bool used;

static void run_the_case(void)
{
	long before = sdp_stat("IntegratedBytesOut");

	the_case();
	if (used)
		CHECK(sdp_stat("IntegratedBytesOut") > before);
}

static void run_over(const char *design, bool markers, void (*run)(void))
{
	the_case = run;
	iwarp_run_over(design, markers, markers, run_the_case);
}

/* By all ways in which the host copies. */
static void try_each_way(void (*run)(void))
{
	run_over("host", false, run);
	run_over("host", true, run);
	run_over("assisted", false, run);
	run_over("assisted", true, run);
}

/* Where some writes are certain to find nothing in their way. */
static void each_way(void (*run)(void))
{
	used = true;
	try_each_way(run);
	used = false;
}

/* ---- that it is so ---- */

static void write_all_kinds(struct pair p)
{
	struct job jobs[4] = {
		{ .fd = p.client, .seed = SEED_UP, .len = 2 * MIB, .chunk = 65536 },
		{ .fd = p.server, .seed = SEED_DOWN, .len = 2 * MIB, .chunk = 5003 },
		{ .fd = p.server, .seed = SEED_UP, .len = 2 * MIB, .chunk = 100001 },
		{ .fd = p.client, .seed = SEED_DOWN, .len = 2 * MIB, .chunk = 777 },
	};

	both_ways(jobs, write_job);
}

static void run_both_ways(void)
{
	static const char *const engines[] = { "credit", "rdma", "nic", "auto" };
	struct pair p;
	long before;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(engines); i++) {
		before = sdp_stat("IntegratedBytesOut");
		p = engine_pair(engines[i], engines[i], 0);
		write_all_kinds(p);
		CHECK(sdp_stat("IntegratedBytesOut") - before >= (long)PAGE);
		close_pair(p);
	}
}

static void both_ways_at_once(void)
{
	each_way(run_both_ways);
}

/* Requests and answers, each read at once: none is in the send ring. */
static void run_requests(void)
{
	long before = sdp_stat("IntegratedBytesOut");
	long copied = device_counters("tx_iter_bytes");
	struct pair p = new_pair();

	move_requests(p);
	CHECK(sdp_stat("IntegratedBytesOut") - before >= 90 * 1001);
	WAIT_FOR(device_counters("tx_iter_bytes") - copied >= 90 * 1001);
	close_pair(p);
}

static void requests(void)
{
	each_way(run_requests);
}

/* Who has an engine that does all reads the memory of SDP's ring itself. */
static void run_not_offloaded(void)
{
	long before = sdp_stat("IntegratedBytesOut");
	struct pair p = new_pair();

	write_all_kinds(p);
	CHECK_EQ(sdp_stat("IntegratedBytesOut"), before);
	close_pair(p);
}

static void not_offloaded(void)
{
	run_over("offloaded", true, run_not_offloaded);
	run_over("offloaded-sg", false, run_not_offloaded);
}

static void run_not_offered(void)
{
	iwarp_set("send_iter", false);
	run_not_offloaded();
}

static void offer_again(void)
{
	iwarp_set("send_iter", true);
}

/* Who has connected before goes on as before. */
static void run_offered_no_more(void)
{
	struct pair p = new_pair();
	long before;

	iwarp_set("send_iter", false);
	before = sdp_stat("IntegratedBytesOut");
	write_all_kinds(p);
	CHECK(sdp_stat("IntegratedBytesOut") > before);
	close_pair(p);
	run_not_offloaded();
}

static void over_host_not_offered(void)
{
	run_over("host", true, run_not_offered);
}

static void over_host_offered_no_more(void)
{
	run_over("host", true, run_offered_no_more);
}

static void not_offered(void)
{
	run_and_undo(over_host_not_offered, offer_again);
	run_and_undo(over_host_offered_no_more, offer_again);
}

/* ---- the bytes ---- */

/* Sizes around those at which a write takes another way, or a message another segment. */
static void run_sizes(void)
{
	static const size_t sizes[] = {
		1, 15, 16, 17, 491, 492, 493, 508, 512, PAGE - 1, PAGE, PAGE + 1, 4368, 4404,
		16383, 16384, 16385, 65535, 65536, 65537, 3 * 65536 + 1, MIB - 1, MIB, MIB + 1,
	};
	struct pair p = new_pair();

	move_sizes(p, sizes, ARRAY_SIZE(sizes));
	close_pair(p);
}

static void sizes(void)
{
	each_way(run_sizes);
}

/* Memory in pieces of all lengths, which ends amid a message and amid what is between markers. */
static void run_pieces(void)
{
	static unsigned char buf[60000];
	struct pair p = new_pair();
	struct iovec iov[60];
	uint64_t pos = 0;
	unsigned int i, n;

	for (i = 1; i < 60; i++) {
		size_t at = 0;

		for (n = 0; n < i; n++) {
			iov[n].iov_base = buf + at;
			iov[n].iov_len = (n * 37 + i * 11) % 997;
			at += iov[n].iov_len;
		}
		pattern_fill(buf, at, SEED_UP, pos);
		CHECK_EQ(writev(p.client, iov, i), at);
		memset(buf, 0, at);
		recv_pattern(p.server, SEED_UP, pos, at, at);
		pos += at;
	}
	close_pair(p);
}

static void pieces(void)
{
	each_way(run_pieces);
}

/* What is long does not overtake what is short, and waits. */
static void run_short_before_long(void)
{
	struct pair p = new_pair();

	move_short_before_long(p, 5 * PAGE, 5 * PAGE);
	close_pair(p);
}

static void short_before_long(void)
{
	try_each_way(run_short_before_long);
}

/* ---- memory that is not there ---- */

static void run_memory_not_there(void)
{
	unsigned char *buf = memory(64 * PAGE, 0);
	struct pair p = new_pair();
	unsigned int i;

	for (i = 0; i < 20; i++) {
		size_t hole = i % 15 + 1;

		pattern_fill(buf, 64 * PAGE, SEED_UP, 0);
		CHECK_OK(madvise(buf + hole * PAGE, PAGE, MADV_DONTNEED));
		CHECK_EQ(send(p.client, buf, 32 * PAGE, 0), 32 * PAGE);
		recv_pattern(p.server, SEED_UP, 0, hole * PAGE, PAGE);
		read_into(p.server, buf, PAGE);
		expect_bytes(buf, PAGE, 0);
		recv_pattern(p.server, SEED_UP, (hole + 1) * PAGE, (31 - hole) * PAGE, PAGE);
	}
	close_pair(p);
}

static void memory_not_there(void)
{
	each_way(run_memory_not_there);
}

static void run_memory_that_ends(void)
{
	unsigned char *buf = memory(16 * PAGE, 0);
	struct pair p = new_pair();
	uint64_t pos = 0;
	unsigned int i;
	long sent;

	CHECK_OK(munmap(buf + 8 * PAGE, 8 * PAGE));
	for (i = 0; i < 20; i++) {
		pattern_fill(buf, 8 * PAGE, SEED_UP, pos);
		CHECK_ERR(send(p.client, buf + 8 * PAGE, PAGE, 0), EFAULT);
		sent = send(p.client, buf, 16 * PAGE, 0);
		CHECK(sent == -1 ? errno == EFAULT : sent <= (long)(8 * PAGE));
		sent = sent < 0 ? 0 : sent;
		recv_pattern(p.server, SEED_UP, pos, sent, PAGE);
		pos += sent;
		/* The stream goes on where it has stopped. */
		send_pattern(p.client, SEED_UP, pos, 3 * PAGE, 3 * PAGE);
		recv_pattern(p.server, SEED_UP, pos, 3 * PAGE, PAGE);
		pos += 3 * PAGE;
	}
	close_pair(p);
}

static void memory_that_ends(void)
{
	each_way(run_memory_that_ends);
}

#define COMES_AND_GOES	9

struct vanish {
	unsigned char *page;
	bool stop;
};

static void *vanish_job(void *arg)
{
	struct vanish *v = arg;

	while (!__atomic_load_n(&v->stop, __ATOMIC_RELAXED))
		CHECK_OK(madvise(v->page, PAGE, MADV_DONTNEED));
	return NULL;
}

/* A page that another thread takes away time and again: nothing of another write is there. */
static void run_memory_comes_and_goes(void)
{
	unsigned char *buf = memory(16 * PAGE, 0), *got = memory(16 * PAGE, 0);
	unsigned int i, n = scaled_count(100);
	struct pair p = new_pair();
	struct vanish v = { .page = buf + COMES_AND_GOES * PAGE };
	pthread_t thread;

	thread_start(&thread, vanish_job, &v);
	for (i = 0; i < n; i++) {
		size_t at;

		memset(buf, i % 255 + 1, 16 * PAGE);
		CHECK_EQ(send(p.client, buf, 16 * PAGE, 0), 16 * PAGE);
		read_into(p.server, got, 16 * PAGE);
		expect_bytes(got, COMES_AND_GOES * PAGE, i % 255 + 1);
		expect_bytes(got + (COMES_AND_GOES + 1) * PAGE,
			     (15 - COMES_AND_GOES) * PAGE, i % 255 + 1);
		for (at = COMES_AND_GOES * PAGE; at < (COMES_AND_GOES + 1) * PAGE; at++)
			CHECK(!got[at] || got[at] == i % 255 + 1);
	}
	__atomic_store_n(&v.stop, true, __ATOMIC_RELAXED);
	thread_join(thread);
	close_pair(p);
}

static void memory_comes_and_goes(void)
{
	each_way(run_memory_comes_and_goes);
}

/* ---- what has arrived ---- */

/* Nothing asks for the completion of what a program has not to wait for. */
static void run_all_has_arrived(void)
{
	struct pair p = new_pair();
	unsigned int i;

	set_int(p.client, SOL_TCP, TCP_NODELAY, 1);
	for (i = 0; i < 10; i++) {
		send_pattern(p.client, SEED_UP, i * 1000, 1000, 1000);
		WAIT_FOR(!ioctl_int(p.client, SIOCOUTQ));
		CHECK(info_of(p.client).sdpi_bytes_acked <= (i + 1) * 1000);
	}
	recv_pattern(p.server, SEED_UP, 0, 10000, 10000);
	close_pair(p);
}

static void all_has_arrived(void)
{
	each_way(run_all_has_arrived);
}

/* A peer that does not read stops the writer, and nothing is lost. */
static void run_reader_that_waits(void)
{
	struct pair p = new_pair();
	uint64_t pos;
	int err = 0;

	set_nonblock(p.client, true);
	pos = fill_pipe(p.client, SEED_UP);
	CHECK(ioctl_int(p.client, SIOCOUTQ) > 0);
	recv_pattern(p.server, SEED_UP, 0, pos, 12345);
	wait_poll(p.client, POLLOUT);
	WAIT_FOR(!ioctl_int(p.client, SIOCOUTQ));
	set_nonblock(p.client, false);
	send_pattern(p.client, SEED_UP, pos, 5 * PAGE, 5 * PAGE);
	CHECK_OK(shutdown(p.client, SHUT_WR));
	CHECK_EQ(recv_pattern_to_end(p.server, SEED_UP, pos, &err), 5 * PAGE);
	CHECK_EQ(err, 0);
	close_pair(p);
}

static void reader_that_waits(void)
{
	each_way(run_reader_that_waits);
}

/* A time-out that is set when something is in flight begins when that was written. */
static void run_timeout_set_later(void)
{
	struct pair p = new_pair();
	unsigned int i;

	set_int(p.client, SOL_TCP, TCP_NODELAY, 1);
	/* Not in the first moment of the connection, and nothing asks for a completion. */
	exchange(p.client, p.server, 1000);
	usleep(2000 * 1000);
	for (i = 0; i < 3; i++) {
		send_pattern(p.client, SEED_UP, i * 1000, 1000, 1000);
		set_int(p.client, SOL_TCP, TCP_USER_TIMEOUT, 1500);
		usleep(100 * 1000);
		CHECK_EQ(get_int(p.client, SOL_SOCKET, SO_ERROR), 0);
		set_int(p.client, SOL_TCP, TCP_USER_TIMEOUT, 0);
	}
	recv_pattern(p.server, SEED_UP, 0, 3000, 3000);
	exchange(p.client, p.server, 1000);
	close_pair(p);
}

static void timeout_set_later(void)
{
	each_way(run_timeout_set_later);
}

/* A provider that is busy with what has arrived leaves a write to the send ring. */
static void write_integrated(struct pair p)
{
	long before = sdp_stat("IntegratedBytesOut");

	while (sdp_stat("IntegratedBytesOut") == before) {
		send_pattern(p.client, SEED_DOWN, 0, 1, 1);
		recv_pattern(p.server, SEED_DOWN, 0, 1, 1);
	}
}

/* Short writes wait for the acknowledgment of those before, and leave together. */
static void run_nagle(void)
{
	struct pair p = engine_pair("credit", "credit", 0);
	long before, sent;
	unsigned int i;

	write_integrated(p);
	before = sdp_stat("DataOut");
	for (i = 0; i < 1000; i++)
		send_pattern(p.client, SEED_UP, i, 1, 1);
	recv_pattern(p.server, SEED_UP, 0, 1000, 1000);
	sent = sdp_stat("DataOut") - before;
	ktap_diag("1000 writes were %ld messages", sent);
	CHECK(sent < 800);
	close_pair(p);
}

static void nagle(void)
{
	each_way(run_nagle);
}

/* Pages of a file. */
static void run_file(void)
{
	const size_t len = 256 * 1024;
	int file = pattern_file(SEED_UP, len);
	struct pair p = new_pair();
	struct job job = { .fd = p.server, .seed = SEED_UP, .len = len, .chunk = 10000 };
	off_t at = 0;
	pthread_t reader;

	thread_start(&reader, read_job, &job);
	while (at < (off_t)len)
		CHECK_OK(sendfile(p.client, file, &at, len - at));
	thread_join(reader);
	/* What is sent next is in the last bytes' message or behind it. */
	send_pattern(p.client, SEED_DOWN, 0, 5 * PAGE, 5 * PAGE);
	recv_pattern(p.server, SEED_DOWN, 0, 5 * PAGE, PAGE);
	write_integrated(p);
	close(file);
	close_pair(p);
}

static void file(void)
{
	each_way(run_file);
}

/* An address of the kernel's, of something that is there. */
static unsigned long kernel_address(void)
{
	unsigned long at = 0;
	char name[128];
	FILE *f = fopen("/proc/kallsyms", "r");

	CHECK(f);
	while (fscanf(f, "%lx %*c %127s%*[^\n]", &at, name) == 2 && strcmp(name, "_stext"))
		;
	fclose(f);
	CHECK(at);
	return at;
}

/* io_uring looks at the addresses of a bundle of buffers when it copies, and not before. */
static void run_kernel_memory(void)
{
	struct pair p = new_pair();
	struct io_uring_buf_reg reg = { .ring_entries = 8 };
	struct io_uring_buf_ring *bufs;
	struct io_uring_sqe *sqe;
	unsigned int i;
	int err;

	exchange(p.client, p.server, 5 * PAGE);
	open_ring();
	bufs = (void *)memory(PAGE, 0);
	reg.ring_addr = (unsigned long)bufs;
	CHECK_EQ(io_uring_register_buf_ring(&ring, &reg, 0), 0);
	io_uring_buf_ring_init(bufs);
	for (i = 0; i < 4; i++)
		io_uring_buf_ring_add(bufs, (void *)kernel_address(), 16384, i, 7, i);
	io_uring_buf_ring_advance(bufs, 4);
	sqe = new_sqe();
	io_uring_prep_send(sqe, p.client, NULL, 0, 0);
	sqe->ioprio |= IORING_RECVSEND_BUNDLE;
	sqe->flags |= IOSQE_BUFFER_SELECT;
	sqe->buf_group = 0;
	submit(sqe, 1);
	err = -result(1);
	ktap_diag("a bundle of the kernel's memory: %d", err);
	/* Older kernels have no bundles. */
	CHECK(err == EFAULT || err == EINVAL || err == EOPNOTSUPP);
	exchange(p.client, p.server, PAGE);
	close_pair(p);
}

static void kernel_memory(void)
{
	each_way(run_kernel_memory);
}

static const struct sdp_case cases[] = {
	CASE(both_ways_at_once, CASE_LONG),
	CASE(requests, 0),
	CASE(not_offloaded, CASE_LONG),
	CASE(not_offered, 0),
	CASE(sizes, CASE_LONG),
	CASE(pieces, 0),
	CASE(short_before_long, 0),
	CASE(memory_not_there, 0),
	CASE(memory_that_ends, 0),
	CASE(memory_comes_and_goes, 0),
	CASE(all_has_arrived, 0),
	CASE(reader_that_waits, 0),
	CASE(timeout_set_later, CASE_LONG),
	CASE(nagle, 0),
	CASE(file, 0),
	CASE(kernel_memory, 0),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
