// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of a reader that the peer may write to (SinkAvail), with a peer that does not do
 * what the module does: it writes too much, elsewhere, or too late, reports what it likes,
 * does not answer, and advertises what it has not.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_verbs.h"

#define SEED	43
/* From how many bytes on these connections do without a copy. */
#define LEAST	4096
/* What a read has room for, and what is written to a peer, which takes a part of it. */
#define LEN	(2 * VERBS_RING)
#define BUFS	16
#define MARK	0xa5
/* How long a read waits that waits in vain. */
#define SHORTLY_MS	200

static struct rogue rogue_connect_as(const char *mode)
{
	struct verbs_offer offer = { FEAT_ALL | FEAT_ADVERTS | FEAT_SINK, 4, 0 };
	struct rogue r = rogue_accepted(zcopy_listener(mode), BUFS, 3 * BUFS, offer);

	set_int(r.fd, SOL_TCP, SDP_ZCOPY_THRESH, LEAST);
	return r;
}

static struct rogue rogue_connect(void)
{
	return rogue_connect_as("sync");
}

/* ---- the module reads ---- */

static unsigned char in[LEN];

static long op_recv_all(int fd)
{
	return recv(fd, in, sizeof(in), 0);
}

/* No byte that is not the peer's to write was written. */
static void expect_mark(size_t from)
{
	expect_bytes(in + from, sizeof(in) - from, MARK);
}

/* The next of the messages that tells of memory. */
static void expect_sink(struct rogue *r)
{
	while (verbs_next(&r->peer).mid != MID_SINKAVAIL)
		;
	CHECK_EQ(r->peer.sink.size, LEN);
}

/*
 * A read whose memory the peer may write to, after one that has got as much; and how long
 * it waits, 0 = for ever.
 */
static struct rogue rogue_reading_for(struct blocked *b, unsigned int ms)
{
	struct rogue r = rogue_connect();

	block_start(b, op_recv_all, r.fd);
	verbs_own_source(&r.peer, SEED, 0, VERBS_RING);
	verbs_send(&r.peer, MID_DATA, r.peer.ring, VERBS_RING);
	CHECK_EQ(block_join(b), VERBS_RING);
	pattern_verify(in, VERBS_RING, SEED, 0);
	memset(in, MARK, sizeof(in));
	set_timeout(r.fd, SO_RCVTIMEO, ms);
	block_run(b, op_recv_all, r.fd);
	expect_sink(&r);
	CHECK_EQ(r.peer.sink.count, 1);
	return r;
}

static struct rogue rogue_reading(struct blocked *b)
{
	return rogue_reading_for(b, 0);
}

/* Writes pattern bytes at a place in the memory. */
static enum ibv_wc_status write_at(struct rogue *r, uint32_t at, uint32_t len)
{
	pattern_fill(r->peer.ring, len, SEED, at);
	return verbs_access(&r->peer, IBV_WR_RDMA_WRITE, r->peer.sink.rkey,
			    r->peer.sink.vaddr + at, len);
}

static void report(struct rogue *r, uint32_t len)
{
	len = htobe32(len);
	verbs_send(&r->peer, MID_RDMAWRCOMPL, &len, sizeof(len));
}

/* Data for a read, in place of a write; so many bytes of the pattern. */
static void send_data(struct rogue *r, uint32_t len)
{
	pattern_fill(r->peer.ring, len, SEED, 0);
	verbs_send(&r->peer, MID_DATA, r->peer.ring, len);
}

/* The read gets so many bytes of the pattern, and no other is written to. */
static void expect_read(struct blocked *b, uint32_t len)
{
	CHECK_EQ(block_join(b), len);
	pattern_verify(in, len, SEED, 0);
	expect_mark(len);
}

/* iWARP ends the connection, and tells the other end why. */
static enum ibv_wc_status no_access(void)
{
	return over_iwarp() ? IBV_WC_WR_FLUSH_ERR : IBV_WC_REM_ACCESS_ERR;
}

/*
 * The same where the peer may not: the connection ends.  Over iWARP the write completes
 * when its own device has taken it.
 */
static void write_refused(struct rogue *r, uint32_t at, uint32_t len)
{
	CHECK_EQ(write_at(r, at, len),
		 over_iwarp() ? IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR);
	WAIT_FOR(poll_now(r->fd) & (POLLERR | POLLHUP));
}

static void written_in_pieces(void)
{
	struct blocked b;
	struct rogue r = rogue_reading(&b);

	CHECK_EQ(write_at(&r, 0, 1000), IBV_WC_SUCCESS);
	CHECK_EQ(write_at(&r, 1000, VERBS_RING), IBV_WC_SUCCESS);
	report(&r, 1000 + VERBS_RING);
	expect_read(&b, 1000 + VERBS_RING);
	CHECK_EQ(info_of(r.fd).sdpi_zcopy_received, 1000 + VERBS_RING);
	rogue_close(&r);
}

/* What the device has written is the read's in full, and no more. */
static void written_beyond_the_end(void)
{
	struct blocked b;
	struct rogue r = rogue_reading(&b);

	write_refused(&r, LEN - 100, 101);
	CHECK_EQ(block_join(&b), -1);
	rogue_close(&r);
}

static void written_before_the_start(void)
{
	struct blocked b;
	struct rogue r = rogue_reading(&b);

	r.peer.sink.vaddr--;
	write_refused(&r, 0, 100);
	CHECK_EQ(block_join(&b), -1);
	expect_mark(0);
	rogue_close(&r);
}

static void read_by_the_peer(void)
{
	struct blocked b;
	struct rogue r = rogue_reading(&b);

	CHECK_EQ(verbs_read(&r.peer, r.peer.sink.rkey, r.peer.sink.vaddr, 100), no_access());
	CHECK_EQ(block_join(&b), -1);
	rogue_close(&r);
}

/* The memory is the program's again when the read returns. */
static void written_after_the_report(void)
{
	struct blocked b;
	struct rogue r = rogue_reading(&b);

	CHECK_EQ(write_at(&r, 0, 1000), IBV_WC_SUCCESS);
	report(&r, 1000);
	CHECK_EQ(block_join(&b), 1000);
	memset(in, MARK, sizeof(in));
	write_refused(&r, 0, 1000);
	expect_mark(0);
	rogue_close(&r);
}

static void written_after_data(void)
{
	struct blocked b;
	struct rogue r = rogue_reading(&b);

	send_data(&r, 100);
	expect_read(&b, 100);
	memset(in, MARK, sizeof(in));
	write_refused(&r, 0, 1000);
	expect_mark(0);
	rogue_close(&r);
}

/* The end of the stream ends that, too. */
static void written_after_the_end(void)
{
	struct blocked b;
	struct rogue r = rogue_reading(&b);

	verbs_send(&r.peer, MID_DISCONN, NULL, 0);
	CHECK_EQ(block_join(&b), 0);
	write_refused(&r, 0, 1000);
	expect_mark(0);
	rogue_close(&r);
}

static void reported_too_much(void)
{
	long before = sdp_stat("ProtocolErrors");
	struct blocked b;
	struct rogue r = rogue_reading(&b);

	report(&r, LEN + 1);
	CHECK_EQ(block_join(&b), -1);
	CHECK_EQ(errno, EPROTO);
	CHECK_EQ(sdp_stat("ProtocolErrors"), before + 1);
	rogue_close(&r);
}

static void reported_twice(void)
{
	long before = sdp_stat("ProtocolErrors");
	struct blocked b;
	struct rogue r = rogue_reading(&b);

	CHECK_EQ(write_at(&r, 0, 1000), IBV_WC_SUCCESS);
	report(&r, 1000);
	report(&r, 1000);
	expect_read(&b, 1000);
	WAIT_FOR(sdp_stat("ProtocolErrors") == before + 1);
	CHECK_EQ(recv_until_end(r.fd), EPROTO);
	rogue_close(&r);
}

/* A read that waits no longer asks for its memory, and has it when that is answered. */
static struct rogue rogue_cancelling(struct blocked *b)
{
	struct rogue r = rogue_reading_for(b, SHORTLY_MS);

	verbs_expect(&r.peer, MID_SINKAVAILCANCEL);
	return r;
}

static void expect_again(struct blocked *b)
{
	CHECK_EQ(block_join(b), -1);
	CHECK_EQ(errno, EAGAIN);
	expect_mark(0);
}

static void cancelled(void)
{
	struct blocked b;
	struct rogue r = rogue_cancelling(&b);

	verbs_send(&r.peer, MID_SINKCANCELACK, NULL, 0);
	expect_again(&b);
	write_refused(&r, 0, 1000);
	expect_mark(0);
	rogue_close(&r);
}

/* What was written before that was known is not lost. */
static void cancelled_too_late(void)
{
	struct blocked b;
	struct rogue r = rogue_cancelling(&b);

	CHECK_EQ(write_at(&r, 0, 1000), IBV_WC_SUCCESS);
	report(&r, 1000);
	verbs_send(&r.peer, MID_SINKCANCELACK, NULL, 0);
	expect_read(&b, 1000);
	set_timeout(r.fd, SO_RCVTIMEO, 0);
	send_data(&r, 100);
	recv_pattern(r.fd, SEED, 0, 100, 100);
	rogue_close(&r);
}

/* Nor does a peer that says nothing keep the read, or its memory. */
static void cancel_unanswered(void)
{
	long before = pinned_pages();
	struct blocked b;
	struct rogue r = rogue_cancelling(&b);

	expect_again(&b);
	write_refused(&r, 0, 1000);
	expect_mark(0);
	rogue_close(&r);
	expect_pinned(before);
}

/* One at a time: a read that comes meanwhile does without. */
static void next_read_before_the_answer(void)
{
	long before = sdp_stat("SinkAdverts");
	struct blocked b;
	struct rogue r = rogue_cancelling(&b);

	CHECK_EQ(sdp_stat("SinkAdverts"), before + 1);
	expect_again(&b);
	set_timeout(r.fd, SO_RCVTIMEO, 0);
	block_start(&b, op_recv_all, r.fd);
	send_data(&r, 100);
	expect_read(&b, 100);
	CHECK_EQ(sdp_stat("SinkAdverts"), before + 1);
	rogue_close(&r);
}

/* What was offered before a refusal was seen is void, and does not end the next thing. */
static void offer_that_crosses_a_refusal(void)
{
	struct rogue r = rogue_connect();
	struct verbs_source source = verbs_own_source(&r.peer, SEED, 0, VERBS_RING);
	struct blocked b;

	block_start(&b, op_recv_all, r.fd);
	verbs_send(&r.peer, MID_DATA, r.peer.ring, VERBS_RING);
	CHECK_EQ(block_join(&b), VERBS_RING);
	verbs_send_source(&r.peer, &source, NULL, 0);
	verbs_send(&r.peer, MID_SRCAVAILCANCEL, NULL, 0);
	while (verbs_next(&r.peer).mid != MID_SENDSM)
		;
	memset(in, MARK, sizeof(in));
	block_start(&b, op_recv_all, r.fd);
	expect_sink(&r);
	r.peer.mseq_ack -= 2;
	r.peer.bufs += 2;
	verbs_send_source(&r.peer, &source, NULL, 0);
	r.peer.mseq_ack += 2;
	r.peer.bufs -= 2;
	CHECK_EQ(write_at(&r, 0, 1000), IBV_WC_SUCCESS);
	report(&r, 1000);
	expect_read(&b, 1000);
	rogue_close(&r);
}

/* ---- the module writes ---- */

static unsigned char out[LEN] __attribute__((aligned(64)));

static long op_send_all(int fd)
{
	return send(fd, out, sizeof(out), MSG_NOSIGNAL);
}

/* Memory of the peer's that is as it says. */
static struct verbs_sink own_sink(struct rogue *r)
{
	memset(r->peer.ring, MARK, VERBS_RING);
	return (struct verbs_sink){
		.size = VERBS_RING,
		.rkey = r->peer.mr->rkey,
		.vaddr = (uintptr_t)r->peer.ring,
	};
}

static void send_sink(struct rogue *r, const struct verbs_sink *sink)
{
	uint64_t heard = info_of(r->fd).sdpi_msgs_in;

	verbs_send_sink(&r->peer, sink);
	WAIT_FOR(info_of(r->fd).sdpi_msgs_in > heard);
}

/* What the memory has room for is in it, and the rest comes as the peer likes it. */
static void written_to_the_peer(void)
{
	struct rogue r = rogue_connect();
	struct verbs_sink sink = own_sink(&r);
	struct verbs_msg msg;
	struct blocked b;
	uint32_t len;

	pattern_fill(out, sizeof(out), SEED, 0);
	send_sink(&r, &sink);
	block_run(&b, op_send_all, r.fd);
	msg = verbs_expect(&r.peer, MID_RDMAWRCOMPL);
	memcpy(&len, msg.payload, sizeof(len));
	CHECK_EQ(be32toh(len), VERBS_RING);
	pattern_verify(r.peer.ring, VERBS_RING, SEED, 0);
	verbs_expect(&r.peer, MID_SRCAVAIL);
	CHECK_EQ(r.peer.source.len, LEN - VERBS_RING);
	CHECK_EQ(verbs_read(&r.peer, r.peer.source.rkey, r.peer.source.vaddr, LEN - VERBS_RING),
		 IBV_WC_SUCCESS);
	pattern_verify(r.peer.ring, LEN - VERBS_RING, SEED, VERBS_RING);
	verbs_send_read(&r.peer, LEN - VERBS_RING);
	CHECK_EQ(block_join(&b), LEN);
	rogue_close(&r);
}

/* A peer that does not know of all that was sent means a place before that. */
static void sink_of_the_past(void)
{
	struct rogue r = rogue_connect();
	struct verbs_sink sink = own_sink(&r);
	struct blocked b;

	sink.count--;
	send_sink(&r, &sink);
	block_run(&b, op_send_all, r.fd);
	verbs_expect(&r.peer, MID_SRCAVAIL);
	verbs_send_read(&r.peer, LEN);
	CHECK_EQ(block_join(&b), LEN);
	CHECK_EQ(r.peer.ring[0], MARK);
	rogue_close(&r);
}

static void sink_taken_back(void)
{
	struct rogue r = rogue_connect();
	struct verbs_sink sink = own_sink(&r);
	struct blocked b;

	send_sink(&r, &sink);
	verbs_send(&r.peer, MID_SINKAVAILCANCEL, NULL, 0);
	verbs_expect(&r.peer, MID_SINKCANCELACK);
	block_run(&b, op_send_all, r.fd);
	verbs_expect(&r.peer, MID_SRCAVAIL);
	verbs_send_read(&r.peer, LEN);
	CHECK_EQ(block_join(&b), LEN);
	CHECK_EQ(r.peer.ring[0], MARK);
	rogue_close(&r);
}

static void nothing_taken_back(void)
{
	struct rogue r = rogue_connect();

	verbs_send(&r.peer, MID_SINKAVAILCANCEL, NULL, 0);
	verbs_expect(&r.peer, MID_SINKCANCELACK);
	send_pattern(r.fd, SEED, 0, 100, 100);
	pattern_verify(verbs_expect(&r.peer, MID_DATA).payload, 100, SEED, 0);
	rogue_close(&r);
}

/* Less memory than a write is worth to be cut for; also where pages are protected. */
static void sink_of_little(const char *mode)
{
	struct rogue r = rogue_connect_as(mode);
	struct verbs_sink sink = own_sink(&r);
	struct verbs_msg msg;
	struct blocked b;

	sink.size = 1;
	pattern_fill(out, sizeof(out), SEED, 0);
	send_sink(&r, &sink);
	block_run(&b, op_send_all, r.fd);
	msg = verbs_next(&r.peer);
	if (msg.mid == MID_RDMAWRCOMPL)
		pattern_verify(r.peer.ring, 1, SEED, 0);
	CHECK_EQ(r.peer.ring[1], MARK);
	rogue_close(&r);
	block_join(&b);
}

static void sink_of_little_sync(void)
{
	sink_of_little("sync");
}

static void sink_of_little_async(void)
{
	sink_of_little("async");
}

/* That is for the device to find out, and the writer is told. */
static void sink_of_another_key(void)
{
	long before = pinned_pages();
	struct rogue r = rogue_connect();
	struct verbs_sink sink = own_sink(&r);
	struct blocked b;

	sink.rkey ^= 0x55;
	send_sink(&r, &sink);
	block_run(&b, op_send_all, r.fd);
	if (block_join(&b) < 0)
		CHECK_EQ(errno, ECONNRESET);
	else
		CHECK_EQ(recv_until_end(r.fd), ECONNRESET);
	rogue_close(&r);
	expect_pinned(before);
}

static const struct sdp_case cases[] = {
	CASE(written_in_pieces, CASE_SDP_ONLY),
	CASE(written_beyond_the_end, CASE_SDP_ONLY),
	CASE(written_before_the_start, CASE_SDP_ONLY),
	CASE(read_by_the_peer, CASE_SDP_ONLY),
	CASE(written_after_the_report, CASE_SDP_ONLY),
	CASE(written_after_data, CASE_SDP_ONLY),
	CASE(written_after_the_end, CASE_SDP_ONLY),
	CASE(reported_too_much, CASE_SDP_ONLY),
	CASE(reported_twice, CASE_SDP_ONLY),
	CASE(cancelled, CASE_SDP_ONLY),
	CASE(cancelled_too_late, CASE_SDP_ONLY),
	CASE(cancel_unanswered, CASE_SDP_ONLY),
	CASE(next_read_before_the_answer, CASE_SDP_ONLY),
	CASE(offer_that_crosses_a_refusal, CASE_SDP_ONLY),
	CASE(written_to_the_peer, CASE_SDP_ONLY),
	CASE(sink_of_the_past, CASE_SDP_ONLY),
	CASE(sink_taken_back, CASE_SDP_ONLY),
	CASE(nothing_taken_back, CASE_SDP_ONLY),
	CASE(sink_of_little_sync, CASE_SDP_ONLY),
	CASE(sink_of_little_async, CASE_SDP_ONLY),
	CASE(sink_of_another_key, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return zcopy_main("sync", argc, argv, cases, ARRAY_SIZE(cases));
}
