// SPDX-License-Identifier: GPL-2.0
/* What programs have left behind: once all of them are over, nothing. */
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>

#include "../lib/sdp_memory.h"
#include "fuzz.h"

static struct account {
	long sockets;	/* in /proc/net/sdp */
	long references;	/* to the module */
	long pinned;
	long memory;	/* pages of net.sdp.mem */
	struct rdma_objects rdma;
} first, before;

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

static bool is_back(const struct account *now, const struct account *then)
{
	return now->sockets <= then->sockets && now->references <= then->references &&
	       now->pinned <= then->pinned && now->memory <= then->memory &&
	       now->rdma.qp <= then->rdma.qp && now->rdma.mr <= then->rdma.mr &&
	       now->rdma.cm_id <= then->rdma.cm_id;
}

static void show(const char *when, const struct account *a)
{
	ktap_diag("%s: sockets %ld, references %ld, pinned %ld, memory %ld", when, a->sockets,
		  a->references, a->pinned, a->memory);
	ktap_diag("%s: qp %ld, mr %ld, cm_id %ld", when, a->rdma.qp, a->rdma.mr,
		  a->rdma.cm_id);
}

static void expect_back(const struct account *then, const char *of)
{
	uint64_t end = now_ms() + wait_limit_ms();
	struct account now;

	do {
		now = look();
		if (is_back(&now, then))
			return;
		pause_a_bit();
	} while (now_ms() < end);
	show("before", then);
	show("after", &now);
	FAIL("something of %s is still there", of);
}

void fuzz_account_first(void)
{
	if (!access("/proc/net/sdp", R_OK) && may_count_pinned_pages())
		first = look();
}

void fuzz_account_begin(void)
{
	if (opts.tcp)
		return;
	expect_back(&first, "what came before");
	before = look();
}

void fuzz_account_end(void)
{
	if (!opts.tcp)
		expect_back(&before, "these programs");
}
