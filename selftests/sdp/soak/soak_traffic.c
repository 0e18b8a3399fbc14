// SPDX-License-Identifier: GPL-2.0
/* Traffic of all kinds, and traffic in a machine that has no memory left. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

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
/* Above this pages are taken back: much less than the file has, see files.mk. */
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

#define FILE_NAME	"sdp_soak.pages"

/* It stands beside the program. In tmpfs its pages could not be taken back. */
static char *large_file(void)
{
	static char path[PATH_MAX];
	struct statfs fs;
	char *slash;
	ssize_t len;

	len = CHECK_OK(readlink("/proc/self/exe", path, sizeof(path) - sizeof(FILE_NAME)));
	path[len] = 0;
	slash = strrchr(path, '/');
	CHECK(slash);
	strcpy(slash + 1, FILE_NAME);
	CHECK_OK(statfs(path, &fs));
	if (fs.f_type == TMPFS_MAGIC)
		sdp_skip("%s is on no disk", path);
	return path;
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

/* Who drops caches takes pages back as well, so that the limit has to be met before. */
static void start_pressure(pthread_t hogs[2])
{
	size_t scanned = group_stat("pgscan");

	over = false;
	thread_start(&hogs[0], hog, large_file());
	WAIT_FOR(group_stat("pgscan") > scanned);
	thread_start(&hogs[1], drop_and_compact, NULL);
}

static void under_pressure(void)
{
	struct soak_ledger first = { 0 };
	pthread_t hogs[2];
	unsigned int part = 0;

	limit_group();
	soak_begin("pressure", PRESSURE_ROUNDS);
	while (soak_goes_on()) {
		start_pressure(hogs);
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
}

static void end_group(void)
{
	group_remove();
}

void pressure(void)
{
	group_make();
	run_and_undo(under_pressure, end_group);
}
