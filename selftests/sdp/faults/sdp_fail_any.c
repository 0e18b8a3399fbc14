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

#include "sdp_attempts.h"
#include "sdp_engine.h"
#include "sdp_inject.h"
#include "sdp_memory.h"
#include "sdp_transfer.h"

#define ROUNDS	150
/* Each way. */
#define LEN	(200 * KIB)

static void run_rounds(const char *module, enum inject_kind kind)
{
	static const unsigned int percents[] = { 1, 2, 4, 8, 16 };
	unsigned int i, hits = 0, rounds = scaled_count(ROUNDS);
	int listener = new_listener(16);
	struct addr to = local_addr(listener);

	for (i = 0; i < rounds; i++) {
		inject_in_module(module, kind, percents[i % ARRAY_SIZE(percents)], 1);
		attempt_connection(listener, &to, LEN);
		hits += !inject_left(kind);
		inject_no_more();
		attempt_succeeds(listener, LEN);
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
		attempt_succeeds(listener, LEN);
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
