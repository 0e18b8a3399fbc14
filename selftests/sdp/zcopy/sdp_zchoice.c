// SPDX-License-Identifier: GPL-2.0
/* Zero copy: how its mode is chosen, and what is shown of it. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_transfer.h"

static void expect_zcopy(int fd, const char *want)
{
	char name[16] = "";
	socklen_t len = sizeof(name);

	CHECK_OK(getsockopt(fd, SOL_SDP, SDP_ZCOPY, name, &len));
	CHECK_EQ(len, sizeof(name));
	if (strcmp(name, want))
		FAIL("expected mode %s, got %s", want, name);
}

static void names_only(void)
{
	static const char * const bad[] = {
		"", "none", "of", "offx", "1", "sync ", "syncsyncsyncsyncsync",
	};
	static const char * const good[] = { "off", "sync", "async" };
	int fd = new_socket(0);
	size_t i;

	expect_zcopy(fd, "off");
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		CHECK_OK(set_zcopy(fd, good[i]));
		expect_zcopy(fd, good[i]);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_ERR(set_zcopy(fd, bad[i]), EINVAL);
	CHECK_ERR(setsockopt(fd, SOL_SDP, SDP_ZCOPY, NULL, 4), EFAULT);
	CHECK_ERR(setsockopt(fd, SOL_SDP, SDP_ZCOPY, "off", -1), EINVAL);
	/* A zero ends the name, whatever is behind it. */
	CHECK_OK(setsockopt(fd, SOL_SDP, SDP_ZCOPY, "sync\0xy", 7));
	expect_zcopy(fd, "sync");
	CHECK_OK(close(fd));
}

/* As much of the name as there is room for. */
static void short_answer(void)
{
	int fd = new_socket(0);
	socklen_t len = 3;
	char name[16];

	CHECK_OK(set_zcopy(fd, "async"));
	memset(name, 'x', sizeof(name));
	CHECK_OK(getsockopt(fd, SOL_SDP, SDP_ZCOPY, name, &len));
	CHECK_EQ(len, 3);
	CHECK(!memcmp(name, "asyx", 4));
	CHECK_ERR(getsockopt(fd, SOL_SDP, SDP_ZCOPY, NULL, &len), EFAULT);
	CHECK_ERR(getsockopt(fd, SOL_SDP, SDP_ZCOPY, name, NULL), EFAULT);
	CHECK_OK(close(fd));
}

static void before_the_connection(void)
{
	struct pair p = zcopy_pair("sync", "sync");
	int listener = new_listener(1);

	CHECK_ERR(set_zcopy(p.client, "off"), EINVAL);
	CHECK_ERR(set_zcopy(p.server, "off"), EINVAL);
	CHECK_ERR(set_zcopy(listener, "off"), EINVAL);
	expect_zcopy(p.client, "sync");
	expect_zcopy(p.server, "sync");
	close_pair(p);
	CHECK_OK(close(listener));
}

/* What a socket says of itself, and what becomes of its writes. */
static void expect_mode(int from, int to, enum sdp_zcopy_mode mode,
			uint64_t seed)
{
	static const char * const names[] = { "off", "sync", "async" };
	struct sdp_info info;
	uint64_t pos = 0;

	expect_zcopy(from, names[mode]);
	CHECK_EQ(info_of(from).sdpi_zcopy, mode);
	WAIT_FOR(({
		struct job job = { to, seed, pos, 4 * THRESH, 4 * THRESH };
		pthread_t reader;

		thread_start(&reader, read_job, &job);
		send_pattern(from, seed, pos, job.len, job.len);
		thread_join(reader);
		pos += job.len;
		info = info_of(from);
		mode == SDP_ZCOPY_OFF ||
			(mode == SDP_ZCOPY_ASYNC ? info.sdpi_async_sent :
						   info.sdpi_zcopy_sent);
	}));
	if (mode == SDP_ZCOPY_OFF)
		CHECK_EQ(info.sdpi_zcopy_sent, 0);
	if (mode != SDP_ZCOPY_ASYNC)
		CHECK_EQ(info.sdpi_async_sent, 0);
}

static void agreed(const char *client, const char *server,
		   enum sdp_zcopy_mode of_client,
		   enum sdp_zcopy_mode of_server)
{
	struct pair p = zcopy_pair(client, server);

	expect_mode(p.client, p.server, of_client, SEED_UP);
	expect_mode(p.server, p.client, of_server, SEED_DOWN);
	close_pair(p);
}

/* A mode is each end's own, but both have to take part. */
static void each_end_for_itself(void)
{
	agreed("sync", "async", SDP_ZCOPY_SYNC, SDP_ZCOPY_ASYNC);
	agreed("async", "sync", SDP_ZCOPY_ASYNC, SDP_ZCOPY_SYNC);
}

static void one_end_is_not_enough(void)
{
	agreed("sync", NULL, SDP_ZCOPY_OFF, SDP_ZCOPY_OFF);
	agreed(NULL, "async", SDP_ZCOPY_OFF, SDP_ZCOPY_OFF);
}

static void option_before_sysctl(void)
{
	CHECK_EQ(write_sysctl(SYSCTL_ZCOPY, "async"), 0);
	agreed(NULL, NULL, SDP_ZCOPY_ASYNC, SDP_ZCOPY_ASYNC);
	agreed("sync", NULL, SDP_ZCOPY_SYNC, SDP_ZCOPY_ASYNC);
	agreed("off", NULL, SDP_ZCOPY_OFF, SDP_ZCOPY_OFF);
	CHECK_EQ(write_sysctl(SYSCTL_ZCOPY, "off"), 0);
}

/* A socket wants the same again for its next connection. */
static void kept_for_the_next_connection(void)
{
	struct pair p = zcopy_pair("sync", NULL);

	expect_zcopy(p.client, "off");
	CHECK_OK(op_dissolve(p.client));
	expect_zcopy(p.client, "sync");
	close_pair(p);
}

/* ---- what is shown ---- */

struct shown {
	char mode[8];
	unsigned long long sent, sent_zcopy, sent_async, received,
		received_zcopy;
};

/* A line of /proc/net/sdp, as far as the bytes of zero copy. */
#define SHOWN	"%*s %*s %*s %*u %*u %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s " \
		"%7s %llu:%llu:%llu:%llu:%llu"

/* What it says of a socket. */
static struct shown shown_of(int fd)
{
	FILE *f = fopen("/proc/net/sdp", "r");
	struct shown shown = { "" };
	char line[1024];
	struct stat st;
	int n = 0;

	CHECK(f);
	CHECK_OK(fstat(fd, &st));
	while (n != 6 && fgets(line, sizeof(line), f)) {
		unsigned long inode;

		if (sscanf(line, "%*s %*s %*s %*u %lu", &inode) != 1 ||
		    inode != st.st_ino)
			continue;
		n = sscanf(line, SHOWN, shown.mode, &shown.sent,
			   &shown.sent_zcopy, &shown.sent_async,
			   &shown.received, &shown.received_zcopy);
	}
	fclose(f);
	CHECK_EQ(n, 6);
	return shown;
}

static void shown_in_proc(void)
{
	struct pair p = zcopy_pair("async", "sync");
	int idle = new_socket(0);
	struct sdp_info info;
	struct shown s;

	expect_mode(p.client, p.server, SDP_ZCOPY_ASYNC, SEED_UP);
	WAIT_FOR(info_of(p.client).sdpi_unacked == 0);
	info = info_of(p.client);
	s = shown_of(p.client);
	CHECK(!strcmp(s.mode, "async"));
	CHECK_EQ(s.sent, info.sdpi_bytes_sent);
	CHECK_EQ(s.sent_zcopy, info.sdpi_zcopy_sent);
	CHECK_EQ(s.sent_async, info.sdpi_async_sent);
	CHECK_EQ(s.received + s.received_zcopy, 0);
	s = shown_of(p.server);
	CHECK(!strcmp(s.mode, "sync"));
	CHECK_EQ(s.received, info.sdpi_bytes_sent);
	CHECK_EQ(s.received_zcopy, info.sdpi_zcopy_sent);
	CHECK_EQ(s.sent + s.sent_zcopy + s.sent_async, 0);
	CHECK(!strcmp(shown_of(idle).mode, "-"));
	CHECK_OK(close(idle));
	close_pair(p);
}

static const struct sdp_case cases[] = {
	CASE(names_only, CASE_SDP_ONLY),
	CASE(short_answer, CASE_SDP_ONLY),
	CASE(before_the_connection, CASE_SDP_ONLY),
	CASE(each_end_for_itself, CASE_SDP_ONLY | CASE_IPV6),
	CASE(one_end_is_not_enough, CASE_SDP_ONLY),
	CASE(option_before_sysctl, CASE_SDP_ONLY),
	CASE(kept_for_the_next_connection, CASE_SDP_ONLY),
	CASE(shown_in_proc, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return zcopy_main("off", argc, argv, cases, ARRAY_SIZE(cases));
}
