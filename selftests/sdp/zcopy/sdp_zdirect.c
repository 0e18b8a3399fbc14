// SPDX-License-Identifier: GPL-2.0
/*
 * Writes that return at once and go straight from their pages into messages: whoever
 * reads them, in whatever way, and whether or not the peer takes part in zero copy.
 */
#define _GNU_SOURCE
#include <linux/sockios.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_transfer.h"
#include "sdp_words.h"

#define LEN	(THRESH + 5000)
#define ROUNDS	8

/* Nothing was offered to be read, and nothing refused. */
static void expect_no_offers(struct pair p)
{
	struct sdp_info from = info_of(p.client), to = info_of(p.server);

	CHECK_EQ(from.sdpi_zcopy_sent, 0);
	CHECK_EQ(from.sdpi_zcopy_cancels, 0);
	CHECK_EQ(to.sdpi_zcopy_received, 0);
	CHECK_EQ(to.sdpi_zcopy_refusals, 0);
}

/* What a program has that never sleeps in a read. */
static void poll_and_read(int fd, uint64_t pos, size_t len)
{
	unsigned char *buf = malloc(len);
	ssize_t n;

	set_nonblock(fd, true);
	for (; len; pos += n, len -= n) {
		wait_poll(fd, POLLIN);
		n = CHECK_OK(recv(fd, buf, len, 0));
		CHECK(n > 0);
		pattern_verify(buf, n, SEED_UP, pos);
	}
	free(buf);
}

static void poll_loop_reads_it(const char *engine)
{
	struct pair p = engine_pair(engine, engine, 0);
	unsigned char *buf = memory(LEN, 77);
	long before = sdp_stat("DirectBytesOut");
	uint64_t pos = 0;
	int i;

	need_page_protection();
	for (i = 0; i < ROUNDS; i++, pos += LEN) {
		write_and_overwrite(p.client, buf, LEN, pos);
		poll_and_read(p.server, pos, LEN);
	}
	CHECK(info_of(p.client).sdpi_async_sent > 0);
	CHECK(sdp_stat("DirectBytesOut") - before >= (long)info_of(p.client).sdpi_async_sent);
	expect_no_offers(p);
	close_pair(p);
}

static void poll_loop_reads_it_credit(void)
{
	poll_loop_reads_it("credit");
}

static void poll_loop_reads_it_rdma(void)
{
	poll_loop_reads_it("rdma");
}

static void poll_loop_reads_it_nic(void)
{
	poll_loop_reads_it("nic");
}

/* Bytes that are copied between such writes keep their place, and arrive unread for. */
static void small_writes_between(void)
{
	struct pair p = new_pair();
	unsigned char *buf = memory(LEN, 0);
	uint64_t pos = 0;
	int i;

	need_page_protection();
	for (i = 0; i < ROUNDS; i++) {
		write_and_overwrite(p.client, buf, LEN, pos);
		send_pattern(p.client, SEED_UP, pos + LEN, 100, 100);
		WAIT_FOR(info_of(p.server).sdpi_unread == LEN + 100);
		recv_pattern(p.server, SEED_UP, pos, LEN + 100, 30000);
		pos += LEN + 100;
	}
	CHECK(info_of(p.client).sdpi_async_sent > 0);
	expect_no_offers(p);
	close_pair(p);
}

/* A peer that takes no part in zero copy sees messages like any others. */
static void one_end_is_enough(void)
{
	struct pair p = zcopy_pair("async", "off");
	uint64_t pos = 0;
	int i;

	need_page_protection();
	CHECK_EQ(info_of(p.client).sdpi_zcopy, SDP_ZCOPY_ASYNC);
	CHECK_EQ(info_of(p.server).sdpi_zcopy, SDP_ZCOPY_OFF);
	for (i = 0; i < ROUNDS; i++, pos += MIB)
		one_way(p.client, p.server, MIB, 10, pos);
	CHECK(info_of(p.client).sdpi_async_sent > 0);
	expect_no_offers(p);
	close_pair(p);
}

static void words_of_such_writes(void)
{
	struct pair p = zcopy_pair("sync", "off");
	unsigned char *buf = memory(LEN, 0);
	struct words words = { 0 };
	unsigned int writes = 0;

	want_words(p.client);
	pattern_fill(buf, LEN, SEED_UP, 0);
	write_all_zerocopy(p.client, buf, LEN, &writes);
	await_words(p.client, &words, writes);
	memset(buf, 0xee, LEN);
	read_all(p.server, 0, LEN);
	/* Where the device sends from pages that are the program's again it was copied. */
	if (info_of(p.client).sdpi_guard_refusals == 0)
		CHECK(info_of(p.client).sdpi_async_sent > 0);
	expect_no_offers(p);
	close_pair(p);
}

/* Nobody reads: such writes take no more than the send buffer and the peer's do. */
static void as_much_as_the_buffers(void)
{
	struct pair p = new_pair();
	unsigned char *buf = memory(LEN, 0);
	uint64_t pos;

	need_page_protection();
	pos = fill_and_overwrite(p.client, buf, LEN);
	CHECK(ioctl_int(p.client, SIOCOUTQ) <= 2 * get_int(p.client, SOL_SOCKET, SO_SNDBUF) +
					       (int)LEN);
	CHECK(info_of(p.client).sdpi_async_sent > 0);
	read_all(p.server, 0, pos);
	WAIT_FOR(ioctl_int(p.client, SIOCOUTQ) == 0);
	CHECK_EQ(info_of(p.client).sdpi_bytes_acked, pos);
	wait_poll(p.client, POLLOUT);
	close_pair(p);
}

/* The last of them arrive, and then the end, although the program is gone. */
static void closed_behind_them(void)
{
	struct pair p = new_pair();
	unsigned char *buf = memory(4 * LEN, 0);
	char c;

	pattern_fill(buf, 4 * LEN, SEED_UP, 0);
	write_all(p.client, buf, 4 * LEN);
	CHECK_OK(close(p.client));
	memset(buf, 0xee, 4 * LEN);
	read_all(p.server, 0, 4 * LEN);
	CHECK_EQ(recv(p.server, &c, 1, 0), 0);
	CHECK_OK(close(p.server));
	WAIT_FOR(sdp_stat("ZcopyPages") == 0);
}

/* Long writes that follow each other are better read by a peer that waits for them. */
static void long_ones_are_offered(void)
{
	struct pair p = new_pair();
	size_t len = 2 * MIB, all = 4 * len, done;
	unsigned char *buf = memory(all, 0);
	uint64_t pos = 0;

	if (over_iwarp())
		sdp_skip("on one processor each write is sent before the next begins");
	WAIT_FOR(({
		struct job job = { p.server, SEED_UP, pos, all, len };
		pthread_t reader;

		/* Memory that is still on its way, and is touched, would be copied. */
		WAIT_FOR(ioctl_int(p.client, SIOCOUTQ) == 0);
		pattern_fill(buf, all, SEED_UP, pos);
		thread_start(&reader, read_job, &job);
		for (done = 0; done < all; done += len)
			write_all(p.client, buf + done, len);
		thread_join(reader);
		pos += all;
		info_of(p.client).sdpi_zcopy_sent > 0;
	}));
	CHECK(sdp_stat("DirectBytesOut") > 0);
	close_pair(p);
}

static const struct sdp_case cases[] = {
	CASE(poll_loop_reads_it_credit, CASE_SDP_ONLY),
	CASE(poll_loop_reads_it_rdma, CASE_SDP_ONLY),
	CASE(poll_loop_reads_it_nic, CASE_SDP_ONLY),
	CASE(small_writes_between, CASE_SDP_ONLY),
	CASE(one_end_is_enough, CASE_SDP_ONLY),
	CASE(words_of_such_writes, CASE_SDP_ONLY),
	CASE(as_much_as_the_buffers, CASE_SDP_ONLY),
	CASE(closed_behind_them, CASE_SDP_ONLY),
	CASE(long_ones_are_offered, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	setenv("SDP_TEST_ZCOPY_DIRECT", "262144", true);
	return zcopy_main("async", argc, argv, cases, ARRAY_SIZE(cases));
}
