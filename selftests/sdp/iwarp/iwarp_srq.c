// SPDX-License-Identifier: GPL-2.0
/*
 * Shared receive queues: what several connections receive by requests of one queue, what
 * is told of it, and that no request is lost with a connection. Needs root, and our own
 * iWARP devices.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "iwarp_share.h"

#define PAIRS		3
/* Messages of each connection at a time. */
#define BURST		5
#define POSTED		(PAIRS * BURST)

/* A connection, and how far its messages are. */
struct line {
	struct iwarp_pair p;
	struct iwarp_share *share;
	uint64_t seed;
	unsigned int sent, completed, received;
	pthread_t thread;
};

/* Of one segment, or of several. */
static size_t length_of(const struct line *l, unsigned int nr)
{
	static const size_t lengths[] = { 1, 4096, 77, 40000, 0, 1448, 65536, 9001, 3 };

	return lengths[(nr + l->seed) % ARRAY_SIZE(lengths)];
}

static void line_open(struct line *l, struct iwarp_share *s, uint64_t seed)
{
	memset(l, 0, sizeof(*l));
	iwarp_pair_open(&l->p);
	l->share = s;
	l->seed = seed;
}

static void send_next(struct line *l)
{
	size_t at = l->sent % (2 * BURST) * SHARE_SLOT, len = length_of(l, l->sent);

	pattern_fill(l->p.client.mem + at, len, l->seed, l->sent);
	CHECK_EQ(iwarp_send(&l->p.client, at, len, 1), 0);
	l->sent++;
}

static void sends_complete(struct line *l)
{
	for (; l->completed < l->sent; l->completed++)
		iwarp_expect(l->p.client.scq, IBV_WC_SUCCESS);
}

static uint64_t check_next(struct line *l, const struct ibv_wc *wc)
{
	const unsigned char *got = share_slot(l->share, wc->wr_id);

	CHECK_EQ(wc->status, IBV_WC_SUCCESS);
	CHECK_EQ(wc->qp_num, l->p.server.id->qp->qp_num);
	CHECK_EQ(wc->byte_len, length_of(l, l->received));
	pattern_verify(got, wc->byte_len, l->seed, l->received);
	memset(share_slot(l->share, wc->wr_id), 0, SHARE_SLOT);
	l->received++;
	return wc->wr_id;
}

/* The next message; returns its slot, which is posted by nobody. */
static uint64_t receive_next(struct line *l)
{
	struct ibv_wc wc = iwarp_wait(l->p.server.rcq);

	return check_next(l, &wc);
}

static void pass(struct line *l)
{
	send_next(l);
	receive_next(l);
	sends_complete(l);
}

static void expect_over(struct line *l)
{
	iwarp_wait_disconnected(&l->p.client);
	iwarp_wait_disconnected(&l->p.server);
}

/* ---- several connections ---- */

/* Requests that come back in another order than they were posted in. */
static void repost(struct iwarp_share *s, const uint64_t *slots)
{
	unsigned int i;

	for (i = POSTED; i--;)
		CHECK_EQ(share_post(s, slots[i], SHARE_SLOT), 0);
}

static void one_round(struct iwarp_share *s, struct line *l)
{
	uint64_t slots[POSTED], seen = 0;
	unsigned int i;

	for (i = 0; i < POSTED; i++)
		send_next(&l[i % PAIRS]);
	for (i = 0; i < POSTED; i++) {
		slots[i] = receive_next(&l[i % PAIRS]);
		CHECK(!(seen & 1ULL << slots[i]));
		seen |= 1ULL << slots[i];
	}
	for (i = 0; i < PAIRS; i++)
		sends_complete(&l[i]);
	repost(s, slots);
}

static void interleave(void)
{
	struct line l[PAIRS];
	struct iwarp_share s;
	unsigned int i;

	share_open(&s, POSTED, 1);
	for (i = 0; i < PAIRS; i++)
		line_open(&l[i], &s, 100 + i);
	share_post_first(&s, POSTED);
	for (i = 0; i < 12; i++)
		one_round(&s, l);
	for (i = 0; i < PAIRS; i++)
		iwarp_pair_close(&l[i].p);
	share_close(&s);
}

static void interleaved(void)
{
	iwarp_join(false);
	interleave();
}

static void interleaved_joined(void)
{
	iwarp_join(true);
	interleave();
}

static void interleaved_with_markers(void)
{
	iwarp_ask(true, true);
	iwarp_join(false);
	interleave();
	iwarp_ask(false, false);
}

/* Sends and receives all of one connection, and posts again what it has received. */
static void *run_line(void *arg)
{
	struct line *l = arg;
	unsigned int count = scaled_count(600);

	while (l->received < count) {
		struct ibv_wc wc;

		while (l->sent < count && l->sent - l->received < BURST)
			send_next(l);
		if (ibv_poll_cq(l->p.server.rcq, 1, &wc) == 1)
			CHECK_EQ(share_post(l->share, check_next(l, &wc), SHARE_SLOT), 0);
		if (ibv_poll_cq(l->p.client.scq, 1, &wc) == 1) {
			CHECK_EQ(wc.status, IBV_WC_SUCCESS);
			l->completed++;
		}
	}
	sends_complete(l);
	return NULL;
}

/* Several post, and several sockets take, at the same time. */
static void run_threads(void)
{
	struct line l[PAIRS];
	struct iwarp_share s;
	unsigned int i;

	share_open(&s, POSTED, 1);
	for (i = 0; i < PAIRS; i++)
		line_open(&l[i], &s, 200 + i);
	share_post_first(&s, POSTED);
	for (i = 0; i < PAIRS; i++)
		thread_start(&l[i].thread, run_line, &l[i]);
	for (i = 0; i < PAIRS; i++)
		thread_join(l[i].thread);
	for (i = 0; i < PAIRS; i++)
		iwarp_pair_close(&l[i].p);
	share_close(&s);
}

static void threads(void)
{
	iwarp_join(false);
	run_threads();
}

static void threads_joined(void)
{
	iwarp_join(true);
	run_threads();
}

/* ---- how many are left ---- */

static unsigned int limit_events(struct iwarp_share *s)
{
	return share_events(s, IBV_EVENT_SRQ_LIMIT_REACHED);
}

/* It is sent before the message has arrived that takes one too many. */
static void few_are_left(void)
{
	struct iwarp_share s;
	struct line l;
	int i;

	iwarp_join(false);
	share_open(&s, 16, 1);
	line_open(&l, &s, 1);
	share_post_first(&s, 10);
	CHECK_EQ(share_arm(&s, 7), 0);
	for (i = 0; i < 3; i++)
		pass(&l);
	CHECK_EQ(limit_events(&s), 0);
	CHECK_EQ(share_query(&s).srq_limit, 7);
	pass(&l);
	CHECK_EQ(limit_events(&s), 1);
	CHECK(s.object[IBV_EVENT_SRQ_LIMIT_REACHED] == s.srq);
	CHECK_EQ(share_query(&s).srq_limit, 0);
	/* Once, unless it is armed again. */
	pass(&l);
	CHECK_EQ(limit_events(&s), 1);
	CHECK_EQ(share_arm(&s, 5), 0);
	CHECK_EQ(limit_events(&s), 1);
	pass(&l);
	CHECK_EQ(limit_events(&s), 2);
	CHECK_EQ(share_arm(&s, 4), 0);
	CHECK_EQ(share_arm(&s, 0), 0);
	pass(&l);
	CHECK_EQ(limit_events(&s), 2);
	iwarp_pair_close(&l.p);
	share_close(&s);
}

/* Who waits for the event before he posts more must not wait for ever. */
static void few_are_left_already(void)
{
	struct iwarp_share s;

	share_open(&s, 16, 1);
	CHECK_EQ(limit_events(&s), 0);
	CHECK_EQ(share_arm(&s, 1), 0);
	CHECK_EQ(limit_events(&s), 1);
	CHECK_EQ(share_query(&s).srq_limit, 0);
	/* Who knows is not told again. */
	CHECK_EQ(share_arm(&s, 1), 0);
	CHECK_EQ(limit_events(&s), 1);
	CHECK_EQ(share_query(&s).srq_limit, 1);
	share_post_first(&s, 16);
	CHECK_EQ(share_arm(&s, 16), 0);
	CHECK_EQ(limit_events(&s), 1);
	CHECK_EQ(share_query(&s).srq_limit, 16);
	share_close(&s);
}

/* ---- none is left ---- */

/* Ends who asked for too much, and tells both ends why; the other goes on. */
static void none_is_left(void)
{
	struct iwarp_share s;
	struct line a, b;

	share_open(&s, 16, 1);
	line_open(&a, &s, 1);
	line_open(&b, &s, 2);
	share_post_first(&s, 2);
	pass(&b);
	pass(&a);
	send_next(&a);
	expect_over(&a);
	WAIT_FOR(share_events(&s, IBV_EVENT_QP_FATAL) == 1);
	CHECK(s.object[IBV_EVENT_QP_FATAL] == a.p.server.id->qp);
	share_post_first(&s, 2);
	pass(&b);
	pass(&b);
	iwarp_pair_close(&a.p);
	iwarp_pair_close(&b.p);
	share_close(&s);
}

static void none_left(void)
{
	iwarp_join(false);
	none_is_left();
}

static void none_left_joined(void)
{
	iwarp_join(true);
	none_is_left();
}

/* Nobody would wake it. */
static void none_left_and_told_to_hold(void)
{
	iwarp_join(false);
	iwarp_set("hold", true);
	none_is_left();
	iwarp_set("hold", false);
}

/* ---- a connection ends ---- */

/* What it has not taken is there for others, and all of it. */
static void untaken_stay(void)
{
	struct iwarp_share s;
	struct line a, b;
	uint64_t seen = 0;
	int i;

	iwarp_join(false);
	share_open(&s, 16, 1);
	line_open(&a, &s, 1);
	line_open(&b, &s, 2);
	share_post_first(&s, 16);
	for (i = 0; i < 4; i++) {
		send_next(&a);
		seen |= 1ULL << receive_next(&a);
	}
	sends_complete(&a);
	CHECK_OK(rdma_disconnect(a.p.client.id));
	expect_over(&a);
	iwarp_pair_close(&a.p);
	for (i = 4; i < 16; i++) {
		send_next(&b);
		seen |= 1ULL << receive_next(&b);
		sends_complete(&b);
	}
	CHECK_EQ(seen, 0xffff);
	iwarp_pair_close(&b.p);
	share_close(&s);
}

static unsigned int left_events(struct iwarp_share *s)
{
	return share_events(s, IBV_EVENT_QP_LAST_WQE_REACHED);
}

/* Who has posted cannot count what comes back, so it is told when nothing more does. */
static void told_of_the_last(void)
{
	struct ibv_qp_attr error = { .qp_state = IBV_QPS_ERR };
	struct iwarp_share s;
	struct line a, b;

	share_open(&s, 16, 1);
	line_open(&a, &s, 1);
	line_open(&b, &s, 2);
	share_post_first(&s, 4);
	pass(&a);
	CHECK_EQ(left_events(&s), 0);
	CHECK_OK(rdma_disconnect(a.p.client.id));
	expect_over(&a);
	WAIT_FOR(left_events(&s) == 1);
	CHECK(s.object[IBV_EVENT_QP_LAST_WQE_REACHED] == a.p.server.id->qp);
	CHECK_EQ(ibv_modify_qp(a.p.server.id->qp, &error, IBV_QP_STATE), 0);
	CHECK_EQ(left_events(&s), 1);
	CHECK_EQ(ibv_modify_qp(b.p.server.id->qp, &error, IBV_QP_STATE), 0);
	WAIT_FOR(left_events(&s) == 2);
	CHECK(s.object[IBV_EVENT_QP_LAST_WQE_REACHED] == b.p.server.id->qp);
	iwarp_pair_close(&a.p);
	iwarp_pair_close(&b.p);
	CHECK_EQ(left_events(&s), 2);
	share_close(&s);
}

static void last_told(void)
{
	iwarp_join(false);
	told_of_the_last();
}

static void last_told_joined(void)
{
	iwarp_join(true);
	told_of_the_last();
}

/* ---- what is refused ---- */

static void destroyed_in_use(void)
{
	struct iwarp_share s;
	struct line l;

	iwarp_join(false);
	share_open(&s, 16, 1);
	line_open(&l, &s, 1);
	CHECK_EQ(ibv_destroy_srq(s.srq), EBUSY);
	share_post_first(&s, 1);
	pass(&l);
	iwarp_pair_close(&l.p);
	share_close(&s);
}

static void not_created(struct iwarp_share *s, uint32_t wrs, uint32_t sges)
{
	struct ibv_srq_init_attr init = {
		.attr = {
			.max_wr = wrs,
			.max_sge = sges,
		},
	};

	CHECK(!ibv_create_srq(s->pd, &init));
	CHECK_EQ(errno, EINVAL);
}

static void out_of_bounds(void)
{
	struct ibv_srq_attr attr = { .max_wr = 64 };
	struct ibv_device_attr limits;
	struct iwarp_share s;
	unsigned int i;

	share_open(&s, 9, 2);
	CHECK_EQ(ibv_query_device(s.pd->context, &limits), 0);
	CHECK(limits.max_srq > 0 && limits.max_srq_wr >= 1024 && limits.max_srq_sge >= 2);
	not_created(&s, 0, 1);
	not_created(&s, limits.max_srq_wr + 1, 1);
	not_created(&s, 1, limits.max_srq_sge + 1);
	CHECK_EQ(share_query(&s).max_wr, 16);
	CHECK_EQ(share_query(&s).max_sge, 2);
	CHECK_EQ(ibv_modify_srq(s.srq, &attr, IBV_SRQ_MAX_WR), EOPNOTSUPP);
	CHECK_EQ(share_arm(&s, 17), EINVAL);
	CHECK_EQ(share_query(&s).max_wr, 16);
	CHECK_EQ(share_query(&s).srq_limit, 0);
	for (i = 0; i < 16; i++)
		CHECK_EQ(share_post(&s, i, 1), 0);
	/* This is the library's, which gives it a sign. */
	CHECK_EQ(share_post(&s, 16, 1), -ENOMEM);
	share_close(&s);
}

/* The RDMA core knows who shares it. */
static void shown(void)
{
	struct iwarp_share s;
	char command[100];
	struct line l;

	iwarp_join(false);
	share_open(&s, 16, 1);
	line_open(&l, &s, 1);
	snprintf(command, sizeof(command), "rdma resource show srq dev %s | grep -qw 'lqpn %u'",
		 ibv_get_device_name(s.pd->context->device), l.p.server.id->qp->qp_num);
	CHECK_EQ(system(command), 0);
	iwarp_pair_close(&l.p);
	share_close(&s);
}

static const struct sdp_case cases[] = {
	CASE(interleaved, CASE_IPV6),
	CASE(interleaved_joined, 0),
	CASE(interleaved_with_markers, 0),
	CASE(threads, 0),
	CASE(threads_joined, 0),
	CASE(few_are_left, 0),
	CASE(few_are_left_already, 0),
	CASE(none_left, 0),
	CASE(none_left_joined, 0),
	CASE(none_left_and_told_to_hold, 0),
	CASE(untaken_stay, 0),
	CASE(last_told, 0),
	CASE(last_told_joined, 0),
	CASE(destroyed_in_use, 0),
	CASE(out_of_bounds, 0),
	CASE(shown, 0),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
