// SPDX-License-Identifier: GPL-2.0
/*
 * Options of sockets of AF_INET and AF_INET6 with IPPROTO_SDP: what programs set
 * on TCP sockets of these families, and what TCP refuses there. Each case runs on
 * TCP as well, unless it is about what TCP has and SDP has not.
 */
#define _GNU_SOURCE
#include <linux/in6.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>

#include "sdp_test.h"

/* Of <linux/in.h> and <linux/in6.h>, which do not go with glibc's headers. */
#ifndef IP_LOCAL_PORT_RANGE
#define IP_LOCAL_PORT_RANGE 51
#endif
#ifndef SO_TXREHASH
#define SO_TXREHASH 74
#endif

static int door(int family)
{
	return CHECK_OK(socket(family, SOCK_STREAM,
			       opts.tcp ? IPPROTO_TCP : IPPROTO_SDP));
}

static int door_listener(int family, const char *text)
{
	struct addr a = make_addr(text, 0);
	int fd = door(family);

	CHECK_OK(bind(fd, &a.sa, a.len));
	CHECK_OK(listen(fd, 2));
	return fd;
}

static struct pair door_pair(int family)
{
	int listener = door_listener(family, opts.server[family == AF_INET6]);
	struct addr a = local_addr(listener);
	struct pair p = { .client = door(family) };

	CHECK_OK(connect(p.client, &a.sa, a.len));
	p.server = CHECK_OK(accept(listener, NULL, NULL));
	return p;
}

static int set_errno(int fd, int level, int option, int value)
{
	errno = 0;
	setsockopt(fd, level, option, &value, sizeof(value));
	return errno;
}

static int get_errno(int fd, int level, int option)
{
	socklen_t len = sizeof(int);
	int value;

	errno = 0;
	getsockopt(fd, level, option, &value, &len);
	return errno;
}

/* ---- levels ---- */

static void inet_has_no_ipv6_options(void)
{
	struct pair p = door_pair(AF_INET);
	int fd = door(AF_INET), option;

	for (option = 0; option < 80; option++) {
		CHECK_EQ(set_errno(fd, SOL_IPV6, option, 1), ENOPROTOOPT);
		CHECK_EQ(get_errno(fd, SOL_IPV6, option), EOPNOTSUPP);
	}
	CHECK_EQ(set_errno(p.server, SOL_IPV6, IPV6_V6ONLY, 1), ENOPROTOOPT);
	CHECK_EQ(get_errno(p.server, SOL_IPV6, IPV6_V6ONLY), EOPNOTSUPP);
	/* Even if it has no value to look at. */
	CHECK_ERR(setsockopt(fd, SOL_IPV6, IPV6_V6ONLY, (void *)8, 4),
		  ENOPROTOOPT);
}

/* Some servers ask for it on each socket, and go on if there is no such thing. */
static void v6only_leaves_inet_alone(void)
{
	struct addr a = make_addr(opts.server[0], 0);
	int fd = door(AF_INET);

	CHECK_EQ(set_errno(fd, SOL_IPV6, IPV6_V6ONLY, 1), ENOPROTOOPT);
	CHECK_OK(bind(fd, &a.sa, a.len));
	CHECK_OK(listen(fd, 1));
}

static void no_such_level(void)
{
	static const int levels[] = { IPPROTO_UDP, SOL_RAW, 283, 999, -1 };
	int four = door(AF_INET), six = door(AF_INET6);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(levels); i++) {
		CHECK_EQ(set_errno(four, levels[i], 1, 1), ENOPROTOOPT);
		CHECK_EQ(set_errno(six, levels[i], 1, 1), ENOPROTOOPT);
		CHECK_EQ(get_errno(four, levels[i], 1), EOPNOTSUPP);
		CHECK_EQ(get_errno(six, levels[i], 1), ENOPROTOOPT);
	}
}

static void v6only_is_fixed_by_port(void)
{
	struct pair p = door_pair(AF_INET6);
	struct addr a = make_addr(opts.server[1], 0);
	int fd = door(AF_INET6);

	CHECK_EQ(set_errno(p.client, SOL_IPV6, IPV6_V6ONLY, 1), EINVAL);
	CHECK_EQ(set_errno(p.server, SOL_IPV6, IPV6_V6ONLY, 1), EINVAL);
	CHECK_EQ(set_errno(fd, SOL_IPV6, IPV6_V6ONLY, 1), 0);
	CHECK_OK(bind(fd, &a.sa, a.len));
	CHECK_EQ(set_errno(fd, SOL_IPV6, IPV6_V6ONLY, 0), EINVAL);
}

/* ---- names ---- */

static int peername_errno(int fd)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(struct sockaddr_in);

	errno = 0;
	getsockopt(fd, SOL_SOCKET, SO_PEERNAME, &ss, &len);
	return errno;
}

static void no_peer_no_name(void)
{
	struct addr dead = make_addr(opts.server[0], 0);
	struct pair p = door_pair(AF_INET);
	int fd = door(AF_INET);

	CHECK_EQ(peername_errno(fd), ENOTCONN);
	CHECK_EQ(peername_errno(door_listener(AF_INET, opts.server[0])),
		 ENOTCONN);
	dead = server_addr(dead_port());
	CHECK_ERR(connect(fd, &dead.sa, dead.len), ECONNREFUSED);
	CHECK_EQ(peername_errno(fd), ENOTCONN);
	CHECK_EQ(peername_errno(p.client), 0);
	CHECK_EQ(peername_errno(p.server), 0);
	CHECK_OK(op_dissolve(p.client));
	CHECK_EQ(peername_errno(p.client), ENOTCONN);
	wait_poll(p.server, POLLHUP);
	CHECK_EQ(peername_errno(p.server), 0);
}

static void no_such_scope(void)
{
	struct addr a = make_addr("fe80::1", 0);
	int fd = door(AF_INET6);

	a.in6.sin6_scope_id = 9999;
	CHECK_ERR(bind(fd, &a.sa, a.len), ENODEV);
	a.in6.sin6_scope_id = 0;
	CHECK_ERR(bind(door(AF_INET6), &a.sa, a.len), EINVAL);
}

/* ---- options that programs set ---- */

static void check_kept(int fd, int level, int option, int value)
{
	CHECK_EQ(set_errno(fd, level, option, value), 0);
	CHECK_EQ(get_int(fd, level, option), value);
}

static void check_flag(int fd, int level, int option)
{
	check_kept(fd, level, option, 1);
	check_kept(fd, level, option, 0);
	check_kept(fd, level, option, 1);
}

static void path_mtu(void)
{
	struct pair four = door_pair(AF_INET), six = door_pair(AF_INET6);
	int fd = door(AF_INET6);

	CHECK_EQ(get_errno(door(AF_INET), SOL_IP, IP_MTU), ENOTCONN);
	CHECK_EQ(get_errno(fd, SOL_IPV6, IPV6_MTU), ENOTCONN);
	CHECK(get_int(four.client, SOL_IP, IP_MTU) >= 1280);
	CHECK(get_int(four.server, SOL_IP, IP_MTU) >= 1280);
	CHECK(get_int(six.client, SOL_IPV6, IPV6_MTU) >= 1280);
	CHECK_EQ(set_errno(four.client, SOL_IP, IP_MTU, 1500), ENOPROTOOPT);
	CHECK_EQ(set_errno(fd, SOL_IPV6, IPV6_MTU, 1280), 0);
	CHECK_EQ(set_errno(fd, SOL_IPV6, IPV6_MTU, 1279), EINVAL);
	CHECK_EQ(set_errno(fd, SOL_IPV6, IPV6_MTU, 0), 0);
}

static void unicast_interface(void)
{
	static const int levels[] = { SOL_IP, SOL_IPV6 };
	static const int options[] = { IP_UNICAST_IF, IPV6_UNICAST_IF };
	int fds[] = { door(AF_INET), door(AF_INET6) }, value, i;
	int lo = htonl(if_nametoindex("lo"));

	for (i = 0; i < 2; i++) {
		check_kept(fds[i], levels[i], options[i], lo);
		CHECK_EQ(set_errno(fds[i], levels[i], options[i],
				   htonl(9999)), EADDRNOTAVAIL);
		value = 0;
		CHECK_ERR(setsockopt(fds[i], levels[i], options[i], &value, 2),
			  EINVAL);
		CHECK_EQ(get_int(fds[i], levels[i], options[i]), lo);
		check_kept(fds[i], levels[i], options[i], 0);
	}
}

static void harmless_flags(void)
{
	int four = door(AF_INET), six = door(AF_INET6);

	check_flag(four, SOL_IP, IP_MULTICAST_ALL);
	check_flag(four, SOL_IP, IP_MULTICAST_LOOP);
	check_flag(four, SOL_IP, IP_RECVORIGDSTADDR);
	check_flag(six, SOL_IP, IP_FREEBIND);
	check_flag(six, SOL_IPV6, IPV6_FREEBIND);
	check_flag(six, SOL_IPV6, IPV6_MULTICAST_ALL);
	check_flag(six, SOL_IPV6, IPV6_MULTICAST_LOOP);
	check_flag(six, SOL_IPV6, IPV6_RECVORIGDSTADDR);
	check_flag(six, SOL_IPV6, IPV6_AUTOFLOWLABEL);
	check_flag(six, SOL_IPV6, IPV6_FLOWINFO_SEND);
}

/* IPv6 takes no value for zero: what was set before does not stay. */
static void no_value_is_zero(void)
{
	static const int options[] = { IPV6_AUTOFLOWLABEL, IPV6_FLOWINFO_SEND };
	int fd = door(AF_INET6);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		check_kept(fd, SOL_IPV6, options[i], 1);
		CHECK_OK(setsockopt(fd, SOL_IPV6, options[i], NULL, sizeof(int)));
		CHECK_EQ(get_int(fd, SOL_IPV6, options[i]), 0);
	}
	check_kept(fd, SOL_IPV6, IPV6_AUTOFLOWLABEL, 1);
	CHECK_OK(setsockopt(fd, SOL_IPV6, IPV6_AUTOFLOWLABEL, NULL, 0));
	CHECK_EQ(get_int(fd, SOL_IPV6, IPV6_AUTOFLOWLABEL), 0);
}

static void address_preferences(void)
{
	int fd = door(AF_INET6);

	CHECK_EQ(set_errno(fd, SOL_IPV6, IPV6_ADDR_PREFERENCES,
			   IPV6_PREFER_SRC_PUBLIC | IPV6_PREFER_SRC_TMP),
		 EINVAL);
	CHECK_EQ(set_errno(fd, SOL_IPV6, IPV6_ADDR_PREFERENCES,
			   IPV6_PREFER_SRC_TMP), 0);
	CHECK_EQ(get_int(fd, SOL_IPV6, IPV6_ADDR_PREFERENCES),
		 IPV6_PREFER_SRC_TMP | IPV6_PREFER_SRC_HOME);
}

/* Programs clear what an earlier one may have left on a socket. */
static void nothing_to_clear(void)
{
	char eight[8] = { 0 };
	int four = door(AF_INET), six = door(AF_INET6);

	CHECK_OK(setsockopt(four, SOL_IP, IP_OPTIONS, NULL, 0));
	CHECK_OK(setsockopt(six, SOL_IPV6, IPV6_HOPOPTS, NULL, 0));
	CHECK_OK(setsockopt(six, SOL_IPV6, IPV6_RTHDR, NULL, 0));
	CHECK_OK(setsockopt(six, SOL_IPV6, IPV6_DSTOPTS, NULL, 0));
	if (opts.tcp)
		return;
	/* There are no headers for them. */
	eight[0] = 1;
	CHECK_ERR(setsockopt(four, SOL_IP, IP_OPTIONS, eight, 4), ENOPROTOOPT);
	CHECK_ERR(setsockopt(six, SOL_IPV6, IPV6_HOPOPTS, eight, 8),
		  ENOPROTOOPT);
}

static void local_port_range(void)
{
	int tcp = CHECK_OK(socket(AF_INET, SOCK_STREAM, IPPROTO_TCP));
	int fd = door(AF_INET), range = 40000 << 16 | 30000;

	/* From Linux 6.3 on. */
	CHECK_EQ(set_errno(fd, SOL_IP, IP_LOCAL_PORT_RANGE, range),
		 set_errno(tcp, SOL_IP, IP_LOCAL_PORT_RANGE, range));
	CHECK_EQ(get_errno(fd, SOL_IP, IP_LOCAL_PORT_RANGE),
		 get_errno(tcp, SOL_IP, IP_LOCAL_PORT_RANGE));
}

/* A guard against packets from far away that would guard nothing. */
static void no_minimum_of_hops(void)
{
	int four = door(AF_INET), six = door(AF_INET6);

	CHECK_EQ(set_errno(four, SOL_IP, IP_MINTTL, 255), ENOPROTOOPT);
	CHECK_EQ(set_errno(six, SOL_IP, IP_MINTTL, 255), ENOPROTOOPT);
	CHECK_EQ(set_errno(six, SOL_IPV6, IPV6_MINHOPCOUNT, 255), ENOPROTOOPT);
	CHECK_EQ(set_errno(new_socket(0), SOL_IP, IP_MINTTL, 255), ENOPROTOOPT);
}

/* Nor is a program led to believe in packets that there are not. */
static void nothing_that_deceives(void)
{
	int four = door(AF_INET), six = door(AF_INET6);
	struct ip_mreq join = { .imr_multiaddr.s_addr = htonl(0xe0000005) };

	CHECK_ERR(setsockopt(four, SOL_IP, IP_ADD_MEMBERSHIP, &join,
			     sizeof(join)), ENOPROTOOPT);
	CHECK_EQ(set_errno(four, SOL_IP, IP_TRANSPARENT, 1), ENOPROTOOPT);
	CHECK_EQ(set_errno(six, SOL_IPV6, IPV6_TRANSPARENT, 1), ENOPROTOOPT);
	CHECK_EQ(set_errno(six, SOL_IPV6, IPV6_ADDRFORM, AF_INET), ENOPROTOOPT);
}

/* ---- what accept() hands on ---- */

struct inherited {
	int family;
	int level;
	int option;
	int value;
};

static void check_inherited(const struct inherited *i)
{
	int listener = door_listener(i->family,
				     opts.server[i->family == AF_INET6]);
	struct addr a = local_addr(listener);
	int client = door(i->family), server;

	if (set_errno(listener, i->level, i->option, i->value))
		FAIL("level %d option %d: %s", i->level, i->option,
		     strerrorname_np(errno));
	CHECK_OK(connect(client, &a.sa, a.len));
	server = CHECK_OK(accept(listener, NULL, NULL));
	if (get_int(server, i->level, i->option) !=
	    get_int(listener, i->level, i->option))
		FAIL("level %d option %d is not handed on", i->level, i->option);
	CHECK_OK(close(client));
	CHECK_OK(close(server));
	CHECK_OK(close(listener));
}

static void accepted_inherit(void)
{
	static const struct inherited all[] = {
		{ AF_INET, SOL_SOCKET, SO_BUSY_POLL, 77 },
		{ AF_INET, SOL_SOCKET, SO_MAX_PACING_RATE, 1000000 },
		{ AF_INET, SOL_SOCKET, SO_TXREHASH, 0 },
		{ AF_INET, SOL_SOCKET, SO_REUSEPORT, 1 },
		{ AF_INET, SOL_SOCKET, SO_RXQ_OVFL, 1 },
		{ AF_INET, SOL_SOCKET, SO_SELECT_ERR_QUEUE, 1 },
		{ AF_INET, SOL_IP, IP_MULTICAST_ALL, 0 },
		{ AF_INET6, SOL_IPV6, IPV6_RECVORIGDSTADDR, 1 },
		{ AF_INET6, SOL_IPV6, IPV6_FLOWINFO_SEND, 1 },
		{ AF_INET6, SOL_IPV6, IPV6_UNICAST_HOPS, 9 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		check_inherited(&all[i]);
}

/* ---- the end of a connection, while which a socket stays what it is ---- */

struct asker {
	int fd;
	bool stop;
	pthread_t thread;
};

static void *ask_always(void *arg)
{
	struct asker *a = arg;

	while (!__atomic_load_n(&a->stop, __ATOMIC_ACQUIRE)) {
		CHECK_EQ(set_errno(a->fd, SOL_IPV6, IPV6_RECVTCLASS, 1), 0);
		CHECK_EQ(get_errno(a->fd, SOL_IPV6, IPV6_RECVTCLASS), 0);
		CHECK_EQ(get_errno(a->fd, SOL_IPV6, IPV6_UNICAST_IF), 0);
	}
	return NULL;
}

static void options_while_it_ends(void)
{
	struct asker a;
	struct pair p;
	int i;

	for (i = 0; i < 50; i++) {
		p = door_pair(AF_INET6);
		a = (struct asker){ .fd = p.client };
		thread_start(&a.thread, ask_always, &a);
		if (i & 1)
			set_linger(p.server, 1, 0);
		CHECK_OK(close(p.server));
		CHECK_EQ(recv_until_end(p.client), i & 1 ? ECONNRESET : 0);
		shutdown(p.client, SHUT_WR);
		/* The name is gone when the connection is. */
		WAIT_FOR(({
			struct addr a = { .len = sizeof(a.in6) };

			getpeername(p.client, &a.sa, &a.len);
		}));
		__atomic_store_n(&a.stop, true, __ATOMIC_RELEASE);
		thread_join(a.thread);
		CHECK_OK(close(p.client));
	}
}

static const struct sdp_case cases[] = {
	CASE(inet_has_no_ipv6_options, CASE_TCP),
	CASE(v6only_leaves_inet_alone, CASE_TCP),
	CASE(no_such_level, CASE_TCP),
	CASE(v6only_is_fixed_by_port, CASE_TCP),
	CASE(no_peer_no_name, CASE_TCP),
	CASE(no_such_scope, CASE_TCP),
	CASE(path_mtu, CASE_TCP),
	CASE(unicast_interface, CASE_TCP),
	CASE(harmless_flags, CASE_TCP),
	CASE(no_value_is_zero, CASE_TCP),
	CASE(address_preferences, CASE_TCP),
	CASE(nothing_to_clear, CASE_TCP),
	CASE(local_port_range, CASE_TCP),
	CASE(no_minimum_of_hops, CASE_SDP_ONLY),
	CASE(nothing_that_deceives, CASE_SDP_ONLY),
	CASE(accepted_inherit, CASE_TCP),
	CASE(options_while_it_ends, CASE_TCP),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
