// SPDX-License-Identifier: GPL-2.0
/*
 * A handshake of which a frame is lost, or comes when nobody waits for it any more: the
 * client hears that nobody answers, the server has no connection, nothing is left, and the
 * next client is served.  Needs root, devices of iwarp.ko, and a kernel that injects faults.
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "sdp_attempts.h"
#include "sdp_inject.h"
#include "sdp_memory.h"
#include "sdp_transfer.h"

#define LEN	(60 * KIB)

/* The frames of a connection. */
#define REQUEST	1
#define REPLY	2

static const struct way {
	const char *name;
	const char *fault;
	unsigned int frame;
} ways[] = {
	{ "lost_request", "mpa_lost", REQUEST },
	{ "lost_reply", "mpa_lost", REPLY },
	{ "late_request", "mpa_late", REQUEST },
	{ "late_reply", "mpa_late", REPLY },
};

static const struct way *way;

/* The server waits as long for a request, and may be the first to give up. */
static void expect_errno(int err)
{
	if (err != ETIMEDOUT && !(way->frame == REQUEST && err == ECONNREFUSED))
		FAIL("errno of a client without an answer: %s", strerrorname_np(err));
}

/* What is accepted meanwhile has never carried anything, and has ended. */
static void expect_dead(int listener)
{
	int server = accept4(listener, NULL, NULL, SOCK_NONBLOCK);

	if (server < 0) {
		CHECK_EQ(errno, EAGAIN);
		return;
	}
	CHECK_EQ(recv_until_end(server), ECONNRESET);
	close(server);
}

static void run(void)
{
	int listener = new_listener(16), fd;
	struct addr to = local_addr(listener);
	struct rdma_objects before = rdma_objects(), now;

	fd = new_client(0);
	inject_in_device(way->fault, way->frame);
	CHECK_EQ(connect(fd, &to.sa, to.len), -1);
	expect_errno(errno);
	close(fd);
	CHECK(inject_in_device_met(way->fault));
	inject_in_device_no_more(way->fault);
	attempt_succeeds(listener, LEN);
	set_nonblock(listener, true);
	expect_dead(listener);
	WAIT_FOR((now = rdma_objects(), !memcmp(&now, &before, sizeof(now))));
	close(listener);
}

static void restore(void)
{
	inject_in_device_no_more(way->fault);
}

static void run_way(void)
{
	for (way = ways; strcmp(way->name, sdp_case_name);)
		way++;
	need_own_device();
	run_and_undo(run, restore);
}

int main(int argc, char **argv)
{
	struct sdp_case cases[ARRAY_SIZE(ways)];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ways); i++)
		cases[i] = (struct sdp_case){ ways[i].name, run_way, CASE_SDP_ONLY | CASE_LONG };
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
