// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that lend or map memory, and requests of an io_uring, with each fault that they may
 * meet, one at a time.  What was not done is not spoken of in the error queue; what was is
 * right to the byte, and the connection goes on.  Needs root, and a kernel that injects
 * faults.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>

#include "sdp_engine.h"
#include "sdp_inject.h"
#include "sdp_memory.h"
#include "sdp_ring.h"
#include "sdp_transfer.h"
#include "sdp_words.h"

/* ---- MSG_ZEROCOPY ---- */

static void make_words(struct scene *s)
{
	s->p = words_pair();
	pattern_fill(s->buf, SCENE_LEN, SEED_UP, 0);
}

static long call_lend(struct scene *s)
{
	return send(s->p.client, s->buf, SCENE_LEN, MSG_ZEROCOPY);
}

/* A write that has failed has no number, so that the next one is spoken of as the first. */
static void after_lend(struct scene *s, long ret)
{
	unsigned int writes = ret > 0;
	struct words words = { 0 };
	long n = ret < 0 ? 0 : ret;

	write_all_zerocopy(s->p.client, s->buf + n, SCENE_LEN - n, &writes);
	recv_pattern(s->p.server, SEED_UP, 0, SCENE_LEN, SCENE_LEN);
	await_words(s->p.client, &words, writes);
	scene_end(s);
}

static void send_zerocopy(void)
{
	static const struct op op = { make_words, call_lend, after_lend };

	CHECK(inject_each(&op));
}

/* ---- io_uring ---- */

/*
 * Submits the next request and returns its result as that of a call.  What fails may be the
 * ring's own: it is submitted again, and nothing is waited for in the kernel.
 */
static long outcome(void)
{
	struct io_uring_cqe *cqe;
	int res;

	while (io_uring_submit(&ring) != 1)
		;
	while (io_uring_peek_cqe(&ring, &cqe))
		sched_yield();
	res = cqe->res;
	io_uring_cqe_seen(&ring, cqe);
	if (res >= 0)
		return res;
	errno = -res;
	return -1;
}

static void make_ring(struct scene *s)
{
	scene_pair(s);
	open_ring();
}

static long call_ring_send(struct scene *s)
{
	io_uring_prep_send(new_sqe(), s->p.client, s->buf, SCENE_LEN, MSG_NOSIGNAL);
	return outcome();
}

static void after_ring_send(struct scene *s, long ret)
{
	long n = ret < 0 ? 0 : ret;

	io_uring_queue_exit(&ring);
	write_all(s->p.client, s->buf + n, SCENE_LEN - n);
	recv_pattern(s->p.server, SEED_UP, 0, SCENE_LEN, SCENE_LEN);
	scene_end(s);
}

static void ring_send(void)
{
	static const struct op op = { make_ring, call_ring_send, after_ring_send };

	CHECK(inject_each(&op));
}

static void make_ring_arrived(struct scene *s)
{
	scene_written(s);
	wait_inq(s->p.server, SCENE_LEN);
	open_ring();
}

static long call_ring_recv(struct scene *s)
{
	io_uring_prep_recv(new_sqe(), s->p.server, s->buf, SCENE_LEN, 0);
	return outcome();
}

static void after_ring_recv(struct scene *s, long ret)
{
	long n = ret < 0 ? 0 : ret;

	io_uring_queue_exit(&ring);
	pattern_verify(s->buf, n, SEED_UP, 0);
	recv_pattern(s->p.server, SEED_UP, n, SCENE_LEN - n, SCENE_LEN);
	scene_end(s);
}

static void ring_recv(void)
{
	static const struct op op = { make_ring_arrived, call_ring_recv, after_ring_recv };

	CHECK(inject_each(&op));
}

static const struct sdp_case cases[] = {
	CASE(send_zerocopy, CASE_SDP_ONLY | CASE_LONG),
	CASE(ring_send, CASE_SDP_ONLY | CASE_LONG),
	CASE(ring_recv, CASE_SDP_ONLY | CASE_LONG),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
