// SPDX-License-Identifier: GPL-2.0
/*
 * Options of AF_SDP that let time pass: cork, keepalive, user timeout, number
 * of connection requests, deferred accept, lifetime of orphans. Both ends live;
 * sdp_silence.sh has the peers that do not answer.
 */
#define _GNU_SOURCE
#include <linux/sdp.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>

#include "sdp_test.h"

#ifndef SOL_TCP
#define SOL_TCP IPPROTO_TCP	/* in a header at odds with <linux/tcp.h> */
#endif

static struct tcp_info tcp_info(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	CHECK_OK(getsockopt(fd, SOL_TCP, TCP_INFO, &info, &len));
	return info;
}

static struct sdp_info sdp_info(int fd)
{
	struct sdp_info info = { 0 };
	socklen_t len = sizeof(info);

	CHECK_OK(getsockopt(fd, SOL_SDP, SDP_INFO, &info, &len));
	CHECK_EQ(len, sizeof(info));
	return info;
}

static void expect_error(int fd, int error)
{
	wait_poll(fd, POLLERR);
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_ERROR), error);
}

/* ---- cork ---- */

/* Small writes stay together, and go when the cork is taken away. */
static void cork_holds_until_cleared(void)
{
	struct pair p = new_pair();
	int i;

	set_int(p.client, SOL_TCP, TCP_CORK, 1);
	for (i = 0; i < 10; i++)
		send_pattern(p.client, 1, 10 * i, 10, 10);
	CHECK_EQ(tcp_info(p.client).tcpi_notsent_bytes, 100);
	CHECK_EQ(ioctl_int(p.server, SIOCINQ), 0);
	set_int(p.client, SOL_TCP, TCP_CORK, 0);
	CHECK_EQ(tcp_info(p.client).tcpi_notsent_bytes, 0);
	recv_pattern(p.server, 1, 0, 100, 100);
	CHECK_EQ(tcp_info(p.client).tcpi_data_segs_out, 1);
}

static void cork_ends_by_itself(void)
{
	struct pair p = new_pair();
	struct stopwatch start;

	set_int(p.client, SOL_TCP, TCP_CORK, 1);
	start = start_watch();
	send_pattern(p.client, 2, 0, 100, 100);
	recv_pattern(p.server, 2, 0, 100, 100);
	CHECK(watch_ms(start) + TICK_MS >= 200);
	/* And again: the cork is still there. */
	start = start_watch();
	send_pattern(p.client, 2, 100, 50, 50);
	recv_pattern(p.server, 2, 100, 50, 50);
	CHECK(watch_ms(start) + TICK_MS >= 200);
	CHECK_EQ(get_int(p.client, SOL_TCP, TCP_CORK), 1);
}

/* Messages may grow with what is written, but no more than they are now. */
static void cork_lets_full_messages_go(void)
{
	struct pair p = new_pair();
	int first = get_int(p.client, SOL_TCP, TCP_MAXSEG);
	int total = 2 * first + 7;
	struct tcp_info info;

	set_int(p.client, SOL_TCP, TCP_CORK, 1);
	send_pattern(p.client, 3, 0, first + 7, 1000);
	info = tcp_info(p.client);
	CHECK_EQ(info.tcpi_notsent_bytes, 7);
	CHECK_EQ(info.tcpi_bytes_sent, first);
	CHECK_EQ(info.tcpi_data_segs_out, 1);
	send_pattern(p.client, 3, first + 7, first, 1000);
	info = tcp_info(p.client);
	CHECK(info.tcpi_notsent_bytes < info.tcpi_snd_mss);
	set_int(p.client, SOL_TCP, TCP_CORK, 0);
	/* Nagle's rule may hold the rest until the others have arrived. */
	WAIT_FOR(tcp_info(p.client).tcpi_notsent_bytes == 0);
	recv_pattern(p.server, 3, 0, total, 5000);
}

/* No delay gets past the cork, but does not take it away. */
static void nodelay_passes_cork_once(void)
{
	struct pair p = new_pair();

	set_int(p.client, SOL_TCP, TCP_CORK, 1);
	send_pattern(p.client, 4, 0, 100, 100);
	CHECK_EQ(tcp_info(p.client).tcpi_notsent_bytes, 100);
	set_int(p.client, SOL_TCP, TCP_NODELAY, 1);
	CHECK_EQ(tcp_info(p.client).tcpi_notsent_bytes, 0);
	send_pattern(p.client, 4, 100, 100, 100);
	CHECK_EQ(tcp_info(p.client).tcpi_notsent_bytes, 100);
	recv_pattern(p.server, 4, 0, 200, 200);
}

static void shutdown_passes_cork(void)
{
	struct pair p = new_pair();
	int err;

	set_int(p.client, SOL_TCP, TCP_CORK, 1);
	send_pattern(p.client, 5, 0, 100, 100);
	CHECK_OK(shutdown(p.client, SHUT_WR));
	CHECK_EQ(recv_pattern_to_end(p.server, 5, 0, &err), 100);
	CHECK_EQ(err, 0);
}

/* A writer that waits for room must not hold back what takes the room. */
static void cork_does_not_block_writer(void)
{
	struct pair p = new_pair();

	set_int(p.client, SOL_TCP, TCP_CORK, 1);
	exchange(p.client, p.server, 256 * KIB + 1);
}

/* ---- keepalive ---- */

static void set_keepalive(int fd, int idle, int interval, int count)
{
	set_int(fd, SOL_TCP, TCP_KEEPIDLE, idle);
	set_int(fd, SOL_TCP, TCP_KEEPINTVL, interval);
	set_int(fd, SOL_TCP, TCP_KEEPCNT, count);
	set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
}

/* An idle connection is probed again and again, and lives. */
static void keepalive_probes(void)
{
	struct pair p = new_pair(), quiet = new_pair();
	struct stopwatch start = start_watch();

	set_int(quiet.client, SOL_TCP, TCP_KEEPIDLE, 1);
	set_keepalive(p.client, 1, 1, 20 * opts.scale);
	WAIT_FOR(sdp_info(p.client).sdpi_probes >= 3);
	CHECK(watch_ms(start) + TICK_MS >= 3000);
	CHECK_EQ(sdp_info(p.server).sdpi_probes, 0);
	CHECK_EQ(sdp_info(quiet.client).sdpi_probes, 0);
	exchange(p.client, p.server, 1000);
}

static void keepalive_can_be_ended(void)
{
	struct pair p = new_pair(), other = new_pair();

	set_keepalive(p.client, 1, 1, 20 * opts.scale);
	set_int(p.client, SOL_SOCKET, SO_KEEPALIVE, 0);
	set_keepalive(other.client, 1, 1, 20 * opts.scale);
	WAIT_FOR(sdp_info(other.client).sdpi_probes >= 2);
	CHECK_EQ(sdp_info(p.client).sdpi_probes, 0);
}

/* The time starts with the last sign of life. */
static void keepalive_is_silent_on_a_busy_connection(void)
{
	struct pair p = new_pair();
	uint64_t start = now_ms();

	if (over_iwarp())
		sdp_skip("with iWARP a probe asks what has arrived, too");
	set_keepalive(p.server, 2 * opts.scale, 1, 20 * opts.scale);
	while (now_ms() - start < 4000 * opts.scale) {
		exchange(p.client, p.server, 100);
		poll(NULL, 0, 100);
	}
	CHECK_EQ(sdp_info(p.server).sdpi_probes, 0);
}

/* As set at a listener, and before the connection is made. */
static void keepalive_of_children_and_clients(void)
{
	int listener = new_listener(1), client = new_client(0), server;
	struct addr a = local_addr(listener);

	set_keepalive(listener, 1, 1, 20 * opts.scale);
	set_keepalive(client, 1, 1, 20 * opts.scale);
	CHECK_OK(connect(client, &a.sa, a.len));
	server = CHECK_OK(accept(listener, NULL, NULL));
	WAIT_FOR(sdp_info(client).sdpi_probes && sdp_info(server).sdpi_probes);
}

/* A change of the time counts for a timer that runs. */
static void keepalive_time_can_be_shortened(void)
{
	struct pair p = new_pair();

	set_keepalive(p.client, 3600, 1, 20 * opts.scale);
	set_int(p.client, SOL_TCP, TCP_KEEPIDLE, 1);
	WAIT_FOR(sdp_info(p.client).sdpi_probes > 0);
}

/* Without it only a writer that waits has its peer asked. */
static void full_pipe_is_probed(void)
{
	struct pair p = new_pair();
	uint64_t sent = fill_pipe(p.client, 15);

	WAIT_FOR(sdp_info(p.client).sdpi_probes > 0);
	recv_pattern(p.server, 15, 0, sent, 64 * KIB);
}

/* ---- user timeout ---- */

static void user_timeout_if_nobody_reads(void)
{
	struct pair p = new_pair();
	unsigned int ms = 700 * opts.scale;
	uint64_t start;

	fill_pipe(p.client, 6);
	start = now_ms();
	set_int(p.client, SOL_TCP, TCP_USER_TIMEOUT, ms);
	expect_error(p.client, ETIMEDOUT);
	/* The pipe may have been full for some time when it was set. */
	CHECK(now_ms() - start < 15 * ms);
	CHECK_ERR(send(p.client, "x", 1, MSG_NOSIGNAL), EPIPE);
}

/* Reads so many bytes; false if the connection has ended before. */
static bool read_part(int fd, uint64_t pos, size_t len)
{
	unsigned char buf[4096];
	ssize_t n;

	while (len) {
		n = recv(fd, buf, len < sizeof(buf) ? len : sizeof(buf), 0);
		if (n <= 0)
			return false;
		pattern_verify(buf, n, 7, pos);
		pos += n;
		len -= n;
	}
	return true;
}

/*
 * Reads slowly until twice the user timeout has passed, and then the rest.
 * Returns whether the connection has lived so long; *longest is the longest time
 * between two reads.
 */
static bool read_slowly(const struct pair *p, unsigned int ms, uint64_t *longest)
{
	uint64_t start, last = now_ms(), got = 0, sent;

	/* Nobody reads meanwhile, which may take a busy machine longer than that. */
	sent = fill_pipe(p->client, 7);
	set_int(p->client, SOL_TCP, TCP_USER_TIMEOUT, ms);
	start = now_ms();
	*longest = start - last;
	last = start;
	while (now_ms() - start < 2 * ms && sent - got > 128 * KIB &&
	       read_part(p->server, got, 64 * KIB)) {
		got += 64 * KIB;
		poll(NULL, 0, 100);
		if (now_ms() - last > *longest)
			*longest = now_ms() - last;
		last = now_ms();
	}
	return read_part(p->server, got, sent - got);
}

/*
 * Every bit of progress starts the time anew. Where a busy machine has made this
 * reader too slow for its timeout, it is tried again with a longer one.
 */
static void user_timeout_spares_slow_readers(void)
{
	unsigned int ms = 2000 * opts.scale;
	uint64_t longest;
	struct pair p;

	for (;;) {
		p = new_pair();
		if (read_slowly(&p, ms, &longest))
			break;
		CHECK_EQ(get_int(p.client, SOL_SOCKET, SO_ERROR), ETIMEDOUT);
		if (longest < ms / 4)
			FAIL("given up by %u ms with pauses of %llu at most",
			     ms, (unsigned long long)longest);
		close_pair(p);
		ms *= 2;
	}
	CHECK_EQ(get_int(p.client, SOL_SOCKET, SO_ERROR), 0);
}

/* What has arrived is found out even where nobody asked for a completion. */
static void user_timeout_spares_the_idle(void)
{
	struct pair p = new_pair();
	unsigned int ms = 1000 * opts.scale;
	uint64_t start;

	set_int(p.client, SOL_TCP, TCP_NODELAY, 1);
	set_int(p.client, SOL_TCP, TCP_USER_TIMEOUT, ms);
	send_pattern(p.client, 8, 0, 10, 10);
	recv_pattern(p.server, 8, 0, 10, 10);
	start = now_ms();
	while (now_ms() - start < 3 * ms)
		CHECK_EQ(poll_now(p.client) & (POLLERR | POLLHUP), 0);
	send_pattern(p.client, 8, 10, 10, 10);
	recv_pattern(p.server, 8, 10, 10, 10);
}

/* ---- connect ---- */

static uint64_t time_refused_connect(int fd, int listener)
{
	struct addr a = local_addr(listener);
	struct stopwatch start = start_watch();

	CHECK_ERR(connect(fd, &a.sa, a.len), ETIMEDOUT);
	return watch_ms(start);
}

/* One second until the first repetition, two until the second. */
static void syncnt_limits_connect(void)
{
	int filler, listener = full_listener(&filler), fd = new_client(0);
	uint64_t ms;

	set_int(fd, SOL_TCP, TCP_SYNCNT, 1);
	ms = time_refused_connect(fd, listener);
	CHECK(ms + TICK_MS >= 2000 && ms < 10000 * opts.scale);
}

static void user_timeout_limits_connect(void)
{
	int filler, listener = full_listener(&filler), fd = new_client(0);
	uint64_t ms;

	/* A second is between attempts, and the first one takes its time, too. */
	set_int(fd, SOL_TCP, TCP_USER_TIMEOUT, 1500 * opts.scale);
	ms = time_refused_connect(fd, listener);
	CHECK(ms + TICK_MS >= 900 && ms < 10000 * opts.scale);
	/* And then it may be tried again. */
	CHECK_OK(accept(listener, NULL, NULL));
	set_int(fd, SOL_TCP, TCP_USER_TIMEOUT, 0);
	CHECK_OK(close(connect_to(listener)));
}

/* ---- deferred accept ---- */

static int deferring_listener(int seconds)
{
	int listener = new_listener(1);

	set_int(listener, SOL_TCP, TCP_DEFER_ACCEPT, seconds);
	return listener;
}

static void defer_accept_until_data(void)
{
	int listener = deferring_listener(60), client, server;

	client = connect_to(listener);
	watch_quiet(listener, POLLIN);
	set_nonblock(listener, true);
	CHECK_ERR(accept(listener, NULL, NULL), EAGAIN);
	send_pattern(client, 9, 0, 1, 1);
	wait_poll(listener, POLLIN);
	server = CHECK_OK(accept(listener, NULL, NULL));
	set_nonblock(server, false);
	recv_pattern(server, 9, 0, 1, 1);
	exchange(client, server, 1000);
}

/* A waiting accept() is woken by the data. */
static void defer_accept_wakes(void)
{
	int listener = deferring_listener(60), client;
	struct blocked b;

	block_start(&b, op_accept, listener);
	client = connect_to(listener);
	WAIT_FOR(block_sleeps(&b));
	send_pattern(client, 10, 0, 100, 100);
	recv_pattern(block_join(&b), 10, 0, 100, 100);
}

static void defer_accept_until_time(void)
{
	int listener = deferring_listener(1), client, server;
	struct stopwatch start = start_watch();

	client = connect_to(listener);
	server = CHECK_OK(accept(listener, NULL, NULL));
	CHECK(watch_ms(start) + TICK_MS >= 1000);
	exchange(client, server, 1000);
}

static void defer_accept_until_end(void)
{
	int listener = deferring_listener(60), client, server;
	char byte;

	client = connect_to(listener);
	CHECK_OK(shutdown(client, SHUT_WR));
	server = CHECK_OK(accept(listener, NULL, NULL));
	CHECK_EQ(recv(server, &byte, 1, 0), 0);
	send_pattern(server, 11, 0, 10, 10);
	recv_pattern(client, 11, 0, 10, 10);
}

/* A connection that came and went takes no place in the queue. */
static void defer_accept_forgets_resets(void)
{
	int listener = new_listener(0), client, server;

	set_int(listener, SOL_TCP, TCP_DEFER_ACCEPT, 60);
	client = connect_to(listener);
	set_linger(client, 1, 0);
	CHECK_OK(close(client));
	client = connect_to(listener);
	send_pattern(client, 12, 0, 10, 10);
	server = CHECK_OK(accept(listener, NULL, NULL));
	recv_pattern(server, 12, 0, 10, 10);
}

static void defer_accept_and_close(void)
{
	int listener = deferring_listener(60), client = connect_to(listener);

	CHECK_OK(close(listener));
	CHECK_EQ(recv_until_end(client), ECONNRESET);
}

/* ---- orphans ---- */

/* A peer that never closes its side is left to itself after that time. */
static void linger2_limits_orphans(void)
{
	struct pair p = new_pair();
	struct stopwatch start = start_watch();

	set_int(p.client, SOL_TCP, TCP_LINGER2, 2);
	send_pattern(p.client, 13, 0, 100, 100);
	CHECK_OK(shutdown(p.client, SHUT_WR));
	recv_pattern(p.server, 13, 0, 100, 100);
	CHECK_OK(close(p.client));
	wait_poll(p.server, POLLHUP);
	CHECK(watch_ms(start) + TICK_MS >= 2000);
}

static void linger2_allows_no_orphan(void)
{
	struct pair p = new_pair();

	set_int(p.client, SOL_TCP, TCP_LINGER2, -1);
	send_pattern(p.client, 14, 0, 100, 100);
	CHECK_OK(close(p.client));
	recv_pattern(p.server, 14, 0, 100, 100);
	wait_poll(p.server, POLLHUP);
}

static const struct sdp_case cases[] = {
	CASE(cork_holds_until_cleared, 0),
	CASE(cork_ends_by_itself, 0),
	CASE(cork_lets_full_messages_go, CASE_SDP_ONLY),
	CASE(nodelay_passes_cork_once, 0),
	CASE(shutdown_passes_cork, 0),
	CASE(cork_does_not_block_writer, 0),
	CASE(keepalive_probes, CASE_SDP_ONLY),
	CASE(keepalive_can_be_ended, CASE_SDP_ONLY),
	CASE(keepalive_is_silent_on_a_busy_connection, CASE_SDP_ONLY),
	CASE(keepalive_of_children_and_clients, CASE_SDP_ONLY),
	CASE(keepalive_time_can_be_shortened, CASE_SDP_ONLY),
	CASE(full_pipe_is_probed, CASE_SDP_ONLY),
	CASE(user_timeout_if_nobody_reads, 0),
	CASE(user_timeout_spares_slow_readers, CASE_LONG),
	CASE(user_timeout_spares_the_idle, 0),
	CASE(syncnt_limits_connect, 0),
	CASE(user_timeout_limits_connect, 0),
	CASE(defer_accept_until_data, 0),
	CASE(defer_accept_wakes, 0),
	CASE(defer_accept_until_time, 0),
	CASE(defer_accept_until_end, 0),
	CASE(defer_accept_forgets_resets, 0),
	CASE(defer_accept_and_close, 0),
	CASE(linger2_limits_orphans, CASE_SDP_ONLY),
	CASE(linger2_allows_no_orphan, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
