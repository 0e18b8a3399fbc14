// SPDX-License-Identifier: GPL-2.0
/*
 * MSG_ZEROCOPY: its option, its limits, and programs and connections that end.
 * Cases marked for it also run on TCP.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_transfer.h"
#include "sdp_words.h"

/* ---- the option ---- */

static void option_takes_0_and_1(void)
{
	int fd = new_socket(0);
	int val = 2;

	CHECK_EQ(get_int(fd, SOL_SDP, SDP_ZEROCOPY), 0);
	set_int(fd, SOL_SDP, SDP_ZEROCOPY, 1);
	CHECK_EQ(get_int(fd, SOL_SDP, SDP_ZEROCOPY), 1);
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_ZEROCOPY), 1);
	CHECK_ERR(setsockopt(fd, SOL_SDP, SDP_ZEROCOPY, &val, sizeof(val)),
		  EINVAL);
	val = -1;
	CHECK_ERR(setsockopt(fd, SOL_SDP, SDP_ZEROCOPY, &val, sizeof(val)),
		  EINVAL);
	CHECK_ERR(setsockopt(fd, SOL_SDP, SDP_ZEROCOPY, &val, 3), EINVAL);
	CHECK_ERR(setsockopt(fd, SOL_SDP, SDP_ZEROCOPY, NULL, sizeof(val)),
		  EFAULT);
	CHECK_EQ(get_int(fd, SOL_SDP, SDP_ZEROCOPY), 1);
	set_int(fd, SOL_SDP, SDP_ZEROCOPY, 0);
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_ZEROCOPY), 0);
	CHECK_OK(close(fd));
}

/* Other options of that level are still the socket layer's. */
static void socket_level_is_whole(void)
{
	int fd = new_socket(0);
	int one = 1;

	set_int(fd, SOL_SOCKET, SO_RCVLOWAT, 7);
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_RCVLOWAT), 7);
	set_timeout(fd, SO_RCVTIMEO, 1000);
	CHECK_ERR(setsockopt(fd, SOL_SOCKET, 9999, &one, sizeof(one)),
		  ENOPROTOOPT);
	CHECK_ERR(setsockopt(fd, SOL_SOCKET, SO_LINGER, &one, sizeof(one)),
		  EINVAL);
	CHECK_OK(close(fd));
}

static void inherited(void)
{
	int listener = new_listener(1), client, server;
	struct words words = { 0 };

	want_words(listener);
	client = connect_to(listener);
	server = CHECK_OK(accept(listener, NULL, NULL));
	CHECK_EQ(get_int(server, SOL_SOCKET, SO_ZEROCOPY), 1);
	CHECK_EQ(get_int(client, SOL_SOCKET, SO_ZEROCOPY), 0);
	send_text(server, "hello", MSG_ZEROCOPY);
	expect_text(client, "hello", 0);
	await_words(server, &words, 1);
	CHECK_OK(close(client));
	CHECK_OK(close(server));
	CHECK_OK(close(listener));
}

/* ---- limits ---- */

static void memlock_limit(void)
{
	struct rlimit none = { 0, 0 };
	struct pair p = words_pair();
	pid_t pid = fork_child();

	if (!pid) {
		struct word word;

		CHECK_OK(setrlimit(RLIMIT_MEMLOCK, &none));
		CHECK_OK(setresuid(65534, 65534, 65534));
		CHECK_ERR(send(p.client, memory(8 * THRESH, 0), 8 * THRESH,
			       MSG_ZEROCOPY), ENOBUFS);
		CHECK_ERR(send(p.client, "x", 1, MSG_ZEROCOPY), ENOBUFS);
		CHECK(!read_word(p.client, &word));
		one_way(p.client, p.server, 8 * THRESH, 3, 0);
		_exit(0);
	}
	join_child(pid);
	close_pair(p);
}

/* ---- ends ---- */

/* There is word of all writes, however they have ended. */
static void reset_by_the_peer(void)
{
	struct pair p = words_pair();
	struct words words = { 0 };
	unsigned char *buf = memory(4 * THRESH, 0);
	unsigned int writes = 0;

	memset(buf, 1, 4 * THRESH);
	while (writes < 64 &&
	       send(p.client, buf, 4 * THRESH, MSG_ZEROCOPY | MSG_DONTWAIT) > 0)
		writes++;
	CHECK(writes > 0);
	set_linger(p.server, 1, 0);
	CHECK_OK(close(p.server));
	wait_poll(p.client, POLLHUP);
	await_words_of(p.client, &words, writes);
	CHECK_OK(close(p.client));
}

/* What was written arrives, also when nobody can be told any more. */
static void closed_at_once(void)
{
	long before = pinned_pages();
	struct pair p = words_pair();
	unsigned char *buf = memory(8 * THRESH, 9);
	struct job job = { p.server, SEED_UP, 0, 8 * THRESH, MIB };
	unsigned int writes = 0;
	pthread_t reader;
	int err;

	pattern_fill(buf, job.len, SEED_UP, 0);
	thread_start(&reader, read_job, &job);
	write_all_zerocopy(p.client, buf, job.len, &writes);
	CHECK_OK(close(p.client));
	thread_join(reader);
	CHECK_EQ(recv_pattern_to_end(p.server, SEED_UP, job.len, &err), 0);
	CHECK_EQ(err, 0);
	CHECK_OK(close(p.server));
	expect_pinned(before);
}

static void writer_exits(void)
{
	long before = pinned_pages();
	struct pair p = words_pair();
	pid_t pid = fork_child();
	int err;

	if (!pid) {
		unsigned char *buf = memory(4 * THRESH, 9);
		unsigned int writes = 0;

		CHECK_OK(close(p.server));
		pattern_fill(buf, 4 * THRESH, SEED_UP, 0);
		write_all_zerocopy(p.client, buf, 4 * THRESH, &writes);
		_exit(0);
	}
	CHECK_OK(close(p.client));
	CHECK_EQ(recv_pattern_to_end(p.server, SEED_UP, 0, &err), 4 * THRESH);
	CHECK_EQ(err, 0);
	join_child(pid);
	CHECK_OK(close(p.server));
	expect_pinned(before);
}

/* Pages that a device uses are copied for a child at once. */
static void forked_meanwhile(void)
{
	struct pair p = words_pair();
	struct words words = { 0 };
	unsigned char *buf = memory(4 * THRESH, 0);
	unsigned int writes = 0;
	pid_t pid;

	pattern_fill(buf, 4 * THRESH, SEED_UP, 0);
	CHECK_EQ(send(p.client, buf, THRESH, MSG_ZEROCOPY), THRESH);
	pid = fork_child();
	if (!pid) {
		memset(buf, 0xdd, 4 * THRESH);
		_exit(0);
	}
	join_child(pid);
	read_all(p.server, 0, THRESH);
	writes = 1;
	await_words(p.client, &words, writes);
	close_pair(p);
}

static const struct sdp_case cases[] = {
	CASE(option_takes_0_and_1, CASE_SDP_ONLY),
	CASE(socket_level_is_whole, CASE_TCP),
	CASE(inherited, CASE_TCP),
	CASE(memlock_limit, CASE_TCP),
	CASE(reset_by_the_peer, CASE_TCP),
	CASE(closed_at_once, CASE_SDP_ONLY),
	CASE(writer_exits, CASE_SDP_ONLY),
	CASE(forked_meanwhile, CASE_TCP),
};

int main(int argc, char **argv)
{
	return zcopy_main("sync", argc, argv, cases, ARRAY_SIZE(cases));
}
