// SPDX-License-Identifier: GPL-2.0
/* Signals during blocking calls, and SIGPIPE. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "sdp_test.h"

static int handled;

static void count_signal(int sig)
{
	(void)sig;
	__atomic_add_fetch(&handled, 1, __ATOMIC_RELEASE);
}

static void install(int sig, int flags)
{
	struct sigaction sa = { .sa_handler = count_signal, .sa_flags = flags };

	CHECK_OK(sigaction(sig, &sa, NULL));
}

/* Send SIGUSR1 into the blocked call and wait until it was handled. */
static void interrupt(struct blocked *b)
{
	int before = __atomic_load_n(&handled, __ATOMIC_ACQUIRE);

	CHECK_EQ(pthread_kill(b->thread, SIGUSR1), 0);
	WAIT_FOR(__atomic_load_n(&handled, __ATOMIC_ACQUIRE) > before);
}

static void recv_interrupted(void)
{
	struct pair p = new_pair();
	struct blocked b;

	install(SIGUSR1, 0);
	block_start(&b, op_recv, p.client);
	interrupt(&b);
	CHECK_ERR(block_join(&b), EINTR);
	/* The connection has not suffered. */
	send_pattern(p.server, 1, 0, 100, 100);
	recv_pattern(p.client, 1, 0, 100, 100);
}

static void recv_restarted(void)
{
	struct pair p = new_pair();
	struct blocked b;

	install(SIGUSR1, SA_RESTART);
	block_start(&b, op_recv, p.client);
	interrupt(&b);
	WAIT_FOR(block_sleeps(&b));
	CHECK_EQ(send(p.server, "x", 1, 0), 1);
	CHECK_EQ(block_join(&b), 1);
}

/* A call with a time limit cannot be restarted: the limit would be too. */
static void recv_with_timeout_interrupted(void)
{
	struct pair p = new_pair();
	struct blocked b;

	install(SIGUSR1, SA_RESTART);
	set_timeout(p.client, SO_RCVTIMEO, wait_limit_ms());
	block_start(&b, op_recv, p.client);
	interrupt(&b);
	CHECK_ERR(block_join(&b), EINTR);
}

static unsigned char part[1000];

static long op_recv_all(int fd)
{
	return recv(fd, part, sizeof(part), MSG_WAITALL);
}

/* What came before the signal is the result. */
static void waitall_interrupted(void)
{
	struct pair p = new_pair();
	unsigned char want[300];
	struct blocked b;

	install(SIGUSR1, SA_RESTART);
	pattern_fill(want, sizeof(want), 2, 0);
	block_start(&b, op_recv_all, p.client);
	send_pattern(p.server, 2, 0, sizeof(want), sizeof(want));
	WAIT_FOR(!memcmp(part, want, sizeof(want)));
	WAIT_FOR(block_sleeps(&b));
	interrupt(&b);
	CHECK_EQ(block_join(&b), sizeof(want));
}

static void send_interrupted(void)
{
	struct pair p = new_pair();
	struct blocked b;

	fill_pipe(p.client, 3);
	install(SIGUSR1, 0);
	block_start(&b, op_send, p.client);
	interrupt(&b);
	CHECK_ERR(block_join(&b), EINTR);
}

/* Interrupted after a part: the count, and exactly these bytes arrive. */
static void send_interrupted_after_part(void)
{
	struct pair p = new_pair();
	struct blocked b;
	char buf[4096];
	ssize_t n;
	long sent;

	install(SIGUSR1, SA_RESTART);
	block_start(&b, op_send, p.client);
	WAIT_FOR(!(poll_now(p.client) & POLLOUT) && block_sleeps(&b));
	interrupt(&b);
	sent = block_join(&b);
	CHECK(sent > 0);
	CHECK_OK(shutdown(p.client, SHUT_WR));
	while ((n = CHECK_OK(recv(p.server, buf, sizeof(buf), 0))) > 0)
		sent -= n;
	CHECK_EQ(sent, 0);
}

static void accept_interrupted(void)
{
	int listener = new_listener(1);
	struct blocked b;

	install(SIGUSR1, 0);
	block_start(&b, op_accept, listener);
	interrupt(&b);
	CHECK_ERR(block_join(&b), EINTR);
	connect_to(listener);
	CHECK_OK(accept(listener, NULL, NULL));
}

static void accept_restarted(void)
{
	int listener = new_listener(1);
	struct blocked b;

	install(SIGUSR1, SA_RESTART);
	block_start(&b, op_accept, listener);
	interrupt(&b);
	WAIT_FOR(block_sleeps(&b));
	connect_to(listener);
	CHECK(block_join(&b) >= 0);
}

static void poll_interrupted(void)
{
	struct pair p = new_pair();
	struct blocked b;

	install(SIGUSR1, SA_RESTART);
	block_start(&b, op_poll, p.client);
	interrupt(&b);
	CHECK_ERR(block_join(&b), EINTR);
}

static struct addr target;

static long op_connect(int fd)
{
	return connect(fd, &target.sa, target.len);
}

/* The connection goes on in the background, as with a non-blocking socket. */
static void connect_interrupted(void)
{
	int filler, listener = full_listener(&filler);
	int client = new_client(0), server;
	struct blocked b;

	target = local_addr(listener);
	install(SIGUSR1, 0);
	block_start(&b, op_connect, client);
	interrupt(&b);
	CHECK_ERR(block_join(&b), EINTR);
	set_nonblock(client, true);
	CHECK_ERR(op_connect(client), EALREADY);
	CHECK_OK(accept(listener, NULL, NULL));
	finish_connect(client);
	server = CHECK_OK(accept(listener, NULL, NULL));
	send_pattern(client, 4, 0, 100, 100);
	recv_pattern(server, 4, 0, 100, 100);
}

/* send() waits for the connection, too: nothing of it is sent. */
static void send_interrupted_before_connection(void)
{
	int filler, listener = full_listener(&filler);
	int client = new_client(SOCK_NONBLOCK), server;
	struct blocked b;

	target = local_addr(listener);
	CHECK_ERR(op_connect(client), EINPROGRESS);
	set_nonblock(client, false);
	install(SIGUSR1, 0);
	block_start(&b, op_send, client);
	interrupt(&b);
	CHECK_ERR(block_join(&b), EINTR);
	CHECK_OK(accept(listener, NULL, NULL));
	finish_connect(client);
	server = CHECK_OK(accept(listener, NULL, NULL));
	send_pattern(client, 4, 0, 100, 100);
	recv_pattern(server, 4, 0, 100, 100);
}

static void connect_restarted(void)
{
	int filler, listener = full_listener(&filler);
	int client = new_client(0);
	struct blocked b;

	target = local_addr(listener);
	install(SIGUSR1, SA_RESTART);
	block_start(&b, op_connect, client);
	interrupt(&b);
	WAIT_FOR(block_sleeps(&b));
	CHECK_OK(accept(listener, NULL, NULL));
	CHECK_EQ(block_join(&b), 0);
}

/* ---- SIGPIPE ---- */

static void sigpipe_on_send(void)
{
	struct pair p = new_pair();

	install(SIGPIPE, 0);
	CHECK_OK(shutdown(p.client, SHUT_WR));
	CHECK_ERR(send(p.client, "x", 1, MSG_NOSIGNAL), EPIPE);
	CHECK_EQ(handled, 0);
	CHECK_ERR(send(p.client, "x", 1, 0), EPIPE);
	CHECK_EQ(handled, 1);
	CHECK_ERR(write(p.client, "x", 1), EPIPE);
	CHECK_EQ(handled, 2);
}

static void sigpipe_kills(void)
{
	struct pair p = new_pair();
	pid_t pid = fork_child();
	siginfo_t info = { 0 };

	if (pid == 0) {
		signal(SIGPIPE, SIG_DFL);
		CHECK_OK(shutdown(p.client, SHUT_WR));
		send(p.client, "x", 1, 0);
		_exit(0);
	}
	CHECK_OK(waitid(P_PID, pid, &info, WEXITED));
	CHECK_EQ(info.si_code, CLD_KILLED);
	CHECK_EQ(info.si_status, SIGPIPE);
}

/* SIGIO tells the owner that data has come. */
static void sigio_on_data(void)
{
	struct pair p = new_pair();

	install(SIGIO, SA_RESTART);
	CHECK_OK(fcntl(p.server, F_SETOWN, getpid()));
	CHECK_OK(fcntl(p.server, F_SETFL, O_ASYNC | O_NONBLOCK));
	send_pattern(p.client, 5, 0, 10, 10);
	WAIT_FOR(__atomic_load_n(&handled, __ATOMIC_ACQUIRE) > 0);
	wait_poll(p.server, POLLIN);
	recv_pattern(p.server, 5, 0, 10, 10);
}

static bool hung_up;

static void note_band(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	if (info->si_code == POLL_HUP)
		__atomic_store_n(&hung_up, true, __ATOMIC_RELEASE);
}

/* The end of what the peer sends is a hangup to who has ended, too. */
static void sigio_on_end(void)
{
	struct sigaction sa = { .sa_sigaction = note_band, .sa_flags = SA_SIGINFO };
	struct pair p = new_pair();

	CHECK_OK(sigaction(SIGRTMIN, &sa, NULL));
	CHECK_OK(fcntl(p.server, F_SETOWN, getpid()));
	CHECK_OK(fcntl(p.server, F_SETSIG, SIGRTMIN));
	CHECK_OK(shutdown(p.server, SHUT_WR));
	CHECK_EQ(recv_until_end(p.client), 0);
	CHECK_OK(fcntl(p.server, F_SETFL, O_ASYNC | O_NONBLOCK));
	CHECK_OK(shutdown(p.client, SHUT_WR));
	WAIT_FOR(__atomic_load_n(&hung_up, __ATOMIC_ACQUIRE));
}

static const struct sdp_case cases[] = {
	CASE(recv_interrupted, 0),
	CASE(recv_restarted, 0),
	CASE(recv_with_timeout_interrupted, 0),
	CASE(waitall_interrupted, 0),
	CASE(send_interrupted, 0),
	CASE(send_interrupted_after_part, CASE_LONG),
	CASE(accept_interrupted, 0),
	CASE(accept_restarted, 0),
	CASE(poll_interrupted, 0),
	CASE(connect_interrupted, CASE_LONG),
	CASE(connect_restarted, CASE_LONG),
	CASE(send_interrupted_before_connection, CASE_LONG),
	CASE(sigpipe_on_send, 0),
	CASE(sigpipe_kills, 0),
	CASE(sigio_on_data, 0),
	CASE(sigio_on_end, 0),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
