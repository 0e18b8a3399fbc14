// SPDX-License-Identifier: GPL-2.0
/*
 * Reads that return before their bytes are there, from a peer that offers memory it has
 * not, or that falls silent: nobody waits for long, nobody finds what was never sent, and
 * the program is told.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_transfer.h"
#include "sdp_verbs.h"

#define SEED		43
#define BUFS		16
#define LEN		VERBS_RING
#define MARK		0xa5
#define OFFSET		100
/*
 * For how long memory may be out of reach (Documentation/protocol/zero-copy.rst), and what
 * the end of the connection takes. The device's own repetitions would last for longer.
 */
#define LIMIT_MS	(5000 + 2000 * opts.scale)

static struct rogue r;
/* Where to, in the middle of pages that are nobody else's. */
static unsigned char *buf;
static long lost;

static void connect_rogue(void)
{
	struct verbs_offer offer = { FEAT_ALL | FEAT_ADVERTS, 4, 0 };

	skip_without_early_reads();
	if (over_iwarp())
		sdp_skip("not with a software iWARP device's verbs");
	r = rogue_accepted(new_listener(1), BUFS, 3 * BUFS, offer);
	set_int(r.fd, SOL_TCP, SDP_ZCOPY_THRESH, 4096);
	CHECK_OK(set_zcopy_recv(r.fd, "async"));
	buf = memory(3 * LEN, OFFSET);
	memset(buf, MARK, 3 * LEN);
	lost = sdp_stat("AsyncBytesLost");
}

/* The read returns at once, whatever the peer has there. */
static void read_offer(const struct verbs_source *source, unsigned char *to)
{
	long before = sdp_stat("AsyncBytesIn");

	verbs_send_source(&r.peer, source, NULL, 0);
	CHECK_EQ(recv(r.fd, to, source->len, MSG_WAITALL), source->len);
	CHECK_EQ(sdp_stat("AsyncBytesIn") - before, source->len);
}

/* The program is told, by what it may ask first, and by each read. */
static void expect_lost(size_t len)
{
	char c;

	CHECK_EQ(get_int(r.fd, SOL_SOCKET, SO_ERROR), EIO);
	CHECK_ERR(recv(r.fd, &c, 1, 0), EIO);
	CHECK_ERR(recv(r.fd, &c, 1, 0), EIO);
	CHECK_EQ(sdp_stat("AsyncBytesLost") - lost, len);
}

/* The peer's device answers nothing any more. */
static void fall_silent(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	CHECK_EQ(ibv_modify_qp(r.peer.id->qp, &attr, IBV_QP_STATE), 0);
}

/* The peer offers something, and falls silent. */
static void offer_in_vain(void)
{
	struct verbs_source source = verbs_own_source(&r.peer, SEED, 0, LEN);
	uint64_t before = info_of(r.fd).sdpi_msgs_in;

	verbs_send_source(&r.peer, &source, NULL, 0);
	WAIT_FOR(info_of(r.fd).sdpi_msgs_in > before);
	fall_silent();
}

/* A read whose bytes never come. */
static void read_in_vain(void)
{
	long in = sdp_stat("AsyncBytesIn");

	offer_in_vain();
	CHECK_EQ(recv(r.fd, buf, LEN, 0), LEN);
	CHECK_EQ(sdp_stat("AsyncBytesIn") - in, LEN);
}

/* ---- the cases ---- */

static void honest(void)
{
	struct verbs_source source;
	struct verbs_msg msg;
	uint32_t len;

	connect_rogue();
	source = verbs_own_source(&r.peer, SEED, 0, LEN);
	read_offer(&source, buf);
	msg = verbs_expect(&r.peer, MID_RDMARDCOMPL);
	memcpy(&len, msg.payload, sizeof(len));
	CHECK_EQ(be32toh(len), LEN);
	pattern_verify(buf, LEN, SEED, 0);
	expect_bytes(buf + LEN, LEN, MARK);
	rogue_close(&r);
}

static void memory_that_there_is_not(void)
{
	struct verbs_source source;

	connect_rogue();
	source = verbs_own_source(&r.peer, SEED, 0, LEN);
	source.rkey ^= 0x55;
	read_offer(&source, buf);
	expect_bytes(buf, LEN, 0);
	expect_bytes(buf + LEN, LEN, MARK);
	expect_lost(LEN);
	rogue_close(&r);
}

/* The socket is as good as new, and does not speak of that any more. */
static void lost_and_dissolved(void)
{
	struct verbs_source source;
	char c;

	connect_rogue();
	source = verbs_own_source(&r.peer, SEED, 0, LEN);
	source.rkey ^= 0x55;
	read_offer(&source, buf);
	expect_bytes(buf, LEN, 0);
	expect_lost(LEN);
	CHECK_OK(op_dissolve(r.fd));
	CHECK_ERR(recv(r.fd, &c, 1, 0), ENOTCONN);
	rogue_close(&r);
}

/* What has come stays. */
static void first_is_there_second_is_not(void)
{
	struct verbs_source source;

	connect_rogue();
	source = verbs_own_source(&r.peer, SEED, 0, LEN);
	read_offer(&source, buf);
	pattern_verify(buf, LEN, SEED, 0);
	source.rkey ^= 0x55;
	read_offer(&source, buf + LEN);
	expect_bytes(buf + LEN, LEN, 0);
	pattern_verify(buf, LEN, SEED, 0);
	expect_bytes(buf + 2 * LEN, LEN, MARK);
	expect_lost(LEN);
	rogue_close(&r);
}

/* Who looks waits, and not for long. */
static void silent(void)
{
	struct stopwatch start;

	connect_rogue();
	read_in_vain();
	start = start_watch();
	expect_bytes(buf, LEN, 0);
	CHECK(watch_ms(start) < LIMIT_MS);
	expect_bytes(buf + LEN, LEN, MARK);
	expect_lost(LEN);
	rogue_close(&r);
}

static long op_look(int fd)
{
	(void)fd;
	return __atomic_load_n(buf, __ATOMIC_RELAXED);
}

/* Others go on: they get memory, touch it, and give it back. */
static void silent_beside_other_threads(void)
{
	struct blocked looker;
	int i;

	connect_rogue();
	read_in_vain();
	block_run(&looker, op_look, -1);
	WAIT_FOR(block_faults(&looker));
	for (i = 0; i < 10; i++) {
		unsigned char *other = memory(16 * 4096, 0);

		memset(other, i, 16 * 4096);
		CHECK_OK(munmap(other, 16 * 4096));
	}
	/* None of them has waited until the connection ended. */
	CHECK_EQ(sdp_stat("AsyncBytesLost"), lost);
	CHECK_EQ(block_join(&looker), 0);
	expect_lost(LEN);
	rogue_close(&r);
}

/* Whether a process waits for its memory. */
static bool process_faults(pid_t pid)
{
	char path[32], text[256], *name;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file_read(path, text, sizeof(text));
	name = strrchr(text, ')');
	return name && !strncmp(name, ") D", 3);
}

/* A program that waits for such memory ends when the wait does. */
static void silent_and_killed(void)
{
	long before = sdp_stat("ZcopyPages");
	pid_t child;

	connect_rogue();
	offer_in_vain();
	child = fork_child();
	if (!child) {
		CHECK_EQ(recv(r.fd, buf, LEN, 0), LEN);
		op_look(-1);
		_exit(0);
	}
	WAIT_FOR(process_faults(child));
	kill_child(child);
	WAIT_FOR(sdp_stat("ZcopyPages") == before);
	rogue_close(&r);
}

/* Nor does close() wait longer. */
static void silent_and_closed(void)
{
	struct stopwatch start;

	connect_rogue();
	read_in_vain();
	start = start_watch();
	CHECK_OK(close(r.fd));
	CHECK(watch_ms(start) < LIMIT_MS);
	expect_bytes(buf, LEN, 0);
	WAIT_FOR(sdp_stat("AsyncBytesLost") - lost == (long)LEN);
	verbs_close(&r.peer);
}

/* The peer gives up what is being read: it has to wait for that. */
static void cancelled_meanwhile(void)
{
	struct verbs_source source;

	connect_rogue();
	source = verbs_own_source(&r.peer, SEED, 0, LEN);
	read_offer(&source, buf);
	verbs_send(&r.peer, MID_SRCAVAILCANCEL, NULL, 0);
	verbs_expect(&r.peer, MID_RDMARDCOMPL);
	pattern_verify(buf, LEN, SEED, 0);
	verbs_send(&r.peer, MID_DATA, r.peer.ring, LEN);
	recv_pattern(r.fd, SEED, 0, LEN, LEN);
	rogue_close(&r);
}

static const struct sdp_case cases[] = {
	CASE(honest, CASE_SDP_ONLY),
	CASE(memory_that_there_is_not, CASE_SDP_ONLY),
	CASE(lost_and_dissolved, CASE_SDP_ONLY),
	CASE(first_is_there_second_is_not, CASE_SDP_ONLY),
	CASE(silent, CASE_SDP_ONLY | CASE_LONG),
	CASE(silent_beside_other_threads, CASE_SDP_ONLY | CASE_LONG),
	CASE(silent_and_killed, CASE_SDP_ONLY | CASE_LONG),
	CASE(silent_and_closed, CASE_SDP_ONLY | CASE_LONG),
	CASE(cancelled_meanwhile, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return zcopy_main("sync", argc, argv, cases, ARRAY_SIZE(cases));
}
