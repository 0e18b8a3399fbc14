// SPDX-License-Identifier: GPL-2.0
/*
 * How evenly a machine's connections get on that are busy at the same time, and how many
 * it can make in a second.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>
#include <time.h>

#include "soak.h"

#define CONNECTIONS	100
#define EACH		(512 * KIB)
#define CHUNK		(8 * KIB)
/* Jain's index is 1 where all have the same, and 1/n where one has all. */
#define FAIR		0.9
/* A lost packet has Soft-RoCE wait for a second, which is no unfairness if it was chance. */
#define TRIES		3

static struct busy {
	struct pair p;
	uint64_t sent, got, at_half;
} busy[CONNECTIONS];

static uint64_t all_got;
static size_t each;

/* As servers do it: who can go on has its turn, one after the other. */
static void turn_all(short events, bool (*turn)(struct busy *b))
{
	struct pollfd fds[CONNECTIONS];
	unsigned int i, left = CONNECTIONS;

	for (i = 0; i < CONNECTIONS; i++)
		fds[i] = (struct pollfd){
			.fd = events == POLLIN ? busy[i].p.server : busy[i].p.client,
			.events = events,
		};
	while (left) {
		CHECK_OK(poll(fds, CONNECTIONS, -1));
		for (i = 0; i < CONNECTIONS; i++) {
			if (fds[i].fd < 0 || !fds[i].revents || !turn(&busy[i]))
				continue;
			fds[i].fd = -1;
			left--;
		}
	}
}

/* True when there is no more. */
static bool write_turn(struct busy *b)
{
	size_t len = each - b->sent < CHUNK ? each - b->sent : CHUNK;
	unsigned char buf[CHUNK];
	ssize_t n;

	pattern_fill(buf, len, b - busy, b->sent);
	n = send(b->p.client, buf, len, MSG_DONTWAIT);
	if (n < 0)
		CHECK_EQ(errno, EAGAIN);
	else
		b->sent += n;
	return b->sent == each;
}

/* What each has when a half of all is through: no clock has a part in that. */
static void note_half(void)
{
	size_t i;

	for (i = 0; i < CONNECTIONS; i++)
		busy[i].at_half = busy[i].got;
}

static bool read_turn(struct busy *b)
{
	uint64_t half = each * CONNECTIONS / 2;
	unsigned char buf[CHUNK];
	size_t n = CHECK_OK(recv(b->p.server, buf, sizeof(buf), MSG_DONTWAIT));

	CHECK(n > 0);
	pattern_verify(buf, n, b - busy, b->got);
	b->got += n;
	all_got += n;
	if (all_got >= half && all_got - n < half)
		note_half();
	soak_count(0, n);
	return b->got == each;
}

static void *write_all_of_them(void *arg)
{
	(void)arg;
	turn_all(POLLOUT, write_turn);
	return NULL;
}

static double jain(void)
{
	double sum = 0, squares = 0;
	size_t i;

	for (i = 0; i < CONNECTIONS; i++) {
		sum += busy[i].at_half;
		squares += (double)busy[i].at_half * busy[i].at_half;
	}
	return sum * sum / (CONNECTIONS * squares);
}

static void report(const char *engine)
{
	uint64_t least = busy[0].at_half, most = 0;
	size_t i;

	for (i = 0; i < CONNECTIONS; i++) {
		least = busy[i].at_half < least ? busy[i].at_half : least;
		most = busy[i].at_half > most ? busy[i].at_half : most;
	}
	ktap_diag("soak fairness: engine=%s connections=%u jain=%.4f least=%llu most=%llu",
		  engine, CONNECTIONS, jain(), (unsigned long long)least,
		  (unsigned long long)most);
}

static void load_all(const char *engine)
{
	pthread_t writer;
	size_t i;

	memset(busy, 0, sizeof(busy));
	all_got = 0;
	for (i = 0; i < CONNECTIONS; i++)
		busy[i].p = opts.tcp ? new_pair() : pair_wanting(engine);
	soak_count(CONNECTIONS, 0);
	thread_start(&writer, write_all_of_them, NULL);
	turn_all(POLLIN, read_turn);
	thread_join(writer);
	for (i = 0; i < CONNECTIONS; i++)
		close_pair(busy[i].p);
	report(opts.tcp ? "tcp" : engine);
}

/* What TCP has is there to compare, with no bound. */
static void fairness(const char *engine)
{
	unsigned int tries = 0;

	each = scaled(EACH);
	raise_file_limit(2 * CONNECTIONS + 64);
	soak_begin("fairness", 1);
	do
		load_all(engine);
	while (!opts.tcp && jain() < FAIR && ++tries < TRIES);
	soak_end();
	CHECK(opts.tcp || jain() >= FAIR);
}

void fairness_credit(void)
{
	fairness("credit");
}

void fairness_auto(void)
{
	fairness("auto");
}

/* ---- a figure, which is no reason to fail ---- */

#define RATE_ROUNDS	3
#define RATE_CONNECTS	100

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000ULL + ts.tv_nsec / 1000;
}

static uint64_t connect_often(bool tcp)
{
	unsigned int i, count = scaled_count(RATE_CONNECTS);
	uint64_t start;
	int listener;

	opts.tcp = tcp;
	listener = new_listener(1);
	start = now_us();
	for (i = 0; i < count; i++) {
		struct pair p = { .client = connect_to(listener) };

		p.server = CHECK_OK(accept(listener, NULL, NULL));
		close_pair(p);
		soak_count(1, 0);
	}
	start = now_us() - start;
	CHECK_OK(close(listener));
	opts.tcp = false;
	return start;
}

void rate(void)
{
	uint64_t sdp = 0, tcp = 0, count = 0;
	unsigned int i;

	soak_begin("rate", RATE_ROUNDS);
	for (i = 0; i < RATE_ROUNDS; i++) {
		sdp += connect_often(false);
		tcp += connect_often(true);
		count += scaled_count(RATE_CONNECTS);
	}
	ktap_diag("soak rate: sdp=%.0f/s tcp=%.0f/s ratio=%.3f", count * 1e6 / sdp,
		  count * 1e6 / tcp, (double)tcp / sdp);
	soak_end();
}
