// SPDX-License-Identifier: GPL-2.0
/*
 * Connections of which some allocation fails, anywhere: in a call, in a work queue, or when
 * something has arrived.  A connection is made, or the client hears of it; what it carries
 * is right until it ends; and the next one works.  Needs root, and a kernel that injects
 * faults.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_inject.h"
#include "sdp_memory.h"
#include "sdp_transfer.h"

#define ROUNDS	150
#define LEN	(200 * KIB)

/* What a connection may end with, or a call fail with; the peer may have failed. */
static void expect_loss(int err)
{
	static const int may[] = {
		ENOMEM, ENOBUFS, ENFILE, ECONNREFUSED, ECONNRESET, EPIPE, ENOTCONN,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(may); i++)
		if (err == may[i])
			return;
	FAIL("errno of a lost connection: %s", strerrorname_np(err));
}

static bool lost(long ret)
{
	if (ret >= 0)
		return false;
	expect_loss(errno);
	return true;
}

/* Returns whether it is connected. */
static bool try_connect(int fd, const struct addr *to)
{
	int err;

	set_nonblock(fd, true);
	if (connect(fd, &to->sa, to->len) < 0 && errno != EINPROGRESS) {
		expect_loss(errno);
		return false;
	}
	wait_poll(fd, POLLOUT);
	err = get_int(fd, SOL_SOCKET, SO_ERROR);
	if (err)
		expect_loss(err);
	return !err;
}

/* Returns its other end, or -1; the client hears that there is none. */
static int try_accept(int listener, int fd)
{
	int server;

	WAIT_FOR((poll_now(listener) & POLLIN) || (poll_now(fd) & (POLLIN | POLLERR)));
	if (!(poll_now(listener) & POLLIN))
		return -1;
	server = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
	return lost(server) ? -1 : server;
}

struct way {
	int from, to;
	uint64_t seed, sent, got;
};

/* Returns whether the connection goes on. */
static bool push(struct way *w)
{
	unsigned char buf[16 * KIB];
	size_t want = LEN - w->sent < sizeof(buf) ? LEN - w->sent : sizeof(buf);
	ssize_t n;

	if (!want)
		return true;
	pattern_fill(buf, want, w->seed, w->sent);
	n = send(w->from, buf, want, MSG_DONTWAIT | MSG_NOSIGNAL);
	w->sent += n > 0 ? n : 0;
	return n >= 0 || errno == EAGAIN || !lost(n);
}

static bool pull(struct way *w)
{
	unsigned char buf[16 * KIB];
	ssize_t n = recv(w->to, buf, sizeof(buf), MSG_DONTWAIT);

	if (n > 0) {
		pattern_verify(buf, n, w->seed, w->got);
		w->got += n;
	}
	/* An end comes only where something has failed. */
	return n > 0 || (n < 0 && (errno == EAGAIN || !lost(n)));
}

static void try_transfer(int a, int b)
{
	struct way up = { .from = a, .to = b, .seed = SEED_UP };
	struct way down = { .from = b, .to = a, .seed = SEED_DOWN };

	WAIT_FOR(!push(&up) || !push(&down) || !pull(&up) || !pull(&down) ||
		 (up.got == LEN && down.got == LEN));
}

static void try_connection(int listener, const struct addr *to)
{
	int fd = socket(test_family(false), SOCK_STREAM, test_protocol());
	int server;

	if (lost(fd))
		return;
	if (try_connect(fd, to)) {
		server = try_accept(listener, fd);
		if (server >= 0) {
			try_transfer(fd, server);
			close(server);
		}
	}
	close(fd);
}

static void expect_works(int listener)
{
	int fd = connect_to(listener);
	int server = accept_peer_of(listener, fd);

	exchange(fd, server, LEN);
	close(server);
	close(fd);
}

static void run_rounds(const char *module, enum inject_kind kind)
{
	static const unsigned int percents[] = { 1, 2, 4, 8, 16 };
	unsigned int i, hits = 0, rounds = scaled_count(ROUNDS);
	int listener = new_listener(16);
	struct addr to = local_addr(listener);

	for (i = 0; i < rounds; i++) {
		inject_in_module(module, kind, percents[i % ARRAY_SIZE(percents)], 1);
		try_connection(listener, &to);
		hits += !inject_left(kind);
		inject_no_more();
		expect_works(listener);
	}
	CHECK(hits >= rounds / 4);
	close(listener);
}

static void run_slab(void)
{
	run_rounds("sdp", INJECT_SLAB);
}

static void run_pages(void)
{
	run_rounds("sdp", INJECT_PAGES);
}

static void small_memory(void)
{
	run_and_undo(run_slab, inject_no_more);
}

static void pages(void)
{
	run_and_undo(run_pages, inject_no_more);
}

static void run_device_slab(void)
{
	run_rounds("iwarp", INJECT_SLAB);
}

static void run_device_pages(void)
{
	run_rounds("iwarp", INJECT_PAGES);
}

static void need_own_device(void)
{
	if (access("/sys/module/iwarp", F_OK))
		sdp_skip("the devices are not those of iwarp.ko");
}

static void small_memory_of_devices(void)
{
	need_own_device();
	run_and_undo(run_device_slab, inject_no_more);
}

static void pages_of_devices(void)
{
	need_own_device();
	run_and_undo(run_device_pages, inject_no_more);
}

/* Either end cannot make its queue pair ready; what is posted there is released all the same. */
static void run_unready(void)
{
	int listener = new_listener(16), fd, err;
	struct addr to = local_addr(listener);
	bool own = false, peers = false;

	WAIT_FOR(({
		fd = new_client(0);
		inject_in_function("rxe_qp_from_attr", INJECT_SLAB, 50, 1);
		err = connect(fd, &to.sa, to.len) ? errno : 0;
		inject_no_more();
		CHECK(!err || err == ENOMEM || err == ECONNREFUSED);
		own |= err == ENOMEM;
		peers |= err == ECONNREFUSED;
		close(fd);
		expect_works(listener);
		own && peers;
	}));
	close(listener);
	WAIT_FOR(!kernel_threads_in("ib_drain_qp"));
}

static void unready_for_want_of_memory(void)
{
	if (over_iwarp())
		sdp_skip("the devices are not Soft-RoCE's");
	run_and_undo(run_unready, inject_no_more);
}

static const struct sdp_case cases[] = {
	CASE(small_memory, CASE_SDP_ONLY | CASE_LONG),
	CASE(pages, CASE_SDP_ONLY | CASE_LONG),
	CASE(unready_for_want_of_memory, CASE_SDP_ONLY | CASE_LONG),
	CASE(small_memory_of_devices, CASE_SDP_ONLY | CASE_LONG),
	CASE(pages_of_devices, CASE_SDP_ONLY | CASE_LONG),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
