// SPDX-License-Identifier: GPL-2.0
/*
 * Each call against each other one: two threads make them of the same listener and the same
 * two ends of a connection, which both replace all the time.  None hangs, whatever it
 * returns; what arrives was written; and in the end a connection works.  That nothing
 * splats or leaks is for those who watch.
 */
#define _GNU_SOURCE
#include <linux/sdp.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sdp_engine.h"

/*
 * Descriptors that are always open: who closes what one of them stands for puts something
 * else there.
 */
enum slot {
	LISTENER = 200,
	CLIENT,
	SERVER,
	NOTHING,
};

#define LEN	(96 * KIB)
#define BYTE	0x5a
/* As long, or so often. */
#define MS	150
#define TIMES	400
#define WAIT_MS	20

static unsigned char out[LEN];
static struct addr at;

/* A thread's own. */
struct racer {
	pthread_t thread;
	void (*call)(struct racer *r);
	uint32_t state;
	struct racer *other;
	unsigned char in[LEN];
};

static uint32_t any(struct racer *r, uint32_t below)
{
	return random_next(&r->state) % below;
}

static int end(struct racer *r)
{
	return any(r, 2) ? CLIENT : SERVER;
}

static void put(int fd, enum slot slot)
{
	if (fd < 0)
		return;
	CHECK_OK(dup2(fd, slot));
	close(fd);
}

static void be_impatient(int fd)
{
	struct timeval tv = { .tv_usec = WAIT_MS * 1000 };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
}

static void choose(struct racer *r, int fd)
{
	static const char *const flows[] = { "auto", "credit", "rdma", "nic" };
	static const char *const modes[] = { "off", "sync", "async" };

	if (opts.tcp)
		return;
	set_flow(fd, flows[any(r, ARRAY_SIZE(flows))]);
	set_zcopy(fd, modes[any(r, ARRAY_SIZE(modes))]);
}

static void call_connect(struct racer *r)
{
	int fd = new_socket(0);

	choose(r, fd);
	be_impatient(fd);
	set_nonblock(fd, any(r, 2));
	if (connect(fd, &at.sa, at.len))
		CHECK(errno == EINPROGRESS || errno == ECONNREFUSED || errno == ECONNRESET ||
		      errno == ETIMEDOUT || errno == EINTR);
	set_nonblock(fd, false);
	put(fd, CLIENT);
}

static void call_connect_again(struct racer *r)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	set_nonblock(CLIENT, true);
	if (any(r, 2))
		connect(CLIENT, &at.sa, at.len);
	else
		connect(CLIENT, &none, sizeof(none));
	set_nonblock(CLIENT, false);
}

static void call_accept(struct racer *r)
{
	int fd = accept4(LISTENER, NULL, NULL, 0);

	(void)r;
	if (fd >= 0)
		be_impatient(fd);
	put(fd, SERVER);
}

/* The port is another one then. */
static void call_listen(struct racer *r)
{
	int fd = new_listener(4);

	choose(r, fd);
	be_impatient(fd);
	put(fd, LISTENER);
}

static void call_unlisten(struct racer *r)
{
	if (any(r, 2))
		shutdown(LISTENER, SHUT_RD);
	else
		CHECK_OK(dup2(NOTHING, LISTENER));
}

static void call_close(struct racer *r)
{
	CHECK_OK(dup2(NOTHING, end(r)));
}

static void call_shutdown(struct racer *r)
{
	shutdown(end(r), any(r, 3));
}

static void call_reset(struct racer *r)
{
	struct linger now = { .l_onoff = 1 };
	int fd = end(r);

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	CHECK_OK(dup2(NOTHING, fd));
}

static void call_send(struct racer *r)
{
	static const int flags[] = { 0, MSG_DONTWAIT, MSG_MORE, MSG_OOB, MSG_ZEROCOPY };

	send(end(r), out, 1 + any(r, LEN), MSG_NOSIGNAL | flags[any(r, ARRAY_SIZE(flags))]);
}

static void call_recv(struct racer *r)
{
	static const int flags[] = { 0, MSG_DONTWAIT, MSG_PEEK, MSG_WAITALL, MSG_OOB };
	ssize_t n = recv(end(r), r->in, 1 + any(r, LEN), flags[any(r, ARRAY_SIZE(flags))]);

	if (n > 0)
		expect_bytes(r->in, n, BYTE);
}

static void call_poll(struct racer *r)
{
	struct pollfd fds[] = {
		{ LISTENER, POLLIN, 0 }, { CLIENT, POLLIN | POLLOUT | POLLRDHUP, 0 },
		{ SERVER, POLLIN | POLLOUT | POLLRDHUP, 0 },
	};

	poll(fds, ARRAY_SIZE(fds), any(r, 2));
}

static void call_ask(struct racer *r)
{
	struct addr a = { .len = sizeof(a.ss) };
	struct sdp_info info;
	socklen_t len = sizeof(info);
	int fd = end(r), n;

	getsockopt(fd, SOL_SDP, SDP_INFO, &info, &len);
	getpeername(fd, &a.sa, &a.len);
	ioctl(fd, any(r, 2) ? SIOCINQ : SIOCOUTQ, &n);
}

static void call_set(struct racer *r)
{
	static const int names[][2] = {
		{ SOL_SOCKET, SO_RCVBUF }, { SOL_SOCKET, SO_SNDBUF }, { SOL_SOCKET, SO_KEEPALIVE },
		{ SOL_SOCKET, SO_OOBINLINE }, { SOL_SOCKET, SO_ZEROCOPY },
		{ IPPROTO_TCP, TCP_NODELAY }, { IPPROTO_TCP, TCP_CORK },
		{ SOL_SOCKET, SO_RCVLOWAT },
	};
	uint32_t i = any(r, ARRAY_SIZE(names));
	int value = any(r, 2) ? 1 : 100000 * any(r, 3);

	setsockopt(end(r), names[i][0], names[i][1], &value, sizeof(value));
}

static void call_dup(struct racer *r)
{
	close(CHECK_OK(dup(end(r))));
}

/* The child has them as well, and they end with it if nobody else has them. */
static void call_fork(struct racer *r)
{
	pid_t pid = CHECK_OK(fork());

	if (!pid) {
		call_recv(r);
		_exit(0);
	}
	while (waitpid(pid, NULL, 0) < 0)
		CHECK_EQ(errno, EINTR);
}

static void call_signal(struct racer *r)
{
	pthread_kill(r->other->thread, SIGUSR1);
	usleep(any(r, 1000));
}

static void (*const calls[])(struct racer *r) = {
	call_connect, call_connect_again, call_accept, call_listen, call_unlisten, call_close,
	call_shutdown, call_reset, call_send, call_recv, call_poll, call_ask, call_set,
	call_dup, call_fork, call_signal,
};

static pthread_barrier_t barrier;

static void *race(void *arg)
{
	struct racer *r = arg;
	uint64_t until;
	unsigned int i;

	/* Both threads are known. */
	pthread_barrier_wait(&barrier);
	until = now_ms() + MS;
	for (i = 0; i < TIMES && now_ms() < until; i++)
		r->call(r);
	pthread_barrier_wait(&barrier);
	return NULL;
}

/* Something to begin with; most calls change it. */
static void set_the_scene(void)
{
	int listener = new_listener(4);

	at = local_addr(listener);
	put(listener, LISTENER);
	put(connect_to(LISTENER), CLIENT);
	put(CHECK_OK(accept(LISTENER, NULL, NULL)), SERVER);
	be_impatient(LISTENER);
	be_impatient(CLIENT);
	be_impatient(SERVER);
}

static void race_two(size_t a, size_t b)
{
	static struct racer racers[2];

	set_the_scene();
	racers[0] = (struct racer){ .call = calls[a], .state = opts.seed + a, .other = &racers[1] };
	racers[1] = (struct racer){ .call = calls[b], .state = opts.seed + 99 * b + 1,
				    .other = &racers[0] };
	pthread_barrier_init(&barrier, NULL, 2);
	thread_start(&racers[0].thread, race, &racers[0]);
	thread_start(&racers[1].thread, race, &racers[1]);
	thread_join(racers[0].thread);
	thread_join(racers[1].thread);
	pthread_barrier_destroy(&barrier);
}

static void woken(int sig)
{
	(void)sig;
}

/* Calls that a signal interrupts are not begun again. */
static void begin(void)
{
	struct sigaction act = { .sa_handler = woken };

	CHECK_OK(sigaction(SIGUSR1, &act, NULL));
	memset(out, BYTE, LEN);
	put(new_socket(0), NOTHING);
}

static void finish(void)
{
	int i;

	for (i = LISTENER; i < NOTHING; i++)
		CHECK_OK(dup2(NOTHING, i));
	close_pair(new_pair());
}

/* One half of the pairs each, so that none takes too long. */
static void race_all(size_t part)
{
	size_t a, b;

	begin();
	for (a = 0; a < ARRAY_SIZE(calls); a++)
		for (b = a; b < ARRAY_SIZE(calls); b++)
			if ((a + b) % 2 == part)
				race_two(a, b);
	finish();
}

static void some(void)
{
	race_all(0);
}

static void others(void)
{
	race_all(1);
}

static const struct sdp_case cases[] = {
	CASE(some, CASE_TCP | CASE_LONG),
	CASE(others, CASE_TCP | CASE_LONG),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
