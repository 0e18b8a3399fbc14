// SPDX-License-Identifier: GPL-2.0
/* Addresses, sockets and conditions for the AF_SDP selftests. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/time.h>

#include "sdp_test.h"

#define ALL_EVENTS (POLLIN | POLLPRI | POLLOUT | POLLRDHUP | POLLERR | POLLHUP)

/* ---- addresses ---- */

struct addr make_addr(const char *text, uint16_t port)
{
	struct addr a = { 0 };

	if (inet_pton(AF_INET, text, &a.in4.sin_addr) == 1) {
		a.in4.sin_family = AF_INET;
		a.in4.sin_port = htons(port);
		a.len = sizeof(a.in4);
	} else if (inet_pton(AF_INET6, text, &a.in6.sin6_addr) == 1) {
		a.in6.sin6_family = AF_INET6;
		a.in6.sin6_port = htons(port);
		a.len = sizeof(a.in6);
	} else {
		fprintf(stderr, "'%s' is no IPv4 or IPv6 address\n", text);
		exit(KTAP_EXIT_FAIL);
	}
	return a;
}

struct addr server_addr(uint16_t port)
{
	return make_addr(opts.server[opts.ipv6], port);
}

struct addr client_addr(uint16_t port)
{
	return make_addr(opts.client[opts.ipv6], port);
}

uint16_t addr_port(const struct addr *a)
{
	return ntohs(a->sa.sa_family == AF_INET6 ? a->in6.sin6_port :
		     a->in4.sin_port);
}

bool same_addr(const struct addr *a, const struct addr *b)
{
	if (a->sa.sa_family != b->sa.sa_family || addr_port(a) != addr_port(b))
		return false;
	if (a->sa.sa_family == AF_INET)
		return a->in4.sin_addr.s_addr == b->in4.sin_addr.s_addr;
	return !memcmp(&a->in6.sin6_addr, &b->in6.sin6_addr,
		       sizeof(a->in6.sin6_addr));
}

struct addr local_addr(int fd)
{
	struct addr a = { .len = sizeof(a.ss) };

	CHECK_OK(getsockname(fd, &a.sa, &a.len));
	return a;
}

struct addr peer_addr(int fd)
{
	struct addr a = { .len = sizeof(a.ss) };

	CHECK_OK(getpeername(fd, &a.sa, &a.len));
	return a;
}

uint16_t local_port(int fd)
{
	struct addr a = local_addr(fd);

	return addr_port(&a);
}

bool addr_is_loopback(void)
{
	struct addr a = client_addr(0);

	if (a.sa.sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&a.in6.sin6_addr);
	return ntohl(a.in4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

struct addr silent_neighbour(void)
{
	struct addr a = client_addr(7777);

	if (addr_is_loopback())
		sdp_skip("every address of the loopback network answers");
	if (a.sa.sa_family == AF_INET6)
		a.in6.sin6_addr.s6_addr[15] = 0x99;
	else
		((unsigned char *)&a.in4.sin_addr)[3] = 99;
	return a;
}

/* ---- sockets ---- */

int test_family(bool ipv6)
{
	if (!opts.tcp && !opts.inet)
		return AF_SDP;
	return ipv6 ? AF_INET6 : AF_INET;
}

int test_protocol(void)
{
	return opts.inet && !opts.tcp ? IPPROTO_SDP : 0;
}

int new_socket(int type_flags)
{
	return CHECK_OK(socket(test_family(opts.ipv6), SOCK_STREAM | type_flags,
			       test_protocol()));
}

int new_client(int type_flags)
{
	struct addr a = client_addr(0);
	int fd = new_socket(type_flags);

	CHECK_OK(bind(fd, &a.sa, a.len));
	return fd;
}

int new_listener(int backlog)
{
	struct addr a = server_addr(0);
	int fd = new_socket(0);

	CHECK_OK(bind(fd, &a.sa, a.len));
	CHECK_OK(listen(fd, backlog));
	return fd;
}

int connect_to(int listener)
{
	struct addr a = local_addr(listener);
	int fd = new_client(0);

	CHECK_OK(connect(fd, &a.sa, a.len));
	return fd;
}

bool start_connect(int fd, int listener)
{
	struct addr a = local_addr(listener);

	set_nonblock(fd, true);
	if (connect(fd, &a.sa, a.len) == 0)
		return false;
	CHECK_EQ(errno, EINPROGRESS);
	return true;
}

void finish_connect(int fd)
{
	wait_poll(fd, POLLOUT);
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_ERROR), 0);
	set_nonblock(fd, false);
}

struct pair new_pair(void)
{
	int listener = new_listener(1);
	struct pair p;

	p.client = connect_to(listener);
	p.server = CHECK_OK(accept(listener, NULL, NULL));
	CHECK_OK(close(listener));
	return p;
}

struct pair new_nodelay_pair(void)
{
	struct pair p = new_pair();

	set_int(p.client, SOL_TCP, TCP_NODELAY, 1);
	set_int(p.server, SOL_TCP, TCP_NODELAY, 1);
	return p;
}

struct pair new_limited_pair(int rcvbuf)
{
	int listener = new_listener(1);
	struct addr a = local_addr(listener);
	struct pair p = { .client = new_client(0) };

	set_int(listener, SOL_SOCKET, SO_RCVBUF, rcvbuf);
	set_int(p.client, SOL_SOCKET, SO_RCVBUF, rcvbuf);
	CHECK_OK(connect(p.client, &a.sa, a.len));
	p.server = CHECK_OK(accept(listener, NULL, NULL));
	CHECK_OK(close(listener));
	return p;
}

void close_pair(struct pair p)
{
	CHECK_OK(close(p.client));
	CHECK_OK(close(p.server));
}

uint16_t dead_port(void)
{
	struct addr a = server_addr(0);
	int fd = new_socket(0);
	uint16_t port;

	CHECK_OK(bind(fd, &a.sa, a.len));
	port = local_port(fd);
	CHECK_OK(close(fd));
	return port;
}

/* listen(0) has room for one connection, as the kernel counts for TCP. */
int full_listener(int *filler)
{
	int listener = new_listener(0);

	*filler = connect_to(listener);
	wait_poll(listener, POLLIN);
	return listener;
}

/* ---- options ---- */

void set_int(int fd, int level, int opt, int value)
{
	CHECK_OK(setsockopt(fd, level, opt, &value, sizeof(value)));
}

int get_int(int fd, int level, int opt)
{
	socklen_t len = sizeof(int);
	int value = -1;

	CHECK_OK(getsockopt(fd, level, opt, &value, &len));
	CHECK_EQ(len, sizeof(int));
	return value;
}

void set_timeout(int fd, int opt, unsigned int ms)
{
	struct timeval tv = { ms / 1000, ms % 1000 * 1000 };

	CHECK_OK(setsockopt(fd, SOL_SOCKET, opt, &tv, sizeof(tv)));
}

void set_linger(int fd, int on, int seconds)
{
	struct linger l = { on, seconds };

	CHECK_OK(setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l)));
}

void set_nonblock(int fd, bool on)
{
	int flags = CHECK_OK(fcntl(fd, F_GETFL));

	flags = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
	CHECK_OK(fcntl(fd, F_SETFL, flags));
}

int ioctl_int(int fd, unsigned long request)
{
	int value = -1;

	CHECK_OK(ioctl(fd, request, &value));
	return value;
}

void wait_inq(int fd, int bytes)
{
	WAIT_FOR(ioctl_int(fd, SIOCINQ) >= bytes);
	CHECK_EQ(ioctl_int(fd, SIOCINQ), bytes);
}

/* ---- poll ---- */

const char *poll_name(short mask)
{
	static const struct { short bit; const char *name; } names[] = {
		{ POLLIN, "IN" }, { POLLPRI, "PRI" }, { POLLOUT, "OUT" },
		{ POLLRDHUP, "RDHUP" }, { POLLERR, "ERR" }, { POLLHUP, "HUP" },
		{ POLLNVAL, "NVAL" },
	};
	static __thread char text[2][64];
	static __thread int turn;
	char *t = text[turn ^= 1];
	size_t i;

	strcpy(t, mask ? "" : "none");
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!(mask & names[i].bit))
			continue;
		if (*t)
			strcat(t, "|");
		strcat(t, names[i].name);
	}
	return t;
}

static short poll_for(int fd, short events, int ms)
{
	struct pollfd p = { .fd = fd, .events = events };

	CHECK_OK(poll(&p, 1, ms));
	return p.revents;
}

short poll_now(int fd)
{
	return poll_for(fd, ALL_EVENTS, 0);
}

void wait_poll(int fd, short events)
{
	uint64_t end = now_ms() + wait_limit_ms();

	while ((poll_for(fd, events, 100) & events) != events)
		if (now_ms() > end)
			FAIL("waited for poll mask %s, last seen %s",
			     poll_name(events), poll_name(poll_now(fd)));
}

void wait_poll_exact(int fd, short mask)
{
	uint64_t end = now_ms() + wait_limit_ms();

	while (poll_now(fd) != mask) {
		if (now_ms() > end)
			FAIL("waited for poll mask %s, last seen %s",
			     poll_name(mask), poll_name(poll_now(fd)));
		pause_a_bit();
	}
}

void watch_quiet(int fd, short events)
{
	short seen = poll_for(fd, events, quiet_ms()) & events;

	if (seen)
		FAIL("expected no %s on the socket, got %s",
		     poll_name(events), poll_name(seen));
}

/* ---- until something ends ---- */

/* Blocking calls that never return are the watchdog's business. */
int recv_until_end(int fd)
{
	char buf[4096];
	ssize_t n;

	do {
		n = recv(fd, buf, sizeof(buf), 0);
	} while (n > 0);
	return n ? errno : 0;
}

int send_until_error(int fd)
{
	static const char buf[4096];

	while (send(fd, buf, sizeof(buf), MSG_NOSIGNAL) > 0)
		;
	return errno;
}

/* ---- readable data ---- */

void send_text(int fd, const char *text, int flags)
{
	CHECK_EQ(send(fd, text, strlen(text), flags | MSG_NOSIGNAL),
		 strlen(text));
}

void expect_text(int fd, const char *text, int flags)
{
	char buf[256] = "";
	ssize_t n = CHECK_OK(recv(fd, buf, sizeof(buf) - 1, flags));

	buf[n] = 0;
	if (strcmp(buf, text))
		FAIL("expected to read \"%s\", got \"%s\"", text, buf);
}

void expect_urgent(int fd, char byte, int flags)
{
	char c = 0;

	CHECK_EQ(recv(fd, &c, 1, MSG_OOB | flags), 1);
	CHECK_EQ(c, byte);
}
