// SPDX-License-Identifier: GPL-2.0
/*
 * A device that works in softirqs has sent what a program writes when the write returns:
 * no thread has to run for it.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "sdp_memory.h"

#define SEED	71
#define ROUNDS	200

/* Soft-RoCE since Linux 6.4, and siw, work in threads. */
static void need_softirqs(void)
{
	if (!kernel_has("rxe_do_task"))
		sdp_skip("the device works in threads");
}

/* How often a process has slept; -1 if it has another name, or is gone. */
static long process_slept(const char *pid, const char *name)
{
	char path[300], line[200], found[64] = "";
	long slept = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/status", pid);
	f = fopen(path, "r");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "Name: %63s", found) != 1 &&
		    sscanf(line, "voluntary_ctxt_switches: %ld", &slept) == 1)
			break;
	fclose(f);
	return strcmp(found, name) ? -1 : slept;
}

/* The thread that does what softirqs leave of this processor's. */
static long thread_slept(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	long slept = -1;
	char name[32];

	CHECK(proc);
	snprintf(name, sizeof(name), "ksoftirqd/%d", sched_getcpu());
	while (slept < 0 && (entry = readdir(proc)))
		if (atoi(entry->d_name))
			slept = process_slept(entry->d_name, name);
	closedir(proc);
	CHECK(slept >= 0);
	return slept;
}

static void needs_no_thread(void)
{
	struct pair p = new_nodelay_pair();
	uint64_t pos = 0;
	long before;

	need_softirqs();
	use_one_cpu();
	before = thread_slept();
	for (; pos < ROUNDS * KIB; pos += KIB) {
		send_pattern(p.client, SEED, pos, KIB, KIB);
		recv_pattern(p.server, SEED, pos, KIB, KIB);
		send_pattern(p.server, SEED + 1, pos, KIB, KIB);
		recv_pattern(p.client, SEED + 1, pos, KIB, KIB);
	}
	/* It has something to do from time to time. */
	CHECK(thread_slept() < before + ROUNDS / 2);
	close_pair(p);
}

static const struct sdp_case cases[] = {
	CASE(needs_no_thread, CASE_TCP),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
