// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that is short: net.sdp.mem, control groups, allocations that fail. And
 * connections that no limit of a program counts any more.
 * Needs root; what a case changes, another process changes back.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"

#define SYSCTL_MEM	"/proc/sys/net/sdp/mem"
#define LARGEST_BUFFER	((int)(64 * KIB))

/* ---- net.sdp.mem ---- */

static char old_mem[128];

static void restore_mem(void)
{
	CHECK(file_write(SYSCTL_MEM, old_mem));
}

static void with_mem(void (*run)(void))
{
	file_read(SYSCTL_MEM, old_mem, sizeof(old_mem));
	run_and_undo(run, restore_mem);
}

#define MOST_HELD 512

/* Each processor keeps up to 1 MiB off the account that the limits look at. */
static int hold_enough(struct pair *held)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int count = (cpus + 1) * MIB / (2 * (FIRST_RECEIVE + RING_PIECE)) + 1;
	int i;

	CHECK(count <= MOST_HELD);
	for (i = 0; i < count; i++)
		held[i] = new_pair();
	return count;
}

static void under_pressure(void)
{
	static struct pair held[MOST_HELD];
	long pressures = sdp_stat("MemPressures");
	struct pair p;

	hold_enough(held);
	CHECK(file_write(SYSCTL_MEM, "1 1 1000000"));
	p = new_pair();
	CHECK_EQ(sdp_stat("MemPressure"), 1);
	CHECK_EQ(sdp_stat("MemPressures"), pressures + 1);
	exchange(p.client, p.server, scaled(2 * MIB));
	CHECK(mem_received(p.client) <= FIRST_RECEIVE);
	CHECK(mem_received(p.server) <= FIRST_RECEIVE);
	CHECK_EQ(mem_sent(p.client), RING_PIECE);
	CHECK_EQ(get_int(p.client, SOL_TCP, TCP_MAXSEG), 4 * KIB);
	CHECK(sdp_stat("RcvBufRefusals") > 0);
	/* When it is over they catch up. */
	CHECK(file_write(SYSCTL_MEM, old_mem));
	close_pair(new_pair());
	CHECK_EQ(sdp_stat("MemPressure"), 0);
	WAIT_FOR((exchange(p.client, p.server, 256 * KIB),
		  get_int(p.client, SOL_TCP, TCP_MAXSEG) == LARGEST_BUFFER));
}

static void no_growth_under_pressure(void)
{
	with_mem(under_pressure);
}

/* Buffers that are there go away as they are read. */
static void shrink(void)
{
	static struct pair held[MOST_HELD];
	struct pair p = new_pair();

	hold_enough(held);
	WAIT_FOR((exchange(p.client, p.server, scaled(4 * MIB)),
		  mem_received(p.server) > 4 * (size_t)LARGEST_BUFFER));
	CHECK(file_write(SYSCTL_MEM, "1 1 1000000"));
	close_pair(new_pair());
	exchange(p.client, p.server, scaled(8 * MIB));
	CHECK(mem_received(p.server) <= 4 * (size_t)LARGEST_BUFFER);
	CHECK(mem_received(p.client) <= 4 * (size_t)LARGEST_BUFFER);
}

static void shrinks_under_pressure(void)
{
	with_mem(shrink);
}

static void above_the_limit(void)
{
	static struct pair held[MOST_HELD];
	int count = hold_enough(held), listener = new_listener(4), fd, i;
	struct addr a = local_addr(listener);

	CHECK(file_write(SYSCTL_MEM, "1 1 1"));
	for (i = 0; i < 3; i++) {
		fd = new_client(0);
		CHECK_EQ(connect(fd, &a.sa, a.len), -1);
		if (errno != ENOBUFS && errno != ECONNREFUSED)
			FAIL("connect() gave %s", strerrorname_np(errno));
		CHECK_OK(close(fd));
	}
	/* Those that are there go on, also those that have not sent yet. */
	for (i = 0; i < count; i += 10)
		exchange(held[i].client, held[i].server, scaled(MIB));
	CHECK(file_write(SYSCTL_MEM, old_mem));
	fd = connect_to(listener);
	exchange(fd, CHECK_OK(accept(listener, NULL, NULL)), 100000);
}

static void refused_above_the_limit(void)
{
	with_mem(above_the_limit);
}

/* ---- control groups ---- */

/*
 * A process in the group that listens. It never accepts, so that it has no part
 * in what the group uses, and no reason to be killed.
 */
static pid_t start_listener(uint16_t *port, int rcvbuf)
{
	int channel[2], listener;
	pid_t pid;

	CHECK_OK(pipe(channel));
	pid = fork_child();
	if (pid == 0) {
		group_enter();
		listener = new_listener(100);
		if (rcvbuf)
			set_int(listener, SOL_SOCKET, SO_RCVBUF, rcvbuf);
		*port = local_port(listener);
		CHECK_EQ(write(channel[1], port, sizeof(*port)), sizeof(*port));
		for (;;)
			pause();
	}
	CHECK_EQ(read(channel[0], port, sizeof(*port)), sizeof(*port));
	return pid;
}

#define IN_GROUP 20

static void charged_to_the_listener(void)
{
	size_t each = FIRST_RECEIVE + RING_PIECE;
	int client[IN_GROUP], i;
	struct addr a = { 0 };
	uint16_t port;
	pid_t pid;

	group_make();
	pid = start_listener(&port, 0);
	CHECK_EQ(group_stat("sock"), 0);
	a = server_addr(port);
	for (i = 0; i < IN_GROUP; i++) {
		client[i] = new_client(0);
		CHECK_OK(connect(client[i], &a.sa, a.len));
	}
	WAIT_FOR(group_stat("sock") >= IN_GROUP * each);
	/* The clients are not in the group. */
	CHECK(group_stat("sock") < 2 * IN_GROUP * each);
	kill_child(pid);
	for (i = 0; i < IN_GROUP; i++)
		CHECK_OK(close(client[i]));
	WAIT_FOR(group_stat("sock") == 0);
	group_remove();
}

#define SYSCTL_BUFFERS "/proc/sys/net/sdp/num_buffers"
#define MANY_BUFFERS	"1024"
/* Less than what describes so many of them. */
#define THEIR_TABLES	(64 * KIB)

static char old_buffers[32];

static void restore_buffers(void)
{
	CHECK(file_write(SYSCTL_BUFFERS, old_buffers));
	group_remove();
}

/* A worker sets them up, for the listener. */
static void connect_with_tables(void)
{
	size_t most = IN_GROUP * THEIR_TABLES, before;
	int client[IN_GROUP], i;
	struct addr a = { 0 };
	uint16_t port;
	pid_t pid;

	CHECK(file_write(SYSCTL_BUFFERS, MANY_BUFFERS));
	pid = start_listener(&port, 0);
	before = group_stat("kernel");
	a = server_addr(port);
	for (i = 0; i < IN_GROUP; i++) {
		client[i] = new_client(0);
		CHECK_OK(connect(client[i], &a.sa, a.len));
	}
	WAIT_FOR(group_stat("kernel") >= before + most);
	kill_child(pid);
	for (i = 0; i < IN_GROUP; i++)
		CHECK_OK(close(client[i]));
	WAIT_FOR(group_stat("sock") == 0);
	WAIT_FOR(group_stat("kernel") < before + most);
}

static void tables_are_charged(void)
{
	group_make();
	file_read(SYSCTL_BUFFERS, old_buffers, sizeof(old_buffers));
	run_and_undo(connect_with_tables, restore_buffers);
}

/* More than the group may have is refused, and nobody hangs or is killed. */
static void fill_group(int rcvbuf)
{
	int client[200], refused = 0, accepted = 0, i;
	struct addr a = { 0 };
	uint16_t port;
	pid_t pid;

	group_make();
	pid = start_listener(&port, rcvbuf);
	a = server_addr(port);
	CHECK(group_write("memory.max", "3000000"));
	for (i = 0; i < (int)ARRAY_SIZE(client) && refused < 3; i++) {
		int fd = new_client(0);

		if (!connect(fd, &a.sa, a.len)) {
			client[accepted++] = fd;
			continue;
		}
		CHECK_EQ(errno, ECONNREFUSED);
		refused++;
		CHECK_OK(close(fd));
	}
	printf("# %d connections in 3 MB, then %d refused\n", accepted, refused);
	fflush(stdout);
	CHECK(accepted > 0);
	CHECK_EQ(refused, 3);
	CHECK(group_stat("sock") <= 3000000);
	CHECK(group_has("memory.events", "oom_kill 0"));
	kill_child(pid);
	for (i = 0; i < accepted; i++)
		CHECK_OK(close(client[i]));
	WAIT_FOR(group_stat("sock") == 0);
	group_remove();
}

static void group_limit(void)
{
	fill_group(0);
}

/* For as many pages at once as large buffers take the kernel kills nobody, anyway. */
static void group_limit_with_small_buffers(void)
{
	fill_group(1);
}

/* ---- allocations that fail ---- */

#define FAIL_DIR "/sys/kernel/debug/fail_page_alloc/"

static void stop_failing(void)
{
	file_write(FAIL_DIR "probability", "0");
}

static void set_failing(const char *percent)
{
	CHECK(file_write(FAIL_DIR "verbose", "0"));
	CHECK(file_write(FAIL_DIR "times", "-1"));
	CHECK(file_write(FAIL_DIR "interval", "1"));
	CHECK(file_write(FAIL_DIR "ignore-gfp-wait", "N"));
	/* Two pages and more: buffers that grow, but not the first ones. */
	CHECK(file_write(FAIL_DIR "min-order", "3"));
	CHECK(file_write(FAIL_DIR "probability", percent));
}

static void grow_against_odds(void)
{
	int i;

	for (i = 0; i < 5; i++) {
		struct pair p = new_pair();

		set_failing(i % 2 ? "100" : "60");
		exchange(p.client, p.server, scaled(2 * MIB));
		stop_failing();
		CHECK(mem_received(p.client) >= 4 * 4 * KIB);
		close_pair(p);
	}
}

static void failing_allocations(void)
{
	mount("none", "/sys/kernel/debug", "debugfs", 0, NULL);
	if (access(FAIL_DIR "probability", W_OK))
		sdp_skip("this kernel cannot let allocations fail");
	run_and_undo(grow_against_odds, stop_failing);
}

/* ---- net.sdp.max_orphans ---- */

#define SYSCTL_ORPHANS	"/proc/sys/net/sdp/max_orphans"
#define MOST_ORPHANS	2

static char old_orphans[32];

static void restore_orphans(void)
{
	CHECK(file_write(SYSCTL_ORPHANS, old_orphans));
}

/* Closes the client with data on its way; returns how much the server has to get. */
static uint64_t leave_orphan(struct pair *p, uint64_t seed)
{
	uint64_t sent;

	*p = new_pair();
	sent = fill_pipe(p->client, seed);
	CHECK_OK(close(p->client));
	return sent;
}

/* Those that there may be lose nothing, and the others' peers are told. */
static void close_too_many(void)
{
	long drops = sdp_stat("OrphanDrops");
	uint64_t sent[2 * MOST_ORPHANS], got;
	struct pair p[2 * MOST_ORPHANS];
	int i, err;

	CHECK(file_write(SYSCTL_ORPHANS, "2"));
	for (i = 0; i < 2 * MOST_ORPHANS; i++)
		sent[i] = leave_orphan(&p[i], i);
	CHECK_EQ(sdp_stat("OrphanDrops"), drops + MOST_ORPHANS);
	for (i = 0; i < 2 * MOST_ORPHANS; i++) {
		got = recv_pattern_to_end(p[i].server, i, 0, &err);
		CHECK_EQ(err, i < MOST_ORPHANS ? 0 : ECONNRESET);
		if (!err)
			CHECK_EQ(got, sent[i]);
		close(p[i].server);
	}
	/* When they are gone there may be others. */
	do {
		drops = sdp_stat("OrphanDrops");
		sent[0] = leave_orphan(&p[0], 9);
		got = recv_pattern_to_end(p[0].server, 9, 0, &err);
		close(p[0].server);
	} while (err);
	CHECK_EQ(got, sent[0]);
	CHECK_EQ(sdp_stat("OrphanDrops"), drops);
}

static void orphans_are_limited(void)
{
	file_read(SYSCTL_ORPHANS, old_orphans, sizeof(old_orphans));
	run_and_undo(close_too_many, restore_orphans);
}

/* ---- what a control group may have of a device ---- */

/* The ends of two connections on each device, or as many as there are. */
static void limit_objects(const char *count)
{
	char limit[128];
	glob_t devices;
	size_t i;

	CHECK(!glob("/sys/class/infiniband/*", 0, NULL, &devices));
	for (i = 0; i < devices.gl_pathc; i++) {
		snprintf(limit, sizeof(limit), "%s hca_object=%s",
			 strrchr(devices.gl_pathv[i], '/') + 1, count);
		CHECK(group_write("rdma.max", limit));
	}
	globfree(&devices);
}

/* A group must not go with a limit set: its kernel forgets to forget that. */
static void remove_objects_group(void)
{
	limit_objects("max");
	group_remove();
}

static struct pair accepted_pair(int listener, int client)
{
	struct pair p = { client, CHECK_OK(accept(listener, NULL, NULL)) };

	exchange(p.client, p.server, 10000);
	return p;
}

/* Who connects without waiting hears of the limit when it sends. */
static void send_over_the_limit(struct addr a)
{
	int fd = new_client(SOCK_NONBLOCK);

	CHECK_ERR(connect(fd, &a.sa, a.len), EINPROGRESS);
	wait_poll(fd, POLLOUT);
	CHECK_ERR(send(fd, "x", 1, MSG_NOSIGNAL), ENOBUFS);
	CHECK_OK(close(fd));
}

static void run_objects_of_group(void)
{
	int listener = new_listener(16), early = connect_to(listener);
	int late = new_client(0), third;
	struct addr a = local_addr(listener);
	struct pair p, q;

	group_enter();
	/* Of this one only the server's end is the group's. */
	q = accepted_pair(listener, early);
	p = accepted_pair(listener, connect_to(listener));
	third = connect_to(listener);
	CHECK_ERR(connect(late, &a.sa, a.len), ENOBUFS);
	send_over_the_limit(a);
	CHECK_ERR(accept(listener, NULL, NULL), ENOBUFS);
	CHECK_EQ(recv_until_end(third), ECONNRESET);
	CHECK_OK(close(third));
	exchange(p.client, p.server, 10000);
	exchange(q.client, q.server, 10000);
	/* What ends makes room. */
	close_pair(q);
	WAIT_FOR(!connect(late, &a.sa, a.len) || errno != ENOBUFS);
	CHECK_EQ(send(late, "x", 1, MSG_NOSIGNAL), 1);
	close_pair(p);
}

static void objects_of_group(void)
{
	group_make();
	if (!file_write(CGROUPS "/cgroup.subtree_control", "+rdma"))
		sdp_skip("control groups cannot limit devices here");
	limit_objects("2");
	run_and_undo(run_objects_of_group, remove_objects_group);
}

static const struct sdp_case cases[] = {
	CASE(no_growth_under_pressure, CASE_SDP_ONLY | CASE_LONG),
	CASE(shrinks_under_pressure, CASE_SDP_ONLY | CASE_LONG),
	CASE(refused_above_the_limit, CASE_SDP_ONLY | CASE_LONG),
	CASE(charged_to_the_listener, CASE_SDP_ONLY),
	CASE(tables_are_charged, CASE_SDP_ONLY),
	CASE(group_limit, CASE_SDP_ONLY),
	CASE(group_limit_with_small_buffers, CASE_SDP_ONLY),
	CASE(objects_of_group, CASE_SDP_ONLY),
	CASE(orphans_are_limited, CASE_SDP_ONLY),
	CASE(failing_allocations, CASE_SDP_ONLY | CASE_LONG),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
