// SPDX-License-Identifier: GPL-2.0
/*
 * MSG_ZEROCOPY: the error queue says when the program's memory is its own
 * again.  Cases marked for it also run on TCP.
 */
#define _GNU_SOURCE
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_transfer.h"
#include "sdp_words.h"

/* ---- memory is free when there is word of it ---- */

static void memory_is_free_after_the_word(void)
{
	static const size_t sizes[] = {
		1, 100, 5000, THRESH - 1, THRESH, THRESH + 4095, 300001, MIB,
		3 * MIB + 17,
	};
	struct pair p = words_pair();
	struct words words = { 0 };
	unsigned int writes = 0;
	uint64_t pos = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct job job = { p.server, SEED_UP, pos, sizes[i], sizes[i] };
		unsigned char *buf = memory(sizes[i], i * 1000 % 4096);
		pthread_t reader;

		pattern_fill(buf, sizes[i], SEED_UP, pos);
		thread_start(&reader, read_job, &job);
		write_all_zerocopy(p.client, buf, sizes[i], &writes);
		await_words(p.client, &words, writes);
		memset(buf, 0xee, sizes[i]);
		thread_join(reader);
		pos += sizes[i];
	}
	close_pair(p);
}

/* Nobody reads before the memory was written to, if there is word that early. */
static void no_word_too_early(void)
{
	struct pair p = words_pair();
	struct words words = { 0 };
	unsigned char *buf = memory(4 * THRESH, 100);
	struct job job = { p.server, SEED_UP, 0, 4 * THRESH, 4 * THRESH };
	unsigned int writes = 0;
	pthread_t reader;

	pattern_fill(buf, job.len, SEED_UP, 0);
	set_nonblock(p.client, true);
	CHECK_EQ(send(p.client, buf, THRESH, MSG_ZEROCOPY), THRESH);
	take_words(p.client, &words);
	if (words.writes)
		memset(buf, 0xee, THRESH);
	set_nonblock(p.client, false);
	thread_start(&reader, read_job, &job);
	await_words(p.client, &words, 1);
	memset(buf, 0xee, THRESH);
	writes = 1;
	write_all_zerocopy(p.client, buf + THRESH, 3 * THRESH, &writes);
	await_words(p.client, &words, writes);
	memset(buf, 0xee, 4 * THRESH);
	thread_join(reader);
	close_pair(p);
}

static void many_writes_at_once(void)
{
	struct pair p = words_pair();
	struct words words = { 0 };
	size_t len = THRESH + 123;
	unsigned int count = 40, writes = 0, i;
	unsigned char *buf = memory(count * len, 77);
	struct job job = { p.server, SEED_UP, 0, count * len, MIB };
	pthread_t reader;

	pattern_fill(buf, count * len, SEED_UP, 0);
	thread_start(&reader, read_job, &job);
	for (i = 0; i < count; i++)
		write_all_zerocopy(p.client, buf + i * len, len, &writes);
	await_words(p.client, &words, writes);
	memset(buf, 0xee, count * len);
	thread_join(reader);
	close_pair(p);
}

/* Writes of both kinds are one stream. */
static void among_other_writes(void)
{
	struct pair p = words_pair();
	struct words words = { 0 };
	size_t total = 12 * (2 * THRESH + 300), pos = 0;
	unsigned char *buf = memory(total, 5);
	struct job job = { p.server, SEED_UP, 0, total, total };
	unsigned int writes = 0;
	pthread_t reader;

	pattern_fill(buf, total, SEED_UP, 0);
	thread_start(&reader, read_job, &job);
	while (pos < total) {
		write_all(p.client, buf + pos, 100);
		pos += 100;
		write_all_zerocopy(p.client, buf + pos, 2 * THRESH, &writes);
		pos += 2 * THRESH;
		write_all(p.client, buf + pos, 200);
		pos += 200;
	}
	await_words(p.client, &words, writes);
	thread_join(reader);
	close_pair(p);
}

static void several_segments(void)
{
	struct pair p = words_pair();
	struct words words = { 0 };
	unsigned char *buf = memory(MIB, 0);
	struct iovec iov[] = {
		{ buf + 7, 100 },
		{ buf + 5000, 2 * THRESH },
		{ buf + 300000, 3 * THRESH + 5 },
		{ buf + 700000, 17 },
	};
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = ARRAY_SIZE(iov) };
	struct job job = { p.server, SEED_UP, 0, 0, MIB };
	pthread_t reader;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(iov); i++) {
		pattern_fill(iov[i].iov_base, iov[i].iov_len, SEED_UP, job.len);
		job.len += iov[i].iov_len;
	}
	thread_start(&reader, read_job, &job);
	CHECK_EQ(sendmsg(p.client, &m, MSG_ZEROCOPY), job.len);
	await_words(p.client, &words, 1);
	memset(buf, 0xee, MIB);
	thread_join(reader);
	close_pair(p);
}

/* Which memory it is matters less than with protection. */
static void memory_of_a_file(void)
{
	int file;
	unsigned char *buf = file_memory(8 * THRESH, &file);
	struct pair p = words_pair();
	struct words words = { 0 };
	struct job job = { p.server, SEED_UP, 0, 8 * THRESH, MIB };
	unsigned int writes = 0;
	pthread_t reader;

	pattern_fill(buf, job.len, SEED_UP, 0);
	thread_start(&reader, read_job, &job);
	write_all_zerocopy(p.client, buf, job.len, &writes);
	await_words(p.client, &words, writes);
	memset(buf, 0xee, job.len);
	thread_join(reader);
	CHECK_OK(close(file));
	close_pair(p);
}

/* ---- words ---- */

/* Nothing is copied for a peer that reads. */
static void not_copied(const char *mode)
{
	struct pair p = zcopy_pair(mode, "sync");
	unsigned char *buf = memory(4 * THRESH, 55);
	struct words words;
	uint64_t pos = 0;

	want_words(p.client);
	words = (struct words){ 0 };
	do {
		struct job job = { p.server, SEED_UP, pos, 4 * THRESH, MIB };
		unsigned int before = words.copied;
		pthread_t reader;

		pattern_fill(buf, job.len, SEED_UP, pos);
		thread_start(&reader, read_job, &job);
		CHECK_EQ(send(p.client, buf, job.len, MSG_ZEROCOPY), job.len);
		await_words(p.client, &words, words.writes + 1);
		thread_join(reader);
		pos += job.len;
		CHECK(words.writes < MAX_WRITES - 1);
		if (words.copied == before)
			break;
	} while (true);
	CHECK(info_of(p.client).sdpi_async_sent >= 4 * THRESH);
	CHECK_EQ(info_of(p.client).sdpi_guard_refusals, 0);
	CHECK_EQ(info_of(p.client).sdpi_guard_faults, 0);
	close_pair(p);
}

static void not_copied_in_any_mode(void)
{
	not_copied("sync");
	not_copied("async");
}

/* What is small, and what the connection cannot do, is; and is free at once. */
static void copied(struct pair p, size_t len)
{
	unsigned char *buf = memory(len, 0);
	struct word word;

	want_words(p.client);
	set_int(p.client, SOL_TCP, SDP_ZCOPY_THRESH, THRESH);
	pattern_fill(buf, len, SEED_UP, 0);
	CHECK_EQ(send(p.client, buf, len, MSG_ZEROCOPY), len);
	CHECK(read_word(p.client, &word));
	CHECK_EQ(word.first, 0);
	CHECK_EQ(word.last, 0);
	CHECK(word.copied);
	memset(buf, 0xee, len);
	read_all(p.server, 0, len);
	CHECK_EQ(info_of(p.client).sdpi_async_sent, 0);
	close_pair(p);
}

static void copies_are_told_of(void)
{
	copied(zcopy_pair("sync", "sync"), 100);
	copied(zcopy_pair("sync", "sync"), THRESH - 1);
	copied(zcopy_pair("off", "sync"), THRESH);
	if (writes_are_offered())
		copied(zcopy_pair("sync", "off"), THRESH);
}

/* Words that nobody has read become one. */
static void words_are_joined(void)
{
	struct pair p = words_pair();
	struct words words = { 0 };
	unsigned int i;

	for (i = 0; i < 100; i++)
		CHECK_EQ(send(p.client, "x", 1, MSG_ZEROCOPY), 1);
	take_words(p.client, &words);
	CHECK_EQ(words.writes, 100);
	CHECK_EQ(words.words, 1);
	close_pair(p);
}

/* As long as nobody reads it, a word shows in every poll(). */
static void poll_shows_words(void)
{
	struct pair p = words_pair();
	struct words words = { 0 };
	char c;

	CHECK(!(poll_now(p.client) & POLLERR));
	CHECK_EQ(send(p.client, "x", 1, MSG_ZEROCOPY), 1);
	CHECK_EQ(recv(p.server, &c, 1, 0), 1);
	CHECK_EQ(c, 'x');
	wait_poll_exact(p.client, POLLERR | POLLOUT);
	CHECK_EQ(poll_now(p.client), POLLERR | POLLOUT);
	/* It is no error. */
	CHECK_EQ(get_int(p.client, SOL_SOCKET, SO_ERROR), 0);
	CHECK_EQ(poll_now(p.client), POLLERR | POLLOUT);
	await_words(p.client, &words, 1);
	CHECK_EQ(poll_now(p.client), POLLOUT);
	close_pair(p);
}

/* ---- writes that fail have no number ---- */

static void failures_have_no_number(void)
{
	struct pair p = words_pair();
	struct words words = { 0 };
	unsigned char *buf = memory(4 * THRESH, 0);
	struct word word;
	char c;

	CHECK_OK(mprotect(buf, 4 * THRESH, PROT_NONE));
	CHECK_ERR(send(p.client, buf, 2 * THRESH, MSG_ZEROCOPY), EFAULT);
	CHECK_ERR(send(p.client, buf, 100, MSG_ZEROCOPY), EFAULT);
	CHECK_EQ(send(p.client, "", 0, MSG_ZEROCOPY), 0);
	CHECK(!read_word(p.client, &word));
	CHECK_EQ(send(p.client, "x", 1, MSG_ZEROCOPY), 1);
	CHECK_EQ(recv(p.server, &c, 1, 0), 1);
	await_words(p.client, &words, 1);
	CHECK_OK(shutdown(p.client, SHUT_WR));
	CHECK_ERR(send(p.client, "x", 1, MSG_ZEROCOPY | MSG_NOSIGNAL), EPIPE);
	CHECK(!read_word(p.client, &word));
	close_pair(p);
}

static void nonblocking(void)
{
	struct pair p = words_pair();
	struct words words = { 0 };
	size_t size = 64 * MIB, len = 2 * THRESH, pos = 0;
	unsigned char *buf = memory(size, 33);
	unsigned int writes = 0;
	ssize_t n = 0;
	int err;

	while (pos + len <= size) {
		pattern_fill(buf + pos, len, SEED_UP, pos);
		n = send(p.client, buf + pos, len,
			 MSG_ZEROCOPY | MSG_DONTWAIT);
		if (n < 0)
			break;
		writes++;
		pos += n;
	}
	CHECK_EQ(n, -1);
	/* There may be so many words only that are to come. */
	if (errno != ENOBUFS)
		CHECK_EQ(errno, EAGAIN);
	CHECK_OK(shutdown(p.client, SHUT_WR));
	CHECK_EQ(recv_pattern_to_end(p.server, SEED_UP, 0, &err), pos);
	CHECK_EQ(err, 0);
	await_words(p.client, &words, writes);
	close_pair(p);
}

static const struct sdp_case cases[] = {
	CASE(memory_is_free_after_the_word, CASE_TCP | CASE_IPV6),
	CASE(no_word_too_early, CASE_TCP),
	CASE(many_writes_at_once, CASE_TCP),
	CASE(among_other_writes, CASE_TCP),
	CASE(several_segments, CASE_TCP),
	CASE(memory_of_a_file, CASE_TCP),
	CASE(not_copied_in_any_mode, CASE_SDP_ONLY),
	CASE(copies_are_told_of, CASE_SDP_ONLY),
	CASE(words_are_joined, CASE_SDP_ONLY),
	CASE(poll_shows_words, CASE_TCP),
	CASE(failures_have_no_number, CASE_TCP),
	CASE(nonblocking, CASE_TCP),
};

int main(int argc, char **argv)
{
	return zcopy_main("sync", argc, argv, cases, ARRAY_SIZE(cases));
}
