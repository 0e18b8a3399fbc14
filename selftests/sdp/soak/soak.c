// SPDX-License-Identifier: GPL-2.0
/* For how long load goes on, and that it goes on. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>
#include <sys/sysinfo.h>

#include "soak.h"

#define LINE_MS		10000
/* More than the longest silence after which a device gives a peer up, see failures.rst. */
#define PATIENCE_S	45

static struct {
	const char *name;
	unsigned int rounds, wanted;
	unsigned int seconds;	/* 0: a number of rounds */
	uint64_t start, connections, bytes, other;
	bool over;
	pthread_t watch;
} soak;

static void say(const char *what)
{
	struct sysinfo info;

	CHECK_OK(sysinfo(&info));
	ktap_diag("soak %s: case=%s seconds=%llu rounds=%u connections=%llu bytes=%llu free=%lu",
		  what, soak.name,
		  (unsigned long long)(now_ms() - soak.start) / 1000,
		  soak.rounds,
		  (unsigned long long)__atomic_load_n(&soak.connections, __ATOMIC_RELAXED),
		  (unsigned long long)__atomic_load_n(&soak.bytes, __ATOMIC_RELAXED),
		  (unsigned long)(info.freeram * info.mem_unit / KIB));
}

static uint64_t done_so_far(void)
{
	return __atomic_load_n(&soak.connections, __ATOMIC_RELAXED) +
	       __atomic_load_n(&soak.bytes, __ATOMIC_RELAXED) +
	       __atomic_load_n(&soak.other, __ATOMIC_RELAXED);
}

static void *watch(void *arg)
{
	uint64_t line = now_ms() + LINE_MS, moved = now_ms(), before = 0;

	(void)arg;
	while (!__atomic_load_n(&soak.over, __ATOMIC_ACQUIRE)) {
		uint64_t done = done_so_far(), now = now_ms();

		if (done != before)
			moved = now;
		before = done;
		if (now - moved > PATIENCE_S * 1000ULL * opts.scale) {
			show_group(getpgrp());
			FAIL("nothing has moved for %u s", PATIENCE_S * opts.scale);
		}
		if (now > line) {
			say("progress");
			line += LINE_MS;
		}
		poll(NULL, 0, 50);
	}
	return NULL;
}

void soak_begin(const char *name, unsigned int rounds)
{
	const char *text = getenv("SDP_SOAK_SECONDS");

	soak.name = name;
	soak.wanted = rounds;
	soak.seconds = text ? strtoul(text, NULL, 10) : 0;
	soak.start = now_ms();
	thread_start(&soak.watch, watch, NULL);
}

bool soak_goes_on(void)
{
	bool more = soak.seconds ? now_ms() < soak.start + soak.seconds * 1000ULL :
				   soak.rounds < soak.wanted;

	soak.rounds += more;
	return more;
}

bool soak_is_long(void)
{
	return soak.seconds;
}

void soak_count(unsigned int connections, uint64_t bytes)
{
	__atomic_fetch_add(&soak.connections, connections, __ATOMIC_RELAXED);
	__atomic_fetch_add(&soak.bytes, bytes, __ATOMIC_RELAXED);
}

void soak_moved(void)
{
	__atomic_fetch_add(&soak.other, 1, __ATOMIC_RELAXED);
}

void soak_end(void)
{
	__atomic_store_n(&soak.over, true, __ATOMIC_RELEASE);
	thread_join(soak.watch);
	say("total");
}

uint32_t soak_seed(void)
{
	return opts.seed + 7919 * soak.rounds;
}
