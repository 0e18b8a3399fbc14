// SPDX-License-Identifier: GPL-2.0
/*
 * Placement ahead of holes, on our own iWARP devices: every byte of writes,
 * reads and sends is right although the wire loses, reorders, repeats and
 * damages packets, and the device's counters tell that much of it was placed
 * before its turn. Needs root, and netem.
 */
#define _GNU_SOURCE
#include <linux/tcp.h>
#include <stdlib.h>
#include <time.h>

#include "iwarp_wire.h"

/* What is where in an end's memory: one round fills all of it. */
#define SOURCE		0
#define WRITTEN		MIB
#define WRITE_LEN	(64 * KIB)
#define WRITES		14
#define RECEIVED	(2 * MIB)
#define SEND_LEN	7001
#define SENDS		20
#define READ_TO		(2 * MIB + 512 * KIB)
#define READ_LEN	(100 * KIB)
#define READS		4
#define UNTOUCHED	0xa5
/* Some 12 MB, so that much is lost even where little is. */
#define ROUNDS		4

/* What both ends have counted. */
static long counted(const struct iwarp_pair *p, const char *name)
{
	return iwarp_counter(&p->client, name) + iwarp_counter(&p->server, name);
}

static void round_begin(struct iwarp_end *from, struct iwarp_end *to,
			uint64_t seed)
{
	int i;

	pattern_fill(from->mem + SOURCE, MIB, seed, 0);
	memset(to->mem + WRITTEN, UNTOUCHED, END_MEM - WRITTEN);
	for (i = 0; i < SENDS; i++)
		CHECK_EQ(iwarp_recv(to, RECEIVED + i * SEND_LEN, SEND_LEN, 3), 0);
}

/* Writes, and sends of other data between them. */
static void round_send(struct iwarp_end *from, struct iwarp_end *to)
{
	int i, sent = 0;

	for (i = 0; i < WRITES; i++) {
		CHECK_EQ(iwarp_write(from, SOURCE + i * WRITE_LEN, WRITE_LEN,
				     to->mr->rkey,
				     iwarp_address(to, WRITTEN + i * WRITE_LEN)), 0);
		for (; sent < SENDS * (i + 1) / WRITES; sent++)
			CHECK_EQ(iwarp_send(from, SOURCE + sent * SEND_LEN,
					    SEND_LEN, 1), 0);
	}
}

static void round_read(struct iwarp_end *by, struct iwarp_end *from)
{
	int i;

	for (i = 0; i < READS; i++)
		CHECK_EQ(iwarp_read(by, READ_TO + i * READ_LEN, READ_LEN,
				    from->mr->rkey,
				    iwarp_address(from, SOURCE + i * READ_LEN)), 0);
}

/* A send that has come is there, and so is all that was written before it. */
static void round_receive(struct iwarp_end *to, uint64_t seed)
{
	int i, w = 0;

	for (i = 0; i < SENDS; i++) {
		iwarp_expect(to->rcq, IBV_WC_SUCCESS);
		pattern_verify(to->mem + RECEIVED + i * SEND_LEN, SEND_LEN,
			       seed, i * SEND_LEN);
		for (; SENDS * (w + 1) / WRITES <= i; w++)
			pattern_verify(to->mem + WRITTEN + w * WRITE_LEN,
				       WRITE_LEN, seed, w * WRITE_LEN);
	}
}

static void round_end(struct iwarp_end *from, struct iwarp_end *to,
		      uint64_t seed)
{
	int i;

	round_receive(to, seed);
	for (i = 0; i < WRITES + SENDS; i++)
		iwarp_expect(from->scq, IBV_WC_SUCCESS);
	for (i = 0; i < READS; i++)
		iwarp_expect(to->scq, IBV_WC_SUCCESS);
	pattern_verify(to->mem + WRITTEN, WRITES * WRITE_LEN, seed, 0);
	pattern_verify(to->mem + READ_TO, READS * READ_LEN, seed, 0);
}

/* Everything goes from one end to the other, some of it fetched by that. */
static void one_round(struct iwarp_end *from, struct iwarp_end *to,
		      uint64_t seed)
{
	round_begin(from, to, seed);
	round_send(from, to);
	round_read(to, from);
	round_end(from, to, seed);
}

static void rounds(struct iwarp_pair *p, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		one_round(&p->client, &p->server, 2 * i);
		one_round(&p->server, &p->client, 2 * i + 1);
	}
}

struct tally {
	long waited;
	long early;
	long damaged;
};

static struct tally tally(const struct iwarp_pair *p)
{
	return (struct tally) {
		.waited = counted(p, "rx_ooo_bytes"),
		.early = counted(p, "rx_early_bytes"),
		.damaged = counted(p, "rx_crc_errors"),
	};
}

/* Returns what was placed early. */
static long transfer(struct iwarp_pair *p, unsigned int count)
{
	struct tally before, after;

	before = tally(p);
	rounds(p, count);
	after = tally(p);
	CHECK_EQ(after.damaged, before.damaged);
	ktap_diag("%ld of %ld bytes out of order were placed early",
		  after.early - before.early, after.waited - before.waited);
	return after.early - before.early;
}

/* Returns what was placed early. */
static long transfer_with(bool markers, bool crc)
{
	struct iwarp_pair p;
	long early;

	iwarp_ask(markers, crc);
	iwarp_pair_open(&p);
	early = transfer(&p, ROUNDS);
	iwarp_pair_close(&p);
	return early;
}

static long transfer_over(const char *netem, bool markers, bool crc)
{
	wire_find();
	wire_segments_are(1);
	wire_is(netem);
	return transfer_with(markers, crc);
}

#define LOSS "delay 1ms loss 1%"

static void loss(void)
{
	CHECK(transfer_over(LOSS, true, true) > 0);
}

static void loss_without_crc(void)
{
	CHECK(transfer_over(LOSS, true, false) > 0);
}

static void nothing_early_without_markers(void)
{
	CHECK_EQ(transfer_over(LOSS, false, true), 0);
}

static void nothing_early_if_switched_off(void)
{
	iwarp_set("early", false);
	CHECK_EQ(transfer_over(LOSS, true, true), 0);
	iwarp_set("early", true);
}

static void reordering(void)
{
	CHECK(transfer_over("delay 1ms reorder 75% 50%", true, true) > 0);
}

static void jitter(void)
{
	CHECK(transfer_over("delay 2ms 500us", true, true) > 0);
}

static void duplication(void)
{
	CHECK(transfer_over("delay 1ms loss 1% duplicate 10%", true, true) > 0);
}

/* TCP's checksum finds it, so that it is like loss. */
static void corruption_that_tcp_finds(void)
{
	CHECK(transfer_over("delay 1ms corrupt 1%", true, true) > 0);
}

/* Whatever is reported as received is right, up to the end. */
static unsigned int receive_until_error(struct iwarp_end *to)
{
	unsigned int i;

	for (i = 0; i < SENDS; i++) {
		if (iwarp_wait(to->rcq).status != IBV_WC_SUCCESS)
			break;
		pattern_verify(to->mem + RECEIVED + i * SEND_LEN, SEND_LEN, 7,
			       i * SEND_LEN);
	}
	return i;
}

/*
 * Every some segments one is damaged behind TCP's back, who trusts a wire that
 * is inside of the machine. Some of it is damaged while it is out of order.
 */
static void corruption_that_the_checksum_finds(void)
{
	struct wire_fault fault;
	struct iwarp_pair p;
	long damaged;

	wire_find();
	wire_segments_are(1);
	iwarp_ask(true, true);
	iwarp_pair_open(&p);
	wire_is(LOSS);
	damaged = iwarp_counter(&p.server, "rx_crc_errors");
	fault = wire_damages(97);
	round_begin(&p.client, &p.server, 7);
	round_send(&p.client, &p.server);
	CHECK(receive_until_error(&p.server) < SENDS);
	WAIT_FOR(iwarp_counter(&p.server, "rx_crc_errors") == damaged + 1);
	iwarp_wait_disconnected(&p.client);
	iwarp_wait_disconnected(&p.server);
	wire_heals(&fault);
	iwarp_pair_close(&p);
}

/* What is lost is many segments at a time, which TCP cuts as it likes later: few are sent. */
static void long_segments(void)
{
	unsigned int tries = 0;

	wire_find();
	wire_segments_are(65535);
	wire_is(LOSS);
	while (!transfer_with(true, true))
		CHECK(++tries < 20);
}

static void segments_joined_by_the_receiver(void)
{
	wire_find();
	wire_segments_are(1);
	wire_gro_is(true);
	wire_is(LOSS);
	CHECK(transfer_with(true, true) > 0);
	wire_gro_is(false);
}

/* The window cuts segments anywhere, and TCP throws away what is out of order. */
static void small_receive_buffer(void)
{
	run_command("sysctl -qw net.ipv4.tcp_rmem='4096 20000 40000'");
	transfer_over(LOSS, true, true);
	run_command("sysctl -qw net.ipv4.tcp_rmem='4096 131072 6291456'");
}

#define CLIENT_PORT	7175
#define SERVER_PORT	7176

/* TCP's number of the first byte from client to server, if it connects now. */
static uint32_t first_sequence(void)
{
	struct addr from = client_addr(CLIENT_PORT), to = server_addr(SERVER_PORT);
	int one = 1, queue = TCP_SEND_QUEUE, fds[3], i;
	socklen_t len = sizeof(uint32_t);
	uint32_t seq;

	for (i = 0; i < 2; i++) {
		fds[i] = CHECK_OK(socket(AF_INET, SOCK_STREAM, 0));
		setsockopt(fds[i], SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		CHECK_OK(bind(fds[i], i ? &from.sa : &to.sa, from.len));
	}
	CHECK_OK(listen(fds[0], 1));
	CHECK_OK(connect(fds[1], &to.sa, to.len));
	fds[2] = CHECK_OK(accept(fds[0], NULL, NULL));
	/* Sockets under repair end without a trace. */
	for (i = 1; i < 3; i++)
		CHECK_OK(setsockopt(fds[i], IPPROTO_TCP, TCP_REPAIR, &one,
				    sizeof(one)));
	CHECK_OK(setsockopt(fds[1], IPPROTO_TCP, TCP_REPAIR_QUEUE, &queue,
			    sizeof(queue)));
	CHECK_OK(getsockopt(fds[1], IPPROTO_TCP, TCP_QUEUE_SEQ, &seq, &len));
	for (i = 0; i < 3; i++)
		close(fds[i]);
	return seq;
}

/*
 * Numbers begin with what depends on the addresses, and rise by one every 64 ns
 * of the system's clock. So the clock is set to when they are about to wrap.
 */
static void wrap_after(uint32_t bytes)
{
	uint64_t ns = (uint64_t)(-bytes - first_sequence()) << 6;
	struct timespec now;

	CHECK_OK(clock_gettime(CLOCK_REALTIME, &now));
	ns += now.tv_nsec;
	now.tv_sec += ns / 1000000000;
	now.tv_nsec = ns % 1000000000;
	CHECK_OK(clock_settime(CLOCK_REALTIME, &now));
}

/* The numbers must not wrap before there is a connection. */
#define WRAP_AFTER	(4 * MIB)
#define WRAP_MS		200

static void sequence_wraps(void)
{
	struct iwarp_pair p;
	uint64_t begin;

	wire_find();
	wire_segments_are(1);
	iwarp_ask(true, true);
	wrap_after(WRAP_AFTER);
	begin = now_ms();
	iwarp_pair_open_at(&p, CLIENT_PORT, SERVER_PORT);
	if (now_ms() - begin > WRAP_MS)
		sdp_skip("this machine connects too slowly");
	wire_is(LOSS);
	CHECK(transfer(&p, 2 * ROUNDS) > 0);
	iwarp_pair_close(&p);
}

/* For those who have wires of their own. */
static void as_it_is(void)
{
	transfer_with(true, true);
}

static const struct sdp_case cases[] = {
	CASE(as_it_is, 0),
	CASE(loss, CASE_LONG | CASE_IPV6),
	CASE(loss_without_crc, CASE_LONG),
	CASE(nothing_early_without_markers, CASE_LONG),
	CASE(nothing_early_if_switched_off, CASE_LONG),
	CASE(reordering, CASE_LONG),
	CASE(jitter, CASE_LONG),
	CASE(duplication, CASE_LONG),
	CASE(corruption_that_tcp_finds, CASE_LONG),
	CASE(corruption_that_the_checksum_finds, 0),
	CASE(long_segments, CASE_LONG),
	CASE(segments_joined_by_the_receiver, CASE_LONG),
	CASE(small_receive_buffer, CASE_LONG),
	CASE(sequence_wraps, CASE_LONG),
};

static void tidy_up(void)
{
	wire_find();
	wire_is("");
	wire_segments_are(65535);
	iwarp_ask(false, false);
}

int main(int argc, char **argv)
{
	int status = sdp_main(argc, argv, cases, ARRAY_SIZE(cases));

	tidy_up();
	return status;
}
