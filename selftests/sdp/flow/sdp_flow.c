// SPDX-License-Identifier: GPL-2.0
/*
 * Flow control: what the engines with rings have to get right.  Connections begin
 * with credits, so that each case first makes enough traffic for the rings to
 * come into use.
 */
#define _GNU_SOURCE
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"

#define RING		(64 * KIB)
#define TINY_RING	(4 * KIB)

/* Written, and read to the last byte, in pieces of random length. */
static void move_randomly(struct flow_pair *f, size_t total, size_t most)
{
	uint32_t random = opts.seed;
	uint64_t sent = f->up;
	unsigned char *buf = malloc(most);
	size_t len;
	ssize_t n;

	CHECK(buf);
	while (f->up < sent || total) {
		len = 1 + random_next(&random) % most;
		if (len > total)
			len = total;
		pattern_fill(buf, len, FLOW_UP, sent);
		n = len ? send(f->p.client, buf, len, MSG_DONTWAIT) : 0;
		if (n > 0) {
			sent += n;
			total -= n;
		}
		len = 1 + random_next(&random) % most;
		n = recv(f->p.server, buf, len, n > 0 ? MSG_DONTWAIT : 0);
		if (n > 0) {
			pattern_verify(buf, n, FLOW_UP, f->up);
			f->up += n;
		}
	}
	free(buf);
}

static void any_length(const char *engine)
{
	struct flow_pair f = flow_open(engine, RING);

	move_randomly(&f, scaled(512 * KIB), 100);
	move_randomly(&f, scaled(4 * MIB), 30000);
	move_randomly(&f, scaled(4 * MIB), 200000);
	close_pair(f.p);
}

static void tiny_ring(const char *engine)
{
	struct flow_pair f = flow_open(engine, TINY_RING);

	move_randomly(&f, scaled(512 * KIB), 50);
	move_randomly(&f, scaled(MIB), 10000);
	close_pair(f.p);
}

static void byte_at_a_time(const char *engine)
{
	struct flow_pair f = flow_open(engine, TINY_RING);
	uint64_t sent = fill_pipe(f.p.client, FLOW_UP);
	size_t part = scaled(64 * KIB) < sent ? scaled(64 * KIB) : sent;

	/* The pattern starts anew with fill_pipe(). */
	recv_pattern(f.p.server, FLOW_UP, 0, part, 1);
	recv_pattern(f.p.server, FLOW_UP, part, sent - part, sent);
	close_pair(f.p);
}

static void reader_that_never_reads(const char *engine)
{
	/*
	 * Short writes fill the ring as well as long ones.  Less than a quarter
	 * was read in the beginning without the sender's knowledge, and it waits
	 * if a piece or a window, an eighth, does not fit in.
	 */
	uint32_t least = RING * 5 / 8;
	struct flow_pair f = flow_open(engine, RING);
	uint64_t sent = RING + 20480;

	send_pattern(f.p.client, FLOW_UP, f.up, sent, 512);
	WAIT_FOR(info_of(f.p.server).sdpi_rx_ring_used >= least);
	CHECK(info_of(f.p.server).sdpi_rx_ring_used <= RING);
	CHECK(info_of(f.p.client).sdpi_credit_stalls > 0);
	recv_pattern(f.p.server, FLOW_UP, f.up, sent, sent);
	close_pair(f.p);
}

/* Sent on and on, while nobody reads, and while somebody does. */
static void receiver_is_always_ready(const char *engine)
{
	struct flow_pair f = flow_open(engine, RING);
	long before = not_ready();
	uint64_t up = fill_pipe(f.p.client, FLOW_UP);
	uint64_t down = fill_pipe(f.p.server, FLOW_DOWN);

	recv_pattern(f.p.server, FLOW_UP, 0, up, 500);
	recv_pattern(f.p.client, FLOW_DOWN, 0, down, 50000);
	f.up = 0;
	move_randomly(&f, scaled(512 * KIB), 100);
	CHECK_EQ(not_ready(), before);
	close_pair(f.p);
}

/* What a program or the administrator wants later is for later connections. */
static void size_wanted_later(const char *engine)
{
	struct flow_pair f = flow_connect(engine, TINY_RING);
	int i;

	set_int(f.p.client, SOL_SOCKET, SO_RCVBUFFORCE, MIB);
	set_int(f.p.server, SOL_SOCKET, SO_RCVBUFFORCE, MIB);
	set_int(f.p.client, SOL_TCP, TCP_NODELAY, 1);
	flow_start(&f, TINY_RING);
	/* More messages than there are receive buffers for a tiny ring. */
	for (i = 0; i < 300; i++)
		flow_move(f.p.client, f.p.server, FLOW_UP, &f.up, 1);
	close_pair(f.p);
}

static void both_directions_full(const char *engine)
{
	struct flow_pair f = flow_open(engine, RING);
	uint64_t up = fill_pipe(f.p.client, FLOW_UP);
	uint64_t down = fill_pipe(f.p.server, FLOW_DOWN);

	recv_pattern(f.p.server, FLOW_UP, 0, up, 10000);
	/* This direction did not need the other one's reader. */
	send_pattern(f.p.client, FLOW_UP, 0, RING, RING);
	recv_pattern(f.p.server, FLOW_UP, 0, RING, RING);
	recv_pattern(f.p.client, FLOW_DOWN, 0, down, 10000);
	exchange(f.p.client, f.p.server, scaled(4 * MIB));
	close_pair(f.p);
}

/* Data that has left the program, but not this host, for lack of space. */
static uint64_t hold_data(struct flow_pair *f)
{
	uint64_t sent = info_of(f->p.server).sdpi_rx_ring + 20000;
	uint32_t unsent;

	send_pattern(f->p.client, FLOW_UP, f->up, sent, 3000);
	/* Nothing moves any more. */
	do {
		unsent = info_of(f->p.client).sdpi_unsent;
		usleep(quiet_ms() * 1000);
	} while (unsent != info_of(f->p.client).sdpi_unsent);
	CHECK(unsent > 5000);
	return sent;
}

static void close_with_held_data(const char *engine)
{
	struct flow_pair f = flow_open(engine, RING);
	uint64_t sent = hold_data(&f);
	int err;

	CHECK_OK(close(f.p.client));
	CHECK_EQ(recv_pattern_to_end(f.p.server, FLOW_UP, f.up, &err), sent);
	CHECK_EQ(err, 0);
	CHECK_OK(close(f.p.server));
}

static void shutdown_with_held_data(const char *engine)
{
	struct flow_pair f = flow_open(engine, TINY_RING);
	uint64_t sent = hold_data(&f);
	int err;

	CHECK_OK(shutdown(f.p.client, SHUT_WR));
	/* The other direction does not care. */
	flow_move(f.p.server, f.p.client, FLOW_DOWN, &f.down, 3 * TINY_RING);
	CHECK_EQ(recv_pattern_to_end(f.p.server, FLOW_UP, f.up, &err), sent);
	CHECK_EQ(err, 0);
	flow_move(f.p.server, f.p.client, FLOW_DOWN, &f.down, 3 * TINY_RING);
	close_pair(f.p);
}

static void reset_with_held_data(const char *engine)
{
	struct flow_pair f = flow_open(engine, RING);

	hold_data(&f);
	set_linger(f.p.client, 1, 0);
	CHECK_OK(close(f.p.client));
	CHECK_EQ(recv_until_end(f.p.server), ECONNRESET);
	CHECK_OK(close(f.p.server));
}

static void urgent_behind_held_data(const char *engine)
{
	struct flow_pair f = flow_open(engine, RING);
	uint64_t sent = hold_data(&f);
	char byte;

	CHECK_OK(send(f.p.client, "!", 1, MSG_OOB));
	send_pattern(f.p.client, FLOW_UP, 0, 100, 100);
	/* The word of it is faster than the data before it. */
	WAIT_FOR(recv(f.p.server, &byte, 1, MSG_OOB) < 0 && errno == EAGAIN);
	CHECK(info_of(f.p.client).sdpi_unsent > 0);
	recv_pattern(f.p.server, FLOW_UP, f.up, sent, 7000);
	WAIT_FOR(ioctl_int(f.p.server, SIOCATMARK));
	expect_urgent(f.p.server, '!', 0);
	recv_pattern(f.p.server, FLOW_UP, 0, 100, 100);
	close_pair(f.p);
}

static void peeked_across_the_end(const char *engine)
{
	struct flow_pair f = flow_open(engine, TINY_RING);
	char first[3000], again[3000];
	int i;

	for (i = 0; i < 20; i++) {
		send_pattern(f.p.client, FLOW_UP, f.up, sizeof(first), 700);
		wait_inq(f.p.server, sizeof(first));
		CHECK_EQ(recv(f.p.server, first, sizeof(first), MSG_PEEK),
			 sizeof(first));
		CHECK_EQ(recv(f.p.server, again, sizeof(again), MSG_WAITALL),
			 sizeof(again));
		pattern_verify(first, sizeof(first), FLOW_UP, f.up);
		pattern_verify(again, sizeof(again), FLOW_UP, f.up);
		f.up += sizeof(first);
	}
	close_pair(f.p);
}

static void small_writes_share_messages(const char *engine)
{
	struct flow_pair f = flow_open(engine, RING);
	struct sdp_info before, after;
	uint64_t sent;
	int i;

	set_int(f.p.client, SOL_TCP, TCP_NODELAY, 1);
	sent = hold_data(&f);
	before = info_of(f.p.client);
	for (i = 0; i < 500; i++)
		send_pattern(f.p.client, FLOW_UP, f.up + sent + 64 * i, 64, 64);
	sent += 500 * 64;
	/* However often somebody looks, it is one wait. */
	CHECK_EQ(info_of(f.p.client).sdpi_credit_stalls,
		 before.sdpi_credit_stalls);
	recv_pattern(f.p.server, FLOW_UP, f.up, sent, 5000);
	after = info_of(f.p.client);
	CHECK(after.sdpi_coalesced - before.sdpi_coalesced > 450);
	CHECK(after.sdpi_data_msgs_out - before.sdpi_data_msgs_out < 100);
	close_pair(f.p);
}

/* Not for lack of space, and to the last byte without any other call. */
static void bursts_share_messages(const char *engine)
{
	struct flow_pair f = flow_open(engine, RING);
	const uint64_t burst = 200 * 64;

	set_int(f.p.client, SOL_TCP, TCP_NODELAY, 1);
	/* A writer that was kept from writing for long shares nothing. */
	WAIT_FOR(({
		uint64_t before = info_of(f.p.client).sdpi_data_msgs_out;

		send_pattern(f.p.client, FLOW_UP, f.up, burst, 64);
		recv_pattern(f.p.server, FLOW_UP, f.up, burst, burst);
		f.up += burst;
		info_of(f.p.client).sdpi_data_msgs_out - before < 60;
	}));
	close_pair(f.p);
}

/* What was cut for small buffers is written in large pieces. */
static void waiting_messages_are_joined(const char *engine)
{
	struct flow_pair f = flow_connect(engine, 256 * KIB);
	const uint64_t sent = 200 * KIB;

	send_pattern(f.p.client, FLOW_UP, 0, sent, sent);
	WAIT_FOR(info_of(f.p.server).sdpi_unread == sent);
	/* Not more than 8 pages, and then quarters of the ring. */
	CHECK(info_of(f.p.client).sdpi_data_msgs_out <= 14);
	recv_pattern(f.p.server, FLOW_UP, 0, sent, 7000);
	close_pair(f.p);
}

/* A program that has written, and does something else. */
static uint64_t flushes_while_away(struct flow_pair *f, enum sdp_flush cause)
{
	uint64_t before = info_of(f->p.client).sdpi_flushes[cause];
	uint64_t sent = hold_data(f);

	recv_pattern(f->p.server, FLOW_UP, f->up, sent, 5000);
	f->up += sent;
	return info_of(f->p.client).sdpi_flushes[cause] - before;
}

static void rdma_waits_for_a_call(void)
{
	struct flow_pair f = flow_open("rdma", RING);

	/* Nobody calls, so that the timer has to. */
	CHECK(flushes_while_away(&f, SDP_FLUSH_TIMER) > 0);
	CHECK_EQ(flushes_while_away(&f, SDP_FLUSH_INTERRUPT), 0);
	close_pair(f.p);
}

static void nic_goes_on_by_itself(void)
{
	struct flow_pair f = flow_open("nic", RING);

	CHECK(flushes_while_away(&f, SDP_FLUSH_INTERRUPT) > 0);
	CHECK_EQ(flushes_while_away(&f, SDP_FLUSH_TIMER), 0);
	close_pair(f.p);
}

static void rdma_any_length(void)
{
	any_length("rdma");
}

static void nic_any_length(void)
{
	any_length("nic");
}

static void rdma_tiny_ring(void)
{
	tiny_ring("rdma");
}

static void nic_tiny_ring(void)
{
	tiny_ring("nic");
}

static void rdma_byte_at_a_time(void)
{
	byte_at_a_time("rdma");
}

static void nic_byte_at_a_time(void)
{
	byte_at_a_time("nic");
}

static void rdma_reader_that_never_reads(void)
{
	reader_that_never_reads("rdma");
}

static void nic_reader_that_never_reads(void)
{
	reader_that_never_reads("nic");
}

static void rdma_both_directions_full(void)
{
	both_directions_full("rdma");
}

static void nic_both_directions_full(void)
{
	both_directions_full("nic");
}

static void rdma_receiver_is_always_ready(void)
{
	receiver_is_always_ready("rdma");
}

static void nic_receiver_is_always_ready(void)
{
	receiver_is_always_ready("nic");
}

static void rdma_size_wanted_later(void)
{
	size_wanted_later("rdma");
}

static void nic_size_wanted_later(void)
{
	size_wanted_later("nic");
}

static void rdma_close_with_held_data(void)
{
	close_with_held_data("rdma");
}

static void nic_close_with_held_data(void)
{
	close_with_held_data("nic");
}

static void rdma_shutdown_with_held_data(void)
{
	shutdown_with_held_data("rdma");
}

static void nic_shutdown_with_held_data(void)
{
	shutdown_with_held_data("nic");
}

static void rdma_reset_with_held_data(void)
{
	reset_with_held_data("rdma");
}

static void nic_reset_with_held_data(void)
{
	reset_with_held_data("nic");
}

static void rdma_urgent_behind_held_data(void)
{
	urgent_behind_held_data("rdma");
}

static void nic_urgent_behind_held_data(void)
{
	urgent_behind_held_data("nic");
}

static void rdma_peeked_across_the_end(void)
{
	peeked_across_the_end("rdma");
}

static void nic_peeked_across_the_end(void)
{
	peeked_across_the_end("nic");
}

static void rdma_small_writes_share_messages(void)
{
	small_writes_share_messages("rdma");
}

static void nic_small_writes_share_messages(void)
{
	small_writes_share_messages("nic");
}

static void rdma_bursts(void)
{
	bursts_share_messages("rdma");
}

static void rdma_bursts_share_messages(void)
{
	with_long_wait(rdma_bursts);
}

static void nic_bursts(void)
{
	bursts_share_messages("nic");
}

static void nic_bursts_share_messages(void)
{
	with_long_wait(nic_bursts);
}

static void rdma_waiting_messages_are_joined(void)
{
	waiting_messages_are_joined("rdma");
}

static void nic_waiting_messages_are_joined(void)
{
	waiting_messages_are_joined("nic");
}

/* ---- nothing happens ---- */

/* The end with a ring asks whether the other is still there, again and again. */
static void idle_is_answered(const char *engine)
{
	struct flow_pair f = flow_open(engine, 64 * KIB);
	uint64_t before = info_of(f.p.server).sdpi_probes;

	set_int(f.p.server, SOL_TCP, TCP_KEEPIDLE, 1);
	set_int(f.p.server, SOL_TCP, TCP_KEEPINTVL, 1);
	set_int(f.p.server, SOL_SOCKET, SO_KEEPALIVE, 1);
	/* There is one at a time. */
	WAIT_FOR(info_of(f.p.server).sdpi_probes >= before + 3);
	flow_move(f.p.client, f.p.server, FLOW_UP, &f.up, 9000);
	flow_move(f.p.server, f.p.client, FLOW_DOWN, &f.down, 9000);
	close_pair(f.p);
}

static void rdma_idle_is_answered(void)
{
	idle_is_answered("rdma");
}

static void nic_idle_is_answered(void)
{
	idle_is_answered("nic");
}

static const struct sdp_case cases[] = {
	CASE(rdma_any_length, CASE_SDP_ONLY | CASE_LONG),
	CASE(nic_any_length, CASE_SDP_ONLY | CASE_LONG),
	CASE(rdma_tiny_ring, CASE_SDP_ONLY | CASE_LONG),
	CASE(nic_tiny_ring, CASE_SDP_ONLY | CASE_LONG),
	CASE(rdma_byte_at_a_time, CASE_SDP_ONLY | CASE_LONG),
	CASE(nic_byte_at_a_time, CASE_SDP_ONLY | CASE_LONG),
	CASE(rdma_reader_that_never_reads, CASE_SDP_ONLY),
	CASE(nic_reader_that_never_reads, CASE_SDP_ONLY),
	CASE(rdma_both_directions_full, CASE_SDP_ONLY | CASE_LONG),
	CASE(nic_both_directions_full, CASE_SDP_ONLY | CASE_LONG),
	CASE(rdma_receiver_is_always_ready, CASE_SDP_ONLY | CASE_LONG),
	CASE(nic_receiver_is_always_ready, CASE_SDP_ONLY | CASE_LONG),
	CASE(rdma_size_wanted_later, CASE_SDP_ONLY),
	CASE(nic_size_wanted_later, CASE_SDP_ONLY),
	CASE(rdma_close_with_held_data, CASE_SDP_ONLY),
	CASE(nic_close_with_held_data, CASE_SDP_ONLY),
	CASE(rdma_shutdown_with_held_data, CASE_SDP_ONLY),
	CASE(nic_shutdown_with_held_data, CASE_SDP_ONLY),
	CASE(rdma_reset_with_held_data, CASE_SDP_ONLY),
	CASE(nic_reset_with_held_data, CASE_SDP_ONLY),
	CASE(rdma_urgent_behind_held_data, CASE_SDP_ONLY),
	CASE(nic_urgent_behind_held_data, CASE_SDP_ONLY),
	CASE(rdma_peeked_across_the_end, CASE_SDP_ONLY),
	CASE(nic_peeked_across_the_end, CASE_SDP_ONLY),
	CASE(rdma_small_writes_share_messages, CASE_SDP_ONLY),
	CASE(nic_small_writes_share_messages, CASE_SDP_ONLY),
	CASE(rdma_bursts_share_messages, CASE_SDP_ONLY),
	CASE(nic_bursts_share_messages, CASE_SDP_ONLY),
	CASE(rdma_waiting_messages_are_joined, CASE_SDP_ONLY),
	CASE(nic_waiting_messages_are_joined, CASE_SDP_ONLY),
	CASE(rdma_waits_for_a_call, CASE_SDP_ONLY),
	CASE(nic_goes_on_by_itself, CASE_SDP_ONLY),
	CASE(rdma_idle_is_answered, CASE_SDP_ONLY),
	CASE(nic_idle_is_answered, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
