// SPDX-License-Identifier: GPL-2.0
/*
 * What iWARP makes of TCP: its acknowledgments complete requests, and other streams
 * and sockets have TCP and its ports to themselves. Needs root, and our own iWARP devices.
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "iwarp_wire.h"
#include "sdp_memory.h"

#define FROM	0
#define TO	MIB
#define LEN	65536

/* ---- requests complete when they are acknowledged ---- */

/* How long the wire is each way. */
#define WIRE_MS		100
#define DELAY		"delay 100ms"
/* Of a request, so that TCP takes many at once. */
#define PIECE		100

static void wire_good(void)
{
	wire_is("");
}

/*
 * The reply to the client's request is the first that the server's TCP has sent,
 * and what tells of it is acknowledged comes when iWARP has begun.
 */
static void complete_late(void)
{
	struct stopwatch second;
	struct iwarp_pair p;

	iwarp_join(false);
	wire_is(DELAY);
	iwarp_pair_open(&p);
	/* Who has accepted may send when he has received. */
	CHECK_EQ(iwarp_recv(&p.server, TO, 1, 1), 0);
	CHECK_EQ(iwarp_send(&p.client, FROM, 1, 1), 0);
	iwarp_expect(p.server.rcq, IBV_WC_SUCCESS);
	CHECK_EQ(iwarp_recv(&p.client, TO, 1, 1), 0);
	CHECK_EQ(iwarp_recv(&p.client, TO, 1, 1), 0);
	CHECK_EQ(iwarp_send(&p.server, FROM, 1, 1), 0);
	/* The second is under way when the first is acknowledged. */
	usleep(WIRE_MS * 1000);
	second = start_watch();
	CHECK_EQ(iwarp_send(&p.server, FROM, 1, 1), 0);
	iwarp_expect(p.server.scq, IBV_WC_SUCCESS);
	iwarp_expect(p.server.scq, IBV_WC_SUCCESS);
	CHECK(watch_ms(second) + TICK_MS >= 2 * WIRE_MS);
	iwarp_expect(p.client.rcq, IBV_WC_SUCCESS);
	iwarp_expect(p.client.rcq, IBV_WC_SUCCESS);
	iwarp_pair_close(&p);
}

static void completed_when_acknowledged(void)
{
	wire_find();
	run_and_undo(complete_late, wire_good);
}

/*
 * As many requests as the queue has are under way, and as many again are in the memory that
 * the process shares with the kernel, which takes them when it has room.
 */
static void post_all_that_fit(void)
{
	struct iwarp_pair p;
	size_t i, len;

	iwarp_join(false);
	wire_is(DELAY);
	/* TCP has room for all of them. */
	iwarp_set("hold", true);
	iwarp_pair_open(&p);
	iwarp_set("hold", false);
	/* From then on the kernel takes requests as they are posted. */
	CHECK_EQ(iwarp_write(&p.client, 0, 1, p.server.mr->rkey, iwarp_address(&p.server, 0)), 0);
	iwarp_expect(p.client.scq, IBV_WC_SUCCESS);
	pattern_fill(p.client.mem + FROM, END_CQES * PIECE, 3, 0);
	for (len = 0; len < END_CQES * PIECE; len += PIECE)
		if (iwarp_write(&p.client, FROM + len, PIECE, p.server.mr->rkey,
				iwarp_address(&p.server, TO + len)))
			break;
	ktap_diag("%zu requests", len / PIECE);
	CHECK(len > END_WRS * PIECE);
	for (i = 0; i < len; i += PIECE)
		iwarp_expect(p.client.scq, IBV_WC_SUCCESS);
	/* What is sent behind the data arrives behind it. */
	CHECK_EQ(iwarp_recv(&p.server, 0, 1, 1), 0);
	CHECK_EQ(iwarp_send(&p.client, 0, 1, 1), 0);
	iwarp_expect(p.server.rcq, IBV_WC_SUCCESS);
	pattern_verify(p.server.mem + TO, len, 3, 0);
	iwarp_pair_close(&p);
}

static void wire_good_and_no_hold(void)
{
	wire_good();
	iwarp_set("hold", false);
}

static void more_than_under_way(void)
{
	wire_find();
	run_and_undo(post_all_that_fit, wire_good_and_no_hold);
}

/* ---- a device that sends from one piece of memory at a time ---- */

struct stream {
	int fd;
	size_t len;
	bool done;
	pthread_t thread;
};

static void *stream_send(void *arg)
{
	struct stream *s = arg;

	send_pattern(s->fd, 7, 0, s->len, 5000);
	return NULL;
}

static void *stream_receive(void *arg)
{
	struct stream *s = arg;

	recv_pattern(s->fd, 7, 0, s->len, LEN);
	__atomic_store_n(&s->done, true, __ATOMIC_RELAXED);
	return NULL;
}

static void send_one(struct iwarp_end *from, struct iwarp_end *to,
		     unsigned int seed)
{
	pattern_fill(from->mem + FROM, LEN, seed, 0);
	CHECK_EQ(iwarp_recv(to, TO, LEN, 1), 0);
	CHECK_EQ(iwarp_send(from, FROM, LEN, 1), 0);
}

static void receive_one(struct iwarp_end *from, struct iwarp_end *to,
			unsigned int seed)
{
	iwarp_expect(to->rcq, IBV_WC_SUCCESS);
	pattern_verify(to->mem + TO, LEN, seed, 0);
	iwarp_expect(from->scq, IBV_WC_SUCCESS);
}

static void with_sg(void)
{
	wire_sg_is(true);
}

/*
 * TCP copies then, for whoever sends at the time, into memory that it keeps for
 * later: what runs in soft interrupts must not use that of what it interrupts.
 */
static void send_beside_another(void)
{
	size_t len = scaled(48 * MIB);
	struct stream from = { .len = len }, to = { .len = len };
	unsigned int i;
	struct iwarp_pair p;
	struct pair tcp;

	iwarp_join(false);
	wire_sg_is(false);
	iwarp_pair_open(&p);
	opts.tcp = true;
	tcp = new_pair();
	from.fd = tcp.client;
	to.fd = tcp.server;
	thread_start(&from.thread, stream_send, &from);
	thread_start(&to.thread, stream_receive, &to);
	for (i = 0; !__atomic_load_n(&to.done, __ATOMIC_RELAXED); i += 2) {
		send_one(&p.client, &p.server, i);
		send_one(&p.server, &p.client, i + 1);
		receive_one(&p.client, &p.server, i);
		receive_one(&p.server, &p.client, i + 1);
	}
	ktap_diag("%u messages beside %zu bytes", i, len);
	thread_join(from.thread);
	thread_join(to.thread);
	close_pair(tcp);
	iwarp_pair_close(&p);
}

static void beside_another_stream(void)
{
	wire_find();
	run_and_undo(send_beside_another, with_sg);
}

/* ---- the pages of what was sent ---- */

#define SENT		(64 * MIB)

/* Nobody accounts for them, but there are fewer if they are kept. */
static void pages_come_back(void)
{
	struct iwarp_pair p;
	size_t i, before;

	if (kernel_keeps_freed())
		sdp_skip("this kernel keeps what is freed");
	iwarp_join(false);
	iwarp_pair_open(&p);
	send_one(&p.client, &p.server, 0);
	receive_one(&p.client, &p.server, 0);
	before = available_memory();
	for (i = 0; i < SENT / LEN; i++) {
		send_one(&p.client, &p.server, i);
		receive_one(&p.client, &p.server, i);
	}
	WAIT_FOR(available_memory() + SENT / 2 > before);
	iwarp_pair_close(&p);
}

/* ---- an engine that takes its time ---- */

#define TRANSFER_MS	200

#define ENGINE_TRANSFER	"/sys/class/infiniband/iwarp0/engine_dma_ns"

static char transfer_before[16];

static void transfers_take(const char *ns)
{
	CHECK(file_write(ENGINE_TRANSFER, ns));
}

static void transfers_as_before(void)
{
	transfers_take(transfer_before);
}

static void send_one_slowly(void)
{
	struct stopwatch watch;
	struct iwarp_pair p;
	char ns[16];

	iwarp_join(false);
	iwarp_pair_open(&p);
	send_one(&p.client, &p.server, 1);
	receive_one(&p.client, &p.server, 1);
	snprintf(ns, sizeof(ns), "%u", TRANSFER_MS * 1000000U);
	transfers_take(ns);
	CHECK_EQ(iwarp_recv(&p.server, TO, 1, 1), 0);
	watch = start_watch();
	CHECK_EQ(iwarp_send(&p.client, FROM, 1, 1), 0);
	iwarp_expect(p.server.rcq, IBV_WC_SUCCESS);
	CHECK(watch_ms(watch) + TICK_MS >= TRANSFER_MS);
	iwarp_expect(p.client.scq, IBV_WC_SUCCESS);
	iwarp_pair_close(&p);
}

static void over_an_engine(void)
{
	iwarp_run_over("offloaded", false, false, send_one_slowly);
}

static void engine_takes_its_time(void)
{
	file_read(ENGINE_TRANSFER, transfer_before, sizeof(transfer_before));
	run_and_undo(over_an_engine, transfers_as_before);
}

/* ---- TCP's ports ---- */

/* The connection manager's ports are not TCP's, which has given this one to somebody. */
static void from_a_port_in_use(void)
{
	struct addr near = client_addr(0);
	int fd = CHECK_OK(socket(near.sa.sa_family, SOCK_STREAM, 0));
	struct iwarp_pair p;

	CHECK_OK(bind(fd, &near.sa, near.len));
	iwarp_join(false);
	iwarp_pair_open_at(&p, local_port(fd), 0);
	send_one(&p.client, &p.server, 1);
	receive_one(&p.client, &p.server, 1);
	iwarp_pair_close(&p);
	close(fd);
}

static const struct sdp_case cases[] = {
	CASE(completed_when_acknowledged, 0),
	CASE(more_than_under_way, 0),
	CASE(beside_another_stream, 0),
	CASE(pages_come_back, 0),
	CASE(engine_takes_its_time, 0),
	CASE(from_a_port_in_use, CASE_IPV6),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
