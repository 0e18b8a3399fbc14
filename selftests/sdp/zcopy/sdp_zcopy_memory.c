// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of writes and reads without a copy: it is the program's own again
 * when the call returns, however the transfer ends, and no page stays pinned.
 */
#define _GNU_SOURCE
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_transfer.h"
#include "sdp_words.h"

/* ---- ends ---- */

static void peer_closes(void)
{
	struct pair p = new_pair();
	struct blocked b;

	block_start(&b, op_send, p.client);
	CHECK_OK(close(p.server));
	send_until_error(p.client);
	block_join(&b);
	CHECK_OK(close(p.client));
}

static void on_signal(int sig)
{
	(void)sig;
}

/* What the call says was taken is what arrives, whoever cut it short. */
static void write_is_cut_short(int fd, int peer)
{
	size_t len = 16 * MIB;
	unsigned char *buf = memory(len, 5);
	struct itimerval never = { 0 };
	uint64_t end = 0;
	ssize_t n;
	int err;

	pattern_fill(buf, len, SEED_UP, 0);
	n = send(fd, buf, len, 0);
	CHECK_OK(setitimer(ITIMER_REAL, &never, NULL));
	CHECK(n > 0);
	CHECK(n < (ssize_t)len);
	memset(buf, 0, len);
	CHECK_OK(shutdown(fd, SHUT_WR));
	end = recv_pattern_to_end(peer, SEED_UP, 0, &err);
	CHECK_EQ(err, 0);
	CHECK_EQ(end, n);
}

static void timeout_cuts_a_write_short(void)
{
	struct pair p = new_pair();

	set_timeout(p.client, SO_SNDTIMEO, 30);
	write_is_cut_short(p.client, p.server);
	close_pair(p);
}

static void signal_cuts_a_write_short(void)
{
	struct sigaction sa = { .sa_handler = on_signal };
	struct itimerval timer = { { 0, 20000 }, { 0, 20000 } };
	struct pair p = new_pair();

	CHECK_OK(sigaction(SIGALRM, &sa, NULL));
	CHECK_OK(setitimer(ITIMER_REAL, &timer, NULL));
	write_is_cut_short(p.client, p.server);
	close_pair(p);
}

static void write_for_ever(int fd)
{
	for (;;)
		send_pattern(fd, SEED_UP, 0, MIB, MIB);
}

static void read_for_ever(int fd)
{
	unsigned char *buf = memory(MIB, 0);

	while (recv(fd, buf, MIB, 0) > 0)
		;
}

/* Either program is killed in the middle of it. */
static void killed(bool sender)
{
	long before = pinned_pages();
	unsigned int n;

	for (n = 0; n < scaled_count(20); n++) {
		struct pair p = new_pair();
		pid_t pid = fork_child();

		if (!pid) {
			CHECK_OK(close(sender ? p.server : p.client));
			if (sender)
				write_for_ever(p.client);
			else
				read_for_ever(p.server);
			_exit(0);
		}
		CHECK_OK(close(sender ? p.client : p.server));
		if (sender) {
			recv_pattern(p.server, SEED_UP, 0, MIB, MIB);
			kill_child(pid);
			read_for_ever(p.server);
			CHECK_OK(close(p.server));
		} else {
			send_pattern(p.client, SEED_UP, 0, 2 * MIB, MIB);
			kill_child(pid);
			send_until_error(p.client);
			CHECK_OK(close(p.client));
		}
	}
	expect_pinned(before);
}

static void sender_is_killed(void)
{
	killed(true);
}

static void receiver_is_killed(void)
{
	killed(false);
}

/* ---- memory that has other uses ---- */

/* A reader gets what it is, for it is read into itself. */
static void read_into_what_is_sent(void)
{
	struct pair p = new_pair();
	unsigned char *buf = memory(4 * THRESH, 100);
	pthread_t writer;
	struct job job = { p.client, SEED_UP, 0, 4 * THRESH, 0 };

	pattern_fill(buf, job.len, SEED_UP, 0);
	job.buf = buf;
	thread_start(&writer, write_memory_job, &job);
	read_into(p.server, buf, job.len);
	thread_join(writer);
	pattern_verify(buf, job.len, SEED_UP, 0);
	close_pair(p);
}

/* What a child does to its copy of the memory is no part of the stream. */
static void forked_in_mid_transfer(void)
{
	struct pair p = new_pair();
	size_t len = scaled(8 * MIB);
	unsigned char *buf = memory(len, 0);
	struct job up = { p.client, SEED_UP, 0, len, 0, buf };
	struct job down = { p.server, SEED_UP, 0, len, MIB };
	pthread_t writer, reader;
	unsigned int n;

	pattern_fill(buf, len, SEED_UP, 0);
	thread_start(&writer, write_memory_job, &up);
	thread_start(&reader, read_job, &down);
	for (n = 0; n < scaled_count(20); n++) {
		pid_t pid = fork_child();

		if (!pid) {
			memset(buf, n, len);
			_exit(0);
		}
		join_child(pid);
	}
	thread_join(writer);
	thread_join(reader);
	close_pair(p);
}

/* Each stream is whole, whichever way its bytes go. */
static void sent_on_two_sockets(void)
{
	struct pair a = new_pair(), b = new_pair();
	size_t len = scaled(4 * MIB);
	unsigned char *buf = memory(len, 9);
	struct job jobs[] = {
		{ a.client, SEED_UP, 0, len, 0, buf },
		{ b.client, SEED_UP, 0, len, 0, buf },
		{ a.server, SEED_UP, 0, len, MIB },
		{ b.server, SEED_UP, 0, len, MIB },
	};

	pattern_fill(buf, len, SEED_UP, 0);
	both_ways(jobs, write_memory_job);
	close_pair(a);
	close_pair(b);
}

/* Memory of a file, and memory that others have, too. */
static void memory_of_a_file(void)
{
	struct pair p = new_pair();
	int file;
	size_t len = 8 * THRESH;
	unsigned char *shared = file_memory(2 * len, &file);
	unsigned char *private;
	struct job job = { p.server, SEED_UP, 0, 2 * len, len };
	pthread_t reader;

	pattern_fill(shared, 2 * len, SEED_UP, 0);
	private = mmap(NULL, 2 * len, PROT_READ, MAP_PRIVATE, file, 0);
	CHECK(private != MAP_FAILED);
	thread_start(&reader, read_job, &job);
	write_all(p.client, shared, len);
	write_all(p.client, private + len, len);
	thread_join(reader);
	/* And it is read into. */
	job = (struct job){ p.server, SEED_DOWN, 0, 2 * len, len };
	thread_start(&reader, write_job, &job);
	memset(shared, 0, 2 * len);
	read_into(p.client, shared, 2 * len);
	thread_join(reader);
	pattern_verify(private, 2 * len, SEED_DOWN, 0);
	CHECK_OK(close(file));
	close_pair(p);
}

/* ---- limits ---- */

static void memlock_limit(void)
{
	struct rlimit none = { 0, 0 };
	struct pair p = new_pair();
	long before = sdp_stat("ZcopyBytesOut");
	pid_t pid = fork_child();

	if (!pid) {
		CHECK_OK(setrlimit(RLIMIT_MEMLOCK, &none));
		CHECK_OK(setresuid(65534, 65534, 65534));
		one_way(p.client, p.server, 8 * THRESH, 3, 0);
		_exit(0);
	}
	join_child(pid);
	CHECK_EQ(sdp_stat("ZcopyBytesOut"), before);
	close_pair(p);
}

/* ---- what all transfers together may use ---- */

static void transfers_under_limits(void)
{
	struct pair p = new_pair();
	long refused = sdp_stat("ZcopyMemRefusals");
	uint64_t pos = 0;

	set_mem("0");
	one_way(p.client, p.server, 8 * THRESH, 3, pos);
	pos += 8 * THRESH;
	CHECK_EQ(info_of(p.client).sdpi_zcopy_sent, 0);
	CHECK(sdp_stat("ZcopyMemRefusals") > refused);
	/* Eight times 64 KiB from within a page take 129 pages. */
	set_mem("128");
	one_way(p.client, p.server, 8 * THRESH, 3, pos);
	pos += 8 * THRESH;
	CHECK_EQ(info_of(p.client).sdpi_zcopy_sent, 0);
	set_mem("1000");
	WAIT_FOR(({
		one_way(p.client, p.server, 8 * THRESH, 3, pos);
		pos += 8 * THRESH;
		info_of(p.client).sdpi_zcopy_sent;
	}));
	WAIT_FOR(sdp_stat("ZcopyPages") == 0);
	close_pair(p);
}

static void limit_of_all_transfers(void)
{
	run_with_mem(transfers_under_limits);
}

#define DESCRIBED	16

static struct pair described[DESCRIBED];
static struct words described_words[DESCRIBED];

/* No two of them that lie side by side are so for the kernel, too. */
static unsigned char *scattered(size_t len)
{
	size_t page = sysconf(_SC_PAGESIZE), at, from;
	unsigned char *buf = advised(len, MADV_NOHUGEPAGE);

	for (from = 0; from < 2 * page; from += page)
		for (at = from; at < len; at += 2 * page)
			buf[at] = 1;
	pattern_fill(buf, len, SEED_UP, 0);
	return buf;
}

/* How much more a group is charged while nobody has read what it writes. */
static long write_described(const unsigned char *buf, size_t len,
			    unsigned int round)
{
	size_t before = group_stat("kernel");
	ssize_t n[DESCRIBED];
	long more;
	int i;

	for (i = 0; i < DESCRIBED; i++)
		n[i] = CHECK_OK(send(described[i].client, buf, len,
				     MSG_ZEROCOPY | MSG_DONTWAIT));
	more = group_stat("kernel") - before;
	for (i = 0; i < DESCRIBED; i++) {
		recv_pattern(described[i].server, SEED_UP, 0, n[i], MIB);
		await_words(described[i].client, &described_words[i], round);
	}
	return more;
}

/*
 * For each page there is a pointer, and an entry of a list.  The sockets are of
 * another group, as is all that is theirs; and a peer that does not read for long
 * gets a copy, so that it may take another round.
 */
static void write_in_group(void)
{
	size_t len = MIB, page = sysconf(_SC_PAGESIZE);
	long least = DESCRIBED * len / page * 30;
	unsigned int round = 1;
	unsigned char *buf;

	group_enter();
	buf = scattered(len);
	write_described(buf, len, round);
	WAIT_FOR(write_described(buf, len, ++round) >= least);
}

static void descriptions_are_charged(void)
{
	int i;

	group_make();
	for (i = 0; i < DESCRIBED; i++)
		described[i] = words_pair();
	run_and_undo(write_in_group, group_remove);
}

static void bad_limits(void)
{
	static const char * const bad[] = { "-1", "x", "2147483648", "1x" };
	char was[16], now[16];
	size_t i;

	read_sysctl(SYSCTL_MEM, was, sizeof(was));
	CHECK(atol(was) > 0);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_EQ(write_sysctl(SYSCTL_MEM, bad[i]), EINVAL);
	read_sysctl(SYSCTL_MEM, now, sizeof(now));
	CHECK(!strcmp(now, was));
	set_mem("2147483647");
	set_mem("0");
	read_sysctl(SYSCTL_MEM, now, sizeof(now));
	CHECK(!strcmp(now, "0"));
}

static void limit_is_a_number_of_pages(void)
{
	run_with_mem(bad_limits);
}

static void memory_that_cannot_be_read(void)
{
	struct pair p = new_pair();
	unsigned char *buf = memory(4 * THRESH, 0);

	CHECK_OK(mprotect(buf + 2 * THRESH, 2 * THRESH, PROT_NONE));
	pattern_fill(buf, 2 * THRESH, SEED_UP, 0);
	CHECK_ERR(send(p.client, buf + 2 * THRESH, THRESH, 0), EFAULT);
	CHECK_EQ(send(p.client, buf, THRESH, 0), THRESH);
	recv_pattern(p.server, SEED_UP, 0, THRESH, THRESH);
	close_pair(p);
}

static void no_page_stays_pinned(void)
{
	long before = pinned_pages();
	struct pair p = new_pair();
	uint64_t pos = 0;
	int n;

	for (n = 0; n < 10; n++, pos += 5 * THRESH)
		one_way(p.client, p.server, 5 * THRESH, 77, pos);
	close_pair(p);
	expect_pinned(before);
}

static const struct sdp_case cases[] = {
	CASE(peer_closes, CASE_SDP_ONLY),
	CASE(timeout_cuts_a_write_short, CASE_SDP_ONLY),
	CASE(signal_cuts_a_write_short, CASE_SDP_ONLY),
	CASE(sender_is_killed, CASE_SDP_ONLY),
	CASE(receiver_is_killed, CASE_SDP_ONLY),
	CASE(read_into_what_is_sent, CASE_SDP_ONLY),
	CASE(forked_in_mid_transfer, CASE_SDP_ONLY),
	CASE(sent_on_two_sockets, CASE_SDP_ONLY),
	CASE(memory_of_a_file, CASE_SDP_ONLY),
	CASE(memlock_limit, CASE_SDP_ONLY),
	CASE(limit_of_all_transfers, CASE_SDP_ONLY),
	CASE(descriptions_are_charged, CASE_SDP_ONLY),
	CASE(limit_is_a_number_of_pages, CASE_SDP_ONLY),
	CASE(memory_that_cannot_be_read, CASE_SDP_ONLY),
	CASE(no_page_stays_pinned, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return zcopy_main("sync", argc, argv, cases, ARRAY_SIZE(cases));
}
