// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs that hold: messages without a receive request wait, and what is
 * behind them in the stream does not.
 */
#define _GNU_SOURCE
#include "iwarp_end.h"

#define LONG	65536
/*
 * What may be complete and not received: room for messages that wait, and what TCP keeps,
 * in memory of which less than all is payload.
 */
#define ON_ITS_WAY (128 * 1024 + MIB)

static void open_holding(struct iwarp_pair *p)
{
	iwarp_set("hold", true);
	iwarp_pair_open(p);
	iwarp_set("hold", false);
}

static void send_one(struct iwarp_end *e, size_t len, uint64_t seed)
{
	pattern_fill(e->mem, len, seed, 0);
	CHECK_EQ(iwarp_send(e, 0, len, 1), 0);
}

static void receive_one(struct iwarp_end *e, size_t len, uint64_t seed)
{
	struct ibv_wc wc;

	CHECK_EQ(iwarp_recv(e, MIB, len, 1), 0);
	wc = iwarp_wait(e->rcq);
	CHECK_EQ(wc.status, IBV_WC_SUCCESS);
	CHECK_EQ(wc.byte_len, len);
	pattern_verify(e->mem + MIB, len, seed, 0);
}

static void message_waits(void)
{
	struct iwarp_pair p;

	open_holding(&p);
	send_one(&p.client, 1000, 1);
	iwarp_expect(p.client.scq, IBV_WC_SUCCESS);
	receive_one(&p.server, 1000, 1);
	iwarp_pair_close(&p);
}

/* Each length is in one segment, or several; with and without checks. */
static void all_lengths_wait(void)
{
	static const size_t lengths[] = { 0, 1, 7, 8, 508, 4096, 9001, LONG,
					  300001 };
	struct iwarp_pair p;
	size_t i;

	iwarp_ask(true, true);
	open_holding(&p);
	iwarp_ask(false, false);
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		send_one(&p.client, lengths[i], i);
		receive_one(&p.server, lengths[i], i);
		iwarp_expect(p.client.scq, IBV_WC_SUCCESS);
	}
	iwarp_pair_close(&p);
}

/* How many of the sender's requests are complete. */
static size_t completed(struct iwarp_end *e)
{
	struct ibv_wc wc;
	size_t n = 0;

	while (ibv_poll_cq(e->scq, 1, &wc) > 0) {
		CHECK_EQ(wc.status, IBV_WC_SUCCESS);
		n++;
	}
	return n;
}

/* Who sends far more than fits on the way is paced by who receives. */
static void sender_waits(void)
{
	size_t i, sent = 0;
	struct iwarp_pair p;

	open_holding(&p);
	pattern_fill(p.client.mem, LONG, 3, 0);
	for (i = 0; i < END_WRS; i++)
		CHECK_EQ(iwarp_send(&p.client, 0, LONG, 1), 0);
	for (i = 0; i < END_WRS; i++) {
		receive_one(&p.server, LONG, 3);
		memset(p.server.mem + MIB, 0, LONG);
		sent += completed(&p.client);
		CHECK(sent * LONG <= (i + 1) * LONG + ON_ITS_WAY);
	}
	for (; sent < END_WRS; sent++)
		iwarp_expect(p.client.scq, IBV_WC_SUCCESS);
	iwarp_pair_close(&p);
}

/* Otherwise who waits for the response before he receives would wait for ever. */
static void response_overtakes(void)
{
	struct iwarp_pair p;
	size_t i;

	open_holding(&p);
	pattern_fill(p.client.mem, 5000, 4, 0);
	for (i = 0; i < 8; i++)
		CHECK_EQ(iwarp_send(&p.client, 0, 5000, 1), 0);
	pattern_fill(p.client.mem + 2 * MIB, LONG, 5, 0);
	for (i = 0; i < 3; i++) {
		CHECK_EQ(iwarp_read(&p.server, 2 * MIB, LONG,
				    p.client.mr->rkey,
				    iwarp_address(&p.client, 2 * MIB)), 0);
		iwarp_expect(p.server.scq, IBV_WC_SUCCESS);
		pattern_verify(p.server.mem + 2 * MIB, LONG, 5, 0);
		memset(p.server.mem + 2 * MIB, 0, LONG);
	}
	for (i = 0; i < 8; i++)
		receive_one(&p.server, 5000, 4);
	iwarp_pair_close(&p);
}

/* What is written is there before the message behind it, and may be sooner. */
static void writes_do_not_wait(void)
{
	struct iwarp_pair p;

	open_holding(&p);
	send_one(&p.client, 100, 6);
	pattern_fill(p.client.mem + 2 * MIB, LONG, 7, 0);
	CHECK_EQ(iwarp_write(&p.client, 2 * MIB, LONG, p.server.mr->rkey,
			     iwarp_address(&p.server, 2 * MIB)), 0);
	WAIT_FOR(!memcmp(p.server.mem + 2 * MIB, p.client.mem + 2 * MIB, LONG));
	receive_one(&p.server, 100, 6);
	iwarp_pair_close(&p);
}

static void both_ways(void)
{
	struct iwarp_pair p;
	size_t i;

	open_holding(&p);
	pattern_fill(p.client.mem, LONG, 8, 0);
	pattern_fill(p.server.mem, LONG, 9, 0);
	for (i = 0; i < END_WRS / 2; i++) {
		CHECK_EQ(iwarp_send(&p.client, 0, LONG, 1), 0);
		CHECK_EQ(iwarp_send(&p.server, 0, LONG, 1), 0);
	}
	for (i = 0; i < END_WRS / 2; i++) {
		receive_one(&p.server, LONG, 8);
		receive_one(&p.client, LONG, 9);
	}
	iwarp_pair_close(&p);
}

/* Who says good-bye is heard to the end. */
static void end_waits(void)
{
	struct iwarp_pair p;
	size_t i;

	open_holding(&p);
	pattern_fill(p.client.mem, 3000, 10, 0);
	for (i = 0; i < 4; i++)
		CHECK_EQ(iwarp_send(&p.client, 0, 3000, 1), 0);
	for (i = 0; i < 4; i++)
		iwarp_expect(p.client.scq, IBV_WC_SUCCESS);
	CHECK_OK(rdma_disconnect(p.client.id));
	for (i = 0; i < 4; i++)
		receive_one(&p.server, 3000, 10);
	iwarp_wait_disconnected(&p.server);
	iwarp_wait_disconnected(&p.client);
	iwarp_pair_close(&p);
}

static void closed_while_waiting(void)
{
	struct iwarp_pair p;
	size_t i;

	open_holding(&p);
	for (i = 0; i < END_WRS; i++)
		CHECK_EQ(iwarp_send(&p.client, 0, LONG, 1), 0);
	iwarp_expect(p.client.scq, IBV_WC_SUCCESS);
	iwarp_pair_close(&p);
}

static void too_long_in_the_end(void)
{
	struct iwarp_pair p;

	open_holding(&p);
	send_one(&p.client, 101, 11);
	iwarp_expect(p.client.scq, IBV_WC_SUCCESS);
	CHECK_EQ(iwarp_recv(&p.server, MIB, 100, 1), 0);
	iwarp_expect(p.server.rcq, IBV_WC_LOC_LEN_ERR);
	iwarp_wait_disconnected(&p.client);
	iwarp_wait_disconnected(&p.server);
	iwarp_pair_close(&p);
}

static const struct sdp_case cases[] = {
	CASE(message_waits, CASE_IPV6),
	CASE(all_lengths_wait, 0),
	CASE(sender_waits, 0),
	CASE(response_overtakes, 0),
	CASE(writes_do_not_wait, 0),
	CASE(both_ways, 0),
	CASE(end_waits, 0),
	CASE(closed_while_waiting, 0),
	CASE(too_long_in_the_end, 0),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
