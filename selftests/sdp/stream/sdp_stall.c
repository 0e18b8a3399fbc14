// SPDX-License-Identifier: GPL-2.0
/*
 * A program holds the socket layer's lock of its socket for as long as it likes: the
 * layer reads an option's value while it does so, and the program (userfaultfd), or
 * a slow file system, lets it wait for that memory. Others must get on meanwhile.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "sdp_memory.h"
#include "sdp_neigh.h"

/* ---- a value that the kernel has to wait for ---- */

/* The second of two pages is not there until we allow it. */
struct gap {
	char *base;
	size_t page;
	int uffd;
	int fd;
	pthread_t thread;
};

static struct uffdio_range gap_range(const struct gap *g)
{
	return (struct uffdio_range){
		.start = (uintptr_t)g->base + g->page,
		.len = g->page,
	};
}

static void gap_open(struct gap *g)
{
	g->page = sysconf(_SC_PAGESIZE);
	g->base = mmap(NULL, 2 * g->page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(g->base != MAP_FAILED);
	memset(g->base, 0, g->page);
	g->uffd = watch_missing(g->base + g->page, g->page);
}

/* The first member is read before the socket is locked, the second behind. */
static void *hold_lock(void *arg)
{
	const struct gap *g = arg;
	const char *value = g->base + g->page - sizeof(int);

	CHECK_OK(setsockopt(g->fd, SOL_SOCKET, SO_LINGER, value,
			    sizeof(struct linger)));
	return NULL;
}

/* Returns when the kernel waits, with the socket locked. */
static void lock_socket(struct gap *g, int fd)
{
	gap_open(g);
	g->fd = fd;
	thread_start(&g->thread, hold_lock, g);
	wait_poll(g->uffd, POLLIN);
}

static void unlock_socket(struct gap *g)
{
	struct uffdio_zeropage zero = { .range = gap_range(g) };

	CHECK_OK(ioctl(g->uffd, UFFDIO_ZEROPAGE, &zero));
	thread_join(g->thread);
	CHECK_OK(munmap(g->base, 2 * g->page));
	CHECK_OK(close(g->uffd));
}

/* Whoever would wait for the locked socket shall have come to that meanwhile. */
static void others_get_on(unsigned int ms)
{
	uint64_t end = now_ms() + ms;
	unsigned int rounds = 0;
	struct pair p;

	while (rounds++ < 10 || now_ms() < end) {
		p = new_pair();
		exchange(p.client, p.server, 100);
		close_pair(p);
	}
}

/* ---- cases ---- */

/* A neighbour's address changes: packets still pass, and the connection stays. */
static void a_neighbour_moves(void)
{
	struct pair p = new_pair();
	unsigned int i;

	exchange(p.client, p.server, 1000);
	for (i = 0; i < 3; i++) {
		move_server();
		watch_quiet(p.client, POLLERR | POLLHUP);
		exchange(p.client, p.server, 1000);
	}
	close_pair(p);
}

/*
 * The connection manager tells all who use it of that, one after the other: sockets
 * that are connecting, and whose owners stand still, among them.
 */
static void while_a_neighbour_moves(void)
{
	int listener = new_listener(16), fd[4];
	struct gap g[ARRAY_SIZE(fd)];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fd); i++) {
		fd[i] = new_client(SOCK_NONBLOCK);
		start_connect(fd[i], listener);
		lock_socket(&g[i], fd[i]);
	}
	move_server();
	others_get_on(1500);
	for (i = 0; i < ARRAY_SIZE(fd); i++) {
		unlock_socket(&g[i]);
		CHECK_OK(close(fd[i]));
	}
	CHECK_OK(close(listener));
}

/*
 * The account of a socket is the lock's: what it is charged meanwhile is no more than a
 * connection begins with.
 */
static void while_it_would_grow(void)
{
	struct pair p = new_pair();
	struct gap g;
	int i;

	lock_socket(&g, p.server);
	for (i = 0; i < 10; i++)
		exchange(p.client, p.server, 256 * KIB);
	CHECK(mem_received(p.server) <= 2 * (FIRST_RECEIVE + RING_PIECE));
	unlock_socket(&g);
	WAIT_FOR((exchange(p.client, p.server, 256 * KIB),
		  mem_received(p.server) > 2 * (FIRST_RECEIVE + RING_PIECE)));
	close_pair(p);
}

/* The connection manager finds the way for a socket that is locked. */
static void while_it_connects(void)
{
	struct arpreq nobody = new_neighbour();
	struct addr to = { .in4 = *(struct sockaddr_in *)&nobody.arp_pa,
			   .len = sizeof(to.in4) };
	int fd = new_client(SOCK_NONBLOCK);
	struct gap g;

	to.in4.sin_port = htons(4791);
	CHECK_ERR(connect(fd, &to.sa, to.len), EINPROGRESS);
	lock_socket(&g, fd);
	set_neighbour(&nobody, true);
	others_get_on(1500);
	unlock_socket(&g);
	set_neighbour(&nobody, false);
	CHECK_OK(close(fd));
}

/* An answer, or the peer's end, comes for a socket that is locked. */
static void while_it_is_refused(void)
{
	int filler, listener = full_listener(&filler), fd = new_client(0);
	struct gap g;

	start_connect(fd, listener);
	lock_socket(&g, fd);
	others_get_on(1500);
	CHECK_OK(accept(listener, NULL, NULL));
	others_get_on(1500);
	unlock_socket(&g);
	finish_connect(fd);
}

static void while_its_peer_leaves(void)
{
	struct pair p = new_pair(), q = new_pair();
	struct gap g;

	lock_socket(&g, p.client);
	send_pattern(p.server, 1, 0, 100, 100);
	CHECK_OK(close(p.server));
	set_linger(q.server, 1, 0);
	CHECK_OK(close(q.server));
	CHECK_EQ(recv_until_end(q.client), ECONNRESET);
	others_get_on(1500);
	unlock_socket(&g);
	recv_pattern(p.client, 1, 0, 100, 100);
	CHECK_EQ(recv_until_end(p.client), 0);
}

/* A UD SEND of management class 7, attribute 0x14; see sdp_fault.sh, too. */
#define LAST_MESSAGE							\
	"ingress protocol ip u32 match u8 0x64 0xff at 28 match u8 0x07 0xff at 49 match u16 0x14 0xffff at 64 action drop"

static int tc(const char *what, const char *rest)
{
	char command[256], name[IFNAMSIZ];
	struct addr server = server_addr(0);

	netdev_of(&server, name);
	snprintf(command, sizeof(command), "tc %s dev %s %s 2>/dev/null", what,
		 name, rest);
	return system(command);
}

static void carry_all(void)
{
	if (tc("qdisc del", "clsact"))
		ktap_diag("the packet filter is still there");
}

static void lose_last_message(void)
{
	struct pair p;
	struct gap g;

	if (tc("qdisc add", "clsact") || tc("filter add", LAST_MESSAGE))
		sdp_skip("this kernel cannot drop one kind of packet");
	p = new_pair();
	lock_socket(&g, p.server);
	CHECK(!tc("filter del", "ingress"));
	others_get_on(10000);
	unlock_socket(&g);
	exchange(p.client, p.server, 1000);
}

/*
 * The last message of a handshake is late: the program has its connection, and
 * has locked it, when the connection manager hears of it. It repeats what has to
 * be answered after some 4 s.
 */
static void while_its_handshake_ends(void)
{
	run_and_undo(lose_last_message, carry_all);
}

static const struct sdp_case cases[] = {
	CASE(a_neighbour_moves, 0),
	CASE(while_a_neighbour_moves, CASE_SDP_ONLY),
	CASE(while_it_would_grow, CASE_SDP_ONLY),
	CASE(while_it_connects, 0),
	CASE(while_it_is_refused, 0),
	CASE(while_its_peer_leaves, CASE_IPV6),
	CASE(while_its_handshake_ends, CASE_SDP_ONLY | CASE_LONG),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
