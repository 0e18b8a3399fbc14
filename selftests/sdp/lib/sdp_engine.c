// SPDX-License-Identifier: GPL-2.0
/* Engines of flow control, for the AF_SDP selftests. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"

#define SYSCTL_WAIT	"/proc/sys/net/sdp/coalesce_time"

/* Of network devices, for receiving. */
#define MAX_QUEUES	64

int write_sysctl(const char *path, const char *value)
{
	int fd = CHECK_OK(open(path, O_WRONLY));
	int ret = write(fd, value, strlen(value)) < 0 ? errno : 0;

	close(fd);
	return ret;
}

void read_sysctl(const char *path, char *buf, size_t size)
{
	int fd = CHECK_OK(open(path, O_RDONLY));
	ssize_t len = CHECK_OK(read(fd, buf, size - 1));

	close(fd);
	buf[len] = 0;
	buf[strcspn(buf, "\n")] = 0;
}

int set_flow(int fd, const char *name)
{
	return setsockopt(fd, SOL_SDP, SDP_FLOW_CONTROL, name, strlen(name));
}

void expect_flow(int fd, const char *want)
{
	char name[16] = "";
	socklen_t len = sizeof(name);

	CHECK_OK(getsockopt(fd, SOL_SDP, SDP_FLOW_CONTROL, name, &len));
	CHECK_EQ(len, sizeof(name));
	if (strcmp(name, want))
		FAIL("expected engine %s, got %s", want, name);
}

struct sdp_info info_of(int fd)
{
	struct sdp_info info = { 0 };
	socklen_t len = sizeof(info);

	CHECK_OK(getsockopt(fd, SOL_SDP, SDP_INFO, &info, &len));
	return info;
}

int engine_listener(const char *engine, int ring)
{
	int listener = CHECK_OK(socket(test_family(false), SOCK_STREAM,
				       test_protocol()));
	struct addr addr = server_addr(0);

	CHECK_OK(set_flow(listener, engine));
	/* The kernel doubles what it is told, and would not allow as much to all. */
	if (ring)
		set_int(listener, SOL_SOCKET, SO_RCVBUFFORCE, ring / 2);
	CHECK_OK(bind(listener, &addr.sa, addr.len));
	CHECK_OK(listen(listener, 1));
	return listener;
}

struct pair engine_pair(const char *client, const char *server, int ring)
{
	int listener = engine_listener(server, ring);
	struct addr addr = local_addr(listener);
	struct pair p;

	p.client = new_client(0);
	CHECK_OK(set_flow(p.client, client));
	expect_flow(p.client, client);
	if (ring)
		set_int(p.client, SOL_SOCKET, SO_RCVBUFFORCE, ring / 2);
	CHECK_OK(connect(p.client, &addr.sa, addr.len));
	p.server = CHECK_OK(accept(listener, NULL, NULL));
	CHECK_OK(close(listener));
	return p;
}

struct pair pair_wanting(const char *engine)
{
	return engine_pair(engine, engine, 0);
}

/*
 * A cable keeps the order of packets, a veth pair does if one processor takes
 * in all of them.  Soft-RoCE repeats RDMA reads where packets overtake others,
 * and ends a connection when it finds such a request late, for memory that was
 * read and taken back.
 */
static void keep_order(glob_t *queues, char (*was)[64])
{
	size_t i;

	glob("/sys/class/net/*/queues/rx-*/rps_cpus", 0, NULL, queues);
	for (i = 0; i < queues->gl_pathc && i < MAX_QUEUES; i++) {
		read_sysctl(queues->gl_pathv[i], was[i], sizeof(was[i]));
		write_sysctl(queues->gl_pathv[i], "1");
	}
}

static void restore_order(glob_t *queues, char (*was)[64])
{
	size_t i;

	for (i = 0; i < queues->gl_pathc && i < MAX_QUEUES; i++)
		if (!access(queues->gl_pathv[i], W_OK))
			write_sysctl(queues->gl_pathv[i], was[i]);
	globfree(queues);
}

int zcopy_main(const char *wanted, int argc, char **argv,
	       const struct sdp_case *cases, size_t count)
{
	char was[MAX_QUEUES][64];
	const char *direct = getenv("SDP_TEST_ZCOPY_DIRECT");
	char direct_was[16] = "";
	char mode[16] = "off";
	glob_t queues;
	int ret;

	if (access(SYSCTL_ZCOPY, W_OK))
		return sdp_main(argc, argv, cases, count);
	read_sysctl(SYSCTL_ZCOPY, mode, sizeof(mode));
	write_sysctl(SYSCTL_ZCOPY, wanted);
	read_sysctl(SYSCTL_DIRECT, direct_was, sizeof(direct_was));
	write_sysctl(SYSCTL_DIRECT, direct ? direct : "0");
	keep_order(&queues, was);
	ret = sdp_main(argc, argv, cases, count);
	restore_order(&queues, was);
	write_sysctl(SYSCTL_DIRECT, direct_was);
	write_sysctl(SYSCTL_ZCOPY, mode);
	return ret;
}

int set_zcopy(int fd, const char *name)
{
	return setsockopt(fd, SOL_SDP, SDP_ZCOPY, name, strlen(name));
}

int set_zcopy_recv(int fd, const char *name)
{
	return setsockopt(fd, SOL_SDP, SDP_ZCOPY_RECV, name, strlen(name));
}

bool reads_can_return_early(void)
{
	int fd = CHECK_OK(socket(test_family(false), SOCK_STREAM, test_protocol()));
	bool refused = set_zcopy_recv(fd, "async") && errno == EOPNOTSUPP;

	CHECK_OK(close(fd));
	return !refused;
}

void skip_without_early_reads(void)
{
	if (!reads_can_return_early())
		sdp_skip("page faults of this kernel would stop other threads");
}

int zcopy_listener(const char *mode)
{
	struct addr addr = server_addr(0);
	int listener = CHECK_OK(socket(test_family(false), SOCK_STREAM, test_protocol()));

	if (mode && !opts.tcp)
		CHECK_OK(set_zcopy(listener, mode));
	CHECK_OK(bind(listener, &addr.sa, addr.len));
	CHECK_OK(listen(listener, 1));
	return listener;
}

bool writes_are_offered(void)
{
	char direct[16];

	read_sysctl(SYSCTL_DIRECT, direct, sizeof(direct));
	return !strcmp(direct, "0");
}

long device_counters(const char *names)
{
	char path[128], buf[32];
	glob_t files;
	long sum = 0;
	size_t i;

	snprintf(path, sizeof(path),
		 "/sys/class/infiniband/*/ports/1/hw_counters/%s", names);
	if (glob(path, 0, NULL, &files))
		sdp_skip("the device does not count %s", names);
	for (i = 0; i < files.gl_pathc; i++) {
		read_sysctl(files.gl_pathv[i], buf, sizeof(buf));
		sum += atol(buf);
	}
	globfree(&files);
	return sum;
}

long not_ready(void)
{
	return device_counters("*_rnr_*");
}

void flow_move(int from, int to, uint64_t seed, uint64_t *pos, size_t len)
{
	send_pattern(from, seed, *pos, len, len);
	recv_pattern(to, seed, *pos, len, len);
	*pos += len;
}

void flow_move_each(int from, int to, uint64_t seed, uint64_t *pos, unsigned int count,
		    size_t len)
{
	while (count--)
		flow_move(from, to, seed, pos, len);
}

bool flow_has_ring(int fd)
{
	return info_of(fd).sdpi_rx_ring;
}

#define SOME		32

void flow_until_ring(int from, int to, uint64_t seed, uint64_t *pos, size_t len)
{
	struct stopwatch w;

	WAIT_FOR(({
		w = start_watch();
		flow_move_each(from, to, seed, pos, SOME, len);
		if (!flow_has_ring(to) && watch_ms(w) > SOME * FLOW_SOON_MS / 2)
			sdp_skip("this kernel is too slow for a stream");
		flow_has_ring(to);
	}));
}

struct flow_pair flow_connect(const char *engine, int ring)
{
	struct flow_pair f = { .p = engine_pair(engine, engine, ring) };
	struct sdp_info info = info_of(f.p.client);

	if (info.sdpi_flow_reason == SDP_FLOW_REASON_DEVICE)
		sdp_skip("the device cannot carry the engine %s", engine);
	expect_flow(f.p.client, engine);
	expect_flow(f.p.server, engine);
	return f;
}

void flow_start(struct flow_pair *f, uint32_t ring)
{
	WAIT_FOR(({
		flow_move(f->p.client, f->p.server, FLOW_UP, &f->up, 9000);
		flow_move(f->p.server, f->p.client, FLOW_DOWN, &f->down, 9000);
		info_of(f->p.client).sdpi_peer_ring &&
			info_of(f->p.server).sdpi_peer_ring;
	}));
	CHECK_EQ(info_of(f->p.client).sdpi_peer_ring, ring);
	CHECK_EQ(info_of(f->p.server).sdpi_rx_ring, ring);
}

struct flow_pair flow_open(const char *engine, int ring)
{
	struct flow_pair f = flow_connect(engine, ring);

	flow_start(&f, ring);
	return f;
}

static char wait_before[16];

static void wait_as_before(void)
{
	CHECK_EQ(write_sysctl(SYSCTL_WAIT, wait_before), 0);
}

void with_long_wait(void (*run)(void))
{
	read_sysctl(SYSCTL_WAIT, wait_before, sizeof(wait_before));
	CHECK_EQ(write_sysctl(SYSCTL_WAIT, "10000"), 0);
	run_and_undo(run, wait_as_before);
}
