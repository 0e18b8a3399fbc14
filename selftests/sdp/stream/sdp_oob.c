// SPDX-License-Identifier: GPL-2.0
/*
 * Urgent data. What a case expects is what TCP does, which the same case shows
 * with TCP sockets; the exceptions are marked and say why.
 */
#define _GNU_SOURCE
#include <linux/sockios.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>

#include "sdp_test.h"

static int at_mark(int fd)
{
	return ioctl_int(fd, SIOCATMARK);
}

/* All that is there, the urgent byte included: SIOCINQ stops at the mark. */
static void wait_queued(int fd, int bytes)
{
	set_int(fd, SOL_SOCKET, SO_OOBINLINE, 1);
	wait_inq(fd, bytes);
	set_int(fd, SOL_SOCKET, SO_OOBINLINE, 0);
}

/* ---- the byte beside the stream ---- */

static void none_is_there(void)
{
	struct pair p = new_pair();
	int fresh = new_socket(0), listener = new_listener(1);
	char c;

	CHECK_ERR(recv(p.server, &c, 1, MSG_OOB), EINVAL);
	CHECK_ERR(recv(p.server, &c, 1, MSG_OOB | MSG_DONTWAIT), EINVAL);
	CHECK_ERR(recv(p.server, &c, 1, MSG_OOB | MSG_PEEK), EINVAL);
	CHECK_ERR(recv(fresh, &c, 1, MSG_OOB), EINVAL);
	CHECK_ERR(recv(listener, &c, 1, MSG_OOB), ENOTCONN);
	CHECK_ERR(send(fresh, "x", 1, MSG_OOB | MSG_NOSIGNAL), EPIPE);
	CHECK_EQ(at_mark(p.server), 0);
	CHECK_EQ(at_mark(fresh), 0);
	CHECK_EQ(at_mark(listener), 0);
	CHECK_EQ(send(p.client, "x", 0, MSG_OOB), 0);
	watch_quiet(p.server, POLLIN | POLLPRI);
}

static void last_byte_is_urgent(void)
{
	struct pair p = new_nodelay_pair();
	char c;

	send_text(p.client, "abc", MSG_OOB);
	wait_poll(p.server, POLLPRI);
	CHECK_EQ(ioctl_int(p.server, SIOCINQ), 2);
	expect_urgent(p.server, 'c', 0);
	CHECK_ERR(recv(p.server, &c, 1, MSG_OOB), EINVAL);
	CHECK_EQ(poll_now(p.server) & (POLLIN | POLLPRI), POLLIN);
	CHECK_EQ(at_mark(p.server), 0);
	expect_text(p.server, "ab", 0);
	CHECK_EQ(at_mark(p.server), 1);
	CHECK_ERR(recv(p.server, &c, 1, MSG_DONTWAIT), EAGAIN);
	CHECK_EQ(at_mark(p.server), 0);
}

static void read_stops_at_mark(void)
{
	struct pair p = new_nodelay_pair();

	send_text(p.client, "abc", 0);
	send_text(p.client, "X", MSG_OOB);
	send_text(p.client, "def", 0);
	wait_queued(p.server, 7);
	CHECK_EQ(ioctl_int(p.server, SIOCINQ), 3);
	expect_text(p.server, "abc", 0);
	CHECK_EQ(at_mark(p.server), 1);
	expect_urgent(p.server, 'X', 0);
	CHECK_EQ(at_mark(p.server), 1);
	expect_text(p.server, "def", 0);
	CHECK_EQ(at_mark(p.server), 0);
	CHECK_ERR(recv(p.server, &(char){ 0 }, 1, MSG_OOB), EINVAL);
}

static void waitall_stops_at_mark(void)
{
	struct pair p = new_nodelay_pair();

	send_text(p.client, "abc", 0);
	send_text(p.client, "X", MSG_OOB);
	send_text(p.client, "def", 0);
	wait_queued(p.server, 7);
	expect_text(p.server, "abc", MSG_WAITALL);
	CHECK_EQ(at_mark(p.server), 1);
}

/* Who reads on without a look at the urgent byte has lost it. */
static void reading_on_loses_it(void)
{
	struct pair p = new_nodelay_pair();
	char c;

	send_text(p.client, "abXcd", 0);
	send_text(p.client, "Y", MSG_OOB);
	send_text(p.client, "ef", 0);
	wait_queued(p.server, 8);
	expect_text(p.server, "abXcd", 0);
	CHECK(poll_now(p.server) & POLLPRI);
	expect_text(p.server, "ef", 0);
	CHECK_ERR(recv(p.server, &c, 1, MSG_OOB), EINVAL);
	CHECK_EQ(poll_now(p.server) & POLLPRI, 0);
}

/* An urgent byte alone is nothing to read, but something to look at. */
static void mask_at_mark(void)
{
	struct pair p = new_nodelay_pair();

	send_text(p.client, "X", MSG_OOB);
	wait_poll(p.server, POLLPRI);
	CHECK_EQ(poll_now(p.server), POLLPRI | POLLOUT);
	send_text(p.client, "a", 0);
	wait_poll_exact(p.server, POLLIN | POLLPRI | POLLOUT);
	expect_urgent(p.server, 'X', 0);
	CHECK_EQ(poll_now(p.server), POLLIN | POLLOUT);
}

static void select_and_epoll(void)
{
	struct pair p = new_nodelay_pair();
	struct epoll_event e = { .events = EPOLLPRI | EPOLLET };
	int ep = CHECK_OK(epoll_create1(0));
	fd_set except;

	CHECK_OK(epoll_ctl(ep, EPOLL_CTL_ADD, p.server, &e));
	send_text(p.client, "X", MSG_OOB);
	CHECK_EQ(epoll_wait(ep, &e, 1, wait_limit_ms()), 1);
	CHECK_EQ(e.events, EPOLLPRI);
	CHECK_EQ(epoll_wait(ep, &e, 1, 0), 0);
	FD_ZERO(&except);
	FD_SET(p.server, &except);
	CHECK_EQ(select(p.server + 1, NULL, NULL, &except, NULL), 1);
	CHECK(FD_ISSET(p.server, &except));
}

static void flags_of_recvmsg(void)
{
	struct pair p = new_nodelay_pair();
	struct iovec v = { &(char){ 0 }, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };

	send_text(p.client, "X", MSG_OOB);
	wait_poll(p.server, POLLPRI);
	CHECK_EQ(recvmsg(p.server, &m, MSG_OOB | MSG_PEEK), 1);
	CHECK_EQ(m.msg_flags & (MSG_OOB | MSG_TRUNC), MSG_OOB);
	v.iov_len = 0;
	CHECK_EQ(recvmsg(p.server, &m, MSG_OOB), 0);
	CHECK_EQ(m.msg_flags & (MSG_OOB | MSG_TRUNC), MSG_OOB | MSG_TRUNC);
	CHECK_ERR(recvmsg(p.server, &m, MSG_OOB), EINVAL);
}

static void bad_memory_takes_it(void)
{
	struct pair p = new_nodelay_pair();
	char c;

	send_text(p.client, "X", MSG_OOB);
	wait_poll(p.server, POLLPRI);
	CHECK_ERR(recv(p.server, (void *)8, 1, MSG_OOB), EFAULT);
	CHECK_ERR(recv(p.server, &c, 1, MSG_OOB), EINVAL);
}

/* ---- peeking ---- */

static void peek_at_it(void)
{
	struct pair p = new_nodelay_pair();

	send_text(p.client, "ab", 0);
	send_text(p.client, "X", MSG_OOB);
	send_text(p.client, "cd", 0);
	wait_queued(p.server, 5);
	expect_urgent(p.server, 'X', MSG_PEEK);
	expect_urgent(p.server, 'X', MSG_PEEK);
	expect_text(p.server, "ab", MSG_PEEK);
	CHECK_EQ(at_mark(p.server), 0);
	expect_text(p.server, "ab", 0);
	expect_text(p.server, "cd", MSG_PEEK);
	CHECK_EQ(at_mark(p.server), 1);
	expect_urgent(p.server, 'X', 0);
	expect_text(p.server, "cd", 0);
}

/* ---- inline ---- */

static void inline_in_the_stream(void)
{
	struct pair p = new_nodelay_pair();
	char c;

	set_int(p.server, SOL_SOCKET, SO_OOBINLINE, 1);
	send_text(p.client, "abc", 0);
	send_text(p.client, "X", MSG_OOB);
	send_text(p.client, "def", 0);
	wait_inq(p.server, 7);
	CHECK(poll_now(p.server) & POLLPRI);
	CHECK_ERR(recv(p.server, &c, 1, MSG_OOB), EINVAL);
	expect_text(p.server, "abc", 0);
	CHECK_EQ(at_mark(p.server), 1);
	CHECK_EQ(poll_now(p.server) & POLLIN, POLLIN);
	expect_text(p.server, "Xdef", MSG_PEEK);
	expect_text(p.server, "Xdef", 0);
	CHECK_EQ(at_mark(p.server), 0);
	CHECK_EQ(poll_now(p.server) & POLLPRI, 0);
}

static void inline_is_inherited(void)
{
	int listener = new_listener(1), client, server;

	set_int(listener, SOL_SOCKET, SO_OOBINLINE, 1);
	client = connect_to(listener);
	server = CHECK_OK(accept(listener, NULL, NULL));
	send_text(client, "abX", MSG_OOB);
	wait_inq(server, 3);
	expect_text(server, "ab", 0);
	expect_text(server, "X", 0);
}

struct random_flow {
	int fd;
	size_t len;
};

static void *random_urgent_sender(void *arg)
{
	struct random_flow *f = arg;
	unsigned char buf[700];
	uint32_t state = opts.seed;
	size_t pos = 0;

	while (pos < f->len) {
		size_t n = 1 + random_next(&state) % sizeof(buf);
		int flags = random_next(&state) % 4 ? 0 : MSG_OOB;

		if (n > f->len - pos)
			n = f->len - pos;
		pattern_fill(buf, n, 3, pos);
		CHECK_EQ(send(f->fd, buf, n, flags | MSG_NOSIGNAL), n);
		pos += n;
	}
	return NULL;
}

/* Wherever the marks are, no byte of the stream is lost or moved. */
static void inline_keeps_the_stream(void)
{
	struct pair p = new_pair();
	struct random_flow f = { p.client, scaled(256 * KIB) };
	pthread_t t;

	set_int(p.server, SOL_SOCKET, SO_OOBINLINE, 1);
	thread_start(&t, random_urgent_sender, &f);
	recv_pattern(p.server, 3, 0, f.len, 1000);
	thread_join(t);
}

/* ---- more than one ---- */

static void one_after_the_other(void)
{
	struct pair p = new_nodelay_pair();
	char text[] = "ab", urgent[] = "A";
	int i;

	for (i = 0; i < 20; i++, text[0]++, urgent[0]++) {
		send_text(p.client, text, 0);
		send_text(p.client, urgent, MSG_OOB);
		wait_poll(p.server, POLLPRI);
		expect_urgent(p.server, urgent[0], 0);
		expect_text(p.server, text, 0);
	}
}

/* The mark moves on, and the first urgent byte becomes one like the others. */
static void second_before_first_is_read(void)
{
	struct pair p = new_nodelay_pair();

	send_text(p.client, "aX", MSG_OOB);
	wait_queued(p.server, 2);
	send_text(p.client, "bcY", MSG_OOB);
	wait_queued(p.server, 5);
	expect_text(p.server, "aXbc", 0);
	CHECK_EQ(at_mark(p.server), 1);
	expect_urgent(p.server, 'Y', 0);
}

/* But not if the reader stands before it, or has it already. */
static void second_while_at_first(void)
{
	struct pair p = new_nodelay_pair();

	send_text(p.client, "aX", MSG_OOB);
	wait_queued(p.server, 2);
	expect_text(p.server, "a", 0);
	expect_urgent(p.server, 'X', 0);
	send_text(p.client, "bcY", MSG_OOB);
	WAIT_FOR(!at_mark(p.server));
	wait_queued(p.server, 3);
	expect_text(p.server, "bc", 0);
	expect_urgent(p.server, 'Y', 0);
}

static const struct sdp_case cases[] = {
	CASE(none_is_there, CASE_TCP),
	CASE(last_byte_is_urgent, CASE_TCP | CASE_IPV6),
	CASE(read_stops_at_mark, CASE_TCP),
	CASE(waitall_stops_at_mark, CASE_TCP),
	CASE(reading_on_loses_it, CASE_TCP),
	CASE(mask_at_mark, CASE_TCP),
	CASE(select_and_epoll, CASE_TCP),
	CASE(flags_of_recvmsg, CASE_TCP),
	CASE(bad_memory_takes_it, CASE_TCP),
	CASE(peek_at_it, CASE_TCP),
	CASE(inline_in_the_stream, CASE_TCP),
	CASE(inline_is_inherited, CASE_TCP),
	CASE(inline_keeps_the_stream, CASE_TCP),
	CASE(one_after_the_other, CASE_TCP),
	CASE(second_before_first_is_read, CASE_TCP),
	CASE(second_while_at_first, CASE_TCP),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
