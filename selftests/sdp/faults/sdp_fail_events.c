// SPDX-License-Identifier: GPL-2.0
/*
 * A device that is late: with completions, or with the events that say that there are some;
 * and one that loses an event.  What is late makes nothing wrong.  What is lost is found by
 * whoever looks at the peer or polls, and when a connection ends.  Needs root, devices of
 * iwarp.ko, and a kernel that injects faults.
 */
#define _GNU_SOURCE
#include <netinet/tcp.h>
#include <stdio.h>
#include <unistd.h>

#include "sdp_attempts.h"
#include "sdp_inject.h"
#include "sdp_memory.h"
#include "sdp_transfer.h"

/* Each way. */
#define LEN	(60 * KIB)
/* Each costs a second. */
#define ROUNDS	8

static const char *const engines[] = { "credit", "rdma" };
static const char *fault;

static void restore(void)
{
	inject_in_device_no_more(fault);
	attempt_restore();
}

/* What a connection that ends waits for is not what is to be lost: there is none. */
static void settle(void)
{
	WAIT_FOR(!rdma_objects().qp);
}

/* The first, and later ones; at least four have to be met. */
static void each_engine(void (*once)(int listener, unsigned int nth))
{
	unsigned int nth = 1, met = 0, i;
	static char doing[64];
	int listener;

	sdp_doing = doing;
	for (i = 0; i < ROUNDS; i++) {
		const char *values[ATTEMPT_SETTINGS] = { engines[i % ARRAY_SIZE(engines)], "off" };

		snprintf(doing, sizeof(doing), "%s, number %u, %s", fault, nth, values[0]);
		attempt_set(values);
		listener = new_listener(16);
		settle();
		once(listener, nth);
		met += inject_in_device_met(fault);
		inject_in_device_no_more(fault);
		attempt_succeeds(listener, LEN);
		close(listener);
		nth += 1 + nth / 2;
	}
	CHECK(met >= ROUNDS / 2);
}

static void run_whole(int listener, unsigned int nth)
{
	inject_in_device(fault, nth);
	attempt_succeeds(listener, LEN);
}

static void run_late(void)
{
	each_engine(run_whole);
}

static void watched(int fd, int count)
{
	set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_int(fd, SOL_TCP, TCP_KEEPIDLE, 1);
	set_int(fd, SOL_TCP, TCP_KEEPINTVL, 1);
	set_int(fd, SOL_TCP, TCP_KEEPCNT, count);
}

/* Who looks after an idle peer looks at the device, too. */
static void run_kept(int listener, unsigned int nth)
{
	int fd = connect_to(listener);
	int server = accept_peer_of(listener, fd);

	watched(fd, 100);
	watched(server, 100);
	inject_in_device(fault, nth);
	exchange(fd, server, LEN);
	/* Not one of those by which the end waits for the device. */
	inject_in_device_no_more(fault);
	close(server);
	close(fd);
}

static void run_keepalive(void)
{
	each_engine(run_kept);
}

/* From the first message on; later on it is found as above. */
static void run_first(int listener, unsigned int nth)
{
	int fd, server;

	watched(listener, 100);
	inject_in_device(fault, nth);
	fd = connect_to(listener);
	watched(fd, 100);
	server = accept_peer_of(listener, fd);
	exchange(fd, server, LEN);
	inject_in_device_no_more(fault);
	close(server);
	close(fd);
}

static void run_handshake(void)
{
	each_engine(run_first);
}

/* A byte comes, and nobody hears of it. */
static struct pair unheard_pair(void)
{
	struct pair p;

	settle();
	p = new_nodelay_pair();
	exchange(p.client, p.server, KIB);
	inject_in_device(fault, 1);
	send_text(p.client, "x", 0);
	WAIT_FOR(inject_in_device_met(fault));
	return p;
}

static void expect_nothing_left(const struct rdma_objects *before)
{
	expect_rdma_objects(before);
	CHECK(!kernel_threads_in("ib_drain_qp"));
}

/* A reset waits until the device has completed all. */
static void run_reset(void)
{
	unsigned int i;

	for (i = 0; i < 4; i++) {
		struct rdma_objects before = rdma_objects();
		struct pair p = unheard_pair();

		set_linger(p.client, 1, 0);
		close(p.client);
		CHECK_EQ(recv_until_end(p.server), ECONNRESET);
		close(p.server);
		expect_nothing_left(&before);
		close_pair(new_pair());
	}
}

static void run_busy(void)
{
	unsigned int i;

	for (i = 0; i < 4; i++) {
		struct pair p = unheard_pair();

		set_int(p.client, SOL_SOCKET, SO_BUSY_POLL, 1000);
		set_int(p.server, SOL_SOCKET, SO_BUSY_POLL, 1000);
		expect_text(p.server, "x", 0);
		send_text(p.server, "y", 0);
		expect_text(p.client, "y", 0);
		exchange(p.client, p.server, LEN);
		close_pair(p);
	}
}

/*
 * Only one end looks after the other.  If that is the one whose event was lost, it finds what
 * has come; else the other answers nothing, and learns all that has come with the end.
 */
static void run_one_sided(void)
{
	struct rdma_objects before = rdma_objects();
	unsigned int i;
	char byte;

	for (i = 0; i < 4; i++) {
		struct pair p = unheard_pair();
		ssize_t n;

		watched(p.client, 2 * opts.scale);
		expect_text(p.server, "x", 0);
		send(p.server, "y", 1, MSG_NOSIGNAL);
		n = recv(p.client, &byte, 1, 0);
		CHECK((n == 1 && byte == 'y') || (n < 0 && errno == ETIMEDOUT));
		close_pair(p);
		close_pair(new_pair());
	}
	expect_nothing_left(&before);
}

static void with(const char *wanted, void (*run)(void))
{
	need_own_device();
	fault = wanted;
	attempt_note_settings();
	run_and_undo(run, restore);
}

static void late_completions(void)
{
	with("cqe_late", run_late);
}

static void late_events(void)
{
	with("event_late", run_late);
}

static void lost_events_and_keepalive(void)
{
	with("event_lost", run_keepalive);
}

static void lost_events_and_handshake(void)
{
	with("event_lost", run_handshake);
}

static void lost_events_and_one_sided_keepalive(void)
{
	with("event_lost", run_one_sided);
}

static void lost_events_and_reset(void)
{
	with("event_lost", run_reset);
}

static void lost_events_and_busy_polling(void)
{
	with("event_lost", run_busy);
}

static const struct sdp_case cases[] = {
	CASE(late_completions, CASE_SDP_ONLY | CASE_LONG),
	CASE(late_events, CASE_SDP_ONLY | CASE_LONG),
	CASE(lost_events_and_keepalive, CASE_SDP_ONLY | CASE_LONG),
	CASE(lost_events_and_handshake, CASE_SDP_ONLY | CASE_LONG),
	CASE(lost_events_and_one_sided_keepalive, CASE_SDP_ONLY | CASE_LONG),
	CASE(lost_events_and_reset, CASE_SDP_ONLY | CASE_LONG),
	CASE(lost_events_and_busy_polling, CASE_SDP_ONLY | CASE_LONG),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
