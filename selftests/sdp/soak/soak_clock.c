// SPDX-License-Identifier: GPL-2.0
/* The time of day leaps, a day ahead and a day back, while connections are busy. */
#define _GNU_SOURCE
#include <poll.h>
#include <time.h>

#include "sdp_memory.h"
#include "soak.h"

#define ROUNDS		2
#define LEN		(64 * KIB)
#define DAY_S		86400
#define BETWEEN_MS	20
#define PATIENCE_MS	50

static bool over;

static void leap(long seconds)
{
	struct timespec ts;

	CHECK_OK(clock_gettime(CLOCK_REALTIME, &ts));
	ts.tv_sec += seconds;
	CHECK_OK(clock_settime(CLOCK_REALTIME, &ts));
}

static void *leap_often(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
		leap(DAY_S);
		poll(NULL, 0, BETWEEN_MS);
		leap(-DAY_S);
		poll(NULL, 0, BETWEEN_MS);
	}
	return NULL;
}

/* Who waits for a time waits as long as that, whatever the time of day is meanwhile. */
static void wait_in_vain(void)
{
	struct pair p = new_pair();
	struct stopwatch w;
	char c;

	set_timeout(p.client, SO_RCVTIMEO, PATIENCE_MS);
	w = start_watch();
	CHECK_ERR(recv(p.client, &c, 1, 0), EAGAIN);
	CHECK(watch_ms(w) + TICK_MS >= PATIENCE_MS);
	close_pair(p);
}

static void while_it_leaps(void)
{
	pthread_t leaper;
	unsigned int part = 0;

	soak_begin("clock", ROUNDS);
	thread_start(&leaper, leap_often, NULL);
	while (soak_goes_on()) {
		soak_mixes(LEN, true, part++ % 3, 3);
		wait_in_vain();
	}
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	thread_join(leaper);
	soak_end();
}

/* Where the time of day is ahead of the one that does not leap. */
static long ahead_s;

static long difference_s(void)
{
	struct timespec day, steady;

	CHECK_OK(clock_gettime(CLOCK_REALTIME, &day));
	CHECK_OK(clock_gettime(CLOCK_MONOTONIC, &steady));
	return day.tv_sec - steady.tv_sec;
}

static void leap_back(void)
{
	leap(ahead_s - difference_s());
}

void clock_leaps(void)
{
	struct timespec now;

	CHECK_OK(clock_gettime(CLOCK_REALTIME, &now));
	if (clock_settime(CLOCK_REALTIME, &now))
		sdp_skip("the time of day cannot be set: %s", strerror(errno));
	ahead_s = difference_s();
	run_and_undo(while_it_leaps, leap_back);
}
