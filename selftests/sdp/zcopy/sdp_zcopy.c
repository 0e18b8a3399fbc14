// SPDX-License-Identifier: GPL-2.0
/*
 * Large writes without a copy: every byte arrives once and in order whatever
 * the two programs do meanwhile.
 */
#define _GNU_SOURCE
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_transfer.h"

/* ---- sizes ---- */

static void sizes_around_the_threshold(void)
{
	static const size_t sizes[] = {
		THRESH - 1, THRESH, THRESH + 1, THRESH + 4095, 100000,
		MIB - 1, MIB, MIB + 1, 3 * MIB + 17,
	};
	long before = sdp_stat("ZcopyBytesOut");
	struct pair p = new_pair();
	uint64_t pos = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		one_way(p.client, p.server, sizes[i], i * 1000 % 4096, pos);
		pos += sizes[i];
	}
	close_pair(p);
	CHECK(sdp_stat("ZcopyBytesOut") > before);
}

/* A waiting reader gets all of it without a copy. */
static void nothing_is_copied(void)
{
	long before = sdp_stat("ZcopyBytesOut");
	struct pair p = new_pair();
	uint64_t pos = 0;

	/* Until the reader was there in time. */
	WAIT_FOR(({
		one_way(p.client, p.server, 4 * THRESH, 123, pos);
		pos += 4 * THRESH;
		sdp_stat("ZcopyBytesOut") - before >= (long)(4 * THRESH);
	}));
	CHECK(sdp_stat("ZcopyBytesIn") > 0);
	close_pair(p);
}

static void small_threshold(void)
{
	struct pair p = new_pair();
	long before = sdp_stat("ZcopyBytesOut");
	uint64_t pos = 0;
	size_t len;

	set_int(p.client, SOL_TCP, SDP_ZCOPY_THRESH, 4096);
	set_int(p.server, SOL_TCP, SDP_ZCOPY_THRESH, 4096);
	for (len = 4000; len < 9000; len += 97) {
		one_way(p.client, p.server, len, len % 4096, pos);
		pos += len;
	}
	close_pair(p);
	CHECK(sdp_stat("ZcopyBytesOut") > before);
}

static void threshold_zero_means_never(void)
{
	struct pair p = new_pair();
	long before = sdp_stat("ZcopyBytesOut");

	set_int(p.client, SOL_TCP, SDP_ZCOPY_THRESH, 0);
	one_way(p.client, p.server, 8 * THRESH, 0, 0);
	CHECK_EQ(sdp_stat("ZcopyBytesOut"), before);
	close_pair(p);
}

static void several_segments(void)
{
	struct pair p = new_pair();
	struct job job = { p.server, SEED_UP, 0, 0, MIB };
	unsigned char *buf = memory(2 * MIB, 0);
	struct iovec iov[4] = {
		{ buf + 7, 100 },
		{ buf + 5000, 2 * THRESH },
		{ buf + 300000, 3 * THRESH + 5 },
		{ buf + MIB, 17 },
	};
	pthread_t reader;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(iov); i++) {
		pattern_fill(iov[i].iov_base, iov[i].iov_len, SEED_UP, job.len);
		job.len += iov[i].iov_len;
	}
	thread_start(&reader, read_job, &job);
	CHECK_EQ(writev(p.client, iov, ARRAY_SIZE(iov)), job.len);
	thread_join(reader);
	close_pair(p);
}

/* ---- readers ---- */

static void reader_with_small_buffer(void)
{
	struct pair p = new_pair();
	struct job job = { p.client, SEED_UP, 0, scaled(2 * MIB), 4 * THRESH };
	pthread_t writer;

	thread_start(&writer, write_job, &job);
	recv_pattern(p.server, SEED_UP, 0, job.len, 1000);
	thread_join(writer);
	close_pair(p);
}

static void reader_that_peeks(void)
{
	struct pair p = new_pair();
	struct job job = { p.client, SEED_UP, 0, 4 * THRESH, 4 * THRESH };
	unsigned char *buf = malloc(THRESH);
	pthread_t writer;
	ssize_t n;

	CHECK(buf);
	thread_start(&writer, write_job, &job);
	n = CHECK_OK(recv(p.server, buf, THRESH, MSG_PEEK));
	CHECK(n > 0);
	pattern_verify(buf, n, SEED_UP, 0);
	recv_pattern(p.server, SEED_UP, 0, job.len, job.len);
	thread_join(writer);
	free(buf);
	close_pair(p);
}

#define HEADER		100

/* What is read next. */
static uint64_t record_at;

static long op_read_record_idly(int fd)
{
	run_idly();
	recv_pattern(fd, SEED_UP, record_at, HEADER, HEADER);
	recv_pattern(fd, SEED_UP, record_at + HEADER, 2 * THRESH, 2 * THRESH);
	return 0;
}

static void send_record(struct pair p)
{
	struct blocked reader;

	block_start(&reader, op_read_record_idly, p.server);
	WAIT_FOR(block_sleeps(&reader));
	send_pattern(p.client, SEED_UP, record_at, HEADER, HEADER);
	send_pattern(p.client, SEED_UP, record_at + HEADER, 2 * THRESH,
		     2 * THRESH);
	CHECK_EQ(block_join(&reader), 0);
	record_at += HEADER + 2 * THRESH;
}

/*
 * Who has slept for the header of a record, and does not run yet when its body
 * is offered, will come and take it.
 */
static void reader_of_header_and_body(void)
{
	struct pair p = new_pair();
	struct sdp_info before;

	use_one_cpu();
	record_at = 0;
	WAIT_FOR(({
		before = info_of(p.server);
		send_record(p);
		info_of(p.server).sdpi_zcopy_received -
		before.sdpi_zcopy_received == 2 * THRESH;
	}));
	close_pair(p);
}

static void reader_that_polls(void)
{
	struct pair p = new_pair();
	struct job job = { p.client, SEED_UP, 0, 4 * THRESH, 4 * THRESH };
	unsigned char *buf = malloc(job.len);
	pthread_t writer;
	size_t got = 0;
	ssize_t n;

	CHECK(buf);
	thread_start(&writer, write_job, &job);
	while (got < job.len) {
		wait_poll(p.server, POLLIN);
		n = CHECK_OK(recv(p.server, buf, job.len, MSG_DONTWAIT));
		pattern_verify(buf, n, SEED_UP, got);
		got += n;
	}
	thread_join(writer);
	free(buf);
	close_pair(p);
}

/* As with TCP the bytes wait in buffers for who comes late. */
static void reader_that_is_not_there(void)
{
	struct pair p = new_pair();
	unsigned char *buf = memory(THRESH, 11);

	pattern_fill(buf, THRESH, SEED_UP, 0);
	CHECK_EQ(send(p.client, buf, THRESH, 0), THRESH);
	memset(buf, 0, THRESH);
	recv_pattern(p.server, SEED_UP, 0, THRESH, THRESH);
	close_pair(p);
}

/* Both write first and read then. */
static void both_write_first(void)
{
	struct pair p = new_pair();
	struct job job = { p.client, SEED_UP, 0, THRESH, THRESH };
	pthread_t writer;

	thread_start(&writer, write_job, &job);
	send_pattern(p.server, SEED_DOWN, 0, THRESH, THRESH);
	thread_join(writer);
	recv_pattern(p.server, SEED_UP, 0, THRESH, THRESH);
	recv_pattern(p.client, SEED_DOWN, 0, THRESH, THRESH);
	close_pair(p);
}

static void both_directions(void)
{
	struct pair p = new_pair();
	size_t len = scaled(8 * MIB);
	struct job jobs[] = {
		{ p.client, SEED_UP, 0, len, 3 * THRESH + 1 },
		{ p.server, SEED_DOWN, 0, len, 2 * THRESH + 3 },
		{ p.server, SEED_UP, 0, len, MIB },
		{ p.client, SEED_DOWN, 0, len, 5 * THRESH + 7 },
	};

	both_ways(jobs, write_job);
	close_pair(p);
}

/* Reads of random length meet writes of random length. */
static void random_lengths(void)
{
	struct pair p = new_pair();
	size_t total = scaled(16 * MIB), got = 0;
	unsigned char *buf = memory(MIB, 0);
	struct job job = { p.client, SEED_UP, 0, total, 150001 };
	uint32_t random = opts.seed;
	pthread_t writer;
	size_t want;
	ssize_t n;

	thread_start(&writer, write_job, &job);
	while (got < total) {
		want = 1 + random_next(&random) % MIB;
		if (random_next(&random) % 4 == 0)
			want = 1 + want % 3000;
		n = CHECK_OK(recv(p.server, buf + random % 64, want - want / 100,
				  0));
		CHECK(n > 0);
		pattern_verify(buf + random % 64, n, SEED_UP, got);
		got += n;
	}
	thread_join(writer);
	close_pair(p);
}

/* ---- numbers ---- */

static void counted(void)
{
	struct pair p = new_pair();
	uint64_t pos = 0;
	struct sdp_info c, s;

	WAIT_FOR(({
		one_way(p.client, p.server, 2 * THRESH, 0, pos);
		pos += 2 * THRESH;
		info_of(p.client).sdpi_zcopy_sent > 0;
	}));
	c = info_of(p.client);
	s = info_of(p.server);
	CHECK_EQ(c.sdpi_zcopy_sent, s.sdpi_zcopy_received);
	CHECK_EQ(s.sdpi_bytes_received, pos);
	WAIT_FOR(info_of(p.client).sdpi_bytes_acked == pos);
	CHECK_EQ(info_of(p.client).sdpi_bytes_sent, pos);
	CHECK_EQ(c.sdpi_zcopy_received + s.sdpi_zcopy_sent, 0);
	close_pair(p);
}

static void poll_then_read(struct pair p, uint64_t *pos)
{
	struct job job = { p.client, SEED_UP, *pos, 2 * THRESH, 2 * THRESH };
	pthread_t writer;
	struct blocked b;

	block_start(&b, op_poll, p.server);
	thread_start(&writer, write_job, &job);
	CHECK_EQ(block_join(&b), POLLIN);
	recv_pattern(p.server, SEED_UP, *pos, job.len, job.len);
	thread_join(writer);
	*pos += job.len;
}

/* Who waits for events, and in reads, can take no offer, and refuses it at once. */
static void refusals_counted(void)
{
	struct pair p = new_pair();
	uint64_t pos = 0;

	CHECK_OK(set_zcopy_recv(p.server, "sync"));
	/* Until one was made before its writer lost patience. */
	WAIT_FOR(({
		poll_then_read(p, &pos);
		info_of(p.server).sdpi_zcopy_refusals > 0;
	}));
	close_pair(p);
}

/* A connection stays what it was when it was set up. */
static void off_is_off(void)
{
	struct pair p;

	CHECK_EQ(write_sysctl(SYSCTL_ZCOPY, "off"), 0);
	p = new_pair();
	CHECK_EQ(write_sysctl(SYSCTL_ZCOPY, "sync"), 0);
	one_way(p.client, p.server, 8 * THRESH, 0, 0);
	CHECK_EQ(info_of(p.client).sdpi_zcopy_sent, 0);
	CHECK_EQ(info_of(p.server).sdpi_zcopy_refusals, 0);
	close_pair(p);
}

static void sysctl_takes_names_only(void)
{
	char mode[16];

	CHECK_EQ(write_sysctl(SYSCTL_ZCOPY, "perhaps"), EINVAL);
	CHECK_EQ(write_sysctl(SYSCTL_ZCOPY, "1"), EINVAL);
	CHECK_EQ(write_sysctl(SYSCTL_ZCOPY, "off\n"), 0);
	read_sysctl(SYSCTL_ZCOPY, mode, sizeof(mode));
	CHECK(!strcmp(mode, "off"));
	CHECK_EQ(write_sysctl(SYSCTL_ZCOPY, "sync"), 0);
	read_sysctl(SYSCTL_ZCOPY, mode, sizeof(mode));
	CHECK(!strcmp(mode, "sync"));
}

static const struct sdp_case cases[] = {
	CASE(sizes_around_the_threshold, CASE_SDP_ONLY | CASE_IPV6),
	CASE(nothing_is_copied, CASE_SDP_ONLY),
	CASE(small_threshold, CASE_SDP_ONLY),
	CASE(threshold_zero_means_never, CASE_SDP_ONLY),
	CASE(several_segments, CASE_SDP_ONLY),
	CASE(reader_with_small_buffer, CASE_SDP_ONLY),
	CASE(reader_that_peeks, CASE_SDP_ONLY),
	CASE(reader_of_header_and_body, CASE_SDP_ONLY),
	CASE(reader_that_polls, CASE_SDP_ONLY),
	CASE(reader_that_is_not_there, CASE_SDP_ONLY),
	CASE(both_write_first, CASE_SDP_ONLY),
	CASE(both_directions, CASE_SDP_ONLY),
	CASE(random_lengths, CASE_SDP_ONLY),
	CASE(counted, CASE_SDP_ONLY),
	CASE(refusals_counted, CASE_SDP_ONLY),
	CASE(off_is_off, CASE_SDP_ONLY),
	CASE(sysctl_takes_names_only, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return zcopy_main("sync", argc, argv, cases, ARRAY_SIZE(cases));
}
