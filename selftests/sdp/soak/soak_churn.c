// SPDX-License-Identifier: GPL-2.0
/*
 * Connections that come and go, many at a time, and end in all the ways there are.  Both
 * ends know what the other one does by the client's port.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "soak.h"

#define ROUNDS		4
#define WARM_UP		1
/* Threads at either end, and connections of each of the clients' in a round. */
#define THREADS		8
#define EACH		24
#define LEN_MAX		5000

/* How a connection ends; the other end reads all that there is. */
enum way {
	CLIENT_CLOSES,
	SERVER_CLOSES,
	BOTH_SHUT_DOWN,
	CLIENT_RESETS,
	SERVER_RESETS,
	CLIENT_LEAVES_UNREAD,
	PROCESS_EXITS,
	WAYS
};

struct plan {
	enum way way;
	size_t up, down;
};

static struct plan plan_of(uint16_t port)
{
	uint32_t state = port * 2654435761u + 1;

	return (struct plan){
		.way = random_next(&state) % WAYS,
		.up = 1 + random_next(&state) % LEN_MAX,
		.down = 1 + random_next(&state) % LEN_MAX,
	};
}

static void reset(int fd)
{
	set_linger(fd, 1, 0);
	CHECK_OK(close(fd));
}

/* The end of the stream, and no byte before it. */
static void expect_end(int fd)
{
	CHECK_EQ(recv_until_end(fd), 0);
	CHECK_OK(close(fd));
}

static void expect_reset(int fd)
{
	CHECK_EQ(recv_until_end(fd), ECONNRESET);
	CHECK_OK(close(fd));
}

#define READ_SEED 3

/* What a reset overtakes may be lost, so that the other end says that it has read all. */
static void say_read(int fd)
{
	send_pattern(fd, READ_SEED, 0, 1, 1);
}

static void await_read(int fd)
{
	recv_pattern(fd, READ_SEED, 0, 1, 1);
}

static void end_client(int fd, enum way way)
{
	switch (way) {
	case SERVER_CLOSES:
		expect_end(fd);
		break;
	case BOTH_SHUT_DOWN:
		CHECK_OK(shutdown(fd, SHUT_WR));
		expect_end(fd);
		break;
	case CLIENT_RESETS:
		reset(fd);
		break;
	case SERVER_RESETS:
		say_read(fd);
		expect_reset(fd);
		break;
	case PROCESS_EXITS:
		_exit(0);
	default:
		CHECK_OK(close(fd));
	}
}

static void end_server(int fd, enum way way)
{
	switch (way) {
	case SERVER_CLOSES:
		CHECK_OK(close(fd));
		break;
	case BOTH_SHUT_DOWN:
		CHECK_EQ(recv_until_end(fd), 0);
		CHECK_OK(shutdown(fd, SHUT_WR));
		CHECK_OK(close(fd));
		break;
	case SERVER_RESETS:
		await_read(fd);
		reset(fd);
		break;
	case CLIENT_RESETS:
	case CLIENT_LEAVES_UNREAD:
		expect_reset(fd);
		break;
	default:
		expect_end(fd);
	}
}

static void use_client(int fd, uint16_t port)
{
	struct plan plan = plan_of(port);

	send_pattern(fd, port, 0, plan.up, plan.up);
	/* Of what it leaves, something is there. */
	if (plan.way == CLIENT_LEAVES_UNREAD)
		wait_poll(fd, POLLIN);
	else
		recv_pattern(fd, port + 1, 0, plan.down, plan.down);
	end_client(fd, plan.way);
}

/* A process that keeps what others close would have their peers wait for an end. */
static void keep_only(int fd)
{
	CHECK_OK(close_range(STDERR_FILENO + 1, fd - 1, 0));
	CHECK_OK(close_range(fd + 1, ~0U, 0));
}

static void in_a_process(int fd, uint16_t port)
{
	pid_t pid = CHECK_OK(fork());

	if (!pid) {
		keep_only(fd);
		use_client(fd, port);
	}
	CHECK_OK(close(fd));
	join_child(pid);
}

static unsigned int each;
static int listener;

static void *clients(void *arg)
{
	unsigned int i;

	(void)arg;
	for (i = 0; i < each; i++) {
		int fd = connect_to(listener);
		uint16_t port = local_port(fd);

		if (plan_of(port).way == PROCESS_EXITS)
			in_a_process(fd, port);
		else
			use_client(fd, port);
	}
	return NULL;
}

static void *servers(void *arg)
{
	unsigned int i;

	(void)arg;
	for (i = 0; i < each; i++) {
		int fd = CHECK_OK(accept(listener, NULL, NULL));
		struct addr peer = peer_addr(fd);
		uint16_t port = addr_port(&peer);
		struct plan plan = plan_of(port);

		recv_pattern(fd, port, 0, plan.up, plan.up);
		send_pattern(fd, port + 1, 0, plan.down, plan.down);
		end_server(fd, plan.way);
		soak_count(1, plan.up + plan.down);
	}
	return NULL;
}

static void come_and_go(void)
{
	pthread_t threads[2 * THREADS];
	unsigned int i;

	listener = new_listener(2 * THREADS);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		thread_start(&threads[i], i % 2 ? servers : clients, NULL);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		thread_join(threads[i]);
	CHECK_OK(close(listener));
}

void churn(void)
{
	struct soak_ledger first = { 0 };
	unsigned int round = 0;

	each = scaled_count(EACH);
	soak_begin("churn", ROUNDS);
	while (soak_goes_on()) {
		come_and_go();
		if (++round <= WARM_UP)
			first = soak_ledger();
		else
			soak_expect_no_growth(&first);
	}
	soak_end();
}
