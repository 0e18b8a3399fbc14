// SPDX-License-Identifier: GPL-2.0
/* Connections of which something may fail, wherever they are; see sdp_attempts.h. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "sdp_attempts.h"
#include "sdp_inject.h"
#include "sdp_memory.h"
#include "sdp_transfer.h"

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
	uint64_t seed, len, sent, got;
};

/* Returns whether the connection goes on. */
static bool push(struct way *w)
{
	unsigned char buf[16 * KIB];
	size_t want = w->len - w->sent < sizeof(buf) ? w->len - w->sent : sizeof(buf);
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

static void try_transfer(int a, int b, size_t len)
{
	struct way up = { .from = a, .to = b, .seed = SEED_UP, .len = len };
	struct way down = { .from = b, .to = a, .seed = SEED_DOWN, .len = len };

	WAIT_FOR(!push(&up) || !push(&down) || !pull(&up) || !pull(&down) ||
		 (up.got == len && down.got == len));
}

void attempt_connection(int listener, const struct addr *to, size_t len)
{
	int fd = socket(test_family(false), SOCK_STREAM, test_protocol());
	int server;

	if (lost(fd))
		return;
	if (try_connect(fd, to)) {
		server = try_accept(listener, fd);
		if (server >= 0) {
			try_transfer(fd, server, len);
			close(server);
		}
	}
	close(fd);
}

void attempt_succeeds(int listener, size_t len)
{
	int fd = connect_to(listener);
	int server = accept_peer_of(listener, fd);

	exchange(fd, server, len);
	close(server);
	close(fd);
}

void need_own_device(void)
{
	if (access("/sys/module/iwarp", F_OK))
		sdp_skip("the devices are not those of iwarp.ko");
}

#define SYSCTL	"/proc/sys/net/sdp/"

static struct setting {
	const char *path;
	char before[32];
} settings[ATTEMPT_SETTINGS] = {
	{ SYSCTL "flow_control" }, { SYSCTL "zcopy" }, { SYSCTL "zcopy_threshold" },
	{ SYSCTL "zcopy_direct" },
};

void attempt_note_settings(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(settings); i++)
		read_sysctl(settings[i].path, settings[i].before, sizeof(settings[i].before));
}

void attempt_set(const char *const values[ATTEMPT_SETTINGS])
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(settings); i++)
		if (values[i])
			CHECK_EQ(write_sysctl(settings[i].path, values[i]), 0);
}

void attempt_restore(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(settings); i++)
		CHECK_EQ(write_sysctl(settings[i].path, settings[i].before), 0);
}

static struct attempt_ways all_ways;

static const void *way_at(size_t i)
{
	return (const char *)all_ways.first + i * all_ways.size;
}

static const char *name_of(const void *way)
{
	return *(const char *const *)way;
}

static void run_way(void)
{
	size_t i = 0;

	while (strcmp(name_of(way_at(i)), sdp_case_name))
		i++;
	all_ways.run(way_at(i));
}

int attempt_main(int argc, char **argv, struct attempt_ways ways)
{
	struct sdp_case cases[ways.nr];
	size_t i;

	all_ways = ways;
	for (i = 0; i < ways.nr; i++)
		cases[i] = (struct sdp_case){ name_of(way_at(i)), run_way,
					      CASE_SDP_ONLY | CASE_LONG };
	return sdp_main(argc, argv, cases, ways.nr);
}
