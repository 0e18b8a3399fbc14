// SPDX-License-Identifier: GPL-2.0
/* Ways to write a stream, each in pieces of any size. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

#include "sdp_transfer.h"
#include "sdp_words.h"
#include "soak.h"

#define PIECE		(128 * KIB)
#define VECTORS		8
/* What a pipe takes in one go. */
#define PIPE		(32 * KIB)

/* What a stream is written from. */
struct source {
	const struct soak_writer *w;
	uint64_t pos;
	unsigned char *memory;	/* all of the stream's, where it must stay, or a piece's */
	int pipe[2];
	int file;
	struct words words;
	unsigned int writes;
};

/* The memory is the program's again when the call returns, and changes. */
static void by_send(struct source *s, size_t len)
{
	pattern_fill(s->memory, len, s->w->seed, s->pos);
	write_all(s->w->fd, s->memory, len);
	memset(s->memory, 0xee, len);
}

static size_t writev_some(struct source *s, size_t done, size_t len)
{
	struct iovec v[VECTORS];
	size_t i, share = (len - done) / VECTORS, at = done;

	for (i = 0; i < VECTORS; i++) {
		size_t n = i < VECTORS - 1 ? share : len - at;

		v[i] = (struct iovec){ s->memory + at, n };
		at += n;
	}
	return CHECK_OK(writev(s->w->fd, v, VECTORS));
}

static void by_writev(struct source *s, size_t len)
{
	size_t done = 0;

	pattern_fill(s->memory, len, s->w->seed, s->pos);
	while (done < len)
		done += writev_some(s, done, len);
	memset(s->memory, 0xee, len);
}

static void by_splice(struct source *s, size_t len)
{
	size_t done, n, left;

	for (done = 0; done < len; done += n) {
		n = len - done < PIPE ? len - done : PIPE;
		pattern_fill(s->memory, n, s->w->seed, s->pos + done);
		CHECK_EQ(write(s->pipe[1], s->memory, n), n);
		for (left = n; left; )
			left -= CHECK_OK(splice(s->pipe[0], NULL, s->w->fd, NULL, left, 0));
	}
}

/* Pages of a file may be under way for longer than the call, so that they stay. */
static void by_sendfile(struct source *s, size_t len)
{
	off_t at = s->pos;
	size_t done;

	pattern_fill(s->memory, len, s->w->seed, s->pos);
	CHECK_EQ(pwrite(s->file, s->memory, len, s->pos), len);
	for (done = 0; done < len; )
		done += CHECK_OK(sendfile(s->w->fd, s->file, &at, len - done));
}

/* Words are memory of the socket's, of which there is not enough for all of them. */
static void by_zerocopy(struct source *s, size_t len)
{
	unsigned char *from = s->memory + s->pos;
	size_t done = 0;

	pattern_fill(from, len, s->w->seed, s->pos);
	while (done < len) {
		ssize_t n = send(s->w->fd, from + done, len - done, MSG_ZEROCOPY);

		if (n < 0) {
			CHECK_EQ(errno, ENOBUFS);
			await_words_of(s->w->fd, &s->words, s->writes);
			continue;
		}
		s->writes++;
		done += n;
	}
}

static void (*const calls[SOAK_CALLS])(struct source *s, size_t len) = {
	by_send, by_writev, by_splice, by_sendfile, by_zerocopy,
};

void soak_prepare(int fd, unsigned int call)
{
	if (calls[call] == by_zerocopy)
		want_words(fd);
}

/* Small ones often, and some larger than any buffer. */
static size_t piece(uint32_t *state, size_t left)
{
	static const size_t most[] = { 100, 8 * KIB, 8 * KIB, PIECE };
	size_t n = 1 + random_next(state) % most[random_next(state) % ARRAY_SIZE(most)];

	return n < left ? n : left;
}

static void open_source(struct source *s, struct soak_writer *w)
{
	size_t room = calls[w->call] == by_zerocopy ? w->len : PIECE;

	s->w = w;
	s->memory = memory(room, random_next(&w->state) % 4096);
	CHECK_OK(pipe2(s->pipe, O_CLOEXEC));
	s->file = CHECK_OK(memfd_create("soak", MFD_CLOEXEC));
}

static void close_source(struct source *s, const struct soak_writer *w)
{
	size_t room = calls[w->call] == by_zerocopy ? w->len : PIECE;
	size_t offset = (uintptr_t)s->memory % 4096;

	if (calls[w->call] == by_zerocopy)
		await_words(w->fd, &s->words, s->writes);
	CHECK_OK(munmap(s->memory - offset, room + offset));
	CHECK_OK(close(s->pipe[0]));
	CHECK_OK(close(s->pipe[1]));
	CHECK_OK(close(s->file));
}

void soak_write(struct soak_writer *w)
{
	struct source *s = calloc(1, sizeof(*s));

	CHECK(s);
	open_source(s, w);
	while (s->pos < w->len) {
		size_t n = piece(&w->state, w->len - s->pos);

		calls[w->call](s, n);
		s->pos += n;
	}
	close_source(s, w);
	free(s);
}
