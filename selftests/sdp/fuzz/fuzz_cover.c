// SPDX-License-Identifier: GPL-2.0
/*
 * Which code of the module calls have run, as a kernel with CONFIG_KCOV tells of modules that
 * are built for it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/kcov.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

#define KCOV		"/sys/kernel/debug/kcov"
#define WORDS		(64 * KIB)

static struct {
	int fd;
	unsigned long *words;	/* how many, and these */
} areas[FUZZ_ACTORS];

static unsigned long text_start, text_size;
static unsigned char *seen;
static unsigned int total;

static bool find_text(void)
{
	FILE *file = fopen("/proc/modules", "r");
	char line[512];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "sdp %lu %*s %*s %*s %lx", &text_size, &text_start) == 2)
			break;
	if (file)
		fclose(file);
	return text_start;
}

static bool open_area(unsigned int actor)
{
	int fd = open(KCOV, O_RDWR | O_CLOEXEC);
	void *words;

	if (fd < 0)
		return false;
	if (ioctl(fd, KCOV_INIT_TRACE, WORDS))
		return false;
	words = mmap(NULL, WORDS * sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(words != MAP_FAILED);
	areas[actor].fd = fd;
	areas[actor].words = words;
	return true;
}

bool fuzz_cover_open(void)
{
	unsigned int i;

	if (!find_text())
		return false;
	for (i = 0; i < FUZZ_ACTORS; i++)
		if (!open_area(i))
			return false;
	seen = calloc(1, text_size);
	CHECK(seen);
	return true;
}

void fuzz_cover_start(unsigned int actor)
{
	if (areas[actor].words)
		CHECK_OK(ioctl(areas[actor].fd, KCOV_ENABLE, KCOV_TRACE_PC));
}

void fuzz_cover_reset(void)
{
	unsigned int i;

	for (i = 0; i < FUZZ_ACTORS && areas[i].words; i++)
		__atomic_store_n(&areas[i].words[0], 0, __ATOMIC_RELAXED);
}

static unsigned int count_new(const unsigned long *words)
{
	unsigned long i, n = words[0] < WORDS - 1 ? words[0] : WORDS - 1;
	unsigned int found = 0;

	for (i = 1; i <= n; i++) {
		unsigned long at = words[i] - text_start;

		if (at < text_size && !seen[at]) {
			seen[at] = 1;
			found++;
		}
	}
	return found;
}

unsigned int fuzz_cover_new(void)
{
	unsigned int i, found = 0;

	for (i = 0; i < FUZZ_ACTORS && areas[i].words; i++)
		found += count_new(areas[i].words);
	total += found;
	return found;
}

void fuzz_cover_forget(void)
{
	memset(seen, 0, text_size);
	total = 0;
}

unsigned int fuzz_cover_total(void)
{
	return total;
}
