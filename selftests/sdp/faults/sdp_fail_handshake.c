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
	struct rdma_objects before = rdma_objects();

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
	expect_rdma_objects(&before);
	close(listener);
}

static void restore(void)
{
	inject_in_device_no_more(way->fault);
}

static void run_way(const void *which)
{
	way = which;
	need_own_device();
	run_and_undo(run, restore);
}

int main(int argc, char **argv)
{
	return attempt_main(argc, argv, (struct attempt_ways){
		ways, ARRAY_SIZE(ways), sizeof(*ways), run_way
	});
}
