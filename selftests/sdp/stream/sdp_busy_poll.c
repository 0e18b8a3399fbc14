// SPDX-License-Identifier: GPL-2.0
/*
 * SO_BUSY_POLL: a read that finds nothing polls the device before it sleeps. The
 * completion queue that it polls is shared, so that others must get what is theirs.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"

#define LEN	100

/* Longer than any case takes. */
#define FOR_EVER	(1000 * 1000 * 1000)

/* A kernel may be without it. */
static void poll_for(int fd, unsigned int us)
{
	if (!setsockopt(fd, SOL_SOCKET, SO_BUSY_POLL, &us, sizeof(us)))
		return;
	CHECK_EQ(errno, ENOPROTOOPT);
	sdp_skip("this kernel has no SO_BUSY_POLL");
}

/* On one processor there is nobody to answer while somebody polls. */
#define POLL_CPUS	2

/* Answers each message with the bytes behind it. */
static void *echo_thread(void *arg)
{
	const struct pair *p = arg;
	unsigned int i;

	for (i = 0; i < 200; i++) {
		recv_pattern(p->server, 1, i * LEN, LEN, LEN);
		send_pattern(p->server, 2, i * LEN, LEN, LEN);
	}
	return NULL;
}

static void *ask_thread(void *arg)
{
	const struct pair *p = arg;
	unsigned int i;

	for (i = 0; i < 200; i++) {
		send_pattern(p->client, 1, i * LEN, LEN, LEN);
		recv_pattern(p->client, 2, i * LEN, LEN, LEN);
	}
	return NULL;
}

static void ask(struct pair *p)
{
	pthread_t echo;

	thread_start(&echo, echo_thread, p);
	ask_thread(p);
	thread_join(echo);
}

static void finds_data(void)
{
	struct pair p = new_pair();
	long before = sdp_stat("BusyPolls");

	need_cpus(POLL_CPUS);
	poll_for(p.client, 1000);
	poll_for(p.server, 1000);
	do
		ask(&p);
	while (sdp_stat("BusyPolls") < before + 10);
	close_pair(p);
}

static void does_not_if_not_told(void)
{
	struct pair p = new_pair();
	long before = sdp_stat("BusyPolls");

	poll_for(p.client, 0);
	poll_for(p.server, 0);
	ask(&p);
	CHECK_EQ(sdp_stat("BusyPolls"), before);
	close_pair(p);
}

/*
 * Some poll, for times about as long as an answer takes, and some sleep: whoever of
 * these is not told of a completion sleeps for ever.
 */
static void others_are_served(void)
{
	struct pair p[8];
	pthread_t echo[8], asks[8];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(p); i++) {
		p[i] = new_pair();
		if (i % 2)
			poll_for(p[i].client, 40 << i);
		if (i % 4 == 3)
			poll_for(p[i].server, 40 << i);
	}
	for (i = 0; i < ARRAY_SIZE(p); i++) {
		thread_start(&echo[i], echo_thread, &p[i]);
		thread_start(&asks[i], ask_thread, &p[i]);
	}
	for (i = 0; i < ARRAY_SIZE(p); i++) {
		thread_join(asks[i]);
		thread_join(echo[i]);
		close_pair(p[i]);
	}
}

static void without_waiting(void)
{
	struct pair p = new_pair();
	unsigned int i;
	char c;

	poll_for(p.server, FOR_EVER);
	for (i = 0; i < 200; i++) {
		CHECK_ERR(recv(p.server, &c, 1, MSG_DONTWAIT), EAGAIN);
		CHECK_EQ(send(p.client, &i, 1, 0), 1);
		while (recv(p.server, &c, 1, MSG_DONTWAIT) != 1)
			CHECK_EQ(errno, EAGAIN);
		CHECK_EQ((unsigned char)c, i);
	}
	close_pair(p);
}

static void wait_by_poll(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	CHECK_EQ(poll(&pfd, 1, -1), 1);
	CHECK_EQ(pfd.revents, POLLIN);
}

/* It polls for the socket that it has had an event of last. */
static void wait_by_epoll(int fd)
{
	static int ep = -1, of = -1;
	struct epoll_event event = { .events = EPOLLIN };

	if (of != fd) {
		ep = epoll_create1(0);
		CHECK_OK(ep);
		CHECK_OK(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &event));
		of = fd;
	}
	CHECK_EQ(epoll_wait(ep, &event, 1, -1), 1);
	CHECK_EQ(event.events, EPOLLIN);
}

/* Polls are asked for by the one who waits, and only if the administrator lets them. */
static void answers_by(void (*wait)(int fd), struct pair p, long *polled)
{
	long before = sdp_stat("BusyPolls");
	pthread_t echo;
	unsigned int i;

	thread_start(&echo, echo_thread, &p);
	for (i = 0; i < 200; i++) {
		send_pattern(p.client, 1, i * LEN, LEN, LEN);
		wait(p.client);
		*polled = sdp_stat("BusyPolls") - before;
		recv_pattern(p.client, 2, i * LEN, LEN, LEN);
	}
	thread_join(echo);
}

static void finds_data_by(void (*wait)(int fd))
{
	const char *sysctl = "/proc/sys/net/core/busy_poll";
	struct pair p = new_pair();
	char saved[32];
	long polled;

	need_cpus(POLL_CPUS);
	poll_for(p.client, 1);
	read_sysctl(sysctl, saved, sizeof(saved));
	CHECK_EQ(write_sysctl(sysctl, "0"), 0);
	answers_by(wait, p, &polled);
	CHECK_EQ(polled, 0);
	CHECK_EQ(write_sysctl(sysctl, "1000"), 0);
	/* An interrupt may be quicker. */
	do
		answers_by(wait, p, &polled);
	while (!polled);
	CHECK_EQ(write_sysctl(sysctl, saved), 0);
	close_pair(p);
}

static void poll_finds_data(void)
{
	finds_data_by(wait_by_poll);
}

static void epoll_finds_data(void)
{
	finds_data_by(wait_by_epoll);
}

/* Somebody has wanted its processor. */
static void poll_again(struct blocked *reader, struct pair p)
{
	send_text(p.server, "?", 0);
	CHECK_EQ(block_join(reader), 1);
	block_run(reader, op_recv, p.client);
}

static void wait_until_it_polls(struct blocked *reader, struct pair p)
{
	long before = sdp_stat("BusyPolls");
	uint64_t pos = 0;

	/* What it polls are the completions of what the same socket sends, too. */
	do {
		if (block_sleeps(reader)) {
			poll_again(reader, p);
			/* Not what the call before has counted. */
			before = sdp_stat("BusyPolls");
		}
		send_pattern(p.client, 5, pos, LEN, LEN);
		recv_pattern(p.server, 5, pos, LEN, LEN);
		pos += LEN;
	} while (sdp_stat("BusyPolls") == before);
}

/* A call that polls for long keeps nobody away from its socket. */
static void others_use_the_socket(void)
{
	struct pair p = new_pair();
	struct blocked reader;

	need_cpus(POLL_CPUS);
	poll_for(p.client, FOR_EVER);
	block_run(&reader, op_recv, p.client);
	wait_until_it_polls(&reader, p);
	send_pattern(p.client, 6, 0, 100 * KIB, LEN);
	recv_pattern(p.server, 6, 0, 100 * KIB, LEN);
	send_text(p.server, "!", 0);
	CHECK_EQ(block_join(&reader), 1);
	exchange(p.client, p.server, 1000);
	close_pair(p);
}

/* It may be a thread of the device's, without which nothing ever comes. */
static void gives_the_processor_away(void)
{
	struct pair p = new_pair();
	struct blocked reader;

	poll_for(p.client, FOR_EVER);
	use_one_cpu();
	block_run(&reader, op_recv, p.client);
	/* This wants the processor all the time. */
	while (!block_sleeps(&reader))
		;
	send_text(p.server, "!", 0);
	CHECK_EQ(block_join(&reader), 1);
	close_pair(p);
}

static void ends_with_the_stream(void)
{
	struct pair p = new_pair();
	struct blocked reader;

	need_cpus(POLL_CPUS);
	poll_for(p.client, FOR_EVER);
	block_run(&reader, op_recv, p.client);
	wait_until_it_polls(&reader, p);
	CHECK_OK(shutdown(p.server, SHUT_WR));
	CHECK_EQ(block_join(&reader), 0);
	close_pair(p);
}

static void nothing(int sig)
{
	(void)sig;
}

static void ends_with_a_signal(void)
{
	struct sigaction act = { .sa_handler = nothing };
	struct pair p = new_pair();
	struct blocked reader;

	CHECK_OK(sigaction(SIGUSR1, &act, NULL));
	need_cpus(POLL_CPUS);
	poll_for(p.client, FOR_EVER);
	block_run(&reader, op_recv, p.client);
	wait_until_it_polls(&reader, p);
	CHECK_EQ(pthread_kill(reader.thread, SIGUSR1), 0);
	CHECK_EQ(block_join(&reader), -1);
	CHECK_EQ(errno, EINTR);
	exchange(p.client, p.server, 1000);
	close_pair(p);
}

/* The socket's device, queue pair and completion queue go while it is polled. */
static void ends_with_the_connection(void)
{
	struct blocked reader;
	unsigned int i;
	struct pair p;

	for (i = 0; i < 20; i++) {
		p = new_pair();
		poll_for(p.client, FOR_EVER);
		block_run(&reader, op_recv, p.client);
		usleep(i * 100);
		set_linger(p.server, 1, 0);
		CHECK_OK(close(p.server));
		CHECK_EQ(block_join(&reader), -1);
		CHECK_EQ(errno, ECONNRESET);
		CHECK_OK(close(p.client));
	}
}

static const struct sdp_case cases[] = {
	CASE(finds_data, CASE_SDP_ONLY),
	CASE(does_not_if_not_told, CASE_SDP_ONLY),
	CASE(others_are_served, CASE_TCP),
	CASE(without_waiting, CASE_TCP),
	CASE(poll_finds_data, CASE_SDP_ONLY),
	CASE(epoll_finds_data, CASE_SDP_ONLY),
	CASE(others_use_the_socket, CASE_SDP_ONLY),
	CASE(gives_the_processor_away, CASE_SDP_ONLY),
	CASE(ends_with_the_stream, CASE_SDP_ONLY),
	CASE(ends_with_a_signal, CASE_SDP_ONLY),
	CASE(ends_with_the_connection, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
