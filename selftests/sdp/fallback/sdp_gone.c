// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners whose TCP socket somebody else ends, as an administrator may do:
 * they end as TCP's do, at whatever moment.
 */
#define _GNU_SOURCE
#include <poll.h>

#include "sdp_diag.h"
#include "sdp_fallback.h"

static struct addr loopback(uint16_t port)
{
	return make_addr(opts.ipv6 ? "::1" : "127.0.0.1", port);
}

/* A listener on TCP alone, unless this run is about TCP anyway. */
static int only_listener(int type_flags)
{
	int fd = new_socket(type_flags);

	if (!opts.tcp)
		set_int(fd, SOL_SDP, SDP_TCP_FALLBACK, ONLY);
	return listener_at(fd, loopback(0), 64);
}

static void destroy(int listener)
{
	struct addr a = local_addr(listener);
	int diag = diag_socket();
	int err = diag_destroy(diag, &a);

	if (err == EOPNOTSUPP || err == ENOENT)
		sdp_skip("this kernel does not end TCP sockets: %s",
			 strerrorname_np(err));
	CHECK_EQ(err, 0);
	close(diag);
}

static void destroyed_under_accept(void)
{
	int listener = only_listener(0);
	struct blocked b;

	block_start(&b, op_accept, listener);
	destroy(listener);
	CHECK_EQ(block_join(&b), -1);
	CHECK_EQ(b.err, EINVAL);
	CHECK_EQ(get_int(listener, SOL_SOCKET, SO_ERROR), ECONNABORTED);
	CHECK_EQ(get_int(listener, SOL_SOCKET, SO_ERROR), 0);
	CHECK_ERR(accept(listener, NULL, NULL), EINVAL);
}

static void destroyed_under_accepts(void)
{
	int listener = only_listener(0);
	struct blocked b[3];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(b); i++)
		block_start(&b[i], op_accept, listener);
	destroy(listener);
	for (i = 0; i < ARRAY_SIZE(b); i++) {
		CHECK_EQ(block_join(&b[i]), -1);
		CHECK_EQ(b[i].err, EINVAL);
	}
}

static void destroyed_under_poll(void)
{
	short gone = POLLIN | POLLOUT | POLLRDHUP | POLLHUP;
	int listener = only_listener(SOCK_NONBLOCK);
	struct blocked b;

	block_start(&b, op_poll, listener);
	destroy(listener);
	CHECK(block_join(&b) & POLLHUP);
	wait_poll_exact(listener, gone | POLLERR);
	CHECK_EQ(get_int(listener, SOL_SOCKET, SO_ERROR), ECONNABORTED);
	wait_poll_exact(listener, gone);
	CHECK_ERR(accept(listener, NULL, NULL), EINVAL);
}

static void destroyed_with_connections(void)
{
	int listener = only_listener(SOCK_NONBLOCK), client[3];
	struct addr a = local_addr(listener);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(client); i++) {
		client[i] = tcp_socket();
		CHECK_OK(connect(client[i], &a.sa, a.len));
	}
	destroy(listener);
	CHECK_ERR(accept(listener, NULL, NULL), EINVAL);
	for (i = 0; i < ARRAY_SIZE(client); i++)
		CHECK_EQ(recv_until_end(client[i]), ECONNRESET);
	/* The port is free for somebody else. */
	close(listener);
	listener_at(tcp_socket(), a, 1);
}

static void listens_again(void)
{
	int listener = only_listener(SOCK_NONBLOCK), client, server;
	struct addr a;

	destroy(listener);
	CHECK_ERR(accept(listener, NULL, NULL), EINVAL);
	CHECK_EQ(get_int(listener, SOL_SOCKET, SO_ERROR), ECONNABORTED);
	CHECK_OK(listen(listener, 1));
	a = local_addr(listener);
	client = tcp_socket();
	/* TCP keeps neither, if it was to choose the port. */
	a = loopback(addr_port(&a));
	CHECK_OK(connect(client, &a.sa, a.len));
	server = CHECK_OK(accept(listener, NULL, NULL));
	exchange(client, server, 10000);
}

/* ---- at whatever moment ---- */

struct race {
	int listener;
	pthread_barrier_t start;
	bool over;
};

static void *accept_until_gone(void *arg)
{
	struct race *race = arg;
	int fd;

	for (;;) {
		pthread_barrier_wait(&race->start);
		if (race->over)
			return NULL;
		while ((fd = accept(race->listener, NULL, NULL)) >= 0)
			close(fd);
		CHECK_EQ(errno, EINVAL);
		pthread_barrier_wait(&race->start);
	}
}

static void race_once(struct race *race, int diag, unsigned int waiting)
{
	struct addr a;
	int client[8];
	unsigned int i;

	race->listener = only_listener(0);
	a = local_addr(race->listener);
	for (i = 0; i < waiting; i++) {
		client[i] = tcp_socket();
		CHECK_OK(connect(client[i], &a.sa, a.len));
	}
	pthread_barrier_wait(&race->start);
	CHECK_EQ(diag_destroy(diag, &a), 0);
	pthread_barrier_wait(&race->start);
	close(race->listener);
	for (i = 0; i < waiting; i++)
		close(client[i]);
}

/* The queue is emptied while accept() takes from it. */
static void destroyed_while_taken(void)
{
	uint64_t end = now_ms() + 3000;
	struct race race = {};
	int diag = diag_socket();
	unsigned int rounds = 0;
	pthread_t thread;

	destroy(only_listener(0));
	pthread_barrier_init(&race.start, NULL, 2);
	thread_start(&thread, accept_until_gone, &race);
	while (now_ms() < end)
		race_once(&race, diag, 1 + rounds++ % 8);
	race.over = true;
	pthread_barrier_wait(&race.start);
	thread_join(thread);
	ktap_diag("%u rounds", rounds);
}

static const struct sdp_case cases[] = {
	CASE(destroyed_under_accept, CASE_TCP | CASE_IPV6),
	CASE(destroyed_under_accepts, CASE_TCP),
	CASE(destroyed_under_poll, CASE_TCP),
	CASE(destroyed_with_connections, CASE_TCP),
	CASE(listens_again, 0),
	CASE(destroyed_while_taken, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return fallback_main(argc, argv, cases, ARRAY_SIZE(cases));
}
