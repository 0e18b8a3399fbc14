// SPDX-License-Identifier: GPL-2.0
/*
 * A TCP program that knows nothing of SDP, but what it got: for a run under
 * libsdp, in which SDP_EXPECT says what has to carry its connections: "sdp",
 * "tcp" for an SDP socket that uses TCP, or "plain" for a TCP socket. Each case
 * uses its descriptors in another way between socket() and the first byte.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sdp_test.h"

#define SOL_SDP			1025
#define SDP_FALLBACK_REASON	2

#define BYTES	(300 * KIB)

static const char *expected(void)
{
	const char *what = getenv("SDP_EXPECT");

	return what ? what : "plain";
}

static const char *carrier(int fd)
{
	socklen_t len = sizeof(int);
	int reason;

	if (getsockopt(fd, SOL_SDP, SDP_FALLBACK_REASON, &reason, &len)) {
		CHECK(errno == ENOPROTOOPT || errno == EOPNOTSUPP);
		return "plain";
	}
	return reason ? "tcp" : "sdp";
}

/* Content in both directions, and over what it went. */
static void check_carried(int client, int server)
{
	const char *what = expected();

	if (strcmp(carrier(client), what) || strcmp(carrier(server), what))
		FAIL("expected %s, got %s for the client and %s for the server",
		     what, carrier(client), carrier(server));
	set_nonblock(client, false);
	set_nonblock(server, false);
	exchange(client, server, BYTES);
}

static int accept_one(int listener)
{
	return CHECK_OK(accept(listener, NULL, NULL));
}

static struct addr address_of(int listener)
{
	return server_addr(local_port(listener));
}

/* ---- connecting ---- */

static void blocking(void)
{
	int listener = new_listener(4), client = new_socket(0);
	struct addr a = address_of(listener);

	CHECK_OK(connect(client, &a.sa, a.len));
	check_carried(client, accept_one(listener));
}

static void bound_client(void)
{
	int listener = new_listener(4), client = new_client(0);
	struct addr a = address_of(listener), own, seen;
	int server;

	CHECK_OK(connect(client, &a.sa, a.len));
	own = local_addr(client);
	server = accept_one(listener);
	seen = peer_addr(server);
	CHECK(same_addr(&own, &seen));
	check_carried(client, server);
}

static void unbound_listener(void)
{
	int listener = new_socket(0), client = new_socket(0);
	struct addr a;

	CHECK_OK(listen(listener, 4));
	a = address_of(listener);
	CHECK_OK(connect(client, &a.sa, a.len));
	check_carried(client, accept_one(listener));
}

static void nonblocking(void)
{
	int listener = new_listener(4);
	int client = new_socket(SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct addr a = address_of(listener);

	CHECK(fcntl(client, F_GETFL) & O_NONBLOCK);
	CHECK(fcntl(client, F_GETFD) & FD_CLOEXEC);
	if (connect(client, &a.sa, a.len)) {
		CHECK_EQ(errno, EINPROGRESS);
		wait_poll(client, POLLOUT);
	}
	CHECK_EQ(get_int(client, SOL_SOCKET, SO_ERROR), 0);
	CHECK(fcntl(client, F_GETFL) & O_NONBLOCK);
	CHECK(fcntl(client, F_GETFD) & FD_CLOEXEC);
	check_carried(client, accept_one(listener));
}

static void epoll_before_connect(void)
{
	int listener = new_listener(4), client = new_socket(SOCK_NONBLOCK);
	struct epoll_event e = { .events = EPOLLOUT | EPOLLIN | EPOLLET };
	struct addr a = address_of(listener);
	int ep = CHECK_OK(epoll_create1(0)), server;

	CHECK_OK(epoll_ctl(ep, EPOLL_CTL_ADD, client, &e));
	CHECK_EQ(epoll_wait(ep, &e, 1, 0), 1);
	if (connect(client, &a.sa, a.len))
		CHECK_EQ(errno, EINPROGRESS);
	do
		CHECK_EQ(epoll_wait(ep, &e, 1, wait_limit_ms()), 1);
	while (!(e.events & EPOLLOUT) || (e.events & EPOLLHUP));
	CHECK_EQ(get_int(client, SOL_SOCKET, SO_ERROR), 0);
	server = accept_one(listener);
	CHECK_EQ(send(server, "x", 1, 0), 1);
	CHECK_EQ(epoll_wait(ep, &e, 1, wait_limit_ms()), 1);
	CHECK(e.events & EPOLLIN);
	expect_text(client, "x", 0);
	/* The registration is the one that was made in the beginning. */
	e.events = EPOLLIN;
	CHECK_OK(epoll_ctl(ep, EPOLL_CTL_MOD, client, &e));
	CHECK_OK(epoll_ctl(ep, EPOLL_CTL_DEL, client, NULL));
	check_carried(client, server);
}

static void epoll_before_listen(void)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLET };
	int listener = new_socket(SOCK_NONBLOCK), client = new_socket(0);
	int ep = CHECK_OK(epoll_create1(0));
	struct addr a = server_addr(0);

	CHECK_OK(epoll_ctl(ep, EPOLL_CTL_ADD, listener, &e));
	CHECK_OK(bind(listener, &a.sa, a.len));
	CHECK_OK(listen(listener, 4));
	while (epoll_wait(ep, &e, 1, 0) > 0)
		;
	a = address_of(listener);
	CHECK_OK(connect(client, &a.sa, a.len));
	CHECK_EQ(epoll_wait(ep, &e, 1, wait_limit_ms()), 1);
	check_carried(client, accept_one(listener));
}

static void options_before_connect(void)
{
	int listener = new_listener(4), client = new_socket(0);
	struct addr a = address_of(listener);

	set_int(client, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_int(client, SOL_TCP, TCP_NODELAY, 1);
	set_int(client, SOL_TCP, TCP_KEEPIDLE, 77);
	set_timeout(client, SO_RCVTIMEO, 100);
	CHECK_OK(connect(client, &a.sa, a.len));
	CHECK_EQ(get_int(client, SOL_SOCKET, SO_KEEPALIVE), 1);
	CHECK_EQ(get_int(client, SOL_TCP, TCP_NODELAY), 1);
	CHECK_EQ(get_int(client, SOL_TCP, TCP_KEEPIDLE), 77);
	CHECK_ERR(recv(client, &a, 1, 0), EAGAIN);
	set_timeout(client, SO_RCVTIMEO, 0);
	check_carried(client, accept_one(listener));
}

static void accept_flags(void)
{
	int listener = new_listener(4), client = new_socket(0), server;
	struct addr a = address_of(listener);

	CHECK_OK(connect(client, &a.sa, a.len));
	server = CHECK_OK(accept4(listener, NULL, NULL,
				  SOCK_NONBLOCK | SOCK_CLOEXEC));
	CHECK(fcntl(server, F_GETFL) & O_NONBLOCK);
	CHECK(fcntl(server, F_GETFD) & FD_CLOEXEC);
	check_carried(client, server);
}

/* ---- descriptors ---- */

static void dup_before_connect(void)
{
	int listener = new_listener(4), client = new_socket(0), copy;
	struct addr a = address_of(listener);

	copy = CHECK_OK(fcntl(client, F_DUPFD_CLOEXEC, 100));
	CHECK_OK(close(client));
	CHECK_OK(connect(copy, &a.sa, a.len));
	client = CHECK_OK(dup2(copy, 50));
	CHECK_OK(close(copy));
	check_carried(client, accept_one(listener));
}

static void close_range_between(void)
{
	int listener = new_listener(4), client = new_socket(0);
	struct addr a = address_of(listener);

	CHECK_OK(dup2(listener, 60));
	CHECK_OK(dup2(client, 61));
	CHECK_OK(syscall(SYS_close_range, 3, 59, 0));
	CHECK_OK(connect(61, &a.sa, a.len));
	check_carried(61, accept_one(60));
}

static void fork_connects(void)
{
	int listener = new_listener(4), client = new_socket(0);
	struct addr a = address_of(listener);
	pid_t pid = fork_child();

	if (!pid) {
		CHECK_OK(connect(client, &a.sa, a.len));
		_exit(0);
	}
	join_child(pid);
	check_carried(client, accept_one(listener));
}

static void fork_listens(void)
{
	int listener = new_socket(0), client = new_socket(0);
	struct addr a = server_addr(0);
	pid_t pid;

	CHECK_OK(bind(listener, &a.sa, a.len));
	pid = fork_child();
	if (!pid) {
		CHECK_OK(listen(listener, 4));
		_exit(0);
	}
	join_child(pid);
	a = address_of(listener);
	CHECK_OK(connect(client, &a.sa, a.len));
	check_carried(client, accept_one(listener));
}

static char *self(void)
{
	static char path[4096];

	CHECK_OK(readlink("/proc/self/exe", path, sizeof(path) - 1));
	return path;
}

/* Another program connects the descriptor that it has inherited. */
static void exec_connects(bool by_vfork)
{
	int listener = new_listener(4), client = new_socket(0);
	char fd[16], port[16];
	char *const argv[] = {
		self(), "connect-fd", fd,
		(char *)opts.server[opts.ipv6], port, NULL
	};
	pid_t pid;

	snprintf(fd, sizeof(fd), "%d", client);
	snprintf(port, sizeof(port), "%d", local_port(listener));
	if (by_vfork) {
		pid = vfork();
		if (!pid) {
			execv(argv[0], argv);
			_exit(127);
		}
	} else {
		CHECK_EQ(posix_spawn(&pid, argv[0], NULL, NULL, argv, environ),
			 0);
	}
	join_child(pid);
	check_carried(client, accept_one(listener));
}

static void spawn_connects(void)
{
	exec_connects(false);
}

static void vfork_exec_connects(void)
{
	exec_connects(true);
}

/* A program that only knows its standard input and output. */
static void inherited_as_stdio(void)
{
	int listener = new_listener(4), client = new_socket(SOCK_CLOEXEC);
	struct addr a = address_of(listener);
	char *const argv[] = { "cat", NULL };
	posix_spawn_file_actions_t actions;
	int server;
	pid_t pid;

	CHECK_OK(connect(client, &a.sa, a.len));
	server = accept_one(listener);
	CHECK(!strcmp(carrier(client), expected()));
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, server, 0);
	posix_spawn_file_actions_adddup2(&actions, server, 1);
	/* It must not keep its own connection open. */
	CHECK_OK(fcntl(server, F_SETFD, FD_CLOEXEC));
	CHECK_EQ(posix_spawnp(&pid, "cat", &actions, NULL, argv, environ), 0);
	CHECK_OK(close(server));
	send_pattern(client, 1, 0, 20000, 5000);
	CHECK_OK(shutdown(client, SHUT_WR));
	recv_pattern(client, 1, 0, 20000, 5000);
	CHECK_EQ(recv_until_end(client), 0);
	join_child(pid);
	posix_spawn_file_actions_destroy(&actions);
}

static int pass_fd(int fd)
{
	char space[CMSG_SPACE(sizeof(int))] = "", byte = 'x';
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = space, .msg_controllen = sizeof(space),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	int ends[2], got;

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	CHECK_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	CHECK_EQ(sendmsg(ends[0], &msg, 0), 1);
	CHECK_OK(close(fd));
	CHECK_EQ(recvmsg(ends[1], &msg, 0), 1);
	memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(got));
	return got;
}

static void passed_before_connect(void)
{
	int listener = pass_fd(new_listener(4));
	int client = pass_fd(new_socket(0));
	struct addr a = address_of(listener);

	CHECK_OK(connect(client, &a.sa, a.len));
	check_carried(client, accept_one(listener));
}

/* ---- calls at the same time, calls that are forbidden ---- */

static void *connect_thread(void *arg)
{
	int listener = *(int *)arg, i;
	struct addr a = address_of(listener);

	for (i = 0; i < 5; i++) {
		int client = new_socket(0);

		CHECK_OK(connect(client, &a.sa, a.len));
		CHECK_OK(close(client));
	}
	return NULL;
}

static void threads(void)
{
	int listener = new_listener(40), client = new_socket(0), i;
	struct addr a;
	pthread_t t[4];

	for (i = 0; i < 4; i++)
		thread_start(&t[i], connect_thread, &listener);
	for (i = 0; i < 20; i++)
		CHECK_OK(close(accept_one(listener)));
	for (i = 0; i < 4; i++)
		thread_join(t[i]);
	a = address_of(listener);
	CHECK_OK(connect(client, &a.sa, a.len));
	check_carried(client, accept_one(listener));
}

/* socket() with IPPROTO_SDP gives this errno from now on. */
static void forbid_sdp(int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_SDP, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { ARRAY_SIZE(code), code };

	CHECK_OK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) {
		CHECK_EQ(errno, EINVAL);
		sdp_skip("this kernel filters no system calls");
	}
}

static void seccomp_forbids(int error)
{
	int listener, client;
	struct addr a;

	forbid_sdp(error);
	listener = new_listener(4);
	client = new_socket(0);
	CHECK(!strcmp(carrier(client), "plain"));
	a = address_of(listener);
	CHECK_OK(connect(client, &a.sa, a.len));
	exchange(client, accept_one(listener), BYTES);
}

static void seccomp_eperm(void)
{
	seccomp_forbids(EPERM);
}

static void seccomp_enosys(void)
{
	seccomp_forbids(ENOSYS);
}

static const struct sdp_case cases[] = {
	CASE(blocking, CASE_IPV6),
	CASE(bound_client, CASE_IPV6),
	CASE(unbound_listener, 0),
	CASE(nonblocking, 0),
	CASE(epoll_before_connect, 0),
	CASE(epoll_before_listen, 0),
	CASE(options_before_connect, 0),
	CASE(accept_flags, 0),
	CASE(dup_before_connect, 0),
	CASE(close_range_between, 0),
	CASE(fork_connects, 0),
	CASE(fork_listens, 0),
	CASE(spawn_connects, 0),
	CASE(vfork_exec_connects, 0),
	CASE(inherited_as_stdio, 0),
	CASE(passed_before_connect, 0),
	CASE(threads, 0),
	CASE(seccomp_eperm, 0),
	CASE(seccomp_enosys, 0),
};

/* The other program of exec_connects(). */
static int connect_fd(char **argv)
{
	struct addr a = make_addr(argv[3], atoi(argv[4]));

	if (connect(atoi(argv[2]), &a.sa, a.len)) {
		perror("connect");
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "connect-fd"))
		return connect_fd(argv);
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
