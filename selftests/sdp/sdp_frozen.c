// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that stand still in a call because their memory is not there
 * (userfaultfd), as many as they may have sockets. Nobody else may wait for them:
 * no other user, no timer, no device that goes away. And what they were about to
 * do is done, to the byte, when their memory comes.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sdp_memory.h"

/* A work queue of the kernel runs so many items at once. */
#define WORKERS		256
#define OWNERS		(WORKERS + 8)
/* What a frozen call moves: a page that is there, and one that is not. */
#define PAGES		2

enum call { CALL_OPTION, CALL_SEND, CALL_RECV, CALL_CONNECT, NR_CALLS };

/* Somebody who stands still in a call. */
struct owner {
	struct pair p;
	enum call call;
	char *memory;
	pthread_t thread;
	long ret;
	int err;
};

static struct owner *owners;
static unsigned int nr_owners;
static char *memory;
static size_t page;
static int uffd;

static char *hole_of(const struct owner *o)
{
	return o->memory + page;
}

static void *call_thread(void *arg)
{
	struct owner *o = arg;
	struct addr to = peer_addr(o->p.client);
	char *value = hole_of(o) - sizeof(int);

	switch (o->call) {
	case CALL_OPTION:
		o->ret = setsockopt(o->p.client, SOL_SOCKET, SO_LINGER, value,
				    sizeof(struct linger));
		break;
	case CALL_SEND:
		o->ret = send(o->p.client, o->memory, PAGES * page, 0);
		break;
	case CALL_RECV:
		o->ret = recv(o->p.client, o->memory, PAGES * page,
			      MSG_WAITALL);
		break;
	default:
		memcpy(value, &to, sizeof(int));
		o->ret = connect(o->p.client, (void *)value, to.len);
	}
	o->err = errno;
	return NULL;
}

/* Everybody's second page is missing. */
static void make_memory(unsigned int count)
{
	unsigned int i;

	page = sysconf(_SC_PAGESIZE);
	memory = mmap(NULL, count * PAGES * page, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED);
	CHECK_OK(madvise(memory, count * PAGES * page, MADV_NOHUGEPAGE));
	for (i = 0; i < count; i++)
		pattern_fill(memory + i * PAGES * page, page, i, 0);
	uffd = watch_missing(memory, count * PAGES * page);
}

static void make_owners(unsigned int count)
{
	struct owner *o;
	unsigned int i;

	raise_file_limit(2 * count + 64);
	make_memory(count);
	owners = calloc(count, sizeof(*owners));
	for (i = 0; i < count; i++) {
		o = &owners[i];
		o->p = new_pair();
		o->call = i % NR_CALLS;
		o->memory = memory + i * PAGES * page;
		set_int(o->p.client, IPPROTO_TCP, TCP_KEEPIDLE, 1);
		set_int(o->p.client, SOL_SOCKET, SO_KEEPALIVE, 1);
		if (o->call == CALL_RECV)
			send_pattern(o->p.server, i, 0, PAGES * page, page);
	}
	nr_owners = count;
}

/* Each thread reports its missing page; then it sleeps until that comes. */
static void freeze(void)
{
	pthread_attr_t attr;
	struct uffd_msg msg;
	unsigned int i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * KIB);
	for (i = 0; i < nr_owners; i++)
		CHECK(!pthread_create(&owners[i].thread, &attr, call_thread,
				      &owners[i]));
	for (i = 0; i < nr_owners; i++) {
		wait_poll(uffd, POLLIN);
		CHECK_EQ(read(uffd, &msg, sizeof(msg)), sizeof(msg));
		CHECK_EQ(msg.event, UFFD_EVENT_PAGEFAULT);
	}
}

static void thaw(void)
{
	char *fill = malloc(page);
	struct uffdio_copy copy;
	unsigned int i;

	for (i = 0; i < nr_owners; i++) {
		pattern_fill(fill, page, i, page);
		if (owners[i].call == CALL_OPTION)
			memset(fill, 0, page);
		copy = (struct uffdio_copy){
			.dst = (uintptr_t)hole_of(&owners[i]),
			.src = (uintptr_t)fill,
			.len = page,
		};
		CHECK_OK(ioctl(uffd, UFFDIO_COPY, &copy));
	}
	for (i = 0; i < nr_owners; i++)
		thread_join(owners[i].thread);
	free(fill);
}

/* All calls have done what they are for. */
static void check_owners(void)
{
	struct linger linger;
	socklen_t len = sizeof(linger);
	struct owner *o;
	unsigned int i;

	for (i = 0; i < nr_owners; i++) {
		o = &owners[i];
		if (o->call == CALL_CONNECT) {
			CHECK_EQ(o->ret, -1);
			continue;
		}
		if (o->ret < 0)
			FAIL("call %d of socket %u: %s", o->call, i,
			     strerror(o->err));
		if (o->call == CALL_OPTION) {
			CHECK_OK(getsockopt(o->p.client, SOL_SOCKET, SO_LINGER,
					    &linger, &len));
			CHECK_EQ(linger.l_linger, 0);
			continue;
		}
		CHECK_EQ(o->ret, PAGES * page);
		if (o->call == CALL_SEND)
			recv_pattern(o->p.server, i, 0, PAGES * page, 1000);
		else
			pattern_verify(o->memory, PAGES * page, i, 0);
	}
}

static void close_owners(void)
{
	unsigned int i;

	for (i = 0; i < nr_owners; i++) {
		exchange(owners[i].p.client, owners[i].p.server, 100);
		close_pair(owners[i].p);
	}
	CHECK_OK(munmap(memory, nr_owners * PAGES * page));
	CHECK_OK(close(uffd));
	free(owners);
}

/* Another user connects, transfers and closes; returns how long that took. */
static uint64_t another_user(void)
{
	uint64_t start = now_ms();
	unsigned int i;
	struct pair p;
	int status;
	pid_t pid;

	pid = fork_child();
	if (!pid) {
		if (setresuid(65534, 65534, 65534))
			_exit(1);
		for (i = 0; i < 5; i++) {
			p = new_pair();
			exchange(p.client, p.server, 64 * KIB);
			close_pair(p);
		}
		_exit(0);
	}
	WAIT_FOR(waitpid(pid, &status, WNOHANG) == pid);
	CHECK_EQ(status, 0);
	return now_ms() - start;
}

/* ---- cases ---- */

/* The longest of a few runs: a machine under load is slow for a while. */
static uint64_t usual_time(void)
{
	uint64_t longest = 0, took;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		took = another_user();
		if (took > longest)
			longest = took;
	}
	return longest;
}

/*
 * The same with the owners frozen, once all their keepalive timers were due. The
 * shortest of a few runs: a wait for an owner would be in each.
 */
static uint64_t frozen_time(uint64_t enough)
{
	uint64_t end = now_ms() + 1500, shortest, took;
	unsigned int tries;

	do
		shortest = another_user();
	while (now_ms() < end);
	for (tries = 0; tries < 4 && shortest > enough; tries++) {
		took = another_user();
		if (took < shortest)
			shortest = took;
	}
	return shortest;
}

/*
 * More programs than there are workers stand still, and keepalive timers of all
 * their sockets are due, as they were before and are again afterwards.
 */
static void others_get_on(void)
{
	uint64_t before, frozen, after;
	unsigned int i;

	make_owners(OWNERS);
	before = usual_time();
	freeze();
	frozen = frozen_time(2 * before);
	WAIT_FOR(!kernel_threads_in("lock_sock"));
	/* Whose option is not set yet may use the socket. */
	for (i = 0; i < nr_owners; i++)
		if (owners[i].call == CALL_OPTION)
			exchange(owners[i].p.client, owners[i].p.server,
				 8 * KIB);
	thaw();
	after = usual_time();
	ktap_diag("another user took %llu ms before, %llu ms meanwhile, %llu ms after",
		  (unsigned long long)before, (unsigned long long)frozen,
		  (unsigned long long)after);
	CHECK(frozen <= 2 * (before > after ? before : after));
	check_owners();
	close_owners();
	/* Nor was any memory forgotten that came and went meanwhile. */
	WAIT_FOR(sdp_stat("MemPages") == 0);
}

static int shell(const char *format, const char *what)
{
	char command[512];

	snprintf(command, sizeof(command), format, what);
	return system(command);
}

/* Name of the RDMA device of the server's address, and of its interface. */
static void find_device(char device[64], char netdev[64])
{
	static const char netdev_at[] =
		"ip -o -4 addr show to %s | awk '{ print $2; exit }'";
	static const char named[] =
		"grep -ls \"^$n$\" /sys/class/infiniband/*/ports/1/gid_attrs/ndevs/*";
	struct addr server = server_addr(0);
	char address[64], command[512];
	FILE *out;

	inet_ntop(AF_INET, &server.in4.sin_addr, address, sizeof(address));
	snprintf(command, sizeof(command), netdev_at, address);
	out = popen(command, "r");
	CHECK(out);
	if (fscanf(out, "%63s", netdev) != 1)
		netdev[0] = 0;
	pclose(out);
	snprintf(command, sizeof(command), "n='%s'; %s | cut -d/ -f5", netdev,
		 named);
	out = popen(command, "r");
	CHECK(out);
	if (fscanf(out, "%63s", device) != 1)
		sdp_skip("no software device at the server's address");
	pclose(out);
}

static char device[64], netdev[64];

static void add_device(void)
{
	char command[512];

	snprintf(command, sizeof(command),
		 "d=%s; rdma link add $d type ${d%%%%[0-9]*} netdev %s", device,
		 netdev);
	if (system(command))
		return ktap_diag("the device did not come back");
	/* An address is usable a moment later. */
	while (shell("rdma link show %s/1 | grep -q 'state ACTIVE'", device))
		pause_a_bit();
	sleep(1);
}

static void delete_device(void)
{
	unsigned int i;

	make_owners(16);
	freeze();
	CHECK(!shell("timeout 20 rdma link delete %s", device));
	thaw();
	for (i = 0; i < nr_owners; i++) {
		recv_until_end(owners[i].p.client);
		close_pair(owners[i].p);
	}
}

/* A device goes away though owners of its connections stand still. */
static void device_goes(void)
{
	find_device(device, netdev);
	run_and_undo(delete_device, add_device);
}

/*
 * Memory that comes and goes again: a call goes on trying, does not disturb
 * others, and can be killed.
 */
static void *drop_pages(void *arg)
{
	while (1)
		madvise(arg, PAGES * page, MADV_DONTNEED);
	return NULL;
}

static void memory_comes_and_goes(void)
{
	struct pair p = new_pair();
	pthread_t thread;
	char *buf;
	pid_t pid;

	page = sysconf(_SC_PAGESIZE);
	pid = fork_child();
	if (!pid) {
		buf = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		thread_start(&thread, drop_pages, buf);
		while (1) {
			send(p.client, buf, PAGES * page, MSG_DONTWAIT);
			recv(p.server, buf, PAGES * page, MSG_DONTWAIT);
		}
	}
	usleep(500 * 1000);
	another_user();
	kill_child(pid);
	close_pair(p);
}

/* A mark, a time stamp and the error queue go to memory that is missing, too. */
static void *recv_urgent(void *arg)
{
	struct owner *o = arg;

	o->ret = recv(o->p.client, hole_of(o), 1, MSG_OOB);
	o->err = errno;
	return NULL;
}

static void urgent_byte(void)
{
	struct pair other = new_pair();
	struct owner o = { .p = new_pair() };

	make_memory(1);
	o.memory = memory;
	send_text(o.p.server, "abc", 0);
	send_text(o.p.server, "!", MSG_OOB);
	wait_poll(o.p.client, POLLPRI);
	thread_start(&o.thread, recv_urgent, &o);
	wait_poll(uffd, POLLIN);
	/* The socket is not locked meanwhile. */
	wait_inq(o.p.client, 3);
	expect_text(o.p.client, "abc", 0);
	exchange(other.client, other.server, 100);
	owners = &o;
	nr_owners = 1;
	thaw();
	CHECK_EQ(o.ret, 1);
	CHECK_EQ(*hole_of(&o), '!');
	close_pair(o.p);
	close_pair(other);
}

/*
 * Another thread reads while one waits for its memory: each byte is read once,
 * and a look ahead finds what is there then.
 */
static void *peek_thread(void *arg)
{
	struct owner *o = arg;

	o->ret = recv(o->p.client, o->memory, PAGES * page, MSG_PEEK);
	o->err = errno;
	return NULL;
}

static void second_reader(void)
{
	struct owner o = { .p = new_pair() };

	make_memory(1);
	o.memory = memory;
	send_pattern(o.p.server, 7, 0, PAGES * page, PAGES * page);
	wait_inq(o.p.client, PAGES * page);
	thread_start(&o.thread, peek_thread, &o);
	wait_poll(uffd, POLLIN);
	recv_pattern(o.p.client, 7, 0, 1000, 1000);
	owners = &o;
	nr_owners = 1;
	thaw();
	CHECK_EQ(o.ret, PAGES * page - 1000);
	pattern_verify(o.memory, o.ret, 7, 1000);
	recv_pattern(o.p.client, 7, 1000, o.ret, 1000);
	exchange(o.p.client, o.p.server, 100);
	close_pair(o.p);
}

/*
 * What a call writes, or reads, lies together, though it has to wait for its memory
 * half-way: another thread's call of the same direction comes behind it.
 */
static long op_send_last(int fd)
{
	return send(fd, "!", 1, 0);
}

static void pieces_stay_whole(enum call call)
{
	struct owner o = { .p = new_pair(), .call = call };
	struct blocked other;

	make_memory(1);
	o.memory = memory;
	if (call == CALL_RECV) {
		send_pattern(o.p.server, 0, 0, PAGES * page, page);
		send_text(o.p.server, "!", 0);
		wait_inq(o.p.client, PAGES * page + 1);
	}
	thread_start(&o.thread, call_thread, &o);
	wait_poll(uffd, POLLIN);
	block_start(&other, call == CALL_RECV ? op_recv : op_send_last,
		    o.p.client);
	owners = &o;
	nr_owners = 1;
	thaw();
	CHECK_EQ(o.ret, PAGES * page);
	CHECK_EQ(block_join(&other), 1);
	if (call == CALL_RECV) {
		pattern_verify(o.memory, PAGES * page, 0, 0);
	} else {
		recv_pattern(o.p.server, 0, 0, PAGES * page, 1000);
		expect_text(o.p.server, "!", 0);
	}
	exchange(o.p.client, o.p.server, 100);
	close_pair(o.p);
}

static void writes_stay_whole(void)
{
	pieces_stay_whole(CALL_SEND);
}

static void reads_stay_whole(void)
{
	pieces_stay_whole(CALL_RECV);
}

/* The connection ends, or the direction is closed, while a call waits. */
static void connection_ends(void)
{
	struct owner o = { .p = new_pair(), .call = CALL_SEND };
	uint64_t got;
	int err;

	make_memory(1);
	o.memory = memory;
	thread_start(&o.thread, call_thread, &o);
	wait_poll(uffd, POLLIN);
	signal(SIGPIPE, SIG_IGN);
	CHECK_OK(shutdown(o.p.client, SHUT_WR));
	got = recv_pattern_to_end(o.p.server, 0, 0, &err);
	CHECK_EQ(err, 0);
	owners = &o;
	nr_owners = 1;
	thaw();
	CHECK_EQ(got, o.ret == -1 ? 0 : o.ret);
	/* What was there before counts, if it was long enough for a message. */
	if (o.ret == -1)
		CHECK_EQ(o.err, EPIPE);
	else
		CHECK_EQ(o.ret, page);
	close_pair(o.p);
}

static const struct sdp_case cases[] = {
	CASE(others_get_on, CASE_SDP_ONLY | CASE_LONG),
	CASE(urgent_byte, 0),
	CASE(second_reader, CASE_SDP_ONLY),
	CASE(writes_stay_whole, CASE_SDP_ONLY),
	CASE(reads_stay_whole, CASE_SDP_ONLY),
	CASE(connection_ends, CASE_SDP_ONLY),
	CASE(memory_comes_and_goes, 0),
	CASE(device_goes, CASE_SDP_ONLY | CASE_LONG),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
