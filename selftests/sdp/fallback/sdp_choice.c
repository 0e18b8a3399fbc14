// SPDX-License-Identifier: GPL-2.0
/*
 * SDP_TCP_FALLBACK as the choice of a transport: RDMA, both or TCP, for clients
 * and listeners, before and after bind().
 */
#define _GNU_SOURCE
#include <poll.h>
#include <sys/epoll.h>

#include "sdp_fallback.h"

static const int modes[] = { OFF, ON, ONLY };

static void choose(int fd, int mode)
{
	set_int(fd, SOL_SDP, SDP_TCP_FALLBACK, mode);
	CHECK_EQ(get_int(fd, SOL_SDP, SDP_TCP_FALLBACK), mode);
}

static int chosen_socket(int mode)
{
	int fd = new_socket(0);

	choose(fd, mode);
	return fd;
}

static int chosen_listener(int mode)
{
	return listener_at(chosen_socket(mode), server_addr(0), 4);
}

/* A client comes to the listener over what is expected, and data flows. */
static void check_comes(int client, int listener, int client_reason,
			int server_reason)
{
	struct addr a = server_addr(local_port(listener));
	int server;

	CHECK_OK(connect(client, &a.sa, a.len));
	server = CHECK_OK(accept(listener, NULL, NULL));
	CHECK_EQ(reason(client), client_reason);
	CHECK_EQ(reason(server), server_reason);
	exchange(client, server, 100000);
	CHECK_OK(close(client));
	CHECK_OK(close(server));
}

static void check_refused(int client, int listener)
{
	struct addr a = server_addr(local_port(listener));

	CHECK_ERR(connect(client, &a.sa, a.len), ECONNREFUSED);
	CHECK_OK(close(client));
}

/* RDMA and TCP clients reach the listener just as its mode says. */
static void check_listener(int listener, int mode)
{
	struct addr a = server_addr(local_port(listener));
	int tcp = tcp_socket();

	if (mode == OFF) {
		CHECK_ERR(connect(tcp, &a.sa, a.len), ECONNREFUSED);
	} else {
		CHECK_OK(connect(tcp, &a.sa, a.len));
		exchange(tcp, CHECK_OK(accept(listener, NULL, NULL)), 100000);
	}
	CHECK_OK(close(tcp));
	if (mode == ONLY)
		check_refused(chosen_socket(OFF), listener);
	else
		check_comes(chosen_socket(OFF), listener, NONE, NONE);
}

/* A port that nobody has, neither for RDMA nor for TCP. */
static uint16_t free_port(struct addr a)
{
	int fd = chosen_socket(ON);
	uint16_t port;

	CHECK_OK(bind(fd, &a.sa, a.len));
	port = local_port(fd);
	CHECK_OK(close(fd));
	return port;
}

/* ---- the third value ---- */

static void only_connects_over_tcp(void)
{
	int listener = chosen_listener(ON);
	long choices = counter("FallbackChoices");
	long opens = counter("ActiveOpens");

	check_comes(chosen_socket(ONLY), listener, CHOSEN, ACCEPTED);
	CHECK_EQ(counter("FallbackChoices"), choices + 1);
	CHECK_EQ(counter("ActiveOpens"), opens);
}

static void only_listens_to_tcp(void)
{
	long listens = counter("FallbackListens");
	int listener = chosen_listener(ONLY);
	int client = chosen_socket(ONLY);
	struct addr a = local_addr(listener);

	CHECK(!strcmp(listener_flow(listener), "tcp:chosen"));
	CHECK_OK(connect(client, &a.sa, a.len));
	CHECK(!strcmp(flow_of(client), "tcp:chosen"));
	CHECK_OK(close(client));
	CHECK_OK(close(CHECK_OK(accept(listener, NULL, NULL))));
	check_listener(listener, ONLY);
	check_comes(chosen_socket(ON), listener, REFUSED, ACCEPTED);
	/* It is no failure of RDMA. */
	CHECK_EQ(counter("FallbackListens"), listens);
}

static void only_leaves_rdma_ports_alone(void)
{
	int rdma = chosen_listener(OFF);
	struct addr a = server_addr(local_port(rdma));
	int tcp = chosen_socket(ONLY);

	set_int(tcp, SOL_SOCKET, SO_REUSEADDR, 1);
	listener_at(tcp, a, 4);
	/* Either client finds the listener of its kind. */
	check_comes(chosen_socket(ONLY), tcp, CHOSEN, ACCEPTED);
	check_comes(chosen_socket(OFF), rdma, NONE, NONE);
}

static void only_does_not_block(void)
{
	int listener = tcp_listener(4), fd = chosen_socket(ONLY), server;
	struct epoll_event e = { .events = EPOLLIN | EPOLLOUT | EPOLLET };
	struct addr a = server_addr(local_port(listener));
	int ep = CHECK_OK(epoll_create1(0));

	set_nonblock(fd, true);
	CHECK_OK(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e));
	CHECK_EQ(epoll_wait(ep, &e, 1, 0), 1);
	CHECK_ERR(connect(fd, &a.sa, a.len), EINPROGRESS);
	do
		CHECK_EQ(epoll_wait(ep, &e, 1, wait_limit_ms()), 1);
	while (!(e.events & EPOLLOUT) || (e.events & EPOLLHUP));
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_ERROR), 0);
	server = CHECK_OK(accept(listener, NULL, NULL));
	CHECK_EQ(reason(fd), CHOSEN);
	set_nonblock(fd, false);
	exchange(fd, server, 100000);
}

static void other_values(void)
{
	int fd = chosen_socket(ONLY), value;

	for (value = -2; value < 10; value++) {
		if (value >= OFF && value <= ONLY)
			continue;
		CHECK_ERR(setsockopt(fd, SOL_SDP, SDP_TCP_FALLBACK, &value,
				     sizeof(value)), EINVAL);
		CHECK_EQ(get_int(fd, SOL_SDP, SDP_TCP_FALLBACK), ONLY);
	}
}

/* ---- a change of mind ---- */

static void change_bound_listener(int from, int to)
{
	struct addr a = server_addr(0);
	int fd;

	a = server_addr(free_port(a));
	fd = chosen_socket(from);
	set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	CHECK_OK(bind(fd, &a.sa, a.len));
	choose(fd, to);
	CHECK_OK(listen(fd, 4));
	CHECK_EQ(local_port(fd), addr_port(&a));
	check_listener(fd, to);
	CHECK_OK(close(fd));
}

static void listener_changes_after_bind(void)
{
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(modes); i++)
		for (k = 0; k < ARRAY_SIZE(modes); k++)
			change_bound_listener(modes[i], modes[k]);
}

static void change_bound_client(int from, int to, int listener)
{
	struct addr a = client_addr(0), to_addr = local_addr(listener), seen;
	int fd, server;

	a = client_addr(free_port(a));
	fd = chosen_socket(from);
	CHECK_OK(bind(fd, &a.sa, a.len));
	choose(fd, to);
	CHECK_OK(connect(fd, &to_addr.sa, to_addr.len));
	server = CHECK_OK(accept(listener, NULL, NULL));
	CHECK_EQ(reason(fd), to == ONLY ? CHOSEN : NONE);
	seen = peer_addr(server);
	CHECK(same_addr(&a, &seen));
	exchange(fd, server, 10000);
	CHECK_OK(close(fd));
	CHECK_OK(close(server));
}

static void client_changes_after_bind(void)
{
	int listener = chosen_listener(ON);
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(modes); i++)
		for (k = 0; k < ARRAY_SIZE(modes); k++)
			change_bound_client(modes[i], modes[k], listener);
}

static void client_changes_after_failure(void)
{
	struct addr dead = server_addr(dead_port());
	int listener = chosen_listener(ON), fd;
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(modes); i++)
		for (k = 0; k < ARRAY_SIZE(modes); k++) {
			fd = chosen_socket(modes[i]);
			CHECK_ERR(connect(fd, &dead.sa, dead.len), ECONNREFUSED);
			choose(fd, modes[k]);
			check_comes(fd, listener,
				    modes[k] == ONLY ? CHOSEN : NONE,
				    modes[k] == ONLY ? ACCEPTED : NONE);
		}
}

static void listener_changes_after_shutdown(void)
{
	int fd = chosen_socket(ON);
	size_t i;

	/* This makes sure of a port that is free on both sides. */
	set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	listener_at(fd, server_addr(0), 4);
	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		int mode = modes[ARRAY_SIZE(modes) - 1 - i];

		CHECK_OK(shutdown(fd, SHUT_RD));
		choose(fd, mode);
		CHECK_OK(listen(fd, 4));
		check_listener(fd, mode);
	}
}

static void listener_after_failure(void)
{
	struct addr dead = server_addr(dead_port());
	size_t i;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		int fd = chosen_socket(ONLY);
		struct addr own = server_addr(0);

		own = server_addr(free_port(own));
		CHECK_OK(bind(fd, &own.sa, own.len));
		CHECK_ERR(connect(fd, &dead.sa, dead.len), ECONNREFUSED);
		choose(fd, modes[i]);
		CHECK_OK(listen(fd, 4));
		check_listener(fd, modes[i]);
		CHECK_OK(close(fd));
	}
}

/* A port that TCP has is no reason to listen to RDMA alone. */
static void listener_wants_a_port_of_tcp(void)
{
	int tcp = tcp_listener(4), fd = chosen_socket(OFF);
	struct addr a = local_addr(tcp);

	if (over_iwarp())
		sdp_skip("with iWARP it is a port of TCP from the beginning");
	CHECK_OK(bind(fd, &a.sa, a.len));
	choose(fd, ON);
	CHECK_ERR(listen(fd, 4), EADDRINUSE);
	choose(fd, OFF);
	CHECK_OK(listen(fd, 4));
	CHECK_EQ(local_port(fd), addr_port(&a));
	check_comes(chosen_socket(OFF), fd, NONE, NONE);
}

/* Both may be bound to it, but only one listens. */
static void tcp_listens_first(void)
{
	struct addr a = server_addr(0);
	int fd = chosen_socket(ON), tcp = tcp_socket();

	if (over_iwarp())
		sdp_skip("with iWARP it is a port of TCP from the beginning");
	set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	set_int(tcp, SOL_SOCKET, SO_REUSEADDR, 1);
	CHECK_OK(bind(fd, &a.sa, a.len));
	listener_at(tcp, local_addr(fd), 4);
	CHECK_ERR(listen(fd, 4), EADDRINUSE);
	/* Neither has RDMA been left to listen by this. */
	a = local_addr(fd);
	CHECK_ERR(connect(chosen_socket(OFF), &a.sa, a.len), ECONNREFUSED);
	CHECK_OK(close(tcp));
	CHECK_OK(listen(fd, 4));
	CHECK_EQ(local_port(fd), addr_port(&a));
	check_listener(fd, ON);
}

static bool tcp_has(struct addr a)
{
	int fd = tcp_socket();
	bool taken = bind(fd, &a.sa, a.len);

	CHECK(!taken || errno == EADDRINUSE);
	CHECK_OK(close(fd));
	return taken;
}

/* What bind() has reserved is kept as long as TCP may be used, and no longer. */
static void port_of_tcp_is_given_back(void)
{
	int fd = chosen_socket(ON);
	struct addr a = server_addr(0);

	if (over_iwarp())
		sdp_skip("with iWARP it is a port of TCP from the beginning");
	CHECK_OK(bind(fd, &a.sa, a.len));
	a = local_addr(fd);
	CHECK(tcp_has(a));
	choose(fd, ON);
	CHECK(tcp_has(a));
	choose(fd, ONLY);
	CHECK(tcp_has(a));
	choose(fd, OFF);
	CHECK(!tcp_has(a));
}

/* An address of IPv4 is of no use for a peer of IPv6. */
static void bound_to_the_other_family(void)
{
	struct addr own = make_addr(opts.client[0], 0);
	struct addr six = make_addr(opts.server[1], 7777);
	int listener = chosen_listener(ON);
	size_t i;

	for (i = 1; i < ARRAY_SIZE(modes); i++) {
		int fd = chosen_socket(modes[i]);

		CHECK_OK(bind(fd, &own.sa, own.len));
		CHECK_ERR(connect(fd, &six.sa, six.len), EAFNOSUPPORT);
		CHECK_EQ(reason(fd), NONE);
		check_comes(fd, listener, modes[i] == ONLY ? CHOSEN : NONE,
			    modes[i] == ONLY ? ACCEPTED : NONE);
	}
}

/* As with TCP the attempt is over when connect() has said so. */
static void change_after_late_failure(void)
{
	struct addr dead = server_addr(dead_port());
	int listener = chosen_listener(ON), fd = chosen_socket(ONLY);

	set_nonblock(fd, true);
	CHECK_ERR(connect(fd, &dead.sa, dead.len), EINPROGRESS);
	wait_poll(fd, POLLERR);
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_ERROR), ECONNREFUSED);
	CHECK_ERR(connect(fd, &dead.sa, dead.len), ECONNABORTED);
	choose(fd, OFF);
	set_nonblock(fd, false);
	check_comes(fd, listener, NONE, NONE);
}

static void too_late(void)
{
	int listener = chosen_listener(ON), mode = ONLY;
	int client = chosen_socket(ON);
	struct addr a = local_addr(listener);

	CHECK_ERR(setsockopt(listener, SOL_SDP, SDP_TCP_FALLBACK, &mode,
			     sizeof(mode)), EISCONN);
	CHECK_OK(connect(client, &a.sa, a.len));
	CHECK_ERR(setsockopt(client, SOL_SDP, SDP_TCP_FALLBACK, &mode,
			     sizeof(mode)), EISCONN);
	exchange(client, CHECK_OK(accept(listener, NULL, NULL)), 100000);
	CHECK_EQ(reason(client), NONE);
}

static const struct sdp_case cases[] = {
	CASE(only_connects_over_tcp, CASE_IPV6),
	CASE(only_listens_to_tcp, CASE_IPV6),
	CASE(only_leaves_rdma_ports_alone, 0),
	CASE(only_does_not_block, 0),
	CASE(other_values, 0),
	CASE(listener_changes_after_bind, CASE_IPV6),
	CASE(client_changes_after_bind, CASE_IPV6),
	CASE(client_changes_after_failure, 0),
	CASE(listener_changes_after_shutdown, 0),
	CASE(listener_after_failure, 0),
	CASE(listener_wants_a_port_of_tcp, CASE_IPV6),
	CASE(tcp_listens_first, CASE_IPV6),
	CASE(port_of_tcp_is_given_back, CASE_IPV6),
	CASE(bound_to_the_other_family, CASE_FAMILY),
	CASE(change_after_late_failure, 0),
	CASE(too_late, 0),
};

int main(int argc, char **argv)
{
	return fallback_main(argc, argv, cases, ARRAY_SIZE(cases));
}
