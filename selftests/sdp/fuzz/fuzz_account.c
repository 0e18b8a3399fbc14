// SPDX-License-Identifier: GPL-2.0
/* What programs have left behind: once all of them are over, nothing. */
#define _GNU_SOURCE
#include <stdio.h>

#include "../lib/sdp_memory.h"
#include "fuzz.h"

static struct account {
	long sockets;	/* in /proc/net/sdp */
	long references;	/* to the module */
	long pinned;
	long memory;	/* pages of net.sdp.mem */
	struct rdma_objects rdma;
} before;

static long count_lines(const char *path)
{
	FILE *file = fopen(path, "r");
	long n = 0;
	int c;

	CHECK(file);
	while ((c = fgetc(file)) != EOF)
		n += c == '\n';
	fclose(file);
	return n;
}

static long module_references(void)
{
	FILE *file = fopen("/proc/modules", "r");
	char line[512];
	long n = 0;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "sdp %*u %ld", &n) == 1)
			break;
	if (file)
		fclose(file);
	return n;
}

static struct account look(void)
{
	return (struct account){
		.sockets = count_lines("/proc/net/sdp"),
		.references = module_references(),
		.pinned = pinned_pages(),
		.memory = sdp_stat("MemPages"),
		.rdma = rdma_objects(),
	};
}

static bool is_back(const struct account *now)
{
	return now->sockets <= before.sockets && now->references <= before.references &&
	       now->pinned <= before.pinned && now->memory <= before.memory &&
	       now->rdma.qp <= before.rdma.qp && now->rdma.mr <= before.rdma.mr &&
	       now->rdma.cm_id <= before.rdma.cm_id;
}

static void show(const char *when, const struct account *a)
{
	ktap_diag("%s: sockets %ld, references %ld, pinned %ld, memory %ld", when, a->sockets,
		  a->references, a->pinned, a->memory);
	ktap_diag("%s: qp %ld, mr %ld, cm_id %ld", when, a->rdma.qp, a->rdma.mr,
		  a->rdma.cm_id);
}

void fuzz_account_begin(void)
{
	if (!opts.tcp)
		before = look();
}

void fuzz_account_end(void)
{
	uint64_t end = now_ms() + wait_limit_ms();
	struct account now;

	if (opts.tcp)
		return;
	do {
		now = look();
		if (is_back(&now))
			return;
		pause_a_bit();
	} while (now_ms() < end);
	show("before", &before);
	show("after", &now);
	FAIL("something of these programs is still there");
}
