// SPDX-License-Identifier: GPL-2.0
/*
 * Flow control with a peer that posts its receive buffers late.  Peers that break its rules
 * are those of sdp_script.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_verbs.h"

#define SEED	31
/* Of the module, which has four buffers for the first messages. */
#define RING	(16 * KIB)

static struct rogue rogue_connect(const char *engine, uint16_t bufs)
{
	int listener = engine_listener(engine, RING);
	struct verbs_offer offer = { FEAT_ALL, 1 };
	struct rogue r = rogue_accepted(listener, bufs, 0, offer);

	expect_flow(r.fd, engine);
	r.peer.windows = !strcmp(engine, "nic");
	return r;
}

/* ---- receive buffers that come late ---- */

#define ROUNDS		3
/* Of data in each round: three messages of it. */
#define ROUND_BYTES	1500
#define ROUND_CHUNK	500

/* Data, of which nothing can arrive before @take posts a buffer for it. */
static void send_late(struct rogue *r, uint64_t *pos,
		      uint64_t (*take)(struct verbs_end *peer, uint64_t pos))
{
	uint64_t got = *pos, end = *pos + ROUND_BYTES;
	long before = not_ready();

	send_pattern(r->fd, SEED, *pos, ROUND_BYTES, ROUND_CHUNK);
	WAIT_FOR(not_ready() > before);
	while (got < end) {
		verbs_post(&r->peer, 1);
		got += take(&r->peer, got);
	}
	CHECK_EQ(got, end);
	*pos = end;
}

static uint64_t take_message(struct verbs_end *peer, uint64_t pos)
{
	struct verbs_msg msg = verbs_next(peer);

	CHECK_EQ(msg.mid, MID_DATA);
	CHECK(!msg.written);
	pattern_verify(msg.payload, msg.len, SEED, pos);
	return msg.len;
}

static uint64_t take_piece(struct verbs_end *peer, uint64_t pos)
{
	struct verbs_msg msg = verbs_next(peer);

	if (!msg.written)
		return 0;
	CHECK(msg.len <= VERBS_RING / 4);
	CHECK(pos % VERBS_RING + msg.len <= VERBS_RING);
	pattern_verify(peer->ring + pos % VERBS_RING, msg.len, SEED, pos);
	return msg.len;
}

static void credit_messages_wait(void)
{
	struct rogue r = rogue_connect("credit", 8);
	uint64_t pos = 0;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		send_late(&r, &pos, take_message);
		verbs_send(&r.peer, MID_DATA, NULL, 0);
	}
	rogue_close(&r);
}

/* Told of as many buffers as the ring could have, and with none of them posted. */
static struct rogue ring_connect(const char *engine)
{
	struct rogue r = rogue_connect(engine, 8);
	struct verbs_ring ring = verbs_own_ring(&r.peer);

	r.peer.bufs = VERBS_RING / VERBS_PIECE + 2;
	verbs_send_ring(&r.peer, &ring);
	WAIT_FOR(info_of(r.fd).sdpi_peer_ring == VERBS_RING);
	return r;
}

static void rdma_pieces_wait(void)
{
	struct rogue r = ring_connect("rdma");
	uint64_t pos = 0;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		uint32_t tail;

		send_late(&r, &pos, take_piece);
		tail = htobe32(pos);
		verbs_send(&r.peer, MID_RINGSPACE, &tail, sizeof(tail));
	}
	rogue_close(&r);
}

static void nic_pieces_wait(void)
{
	struct rogue r = ring_connect("nic");
	uint64_t pos = 0;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		send_late(&r, &pos, take_piece);
		verbs_send(&r.peer, MID_DATA, NULL, 0);
	}
	rogue_close(&r);
}

static const struct sdp_case cases[] = {
	CASE(credit_messages_wait, CASE_SDP_ONLY | CASE_LONG),
	CASE(rdma_pieces_wait, CASE_SDP_ONLY | CASE_LONG),
	CASE(nic_pieces_wait, CASE_SDP_ONLY | CASE_LONG),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
