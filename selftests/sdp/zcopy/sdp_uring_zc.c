// SPDX-License-Identifier: GPL-2.0
/*
 * Sending without a copy by an io_uring: a second result says when the memory
 * is free.  And reads, whose result says that the bytes are there.  Cases marked for
 * it also run on TCP.
 */
#define _GNU_SOURCE
#include <sys/uio.h>

#include "sdp_engine.h"
#include "sdp_ring.h"
#include "sdp_transfer.h"

/* Of Linux 6.2, and younger than some liburing. */
#ifndef IORING_SEND_ZC_REPORT_USAGE
#define IORING_SEND_ZC_REPORT_USAGE	8U
#define IORING_NOTIF_USAGE_ZC_COPIED	0x80000000U
#endif

/* A result, and then word that the memory is free. */
static void sent_without_copy(uint64_t id, int len, unsigned int *usage)
{
	unsigned int flags;

	CHECK_EQ(result_flags(id, &flags), len);
	CHECK(flags & IORING_CQE_F_MORE);
	CHECK(!(flags & IORING_CQE_F_NOTIF));
	*usage = result_flags(id, &flags);
	CHECK(flags & IORING_CQE_F_NOTIF);
	CHECK(!(flags & IORING_CQE_F_MORE));
}

static void send_without_copy(void)
{
	struct pair p = new_pair();
	unsigned int usage;
	char byte;

	open_ring();
	REQUEST(1, send_zc, p.client, "x", 1, MSG_NOSIGNAL, 0);
	sent_without_copy(1, 1, &usage);
	CHECK_EQ(usage, 0);
	CHECK_EQ(recv(p.server, &byte, 1, 0), 1);
	CHECK_EQ(byte, 'x');
}

/* The memory is overwritten as soon as there is word that it is free. */
static void send_much_without_copy(void)
{
	struct pair p = zcopy_pair("sync", "sync");
	size_t len = 4 * THRESH;
	unsigned char *buf = memory(len, 100);
	unsigned int usage;
	uint64_t pos;

	open_ring();
	for (pos = 0; pos < 20 * len; pos += len) {
		struct job job = { p.server, SEED_UP, pos, len, len };
		pthread_t reader;

		pattern_fill(buf, len, SEED_UP, pos);
		thread_start(&reader, read_job, &job);
		REQUEST(1, send_zc, p.client, buf, len,
			MSG_NOSIGNAL | MSG_WAITALL, 0);
		sent_without_copy(1, len, &usage);
		memset(buf, 0xee, len);
		thread_join(reader);
	}
	close_pair(p);
}

static void sendmsg_without_copy(void)
{
	struct pair p = zcopy_pair("async", "async");
	size_t len = 4 * THRESH;
	unsigned char *buf = memory(2 * MIB, 0);
	struct iovec v[2] = { { buf + 50, len }, { buf + MIB + 7, 100 } };
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 2 };
	struct job job = { p.server, SEED_UP, 0, len + 100, MIB };
	pthread_t reader;
	unsigned int usage;

	open_ring();
	pattern_fill(v[0].iov_base, len, SEED_UP, 0);
	pattern_fill(v[1].iov_base, 100, SEED_UP, len);
	thread_start(&reader, read_job, &job);
	REQUEST(1, sendmsg_zc, p.client, &m, MSG_NOSIGNAL | MSG_WAITALL);
	sent_without_copy(1, len + 100, &usage);
	memset(buf, 0xee, 2 * MIB);
	thread_join(reader);
	close_pair(p);
}

/* Since Linux 6.2 the word says what became of the memory. */
static bool copy_told(struct pair p, size_t len)
{
	unsigned char *buf = memory(len, 0);
	struct job job = { p.server, SEED_UP, 0, len, len };
	unsigned int usage, flags;
	pthread_t reader;
	int res;

	pattern_fill(buf, len, SEED_UP, 0);
	thread_start(&reader, read_job, &job);
	REQUEST(1, send_zc, p.client, buf, len, MSG_NOSIGNAL | MSG_WAITALL,
		IORING_SEND_ZC_REPORT_USAGE);
	res = result_flags(1, &flags);
	if (res == -EINVAL)
		sdp_skip("io_uring does not report what was copied");
	CHECK_EQ(res, len);
	usage = result_flags(1, &flags);
	CHECK(flags & IORING_CQE_F_NOTIF);
	CHECK(usage == 0 || usage == IORING_NOTIF_USAGE_ZC_COPIED);
	thread_join(reader);
	close_pair(p);
	return usage;
}

static void copies_are_told_of(void)
{
	open_ring();
	CHECK(copy_told(zcopy_pair("off", "off"), 4 * THRESH));
	CHECK(copy_told(zcopy_pair("sync", "sync"), 100));
	WAIT_FOR(!copy_told(zcopy_pair("sync", "sync"), 4 * THRESH));
}

static void send_without_copy_fails(void)
{
	struct pair p = new_pair();
	unsigned int flags;

	open_ring();
	CHECK_OK(shutdown(p.client, SHUT_WR));
	REQUEST(1, send_zc, p.client, "x", 1, MSG_NOSIGNAL, 0);
	CHECK_EQ(result_flags(1, &flags), -EPIPE);
	if (flags & IORING_CQE_F_MORE) {
		result_flags(1, &flags);
		CHECK(flags & IORING_CQE_F_NOTIF);
	}
}

/* A read whose result comes when all of what a thread writes is in memory. */
static void read_by_ring(struct pair p, unsigned int flags, size_t len, uint64_t pos)
{
	unsigned char *buf = memory(len, 300);
	struct job job = { p.client, SEED_UP, pos, len, len };
	struct io_uring_sqe *sqe = new_sqe();
	pthread_t writer;

	io_uring_prep_recv(sqe, p.server, buf, len, MSG_WAITALL);
	sqe->flags |= flags;
	submit(sqe, 1);
	thread_start(&writer, write_job, &job);
	CHECK_EQ(result_flags(1, NULL), len);
	pattern_verify(buf, len, SEED_UP, pos);
	thread_join(writer);
}

/* Each waits as poll() does, so that a peer's offer is refused, and comes by copy. */
static void reads_of_offers(void)
{
	struct pair p = zcopy_pair("sync", "sync");
	uint64_t pos;

	open_ring();
	for (pos = 0; pos < 8 * MIB; pos += MIB)
		read_by_ring(p, pos % (2 * MIB) ? IOSQE_ASYNC : 0, MIB, pos);
	if (!opts.tcp) {
		CHECK_EQ(info_of(p.server).sdpi_zcopy_received, 0);
		CHECK(info_of(p.server).sdpi_zcopy_refusals > 0);
	}
	close_pair(p);
}

static const struct sdp_case cases[] = {
	CASE(send_without_copy, CASE_TCP | CASE_IPV6),
	CASE(send_much_without_copy, CASE_TCP),
	CASE(sendmsg_without_copy, CASE_TCP),
	CASE(copies_are_told_of, CASE_SDP_ONLY),
	CASE(send_without_copy_fails, CASE_TCP),
	CASE(reads_of_offers, CASE_TCP),
};

int main(int argc, char **argv)
{
	/* Those sockets have it that ask for it. */
	return zcopy_main("off", argc, argv, cases, ARRAY_SIZE(cases));
}
