// SPDX-License-Identifier: GPL-2.0
/*
 * Programs in files: those that were kept before, one behind the other with an empty line
 * between them, those that are to be kept, and the one that runs.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

void fuzz_corpus_add(struct fuzz_corpus *corpus, const struct fuzz_program *p)
{
	corpus->programs = realloc(corpus->programs, (corpus->count + 1) * sizeof(*p));
	CHECK(corpus->programs);
	corpus->programs[corpus->count++] = *p;
}

void fuzz_corpus_load(struct fuzz_corpus *corpus)
{
	const char *path = getenv("SDP_FUZZ_CORPUS");
	struct fuzz_program p = { 0 };
	char line[256];
	FILE *file;

	file = fopen(path && *path ? path : "sdp_fuzz.calls", "r");
	if (!file) {
		CHECK(!path || !*path);
		return;
	}
	while (fgets(line, sizeof(line), file)) {
		if (line[0] == '#')
			continue;
		if (line[0] != '\n') {
			if (p.count == FUZZ_CALLS || !fuzz_parse_call(line, &p.calls[p.count++]))
				FAIL("not a call, or one too many: %s", line);
			continue;
		}
		if (p.count)
			fuzz_corpus_add(corpus, &p);
		p.count = 0;
	}
	if (p.count)
		fuzz_corpus_add(corpus, &p);
	fclose(file);
}

/* In the directory that node and host share; false if there is none. */
static bool shared_path(char path[300], const char *name)
{
	const char *dir = getenv("VM_OUT");

	if (dir)
		snprintf(path, 300, "%s/%s", dir, name);
	return dir;
}

static int open_shared(const char *name, int flags)
{
	char path[300];

	if (!shared_path(path, name))
		return -1;
	return open(path, O_CREAT | O_WRONLY | O_CLOEXEC | flags, 0644);
}

void fuzz_keep(const struct fuzz_program *p, const char *name)
{
	int fd = open_shared(name, O_APPEND);
	char text[FUZZ_TEXT];
	ssize_t len;

	if (fd < 0)
		return;
	len = fuzz_print(p, text, sizeof(text) - 1);
	text[len++] = '\n';
	CHECK_EQ(write(fd, text, len), len);
	close(fd);
}

void fuzz_keep_as(const char *from, const char *to)
{
	char was[300], is[300];

	if (shared_path(was, from) && shared_path(is, to))
		CHECK_OK(rename(was, is));
}

static void announce(const char *text, ssize_t len)
{
	static int fd = -2;

	if (fd == -2)
		fd = open_shared("sdp_fuzz.last", O_TRUNC);
	if (fd < 0)
		return;
	CHECK_EQ(pwrite(fd, text, len, 0), len);
	CHECK_OK(ftruncate(fd, len));
	CHECK_OK(fsync(fd));
}

void fuzz_announce(const struct fuzz_program *p)
{
	char text[FUZZ_TEXT];

	announce(text, fuzz_print(p, text, sizeof(text)));
}

void fuzz_announce_stream(unsigned int number)
{
	char text[40];

	announce(text, snprintf(text, sizeof(text), "# stream %u\n", number));
}
