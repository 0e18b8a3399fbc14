// SPDX-License-Identifier: GPL-2.0
/*
 * Zero copy with a peer that makes several offers before anybody reads: a read
 * takes them all, and has several reads of the device under way.  And with one that
 * leaves a writer who is killed waiting.  What a script can say is in sdp_script.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_verbs.h"

#define SEED	43
/* What is offered is less, and is read if there is room for all of it. */
#define THRESH	VERBS_RING
#define BUFS	16

static struct rogue rogue_connect_as(uint8_t cap)
{
	struct verbs_offer offer = { FEAT_ALL | FEAT_ADVERTS, 4, cap };
	struct rogue r = rogue_accepted(new_listener(1), BUFS, 3 * BUFS, offer);

	set_int(r.fd, SOL_TCP, SDP_ZCOPY_THRESH, THRESH);
	CHECK(info_of(r.fd).sdpi_features & FEAT_ADVERTS);
	return r;
}

static struct rogue rogue_connect(void)
{
	return rogue_connect_as(0);
}

static unsigned char in[3 * VERBS_RING];

/* Another part of the peer's ring, of so many equal ones. */
static struct verbs_source nth_part(const struct verbs_source *whole,
				    uint32_t n, uint32_t parts)
{
	uint32_t len = whole->len / parts;

	return (struct verbs_source){
		.len = len,
		.rkey = whole->rkey,
		.vaddr = whole->vaddr + n * len,
	};
}

/* A peer that has offered its ring in so many parts, and all have come. */
static struct rogue rogue_with_offers(uint32_t parts)
{
	struct rogue r = rogue_connect();
	struct verbs_source all = verbs_own_source(&r.peer, SEED, 0,
						   VERBS_RING);
	uint64_t before = info_of(r.fd).sdpi_msgs_in;
	struct verbs_source source;
	uint32_t n;

	for (n = 0; n < parts; n++) {
		source = nth_part(&all, n, parts);
		verbs_send_source(&r.peer, &source, NULL, 0);
	}
	WAIT_FOR(info_of(r.fd).sdpi_msgs_in == before + parts);
	return r;
}

static uint32_t expect_reported(struct rogue *r)
{
	struct verbs_msg msg = verbs_expect(&r->peer, MID_RDMARDCOMPL);
	uint32_t len;

	memcpy(&len, msg.payload, sizeof(len));
	return be32toh(len);
}

/* A read takes all that is offered by then, also if it does not have to. */
static void several_offers_in_one_read(void)
{
	struct rogue r = rogue_with_offers(4);
	long before = pinned_pages();
	uint32_t told = 0;

	CHECK_EQ(recv(r.fd, in + 100, VERBS_RING + 50, 0), VERBS_RING);
	pattern_verify(in + 100, VERBS_RING, SEED, 0);
	CHECK_EQ(in[100 + VERBS_RING], 0);
	CHECK_EQ(info_of(r.fd).sdpi_zcopy_received, VERBS_RING);
	while (told < VERBS_RING)
		told += expect_reported(&r);
	CHECK_EQ(told, VERBS_RING);
	expect_pinned(before);
	rogue_close(&r);
}

/* Places that a read is scattered to are filled one after the other. */
static void several_offers_to_several_places(void)
{
	struct rogue r = rogue_with_offers(2);
	uint32_t half = VERBS_RING / 2;
	struct iovec iov[] = {
		{ in + VERBS_RING + 1, half },
		{ in + 3, half },
		{ in + 2 * VERBS_RING, half },
	};
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = ARRAY_SIZE(iov) };

	CHECK_EQ(recvmsg(r.fd, &msg, 0), VERBS_RING);
	pattern_verify(iov[0].iov_base, half, SEED, 0);
	pattern_verify(iov[1].iov_base, half, SEED, half);
	CHECK_EQ(in[2 * VERBS_RING], 0);
	rogue_close(&r);
}

static long op_recv_much(int fd)
{
	return recv(fd, in, sizeof(in), 0);
}

/*
 * What is copied between two offers is between them in the stream.  The read has
 * more room than it waits for: whoever sleeps with less than a page left has
 * offers refused.
 */
static void data_between_offers(void)
{
	struct rogue r = rogue_connect();
	struct verbs_source all = verbs_own_source(&r.peer, SEED, 0,
						   VERBS_RING);
	struct verbs_source first = nth_part(&all, 0, 2);
	struct verbs_source second = nth_part(&all, 1, 2);
	struct blocked b;
	int n;

	set_int(r.fd, SOL_SOCKET, SO_RCVLOWAT, 2 * VERBS_RING);
	for (n = 0; n < 5; n++) {
		block_start(&b, op_recv_much, r.fd);
		verbs_send_source(&r.peer, &first, NULL, 0);
		CHECK_EQ(expect_reported(&r), first.len);
		verbs_send(&r.peer, MID_DATA, r.peer.ring, VERBS_RING);
		verbs_send_source(&r.peer, &second, NULL, 0);
		CHECK_EQ(expect_reported(&r), second.len);
		CHECK_EQ(block_join(&b), 2 * VERBS_RING);
		pattern_verify(in, first.len, SEED, 0);
		pattern_verify(in + first.len, VERBS_RING, SEED, 0);
		pattern_verify(in + first.len + VERBS_RING, second.len, SEED,
			       first.len);
		memset(in, 0, sizeof(in));
	}
	rogue_close(&r);
}

/* What came before the device found out counts. */
static void second_offer_is_a_lie(void)
{
	struct rogue r = rogue_connect();
	struct verbs_source all = verbs_own_source(&r.peer, SEED, 0,
						   VERBS_RING);
	struct verbs_source good = nth_part(&all, 0, 2);
	struct verbs_source bad = nth_part(&all, 1, 2);
	uint64_t before = info_of(r.fd).sdpi_msgs_in;
	long pinned = pinned_pages();

	bad.rkey ^= 0x55;
	verbs_send_source(&r.peer, &good, NULL, 0);
	verbs_send_source(&r.peer, &bad, NULL, 0);
	WAIT_FOR(info_of(r.fd).sdpi_msgs_in == before + 2);
	CHECK_EQ(recv(r.fd, in, VERBS_RING, MSG_WAITALL), good.len);
	pattern_verify(in, good.len, SEED, 0);
	CHECK_EQ(recv_until_end(r.fd), ECONNRESET);
	expect_pinned(pinned);
	rogue_close(&r);
}

/*
 * A peer that wants its keys ended has to have such as can be; this one has not,
 * which its device finds out.  A key that another offer needs is left alone.
 */
static void offered_with_a_key_to_end(void)
{
	struct rogue r = rogue_connect_as(CAP_INVALIDATE);
	struct verbs_source all = verbs_own_source(&r.peer, SEED, 0, VERBS_RING);
	uint64_t before = info_of(r.fd).sdpi_msgs_in;
	struct verbs_source source;
	uint32_t n, half = VERBS_RING / 2;

	for (n = 0; n < 2; n++) {
		source = nth_part(&all, n, 2);
		verbs_send_source(&r.peer, &source, NULL, 0);
	}
	WAIT_FOR(info_of(r.fd).sdpi_msgs_in == before + 2);
	CHECK_EQ(recv(r.fd, in, half, 0), half);
	CHECK_EQ(expect_reported(&r), half);
	CHECK_EQ(recv(r.fd, in + half, half, 0), half);
	pattern_verify(in, VERBS_RING, SEED, 0);
	CHECK_EQ(verbs_failure(&r.peer), IBV_WC_REM_INV_REQ_ERR);
	rogue_close(&r);
}

/* A program that is killed does not wait for a peer that does not answer. */
static void killed_unanswered(void)
{
	struct rogue r = rogue_connect();
	struct stopwatch start;
	long before = pinned_pages();
	pid_t pid = fork_child();

	if (!pid) {
		send_pattern(r.fd, SEED, 0, 2 * THRESH, 2 * THRESH);
		_exit(0);
	}
	verbs_expect(&r.peer, MID_SRCAVAIL);
	start = start_watch();
	kill_child(pid);
	CHECK(watch_ms(start) < wait_limit_ms());
	expect_pinned(before);
	rogue_close(&r);
}

static const struct sdp_case cases[] = {
	CASE(several_offers_in_one_read, CASE_SDP_ONLY),
	CASE(several_offers_to_several_places, CASE_SDP_ONLY),
	CASE(data_between_offers, CASE_SDP_ONLY),
	CASE(second_offer_is_a_lie, CASE_SDP_ONLY),
	CASE(offered_with_a_key_to_end, CASE_SDP_ONLY),
	CASE(killed_unanswered, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return zcopy_main("sync", argc, argv, cases, ARRAY_SIZE(cases));
}
