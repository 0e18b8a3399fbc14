// SPDX-License-Identifier: GPL-2.0
/*
 * Own addresses and ports over several connections: what bind() has taken stays
 * taken, a socket bound for both families uses either, and no two sockets have
 * one connection.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>

#include "sdp_test.h"

static struct addr mapped(const char *v4, uint16_t port)
{
	char text[64];

	snprintf(text, sizeof(text), "::ffff:%s", v4);
	return make_addr(text, port);
}

static int inet6_socket(void)
{
	return CHECK_OK(socket(AF_INET6, SOCK_STREAM,
			       opts.tcp ? IPPROTO_TCP : IPPROTO_SDP));
}

static void dissolve(int fd)
{
	CHECK_OK(op_dissolve(fd));
}

/* A socket that the program has bound, to a port that is its own now. */
static int bound_client(uint16_t *port)
{
	int fd = new_client(0);
	struct addr a;

	*port = local_port(fd);
	CHECK_OK(close(fd));
	fd = new_socket(0);
	a = client_addr(*port);
	CHECK_OK(bind(fd, &a.sa, a.len));
	return fd;
}

static void check_pair(int client, int server)
{
	send_pattern(client, 1, 0, 5000, 5000);
	recv_pattern(server, 1, 0, 5000, 5000);
}

/* ---- bound for both families ---- */

static void check_connects_to_mapped(const char *any)
{
	int listener = new_listener(1), client = inet6_socket(), server;
	struct addr to = mapped(opts.server[0], local_port(listener));
	struct addr from = make_addr(any, 0);
	uint16_t port;

	CHECK_OK(bind(client, &from.sa, from.len));
	port = local_port(client);
	CHECK(port);
	CHECK_OK(connect(client, &to.sa, to.len));
	server = CHECK_OK(accept(listener, NULL, NULL));
	CHECK_EQ(local_port(client), port);
	from = peer_addr(server);
	CHECK_EQ(addr_port(&from), port);
	check_pair(client, server);
}

static void any_connects_to_mapped(void)
{
	check_connects_to_mapped("::");
}

static void mapped_any_connects_to_mapped(void)
{
	check_connects_to_mapped("::ffff:0.0.0.0");
}

/* First the one family, then the other, then it listens: with one port. */
static void any_connects_to_both(void)
{
	int four = new_listener(1), client = inet6_socket(), six, other;
	struct addr to = mapped(opts.server[0], local_port(four)), any;
	uint16_t port = dead_port();

	opts.ipv6 = true;
	six = new_listener(1);
	opts.ipv6 = false;
	/* A port that the program has chosen is not given back. */
	any = make_addr("::", port);
	CHECK_OK(bind(client, &any.sa, any.len));
	CHECK_OK(connect(client, &to.sa, to.len));
	check_pair(client, CHECK_OK(accept(four, NULL, NULL)));
	dissolve(client);
	to = local_addr(six);
	CHECK_OK(connect(client, &to.sa, to.len));
	check_pair(client, CHECK_OK(accept(six, NULL, NULL)));
	CHECK_EQ(local_port(client), port);
	dissolve(client);
	CHECK_OK(listen(client, 1));
	CHECK_EQ(local_port(client), port);
	to = server_addr(port);
	other = new_socket(0);
	CHECK_OK(connect(other, &to.sa, to.len));
	check_pair(other, CHECK_OK(accept(client, NULL, NULL)));
}

/* ---- a port that the program has bound ---- */

static int try_bind(uint16_t port)
{
	struct addr a = client_addr(port);
	int fd = new_socket(0);
	int err = bind(fd, &a.sa, a.len) ? errno : 0;

	CHECK_OK(close(fd));
	return err;
}

static int reset_pair_of(int client, int listener)
{
	struct addr a = local_addr(listener);
	int server;

	CHECK_OK(connect(client, &a.sa, a.len));
	server = CHECK_OK(accept(listener, NULL, NULL));
	set_linger(server, 1, 0);
	return server;
}

static void dissolved_keeps_port(void)
{
	int listener = new_listener(1), client, server;
	uint16_t port;

	client = bound_client(&port);
	server = reset_pair_of(client, listener);
	dissolve(client);
	CHECK_EQ(try_bind(port), EADDRINUSE);
	CHECK_OK(close(server));
	server = reset_pair_of(client, listener);
	CHECK_EQ(local_port(client), port);
	check_pair(client, server);
}

/* Asking for the port by bind() might take it while nobody has it. */
static bool is_closed(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	CHECK_OK(getsockopt(fd, SOL_TCP, TCP_INFO, &info, &len));
	return info.tcpi_state == TCP_CLOSE;
}

/* The connection is over before anybody has asked the socket for anything. */
static void reset_keeps_port(void)
{
	int listener = new_listener(1), client, server;
	uint16_t port;

	client = bound_client(&port);
	server = reset_pair_of(client, listener);
	CHECK_OK(close(server));
	wait_poll(client, POLLHUP);
	CHECK_EQ(recv_until_end(client), ECONNRESET);
	WAIT_FOR(is_closed(client));
	CHECK_EQ(try_bind(port), EADDRINUSE);
	CHECK_OK(close(client));
	WAIT_FOR(try_bind(port) == 0);
}

static void refused_keeps_port(void)
{
	struct addr dead = server_addr(dead_port());
	int listener = new_listener(1), client, server;
	uint16_t port;

	client = bound_client(&port);
	CHECK_ERR(connect(client, &dead.sa, dead.len), ECONNREFUSED);
	CHECK_EQ(try_bind(port), EADDRINUSE);
	server = reset_pair_of(client, listener);
	CHECK_EQ(local_port(client), port);
	check_pair(client, server);
}

static void listener_keeps_port(void)
{
	int listener = new_listener(1), again;
	uint16_t port = local_port(listener);
	struct addr a = server_addr(port);

	CHECK_OK(close(listener));
	listener = new_socket(0);
	CHECK_OK(bind(listener, &a.sa, a.len));
	CHECK_OK(listen(listener, 1));
	CHECK_OK(shutdown(listener, SHUT_RDWR));
	again = new_socket(0);
	CHECK_ERR(bind(again, &a.sa, a.len), EADDRINUSE);
	CHECK_OK(listen(listener, 1));
	CHECK_EQ(local_port(listener), port);
}

/*
 * Between two requests to a full listener nobody holds the client's port. A
 * client that has lost it is told so each time, and does not take another.
 */
static void lost_port_is_told(void)
{
	int filler, full = full_listener(&filler), free = new_listener(1);
	struct addr busy = local_addr(full), to = local_addr(free), from;
	int client, thief = new_socket(0);
	uint16_t port;

	client = bound_client(&port);
	from = client_addr(port);
	set_nonblock(client, true);
	CHECK_ERR(connect(client, &busy.sa, busy.len), EINPROGRESS);
	WAIT_FOR(bind(thief, &from.sa, from.len) == 0);
	wait_poll(client, POLLERR);
	CHECK_EQ(get_int(client, SOL_SOCKET, SO_ERROR), EADDRINUSE);
	set_nonblock(client, false);
	connect(client, &to.sa, to.len);
	CHECK_ERR(connect(client, &to.sa, to.len), EADDRINUSE);
	CHECK_ERR(listen(client, 1), EADDRINUSE);
	CHECK_ERR(listen(client, 1), EADDRINUSE);
	CHECK_OK(close(thief));
	CHECK_OK(connect(client, &to.sa, to.len));
	CHECK_EQ(local_port(client), port);
	check_pair(client, CHECK_OK(accept(free, NULL, NULL)));
}

/* What one bind() has found of an address is not for the next one. */
static void bind_errors_are_of_this_call(void)
{
	int owner = new_client(0), fd = new_socket(0);
	struct addr taken = local_addr(owner);
	struct addr foreign = make_addr("192.0.2.1", 0), own = server_addr(0);
	struct addr got;

	CHECK_ERR(bind(fd, &taken.sa, taken.len), EADDRINUSE);
	CHECK_ERR(bind(fd, &foreign.sa, foreign.len), EADDRNOTAVAIL);
	CHECK_ERR(bind(fd, &taken.sa, taken.len), EADDRINUSE);
	CHECK_OK(bind(fd, &own.sa, own.len));
	got = local_addr(fd);
	own = server_addr(addr_port(&got));
	CHECK(same_addr(&got, &own));
}

/* ---- the next connection ---- */

/* What ended the last connection is not said of the next one. */
static void connect_anew_forgets_error(void)
{
	int listener = new_listener(1), client = new_socket(0), server;

	server = reset_pair_of(client, listener);
	dissolve(client);
	CHECK_OK(close(server));
	server = reset_pair_of(client, listener);
	CHECK_EQ(get_int(client, SOL_SOCKET, SO_ERROR), 0);
	check_pair(client, server);
	dissolve(client);
	CHECK_OK(close(server));
	server = reset_pair_of(client, listener);
	send_text(client, "anew", 0);
	expect_text(server, "anew", 0);
}

static void broadcast_is_unreachable(void)
{
	struct addr a = make_addr("255.255.255.255", 9);
	struct ifaddrs *all, *i;
	int fd = new_socket(0), seen = 0;
	in_addr_t mask;

	CHECK_ERR(connect(fd, &a.sa, a.len), ENETUNREACH);
	CHECK_OK(getifaddrs(&all));
	for (i = all; i; i = i->ifa_next) {
		if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET ||
		    i->ifa_flags & IFF_LOOPBACK)
			continue;
		mask = ((struct sockaddr_in *)i->ifa_netmask)->sin_addr.s_addr;
		if (ntohl(~mask) < 3)
			continue;
		a.in4.sin_addr = ((struct sockaddr_in *)i->ifa_addr)->sin_addr;
		a.in4.sin_addr.s_addr |= ~mask;
		CHECK_ERR(connect(fd, &a.sa, a.len), ENETUNREACH);
		seen++;
	}
	freeifaddrs(all);
	if (!seen)
		sdp_skip("no interface has a network of several hosts");
}

/* ---- one connection for two sockets ---- */

static int sharing_client(uint16_t port)
{
	struct addr a = client_addr(port);
	int fd = new_socket(0);

	set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	CHECK_OK(bind(fd, &a.sa, a.len));
	return fd;
}

static void one_connection_once(void)
{
	int listener = new_listener(2), other = new_listener(2);
	int one = sharing_client(0), two = sharing_client(local_port(one));
	struct addr a = local_addr(listener), b = local_addr(other);

	CHECK_OK(connect(one, &a.sa, a.len));
	CHECK_ERR(connect(two, &a.sa, a.len), EADDRNOTAVAIL);
	CHECK_OK(connect(two, &b.sa, b.len));
	CHECK_EQ(local_port(one), local_port(two));
	check_pair(one, CHECK_OK(accept(listener, NULL, NULL)));
	check_pair(two, CHECK_OK(accept(other, NULL, NULL)));
}

static const struct sdp_case cases[] = {
	CASE(any_connects_to_mapped, CASE_TCP),
	CASE(mapped_any_connects_to_mapped, CASE_TCP),
	CASE(any_connects_to_both, CASE_SDP_ONLY),
	CASE(dissolved_keeps_port, CASE_IPV6 | CASE_TCP),
	CASE(reset_keeps_port, CASE_TCP),
	CASE(refused_keeps_port, CASE_TCP),
	CASE(listener_keeps_port, CASE_TCP),
	CASE(lost_port_is_told, CASE_SDP_ONLY),
	CASE(bind_errors_are_of_this_call, CASE_TCP),
	CASE(connect_anew_forgets_error, CASE_IPV6 | CASE_TCP),
	CASE(broadcast_is_unreachable, CASE_TCP),
	CASE(one_connection_once, CASE_IPV6 | CASE_TCP),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
