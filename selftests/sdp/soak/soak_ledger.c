// SPDX-License-Identifier: GPL-2.0
/* What must not grow while load goes on. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "sdp_memory.h"
#include "soak.h"

/* Caches of the system at large take some of it, whoever does what. */
#define SLACK_KIB	(16 * 1024)
/* So much earlier than the watch, which does not know what has grown. */
#define LATE_MS		20000

/* What the processors keep for themselves counts as used otherwise. */
static void shrink_cache(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/kernel/slab/%s/shrink", name);
	file_write(path, "1");
}

static long cache_objects(void)
{
	FILE *file = fopen("/proc/slabinfo", "r");
	char line[512], name[64];
	bool again, found = false;
	long active, sum = 0;

	if (!file)
		FAIL("/proc/slabinfo: %s", strerror(errno));
	for (again = true; ; again = false) {
		while (fgets(line, sizeof(line), file)) {
			if (strncasecmp(line, "sdp", 3) ||
			    sscanf(line, "%63s %ld", name, &active) != 2)
				continue;
			found = true;
			if (again)
				shrink_cache(name);
			else
				sum += active;
		}
		if (!again)
			break;
		rewind(file);
	}
	fclose(file);
	/* The kernel may have one cache for all that is of a size. */
	if (!found)
		sdp_skip("/proc/slabinfo does not tell of the module's objects");
	return sum;
}

static long rdma_resources(void)
{
	struct rdma_objects n = rdma_objects();

	return n.qp + n.cm_id + n.mr + n.ctx + n.pd;
}

static bool is_worker(const char *pid)
{
	char path[288];

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	return file_has(path, "kworker");
}

static long count_tasks(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	long n = 0;

	CHECK(proc);
	while ((entry = readdir(proc)))
		n += atoi(entry->d_name) > 0 && !is_worker(entry->d_name);
	closedir(proc);
	return n;
}

static long kernel_kib(void)
{
	static const char * const names[] = {
		"SUnreclaim:", "KernelStack:", "PageTables:", "VmallocUsed:", "Percpu:",
	};
	char buf[8192], *at;
	long sum = 0;
	size_t i;

	file_read("/proc/meminfo", buf, sizeof(buf));
	/* The first is slab memory. */
	for (i = kernel_keeps_freed(); i < ARRAY_SIZE(names); i++) {
		at = strstr(buf, names[i]);
		if (at)
			sum += atol(at + strlen(names[i]));
	}
	return sum;
}

static struct soak_ledger take(void)
{
	return (struct soak_ledger){
		.objects = cache_objects(),
		.pinned = pinned_pages(),
		.resources = rdma_resources(),
		.sockets = sdp_stat("Sockets"),
		.tasks = count_tasks(),
		.kernel_kib = kernel_kib(),
	};
}

/* However long it takes, as long as it goes on. */
static void wait_for_sockets(long most)
{
	long left;

	while ((left = sdp_stat("Sockets")) > most) {
		WAIT_FOR(sdp_stat("Sockets") < left);
		soak_moved();
	}
	soak_moved();
}

static void say(const char *when, const struct soak_ledger *l)
{
	ktap_diag("soak %s: objects=%ld pinned=%ld resources=%ld sockets=%ld tasks=%ld kib=%ld",
		  when, l->objects, l->pinned, l->resources, l->sockets, l->tasks,
		  l->kernel_kib);
}

struct soak_ledger soak_ledger(void)
{
	struct soak_ledger now;

	wait_for_sockets(0);
	now = take();
	say("first", &now);
	return now;
}

static const char *grown(const struct soak_ledger *first, const struct soak_ledger *now)
{
	if (now->objects > first->objects)
		return "objects of slab caches";
	if (now->pinned > first->pinned)
		return "pinned pages";
	if (now->resources > first->resources)
		return "objects of RDMA devices";
	if (now->sockets > first->sockets)
		return "sockets";
	if (now->tasks > first->tasks)
		return "tasks";
	if (now->kernel_kib > first->kernel_kib + SLACK_KIB)
		return "the kernel's memory";
	return NULL;
}

/* What is freed after a grace period, or by a work item, may be a moment late. */
void soak_expect_no_growth(const struct soak_ledger *first)
{
	struct soak_ledger now;
	const char *what;
	uint64_t end;

	wait_for_sockets(0);
	end = now_ms() + LATE_MS * opts.scale;
	for (now = take(); (what = grown(first, &now)); now = take()) {
		if (now_ms() > end) {
			say("now", &now);
			FAIL("more %s than at first", what);
		}
		pause_a_bit();
	}
}
