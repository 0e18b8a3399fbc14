// SPDX-License-Identifier: GPL-2.0
/*
 * Urgent data: its signal, how it meets the end of a stream, and how it is told
 * of before it can come. What a case expects is what TCP does, which the same
 * case shows with TCP sockets; the exceptions are marked and say why.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "sdp_test.h"

static int signals;

static void count_signal(int sig)
{
	(void)sig;
	__atomic_add_fetch(&signals, 1, __ATOMIC_RELEASE);
}

static int seen_signals(void)
{
	return __atomic_load_n(&signals, __ATOMIC_ACQUIRE);
}

static void own_sigurg(int fd, int flags)
{
	struct sigaction sa = { .sa_handler = count_signal, .sa_flags = flags };

	CHECK_OK(sigaction(SIGURG, &sa, NULL));
	CHECK_OK(fcntl(fd, F_SETOWN, getpid()));
}

static int at_mark(int fd)
{
	return ioctl_int(fd, SIOCATMARK);
}

/* ---- signals ---- */

static void sigurg_to_the_owner(void)
{
	struct pair p = new_nodelay_pair();

	own_sigurg(p.server, SA_RESTART);
	send_text(p.client, "ab", 0);
	wait_inq(p.server, 2);
	CHECK_EQ(seen_signals(), 0);
	send_text(p.client, "X", MSG_OOB);
	WAIT_FOR(seen_signals() == 1);
	wait_poll(p.server, POLLPRI);
	expect_urgent(p.server, 'X', 0);
	expect_text(p.server, "ab", 0);
	send_text(p.client, "Y", MSG_OOB);
	WAIT_FOR(seen_signals() == 2);
	watch_quiet(p.server, POLLIN);
	CHECK_EQ(seen_signals(), 2);
}

static long op_read_two(int fd)
{
	char buf[2];

	return recv(fd, buf, 2, MSG_WAITALL);
}

static void sigurg_interrupts(void)
{
	struct pair p = new_nodelay_pair();
	struct blocked b;

	block_start(&b, op_recv, p.server);
	own_sigurg(p.server, 0);
	CHECK_OK(fcntl(p.server, F_SETOWN_EX,
		       &(struct f_owner_ex){ F_OWNER_TID, b.tid }));
	send_text(p.client, "X", MSG_OOB);
	CHECK_ERR(block_join(&b), EINTR);
	CHECK_EQ(seen_signals(), 1);
	expect_urgent(p.server, 'X', 0);
}

/* A reader in wait returns with what it has when the mark comes. */
static void mark_ends_a_waiting_read(void)
{
	struct pair p = new_nodelay_pair();
	struct blocked b;

	block_start(&b, op_read_two, p.server);
	send_text(p.client, "a", 0);
	send_text(p.client, "X", MSG_OOB);
	CHECK_EQ(block_join(&b), 1);
	expect_urgent(p.server, 'X', 0);
}

/* ---- the end of a stream ---- */

static void urgent_before_end(void)
{
	struct pair p = new_nodelay_pair();

	send_text(p.client, "aX", MSG_OOB);
	CHECK_OK(shutdown(p.client, SHUT_WR));
	wait_poll(p.server, POLLPRI | POLLRDHUP);
	expect_text(p.server, "a", 0);
	expect_urgent(p.server, 'X', 0);
	CHECK_EQ(recv(p.server, &(char){ 0 }, 1, 0), 0);
}

static void urgent_outlives_connection(void)
{
	struct pair p = new_nodelay_pair();

	send_text(p.client, "X", MSG_OOB);
	wait_poll(p.server, POLLPRI);
	CHECK_OK(close(p.client));
	CHECK_OK(shutdown(p.server, SHUT_WR));
	wait_poll(p.server, POLLHUP);
	CHECK(poll_now(p.server) & POLLPRI);
	expect_urgent(p.server, 'X', 0);
}

/* ---- without TCP: its urgent pointer works differently there ---- */

struct flow {
	int fd;
	size_t len;
};

/* A large write has one urgent byte, however many messages it takes. */
static void *large_sender(void *arg)
{
	struct flow *f = arg;
	unsigned char *buf = malloc(f->len);

	CHECK(buf);
	pattern_fill(buf, f->len, 4, 0);
	CHECK_EQ(send(f->fd, buf, f->len, MSG_OOB | MSG_NOSIGNAL), f->len);
	free(buf);
	return NULL;
}

static void last_byte_of_large_write(void)
{
	static const size_t len[] = { 32 * KIB, 64 * KIB, 128 * KIB, MIB };
	struct pair p = new_pair();
	unsigned char want;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(len); i++) {
		struct flow f = { p.client, len[i] };
		pthread_t t;

		thread_start(&t, large_sender, &f);
		recv_pattern(p.server, 4, 0, f.len - 1, 50000);
		thread_join(t);
		wait_poll(p.server, POLLPRI);
		pattern_fill(&want, 1, 4, f.len - 1);
		expect_urgent(p.server, want, 0);
		CHECK_EQ(at_mark(p.server), 1);
	}
}

/* TCP would mark the last byte that went in: not what was asked for. */
static void short_write_has_none(void)
{
	static unsigned char buf[32 * MIB];
	struct pair p = new_pair();
	ssize_t n;

	pattern_fill(buf, sizeof(buf), 5, 0);
	n = CHECK_OK(send(p.client, buf, sizeof(buf), MSG_OOB | MSG_DONTWAIT));
	CHECK(n < (ssize_t)sizeof(buf));
	own_sigurg(p.server, SA_RESTART);
	recv_pattern(p.server, 5, 0, n, 64 * KIB);
	CHECK_EQ(seen_signals(), 0);
	send_text(p.client, "X", MSG_OOB);
	WAIT_FOR(seen_signals() == 1);
	wait_poll(p.server, POLLPRI);
	expect_urgent(p.server, 'X', 0);
}

static bool stalls(int fd)
{
	uint64_t end = now_ms() + quiet_ms();

	while (ioctl_int(fd, SIOCOUTQNSD)) {
		if (now_ms() > end)
			return true;
		pause_a_bit();
	}
	return false;
}

/* The server has room for as little as there may be. */
static struct pair small_nodelay_pair(void)
{
	struct pair p = new_limited_pair(1);

	set_int(p.client, SOL_TCP, TCP_NODELAY, 1);
	return p;
}

/* Bytes of a small message. */
#define PART	256

/*
 * Small messages until some wait because the peer has no buffer for them, and
 * does not find any more of them in a while.  Returns how many bytes these are.
 */
static size_t send_until_stalled(int fd)
{
	char part[PART];
	uint64_t end = now_ms() + wait_limit_ms();
	size_t n = 0;

	memset(part, 'a', PART);
	while (!stalls(fd)) {
		CHECK_EQ(send(fd, part, PART, MSG_NOSIGNAL), PART);
		n += PART;
		CHECK(now_ms() < end);
	}
	return n;
}

/*
 * The word of it overtakes what waits for credits, but not where it is: with
 * TCP the mark would be known as well, and the byte had to wait, too.
 */
static void announced_ahead(void)
{
	struct pair p = small_nodelay_pair();
	size_t n = send_until_stalled(p.client);
	char c;

	own_sigurg(p.server, SA_RESTART);
	send_text(p.client, "X", MSG_OOB);
	WAIT_FOR(seen_signals() == 1);
	CHECK_ERR(recv(p.server, &c, 1, MSG_OOB), EAGAIN);
	CHECK_EQ(poll_now(p.server) & POLLPRI, 0);
	CHECK_EQ(at_mark(p.server), 0);
	while (n--) {
		CHECK_EQ(recv(p.server, &c, 1, 0), 1);
		CHECK_EQ(c, 'a');
	}
	wait_poll(p.server, POLLPRI);
	CHECK_EQ(at_mark(p.server), 1);
	expect_urgent(p.server, 'X', 0);
	CHECK_EQ(seen_signals(), 1);
}

static bool not_connected(int fd)
{
	char c;

	return recv(fd, &c, 1, MSG_OOB) < 0 && errno == ENOTCONN;
}

/* What was announced and will never come. */
static void announced_and_reset(void)
{
	struct pair p = small_nodelay_pair();
	char c;

	send_until_stalled(p.client);
	own_sigurg(p.server, SA_RESTART);
	send_text(p.client, "X", MSG_OOB);
	WAIT_FOR(seen_signals() == 1);
	CHECK_OK(shutdown(p.server, SHUT_RD));
	CHECK_EQ(recv(p.server, &c, 1, MSG_OOB), 0);
	set_linger(p.client, 1, 0);
	CHECK_OK(close(p.client));
	WAIT_FOR(not_connected(p.server));
}

static const struct sdp_case cases[] = {
	CASE(sigurg_to_the_owner, CASE_TCP),
	CASE(sigurg_interrupts, CASE_TCP),
	CASE(mark_ends_a_waiting_read, CASE_TCP),
	CASE(urgent_before_end, CASE_TCP),
	CASE(urgent_outlives_connection, CASE_TCP),
	CASE(last_byte_of_large_write, CASE_SDP_ONLY),
	CASE(short_write_has_none, CASE_SDP_ONLY),
	CASE(announced_ahead, CASE_SDP_ONLY),
	CASE(announced_and_reset, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
