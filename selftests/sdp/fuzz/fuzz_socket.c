// SPDX-License-Identifier: GPL-2.0
/* Calls that make, connect and end sockets, and that wait for them. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/sdp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>

#include "fuzz.h"

#define FIRST_FD	200
#define WAIT_MS		20

int fuzz_slot(uint32_t number)
{
	return FIRST_FD + number % FUZZ_SLOTS;
}

void fuzz_put(int fd, uint32_t slot)
{
	if (fd < 0)
		return;
	dup2(fd, fuzz_slot(slot));
	close(fd);
}

static void be_impatient(int fd, unsigned int ms)
{
	struct timeval tv = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
}

/*
 * The doors to SDP, and what is none; from 8 on with a fallback to TCP, or, in place of what
 * is none, with nothing but TCP.
 */
int fuzz_open(uint32_t door, int type_flags)
{
	static const int doors[][2] = {
		{ AF_SDP, 0 }, { AF_SDP, IPPROTO_TCP }, { AF_INET, IPPROTO_SDP },
		{ AF_INET6, IPPROTO_SDP }, { AF_SDP, 0 }, { AF_SDP, 0 }, { AF_SDP, IPPROTO_SDP },
		{ AF_INET, 0 },
	};
	const int *wanted = doors[door % 8];
	int fd = socket(wanted[0], SOCK_STREAM | type_flags, wanted[1]);
	int how = door % 8 == 5 ? SDP_FALLBACK_ONLY : SDP_FALLBACK_ON;

	if (fd >= 0 && door % 16 >= 8)
		setsockopt(fd, SOL_SDP, SDP_TCP_FALLBACK, &how, sizeof(how));
	return fd;
}

void fuzz_set_word(int fd, int name, const char *word)
{
	setsockopt(fd, SOL_SDP, name, word, strlen(word));
}

void fuzz_want(int fd, uint32_t flow, uint32_t zcopy)
{
	int one = 1;

	fuzz_set_word(fd, SDP_FLOW_CONTROL, fuzz_word(flow % 4));
	fuzz_set_word(fd, SDP_ZCOPY, fuzz_word(4 + zcopy % 4));
	setsockopt(fd, SOL_SDP, SDP_ZEROCOPY, &one, sizeof(one));
}

static int open_listener(uint32_t door, int backlog, uint32_t flow, uint32_t zcopy)
{
	struct addr a = make_addr(opts.server[door % 8 == 3], 0);
	int fd = fuzz_open(door, 0);

	if (fd < 0)
		return -1;
	fuzz_want(fd, flow, zcopy);
	bind(fd, &a.sa, a.len);
	listen(fd, backlog);
	return fd;
}

static int connect_and_accept(int fd, int listener)
{
	struct addr a = { .len = sizeof(a.ss) };
	int peer = -1;

	be_impatient(listener, 500);
	be_impatient(fd, 500);
	getsockname(listener, &a.sa, &a.len);
	if (!connect(fd, &a.sa, a.len))
		peer = accept(listener, NULL, NULL);
	be_impatient(fd, WAIT_MS);
	if (peer >= 0)
		be_impatient(peer, WAIT_MS);
	return peer;
}

/* arg: both ends, door, engine, mode of zero copy */
void fuzz_do_pair(const uint32_t *arg)
{
	int listener = open_listener(arg[2], 1, arg[3], arg[4]);
	struct addr a = make_addr(opts.client[arg[2] % 8 == 3], 0);
	int fd = fuzz_open(arg[2], 0);

	if (fd >= 0 && listener >= 0) {
		bind(fd, &a.sa, a.len);
		fuzz_want(fd, arg[3], arg[4]);
		fuzz_put(connect_and_accept(fd, listener), arg[1]);
	}
	if (listener >= 0)
		close(listener);
	fuzz_put(fd, arg[0]);
}

/* arg: slot, door, backlog, engine, mode of zero copy */
void fuzz_do_serve(const uint32_t *arg)
{
	int fd = open_listener(arg[1], arg[2] % 16, arg[3], arg[4]);

	if (fd >= 0)
		be_impatient(fd, WAIT_MS);
	fuzz_put(fd, arg[0]);
}

void fuzz_do_socket(const uint32_t *arg)
{
	int fd = fuzz_open(arg[1], arg[2] & 1 ? SOCK_NONBLOCK : 0);

	if (fd >= 0 && !(arg[2] & 2))
		be_impatient(fd, WAIT_MS);
	fuzz_put(fd, arg[0]);
}

/* Where a socket listens, in some form; or an address with its port. */
static struct addr fuzz_address(uint32_t what, int fd)
{
	static const char *const others[] = {
		"10.0.0.1", "10.0.0.2", "fd00::1", "fd00::2", "127.0.0.1", "::1", "0.0.0.0", "::",
		"::ffff:10.0.0.2", "10.0.0.77", "224.0.0.1", "fe80::1",
	};
	struct addr a = { .len = sizeof(a.ss) };
	uint16_t port;

	getsockname(fd, &a.sa, &a.len);
	if (a.len > sizeof(a.ss))
		a.len = sizeof(a.ss);
	switch (what % 16) {
	case 0:
		return a;
	case 1:
		a.sa.sa_family = AF_UNSPEC;
		return a;
	case 2:
		a.sa.sa_family = AF_SDP;
		return a;
	case 3:
		a.len = what / 16 % 32;
		return a;
	}
	port = addr_port(&a);
	return make_addr(others[what % 16 - 4], what & 16 ? 1 : port);
}

void fuzz_do_bind(const uint32_t *arg)
{
	struct addr a = fuzz_address(arg[1], fuzz_slot(arg[2]));

	bind(fuzz_slot(arg[0]), &a.sa, a.len);
}

void fuzz_do_listen(const uint32_t *arg)
{
	listen(fuzz_slot(arg[0]), arg[1]);
}

void fuzz_do_connect(const uint32_t *arg)
{
	struct addr a = fuzz_address(arg[1], fuzz_slot(arg[2]));

	connect(fuzz_slot(arg[0]), &a.sa, a.len);
}

void fuzz_do_accept(const uint32_t *arg)
{
	struct addr a = { .len = arg[2] & 8 ? arg[2] : sizeof(a.ss) };
	int fd = accept4(fuzz_slot(arg[0]), &a.sa, &a.len,
			 (arg[2] & 1 ? SOCK_NONBLOCK : 0) | (arg[2] & 2 ? SOCK_CLOEXEC : 0));

	if (fd >= 0 && !(arg[2] & 4))
		be_impatient(fd, WAIT_MS);
	fuzz_put(fd, arg[1]);
}

void fuzz_do_shutdown(const uint32_t *arg)
{
	shutdown(fuzz_slot(arg[0]), arg[1] % 4);
}

void fuzz_do_close(const uint32_t *arg)
{
	close(fuzz_slot(arg[0]));
}

void fuzz_do_dup(const uint32_t *arg)
{
	dup2(fuzz_slot(arg[0]), fuzz_slot(arg[1]));
}

void fuzz_do_name(const uint32_t *arg)
{
	struct addr a = { .len = arg[1] & 2 ? arg[1] : sizeof(a.ss) };

	if (arg[1] & 1)
		getpeername(fuzz_slot(arg[0]), &a.sa, &a.len);
	else
		getsockname(fuzz_slot(arg[0]), &a.sa, &a.len);
}

/* arg: events, how long to wait */
void fuzz_do_poll(const uint32_t *arg)
{
	struct pollfd fds[FUZZ_SLOTS];
	int i;

	for (i = 0; i < FUZZ_SLOTS; i++)
		fds[i] = (struct pollfd){ .fd = fuzz_slot(i), .events = arg[0] };
	poll(fds, FUZZ_SLOTS, arg[1] % 16);
}

void fuzz_do_epoll(const uint32_t *arg)
{
	struct epoll_event event = { .events = arg[2] }, events[4];
	int how = arg[1] % 5;

	if (how < 3)
		epoll_ctl(fuzz_epoll(), how + 1, fuzz_slot(arg[0]), &event);
	else
		epoll_wait(fuzz_epoll(), events, 4, how == 3 ? 0 : 10);
}

void fuzz_do_ioctl(const uint32_t *arg)
{
	uint32_t value[32] = { arg[2] };

	ioctl(fuzz_slot(arg[0]), arg[1], value);
}

/* Whether calls wait, and whether a signal tells of what comes. */
void fuzz_do_block(const uint32_t *arg)
{
	int fd = fuzz_slot(arg[0]);

	fcntl(fd, F_SETFL, (arg[1] & 1 ? O_NONBLOCK : 0) | (arg[1] & 2 ? O_ASYNC : 0));
	if (arg[1] & 4)
		fcntl(fd, F_SETOWN, getpid());
	be_impatient(fd, arg[1] & 8 ? 0 : WAIT_MS);
}
