// SPDX-License-Identifier: GPL-2.0
/*
 * Zero copy with a peer that does not do what the module does: it reads when it
 * likes, reports what it likes, offers memory that it has not, and does not
 * answer.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_verbs.h"

#define SEED	41
#define THRESH	4096
/* What is offered to the peer, and what the peer offers, which is its ring. */
#define OFFER	(2 * VERBS_RING)
#define BUFS	16
/* How long the peer may leave a question unanswered. */
#define PATIENCE_MS	300

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

/* ---- the module writes ---- */

static unsigned char out[OFFER];

static long op_send_offer(int fd)
{
	return send(fd, out, sizeof(out), MSG_NOSIGNAL);
}

/* A write that has come as an offer. */
static struct rogue rogue_offered(struct blocked *b)
{
	struct rogue r = rogue_connect();

	pattern_fill(out, sizeof(out), SEED, 0);
	block_start(b, op_send_offer, r.fd);
	verbs_expect(&r.peer, MID_SRCAVAIL);
	CHECK_EQ(r.peer.source.len, OFFER);
	return r;
}

/* The writer, or the next who asks, is told. */
static void expect_send_fails(struct rogue *r, struct blocked *b, long before)
{
	WAIT_FOR(sdp_stat("ProtocolErrors") == before + 1);
	if (block_join(b) < 0)
		CHECK_EQ(errno, EPROTO);
	else
		CHECK_EQ(recv_until_end(r->fd), EPROTO);
	rogue_close(r);
}

/* Reads so many bytes of the offer, and sees that they are the right ones. */
static void read_offer(struct rogue *r, uint32_t pos, uint32_t len)
{
	const struct verbs_source *source = &r->peer.source;

	CHECK_EQ(verbs_read(&r->peer, source->rkey, source->vaddr + pos, len),
		 IBV_WC_SUCCESS);
	pattern_verify(r->peer.ring, len, SEED, pos);
}

/* The rest of the offer comes as messages, among others. */
static void expect_copies(struct rogue *r, uint32_t pos)
{
	struct verbs_msg msg;

	while (pos < OFFER) {
		msg = verbs_next(&r->peer);
		if (msg.mid != MID_DATA)
			continue;
		pattern_verify(msg.payload, msg.len, SEED, pos);
		pos += msg.len;
	}
}

/* iWARP ends the connection, and tells the other end why. */
static void expect_no_access(struct rogue *r, uint64_t vaddr, uint32_t len)
{
	CHECK_EQ(verbs_read(&r->peer, r->peer.source.rkey, vaddr, len),
		 over_iwarp() ? IBV_WC_WR_FLUSH_ERR : IBV_WC_REM_ACCESS_ERR);
}

static void read_in_pieces(void)
{
	struct blocked b;
	struct rogue r = rogue_offered(&b);
	uint32_t pos, len;

	for (pos = 0; pos < OFFER; pos += len) {
		len = pos + 1000 < OFFER ? 1000 : OFFER - pos;
		read_offer(&r, pos, len);
		verbs_send_read(&r.peer, len);
	}
	CHECK_EQ(block_join(&b), OFFER);
	CHECK_EQ(info_of(r.fd).sdpi_zcopy_sent, OFFER);
	rogue_close(&r);
}

/* What was read has arrived, and the rest comes by copy. */
static void read_in_part_and_refused(void)
{
	struct blocked b;
	struct rogue r = rogue_offered(&b);
	struct verbs_msg msg;
	uint32_t pos = 1234;

	read_offer(&r, 0, pos);
	verbs_send_read(&r.peer, pos);
	verbs_send(&r.peer, MID_SENDSM, NULL, 0);
	while (pos < OFFER) {
		msg = verbs_next(&r.peer);
		if (msg.mid == MID_SRCAVAILCANCEL || msg.mid == MID_CHRCVBUF)
			continue;
		CHECK_EQ(msg.mid, MID_DATA);
		pattern_verify(msg.payload, msg.len, SEED, pos);
		pos += msg.len;
	}
	CHECK_EQ(block_join(&b), OFFER);
	CHECK_EQ(info_of(r.fd).sdpi_zcopy_sent, 1234);
	rogue_close(&r);
}

/* All is accounted for when all has arrived, whatever way it took. */
static void read_in_part_of_a_write_that_has_returned(void)
{
	struct verbs_offer offer = { FEAT_ALL | FEAT_ADVERTS, 4, 0 };
	struct rogue r = rogue_accepted(zcopy_listener("async"), BUFS, 3 * BUFS, offer);

	set_int(r.fd, SOL_TCP, SDP_ZCOPY_THRESH, THRESH);
	pattern_fill(out, sizeof(out), SEED, 0);
	CHECK_EQ(op_send_offer(r.fd), OFFER);
	verbs_expect(&r.peer, MID_SRCAVAIL);
	read_offer(&r, 0, 4096);
	verbs_send_read(&r.peer, 4096);
	verbs_send(&r.peer, MID_SENDSM, NULL, 0);
	expect_copies(&r, 4096);
	WAIT_FOR(ioctl_int(r.fd, SIOCOUTQ) == 0);
	CHECK_EQ(info_of(r.fd).sdpi_zcopy_sent, 4096);
	rogue_close(&r);
}

/* A program's memory is its own again when the write returns. */
static void read_after_the_write(void)
{
	struct blocked b;
	struct rogue r = rogue_offered(&b);

	verbs_send_read(&r.peer, OFFER);
	CHECK_EQ(block_join(&b), OFFER);
	expect_no_access(&r, r.peer.source.vaddr, 1);
	rogue_close(&r);
}

/* The peer may do itself what the writer would do now. */
static void key_ended_with_the_report(void)
{
	uint32_t len = htobe32(OFFER);
	struct blocked b;
	struct rogue r = rogue_offered(&b);
	const struct verbs_source *source = &r.peer.source;

	CHECK(r.peer.peer_cap & CAP_INVALIDATE);
	read_offer(&r, 0, VERBS_RING);
	read_offer(&r, VERBS_RING, OFFER - VERBS_RING);
	verbs_send_ending(&r.peer, MID_RDMARDCOMPL, &len, sizeof(len), source->rkey);
	CHECK_EQ(block_join(&b), OFFER);
	CHECK_EQ(info_of(r.fd).sdpi_zcopy_sent, OFFER);
	expect_no_access(&r, source->vaddr, 1);
	rogue_close(&r);
}

/* Who ends the key and has not read does not get the memory any more. */
static void key_ended_too_early(void)
{
	long before = pinned_pages();
	struct blocked b;
	struct rogue r = rogue_offered(&b);

	verbs_send_ending(&r.peer, MID_SENDSM, NULL, 0, r.peer.source.rkey);
	expect_copies(&r, 0);
	CHECK_EQ(block_join(&b), OFFER);
	CHECK_EQ(info_of(r.fd).sdpi_zcopy_sent, 0);
	rogue_close(&r);
	expect_pinned(before);
}

/* There is no such key: that is for the device to find out. */
static void another_key_ended(void)
{
	uint32_t len = htobe32(OFFER);
	long before = pinned_pages();
	struct blocked b;
	struct rogue r = rogue_offered(&b);

	verbs_send_ending(&r.peer, MID_RDMARDCOMPL, &len, sizeof(len),
			  r.peer.source.rkey ^ 0x55);
	CHECK_EQ(block_join(&b), -1);
	CHECK_EQ(errno, ECONNRESET);
	rogue_close(&r);
	expect_pinned(before);
}

static void read_outside_of_the_offer(void)
{
	struct blocked b;
	struct rogue r = rogue_offered(&b);

	expect_no_access(&r, r.peer.source.vaddr + OFFER - 1, 2);
	CHECK_EQ(block_join(&b), -1);
	rogue_close(&r);
}

static void reported_too_much(void)
{
	long before = sdp_stat("ProtocolErrors");
	struct blocked b;
	struct rogue r = rogue_offered(&b);

	verbs_send_read(&r.peer, OFFER + 1);
	expect_send_fails(&r, &b, before);
}

static void reported_unoffered(void)
{
	struct rogue r = rogue_connect();
	long before = sdp_stat("ProtocolErrors");

	verbs_send_read(&r.peer, 1);
	rogue_expect_broken(&r, before);
}

static void reported_twice(void)
{
	long before = sdp_stat("ProtocolErrors");
	struct blocked b;
	struct rogue r = rogue_offered(&b);

	verbs_send_read(&r.peer, OFFER);
	CHECK_EQ(block_join(&b), OFFER);
	verbs_send_read(&r.peer, OFFER);
	rogue_expect_broken(&r, before);
}

static void reported_unseen(void)
{
	long before = sdp_stat("ProtocolErrors");
	struct blocked b;
	struct rogue r = rogue_offered(&b);

	r.peer.mseq_ack--;
	r.peer.bufs++;
	verbs_send_read(&r.peer, OFFER);
	expect_send_fails(&r, &b, before);
}

static void refused_unoffered(void)
{
	struct rogue r = rogue_connect();
	long before = sdp_stat("ProtocolErrors");

	verbs_send(&r.peer, MID_SENDSM, NULL, 0);
	rogue_expect_broken(&r, before);
}

/* Says nothing at all when it is asked for an end. */
static void cancel_unanswered(void)
{
	struct blocked b;
	struct rogue r = rogue_connect();

	set_int(r.fd, SOL_TCP, TCP_USER_TIMEOUT, PATIENCE_MS);
	block_start(&b, op_send_offer, r.fd);
	verbs_expect(&r.peer, MID_SRCAVAIL);
	verbs_expect(&r.peer, MID_SRCAVAILCANCEL);
	CHECK_EQ(block_join(&b), -1);
	CHECK_EQ(errno, ETIMEDOUT);
	rogue_close(&r);
}

/* A program that is killed does not wait for such a peer. */
static void killed_unanswered(void)
{
	struct rogue r = rogue_connect();
	struct stopwatch start;
	long before = pinned_pages();
	pid_t pid = fork_child();

	if (!pid) {
		op_send_offer(r.fd);
		_exit(0);
	}
	verbs_expect(&r.peer, MID_SRCAVAIL);
	start = start_watch();
	kill_child(pid);
	CHECK(watch_ms(start) < wait_limit_ms());
	expect_pinned(before);
	rogue_close(&r);
}

/* ---- the module reads ---- */

static unsigned char in[OFFER];

static long op_recv_offer(int fd)
{
	return recv(fd, in, sizeof(in), 0);
}

static struct rogue rogue_reading(struct blocked *b)
{
	struct rogue r = rogue_connect();

	block_start(b, op_recv_offer, r.fd);
	return r;
}

static void offered_to_a_reader(void)
{
	struct blocked b;
	struct rogue r = rogue_reading(&b);
	struct verbs_source source = verbs_own_source(&r.peer, SEED, 0,
						      VERBS_RING);
	struct verbs_msg msg;
	uint32_t len;

	verbs_send_source(&r.peer, &source, NULL, 0);
	msg = verbs_expect(&r.peer, MID_RDMARDCOMPL);
	memcpy(&len, msg.payload, sizeof(len));
	CHECK_EQ(be32toh(len), VERBS_RING);
	CHECK_EQ(block_join(&b), VERBS_RING);
	pattern_verify(in, VERBS_RING, SEED, 0);
	CHECK_EQ(info_of(r.fd).sdpi_zcopy_received, VERBS_RING);
	rogue_close(&r);
}

/*
 * A peer that wants its keys ended has to have such as can be; this one has not,
 * which its device finds out.  A key that another offer needs is left alone.
 */
static void offered_with_a_key_to_end(void)
{
	struct rogue r = rogue_connect_as(CAP_INVALIDATE);
	struct verbs_source source = verbs_own_source(&r.peer, SEED, 0,
						      VERBS_RING);
	uint64_t before = info_of(r.fd).sdpi_msgs_in;
	uint32_t half = VERBS_RING / 2;

	source.len = half;
	verbs_send_source(&r.peer, &source, NULL, 0);
	source.vaddr += half;
	verbs_send_source(&r.peer, &source, NULL, 0);
	WAIT_FOR(info_of(r.fd).sdpi_msgs_in == before + 2);
	CHECK_EQ(recv(r.fd, in, half, 0), half);
	verbs_expect(&r.peer, MID_RDMARDCOMPL);
	CHECK_EQ(recv(r.fd, in + half, half, 0), half);
	pattern_verify(in, VERBS_RING, SEED, 0);
	CHECK_EQ(verbs_failure(&r.peer), IBV_WC_REM_INV_REQ_ERR);
	rogue_close(&r);
}

/* As classic peers do: the first bytes are in the message. */
static void offered_with_a_head(void)
{
	struct rogue r = rogue_connect();
	struct verbs_source source = verbs_own_source(&r.peer, SEED, 0,
						      VERBS_RING);
	size_t got = 0;

	verbs_send_source(&r.peer, &source, r.peer.ring, 100);
	while (got < VERBS_RING) {
		ssize_t n = CHECK_OK(recv(r.fd, in, sizeof(in), 0));

		pattern_verify(in, n, SEED, got);
		got += n;
	}
	verbs_expect(&r.peer, MID_RDMARDCOMPL);
	CHECK_EQ(info_of(r.fd).sdpi_zcopy_received, VERBS_RING - 100);
	rogue_close(&r);
}

/* Nobody reads; who asks for an end gets it at once. */
static void offer_cancelled(void)
{
	struct rogue r = rogue_connect();
	struct verbs_source source = verbs_own_source(&r.peer, SEED, 0,
						      VERBS_RING);

	verbs_send_source(&r.peer, &source, NULL, 0);
	verbs_send(&r.peer, MID_SRCAVAILCANCEL, NULL, 0);
	verbs_expect(&r.peer, MID_SENDSM);
	verbs_send(&r.peer, MID_DATA, r.peer.ring, VERBS_RING);
	recv_pattern(r.fd, SEED, 0, VERBS_RING, VERBS_RING);
	CHECK_EQ(info_of(r.fd).sdpi_zcopy_received, 0);
	rogue_close(&r);
}

static void nothing_cancelled(void)
{
	struct rogue r = rogue_connect();

	verbs_own_source(&r.peer, SEED, 0, VERBS_RING);
	verbs_send(&r.peer, MID_SRCAVAILCANCEL, NULL, 0);
	verbs_send(&r.peer, MID_DATA, r.peer.ring, VERBS_RING);
	recv_pattern(r.fd, SEED, 0, VERBS_RING, VERBS_RING);
	rogue_close(&r);
}

/* That is for the device to find out. */
static void read_fails(struct rogue *r, struct blocked *b,
		       const struct verbs_source *source)
{
	long before = pinned_pages();

	verbs_send_source(&r->peer, source, NULL, 0);
	CHECK_EQ(block_join(b), -1);
	CHECK_EQ(errno, ECONNRESET);
	expect_pinned(before);
	rogue_close(r);
}

static void offer_of_another_key(void)
{
	struct blocked b;
	struct rogue r = rogue_reading(&b);
	struct verbs_source source = verbs_own_source(&r.peer, SEED, 0,
						      VERBS_RING);

	source.rkey ^= 0x55;
	read_fails(&r, &b, &source);
}

static void offer_of_more_than_there_is(void)
{
	struct blocked b;
	struct rogue r = rogue_reading(&b);
	struct verbs_source source = verbs_own_source(&r.peer, SEED, 0,
						      VERBS_RING);

	source.len = -1U;
	source.vaddr += VERBS_RING - 100;
	read_fails(&r, &b, &source);
}

static void offer_of_nothing(void)
{
	struct rogue r = rogue_connect();
	struct verbs_source source = verbs_own_source(&r.peer, SEED, 0, 0);
	long before = sdp_stat("ProtocolErrors");

	verbs_send_source(&r.peer, &source, NULL, 0);
	rogue_expect_broken(&r, before);
}

/* All of it is in the message, so that nothing is left to read. */
static void offer_of_its_head(void)
{
	struct rogue r = rogue_connect();
	struct verbs_source source = verbs_own_source(&r.peer, SEED, 0, 100);
	long before = sdp_stat("ProtocolErrors");

	verbs_send_source(&r.peer, &source, r.peer.ring, 100);
	rogue_expect_broken(&r, before);
}

static void too_many_offers(void)
{
	struct rogue r = rogue_connect();
	struct verbs_source source = verbs_own_source(&r.peer, SEED, 0,
						      VERBS_RING);
	long before = sdp_stat("ProtocolErrors");
	int i;

	for (i = 0; i < 5; i++)
		verbs_send_source(&r.peer, &source, NULL, 0);
	rogue_expect_broken(&r, before);
}

static void overtaken(uint8_t mid, uint32_t len)
{
	struct rogue r = rogue_connect();
	struct verbs_source source = verbs_own_source(&r.peer, SEED, 0,
						      VERBS_RING);
	long before = sdp_stat("ProtocolErrors");

	verbs_send_source(&r.peer, &source, NULL, 0);
	verbs_send(&r.peer, mid, r.peer.ring, len);
	rogue_expect_broken(&r, before);
}

static void overtaken_by_data(void)
{
	overtaken(MID_DATA, 10);
}

static void overtaken_by_the_end(void)
{
	overtaken(MID_DISCONN, 0);
}

static const struct sdp_case cases[] = {
	CASE(read_in_pieces, CASE_SDP_ONLY),
	CASE(read_in_part_and_refused, CASE_SDP_ONLY),
	CASE(read_in_part_of_a_write_that_has_returned, CASE_SDP_ONLY),
	CASE(read_after_the_write, CASE_SDP_ONLY),
	CASE(key_ended_with_the_report, CASE_SDP_ONLY),
	CASE(key_ended_too_early, CASE_SDP_ONLY),
	CASE(another_key_ended, CASE_SDP_ONLY),
	CASE(read_outside_of_the_offer, CASE_SDP_ONLY),
	CASE(reported_too_much, CASE_SDP_ONLY),
	CASE(reported_unoffered, CASE_SDP_ONLY),
	CASE(reported_twice, CASE_SDP_ONLY),
	CASE(reported_unseen, CASE_SDP_ONLY),
	CASE(refused_unoffered, CASE_SDP_ONLY),
	CASE(cancel_unanswered, CASE_SDP_ONLY),
	CASE(killed_unanswered, CASE_SDP_ONLY),
	CASE(offered_to_a_reader, CASE_SDP_ONLY),
	CASE(offered_with_a_key_to_end, CASE_SDP_ONLY),
	CASE(offered_with_a_head, CASE_SDP_ONLY),
	CASE(offer_cancelled, CASE_SDP_ONLY),
	CASE(nothing_cancelled, CASE_SDP_ONLY),
	CASE(offer_of_another_key, CASE_SDP_ONLY),
	CASE(offer_of_more_than_there_is, CASE_SDP_ONLY),
	CASE(offer_of_nothing, CASE_SDP_ONLY),
	CASE(offer_of_its_head, CASE_SDP_ONLY),
	CASE(too_many_offers, CASE_SDP_ONLY),
	CASE(overtaken_by_data, CASE_SDP_ONLY),
	CASE(overtaken_by_the_end, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return zcopy_main("sync", argc, argv, cases, ARRAY_SIZE(cases));
}
