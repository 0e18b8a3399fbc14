// SPDX-License-Identifier: GPL-2.0
/* Traffic of all kinds, and traffic in a machine that has no memory left. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "sdp_memory.h"
#include "sdp_transfer.h"
#include "soak.h"

#define TRAFFIC_ROUNDS	2
#define TRAFFIC_LEN	(192 * KIB)

void traffic(void)
{
	struct soak_ledger first = { 0 };
	unsigned int round = 0;

	soak_begin("traffic", TRAFFIC_ROUNDS);
	while (soak_goes_on()) {
		soak_mixes(scaled(TRAFFIC_LEN), true, 0, 1);
		if (!round++)
			first = soak_ledger();
		else
			soak_expect_no_growth(&first);
	}
	soak_end();
}

/* ---- little memory ---- */

#define PRESSURE_ROUNDS	2
#define PRESSURE_LEN	(96 * KIB)
/* Above this pages are taken back: less than the file below and what the traffic takes. */
#define GROUP_HIGH	(20 * MIB)
/* More than the group ever has, as who cannot get pages back is killed. */
#define GROUP_MAX	(96 * MIB)
#define HOG		(4 * MIB)

static bool over;

/* Memory that is the hog's for a moment, and a file that the group's limit has no room for. */
static void *hog(void *arg)
{
	int file = CHECK_OK(open(arg, O_RDONLY | O_CLOEXEC));
	unsigned char *buf = memory(HOG, 0);
	ssize_t n;

	while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
		memset(buf, 0x5a, HOG);
		CHECK_OK(madvise(buf, HOG, MADV_DONTNEED));
		n = CHECK_OK(read(file, buf, HOG));
		if (!n)
			CHECK_OK(lseek(file, 0, SEEK_SET));
	}
	CHECK_OK(close(file));
	return NULL;
}

#define DROP_CACHES	"/proc/sys/vm/drop_caches"

static void *drop_and_compact(void *arg)
{
	(void)arg;
	/* From then on without a word in the kernel's log for each. */
	CHECK(file_write(DROP_CACHES, "4"));
	while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
		CHECK(file_write(DROP_CACHES, "3"));
		file_write("/proc/sys/vm/compact_memory", "1");
		poll(NULL, 0, 500);
	}
	return NULL;
}

/* A file on a disk, which a page cache may forget and read again. */
static char *large_file(void)
{
	static char * const names[] = {
		"/usr/bin/qemu-system-x86_64", "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!access(names[i], R_OK))
			return names[i];
	sdp_skip("no large file to read");
}

static void limit_group_to(const char *file, size_t bytes)
{
	char text[32];

	snprintf(text, sizeof(text), "%lu", bytes);
	CHECK(group_write(file, text));
}

static void limit_group(void)
{
	group_enter();
	limit_group_to("memory.high", GROUP_HIGH);
	limit_group_to("memory.max", GROUP_MAX);
}

static void under_pressure(void)
{
	struct soak_ledger first = { 0 };
	pthread_t hogs[2];
	unsigned int part = 0;

	limit_group();
	soak_begin("pressure", PRESSURE_ROUNDS);
	while (soak_goes_on()) {
		over = false;
		thread_start(&hogs[0], hog, large_file());
		thread_start(&hogs[1], drop_and_compact, NULL);
		soak_mixes(scaled(PRESSURE_LEN), true, part % 3, 3);
		__atomic_store_n(&over, true, __ATOMIC_RELEASE);
		thread_join(hogs[0]);
		thread_join(hogs[1]);
		if (!part++)
			first = soak_ledger();
		else
			soak_expect_no_growth(&first);
	}
	soak_end();
	CHECK(group_stat("pgscan") > 0);
}

static void end_group(void)
{
	group_remove();
}

void pressure(void)
{
	large_file();
	group_make();
	run_and_undo(under_pressure, end_group);
}
