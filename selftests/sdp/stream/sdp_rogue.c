// SPDX-License-Identifier: GPL-2.0
/*
 * Flow control with a peer that does not do what the module does: it posts its
 * receive buffers late, or it breaks the rules of the rings.
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

/* ---- rules that are broken ---- */

/* So many data messages make the module allocate its ring. */
#define FEW_MESSAGES	2
#define FEW_BYTES	1000

/* One who breaks a rule is disconnected, and counted. */
static void expect_end(struct rogue *r, long before)
{
	WAIT_FOR(sdp_stat("ProtocolErrors") == before + 1);
	CHECK_EQ(recv_until_end(r->fd), EPROTO);
	rogue_close(r);
}

static void ring_space_without_ring(void)
{
	struct rogue r = rogue_connect("rdma", 8);
	long before = sdp_stat("ProtocolErrors");
	uint32_t tail = 0;

	verbs_send(&r.peer, MID_RINGSPACE, &tail, sizeof(tail));
	expect_end(&r, before);
}

static void ring_without_agreement(void)
{
	struct rogue r = rogue_connect("credit", 8);
	struct verbs_ring ring = verbs_own_ring(&r.peer);
	long before = sdp_stat("ProtocolErrors");

	verbs_send_ring(&r.peer, &ring);
	expect_end(&r, before);
}

static void rings_that_cannot_be(void)
{
	static const struct verbs_ring bad[] = {
		{ 0, 512, 0, 0 },
		{ 2048, 256, 0, 0 },
		{ 5000, 512, 0, 0 },
		{ 0x80000000, 512, 0, 0 },
		{ 4096, 0, 0, 0 },
		{ 4096, 513, 0, 0 },
		{ 4096, 512, 0, -4095ULL },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct rogue r = rogue_connect("nic", 8);
		long before = sdp_stat("ProtocolErrors");

		verbs_send_ring(&r.peer, &bad[i]);
		expect_end(&r, before);
	}
}

static void second_ring(void)
{
	struct rogue r = ring_connect("nic");
	struct verbs_ring ring = verbs_own_ring(&r.peer);
	long before = sdp_stat("ProtocolErrors");

	verbs_send_ring(&r.peer, &ring);
	expect_end(&r, before);
}

static void space_that_was_not_used(void)
{
	struct rogue r = ring_connect("rdma");
	uint32_t tail = htobe32(ROUND_BYTES + 1);
	long before = sdp_stat("ProtocolErrors");
	uint64_t pos = 0;

	send_late(&r, &pos, take_piece);
	verbs_send(&r.peer, MID_RINGSPACE, &tail, sizeof(tail));
	expect_end(&r, before);
}

static void space_taken_back(void)
{
	struct rogue r = ring_connect("rdma");
	uint32_t tail = htobe32(ROUND_BYTES);
	long before = sdp_stat("ProtocolErrors");
	uint64_t pos = 0;

	send_late(&r, &pos, take_piece);
	verbs_send(&r.peer, MID_RINGSPACE, &tail, sizeof(tail));
	tail = htobe32(ROUND_BYTES - 1);
	verbs_send(&r.peer, MID_RINGSPACE, &tail, sizeof(tail));
	expect_end(&r, before);
}

static void written_without_ring(void)
{
	struct rogue r = rogue_connect("nic", 8);
	long before = sdp_stat("ProtocolErrors");

	verbs_write(&r.peer, 0, SEED, 0, 0);
	expect_end(&r, before);
}

/* The module has told of its ring. */
static struct rogue module_ring(const char *engine)
{
	struct rogue r = rogue_connect(engine, 8);
	unsigned char data[FEW_BYTES];
	int i;

	verbs_post(&r.peer, 8);
	for (i = 0; i < FEW_MESSAGES; i++) {
		pattern_fill(data, sizeof(data), SEED, i * sizeof(data));
		verbs_send(&r.peer, MID_DATA, data, sizeof(data));
	}
	while (!r.peer.peer.size)
		verbs_next(&r.peer);
	CHECK_EQ(r.peer.peer.size, RING);
	return r;
}

/* Write so many bytes to where they belong. */
static void write_on(struct rogue *r, uint64_t *written, uint32_t len)
{
	const struct verbs_ring *ring = &r->peer.peer;

	verbs_write(&r->peer, ring->vaddr + *written % ring->size, SEED,
		    FEW_MESSAGES * FEW_BYTES + *written, len);
	*written += len;
}

static void nothing_written(void)
{
	struct rogue r = module_ring("nic");
	long before = sdp_stat("ProtocolErrors");
	uint64_t written = 0;

	write_on(&r, &written, 0);
	expect_end(&r, before);
}

/* A long message takes as many sequence numbers as windows. */
static void several_windows(void)
{
	struct rogue r = module_ring("nic");
	uint64_t written = 0;
	int i;

	/* With what the ring's first receive requests allow. */
	for (i = 0; i < 3; i++) {
		uint64_t before = written;

		write_on(&r, &written, 2 * r.peer.peer.piece - i);
		verbs_send(&r.peer, MID_DATA, NULL, 0);
		recv_pattern(r.fd, SEED, i ? FEW_MESSAGES * FEW_BYTES + before : 0,
			     (i ? 0 : FEW_MESSAGES * FEW_BYTES) + written - before,
			     1000);
	}
	rogue_close(&r);
}

static void windows_without_numbers(void)
{
	struct rogue r = module_ring("nic");
	long before = sdp_stat("ProtocolErrors");
	uint64_t written = 0;

	r.peer.windows = false;
	write_on(&r, &written, r.peer.peer.piece + 1);
	verbs_send(&r.peer, MID_DATA, NULL, 0);
	expect_end(&r, before);
}

static void piece_without_space(void)
{
	struct rogue r = module_ring("rdma");
	long before = sdp_stat("ProtocolErrors");
	uint64_t written = 0;

	while (written < r.peer.peer.size)
		write_on(&r, &written, r.peer.peer.piece);
	/* Nobody reads before that is noticed. */
	write_on(&r, &written, 1);
	expect_end(&r, before);
}

/* Its space is free, but not in one piece. */
static void piece_beyond_the_end(void)
{
	struct rogue r = module_ring("rdma");
	long before = sdp_stat("ProtocolErrors");
	uint64_t written = 0;

	while (written < r.peer.peer.size - r.peer.peer.piece)
		write_on(&r, &written, r.peer.peer.piece);
	write_on(&r, &written, r.peer.peer.piece - 10);
	recv_pattern(r.fd, SEED, 0, FEW_MESSAGES * FEW_BYTES + written, 5000);
	/* Where the device lets it land. */
	verbs_write(&r.peer, r.peer.peer.vaddr, SEED, 0, 20);
	expect_end(&r, before);
}

static void sent_after_it_was_written(void)
{
	struct rogue r = module_ring("nic");
	long before = sdp_stat("ProtocolErrors");
	uint64_t written = 0;

	write_on(&r, &written, 100);
	verbs_send(&r.peer, MID_DATA, "0123456789", 10);
	expect_end(&r, before);
}

static void acknowledged_before_it_was_sent(void)
{
	struct rogue r = module_ring("nic");
	long before = sdp_stat("ProtocolErrors");
	uint64_t written = 0;

	r.peer.mseq_ack += 100;
	write_on(&r, &written, 100);
	expect_end(&r, before);
}

/* That is for the device to find out. */
static void written_outside(void)
{
	struct rogue r = module_ring("nic");
	const struct verbs_ring *ring = &r.peer.peer;

	verbs_write(&r.peer, ring->vaddr + ring->size, SEED, 0, 1);
	CHECK_EQ(recv_until_end(r.fd), ECONNRESET);
	rogue_close(&r);
}

static const struct sdp_case cases[] = {
	CASE(credit_messages_wait, CASE_SDP_ONLY | CASE_LONG),
	CASE(rdma_pieces_wait, CASE_SDP_ONLY | CASE_LONG),
	CASE(nic_pieces_wait, CASE_SDP_ONLY | CASE_LONG),
	CASE(ring_space_without_ring, CASE_SDP_ONLY),
	CASE(ring_without_agreement, CASE_SDP_ONLY),
	CASE(rings_that_cannot_be, CASE_SDP_ONLY | CASE_LONG),
	CASE(second_ring, CASE_SDP_ONLY),
	CASE(space_that_was_not_used, CASE_SDP_ONLY | CASE_LONG),
	CASE(space_taken_back, CASE_SDP_ONLY | CASE_LONG),
	CASE(written_without_ring, CASE_SDP_ONLY),
	CASE(nothing_written, CASE_SDP_ONLY),
	CASE(several_windows, CASE_SDP_ONLY),
	CASE(windows_without_numbers, CASE_SDP_ONLY),
	CASE(piece_without_space, CASE_SDP_ONLY),
	CASE(piece_beyond_the_end, CASE_SDP_ONLY),
	CASE(sent_after_it_was_written, CASE_SDP_ONLY),
	CASE(acknowledged_before_it_was_sent, CASE_SDP_ONLY),
	CASE(written_outside, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
