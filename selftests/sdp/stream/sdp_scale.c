// SPDX-License-Identifier: GPL-2.0
/*
 * Thousands of connections in one machine: what they cost while they are idle,
 * and that all of it comes back. SDP_TEST_CONNECTIONS says how many.
 */
#define _GNU_SOURCE
#include <linux/sock_diag.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/sysinfo.h>

#include "sdp_engine.h"
#include "sdp_memory.h"

#define SYSCTL_MEM	"/proc/sys/net/sdp/mem"
#define CONNECTIONS	2000
#define BYTES		100

static char old_mem[128];
static char old_flow[64];

static unsigned int connections(void)
{
	const char *text = getenv("SDP_TEST_CONNECTIONS");

	return text && *text ? strtoul(text, NULL, 0) :
			       scaled_count(CONNECTIONS);
}

static void restore_mem(void)
{
	CHECK(file_write(SYSCTL_MEM, old_mem));
}

/* A node of this size would not hold as much by default. */
static void raise_mem(void)
{
	char text[128];

	snprintf(text, sizeof(text), "%lu %lu %lu", get_phys_pages() / 4UL,
		 get_phys_pages() / 3UL, get_phys_pages() / 2UL);
	CHECK(file_write(SYSCTL_MEM, text));
}

static void open_all(struct pair *p, unsigned int count)
{
	int listener = new_listener(16);
	unsigned int i;

	for (i = 0; i < count; i++) {
		p[i].client = connect_to(listener);
		p[i].server = CHECK_OK(accept(listener, NULL, NULL));
	}
	CHECK_OK(close(listener));
}

/* Each pair has content of its own. */
static void use_all(const struct pair *p, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		send_pattern(p[i].client, 2 * i, 0, BYTES, BYTES);
		send_pattern(p[i].server, 2 * i + 1, 0, BYTES, BYTES);
	}
	for (i = 0; i < count; i++) {
		recv_pattern(p[i].server, 2 * i, 0, BYTES, BYTES);
		recv_pattern(p[i].client, 2 * i + 1, 0, BYTES, BYTES);
	}
}

static size_t charged(int fd)
{
	size_t bytes = mem_received(fd) + mem_sent(fd);

	CHECK(bytes > 0);
	CHECK(bytes < 64 * KIB);
	CHECK_EQ(mem_info(fd, SK_MEMINFO_FWD_ALLOC), 0);
	return bytes;
}

static size_t charged_to_all(const struct pair *p, unsigned int count)
{
	size_t bytes = 0;
	unsigned int i;

	for (i = 0; i < count; i++)
		bytes += charged(p[i].client) + charged(p[i].server);
	return bytes;
}

/* However long it takes, as long as it goes on. */
static void wait_until_gone(void)
{
	long left;

	while ((left = sdp_stat("Sockets")))
		WAIT_FOR(sdp_stat("Sockets") < left);
	CHECK_EQ(sdp_stat("MemPages"), 0);
}

static void open_use_close(void)
{
	unsigned int count = connections(), i;
	struct pair *p = calloc(count, sizeof(*p));
	uint64_t start, opened, used, closed;
	size_t before, idle, bytes;

	CHECK(p);
	raise_file_limit(2 * count + 64);
	raise_mem();
	wait_until_gone();
	before = available_memory();
	start = now_ms();
	open_all(p, count);
	opened = now_ms();
	idle = available_memory();
	use_all(p, count);
	used = now_ms();
	bytes = charged_to_all(p, count);
	CHECK_EQ(sdp_stat("MemPages"), bytes / (4 * KIB));
	for (i = 0; i < count; i++)
		close_pair(p[i]);
	wait_until_gone();
	closed = now_ms();
	printf("# %u connections: opened in %llu ms, used in %llu, closed in %llu\n",
	       count, (unsigned long long)(opened - start),
	       (unsigned long long)(used - opened),
	       (unsigned long long)(closed - used));
	printf("# an end: %zu bytes charged; idle it takes %zu, the device's part included\n",
	       bytes / count / 2,
	       before > idle ? (before - idle) / count / 2 : 0);
	free(p);
}

static void thousands_of_connections(void)
{
	file_read(SYSCTL_MEM, old_mem, sizeof(old_mem));
	run_and_undo(open_use_close, restore_mem);
}

/*
 * All of one side's ends are reset at once, each while its peer waits for it:
 * none may have to wait until the others have been told.
 */
static void reset_and_count(void)
{
	unsigned int count = connections() / 2, i;
	struct pair *p = calloc(count, sizeof(*p));
	uint64_t start;

	CHECK(p);
	raise_file_limit(2 * count + 64);
	raise_mem();
	wait_until_gone();
	open_all(p, count);
	for (i = 0; i < count; i++)
		CHECK_EQ(send(p[i].client, "x", 1, 0), 1);
	for (i = 0; i < count; i++)
		wait_poll(p[i].server, POLLIN);
	start = now_ms();
	for (i = 0; i < count; i++)
		CHECK_OK(close(p[i].server));
	for (i = 0; i < count; i++)
		CHECK_EQ(recv_until_end(p[i].client), ECONNRESET);
	printf("# %u connections: reset in %llu ms\n", count,
	       (unsigned long long)(now_ms() - start));
	for (i = 0; i < count; i++)
		CHECK_OK(close(p[i].client));
	wait_until_gone();
	printf("# gone after %llu ms\n",
	       (unsigned long long)(now_ms() - start));
	free(p);
}

static void thousands_of_resets(void)
{
	file_read(SYSCTL_MEM, old_mem, sizeof(old_mem));
	run_and_undo(reset_and_count, restore_mem);
}

/* ---- what the choice of an engine costs ---- */

/* Bytes that an end takes before any data, the device's part included. */
static size_t idle_cost(const char *engine, struct pair *p, unsigned int count)
{
	size_t before, idle;
	unsigned int i;

	CHECK_EQ(write_sysctl(SYSCTL_FLOW, engine), 0);
	before = available_memory();
	open_all(p, count);
	idle = available_memory();
	expect_flow(p[0].client, engine);
	for (i = 0; i < count; i++)
		close_pair(p[i]);
	wait_until_gone();
	return before > idle ? (before - idle) / count / 2 : 0;
}

#define ROUNDS 3

/* Whether the engines with rings cost so little more as they should. */
static bool engines_are_cheap(struct pair *p, unsigned int count)
{
	size_t credit = idle_cost("credit", p, count);
	size_t rdma = idle_cost("rdma", p, count);
	size_t nic = idle_cost("nic", p, count);

	printf("# an idle end takes %zu bytes with credit, %zu with rdma, %zu with nic\n",
	       credit, rdma, nic);
	fflush(stdout);
	return rdma < credit + 160 * KIB && nic < credit + 160 * KIB;
}

/*
 * What describes the buffers of a ring comes with the ring.  For its receive
 * requests the queue pair has room from the start, 128 KiB with Soft-RoCE.  The
 * first round is for the completion queues, which stay; and as the whole system's
 * memory is looked at, in which more goes on, one of several has to do.
 */
static void compare_engines(void)
{
	unsigned int count = connections() / 4, round = 0;
	struct pair *p = calloc(count, sizeof(*p));

	CHECK(p);
	raise_file_limit(2 * count + 64);
	raise_mem();
	wait_until_gone();
	idle_cost("nic", p, count);
	while (!engines_are_cheap(p, count))
		CHECK(++round < ROUNDS);
	free(p);
}

static void restore_mem_and_flow(void)
{
	restore_mem();
	CHECK_EQ(write_sysctl(SYSCTL_FLOW, old_flow), 0);
}

static void idle_with_each_engine(void)
{
	file_read(SYSCTL_MEM, old_mem, sizeof(old_mem));
	read_sysctl(SYSCTL_FLOW, old_flow, sizeof(old_flow));
	run_and_undo(compare_engines, restore_mem_and_flow);
}

static const struct sdp_case cases[] = {
	CASE(thousands_of_connections, CASE_SDP_ONLY | CASE_LONG),
	CASE(thousands_of_resets, CASE_SDP_ONLY | CASE_LONG),
	CASE(idle_with_each_engine, CASE_SDP_ONLY | CASE_LONG),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
