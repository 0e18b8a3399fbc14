// SPDX-License-Identifier: GPL-2.0
/*
 * Data over our own iWARP devices, by verbs: every byte of every kind of
 * transfer, with and without markers and checksums, and what is refused.
 */
#define _GNU_SOURCE
#include <rdma/siw-abi.h>

#include "iwarp_end.h"

/* Around the lengths of headers, markers, pages and segments. */
static const size_t lengths[] = {
	0, 1, 2, 3, 4, 5, 488, 492, 508, 512, 516, 4095, 4096, 4401, 8192,
	65536, 100001, MIB,
};

#define FROM	101		/* where data is in the sender's memory */
#define TO	(MIB + 203)	/* where it goes in the receiver's */
#define GUARD	64		/* bytes around it that must not change */
#define UNTOUCHED 0xa5

static void fill(struct iwarp_end *e, size_t len, uint64_t seed)
{
	pattern_fill(e->mem + FROM, len, seed, 0);
}

static void clear(struct iwarp_end *e, size_t len)
{
	memset(e->mem + TO - GUARD, UNTOUCHED, len + 2 * GUARD);
}

static void check_untouched(const unsigned char *mem, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		CHECK_EQ(mem[i], UNTOUCHED);
}

/* The data, all of it, and nothing beside it. */
static void check(struct iwarp_end *e, size_t len, uint64_t seed)
{
	pattern_verify(e->mem + TO, len, seed, 0);
	check_untouched(e->mem + TO - GUARD, GUARD);
	check_untouched(e->mem + TO + len, GUARD);
}

/* Siw's library copies the pieces to one, but still says how many there were. */
static void send_inline(struct iwarp_end *from, struct iwarp_end *to)
{
	struct ibv_sge sge[3];
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_INLINE,
		.sg_list = sge,
		.num_sge = ARRAY_SIZE(sge),
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sge); i++)
		sge[i] = (struct ibv_sge){ iwarp_address(from, FROM + 20 * i), 20, 0 };
	fill(from, 60, 60);
	clear(to, 60);
	CHECK_EQ(iwarp_recv(to, TO, 60, 1), 0);
	CHECK_EQ(ibv_post_send(from->id->qp, &wr, &bad), 0);
	CHECK_EQ(iwarp_wait(to->rcq).status, IBV_WC_SUCCESS);
	check(to, 60, 60);
	iwarp_expect(from->scq, IBV_WC_SUCCESS);
}

static void inline_pieces(void)
{
	struct iwarp_pair p;

	iwarp_pair_open(&p);
	send_inline(&p.client, &p.server);
	send_inline(&p.server, &p.client);
	iwarp_pair_close(&p);
}

static void send_one(struct iwarp_end *from, struct iwarp_end *to, size_t len,
		     int pieces)
{
	struct ibv_wc wc;

	fill(from, len, len);
	clear(to, len);
	CHECK_EQ(iwarp_recv(to, TO, len, pieces), 0);
	CHECK_EQ(iwarp_send(from, FROM, len, pieces == 1 ? END_SGES : 1), 0);
	wc = iwarp_wait(to->rcq);
	CHECK_EQ(wc.status, IBV_WC_SUCCESS);
	CHECK_EQ(wc.byte_len, len);
	check(to, len, len);
	iwarp_expect(from->scq, IBV_WC_SUCCESS);
}

static void write_one(struct iwarp_end *from, struct iwarp_end *to, size_t len)
{
	fill(from, len, len + 1);
	clear(to, len);
	CHECK_EQ(iwarp_recv(to, 0, 1, 1), 0);
	CHECK_EQ(iwarp_write(from, FROM, len, to->mr->rkey,
			     iwarp_address(to, TO)), 0);
	/* What is sent behind the data arrives behind it. */
	CHECK_EQ(iwarp_send(from, 0, 1, 1), 0);
	iwarp_expect(to->rcq, IBV_WC_SUCCESS);
	check(to, len, len + 1);
	iwarp_expect(from->scq, IBV_WC_SUCCESS);
	iwarp_expect(from->scq, IBV_WC_SUCCESS);
}

static void read_one(struct iwarp_end *by, struct iwarp_end *from, size_t len)
{
	fill(from, len, len + 2);
	clear(by, len);
	CHECK_EQ(iwarp_read(by, TO, len, from->mr->rkey,
			    iwarp_address(from, FROM)), 0);
	iwarp_expect(by->scq, IBV_WC_SUCCESS);
	check(by, len, len + 2);
}

static void transfer_all(struct iwarp_end *a, struct iwarp_end *b)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		send_one(a, b, lengths[i], 1);
		send_one(a, b, lengths[i], 3);
		write_one(a, b, lengths[i]);
		read_one(a, b, lengths[i]);
	}
}

static void transfer(bool markers, bool crc)
{
	struct iwarp_pair p;

	iwarp_ask(markers, crc);
	iwarp_pair_open(&p);
	transfer_all(&p.client, &p.server);
	transfer_all(&p.server, &p.client);
	iwarp_pair_close(&p);
	iwarp_ask(false, false);
}

static void plain(void)
{
	transfer(false, false);
}

static void with_crc(void)
{
	transfer(false, true);
}

static void with_markers(void)
{
	transfer(true, false);
}

static void with_markers_and_crc(void)
{
	transfer(true, true);
}

/* Many at a time, so that segments of several messages share TCP's. */
static void many_outstanding(void)
{
	struct iwarp_pair p;
	size_t i, len = 3000;

	iwarp_ask(true, true);
	iwarp_pair_open(&p);
	pattern_fill(p.client.mem, END_WRS * len, 9, 0);
	for (i = 0; i < END_WRS; i++)
		CHECK_EQ(iwarp_recv(&p.server, i * len, len, 1), 0);
	for (i = 0; i < END_WRS; i++)
		CHECK_EQ(iwarp_send(&p.client, i * len, len, 1), 0);
	for (i = 0; i < END_WRS; i++)
		iwarp_expect(p.server.rcq, IBV_WC_SUCCESS);
	pattern_verify(p.server.mem, END_WRS * len, 9, 0);
	for (i = 0; i < END_WRS; i++)
		iwarp_expect(p.client.scq, IBV_WC_SUCCESS);
	iwarp_pair_close(&p);
	iwarp_ask(false, false);
}

/* Numbers of requests wrap soon, at whatever many are outstanding at a time. */
static void reads_outstanding(void)
{
	size_t i, len = 3000;
	struct iwarp_pair p;
	unsigned int depth;

	for (depth = 1; depth <= 8; depth++) {
		iwarp_read_depth(depth);
		iwarp_pair_open(&p);
		pattern_fill(p.server.mem, 16 * len, depth, 0);
		for (i = 0; i < 16; i++)
			CHECK_EQ(iwarp_read(&p.client, i * len, len,
					    p.server.mr->rkey,
					    iwarp_address(&p.server, i * len)), 0);
		for (i = 0; i < 16; i++)
			iwarp_expect(p.client.scq, IBV_WC_SUCCESS);
		pattern_verify(p.client.mem, 16 * len, depth, 0);
		iwarp_pair_close(&p);
	}
}

static void wait_cq_error(struct iwarp_end *e)
{
	struct ibv_async_event event;
	bool found;

	do {
		CHECK_OK(ibv_get_async_event(e->id->verbs, &event));
		found = event.event_type == IBV_EVENT_CQ_ERR;
		if (found)
			CHECK(event.element.cq == e->scq);
		ibv_ack_async_event(&event);
	} while (!found);
}

/* Who does not take his completions loses one, and then must not go on. */
static void overrun_with(bool joined)
{
	struct iwarp_pair p;
	int i;

	iwarp_join(joined);
	iwarp_pair_open(&p);
	for (i = 0; i < END_CQES + 1; i++) {
		CHECK_EQ(iwarp_recv(&p.server, TO, 1, 1), 0);
		CHECK_EQ(iwarp_send(&p.client, FROM, 1, 1), 0);
		iwarp_expect(p.server.rcq, IBV_WC_SUCCESS);
	}
	wait_cq_error(&p.client);
	iwarp_wait_disconnected(&p.client);
	iwarp_wait_disconnected(&p.server);
	for (i = 0; i < END_CQES; i++)
		iwarp_expect(p.client.scq, IBV_WC_SUCCESS);
	iwarp_pair_close(&p);
}

static void overrun(void)
{
	overrun_with(false);
}

static void overrun_joined(void)
{
	overrun_with(true);
}

/* Both ends see the connection end, and no byte of the memory has changed. */
static void expect_end(struct iwarp_pair *p)
{
	iwarp_wait_disconnected(&p->client);
	iwarp_wait_disconnected(&p->server);
	check_untouched(p->server.mem + TO - GUARD, 2 * GUARD);
	iwarp_pair_close(p);
}

static void refused_write(uint32_t rkey_change, uint64_t addr_change)
{
	struct iwarp_pair p;

	iwarp_pair_open(&p);
	clear(&p.server, 0);
	CHECK_EQ(iwarp_write(&p.client, FROM, GUARD,
			     p.server.mr->rkey + rkey_change,
			     iwarp_address(&p.server, TO - GUARD) +
			     addr_change), 0);
	expect_end(&p);
}

static void write_to_wrong_key(void)
{
	refused_write(1, 0);
}

static void write_to_no_region(void)
{
	refused_write(0x12300, 0);
}

static void write_beyond_region(void)
{
	refused_write(0, END_MEM - TO + GUARD - 1);
}

static void write_before_region(void)
{
	refused_write(0, -(TO - GUARD + 1UL));
}

static void read_beyond_region(void)
{
	struct iwarp_pair p;

	iwarp_pair_open(&p);
	clear(&p.server, 0);
	CHECK_EQ(iwarp_read(&p.client, TO, GUARD, p.server.mr->rkey,
			    iwarp_address(&p.server, END_MEM - GUARD + 1)), 0);
	iwarp_expect(p.client.scq, IBV_WC_WR_FLUSH_ERR);
	expect_end(&p);
}

static void send_longer_than_buffer(void)
{
	struct iwarp_pair p;

	iwarp_pair_open(&p);
	clear(&p.server, 0);
	CHECK_EQ(iwarp_recv(&p.server, 0, 100, 1), 0);
	CHECK_EQ(iwarp_send(&p.client, FROM, 101, 1), 0);
	iwarp_expect(p.server.rcq, IBV_WC_LOC_LEN_ERR);
	expect_end(&p);
}

static void send_without_buffer(void)
{
	struct iwarp_pair p;

	iwarp_pair_open(&p);
	clear(&p.server, 0);
	CHECK_EQ(iwarp_send(&p.client, FROM, 1, 1), 0);
	expect_end(&p);
}

/* A process cannot have its region back, so nobody can take it from it. */
static void end_region(bool joined)
{
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND_WITH_INV,
	};
	struct iwarp_pair p;

	iwarp_join(joined);
	iwarp_pair_open(&p);
	clear(&p.server, 0);
	/* The library looks for it there. */
	wr.wr.rdma.rkey = p.server.mr->rkey;
	wr.invalidate_rkey = p.server.mr->rkey;
	CHECK_EQ(iwarp_recv(&p.server, 0, 100, 1), 0);
	CHECK_EQ(ibv_post_send(p.client.id->qp, &wr, &bad), 0);
	iwarp_expect(p.server.rcq, IBV_WC_REM_INV_REQ_ERR);
	expect_end(&p);
}

static void regions_are_not_ended(void)
{
	end_region(false);
}

static void regions_are_not_ended_joined(void)
{
	end_region(true);
}

/* There is nowhere for immediate data in what the library and the kernel share. */
static void no_immediate_data(void)
{
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
	};
	struct iwarp_pair p;

	iwarp_pair_open(&p);
	CHECK_EQ(ibv_post_send(p.client.id->qp, &wr, &bad), -EINVAL);
	wr.opcode = IBV_WR_SEND_WITH_IMM;
	CHECK_EQ(ibv_post_send(p.client.id->qp, &wr, &bad), -EINVAL);
	iwarp_pair_close(&p);
}

static void disconnect_flushes(void)
{
	struct iwarp_pair p;

	iwarp_pair_open(&p);
	CHECK_EQ(iwarp_recv(&p.server, 0, 1, 1), 0);
	CHECK_EQ(iwarp_recv(&p.client, 0, 1, 1), 0);
	CHECK_OK(rdma_disconnect(p.client.id));
	iwarp_wait_disconnected(&p.client);
	iwarp_wait_disconnected(&p.server);
	iwarp_expect(p.server.rcq, IBV_WC_WR_FLUSH_ERR);
	iwarp_expect(p.client.rcq, IBV_WC_WR_FLUSH_ERR);
	iwarp_pair_close(&p);
}

/* A program may not have seen the end yet when it posts the next buffer. */
static void posted_after_the_end(void)
{
	struct iwarp_pair p;
	int i;

	iwarp_pair_open(&p);
	CHECK_OK(rdma_disconnect(p.client.id));
	iwarp_wait_disconnected(&p.client);
	iwarp_wait_disconnected(&p.server);
	for (i = 0; i < 3; i++) {
		CHECK_EQ(iwarp_recv(&p.server, 0, 1, 1), 0);
		CHECK_EQ(iwarp_recv(&p.client, 0, 1, 1), 0);
		iwarp_expect(p.server.rcq, IBV_WC_WR_FLUSH_ERR);
		iwarp_expect(p.client.rcq, IBV_WC_WR_FLUSH_ERR);
	}
	iwarp_pair_close(&p);
}

#define MARK		0x5d9a110c0ffee
/* What the library has mapped for the receive queue, in whole pages. */
#define QUEUE_BYTES	((END_WRS * sizeof(struct siw_rqe) + 4095) & ~4095ul)

struct poster {
	struct siw_rqe *queue;
	bool stop;
};

/* The receive queue that a request was posted to whose name is the mark. */
static struct siw_rqe *marked_queue(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	struct siw_rqe *queue = NULL;
	unsigned long from, to;
	char line[256];

	CHECK(maps);
	while (!queue && fgets(line, sizeof(line), maps)) {
		if (strstr(line, "uverbs") &&
		    sscanf(line, "%lx-%lx", &from, &to) == 2 &&
		    to - from == QUEUE_BYTES &&
		    ((struct siw_rqe *)from)->id == MARK)
			queue = (struct siw_rqe *)from;
	}
	fclose(maps);
	CHECK(queue);
	return queue;
}

/* Faster than any library. */
static void *post_all_the_time(void *arg)
{
	struct poster *poster = arg;
	int i;

	while (!__atomic_load_n(&poster->stop, __ATOMIC_RELAXED))
		for (i = 0; i < END_WRS; i++)
			__atomic_store_n(&poster->queue[i].flags, SIW_WQE_VALID,
					 __ATOMIC_RELAXED);
	return NULL;
}

/* Who flushes has to come to an end, for he keeps others waiting. */
static void posted_all_the_time(void)
{
	struct ibv_sge sge = { 0 };
	struct ibv_recv_wr *bad, marked = {
		.wr_id = MARK,
		.sg_list = &sge,
		.num_sge = 1,
	};
	struct poster poster = { 0 };
	struct iwarp_pair p;
	pthread_t thread;

	iwarp_pair_open(&p);
	CHECK_EQ(ibv_post_recv(p.server.id->qp, &marked, &bad), 0);
	poster.queue = marked_queue();
	thread_start(&thread, post_all_the_time, &poster);
	CHECK_OK(rdma_disconnect(p.client.id));
	iwarp_wait_disconnected(&p.client);
	iwarp_wait_disconnected(&p.server);
	iwarp_expect(p.server.rcq, IBV_WC_WR_FLUSH_ERR);
	__atomic_store_n(&poster.stop, true, __ATOMIC_RELAXED);
	thread_join(thread);
	iwarp_pair_close(&p);
}

static const struct sdp_case cases[] = {
	CASE(plain, CASE_IPV6),
	CASE(with_crc, 0),
	CASE(with_markers, 0),
	CASE(with_markers_and_crc, CASE_IPV6),
	CASE(inline_pieces, 0),
	CASE(many_outstanding, 0),
	CASE(reads_outstanding, 0),
	CASE(overrun, 0),
	CASE(overrun_joined, 0),
	CASE(write_to_wrong_key, 0),
	CASE(write_to_no_region, 0),
	CASE(write_beyond_region, 0),
	CASE(write_before_region, 0),
	CASE(read_beyond_region, 0),
	CASE(send_longer_than_buffer, 0),
	CASE(send_without_buffer, 0),
	CASE(regions_are_not_ended, 0),
	CASE(regions_are_not_ended_joined, 0),
	CASE(no_immediate_data, 0),
	CASE(disconnect_flushes, 0),
	CASE(posted_after_the_end, 0),
	CASE(posted_all_the_time, 0),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
