// SPDX-License-Identifier: GPL-2.0
/*
 * Socket options of AF_SDP against those of TCP on the same kernel: each call
 * is made on a socket of both kinds, and results, errno, lengths and values
 * have to be equal.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <netinet/tcp.h>
#include <sys/sysinfo.h>

#include "sdp_test.h"

#ifndef TCP_NOTSENT_LOWAT
#define TCP_NOTSENT_LOWAT 25
#endif
#define IPV6_HDR_DONTFRAG 62
#define BYTE_NONE 0xa5

/* What the value of an option depends on besides the calls made here. */
#define ON_CONNECTION	1	/* a connection gives it a value of its own */
#define NOT_INHERITED	2	/* likewise, a connection that was accepted */

struct option {
	const char *name;
	int level;
	int opt;
	int sample;		/* a valid value that is not the default */
	unsigned int flags;
};

#define OPTION(level, opt, ...) { #opt, level, opt, __VA_ARGS__ }

static const struct option options[] = {
	OPTION(SOL_TCP, TCP_NODELAY, 1),
	OPTION(SOL_TCP, TCP_CORK, 1),
	OPTION(SOL_TCP, TCP_KEEPIDLE, 77),
	OPTION(SOL_TCP, TCP_KEEPINTVL, 8),
	OPTION(SOL_TCP, TCP_KEEPCNT, 5),
	OPTION(SOL_TCP, TCP_SYNCNT, 3),
	OPTION(SOL_TCP, TCP_LINGER2, 9),
	OPTION(SOL_TCP, TCP_DEFER_ACCEPT, 0),
	OPTION(SOL_TCP, TCP_USER_TIMEOUT, 54321),
	OPTION(SOL_TCP, TCP_NOTSENT_LOWAT, 16384),
	OPTION(SOL_TCP, TCP_WINDOW_CLAMP, 40000, ON_CONNECTION),
	OPTION(SOL_TCP, TCP_QUICKACK, 1, ON_CONNECTION | NOT_INHERITED),
	OPTION(SOL_TCP, TCP_MAXSEG, 1000, ON_CONNECTION | NOT_INHERITED),
	OPTION(SOL_IP, IP_TOS, 0x10),
	OPTION(SOL_IP, IP_TTL, 33),
	OPTION(SOL_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DONT),
	OPTION(SOL_IP, IP_RECVERR, 1),
	OPTION(SOL_IP, IP_RECVTTL, 1),
	OPTION(SOL_IP, IP_RECVTOS, 1),
	OPTION(SOL_IP, IP_PKTINFO, 1),
	OPTION(SOL_IP, IP_FREEBIND, 1),
	OPTION(SOL_IP, IP_BIND_ADDRESS_NO_PORT, 1),
	OPTION(SOL_IPV6, IPV6_V6ONLY, 0),
	OPTION(SOL_IPV6, IPV6_TCLASS, 0x20),
	OPTION(SOL_IPV6, IPV6_UNICAST_HOPS, 44),
	OPTION(SOL_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DONT),
	OPTION(SOL_IPV6, IPV6_RECVERR, 1),
	OPTION(SOL_IPV6, IPV6_RECVHOPLIMIT, 1),
	OPTION(SOL_IPV6, IPV6_RECVTCLASS, 1),
	OPTION(SOL_IPV6, IPV6_RECVPKTINFO, 1),
	OPTION(SOL_IPV6, IPV6_HDR_DONTFRAG, 1),
	OPTION(SOL_SOCKET, SO_KEEPALIVE, 1),
	OPTION(SOL_SOCKET, SO_OOBINLINE, 1),
	OPTION(SOL_SOCKET, SO_REUSEADDR, 1),
	OPTION(SOL_SOCKET, SO_BROADCAST, 1),
	OPTION(SOL_SOCKET, SO_DONTROUTE, 1),
	OPTION(SOL_SOCKET, SO_PRIORITY, 4),
	OPTION(SOL_SOCKET, SO_MARK, 7),
	OPTION(SOL_SOCKET, SO_RCVLOWAT, 100),
};

/* A socket of the family under test, and its measure. */
struct twins {
	int fd;
	int tcp;
};

/* ---- pairs of calls ---- */

static void set_both(const struct twins *t, const struct option *o,
		     const void *value, socklen_t len)
{
	int want, want_errno, got;

	errno = 0;
	want = setsockopt(t->tcp, o->level, o->opt, value, len);
	want_errno = errno;
	errno = 0;
	got = setsockopt(t->fd, o->level, o->opt, value, len);
	if (got != want || errno != want_errno)
		FAIL("setting %s to %d with length %d: %d (%s), with TCP %d (%s)",
		     o->name, *(const int *)value, (int)len,
		     got, strerrorname_np(errno),
		     want, strerrorname_np(want_errno));
}

static void get_both(const struct twins *t, const struct option *o,
		     socklen_t len)
{
	unsigned char got_value[16], want_value[16];
	socklen_t got_len = len, want_len = len;
	int want, want_errno, got;

	memset(got_value, BYTE_NONE, sizeof(got_value));
	memset(want_value, BYTE_NONE, sizeof(want_value));
	errno = 0;
	want = getsockopt(t->tcp, o->level, o->opt, want_value, &want_len);
	want_errno = errno;
	errno = 0;
	got = getsockopt(t->fd, o->level, o->opt, got_value, &got_len);
	if (got != want || errno != want_errno || got_len != want_len)
		FAIL("getting %s with length %d: %d (%s, length %d), with TCP %d (%s, length %d)",
		     o->name, (int)len, got, strerrorname_np(errno),
		     (int)got_len, want, strerrorname_np(want_errno),
		     (int)want_len);
	if (memcmp(got_value, want_value, sizeof(got_value)))
		FAIL("getting %s with length %d: value %d, with TCP %d",
		     o->name, (int)len, *(int *)got_value, *(int *)want_value);
}

/* Older kernels take a negative one for a huge one, and keep it. */
static bool tcp_is_mistaken(const struct twins *t, const struct option *o, int value)
{
	int got = 0;
	socklen_t len = sizeof(got);

	if (o->level != SOL_TCP || o->opt != TCP_WINDOW_CLAMP || value >= 0)
		return false;
	CHECK_OK(getsockopt(t->tcp, o->level, o->opt, &got, &len));
	return got == value;
}

static void compare_values(const struct twins *t, const struct option *o)
{
	static const int values[] = {
		INT_MIN, -1000, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 31, 32, 60,
		87, 88, 120, 121, 127, 128, 254, 255, 256, 536, 1000, 4097,
		32767, 32768, 65535, 65536, 1 << 20, INT_MAX,
	};
	size_t i;

	get_both(t, o, sizeof(int));
	for (i = 0; i < ARRAY_SIZE(values); i++) {
		set_both(t, o, &values[i], sizeof(int));
		if (!tcp_is_mistaken(t, o, values[i]))
			get_both(t, o, sizeof(int));
	}
}

static void compare_lengths(const struct twins *t, const struct option *o)
{
	static const socklen_t lengths[] = { 0, 1, 2, 3, 4, 5, 8, 16, -1, INT_MIN };
	int value[4] = { 1 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		set_both(t, o, value, lengths[i]);
		get_both(t, o, sizeof(int));
		get_both(t, o, lengths[i]);
	}
	set_both(t, o, &o->sample, sizeof(int));
	for (i = 0; i < ARRAY_SIZE(lengths); i++)
		get_both(t, o, lengths[i]);
}

static void compare_pointers(const struct twins *t, const struct option *o)
{
	socklen_t len = sizeof(int);
	void *bad = (void *)8;
	int value;

	CHECK_ERR(setsockopt(t->tcp, o->level, o->opt, bad, len), EFAULT);
	CHECK_ERR(setsockopt(t->fd, o->level, o->opt, bad, len), EFAULT);
	CHECK_ERR(getsockopt(t->tcp, o->level, o->opt, bad, &len), EFAULT);
	CHECK_ERR(getsockopt(t->fd, o->level, o->opt, bad, &len), EFAULT);
	CHECK_ERR(getsockopt(t->tcp, o->level, o->opt, &value, bad), EFAULT);
	CHECK_ERR(getsockopt(t->fd, o->level, o->opt, &value, bad), EFAULT);
	/* For an answer of one byte, which some options of IP have. */
	len = 1;
	CHECK_ERR(getsockopt(t->tcp, o->level, o->opt, bad, &len), EFAULT);
	len = 1;
	CHECK_ERR(getsockopt(t->fd, o->level, o->opt, bad, &len), EFAULT);
}

/* ---- sockets in several states ---- */

static int tcp_socket(void)
{
	return CHECK_OK(socket(AF_INET6, SOCK_STREAM, 0));
}

static int tcp_listener(void)
{
	int fd = tcp_socket();

	CHECK_OK(listen(fd, 1));
	return fd;
}

static int tcp_connect(int listener)
{
	struct addr a = local_addr(listener);
	int fd = tcp_socket();

	a.in6.sin6_addr = in6addr_loopback;
	CHECK_OK(connect(fd, &a.sa, a.len));
	return fd;
}

static struct twins fresh_twins(void)
{
	return (struct twins){ .fd = new_socket(0), .tcp = tcp_socket() };
}

static struct twins listening_twins(void)
{
	return (struct twins){ .fd = new_listener(1), .tcp = tcp_listener() };
}

static struct twins connected_twins(void)
{
	return (struct twins){
		.fd = new_pair().client,
		.tcp = tcp_connect(tcp_listener()),
	};
}

static struct twins accepted_twins(const struct twins *listeners)
{
	connect_to(listeners->fd);
	tcp_connect(listeners->tcp);
	return (struct twins){
		.fd = CHECK_OK(accept(listeners->fd, NULL, NULL)),
		.tcp = CHECK_OK(accept(listeners->tcp, NULL, NULL)),
	};
}

static void close_twins(const struct twins *t)
{
	CHECK_OK(close(t->fd));
	CHECK_OK(close(t->tcp));
}

/* ---- cases ---- */

static void for_fresh_twins(void (*compare)(const struct twins *t,
					    const struct option *o))
{
	struct twins t;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		t = fresh_twins();
		compare(&t, &options[i]);
		close_twins(&t);
	}
}

static void values(void)
{
	for_fresh_twins(compare_values);
}

static void lengths(void)
{
	for_fresh_twins(compare_lengths);
}

static void pointers(void)
{
	for_fresh_twins(compare_pointers);
}

static void for_twins(const struct twins *t)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (!(options[i].flags & ON_CONNECTION))
			compare_values(t, &options[i]);
}

static void values_of_listener(void)
{
	struct twins t = listening_twins();

	for_twins(&t);
}

static void values_of_connection(void)
{
	struct twins t = connected_twins();

	for_twins(&t);
}

static void inherited(void)
{
	struct twins listeners = listening_twins(), children;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		set_both(&listeners, &options[i], &options[i].sample,
			 sizeof(int));
	children = accepted_twins(&listeners);
	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (!(options[i].flags & NOT_INHERITED))
			get_both(&children, &options[i], sizeof(int));
}

/* TCP keeps this in another unit, which shows in what it gives back. */
static void defer_accept_is_not_inherited(void)
{
	struct option o = OPTION(SOL_TCP, TCP_DEFER_ACCEPT, 1);
	struct twins listeners = listening_twins(), children;
	int clients[2];

	set_both(&listeners, &o, &o.sample, sizeof(int));
	clients[0] = connect_to(listeners.fd);
	clients[1] = tcp_connect(listeners.tcp);
	CHECK_EQ(send(clients[0], "x", 1, 0), 1);
	CHECK_EQ(send(clients[1], "x", 1, 0), 1);
	children.fd = CHECK_OK(accept(listeners.fd, NULL, NULL));
	children.tcp = CHECK_OK(accept(listeners.tcp, NULL, NULL));
	get_both(&children, &o, sizeof(int));
	CHECK_EQ(get_int(children.fd, SOL_TCP, TCP_DEFER_ACCEPT), 0);
}

static void v6only_is_fixed_by_bind(void)
{
	struct option o = OPTION(SOL_IPV6, IPV6_V6ONLY, 1);
	struct twins t = fresh_twins();
	struct sockaddr_in6 any = { .sin6_family = AF_INET6 };

	CHECK_OK(bind(t.fd, (struct sockaddr *)&any, sizeof(any)));
	CHECK_OK(bind(t.tcp, (struct sockaddr *)&any, sizeof(any)));
	compare_values(&t, &o);
}

/* As with TCP: where the last message was processed; and whose wish a child has. */
static void incoming_cpu_is_known(void)
{
	struct pair p = new_pair();
	int lfd = new_listener(1), fd, child;

	CHECK_EQ(get_int(lfd, SOL_SOCKET, SO_INCOMING_CPU), -1);
	send_pattern(p.client, 1, 0, 1000, 1000);
	recv_pattern(p.server, 1, 0, 1000, 1000);
	CHECK(get_int(p.server, SOL_SOCKET, SO_INCOMING_CPU) >= 0);
	CHECK(get_int(p.server, SOL_SOCKET, SO_INCOMING_CPU) < get_nprocs_conf());
	set_int(lfd, SOL_SOCKET, SO_INCOMING_CPU, 0);
	fd = connect_to(lfd);
	CHECK(get_int(fd, SOL_SOCKET, SO_INCOMING_CPU) >= 0);
	child = CHECK_OK(accept(lfd, NULL, NULL));
	CHECK(get_int(child, SOL_SOCKET, SO_INCOMING_CPU) >= 0);
	CHECK_EQ(get_int(lfd, SOL_SOCKET, SO_INCOMING_CPU), 0);
	CHECK_OK(close(fd));
	CHECK_OK(close(child));
	CHECK_OK(close(lfd));
	close_pair(p);
}

/* TOS decides on the priority, and the bits of ECN are not the program's. */
static void tos_sets_priority(void)
{
	struct option tos = OPTION(SOL_IP, IP_TOS, 0);
	struct option priority = OPTION(SOL_SOCKET, SO_PRIORITY, 0);
	struct twins t = fresh_twins();
	int v;

	for (v = 0; v < 256; v++) {
		set_both(&t, &tos, &v, sizeof(v));
		get_both(&t, &tos, sizeof(v));
		get_both(&t, &priority, sizeof(v));
	}
}

/* sshd looks for source routes here, and must find that there are none. */
static void no_ip_options(void)
{
	struct option o = OPTION(SOL_IP, IP_OPTIONS, 0);
	struct twins t = fresh_twins();

	get_both(&t, &o, 16);
	get_both(&t, &o, 0);
	get_both(&t, &o, -1);
}

/*
 * No option pretends: it does what it does with TCP or does not exist. Each
 * call has sockets of its own, for some options change what others do.
 */
static void check_exists(int level, int opt)
{
	struct twins t = fresh_twins();
	int value[16] = { 1 }, ret, err;
	socklen_t len = sizeof(value);

	ret = setsockopt(t.tcp, level, opt, value, sizeof(int));
	err = ret ? errno : 0;
	ret = setsockopt(t.fd, level, opt, value, sizeof(int));
	if (ret && errno != err && errno != ENOPROTOOPT)
		FAIL("setting option %d of level %d: %s, with TCP %s", opt,
		     level, strerrorname_np(errno), strerrorname_np(err));
	if (!ret && err)
		FAIL("setting option %d of level %d works, with TCP %s", opt,
		     level, strerrorname_np(err));
	ret = getsockopt(t.tcp, level, opt, value, &len);
	err = ret ? errno : 0;
	len = sizeof(value);
	ret = getsockopt(t.fd, level, opt, value, &len);
	if (ret && errno != err && errno != ENOPROTOOPT)
		FAIL("getting option %d of level %d: %s, with TCP %s", opt,
		     level, strerrorname_np(errno), strerrorname_np(err));
	if (!ret && err)
		FAIL("getting option %d of level %d works, with TCP %s", opt,
		     level, strerrorname_np(err));
	close_twins(&t);
}

static void nothing_pretends(void)
{
	int opt;

	for (opt = 1; opt < 200; opt++) {
		/* Numbers that TCP does not have and SDP has always had. */
		if (opt != 80 && opt != 81)
			check_exists(SOL_TCP, opt);
		check_exists(SOL_IP, opt);
		check_exists(SOL_IPV6, opt);
	}
}

/* What programs try and do without if it is not there. */
static void told_not_to_exist(void)
{
	static const int absent[] = {
		TCP_CONGESTION, TCP_MD5SIG, TCP_REPAIR, TCP_QUEUE_SEQ,
		TCP_FASTOPEN, TCP_FASTOPEN_CONNECT, TCP_ULP, TCP_SAVE_SYN,
		TCP_TIMESTAMP,
	};
	char value[256] = "reno";
	int fd = new_socket(0);
	socklen_t len;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(absent); i++) {
		len = sizeof(value);
		CHECK_ERR(setsockopt(fd, SOL_TCP, absent[i], value, len),
			  ENOPROTOOPT);
		CHECK_ERR(getsockopt(fd, SOL_TCP, absent[i], value, &len),
			  ENOPROTOOPT);
	}
}

static void zcopy_thresh(void)
{
	int fd = new_socket(0), i;
	static const int good[] = { 0, 4096, 65536, 1024 * 1024, -1 };
	static const int bad[] = { -2, 1, 4095, 1024 * 1024 + 1, INT_MAX };

	CHECK_EQ(get_int(fd, SOL_TCP, 80), -1);
	for (i = 0; i < (int)ARRAY_SIZE(good); i++) {
		set_int(fd, SOL_TCP, 80, good[i]);
		CHECK_EQ(get_int(fd, SOL_TCP, 80), good[i]);
	}
	for (i = 0; i < (int)ARRAY_SIZE(bad); i++)
		CHECK_ERR(setsockopt(fd, SOL_TCP, 80, &bad[i], sizeof(int)),
			  EINVAL);
	CHECK_EQ(get_int(fd, SOL_TCP, 80), -1);
}

/* The classic library asks for this after a bind() that failed. */
static void last_bind_err(void)
{
	struct addr nowhere = make_addr("192.0.2.1", 0), here = server_addr(0);
	int fd = new_socket(0), v = 0;

	CHECK_EQ(get_int(fd, SOL_TCP, 81), 0);
	CHECK_ERR(bind(fd, &nowhere.sa, nowhere.len), EADDRNOTAVAIL);
	CHECK_EQ(get_int(fd, SOL_TCP, 81), -EADDRNOTAVAIL);
	CHECK_OK(bind(fd, &here.sa, here.len));
	CHECK_EQ(get_int(fd, SOL_TCP, 81), 0);
	CHECK_ERR(setsockopt(fd, SOL_TCP, 81, &v, sizeof(v)), ENOPROTOOPT);
}

/* SDP set this one at its own level. */
static void keepalive_at_family_level(void)
{
	int fd = new_socket(0);

	set_int(fd, AF_SDP, SO_KEEPALIVE, 1);
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
	CHECK_EQ(get_int(fd, AF_SDP, SO_KEEPALIVE), 1);
	set_int(fd, AF_SDP, SO_KEEPALIVE, 0);
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_KEEPALIVE), 0);
}

static const struct sdp_case cases[] = {
	CASE(values, 0),
	CASE(lengths, 0),
	CASE(pointers, 0),
	CASE(values_of_listener, 0),
	CASE(values_of_connection, 0),
	CASE(inherited, 0),
	CASE(defer_accept_is_not_inherited, 0),
	CASE(v6only_is_fixed_by_bind, CASE_SDP_ONLY),
	CASE(incoming_cpu_is_known, 0),
	CASE(tos_sets_priority, 0),
	CASE(no_ip_options, 0),
	CASE(nothing_pretends, CASE_SDP_ONLY),
	CASE(told_not_to_exist, CASE_SDP_ONLY),
	CASE(zcopy_thresh, CASE_SDP_ONLY),
	CASE(last_bind_err, CASE_SDP_ONLY),
	CASE(keepalive_at_family_level, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
