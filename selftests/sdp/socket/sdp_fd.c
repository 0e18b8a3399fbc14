// SPDX-License-Identifier: GPL-2.0
/*
 * Descriptors: signals of readiness and who gets them, exec(), dup2(), and
 * descriptors on their way through other sockets. All cases also run on TCP.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sdp_test.h"

/* ---- O_ASYNC ---- */

static int io_signal;

/* The signal stays pending, with its queue, until it is waited for. */
static void watch_signals(int fd)
{
	sigset_t set;

	io_signal = SIGRTMIN;
	CHECK_OK(sigemptyset(&set));
	CHECK_OK(sigaddset(&set, io_signal));
	CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
	CHECK_OK(fcntl(fd, F_SETOWN, getpid()));
	CHECK_OK(fcntl(fd, F_SETSIG, io_signal));
	CHECK_OK(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC));
}

/* Signals for this descriptor until one with this code. */
static void wait_signal(int fd, int code)
{
	struct timespec limit = { .tv_sec = wait_limit_ms() / 1000 };
	siginfo_t info;
	sigset_t set;

	CHECK_OK(sigemptyset(&set));
	CHECK_OK(sigaddset(&set, io_signal));
	do {
		CHECK_EQ(sigtimedwait(&set, &info, &limit), io_signal);
		CHECK_EQ(info.si_fd, fd);
	} while (info.si_code != code);
}

static void no_signal(void)
{
	struct timespec quiet = { .tv_nsec = quiet_ms() % 1000 * 1000000,
				  .tv_sec = quiet_ms() / 1000 };
	sigset_t set;

	CHECK_OK(sigemptyset(&set));
	CHECK_OK(sigaddset(&set, io_signal));
	CHECK_ERR(sigtimedwait(&set, NULL, &quiet), EAGAIN);
}

static void signal_on_data(void)
{
	struct pair p = new_nodelay_pair();

	watch_signals(p.server);
	no_signal();
	send_text(p.client, "a", 0);
	wait_signal(p.server, POLL_IN);
	expect_text(p.server, "a", 0);
	send_text(p.client, "b", 0);
	wait_signal(p.server, POLL_IN);
	CHECK_OK(fcntl(p.server, F_SETFL, fcntl(p.server, F_GETFL) & ~O_ASYNC));
	send_text(p.client, "c", 0);
	wait_inq(p.server, 2);
	no_signal();
}

static void signal_on_urgent_data(void)
{
	struct pair p = new_nodelay_pair();

	watch_signals(p.server);
	signal(SIGURG, SIG_IGN);
	send_text(p.client, "X", MSG_OOB);
	wait_signal(p.server, POLL_PRI);
	wait_poll(p.server, POLLPRI);
	expect_urgent(p.server, 'X', 0);
}

/* A write that found no room asks for it; poll(), which would too, is not used. */
static void signal_on_room(void)
{
	struct pair p = new_pair();
	unsigned char buf[8192];
	uint64_t sent = 0;
	ssize_t n = 0;

	watch_signals(p.client);
	do {
		sent += n;
		pattern_fill(buf, sizeof(buf), 1, sent);
		n = send(p.client, buf, sizeof(buf), MSG_DONTWAIT);
	} while (n > 0);
	CHECK_EQ(errno, EAGAIN);
	recv_pattern(p.server, 1, 0, sent, 64 * KIB);
	wait_signal(p.client, POLL_OUT);
	CHECK_EQ(send(p.client, "x", 1, MSG_DONTWAIT), 1);
}

static void signal_on_connection(void)
{
	int listener = new_listener(1), client = new_client(0);

	watch_signals(listener);
	start_connect(client, listener);
	wait_signal(listener, POLL_IN);
	finish_connect(client);
}

static void signal_when_connected(void)
{
	int listener = new_listener(1), client = new_client(0);

	watch_signals(client);
	start_connect(client, listener);
	wait_signal(client, POLL_OUT);
	finish_connect(client);
}

static void signal_on_end(void)
{
	struct pair p = new_pair();

	watch_signals(p.server);
	CHECK_OK(shutdown(p.client, SHUT_WR));
	wait_signal(p.server, POLL_IN);
	CHECK_EQ(recv(p.server, &(char){ 0 }, 1, 0), 0);
}

static void signal_on_reset(void)
{
	struct pair p = new_pair();

	watch_signals(p.server);
	set_linger(p.client, 1, 0);
	CHECK_OK(close(p.client));
	wait_signal(p.server, POLL_ERR);
	CHECK_EQ(get_int(p.server, SOL_SOCKET, SO_ERROR), ECONNRESET);
}

static void owners_read_back(void)
{
	struct f_owner_ex tid = { F_OWNER_TID, gettid() }, got = { 0 };
	int fd = new_socket(0), pid = getpid();

	CHECK_EQ(fcntl(fd, F_GETOWN), 0);
	CHECK_OK(ioctl(fd, FIOSETOWN, &pid));
	CHECK_EQ(ioctl_int(fd, FIOGETOWN), pid);
	CHECK_EQ(ioctl_int(fd, SIOCGPGRP), pid);
	CHECK_OK(fcntl(fd, F_SETOWN, -getpgrp()));
	CHECK_EQ(ioctl_int(fd, SIOCGPGRP), -getpgrp());
	CHECK_OK(fcntl(fd, F_SETOWN_EX, &tid));
	CHECK_OK(fcntl(fd, F_GETOWN_EX, &got));
	CHECK_EQ(got.type, F_OWNER_TID);
	CHECK_EQ(got.pid, tid.pid);
}

static void ioctl_switches(void)
{
	int fd = new_socket(0), on = 1, off = 0;

	CHECK_OK(ioctl(fd, FIOASYNC, &on));
	CHECK_EQ(fcntl(fd, F_GETFL) & O_ASYNC, O_ASYNC);
	CHECK_OK(ioctl(fd, FIOASYNC, &off));
	CHECK_EQ(fcntl(fd, F_GETFL) & O_ASYNC, 0);
	CHECK_OK(ioctl(fd, FIONBIO, &on));
	CHECK_EQ(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	CHECK_OK(ioctl(fd, FIOCLEX));
	CHECK_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
}

/* ---- exec() ---- */

static void __noreturn exec_cat(int in, int out)
{
	CHECK_OK(dup2(in, STDIN_FILENO));
	CHECK_OK(dup2(out, STDOUT_FILENO));
	execl("/bin/cat", "cat", NULL);
	FAIL("no /bin/cat: %s", strerrorname_np(errno));
}

struct flow {
	int fd;
	size_t len;
};

static void *flow_sender(void *arg)
{
	struct flow *f = arg;

	send_pattern(f->fd, 2, 0, f->len, 5000);
	CHECK_OK(shutdown(f->fd, SHUT_WR));
	return NULL;
}

/* A program that knows nothing of sockets at the other end, as inetd has it. */
static void program_inherits(void)
{
	struct pair p = new_pair();
	struct flow f = { p.client, scaled(512 * KIB) };
	pid_t pid = fork_child();
	pthread_t t;
	char c;

	if (pid == 0)
		exec_cat(p.server, p.server);
	CHECK_OK(close(p.server));
	thread_start(&t, flow_sender, &f);
	recv_pattern(p.client, 2, 0, f.len, 10000);
	CHECK_EQ(recv(p.client, &c, 1, 0), 0);
	thread_join(t);
	join_child(pid);
}

/* A descriptor that is closed on exec does not keep the connection open. */
static void closed_on_exec(void)
{
	struct pair p = new_pair();
	int fd[2];
	pid_t pid;
	char c;

	CHECK_OK(pipe2(fd, O_CLOEXEC));
	CHECK_OK(fcntl(p.server, F_SETFD, FD_CLOEXEC));
	pid = fork_child();
	if (pid == 0)
		exec_cat(fd[0], STDERR_FILENO);
	send_pattern(p.server, 3, 0, 1000, 1000);
	CHECK_OK(close(p.server));
	recv_pattern(p.client, 3, 0, 1000, 1000);
	CHECK_EQ(recv(p.client, &c, 1, 0), 0);
	CHECK_OK(close(fd[1]));
	join_child(pid);
}

/* ---- descriptors that change hands ---- */

/* Another file takes the descriptor: that closes the socket, in good order. */
static void replaced_by_dup2(void)
{
	struct pair p = new_pair();
	int null = CHECK_OK(open("/dev/null", O_RDWR));
	char c;

	send_pattern(p.client, 4, 0, 50000, 50000);
	CHECK_EQ(dup2(null, p.client), p.client);
	recv_pattern(p.server, 4, 0, 50000, 1000);
	CHECK_EQ(recv(p.server, &c, 1, 0), 0);
	CHECK_ERR(send(p.client, "x", 1, 0), ENOTSOCK);
}

static void send_fd(int to, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = "";
	struct iovec v = { "f", 1 };
	struct msghdr m = {
		.msg_iov = &v, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	CHECK_EQ(sendmsg(to, &m, 0), 1);
}

/* The message is never read: with it, the last owner of the socket goes. */
static void lost_with_a_message(void)
{
	struct pair p = new_pair();
	int unix_pair[2];
	char c;

	CHECK_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, unix_pair));
	send_pattern(p.server, 7, 0, 100, 100);
	send_fd(unix_pair[0], p.server);
	CHECK_OK(close(p.server));
	watch_quiet(p.client, POLLRDHUP);
	CHECK_OK(close(unix_pair[0]));
	CHECK_OK(close(unix_pair[1]));
	recv_pattern(p.client, 7, 0, 100, 100);
	CHECK_EQ(recv(p.client, &c, 1, 0), 0);
}

static const struct sdp_case cases[] = {
	CASE(signal_on_data, CASE_TCP),
	CASE(signal_on_urgent_data, CASE_TCP),
	CASE(signal_on_room, CASE_TCP),
	CASE(signal_on_connection, CASE_TCP),
	CASE(signal_when_connected, CASE_TCP),
	CASE(signal_on_end, CASE_TCP),
	CASE(signal_on_reset, CASE_TCP),
	CASE(owners_read_back, CASE_TCP),
	CASE(ioctl_switches, CASE_TCP),
	CASE(program_inherits, CASE_TCP | CASE_LONG),
	CASE(closed_on_exec, CASE_TCP),
	CASE(replaced_by_dup2, CASE_TCP),
	CASE(lost_with_a_message, CASE_TCP),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
