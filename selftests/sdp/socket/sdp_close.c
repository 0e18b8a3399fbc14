// SPDX-License-Identifier: GPL-2.0
/* The end of a connection: in order, in halves, abruptly, and by violence. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "sdp_test.h"

static void check_eof(int fd)
{
	char c;

	CHECK_EQ(CHECK_OK(recv(fd, &c, 1, 0)), 0);
	CHECK_EQ(CHECK_OK(recv(fd, &c, 1, 0)), 0);
}

/* Give the peer's reset time to arrive, then see it once. */
static void check_reset(int fd)
{
	char c;

	wait_poll(fd, POLLERR | POLLHUP);
	CHECK_ERR(recv(fd, &c, 1, 0), ECONNRESET);
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_ERROR), 0);
	CHECK_ERR(send(fd, &c, 1, MSG_NOSIGNAL), EPIPE);
	CHECK_EQ(recv(fd, &c, 1, 0), 0);
}

/* ---- halves ---- */

static void half_close(void)
{
	struct pair p = new_pair();

	send_pattern(p.client, 1, 0, 5000, 1000);
	CHECK_OK(shutdown(p.client, SHUT_WR));
	CHECK_ERR(send(p.client, "x", 1, MSG_NOSIGNAL), EPIPE);
	recv_pattern(p.server, 1, 0, 5000, 700);
	check_eof(p.server);
	send_pattern(p.server, 2, 0, 100000, 5000);
	recv_pattern(p.client, 2, 0, 100000, 5000);
	CHECK_OK(shutdown(p.server, SHUT_WR));
	check_eof(p.client);
	close_pair(p);
}

/* Who waits for an empty send queue wants the peer to know of the end, too. */
static void end_is_outstanding(void)
{
	struct pair p = new_pair();
	uint64_t sent;
	int left;

	set_nonblock(p.client, true);
	sent = fill_pipe(p.client, 7);
	WAIT_FOR(ioctl_int(p.client, SIOCOUTQ) == ioctl_int(p.client, SIOCOUTQNSD));
	left = ioctl_int(p.client, SIOCOUTQ);
	CHECK(left > 0);
	CHECK_OK(shutdown(p.client, SHUT_WR));
	CHECK_EQ(ioctl_int(p.client, SIOCOUTQ), left + 1);
	recv_pattern(p.server, 7, 0, sent, 65536);
	check_eof(p.server);
	WAIT_FOR(ioctl_int(p.client, SIOCOUTQ) == 0);
	close_pair(p);
}

static void half_close_by_server(void)
{
	struct pair p = new_pair();

	CHECK_OK(shutdown(p.server, SHUT_WR));
	check_eof(p.client);
	send_pattern(p.client, 3, 0, 100000, 5000);
	CHECK_OK(close(p.client));
	recv_pattern(p.server, 3, 0, 100000, 5000);
	check_eof(p.server);
	CHECK_OK(close(p.server));
}

static void half_close_at_once(void)
{
	struct pair p = new_pair();

	CHECK_OK(shutdown(p.client, SHUT_WR));
	CHECK_OK(shutdown(p.server, SHUT_WR));
	check_eof(p.client);
	check_eof(p.server);
	close_pair(p);
}

static void shutdown_read(void)
{
	struct pair p = new_pair();

	CHECK_OK(shutdown(p.client, SHUT_RD));
	check_eof(p.client);
	send_pattern(p.client, 4, 0, 1000, 1000);
	recv_pattern(p.server, 4, 0, 1000, 1000);
	close_pair(p);
}

static void shutdown_both(void)
{
	struct pair p = new_pair();

	send_pattern(p.client, 5, 0, 1000, 1000);
	CHECK_OK(shutdown(p.client, SHUT_RDWR));
	CHECK_ERR(send(p.client, "x", 1, MSG_NOSIGNAL), EPIPE);
	check_eof(p.client);
	recv_pattern(p.server, 5, 0, 1000, 1000);
	check_eof(p.server);
	close_pair(p);
}

static void shutdown_twice(void)
{
	struct pair p = new_pair();

	CHECK_OK(shutdown(p.client, SHUT_WR));
	CHECK_OK(shutdown(p.client, SHUT_WR));
	check_eof(p.server);
	CHECK_OK(close(p.server));
	wait_poll(p.client, POLLHUP);
	check_eof(p.client);
}

/* ---- orderly close ---- */

static void close_delivers(void)
{
	struct pair p = new_pair();

	send_pattern(p.client, 6, 0, 10000, 10000);
	CHECK_OK(close(p.client));
	recv_pattern(p.server, 6, 0, 10000, 999);
	check_eof(p.server);
}

/* All that send() took arrives, however slowly the peer reads. */
static void close_delivers_much(void)
{
	struct pair p = new_pair();
	uint64_t sent = fill_pipe(p.client, 7);

	CHECK_OK(close(p.client));
	recv_pattern(p.server, 7, 0, sent, 777);
	check_eof(p.server);
}

static void *drain(void *arg)
{
	struct pair *p = arg;
	int err;
	uint64_t got = recv_pattern_to_end(p->server, 8, 0, &err);

	CHECK_EQ(err, 0);
	/* The number is the thread's result. */
	return (void *)(uintptr_t)got;
}

static void linger_waits_and_delivers(void)
{
	struct pair p = new_pair();
	uint64_t sent = fill_pipe(p.client, 8);
	pthread_t t;
	void *got;

	set_linger(p.client, 1, wait_limit_ms() / 1000);
	thread_start(&t, drain, &p);
	CHECK_OK(close(p.client));
	CHECK_EQ(pthread_join(t, &got), 0);
	CHECK_EQ((uintptr_t)got, sent);
}

/* The peer never reads: close() comes back when the time is over. */
static void linger_gives_up_waiting(void)
{
	struct pair p = new_pair();
	uint64_t sent = fill_pipe(p.client, 9);
	struct stopwatch start;

	set_linger(p.client, 1, 1);
	start = start_watch();
	CHECK_OK(close(p.client));
	CHECK(watch_ms(start) + TICK_MS >= 1000);
	recv_pattern(p.server, 9, 0, sent, 10000);
	check_eof(p.server);
}

static void simultaneous_close(void)
{
	int i, listener = new_listener(8);

	for (i = 0; i < 50; i++) {
		int client = connect_to(listener);
		int server = CHECK_OK(accept(listener, NULL, NULL));

		CHECK_OK(close(i & 1 ? client : server));
		CHECK_OK(close(i & 1 ? server : client));
	}
}

static void port_free_after_close(void)
{
	struct addr a = server_addr(0);
	int round, listener, client, server;

	for (round = 0; round < 3; round++) {
		listener = new_socket(0);
		set_int(listener, SOL_SOCKET, SO_REUSEADDR, 1);
		CHECK_OK(bind(listener, &a.sa, a.len));
		CHECK_OK(listen(listener, 1));
		a = local_addr(listener);
		client = connect_to(listener);
		server = CHECK_OK(accept(listener, NULL, NULL));
		CHECK_OK(close(server));
		check_eof(client);
		CHECK_OK(close(client));
		CHECK_OK(close(listener));
	}
}

/* ---- resets ---- */

static void close_with_unread_data(void)
{
	struct pair p = new_pair();

	send_pattern(p.client, 10, 0, 1000, 1000);
	wait_inq(p.server, 1000);
	CHECK_OK(close(p.server));
	check_reset(p.client);
}

static void linger_zero_resets(void)
{
	struct pair p = new_pair();

	set_linger(p.client, 1, 0);
	CHECK_OK(close(p.client));
	check_reset(p.server);
}

static void reset_ends_a_sender(void)
{
	struct pair p = new_pair();
	int err;

	fill_pipe(p.client, 11);
	CHECK_OK(close(p.server));
	err = send_until_error(p.client);
	if (err != EPIPE)
		CHECK_EQ(err, ECONNRESET);
}

static void data_after_peer_closed(void)
{
	struct pair p = new_pair();
	int err;

	CHECK_OK(close(p.server));
	check_eof(p.client);
	/* The peer has nobody for it: the first may pass, a later one fails. */
	err = send_until_error(p.client);
	if (err != EPIPE)
		CHECK_EQ(err, ECONNRESET);
}

/* Neither half is left open, so what still comes is answered by a reset. */
static void data_after_peer_shut_both(void)
{
	struct pair p = new_pair();
	int err;

	CHECK_OK(shutdown(p.server, SHUT_RDWR));
	check_eof(p.client);
	err = send_until_error(p.client);
	if (err != EPIPE)
		CHECK_EQ(err, ECONNRESET);
}

static void reset_before_accept(void)
{
	int listener = new_listener(2), client = connect_to(listener), server;

	wait_poll(listener, POLLIN);
	set_linger(client, 1, 0);
	CHECK_OK(close(client));
	client = connect_to(listener);
	server = CHECK_OK(accept(listener, NULL, NULL));
	check_reset(server);
	server = CHECK_OK(accept(listener, NULL, NULL));
	send_pattern(client, 12, 0, 10, 10);
	recv_pattern(server, 12, 0, 10, 10);
}

/* What was sent and closed before accept() is still there. */
static void close_before_accept(void)
{
	int listener = new_listener(2), client = connect_to(listener), server;

	send_pattern(client, 13, 0, 1000, 1000);
	CHECK_OK(close(client));
	server = CHECK_OK(accept(listener, NULL, NULL));
	recv_pattern(server, 13, 0, 1000, 1000);
	check_eof(server);
}

static void listener_closed_with_pending(void)
{
	int listener = new_listener(3), fds[3], i;

	for (i = 0; i < 3; i++)
		fds[i] = connect_to(listener);
	wait_poll(listener, POLLIN);
	CHECK_OK(close(listener));
	for (i = 0; i < 3; i++)
		check_reset(fds[i]);
}

/* ---- the process dies ---- */

/* A child that connects and then sends for ever, or only sits there. */
static pid_t child_client(int listener, bool sends)
{
	pid_t pid = fork_child();
	uint64_t pos = 0;
	int fd;

	if (pid)
		return pid;
	fd = connect_to(listener);
	CHECK_OK(close(listener));
	while (sends) {
		send_pattern(fd, 14, pos, 64 * KIB, 64 * KIB);
		pos += 64 * KIB;
	}
	for (;;)
		pause();
}

static void sender_killed(void)
{
	int listener = new_listener(1), err;
	pid_t pid = child_client(listener, true);
	int fd = CHECK_OK(accept(listener, NULL, NULL));
	size_t first = scaled(MIB);

	recv_pattern(fd, 14, 0, first, 64 * KIB);
	kill_child(pid);
	recv_pattern_to_end(fd, 14, first, &err);
	if (err)
		CHECK_EQ(err, ECONNRESET);
}

static void receiver_killed(void)
{
	int listener = new_listener(1), err;
	pid_t pid = child_client(listener, false);
	int fd = CHECK_OK(accept(listener, NULL, NULL));

	fill_pipe(fd, 15);
	kill_child(pid);
	err = send_until_error(fd);
	if (err != EPIPE)
		CHECK_EQ(err, ECONNRESET);
}

/* exit() without close() is an orderly end. */
static void process_exits(void)
{
	int listener = new_listener(1), fd;
	pid_t pid = fork_child();

	if (pid == 0) {
		send_pattern(connect_to(listener), 16, 0, 50000, 5000);
		_exit(0);
	}
	fd = CHECK_OK(accept(listener, NULL, NULL));
	join_child(pid);
	recv_pattern(fd, 16, 0, 50000, 1000);
	check_eof(fd);
}

static void listening_process_killed(void)
{
	struct addr a = server_addr(dead_port());
	pid_t pid = fork_child();
	int fd, status;

	if (pid == 0) {
		int listener = new_socket(0);

		set_int(listener, SOL_SOCKET, SO_REUSEADDR, 1);
		CHECK_OK(bind(listener, &a.sa, a.len));
		CHECK_OK(listen(listener, 4));
		for (;;)
			pause();
	}
	fd = new_client(0);
	WAIT_FOR((status = connect(fd, &a.sa, a.len)) == 0);
	CHECK_EQ(status, 0);
	kill_child(pid);
	check_reset(fd);
	CHECK_ERR(connect(new_client(0), &a.sa, a.len), ECONNREFUSED);
}

static const struct sdp_case cases[] = {
	CASE(half_close, CASE_IPV6),
	CASE(end_is_outstanding, CASE_TCP),
	CASE(half_close_by_server, 0),
	CASE(half_close_at_once, 0),
	CASE(shutdown_read, 0),
	CASE(shutdown_both, 0),
	CASE(shutdown_twice, 0),
	CASE(close_delivers, CASE_IPV6),
	CASE(close_delivers_much, CASE_LONG),
	CASE(linger_waits_and_delivers, CASE_LONG),
	CASE(linger_gives_up_waiting, CASE_LONG),
	CASE(simultaneous_close, 0),
	CASE(port_free_after_close, CASE_IPV6),
	CASE(close_with_unread_data, CASE_IPV6),
	CASE(linger_zero_resets, 0),
	CASE(reset_ends_a_sender, 0),
	CASE(data_after_peer_closed, 0),
	CASE(data_after_peer_shut_both, 0),
	CASE(reset_before_accept, 0),
	CASE(close_before_accept, 0),
	CASE(listener_closed_with_pending, 0),
	CASE(sender_killed, 0),
	CASE(receiver_killed, 0),
	CASE(process_exits, 0),
	CASE(listening_process_killed, 0),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
