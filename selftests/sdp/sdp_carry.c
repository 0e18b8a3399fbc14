// SPDX-License-Identifier: GPL-2.0
/*
 * Fallback to TCP: options that the program has set, those that it has not, and
 * what is known of the connection.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/sdp.h>
#include <netinet/tcp.h>
#include <poll.h>

#include "sdp_fallback.h"

#ifndef TCP_ULP
#define TCP_ULP 31
#endif

static struct addr loopback(uint16_t port)
{
	return make_addr(opts.ipv6 ? "::1" : "127.0.0.1", port);
}

static int tcp_only(void)
{
	int fd = new_socket(0);

	if (!opts.tcp)
		set_int(fd, SOL_SDP, SDP_TCP_FALLBACK, ONLY);
	return fd;
}

static void connect_fd(int fd, int listener)
{
	struct addr a = local_addr(listener);

	CHECK_OK(connect(fd, &a.sa, a.len));
}

struct option {
	int level, name, value;
};

static void set_options(int fd, const struct option *o, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		set_int(fd, o[i].level, o[i].name, o[i].value);
}

static void check_options(int fd, const struct option *o, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (get_int(fd, o[i].level, o[i].name) != o[i].value)
			FAIL("option %d of level %d: expected %d, got %d",
			     o[i].name, o[i].level, o[i].value,
			     get_int(fd, o[i].level, o[i].name));
}

static const struct option v4_options[] = {
	{ SOL_IP, IP_TTL, 42 },
	{ SOL_IP, IP_TOS, 0x10 },
	{ SOL_IP, IP_FREEBIND, 1 },
	{ SOL_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DONT },
	{ SOL_TCP, TCP_WINDOW_CLAMP, 65536 },
};

static const struct option v6_options[] = {
	{ SOL_IPV6, IPV6_UNICAST_HOPS, 43 },
	{ SOL_IPV6, IPV6_TCLASS, 0x10 },
	{ SOL_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DONT },
	{ SOL_TCP, TCP_WINDOW_CLAMP, 65536 },
};

static void carried_to_connect(void)
{
	const struct option *o = opts.ipv6 ? v6_options : v4_options;
	unsigned int count = opts.ipv6 ? ARRAY_SIZE(v6_options) :
					 ARRAY_SIZE(v4_options);
	int listener = listener_at(tcp_socket(), loopback(0), 4);
	int fd = tcp_only();

	set_options(fd, o, count);
	check_options(fd, o, count);
	connect_fd(fd, listener);
	check_options(fd, o, count);
}

static void carried_to_listen(void)
{
	static const struct option o[] = {
		{ SOL_IP, IP_TTL, 42 }, { SOL_TCP, TCP_WINDOW_CLAMP, 65536 },
	};
	int fd = tcp_only(), client, server;

	set_options(fd, o, ARRAY_SIZE(o));
	listener_at(fd, loopback(0), 4);
	client = tcp_socket();
	connect_fd(client, fd);
	server = CHECK_OK(accept(fd, NULL, NULL));
	check_options(server, o, ARRAY_SIZE(o));
}

static bool accept_marks(bool on)
{
	int fd = open("/proc/sys/net/ipv4/tcp_fwmark_accept", O_WRONLY);
	bool ok = fd >= 0 && write(fd, on ? "1" : "0", 1) == 1;

	if (fd >= 0)
		close(fd);
	return ok;
}

/* A connection may come with a mark, which is TCP's to keep. */
static void accepted_with_mark(void)
{
	int listener = listener_at(tcp_only(), loopback(0), 4);
	int client = tcp_socket(), server;

	if (!accept_marks(true))
		sdp_skip("no net.ipv4.tcp_fwmark_accept");
	set_int(client, SOL_SOCKET, SO_MARK, 7);
	connect_fd(client, listener);
	accept_marks(false);
	server = CHECK_OK(accept(listener, NULL, NULL));
	CHECK_EQ(get_int(server, SOL_SOCKET, SO_MARK), 7);
	/* Nor does it go when another option is set. */
	set_timeout(server, SO_RCVTIMEO, 20000);
	exchange(client, server, 10000);
	CHECK_EQ(get_int(server, SOL_SOCKET, SO_MARK), 7);
}

static void peeks_again(void)
{
	int listener = listener_at(tcp_only(), loopback(0), 4);
	int client = tcp_socket(), server, zero = 0;
	char buf[3];

	connect_fd(client, listener);
	server = CHECK_OK(accept(listener, NULL, NULL));
	send_text(client, "abcdef", 0);
	wait_inq(server, 6);
	if (setsockopt(server, SOL_SOCKET, SO_PEEK_OFF, &zero, sizeof(zero)))
		sdp_skip("SO_PEEK_OFF: %s", strerror(errno));
	CHECK_EQ(recv(server, buf, 3, MSG_PEEK), 3);
	CHECK(!memcmp(buf, "abc", 3));
	CHECK_EQ(recv(server, buf, 3, MSG_PEEK), 3);
	if (!memcmp(buf, "abc", 3))
		sdp_skip("this kernel's TCP knows no SO_PEEK_OFF");
	CHECK(!memcmp(buf, "def", 3));
	/* Another option does not take it back, the same value does. */
	set_timeout(server, SO_RCVTIMEO, 20000);
	set_nonblock(server, true);
	CHECK_ERR(recv(server, buf, 3, MSG_PEEK), EAGAIN);
	set_int(server, SOL_SOCKET, SO_PEEK_OFF, 0);
	CHECK_EQ(recv(server, buf, 3, MSG_PEEK), 3);
	CHECK(!memcmp(buf, "abc", 3));
}

static void info_shows_tcp(void)
{
	int listener = listener_at(tcp_only(), loopback(0), 4);
	int client = tcp_socket(), server;
	struct sdp_info info = {};
	socklen_t len = sizeof(info);

	connect_fd(client, listener);
	server = CHECK_OK(accept(listener, NULL, NULL));
	send_text(client, "text", 0);
	wait_inq(server, 4);
	CHECK_OK(getsockopt(server, SOL_SDP, SDP_INFO, &info, &len));
	CHECK_EQ(info.sdpi_state, TCP_ESTABLISHED);
	CHECK_EQ(info.sdpi_unread, 4);
	CHECK_OK(shutdown(client, SHUT_WR));
	wait_poll(server, POLLRDHUP);
	len = sizeof(info);
	CHECK_OK(getsockopt(server, SOL_SDP, SDP_INFO, &info, &len));
	CHECK_EQ(info.sdpi_state, TCP_CLOSE_WAIT);
}

/* It would take the file for its own. */
static void no_smc_upon_tcp(void)
{
	int fd = both_socket(SOCK_NONBLOCK);
	struct addr dead = server_addr(dead_port());

	CHECK_ERR(connect(fd, &dead.sa, dead.len), EINPROGRESS);
	wait_poll(fd, POLLHUP);
	CHECK_ERR(setsockopt(fd, SOL_TCP, TCP_ULP, "smc", 3), ENOENT);
	CHECK_ERR(setsockopt(fd, SOL_TCP, TCP_ULP, "", 0), EINVAL);
}

struct connects {
	int fd;
	struct addr to;
	bool over;
};

static void *connect_often(void *arg)
{
	struct connects *c = arg;

	while (!__atomic_load_n(&c->over, __ATOMIC_RELAXED))
		connect(c->fd, &c->to.sa, c->to.len);
	return NULL;
}

/*
 * One of them may undo what the other is about to go on with.  To no port that the
 * kernel hands out: a socket that asks for one often enough meets itself.
 */
static void two_threads_connect(void)
{
	struct connects c = { tcp_only(), loopback(1) };
	int listener = listener_at(tcp_socket(), loopback(0), 4), server;
	uint64_t end = now_ms() + 500;
	pthread_t thread[2];
	struct addr a;

	thread_start(&thread[0], connect_often, &c);
	thread_start(&thread[1], connect_often, &c);
	while (now_ms() < end)
		pause_a_bit();
	__atomic_store_n(&c.over, true, __ATOMIC_RELAXED);
	thread_join(thread[0]);
	thread_join(thread[1]);
	/* The last of them may have left an error behind. */
	get_int(c.fd, SOL_SOCKET, SO_ERROR);
	a = local_addr(listener);
	if (connect(c.fd, &a.sa, a.len))
		CHECK_OK(connect(c.fd, &a.sa, a.len));
	server = CHECK_OK(accept(listener, NULL, NULL));
	exchange(c.fd, server, 10000);
}

static const struct sdp_case cases[] = {
	CASE(carried_to_connect, CASE_IPV6 | CASE_TCP),
	CASE(carried_to_listen, CASE_TCP),
	CASE(accepted_with_mark, CASE_TCP),
	CASE(peeks_again, CASE_TCP),
	CASE(info_shows_tcp, CASE_SDP_ONLY),
	CASE(no_smc_upon_tcp, CASE_SDP_ONLY),
	CASE(two_threads_connect, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return fallback_main(argc, argv, cases, ARRAY_SIZE(cases));
}
