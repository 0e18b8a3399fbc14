// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that stand still in a call because their memory is not there
 * (userfaultfd), as many as they may have sockets. Nobody else may wait for them:
 * no other user, no timer, no device that goes away. And what they were about to
 * do is done, to the byte, when their memory comes.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/sdp.h>

#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_neigh.h"
#include "sdp_owners.h"
#include "sdp_transfer.h"

/* A work queue of the kernel runs so many items at once. */
#define WORKERS		256
/* Owners in calls that might lock a socket, and all of them. */
#define HOLDERS		300
#define OWNERS		(HOLDERS * 10 / 9 + 1)
static_assert(HOLDERS > WORKERS, "every worker might wait for one of them");
/* Within which time a device goes, see Documentation/user/failures.rst. */
#define REMOVAL_S	20

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

/* Whose option is not set yet may use the socket. */
static void use_connections(const struct owners *all)
{
	const struct owner *o;

	for (o = all->list; o < all->list + all->count; o++)
		if (o->call == CALL_OPTION)
			exchange(o->p.client, o->p.server, 8 * KIB);
}

/*
 * More programs than there are workers stand still, and keepalive timers of all
 * their sockets are due, as they were before and are again afterwards. The
 * connection manager has a work item for each of them as their peer moves, all in
 * one line with those of whoever connects. A slow kernel has fewer of both: there it
 * is the locks that are looked at.
 */
static void others_get_on(void)
{
	struct owners all = owners_open(scaled_count(OWNERS));
	uint64_t before, frozen, after;

	before = usual_time();
	owners_freeze(&all);
	move_server();
	frozen = frozen_time(2 * before);
	WAIT_FOR(!kernel_threads_in("lock_sock"));
	use_connections(&all);
	owners_thaw(&all);
	after = usual_time();
	ktap_diag("another user took %llu ms before, %llu ms meanwhile, %llu ms after",
		  (unsigned long long)before, (unsigned long long)frozen,
		  (unsigned long long)after);
	CHECK(frozen <= 2 * (before > after ? before : after));
	owners_check(&all);
	owners_close(&all);
	/* Nor was any memory forgotten that came and went meanwhile. */
	WAIT_FOR(sdp_stat("MemPages") == 0);
}

static char device[64], netdev[IFNAMSIZ];

/* Name of the RDMA device that the owners' connections use, and of its interface. */
static void find_device(void)
{
	static const char named[] =
		"rdma link show | sed -n 's|^link \\([^/]*\\)/.* netdev %s *$|\\1|p'";
	struct addr client = client_addr(0);
	char command[256];
	FILE *out;

	netdev_of(&client, netdev);
	snprintf(command, sizeof(command), named, netdev);
	out = popen(command, "r");
	CHECK(out);
	if (fscanf(out, "%63s", device) != 1)
		sdp_skip("no software device at the client's address");
	pclose(out);
}

static void add_device(void)
{
	char command[512];

	snprintf(command, sizeof(command),
		 "d=%s; rdma link add $d type ${d%%%%[0-9]*} netdev %s", device,
		 netdev);
	if (system(command))
		return ktap_diag("the device did not come back");
	/* An address is usable a moment later. */
	snprintf(command, sizeof(command),
		 "rdma link show %s/1 | grep -q 'state ACTIVE'", device);
	while (system(command))
		pause_a_bit();
	sleep(1);
}

/* Whether the device goes in time; who deletes it cannot be killed before. */
static bool device_has_gone(void)
{
	struct stopwatch watch = start_watch();
	pid_t pid = fork_child();
	int status = -1;

	if (!pid) {
		execlp("rdma", "rdma", "link", "delete", device, NULL);
		_exit(1);
	}
	while (waitpid(pid, &status, WNOHANG) != pid &&
	       watch_ms(watch) <= REMOVAL_S * 1000ULL * opts.scale)
		pause_a_bit();
	ktap_diag("the device's removal: status %d after %llu ms", status,
		  (unsigned long long)watch_ms(watch));
	return !status;
}

static void delete_device(void)
{
	struct owners all = owners_open(scaled_count(OWNERS));
	unsigned int i;
	bool gone;

	owners_freeze(&all);
	gone = device_has_gone();
	owners_thaw(&all);
	CHECK(gone);
	for (i = 0; i < all.count; i++) {
		recv_until_end(all.list[i].p.client);
		close_pair(all.list[i].p);
	}
}

/* A device goes away though owners of its connections stand still. */
static void device_goes(void)
{
	find_device();
	run_and_undo(delete_device, add_device);
}

/*
 * Memory that comes and goes again: a call goes on trying, does not disturb
 * others, and can be killed.
 */
static void *drop_pages(void *arg)
{
	while (1)
		madvise(arg, owner_len(), MADV_DONTNEED);
	return NULL;
}

static void memory_comes_and_goes(void)
{
	struct pair p = new_pair();
	size_t len = owner_len();
	pthread_t thread;
	char *buf;
	pid_t pid;

	pid = fork_child();
	if (!pid) {
		buf = mmap(NULL, len, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		thread_start(&thread, drop_pages, buf);
		while (1) {
			send(p.client, buf, len, MSG_DONTWAIT);
			recv(p.server, buf, len, MSG_DONTWAIT);
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

	o->ret = recv(o->p.client, owner_hole(o), 1, MSG_OOB);
	o->err = errno;
	return NULL;
}

static void urgent_byte(void)
{
	struct pair other = new_pair();
	struct owner o = { .p = new_pair() };
	struct owners all = owners_of(&o);

	send_text(o.p.server, "abc", 0);
	send_text(o.p.server, "!", MSG_OOB);
	wait_poll(o.p.client, POLLPRI);
	thread_start(&o.thread, recv_urgent, &o);
	wait_poll(all.uffd, POLLIN);
	/* The socket is not locked meanwhile. */
	wait_inq(o.p.client, 3);
	expect_text(o.p.client, "abc", 0);
	exchange(other.client, other.server, 100);
	owners_thaw(&all);
	CHECK_EQ(o.ret, 1);
	CHECK_EQ(*owner_hole(&o), '!');
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

	o->ret = recv(o->p.client, o->memory, owner_len(), MSG_PEEK);
	o->err = errno;
	return NULL;
}

static void second_reader(void)
{
	struct owner o = { .p = new_pair() };
	struct owners all = owners_of(&o);

	send_pattern(o.p.server, 7, 0, owner_len(), owner_len());
	wait_inq(o.p.client, owner_len());
	thread_start(&o.thread, peek_thread, &o);
	wait_poll(all.uffd, POLLIN);
	recv_pattern(o.p.client, 7, 0, 1000, 1000);
	owners_thaw(&all);
	CHECK_EQ(o.ret, owner_len() - 1000);
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
	struct owners all = owners_of(&o);
	struct blocked other;

	if (call == CALL_RECV) {
		send_pattern(o.p.server, 0, 0, owner_len(), owner_half());
		send_text(o.p.server, "!", 0);
		wait_inq(o.p.client, owner_len() + 1);
	}
	thread_start(&o.thread, owner_thread, &o);
	wait_poll(all.uffd, POLLIN);
	block_start(&other, call == CALL_RECV ? op_recv : op_send_last,
		    o.p.client);
	owners_thaw(&all);
	CHECK_EQ(o.ret, owner_len());
	CHECK_EQ(block_join(&other), 1);
	if (call == CALL_RECV) {
		pattern_verify(o.memory, owner_len(), 0, 0);
	} else {
		recv_pattern(o.p.server, 0, 0, owner_len(), 1000);
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

static void on_signal(int number)
{
	(void)number;
}

/* Who waits for its turn may give up, which is nothing to who has it. */
static void waiting_reader_is_interrupted(void)
{
	struct owner o = { .p = new_pair(), .call = CALL_RECV };
	struct sigaction action = { .sa_handler = on_signal };
	struct owners all = owners_of(&o);
	struct blocked other;

	CHECK_OK(sigaction(SIGUSR1, &action, NULL));
	send_pattern(o.p.server, 0, 0, owner_len(), owner_half());
	send_text(o.p.server, "!", 0);
	wait_inq(o.p.client, owner_len() + 1);
	thread_start(&o.thread, owner_thread, &o);
	wait_poll(all.uffd, POLLIN);
	block_start(&other, op_recv, o.p.client);
	CHECK(!pthread_kill(other.thread, SIGUSR1));
	CHECK_EQ(block_join(&other), -1);
	CHECK_EQ(other.err, EINTR);
	owners_thaw(&all);
	CHECK_EQ(o.ret, owner_len());
	pattern_verify(o.memory, owner_len(), 0, 0);
	expect_text(o.p.client, "!", 0);
	exchange(o.p.client, o.p.server, 100);
	close_pair(o.p);
}

/* The connection ends, or the direction is closed, while a call waits. */
static void connection_ends(void)
{
	struct owner o = { .p = new_pair(), .call = CALL_SEND };
	struct owners all = owners_of(&o);
	uint64_t got;
	int err;

	thread_start(&o.thread, owner_thread, &o);
	wait_poll(all.uffd, POLLIN);
	signal(SIGPIPE, SIG_IGN);
	CHECK_OK(shutdown(o.p.client, SHUT_WR));
	got = recv_pattern_to_end(o.p.server, 0, 0, &err);
	CHECK_EQ(err, 0);
	owners_thaw(&all);
	CHECK_EQ(got, o.ret == -1 ? 0 : o.ret);
	/* What was there before counts, if it was long enough for a message. */
	if (o.ret == -1)
		CHECK_EQ(o.err, EPIPE);
	else
		CHECK_EQ(o.ret, owner_half());
	close_pair(o.p);
}

static int renew(int fd)
{
	int listener = new_listener(1);
	struct addr to = local_addr(listener);
	int server;

	CHECK_OK(op_dissolve(fd));
	CHECK_OK(connect(fd, &to.sa, to.len));
	server = CHECK_OK(accept(listener, NULL, NULL));
	CHECK_OK(close(listener));
	return server;
}

/*
 * Another thread has made another connection of the socket meanwhile: the call has
 * nothing to do with that one, neither sends to it nor reads from it.
 */
static void connection_is_renewed(enum call call, const char *zcopy)
{
	struct owner o = { .p = zcopy_pair(zcopy, zcopy), .call = call };
	struct owners all = owners_of(&o);
	unsigned char *text;
	int server;

	set_int(o.p.client, IPPROTO_TCP, SDP_ZCOPY_THRESH, owner_half());
	set_int(o.p.server, IPPROTO_TCP, SDP_ZCOPY_THRESH, owner_half());
	signal(SIGPIPE, SIG_IGN);
	thread_start(&o.thread, owner_thread, &o);
	if (call == CALL_RECV) {
		text = memory(owner_len(), 0);
		pattern_fill(text, owner_len(), 5, 0);
		write_all(o.p.server, text, owner_len());
	}
	wait_poll(all.uffd, POLLIN);
	server = renew(o.p.client);
	send_pattern(server, 7, 0, owner_half(), owner_half());
	wait_inq(o.p.client, owner_half());
	owners_thaw(&all);
	/*
	 * What was copied before counts, and pages are pinned all at once; with iWARP what
	 * is announced may be read into those that are there first.
	 */
	if (strcmp(zcopy, "off") &&
	    !(call == CALL_RECV && over_iwarp() && o.ret > 0)) {
		CHECK_EQ(o.ret, -1);
		CHECK_EQ(o.err, EPIPE);
	} else {
		CHECK_EQ(o.ret, owner_half());
	}
	if (call == CALL_RECV && o.ret > 0)
		pattern_verify(o.memory, o.ret, 5, 0);
	recv_pattern(o.p.client, 7, 0, owner_half(), owner_half());
	exchange(o.p.client, server, 1000);
	CHECK_OK(close(o.p.server));
	CHECK_OK(close(server));
	CHECK_OK(close(o.p.client));
}

static void renewed_under_send(void)
{
	connection_is_renewed(CALL_SEND, "off");
}

static void renewed_under_zsync(void)
{
	skip_where_copied();
	connection_is_renewed(CALL_SEND, "sync");
}

static void renewed_under_zasync(void)
{
	skip_where_copied();
	connection_is_renewed(CALL_SEND, "async");
}

static void renewed_under_recv(void)
{
	connection_is_renewed(CALL_RECV, "off");
}

static void renewed_under_zread(void)
{
	connection_is_renewed(CALL_RECV, "async");
}

static const struct sdp_case cases[] = {
	CASE(others_get_on, CASE_SDP_ONLY | CASE_LONG),
	CASE(urgent_byte, 0),
	CASE(second_reader, CASE_SDP_ONLY),
	CASE(writes_stay_whole, CASE_SDP_ONLY),
	CASE(reads_stay_whole, CASE_SDP_ONLY),
	CASE(waiting_reader_is_interrupted, CASE_SDP_ONLY),
	CASE(connection_ends, CASE_SDP_ONLY),
	CASE(renewed_under_send, CASE_SDP_ONLY),
	CASE(renewed_under_recv, CASE_SDP_ONLY),
	CASE(renewed_under_zsync, CASE_SDP_ONLY),
	CASE(renewed_under_zasync, CASE_SDP_ONLY),
	CASE(renewed_under_zread, CASE_SDP_ONLY),
	CASE(memory_comes_and_goes, 0),
	CASE(device_goes, CASE_SDP_ONLY | CASE_LONG),
};

int main(int argc, char **argv)
{
	return zcopy_main("off", argc, argv, cases, ARRAY_SIZE(cases));
}
