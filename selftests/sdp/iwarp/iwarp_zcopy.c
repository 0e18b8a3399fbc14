// SPDX-License-Identifier: GPL-2.0
/*
 * Zero copy between two programs on one machine: what the sender offers is
 * copied once, straight into memory of the reader that need not be pinned, or
 * even be there yet.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_transfer.h"

#define LEN	(8 * THRESH)

static struct pair offered_pair(void)
{
	device_counters("local_bytes");
	return new_pair();
}

/*
 * A reader that comes late gets copies, so that this goes on until one was in
 * time.
 */
static void until_offer_is_read(void (*move)(struct pair p, uint64_t pos))
{
	struct pair p = offered_pair();
	uint64_t pos = 0;

	WAIT_FOR(({
		move(p, pos);
		pos += LEN;
		info_of(p.server).sdpi_zcopy_received;
	}));
	close_pair(p);
}

static void move_one_way(struct pair p, uint64_t pos)
{
	one_way(p.client, p.server, LEN, 3, pos);
}

/* The sender's pages take up all that transfers may. */
static void transfers_of_one_side(void)
{
	long refused = sdp_stat("ZcopyMemRefusals");

	set_mem("129");
	until_offer_is_read(move_one_way);
	CHECK_EQ(sdp_stat("ZcopyMemRefusals"), refused);
}

static void reader_pins_nothing(void)
{
	run_with_mem(transfers_of_one_side);
}

static void move_to_user(struct pair p, uint64_t pos)
{
	struct rlimit none = { 0, 0 };
	struct job job = { p.client, SEED_UP, pos, LEN, LEN };
	pthread_t writer;
	pid_t pid;

	thread_start(&writer, write_job, &job);
	pid = fork_child();
	if (!pid) {
		CHECK_OK(setrlimit(RLIMIT_MEMLOCK, &none));
		CHECK_OK(setresuid(65534, 65534, 65534));
		recv_pattern(p.server, SEED_UP, pos, LEN, LEN);
		_exit(0);
	}
	join_child(pid);
	thread_join(writer);
}

static void reader_may_not_pin(void)
{
	until_offer_is_read(move_to_user);
}

/* Each page of the reader's memory faults in the middle of the copy. */
static void move_to_new_memory(struct pair p, uint64_t pos)
{
	unsigned char *buf = memory(LEN, 5);
	struct job job = { p.client, SEED_UP, pos, LEN, LEN };
	pthread_t writer;

	thread_start(&writer, write_job, &job);
	read_into(p.server, buf, LEN);
	thread_join(writer);
	pattern_verify(buf, LEN, SEED_UP, pos);
	CHECK_OK(munmap(buf - 5, LEN + 5));
}

static void memory_that_is_not_there_yet(void)
{
	until_offer_is_read(move_to_new_memory);
}

/* What does not fit into the reader's memory stays in the stream. */
static void memory_that_ends(void)
{
	struct pair p = offered_pair();
	unsigned char *buf = memory(LEN, 0);
	struct job job = { p.client, SEED_UP, 0, LEN, LEN };
	size_t room = 3 * 4 * KIB;
	pthread_t writer;
	ssize_t n;

	CHECK_OK(mprotect(buf + room, LEN - room, PROT_READ));
	thread_start(&writer, write_job, &job);
	n = recv(p.server, buf, LEN, 0);
	CHECK(n > 0);
	CHECK(n <= (ssize_t)room);
	pattern_verify(buf, n, SEED_UP, 0);
	recv_pattern(p.server, SEED_UP, n, LEN - n, LEN);
	thread_join(writer);
	close_pair(p);
}

static void memory_that_cannot_be_written(void)
{
	struct pair p = offered_pair();
	unsigned char *buf = memory(LEN, 0);
	struct job job = { p.client, SEED_UP, 0, LEN, LEN };
	pthread_t writer;

	CHECK_OK(mprotect(buf, LEN, PROT_READ));
	thread_start(&writer, write_job, &job);
	CHECK_ERR(recv(p.server, buf, LEN, 0), EFAULT);
	recv_pattern(p.server, SEED_UP, 0, LEN, LEN);
	thread_join(writer);
	close_pair(p);
}

/* Reads of all sizes, and a peer that reads as well. */
static void pieces_and_both_directions(void)
{
	struct pair p = offered_pair();
	size_t len = scaled(16 * MIB);
	struct job jobs[] = {
		{ p.client, SEED_UP, 0, len, 3 * THRESH + 17 },
		{ p.server, SEED_DOWN, 0, len, MIB + 1 },
		{ p.client, SEED_DOWN, 0, len, 2 * THRESH + 4099 },
		{ p.server, SEED_UP, 0, len, THRESH + 1 },
	};

	both_ways(jobs, write_job);
	close_pair(p);
}

static const struct sdp_case cases[] = {
	CASE(reader_pins_nothing, CASE_SDP_ONLY),
	CASE(reader_may_not_pin, CASE_SDP_ONLY),
	CASE(memory_that_is_not_there_yet, CASE_SDP_ONLY),
	CASE(memory_that_ends, CASE_SDP_ONLY),
	CASE(memory_that_cannot_be_written, CASE_SDP_ONLY),
	CASE(pieces_and_both_directions, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return zcopy_main("sync", argc, argv, cases, ARRAY_SIZE(cases));
}
