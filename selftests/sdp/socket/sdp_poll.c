// SPDX-License-Identifier: GPL-2.0
/* poll(), select() and epoll: masks in every state, modes of epoll, load. */
#define _GNU_SOURCE
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "sdp_test.h"

/* ---- masks ---- */

static void mask_fresh(void)
{
	CHECK_EQ(poll_now(new_socket(0)), POLLOUT | POLLHUP);
	CHECK_EQ(poll_now(new_client(0)), POLLOUT | POLLHUP);
}

static void mask_listening(void)
{
	int listener = new_listener(1);

	CHECK_EQ(poll_now(listener), 0);
	connect_to(listener);
	wait_poll_exact(listener, POLLIN);
	CHECK_OK(accept(listener, NULL, NULL));
	CHECK_EQ(poll_now(listener), 0);
}

static void mask_connecting(void)
{
	int filler, listener = full_listener(&filler);
	int client = new_client(0);

	CHECK(start_connect(client, listener));
	CHECK_EQ(poll_now(client), 0);
	CHECK_OK(accept(listener, NULL, NULL));
	wait_poll_exact(client, POLLOUT);
}

static void mask_connected(void)
{
	struct pair p = new_pair();

	CHECK_EQ(poll_now(p.client), POLLOUT);
	CHECK_EQ(poll_now(p.server), POLLOUT);
	send_pattern(p.client, 1, 0, 10, 10);
	wait_poll_exact(p.server, POLLIN | POLLOUT);
	recv_pattern(p.server, 1, 0, 10, 10);
	CHECK_EQ(poll_now(p.server), POLLOUT);
}

static void mask_send_queue_full(void)
{
	struct pair p = new_pair();
	uint64_t sent = fill_pipe(p.client, 2);

	CHECK_EQ(poll_now(p.client), 0);
	recv_pattern(p.server, 2, 0, sent, 64 * KIB);
	wait_poll_exact(p.client, POLLOUT);
}

static void mask_peer_half_closed(void)
{
	struct pair p = new_pair();

	CHECK_OK(shutdown(p.client, SHUT_WR));
	wait_poll_exact(p.server, POLLIN | POLLOUT | POLLRDHUP);
	CHECK_EQ(poll_now(p.client), POLLOUT);
}

static void mask_both_closed(void)
{
	struct pair p = new_pair();

	CHECK_OK(shutdown(p.client, SHUT_WR));
	CHECK_OK(shutdown(p.server, SHUT_WR));
	wait_poll_exact(p.client, POLLIN | POLLOUT | POLLRDHUP | POLLHUP);
	wait_poll_exact(p.server, POLLIN | POLLOUT | POLLRDHUP | POLLHUP);
}

static void mask_own_shutdown_read(void)
{
	struct pair p = new_pair();

	CHECK_OK(shutdown(p.client, SHUT_RD));
	CHECK_EQ(poll_now(p.client), POLLIN | POLLOUT | POLLRDHUP);
}

static void mask_reset(void)
{
	struct pair p = new_pair();

	set_linger(p.server, 1, 0);
	CHECK_OK(close(p.server));
	wait_poll_exact(p.client, POLLIN | POLLOUT | POLLRDHUP |
			POLLERR | POLLHUP);
	CHECK_EQ(get_int(p.client, SOL_SOCKET, SO_ERROR), ECONNRESET);
	CHECK_EQ(poll_now(p.client), POLLIN | POLLOUT | POLLRDHUP | POLLHUP);
}

/* ---- select ---- */

static void check_select(int fd, bool readable, bool writable)
{
	struct timeval now = { 0 };
	fd_set r, w;

	FD_ZERO(&r);
	FD_ZERO(&w);
	FD_SET(fd, &r);
	FD_SET(fd, &w);
	CHECK_EQ(select(fd + 1, &r, &w, NULL, &now), readable + writable);
	CHECK_EQ(!!FD_ISSET(fd, &r), readable);
	CHECK_EQ(!!FD_ISSET(fd, &w), writable);
}

static void select_sees_the_same(void)
{
	int listener = new_listener(1);
	struct pair p = new_pair();

	check_select(listener, false, false);
	check_select(p.server, false, true);
	send_pattern(p.client, 1, 0, 10, 10);
	wait_poll(p.server, POLLIN);
	check_select(p.server, true, true);
	CHECK_OK(shutdown(p.server, SHUT_WR));
	wait_poll(p.client, POLLIN);
	check_select(p.client, true, true);
}

/* ---- epoll ---- */

static int new_epoll(int fd, uint32_t events)
{
	struct epoll_event e = { .events = events, .data.fd = fd };
	int ep = CHECK_OK(epoll_create1(EPOLL_CLOEXEC));

	CHECK_OK(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e));
	return ep;
}

static uint32_t epoll_within(int ep, int ms)
{
	struct epoll_event e = { 0 };

	return CHECK_OK(epoll_wait(ep, &e, 1, ms)) ? e.events : 0;
}

static void epoll_level(void)
{
	struct pair p = new_pair();
	int ep = new_epoll(p.server, EPOLLIN);

	CHECK_EQ(epoll_within(ep, 0), 0);
	send_pattern(p.client, 1, 0, 10, 10);
	CHECK_EQ(epoll_within(ep, wait_limit_ms()), EPOLLIN);
	CHECK_EQ(epoll_within(ep, 0), EPOLLIN);
	recv_pattern(p.server, 1, 0, 9, 9);
	CHECK_EQ(epoll_within(ep, 0), EPOLLIN);
	recv_pattern(p.server, 1, 9, 1, 1);
	CHECK_EQ(epoll_within(ep, 0), 0);
}

static void epoll_edge(void)
{
	struct pair p = new_pair();
	int ep = new_epoll(p.server, EPOLLIN | EPOLLET);

	send_pattern(p.client, 1, 0, 10, 10);
	CHECK_EQ(epoll_within(ep, wait_limit_ms()), EPOLLIN);
	CHECK_EQ(epoll_within(ep, quiet_ms()), 0);
	/* New data is a new edge although the old was not read. */
	send_pattern(p.client, 1, 10, 10, 10);
	CHECK_EQ(epoll_within(ep, wait_limit_ms()), EPOLLIN);
	recv_pattern(p.server, 1, 0, 20, 20);
	CHECK_EQ(epoll_within(ep, quiet_ms()), 0);
	CHECK_OK(shutdown(p.client, SHUT_WR));
	CHECK_EQ(epoll_within(ep, wait_limit_ms()) & EPOLLIN, EPOLLIN);
}

/* The edge of returning space, for a writer that has met EAGAIN. */
static void epoll_edge_out(void)
{
	struct pair p = new_pair();
	int ep = new_epoll(p.client, EPOLLOUT | EPOLLET);
	uint64_t sent;

	CHECK_EQ(epoll_within(ep, wait_limit_ms()), EPOLLOUT);
	sent = fill_pipe(p.client, 3);
	epoll_within(ep, 0);
	recv_pattern(p.server, 3, 0, sent, 64 * KIB);
	CHECK_EQ(epoll_within(ep, wait_limit_ms()), EPOLLOUT);
}

static void epoll_oneshot(void)
{
	struct pair p = new_pair();
	int ep = new_epoll(p.server, EPOLLIN | EPOLLONESHOT);
	struct epoll_event e = { .events = EPOLLIN | EPOLLONESHOT };

	send_pattern(p.client, 1, 0, 10, 10);
	CHECK_EQ(epoll_within(ep, wait_limit_ms()), EPOLLIN);
	CHECK_EQ(epoll_within(ep, 0), 0);
	send_pattern(p.client, 1, 10, 10, 10);
	wait_inq(p.server, 20);
	CHECK_EQ(epoll_within(ep, 0), 0);
	CHECK_OK(epoll_ctl(ep, EPOLL_CTL_MOD, p.server, &e));
	CHECK_EQ(epoll_within(ep, 0), EPOLLIN);
}

static void epoll_connecting(void)
{
	int filler, listener = full_listener(&filler);
	int client = new_client(0), ep;

	CHECK(start_connect(client, listener));
	ep = new_epoll(client, EPOLLIN | EPOLLOUT | EPOLLET);
	CHECK_EQ(epoll_within(ep, 0), 0);
	CHECK_OK(accept(listener, NULL, NULL));
	CHECK_EQ(epoll_within(ep, wait_limit_ms()), EPOLLOUT);
}

static void epoll_listener(void)
{
	int listener = new_listener(4);
	int ep = new_epoll(listener, EPOLLIN | EPOLLET), i;

	for (i = 0; i < 3; i++) {
		connect_to(listener);
		CHECK_EQ(epoll_within(ep, wait_limit_ms()), EPOLLIN);
	}
	for (i = 0; i < 3; i++)
		CHECK_OK(accept(listener, NULL, NULL));
	CHECK_EQ(epoll_within(ep, 0), 0);
}

/* The same socket in two sets, one of them inside a third. */
static void epoll_nested_and_shared(void)
{
	struct pair p = new_pair();
	int one = new_epoll(p.server, EPOLLIN);
	int two = new_epoll(p.server, EPOLLIN | EPOLLET);
	int outer = new_epoll(one, EPOLLIN);

	CHECK_EQ(epoll_within(outer, 0), 0);
	send_pattern(p.client, 1, 0, 10, 10);
	CHECK_EQ(epoll_within(outer, wait_limit_ms()), EPOLLIN);
	CHECK_EQ(epoll_within(one, wait_limit_ms()), EPOLLIN);
	CHECK_EQ(epoll_within(two, wait_limit_ms()), EPOLLIN);
	recv_pattern(p.server, 1, 0, 10, 10);
	CHECK_EQ(epoll_within(outer, 0), 0);
	/* Closing takes the socket out of both sets. */
	CHECK_OK(close(p.server));
	CHECK_EQ(epoll_within(one, 0), 0);
	CHECK_EQ(epoll_within(two, 0), 0);
}

/* ---- edge-triggered under load ---- */

#define LOAD_CONNS 8

struct loop {
	int ep;
	struct xfer x[2 * LOAD_CONNS];
	int left;
};

static void loop_add(struct loop *l, int index, int fd, uint64_t total)
{
	struct epoll_event e = {
		.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
		.data.ptr = &l->x[index],
	};

	xfer_init(&l->x[index], fd, total);
	CHECK_OK(epoll_ctl(l->ep, EPOLL_CTL_ADD, fd, &e));
}

/* An edge that is not raised leaves the loop without work, hence the limit. */
static void loop_run(struct loop *l)
{
	struct epoll_event e[16];
	int i, n;

	while (l->left) {
		n = CHECK_OK(epoll_wait(l->ep, e, 16, wait_limit_ms()));
		if (!n)
			FAIL("no event, %d transfers unfinished", l->left);
		for (i = 0; i < n; i++) {
			struct xfer *x = e[i].data.ptr;

			if (x->fd < 0 || !xfer_pump(x))
				continue;
			CHECK_OK(close(x->fd));
			x->fd = -1;
			l->left--;
		}
	}
}

static void epoll_edge_under_load(void)
{
	struct loop l = { .left = 2 * LOAD_CONNS };
	size_t total = scaled(MIB);
	int i;

	l.ep = CHECK_OK(epoll_create1(0));
	for (i = 0; i < LOAD_CONNS; i++) {
		struct pair p = new_pair();

		loop_add(&l, 2 * i, p.client, total);
		loop_add(&l, 2 * i + 1, p.server, total);
	}
	loop_run(&l);
}

static const struct sdp_case cases[] = {
	CASE(mask_fresh, 0),
	CASE(mask_listening, 0),
	CASE(mask_connecting, 0),
	CASE(mask_connected, CASE_IPV6),
	CASE(mask_send_queue_full, 0),
	CASE(mask_peer_half_closed, 0),
	CASE(mask_both_closed, 0),
	CASE(mask_own_shutdown_read, 0),
	CASE(mask_reset, 0),
	CASE(select_sees_the_same, 0),
	CASE(epoll_level, 0),
	CASE(epoll_edge, 0),
	CASE(epoll_edge_out, 0),
	CASE(epoll_oneshot, 0),
	CASE(epoll_connecting, 0),
	CASE(epoll_listener, 0),
	CASE(epoll_nested_and_shared, 0),
	CASE(epoll_edge_under_load, CASE_IPV6 | CASE_LONG),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
