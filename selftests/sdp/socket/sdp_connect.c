// SPDX-License-Identifier: GPL-2.0
/* connect() and the accept queue: success, refusal, waiting, giving up. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>

#include "sdp_test.h"

/* What poll() shows on a socket whose connection failed. */
#define POLL_FAILED (POLLIN | POLLOUT | POLLRDHUP | POLLERR | POLLHUP)

/* A few bytes each way, so that "connected" is more than a state. */
static void check_connected(int client, int server)
{
	send_pattern(client, 1, 0, 100, 100);
	recv_pattern(server, 1, 0, 100, 100);
	send_pattern(server, 2, 0, 100, 100);
	recv_pattern(client, 2, 0, 100, 100);
}

static void connect_blocking(void)
{
	int listener = new_listener(1);
	int client = connect_to(listener);

	check_connected(client, CHECK_OK(accept(listener, NULL, NULL)));
}

static void connect_without_bind(void)
{
	int listener = new_listener(1), client = new_socket(0), server;
	struct addr a = local_addr(listener), b;

	CHECK_OK(connect(client, &a.sa, a.len));
	server = CHECK_OK(accept(listener, NULL, NULL));
	a = local_addr(client);
	b = peer_addr(server);
	CHECK(addr_port(&a) != 0);
	CHECK(same_addr(&a, &b));
	check_connected(client, server);
}

static void connect_to_any_listener(void)
{
	struct addr any = make_addr(opts.ipv6 ? "::" : "0.0.0.0", 0), a;
	int listener = new_socket(0), client = new_client(0), server;

	CHECK_OK(bind(listener, &any.sa, any.len));
	CHECK_OK(listen(listener, 1));
	a = server_addr(local_port(listener));
	CHECK_OK(connect(client, &a.sa, a.len));
	server = CHECK_OK(accept(listener, NULL, NULL));
	a = local_addr(server);
	any = server_addr(local_port(listener));
	CHECK(same_addr(&a, &any));
	check_connected(client, server);
}

static void connect_nonblocking(void)
{
	int listener = new_listener(1), client = new_client(0);
	struct addr a = local_addr(listener);

	if (start_connect(client, listener)) {
		wait_poll(client, POLLOUT);
		CHECK_EQ(get_int(client, SOL_SOCKET, SO_ERROR), 0);
		/* The call that learns of the success, then the rule. */
		CHECK_OK(connect(client, &a.sa, a.len));
	}
	CHECK_ERR(connect(client, &a.sa, a.len), EISCONN);
	set_nonblock(client, false);
	check_connected(client, CHECK_OK(accept(listener, NULL, NULL)));
}

static void connect_nonblocking_pending(void)
{
	int filler, listener = full_listener(&filler);
	int client = new_client(0);
	struct addr a = local_addr(listener);

	CHECK(start_connect(client, listener));
	CHECK_ERR(connect(client, &a.sa, a.len), EALREADY);
	watch_quiet(client, POLLOUT | POLLIN);
	CHECK_EQ(get_int(client, SOL_SOCKET, SO_ERROR), 0);
	CHECK_OK(accept(listener, NULL, NULL));
	finish_connect(client);
	check_connected(client, CHECK_OK(accept(listener, NULL, NULL)));
}

/* Programs tell the peer of their address before the connection is there. */
static void address_known_while_connecting(void)
{
	int filler, listener = full_listener(&filler);
	int client = new_socket(SOCK_NONBLOCK);
	struct addr a = local_addr(listener), own, want;

	CHECK_ERR(connect(client, &a.sa, a.len), EINPROGRESS);
	own = local_addr(client);
	CHECK(addr_port(&own));
	want = client_addr(addr_port(&own));
	CHECK(same_addr(&own, &want));
}

/* ---- refused ---- */

static void refused_blocking(void)
{
	struct addr a = server_addr(dead_port());
	int fd = new_client(0);

	CHECK_ERR(connect(fd, &a.sa, a.len), ECONNREFUSED);
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_ERROR), 0);
}

static void refused_nonblocking(void)
{
	struct addr a = server_addr(dead_port());
	int fd = new_client(SOCK_NONBLOCK);

	CHECK_ERR(connect(fd, &a.sa, a.len), EINPROGRESS);
	wait_poll_exact(fd, POLL_FAILED);
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_ERROR), ECONNREFUSED);
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_ERROR), 0);
}

static void refused_not_listening(void)
{
	struct addr a = server_addr(0);
	int bound = new_socket(0);

	CHECK_OK(bind(bound, &a.sa, a.len));
	a = local_addr(bound);
	CHECK_ERR(connect(new_client(0), &a.sa, a.len), ECONNREFUSED);
}

static void refused_then_connected(void)
{
	struct addr dead = server_addr(dead_port()), live;
	int listener = new_listener(1), fd = new_client(0);

	CHECK_ERR(connect(fd, &dead.sa, dead.len), ECONNREFUSED);
	CHECK_ERR(connect(fd, &dead.sa, dead.len), ECONNREFUSED);
	live = local_addr(listener);
	CHECK_OK(connect(fd, &live.sa, live.len));
	check_connected(fd, CHECK_OK(accept(listener, NULL, NULL)));
}

static void refused_then_connected_nonblocking(void)
{
	struct addr dead = server_addr(dead_port());
	int listener = new_listener(1), fd = new_client(SOCK_NONBLOCK);

	CHECK_ERR(connect(fd, &dead.sa, dead.len), EINPROGRESS);
	wait_poll(fd, POLLERR);
	CHECK_ERR(connect(fd, &dead.sa, dead.len), ECONNREFUSED);
	start_connect(fd, listener);
	finish_connect(fd);
	check_connected(fd, CHECK_OK(accept(listener, NULL, NULL)));
}

static void refused_after_listener_closed(void)
{
	int listener = new_listener(4), client = connect_to(listener);
	int server = CHECK_OK(accept(listener, NULL, NULL));
	struct addr a = local_addr(listener);

	CHECK_OK(close(listener));
	CHECK_ERR(connect(new_client(0), &a.sa, a.len), ECONNREFUSED);
	check_connected(client, server);
}

/* ---- unreachable ---- */

/* Routing is asked through UDP, which needs nobody's answer. */
static bool has_route(const struct addr *a)
{
	int fd = CHECK_OK(socket(a->sa.sa_family, SOCK_DGRAM, 0));
	bool yes = connect(fd, &a->sa, a->len) == 0;

	CHECK_OK(close(fd));
	return yes;
}

static struct addr unreachable_addr(bool ipv6)
{
	struct addr a = make_addr(ipv6 ? "2001:db8::1" : "198.51.100.1", 7777);

	if (has_route(&a))
		sdp_skip("a default route leads to every network");
	return a;
}

/* A socket whose connect() has failed at once. */
static int unreachable_socket(bool ipv6)
{
	struct addr a = unreachable_addr(ipv6);
	int fd = new_socket(0);

	CHECK_ERR(connect(fd, &a.sa, a.len), ENETUNREACH);
	return fd;
}

static void unreachable_network(void)
{
	unreachable_socket(opts.ipv6);
}

/* Others that share the port are looked at before, by the address of the route. */
static void unreachable_network_reusing(void)
{
	int listener = new_listener(1), fd = new_socket(0);
	struct addr a = unreachable_addr(opts.ipv6);

	set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	CHECK_ERR(connect(fd, &a.sa, a.len), ENETUNREACH);
	a = local_addr(listener);
	CHECK_OK(connect(fd, &a.sa, a.len));
	check_connected(fd, CHECK_OK(accept(listener, NULL, NULL)));
}

static void unreachable_then_listening(void)
{
	int listener = unreachable_socket(opts.ipv6), client;
	struct addr a = server_addr(0);

	CHECK_OK(bind(listener, &a.sa, a.len));
	CHECK_OK(listen(listener, 1));
	client = connect_to(listener);
	check_connected(client, CHECK_OK(accept(listener, NULL, NULL)));
}

static void unreachable_then_connected(void)
{
	int listener = new_listener(1), client = unreachable_socket(!opts.ipv6);
	struct addr a = local_addr(listener);

	CHECK_OK(connect(client, &a.sa, a.len));
	check_connected(client, CHECK_OK(accept(listener, NULL, NULL)));
}

static void unreachable_host(void)
{
	struct addr a = silent_neighbour();

	CHECK_ERR(connect(new_client(0), &a.sa, a.len), EHOSTUNREACH);
}

static void unreachable_host_nonblocking(void)
{
	struct addr a = silent_neighbour();
	int fd = new_client(SOCK_NONBLOCK);

	CHECK_ERR(connect(fd, &a.sa, a.len), EINPROGRESS);
	wait_poll(fd, POLLERR | POLLHUP);
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_ERROR), EHOSTUNREACH);
}

/* The error is told once, to the call that waits for the connection. */
static void unreachable_host_while_sending(void)
{
	struct addr a = silent_neighbour();
	int fd = new_client(SOCK_NONBLOCK);

	CHECK_ERR(connect(fd, &a.sa, a.len), EINPROGRESS);
	set_nonblock(fd, false);
	CHECK_ERR(send(fd, "x", 1, MSG_NOSIGNAL), EHOSTUNREACH);
	CHECK_ERR(send(fd, "x", 1, MSG_NOSIGNAL), EPIPE);
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_ERROR), 0);
}

static void connect_multicast(void)
{
	struct addr a = make_addr("224.0.0.77", 7777);

	CHECK_ERR(connect(new_socket(0), &a.sa, a.len), ENETUNREACH);
}

static void connect_bad_address(void)
{
	int listener = new_listener(1), fd = new_client(0);
	struct addr a = local_addr(listener), bad = a;

	bad.sa.sa_family = AF_UNIX;
	CHECK_ERR(connect(fd, &bad.sa, bad.len), EAFNOSUPPORT);
	CHECK_ERR(connect(fd, &a.sa, a.len - 5), EINVAL);
	CHECK_ERR(connect(fd, &a.sa, 1), EINVAL);
	CHECK_ERR(connect(fd, (void *)8, a.len), EFAULT);
	CHECK_OK(connect(fd, &a.sa, a.len));
}

/* ---- addresses of SDP's own ---- */

static void connect_family_27(void)
{
	int listener = new_listener(1), fd = new_socket(0), server;
	struct addr a = local_addr(listener);

	a.sa.sa_family = AF_SDP;
	CHECK_OK(connect(fd, &a.sa, sizeof(a.in4)));
	server = CHECK_OK(accept(listener, NULL, NULL));
	CHECK_EQ(peer_addr(fd).sa.sa_family, AF_INET);
	CHECK_EQ(peer_addr(server).sa.sa_family, AF_INET);
	check_connected(fd, server);
}

static struct addr mapped_addr(const char *text, uint16_t port)
{
	char mapped[64];

	snprintf(mapped, sizeof(mapped), "::ffff:%s", text);
	return make_addr(mapped, port);
}

static void connect_v4_mapped(void)
{
	int listener = new_listener(1), fd = new_socket(0);
	struct addr a = mapped_addr(opts.server[0], local_port(listener));

	CHECK_OK(connect(fd, &a.sa, a.len));
	check_connected(fd, CHECK_OK(accept(listener, NULL, NULL)));
}

/* qperf's way: the server binds [::], the client comes over IPv4. */
static void connect_v4_to_v6_any(void)
{
	struct addr any = make_addr("::", 0), a;
	int listener = new_socket(0), fd = new_client(0);

	CHECK_OK(bind(listener, &any.sa, any.len));
	CHECK_OK(listen(listener, 1));
	a = server_addr(local_port(listener));
	CHECK_OK(connect(fd, &a.sa, a.len));
	check_connected(fd, CHECK_OK(accept(listener, NULL, NULL)));
}

/* ---- backlog ---- */

#define BACKLOG	2
#define LATE	3

/* The one of our clients that has this port. */
static int client_with_port(const int *clients, int count, uint16_t port)
{
	int i;

	for (i = 0; i < count; i++)
		if (local_port(clients[i]) == port)
			return clients[i];
	FAIL("no client has port %u", port);
}

static void accept_and_check(int listener, const int *clients, int count)
{
	int i;

	for (i = 0; i < count; i++) {
		int server = CHECK_OK(accept(listener, NULL, NULL));
		struct addr a = peer_addr(server);
		int client = client_with_port(clients, count, addr_port(&a));

		finish_connect(client);
		check_connected(client, server);
	}
}

/* As for TCP, listen(n) lets n + 1 wait in the queue. */
static void backlog_honoured(void)
{
	int listener = new_listener(BACKLOG);
	int clients[BACKLOG + 1 + LATE], i;

	for (i = 0; i < BACKLOG + 1; i++)
		clients[i] = connect_to(listener);
	for (; i < BACKLOG + 1 + LATE; i++) {
		clients[i] = new_client(0);
		CHECK(start_connect(clients[i], listener));
	}
	for (i = BACKLOG + 1; i < BACKLOG + 1 + LATE; i++)
		watch_quiet(clients[i], POLLOUT);
	accept_and_check(listener, clients, BACKLOG + 1 + LATE);
	set_nonblock(listener, true);
	CHECK_ERR(accept(listener, NULL, NULL), EAGAIN);
}

static void connect_timeout(void)
{
	int filler, listener = full_listener(&filler);
	int client = new_client(0);
	struct addr a = local_addr(listener);

	set_timeout(client, SO_SNDTIMEO, 100);
	CHECK_ERR(connect(client, &a.sa, a.len), EINPROGRESS);
	CHECK_OK(accept(listener, NULL, NULL));
	finish_connect(client);
	check_connected(client, CHECK_OK(accept(listener, NULL, NULL)));
}

/* Accept until this client's turn; the ones before it may be dead already. */
static int accept_from(int listener, uint16_t port)
{
	for (;;) {
		struct addr a = { .len = sizeof(a.ss) };
		int fd = CHECK_OK(accept(listener, NULL, NULL));

		if (!getpeername(fd, &a.sa, &a.len) && addr_port(&a) == port)
			return fd;
		CHECK_OK(close(fd));
	}
}

/* A socket closed while connecting leaves nothing behind at the listener. */
static void close_while_connecting(void)
{
	int filler, listener = full_listener(&filler), i, server;

	for (i = 0; i < 5; i++) {
		int fd = new_client(0);

		CHECK(start_connect(fd, listener));
		CHECK_OK(close(fd));
	}
	server = CHECK_OK(accept(listener, NULL, NULL));
	check_connected(filler, server);
	filler = connect_to(listener);
	server = accept_from(listener, local_port(filler));
	check_connected(filler, server);
}

/* The first connection's refusal must not touch the ones beside it. */
static void connects_interleaved(void)
{
	struct addr dead = server_addr(dead_port());
	int listener = new_listener(8), good[4], bad[4], i;

	for (i = 0; i < 4; i++) {
		bad[i] = new_client(SOCK_NONBLOCK);
		CHECK_ERR(connect(bad[i], &dead.sa, dead.len), EINPROGRESS);
		good[i] = new_client(0);
		start_connect(good[i], listener);
	}
	for (i = 0; i < 4; i++) {
		wait_poll(bad[i], POLLERR);
		CHECK_EQ(get_int(bad[i], SOL_SOCKET, SO_ERROR), ECONNREFUSED);
	}
	accept_and_check(listener, good, 4);
}

static const struct sdp_case cases[] = {
	CASE(connect_blocking, CASE_IPV6),
	CASE(connect_without_bind, CASE_IPV6),
	CASE(connect_to_any_listener, CASE_IPV6),
	CASE(connect_nonblocking, CASE_IPV6),
	CASE(address_known_while_connecting, CASE_IPV6),
	CASE(connect_nonblocking_pending, 0),
	CASE(refused_blocking, CASE_IPV6),
	CASE(refused_nonblocking, CASE_IPV6),
	CASE(refused_not_listening, 0),
	CASE(refused_then_connected, CASE_IPV6),
	CASE(refused_then_connected_nonblocking, 0),
	CASE(refused_after_listener_closed, 0),
	CASE(unreachable_network, CASE_IPV6),
	CASE(unreachable_network_reusing, CASE_IPV6 | CASE_TCP),
	CASE(unreachable_then_listening, CASE_IPV6 | CASE_TCP),
	CASE(unreachable_then_connected, CASE_SDP_ONLY | CASE_FAMILY),
	CASE(unreachable_host, CASE_IPV6),
	CASE(unreachable_host_nonblocking, 0),
	CASE(unreachable_host_while_sending, CASE_TCP),
	CASE(connect_multicast, 0),
	CASE(connect_bad_address, CASE_IPV6),
	CASE(connect_family_27, CASE_SDP_ONLY | CASE_FAMILY),
	CASE(connect_v4_mapped, CASE_SDP_ONLY | CASE_FAMILY),
	CASE(connect_v4_to_v6_any, CASE_SDP_ONLY | CASE_FAMILY),
	CASE(backlog_honoured, CASE_LONG),
	CASE(connect_timeout, 0),
	CASE(close_while_connecting, CASE_LONG),
	CASE(connects_interleaved, 0),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
