// SPDX-License-Identifier: GPL-2.0
/* Socket options and queue ioctls of AF_SDP. */
#define _GNU_SOURCE
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/time.h>

#include "sdp_test.h"

#define BAD_POINTER ((void *)8)

static void describe_socket(void)
{
	int fd = new_socket(0);

	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_TYPE), SOCK_STREAM);
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_DOMAIN), test_family(false));
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_ERROR), 0);
}

static void describe_accepted(void)
{
	struct pair p = new_pair();

	CHECK_EQ(get_int(p.server, SOL_SOCKET, SO_TYPE), SOCK_STREAM);
	CHECK_EQ(get_int(p.server, SOL_SOCKET, SO_DOMAIN), test_family(false));
	CHECK_EQ(get_int(p.server, SOL_SOCKET, SO_ERROR), 0);
	CHECK_EQ(get_int(p.server, SOL_SOCKET, SO_ACCEPTCONN), 0);
}

static void acceptconn(void)
{
	int fd = new_socket(0);

	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_ACCEPTCONN), 0);
	CHECK_EQ(get_int(new_listener(1), SOL_SOCKET, SO_ACCEPTCONN), 1);
}

static void check_flag(int fd, int level, int opt)
{
	set_int(fd, level, opt, 1);
	CHECK_EQ(get_int(fd, level, opt), 1);
	set_int(fd, level, opt, 0);
	CHECK_EQ(get_int(fd, level, opt), 0);
}

static void flags_read_back(void)
{
	struct pair p = new_pair();
	int fd = new_socket(0);

	check_flag(fd, SOL_SOCKET, SO_REUSEADDR);
	check_flag(fd, SOL_SOCKET, SO_KEEPALIVE);
	check_flag(fd, SOL_SOCKET, SO_OOBINLINE);
	check_flag(p.client, SOL_SOCKET, SO_KEEPALIVE);
}

static void tcp_nodelay(void)
{
	struct pair p = new_pair();
	int fd = new_socket(0);

	CHECK_EQ(get_int(fd, SOL_TCP, TCP_NODELAY), 0);
	check_flag(fd, SOL_TCP, TCP_NODELAY);
	check_flag(p.client, SOL_TCP, TCP_NODELAY);
	check_flag(p.server, SOL_TCP, TCP_NODELAY);
}

/* What a listener has set, the sockets it accepts have too. */
static void options_inherited(void)
{
	int listener = new_listener(1), fd;
	struct linger l = { 0 };
	socklen_t len = sizeof(l);

	set_int(listener, SOL_TCP, TCP_NODELAY, 1);
	set_int(listener, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_linger(listener, 1, 7);
	connect_to(listener);
	fd = CHECK_OK(accept(listener, NULL, NULL));
	CHECK_EQ(get_int(fd, SOL_TCP, TCP_NODELAY), 1);
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
	CHECK_OK(getsockopt(fd, SOL_SOCKET, SO_LINGER, &l, &len));
	CHECK_EQ(l.l_onoff, 1);
	CHECK_EQ(l.l_linger, 7);
}

/* The kernel may give more than was asked for, never less. */
static void buffer_sizes(void)
{
	int fd = new_socket(0);

	set_int(fd, SOL_SOCKET, SO_SNDBUF, 65536);
	set_int(fd, SOL_SOCKET, SO_RCVBUF, 65536);
	CHECK(get_int(fd, SOL_SOCKET, SO_SNDBUF) >= 65536);
	CHECK(get_int(fd, SOL_SOCKET, SO_RCVBUF) >= 65536);
}

/* Buffers of the smallest size still carry everything. */
static void smallest_buffers_carry_data(void)
{
	int listener = new_listener(1), client = new_client(0), server;
	struct addr a = local_addr(listener);

	set_int(listener, SOL_SOCKET, SO_RCVBUF, 1);
	set_int(listener, SOL_SOCKET, SO_SNDBUF, 1);
	set_int(client, SOL_SOCKET, SO_RCVBUF, 1);
	set_int(client, SOL_SOCKET, SO_SNDBUF, 1);
	CHECK_OK(connect(client, &a.sa, a.len));
	server = CHECK_OK(accept(listener, NULL, NULL));
	exchange(client, server, 64 * KIB);
}

static void linger_reads_back(void)
{
	struct linger l = { 0 };
	socklen_t len = sizeof(l);
	int fd = new_socket(0);

	set_linger(fd, 1, 5);
	CHECK_OK(getsockopt(fd, SOL_SOCKET, SO_LINGER, &l, &len));
	CHECK_EQ(l.l_onoff, 1);
	CHECK_EQ(l.l_linger, 5);
}

static void check_timeout(int fd, int opt)
{
	struct timeval tv = { 9, 9 };
	socklen_t len = sizeof(tv);

	CHECK_OK(getsockopt(fd, SOL_SOCKET, opt, &tv, &len));
	CHECK_EQ(tv.tv_sec, 0);
	CHECK_EQ(tv.tv_usec, 0);
	set_timeout(fd, opt, 2000);
	CHECK_OK(getsockopt(fd, SOL_SOCKET, opt, &tv, &len));
	CHECK_EQ(tv.tv_sec, 2);
	CHECK_EQ(tv.tv_usec, 0);
	tv.tv_usec = 1000000;
	CHECK_ERR(setsockopt(fd, SOL_SOCKET, opt, &tv, sizeof(tv)), EDOM);
}

static void timeouts_read_back(void)
{
	int fd = new_socket(0);

	check_timeout(fd, SO_RCVTIMEO);
	check_timeout(fd, SO_SNDTIMEO);
}

static void rcvlowat_holds_back_poll(void)
{
	struct pair p = new_pair();

	set_int(p.server, SOL_SOCKET, SO_RCVLOWAT, 100);
	CHECK_EQ(get_int(p.server, SOL_SOCKET, SO_RCVLOWAT), 100);
	send_pattern(p.client, 1, 0, 99, 99);
	wait_inq(p.server, 99);
	CHECK_EQ(poll_now(p.server) & POLLIN, 0);
	send_pattern(p.client, 1, 99, 1, 1);
	wait_poll(p.server, POLLIN);
	recv_pattern(p.server, 1, 0, 100, 100);
}

static void unknown_option(void)
{
	struct pair p = new_pair();
	socklen_t len = sizeof(int);
	int fd = p.client, v = 1;

	CHECK_ERR(setsockopt(fd, SOL_TCP, 9999, &v, len), ENOPROTOOPT);
	CHECK_ERR(getsockopt(fd, SOL_TCP, 9999, &v, &len), ENOPROTOOPT);
	CHECK_ERR(setsockopt(fd, SOL_SOCKET, 9999, &v, len), ENOPROTOOPT);
	CHECK_ERR(getsockopt(fd, SOL_SOCKET, 9999, &v, &len), ENOPROTOOPT);
	CHECK_ERR(setsockopt(fd, 9999, 1, &v, len), ENOPROTOOPT);
	CHECK_ERR(getsockopt(fd, 9999, 1, &v, &len), EOPNOTSUPP);
}

static void bad_pointer(void)
{
	socklen_t len = sizeof(int);
	int fd = new_socket(0), v = 1;

	CHECK_ERR(setsockopt(fd, SOL_TCP, TCP_NODELAY, BAD_POINTER, len), EFAULT);
	CHECK_ERR(setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, BAD_POINTER, len),
		  EFAULT);
	CHECK_ERR(getsockopt(fd, SOL_TCP, TCP_NODELAY, BAD_POINTER, &len),
		  EFAULT);
	CHECK_ERR(getsockopt(fd, SOL_TCP, TCP_NODELAY, &v, BAD_POINTER), EFAULT);
}

static void bad_length(void)
{
	socklen_t len = -1;
	int fd = new_socket(0), v = 1;

	CHECK_ERR(setsockopt(fd, SOL_TCP, TCP_NODELAY, &v, 1), EINVAL);
	CHECK_ERR(setsockopt(fd, SOL_TCP, TCP_NODELAY, &v, -1), EINVAL);
	CHECK_ERR(setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &v, 1), EINVAL);
	CHECK_ERR(getsockopt(fd, SOL_TCP, TCP_NODELAY, &v, &len), EINVAL);
}

/* ---- queues ---- */

static void queue_lengths(void)
{
	struct pair p = new_pair();

	CHECK_EQ(ioctl_int(p.server, SIOCINQ), 0);
	CHECK_EQ(ioctl_int(p.client, SIOCOUTQ), 0);
	send_pattern(p.client, 3, 0, 1000, 100);
	wait_inq(p.server, 1000);
	recv_pattern(p.server, 3, 0, 1, 1);
	CHECK_EQ(ioctl_int(p.server, SIOCINQ), 999);
	recv_pattern(p.server, 3, 1, 998, 998);
	CHECK_EQ(ioctl_int(p.server, SIOCINQ), 1);
	recv_pattern(p.server, 3, 999, 1, 1);
	CHECK_EQ(ioctl_int(p.server, SIOCINQ), 0);
	WAIT_FOR(ioctl_int(p.client, SIOCOUTQ) == 0);
}

static void queue_length_counts_all_messages(void)
{
	struct pair p = new_pair();
	int sent = 0, size;

	for (size = 1; size <= 4096; size *= 2) {
		send_pattern(p.client, 4, sent, size, size);
		sent += size;
		wait_inq(p.server, sent);
	}
	recv_pattern(p.server, 4, 0, sent, 777);
	CHECK_EQ(ioctl_int(p.server, SIOCINQ), 0);
}

/* A peer that does not read leaves bytes in the sender's queue. */
static void unsent_bytes_counted(void)
{
	struct pair p = new_pair();
	uint64_t sent = fill_pipe(p.client, 5);

	CHECK(ioctl_int(p.client, SIOCOUTQ) > 0);
	recv_pattern(p.server, 5, 0, sent, 64 * KIB);
	WAIT_FOR(ioctl_int(p.client, SIOCOUTQ) == 0);
}

static const struct sdp_case cases[] = {
	CASE(describe_socket, 0),
	CASE(describe_accepted, 0),
	CASE(acceptconn, 0),
	CASE(flags_read_back, 0),
	CASE(tcp_nodelay, 0),
	CASE(options_inherited, 0),
	CASE(buffer_sizes, 0),
	CASE(smallest_buffers_carry_data, 0),
	CASE(linger_reads_back, 0),
	CASE(timeouts_read_back, 0),
	CASE(rcvlowat_holds_back_poll, 0),
	CASE(unknown_option, 0),
	CASE(bad_pointer, 0),
	CASE(bad_length, 0),
	CASE(queue_lengths, 0),
	CASE(queue_length_counts_all_messages, 0),
	CASE(unsent_bytes_counted, 0),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
