// SPDX-License-Identifier: GPL-2.0
/*
 * A program stands still in a call that TCP serves (userfaultfd), with TCP's socket
 * locked, while other threads dissolve the connection and begin something new with
 * the socket. They wait for their own call, and nobody waits with them: the SDP
 * socket stays usable, and no worker of the kernel is kept.
 */
#define _GNU_SOURCE
#include <linux/userfaultfd.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "sdp_fallback.h"
#include "sdp_memory.h"

/* IP options that mean nothing, the second half of them on a page that is missing. */
#define NOTHING		8

static char *memory;
static size_t page;
static int uffd;
static struct addr next;

static char *value_of(unsigned int i)
{
	return memory + (2 * i + 1) * page - NOTHING / 2;
}

/* A pair of pages for each call; the second one is missing. */
static void make_memory(unsigned int calls)
{
	unsigned int i;

	page = sysconf(_SC_PAGESIZE);
	memory = mmap(NULL, 2 * calls * page, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED);
	without_huge_pages(memory, 2 * calls * page);
	for (i = 0; i < calls; i++)
		memory[2 * i * page] = 0;
	uffd = watch_missing(memory, 2 * calls * page);
}

static void wait_missing(unsigned int i)
{
	struct uffd_msg msg;

	wait_poll(uffd, POLLIN);
	CHECK_EQ(read(uffd, &msg, sizeof(msg)), sizeof(msg));
	CHECK_EQ(msg.event, UFFD_EVENT_PAGEFAULT);
	CHECK_EQ(msg.arg.pagefault.address & ~(page - 1),
		 (uintptr_t)memory + (2 * i + 1) * page);
}

static void thaw(unsigned int i)
{
	struct uffdio_zeropage zero = {
		.range.start = (uintptr_t)memory + (2 * i + 1) * page,
		.range.len = page,
	};

	CHECK_OK(ioctl(uffd, UFFDIO_ZEROPAGE, &zero));
}

/* ---- calls in threads ---- */

static long op_option_0(int fd)
{
	return setsockopt(fd, SOL_IP, IP_OPTIONS, value_of(0), NOTHING);
}

static long op_option_1(int fd)
{
	return setsockopt(fd, SOL_IP, IP_OPTIONS, value_of(1), NOTHING);
}

static long op_connect(int fd)
{
	return connect(fd, &next.sa, next.len);
}

static long op_listen(int fd)
{
	return listen(fd, 4);
}

static bool waits_in(const struct blocked *b, const char *function)
{
	pid_t tid = __atomic_load_n(&b->tid, __ATOMIC_ACQUIRE);
	char path[64];

	if (__atomic_load_n(&b->done, __ATOMIC_ACQUIRE))
		FAIL("the call returned %ld (%s) and did not wait in %s",
		     b->ret, b->ret < 0 ? strerrorname_np(b->err) : "no error",
		     function);
	snprintf(path, sizeof(path), "/proc/self/task/%d/stack", tid);
	return tid && file_has(path, function);
}

static void start_and_wait_in(struct blocked *b, sdp_op op, int fd,
			      const char *function)
{
	block_run(b, op, fd);
	WAIT_FOR(waits_in(b, function));
}

/* Nobody else is kept: the socket's lock is free, and no worker wants TCP's. */
static void check_others(int fd, int err)
{
	int on = 1;

	if (err)
		CHECK_ERR(setsockopt(fd, SOL_SDP, SDP_TCP_FALLBACK, &on,
				     sizeof(on)), err);
	else
		CHECK_OK(setsockopt(fd, SOL_SDP, SDP_TCP_FALLBACK, &on,
				    sizeof(on)));
	WAIT_FOR(!kernel_threads_in("lock_sock"));
}

/* ---- a connection over TCP whose socket is locked by a call ---- */

static struct pair tcp_pair(int listener)
{
	struct pair p = { .client = both_socket(0) };
	struct addr a = local_addr(listener);

	CHECK_OK(connect(p.client, &a.sa, a.len));
	p.server = CHECK_OK(accept(listener, NULL, NULL));
	CHECK_EQ(reason(p.client), REFUSED);
	exchange(p.client, p.server, 10000);
	return p;
}

/*
 * The connection is dissolved, and a call that had come before goes on only then,
 * and stands still with TCP's socket locked.
 */
static void leave_a_call_behind(int fd, struct blocked *behind)
{
	struct blocked first, dissolve;

	make_memory(2);
	block_run(&first, op_option_0, fd);
	wait_missing(0);
	start_and_wait_in(&dissolve, op_dissolve, fd, "lock_sock");
	check_others(fd, EISCONN);
	start_and_wait_in(behind, op_option_1, fd, "lock_sock");
	thaw(0);
	wait_missing(1);
	CHECK_OK(block_join(&first));
	CHECK_OK(block_join(&dissolve));
}

static void nothing(int sig)
{
	(void)sig;
}

static void interrupt(struct blocked *b)
{
	struct sigaction action = { .sa_handler = nothing };

	CHECK_OK(sigaction(SIGUSR1, &action, NULL));
	pthread_kill(b->thread, SIGUSR1);
	CHECK_ERR(block_join(b), EINTR);
}

/* ---- cases ---- */

static void connects_again(void)
{
	int listener = tcp_listener(16);
	struct pair p = tcp_pair(listener);
	struct blocked behind, again;

	leave_a_call_behind(p.client, &behind);
	next = local_addr(listener);
	start_and_wait_in(&again, op_connect, p.client,
			  "sdp_fallback_wait_left");
	check_others(p.client, 0);
	interrupt(&again);
	start_and_wait_in(&again, op_connect, p.client,
			  "sdp_fallback_wait_left");
	thaw(1);
	CHECK_OK(block_join(&behind));
	CHECK_OK(block_join(&again));
	close(p.server);
	p.server = CHECK_OK(accept(listener, NULL, NULL));
	CHECK_EQ(reason(p.client), REFUSED);
	exchange(p.client, p.server, 100000);
}

static void listens_then(void)
{
	struct pair p = tcp_pair(tcp_listener(16));
	struct blocked behind, again;
	struct addr a;
	int clients[2];
	unsigned int i;

	leave_a_call_behind(p.client, &behind);
	start_and_wait_in(&again, op_listen, p.client,
			  "sdp_fallback_wait_left");
	check_others(p.client, 0);
	thaw(1);
	CHECK_OK(block_join(&behind));
	CHECK_OK(block_join(&again));
	a = server_addr(local_port(p.client));
	clients[0] = new_client(0);
	clients[1] = tcp_socket();
	for (i = 0; i < 2; i++) {
		CHECK_OK(connect(clients[i], &a.sa, a.len));
		exchange(clients[i], CHECK_OK(accept(p.client, NULL, NULL)),
			 10000);
	}
}

/* The file is closed while a call stands still: the last one out closes it. */
static void closes(void)
{
	int listener = tcp_listener(16);
	struct pair p = tcp_pair(listener);
	struct blocked behind;
	char byte;

	leave_a_call_behind(p.client, &behind);
	CHECK_OK(close(p.client));
	check_others(p.server, ENOPROTOOPT);
	thaw(1);
	CHECK_OK(block_join(&behind));
	CHECK_EQ(recv(p.server, &byte, 1, 0), -1);
	CHECK_EQ(errno, ECONNRESET);
}

/* epoll asks below a mutex of all programs, and nobody can be interrupted in poll(). */
static void is_polled(void)
{
	struct pair p = tcp_pair(tcp_listener(16));
	struct epoll_event event = { .events = EPOLLOUT };
	int inner = CHECK_OK(epoll_create1(0)), outer = CHECK_OK(epoll_create1(0));
	struct pollfd polled = { p.client, POLLOUT };
	struct blocked first;

	CHECK_OK(epoll_ctl(outer, EPOLL_CTL_ADD, inner, &event));
	make_memory(1);
	block_run(&first, op_option_0, p.client);
	wait_missing(0);
	/* Something that TCP has yet to be told. */
	set_int(p.client, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_int(p.client, SOL_SOCKET, SO_TIMESTAMP, 1);
	CHECK_EQ(poll(&polled, 1, 0), 1);
	CHECK_EQ(polled.revents, POLLOUT);
	CHECK_OK(epoll_ctl(inner, EPOLL_CTL_ADD, p.client, &event));
	CHECK_EQ(epoll_wait(inner, &event, 1, 0), 1);
	CHECK(!__atomic_load_n(&first.done, __ATOMIC_ACQUIRE));
	thaw(0);
	CHECK_OK(block_join(&first));
	/* The call that was in the way has told it. */
	WAIT_FOR(tcp_timer(local_port(p.client)) == 2);
	exchange(p.client, p.server, 10000);
}

static const struct sdp_case cases[] = {
	CASE(connects_again, CASE_SDP_ONLY),
	CASE(listens_then, CASE_SDP_ONLY),
	CASE(closes, CASE_SDP_ONLY),
	CASE(is_polled, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return fallback_main(argc, argv, cases, ARRAY_SIZE(cases));
}
