// SPDX-License-Identifier: GPL-2.0
/*
 * What an attempt to connect comes to when something else ends it at that moment:
 * another thread, which makes something new of the socket, or the time after which
 * TCP goes on.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <time.h>

#include "sdp_fallback.h"

/* ---- another thread ---- */

static struct addr full, ready;

static long op_connect_idly(int fd)
{
	run_idly();
	return connect(fd, &full.sa, full.len);
}

static bool hog_end;

static void *hog_thread(void *arg)
{
	while (!__atomic_load_n(&hog_end, __ATOMIC_RELAXED))
		;
	return arg;
}

static void connect_anew(int fd)
{
	CHECK_OK(connect(fd, &ready.sa, ready.len));
}

static void listen_instead(int fd)
{
	CHECK_OK(listen(fd, 1));
}

/*
 * The errno of a call that waits for its connection, and comes to look when another
 * thread has taken the attempt away and gone on with the socket.
 */
static int late_errno(int fd, sdp_op op, void (*go_on)(int fd))
{
	struct blocked late;
	pthread_t hog;

	hog_end = false;
	block_start(&late, op, fd);
	thread_start(&hog, hog_thread, NULL);
	CHECK_OK(op_dissolve(fd));
	go_on(fd);
	__atomic_store_n(&hog_end, true, __ATOMIC_RELAXED);
	thread_join(hog);
	CHECK_EQ(block_join(&late), -1);
	return errno;
}

/* Who has come earlier says that nothing is left of his attempt. */
static bool came_late(int fd, void (*go_on)(int fd))
{
	int err = late_errno(fd, op_connect_idly, go_on);

	if (err == EPIPE)
		return true;
	if (err != ECONNABORTED)
		CHECK_EQ(err, ECONNRESET);
	return false;
}

static void renewed_under_connect(void)
{
	int filler, busy = full_listener(&filler), listener = new_listener(8);
	int fd;

	full = local_addr(busy);
	ready = local_addr(listener);
	use_one_cpu();
	for (fd = new_client(0); !came_late(fd, connect_anew); fd = new_client(0)) {
		CHECK_OK(close(fd));
		CHECK_OK(close(CHECK_OK(accept(listener, NULL, NULL))));
	}
	exchange(fd, CHECK_OK(accept(listener, NULL, NULL)), 10000);
	/* The first listener has heard nothing more. */
	CHECK_OK(accept(busy, NULL, NULL));
	watch_quiet(busy, POLLIN);
}

static void listener_under_connect(void)
{
	int filler, busy = full_listener(&filler);
	int fd, client;

	full = local_addr(busy);
	use_one_cpu();
	for (fd = new_client(0); !came_late(fd, listen_instead); fd = new_client(0))
		CHECK_OK(close(fd));
	client = connect_to(fd);
	exchange(client, CHECK_OK(accept(fd, NULL, NULL)), 10000);
}

static long op_recv_idly(int fd)
{
	run_idly();
	return op_recv(fd);
}

static long op_send_idly(int fd)
{
	run_idly();
	return op_send(fd);
}

/*
 * A call that sleeps comes to look when its socket has another connection, with a byte
 * to read: neither that byte nor room for others is what it waited for.
 */
static long renew_under(sdp_op op)
{
	int listener = new_listener(8), old;
	struct blocked late;
	struct pair p;
	pthread_t hog;

	ready = local_addr(listener);
	p.client = connect_to(listener);
	old = CHECK_OK(accept(listener, NULL, NULL));
	block_start(&late, op, p.client);
	hog_end = false;
	thread_start(&hog, hog_thread, NULL);
	CHECK_OK(op_dissolve(p.client));
	connect_anew(p.client);
	p.server = CHECK_OK(accept(listener, NULL, NULL));
	send_text(p.server, "x", 0);
	wait_inq(p.client, 1);
	__atomic_store_n(&hog_end, true, __ATOMIC_RELAXED);
	thread_join(hog);
	block_join(&late);
	expect_text(p.client, "x", 0);
	exchange(p.client, p.server, 10000);
	close_pair(p);
	CHECK_OK(close(old));
	CHECK_OK(close(listener));
	errno = late.err;
	return late.ret;
}

static void renewed_under_recv(void)
{
	use_one_cpu();
	while (renew_under(op_recv_idly) != -1 || errno != EPIPE)
		;
}

/* What it has sent before counts. */
static void renewed_under_send(void)
{
	unsigned int i;

	use_one_cpu();
	for (i = 0; i < 5; i++)
		CHECK(renew_under(op_send_idly) > 0);
}

static long op_send_one_idly(int fd)
{
	run_idly();
	return send(fd, "?", 1, MSG_NOSIGNAL);
}

/*
 * Nor does a call go on with another attempt that waits for its own to be decided: for
 * RDMA or for TCP.
 */
static void renewed_under_attempt(void)
{
	int filler, busy = full_listener(&filler), listener = new_listener(8);
	int fd, server, err;
	unsigned int i;

	ready = local_addr(listener);
	use_one_cpu();
	be_patient(true);
	for (i = 0; i < 5; i++) {
		fd = both_socket(0);
		CHECK(start_connect(fd, busy));
		set_nonblock(fd, false);
		err = late_errno(fd, op_send_one_idly, connect_anew);
		/* Who has come earlier hears of the end of his attempt. */
		if (err != EPIPE)
			CHECK_EQ(err, ECONNRESET);
		server = CHECK_OK(accept(listener, NULL, NULL));
		exchange(fd, server, 10000);
		CHECK_OK(close(fd));
		CHECK_OK(close(server));
	}
}

/* ---- the time is over ---- */

/* How long to try, and how many attempts have to end in either way. */
#define TRY_MS		6000
#define ENOUGH		5
/* The kernel's timers run once in so many microseconds. */
#define TICK_US		4000

/* A child of an attempt that was withdrawn has nothing to say. */
static void *echo_thread(void *arg)
{
	char c;
	int fd;

	for (;;) {
		fd = CHECK_OK(accept(*(int *)arg, NULL, NULL));
		if (recv(fd, &c, 1, 0) == 1)
			CHECK_EQ(send(fd, &c, 1, MSG_NOSIGNAL), 1);
		CHECK_OK(close(fd));
	}
}

static void spin_us(unsigned int us)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - start.tv_sec) * 1000000 +
	       (now.tv_nsec - start.tv_nsec) / 1000 < us);
}

/* Whether RDMA was quicker; whatever was, what connect() has promised holds. */
static bool quick_enough(const struct addr *to)
{
	int fd = both_socket(0), why;
	char c = 0;

	CHECK_OK(connect(fd, &to->sa, to->len));
	CHECK_EQ(send(fd, "x", 1, MSG_NOSIGNAL), 1);
	CHECK_EQ(recv(fd, &c, 1, 0), 1);
	CHECK_EQ(c, 'x');
	why = reason(fd);
	CHECK_OK(close(fd));
	if (why != NONE)
		CHECK_EQ(why, TIMEOUT);
	return why == NONE;
}

static void wait_for_rdma(unsigned int ms)
{
	FILE *f = fopen("/proc/sys/net/sdp/fallback_timeout", "w");

	if (!f)
		sdp_skip("may not change fallback_timeout");
	fprintf(f, "%u", ms);
	CHECK_EQ(fclose(f), 0);
}

/* Has the time end about when the answer comes, by what was quicker the last time. */
static void answered_in_the_last_moment(void)
{
	int listener = listener_at(both_socket(0), server_addr(0), 16);
	struct addr a = local_addr(listener);
	unsigned int ms, quick = 0, slow = 0;
	uint32_t state = opts.seed;
	uint64_t start, end;
	pthread_t echo;

	thread_start(&echo, echo_thread, &listener);
	start = now_ms();
	CHECK(quick_enough(&a));
	ms = now_ms() - start + 1;
	end = now_ms() + TRY_MS;
	while (now_ms() < end || quick < ENOUGH || slow < ENOUGH) {
		wait_for_rdma(ms);
		spin_us(random_next(&state) % TICK_US);
		if (quick_enough(&a)) {
			quick++;
			ms -= ms / 8 + (ms > 1);
		} else {
			slow++;
			ms += ms / 8 + 1;
		}
	}
	ktap_diag("RDMA was quicker %u times, and TCP %u times, in the end with %u ms",
		  quick, slow, ms);
}

static const struct sdp_case cases[] = {
	CASE(renewed_under_connect, CASE_IPV6 | CASE_TCP),
	CASE(listener_under_connect, CASE_TCP),
	CASE(renewed_under_recv, CASE_SDP_ONLY),
	CASE(renewed_under_send, CASE_SDP_ONLY),
	CASE(renewed_under_attempt, CASE_SDP_ONLY),
	CASE(answered_in_the_last_moment, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return fallback_main(argc, argv, cases, ARRAY_SIZE(cases));
}
