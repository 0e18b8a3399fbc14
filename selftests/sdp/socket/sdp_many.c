// SPDX-License-Identifier: GPL-2.0
/* Many connections, one after another and at once; descriptors shared. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#include "sdp_test.h"

#define CONNECTIONS	200
#define STORM		500

/* ---- all at once ---- */

struct side {
	int ep;
	struct xfer x[CONNECTIONS];
	unsigned int wanted, count, done;
	uint64_t total;
};

static void side_add(struct side *s, int fd)
{
	struct xfer *x = &s->x[s->count++];
	struct epoll_event e = {
		.events = EPOLLIN | EPOLLOUT,
		.data.ptr = x,
	};

	x->fd = fd;
	x->total = 0;
	CHECK_OK(epoll_ctl(s->ep, EPOLL_CTL_ADD, fd, &e));
}

/* Without this level-triggered EPOLLOUT of a finished sender spins. */
static void side_want_input_only(struct side *s, struct xfer *x)
{
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = x };

	CHECK_OK(epoll_ctl(s->ep, EPOLL_CTL_MOD, x->fd, &e));
}

static void side_event(struct side *s, struct xfer *x)
{
	bool sending;

	if (!x->total) {
		CHECK_EQ(get_int(x->fd, SOL_SOCKET, SO_ERROR), 0);
		xfer_init(x, x->fd, s->total);
	}
	sending = !x->fin_sent;
	if (xfer_pump(x)) {
		CHECK_OK(close(x->fd));
		s->done++;
	} else if (sending && x->fin_sent) {
		side_want_input_only(s, x);
	}
}

static void *server_loop(void *arg)
{
	struct side *s = ((void **)arg)[0];
	int listener = *(int *)((void **)arg)[1];
	struct epoll_event e[32], l = { .events = EPOLLIN };
	int i, n;

	CHECK_OK(epoll_ctl(s->ep, EPOLL_CTL_ADD, listener, &l));
	while (s->done < s->wanted) {
		n = CHECK_OK(epoll_wait(s->ep, e, 32, -1));
		for (i = 0; i < n; i++) {
			if (e[i].data.ptr)
				side_event(s, e[i].data.ptr);
			else
				side_add(s, CHECK_OK(accept(listener, NULL,
							    NULL)));
		}
	}
	return NULL;
}

static void client_loop(struct side *s, int listener)
{
	struct epoll_event e[32];
	unsigned int c;
	int i, n;

	for (c = 0; c < s->wanted; c++) {
		int fd = new_client(0);

		start_connect(fd, listener);
		side_add(s, fd);
	}
	while (s->done < s->wanted) {
		n = CHECK_OK(epoll_wait(s->ep, e, 32, -1));
		for (i = 0; i < n; i++)
			side_event(s, e[i].data.ptr);
	}
}

/*
 * Connected, used and closed by two event loops, as fast as they can.  Software
 * iWARP gives up what takes longer than 5 s to set up, and a slow kernel with
 * all that checks it does not get through 200 of them in that time.
 */
static void connections_at_once(void)
{
	static struct side client, server;
	unsigned int count = over_iwarp() ? scaled_count(CONNECTIONS) :
					    CONNECTIONS;
	int listener = new_listener(CONNECTIONS);
	void *arg[] = { &server, &listener };
	pthread_t t;

	raise_file_limit(2 * CONNECTIONS + 64);
	client.wanted = count;
	server.wanted = count;
	client.total = 64 * KIB;
	server.total = 64 * KIB;
	client.ep = CHECK_OK(epoll_create1(0));
	server.ep = CHECK_OK(epoll_create1(0));
	thread_start(&t, server_loop, arg);
	client_loop(&client, listener);
	thread_join(t);
	CHECK_EQ(server.count, count);
}

/* All of them idle and open at the same time, then each is asked. */
static void connections_held_open(void)
{
	static struct pair p[CONNECTIONS];
	int listener = new_listener(CONNECTIONS), i;

	raise_file_limit(2 * CONNECTIONS + 64);
	for (i = 0; i < CONNECTIONS; i++) {
		p[i].client = connect_to(listener);
		p[i].server = CHECK_OK(accept(listener, NULL, NULL));
	}
	for (i = 0; i < CONNECTIONS; i++) {
		send_pattern(p[i].client, i, 0, 3000, 3000);
		send_pattern(p[i].server, 1000 + i, 0, 3000, 3000);
	}
	for (i = CONNECTIONS - 1; i >= 0; i--) {
		recv_pattern(p[i].server, i, 0, 3000, 3000);
		recv_pattern(p[i].client, 1000 + i, 0, 3000, 3000);
		close_pair(p[i]);
	}
}

/* ---- one after another ---- */

static void connect_storm(void)
{
	unsigned int i, count = scaled_count(STORM);
	int listener = new_listener(4);

	for (i = 0; i < count; i++) {
		struct pair p;

		p.client = connect_to(listener);
		p.server = CHECK_OK(accept(listener, NULL, NULL));
		send_pattern(p.client, i, 0, 64, 64);
		recv_pattern(p.server, i, 0, 64, 64);
		/* Both orders, and both at once. */
		if (i % 3)
			CHECK_OK(close(i % 3 == 1 ? p.client : p.server));
		if (i % 3)
			CHECK_OK(close(i % 3 == 1 ? p.server : p.client));
		else
			close_pair(p);
	}
}

/* ---- several acceptors ---- */

#define ACCEPTORS 4

struct acceptors {
	int listener;
	unsigned int left;
};

static void *acceptor(void *arg)
{
	struct acceptors *a = arg;
	struct addr peer;
	int fd;

	while (__atomic_fetch_sub(&a->left, 1, __ATOMIC_RELAXED) - 1 <
	       UINT32_MAX / 2) {
		fd = CHECK_OK(accept(a->listener, NULL, NULL));
		peer = peer_addr(fd);
		recv_pattern(fd, addr_port(&peer), 0, 1000, 1000);
		CHECK_OK(close(fd));
	}
	return NULL;
}

static void several_acceptors(void)
{
	unsigned int count = scaled_count(100), i;
	struct acceptors a = { new_listener(16), count };
	pthread_t t[ACCEPTORS];
	char c;

	for (i = 0; i < ACCEPTORS; i++)
		thread_start(&t[i], acceptor, &a);
	for (i = 0; i < count; i++) {
		int fd = connect_to(a.listener);

		send_pattern(fd, local_port(fd), 0, 1000, 1000);
		CHECK_OK(shutdown(fd, SHUT_WR));
		CHECK_EQ(recv(fd, &c, 1, 0), 0);
		CHECK_OK(close(fd));
	}
	for (i = 0; i < ACCEPTORS; i++)
		thread_join(t[i]);
}

/* ---- shared descriptors ---- */

/* The child answers over the socket it has inherited, then leaves. */
static void fork_inherits(void)
{
	struct pair p = new_pair();
	pid_t pid = fork_child();

	if (pid == 0) {
		recv_pattern(p.server, 1, 0, 5000, 500);
		send_pattern(p.server, 2, 0, 5000, 500);
		_exit(0);
	}
	send_pattern(p.client, 1, 0, 5000, 500);
	recv_pattern(p.client, 2, 0, 5000, 500);
	join_child(pid);
	/* Its exit has closed a copy, not the connection. */
	send_pattern(p.client, 3, 0, 100, 100);
	recv_pattern(p.server, 3, 0, 100, 100);
}

static void fork_accepts(void)
{
	int listener = new_listener(4), i;
	pid_t pid[3];

	for (i = 0; i < 3; i++) {
		pid[i] = fork_child();
		if (pid[i] == 0) {
			int fd = CHECK_OK(accept(listener, NULL, NULL));

			recv_pattern(fd, 4, 0, 1000, 1000);
			_exit(0);
		}
	}
	for (i = 0; i < 3; i++)
		send_pattern(connect_to(listener), 4, 0, 1000, 1000);
	for (i = 0; i < 3; i++)
		join_child(pid[i]);
}

static void dup_keeps_open(void)
{
	struct pair p = new_pair();
	int copy = CHECK_OK(dup(p.client));
	char c;

	CHECK_OK(close(p.client));
	send_pattern(copy, 5, 0, 100, 100);
	recv_pattern(p.server, 5, 0, 100, 100);
	CHECK_OK(close(copy));
	CHECK_EQ(recv(p.server, &c, 1, 0), 0);
}

static void pass_fd(int channel, int fd)
{
	char byte = 0, control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec v = { &byte, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	CHECK_EQ(sendmsg(channel, &m, 0), 1);
}

static int take_fd(int channel)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec v = { &byte, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	int fd;

	CHECK_EQ(recvmsg(channel, &m, 0), 1);
	CHECK(CMSG_FIRSTHDR(&m));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

/* The connection survives inside the message that carries it. */
static void passed_over_unix_socket(void)
{
	struct pair p = new_pair();
	int channel[2], fd;

	CHECK_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, channel));
	pass_fd(channel[0], p.server);
	CHECK_OK(close(p.server));
	send_pattern(p.client, 6, 0, 5000, 5000);
	fd = take_fd(channel[1]);
	recv_pattern(fd, 6, 0, 5000, 500);
	CHECK_OK(close(fd));
	CHECK_EQ(recv_until_end(p.client), 0);
}

static const struct sdp_case cases[] = {
	CASE(connections_at_once, CASE_LONG),
	CASE(connections_held_open, CASE_LONG),
	CASE(connect_storm, CASE_LONG),
	CASE(several_acceptors, 0),
	CASE(fork_inherits, 0),
	CASE(fork_accepts, 0),
	CASE(dup_keeps_open, 0),
	CASE(passed_over_unix_socket, 0),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
