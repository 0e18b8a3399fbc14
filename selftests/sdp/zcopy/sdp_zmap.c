// SPDX-License-Identifier: GPL-2.0
/*
 * Reading by mapping (TCP_ZEROCOPY_RECEIVE): the pages that have arrived appear in a
 * mapping of the socket, stay as they are, and are the program's alone.
 */
#define _GNU_SOURCE
#include <linux/tcp.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_transfer.h"
#include "sdp_words.h"

#ifndef SOL_TCP
#define SOL_TCP		IPPROTO_TCP	/* in a header at odds with <linux/tcp.h> */
#endif

#define PAGE		4096UL
#define ROOM		(512 * KIB)

/* What a program maps of a socket: nothing yet. */
static unsigned char *room_of(int fd, size_t len)
{
	unsigned char *room = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);

	CHECK(room != MAP_FAILED);
	return room;
}

static struct tcp_zerocopy_receive wish(const void *room, size_t len)
{
	return (struct tcp_zerocopy_receive){ .address = (uintptr_t)room, .length = len };
}

/* As getsockopt(). */
static int map(int fd, struct tcp_zerocopy_receive *zc)
{
	socklen_t len = sizeof(*zc);

	return getsockopt(fd, SOL_TCP, TCP_ZEROCOPY_RECEIVE, zc, &len);
}

/* Reads what is not to be mapped. */
static size_t read_some(int fd, size_t len, uint64_t pos)
{
	unsigned char *buf = malloc(len);
	ssize_t n = CHECK_OK(recv(fd, buf, len, 0));

	pattern_verify(buf, n, SEED_UP, pos);
	free(buf);
	return n;
}

/* Maps what there is; once there is something to be read instead, reads that. */
static size_t map_or_read(int fd, unsigned char *room, size_t most, uint64_t pos,
			  size_t *mapped)
{
	struct tcp_zerocopy_receive zc = wish(room, most);

	CHECK_OK(map(fd, &zc));
	CHECK(zc.length <= most && zc.length % PAGE == 0);
	pattern_verify(room, zc.length, SEED_UP, pos);
	*mapped += zc.length;
	if (zc.length || !zc.recv_skip_hint)
		return zc.length;
	return read_some(fd, zc.recv_skip_hint, pos);
}

/* What a program does that never sleeps in a read; returns how much was mapped. */
static size_t receive(int fd, unsigned char *room, size_t most, uint64_t pos, size_t len)
{
	size_t mapped = 0, n;

	for (; len; pos += n, len -= n) {
		wait_poll(fd, POLLIN);
		n = map_or_read(fd, room, most, pos, &mapped);
	}
	return mapped;
}

static struct pattern_task sender(int fd, uint64_t pos, size_t len)
{
	return (struct pattern_task){ .fd = fd, .seed = SEED_UP, .pos = pos, .len = len };
}

/* Once the buffers are large; then whole messages are whole pages. */
static struct pair large_pair(void)
{
	struct pair p = opts.tcp ? new_pair() : pair_wanting("credit");
	struct pattern_task t = sender(p.client, 0, ROOM);

	pattern_task_start(&t);
	recv_pattern(p.server, SEED_UP, 0, ROOM, ROOM);
	pattern_task_end(&t);
	return p;
}

/* What TCP has in pages depends on the device; ours always are. */
static void expect_mapped(const struct tcp_zerocopy_receive *zc)
{
	CHECK(zc->length || opts.tcp);
	if (!zc->length)
		sdp_skip("nothing is mapped of such messages");
}

/* Sends that much from there on, and has at least a page mapped of it. */
static size_t map_some(struct pair p, unsigned char *room, uint64_t pos)
{
	struct tcp_zerocopy_receive zc;

	send_pattern(p.client, SEED_UP, pos, 64 * KIB, 64 * KIB);
	wait_inq(p.server, 64 * KIB);
	zc = wish(room, ROOM);
	CHECK_OK(map(p.server, &zc));
	expect_mapped(&zc);
	pattern_verify(room, zc.length, SEED_UP, pos);
	return zc.length;
}

/* The rest of what map_some() has sent. */
static void read_rest(struct pair p, uint64_t pos, size_t mapped)
{
	recv_pattern(p.server, SEED_UP, pos + mapped, 64 * KIB - mapped, 64 * KIB);
}

/* ---- content ---- */

static void all_that_is_sent(void)
{
	size_t len = scaled(16 * MIB), mapped;
	struct pair p = large_pair();
	struct pattern_task t = sender(p.client, ROOM, len);
	unsigned char *room = room_of(p.server, ROOM);
	long before = opts.tcp ? 0 : sdp_stat("MappedBytesIn");

	set_nonblock(p.server, true);
	pattern_task_start(&t);
	mapped = receive(p.server, room, ROOM, ROOM, len);
	pattern_task_end(&t);
	if (!opts.tcp) {
		CHECK(mapped >= len / 2);
		CHECK_EQ(sdp_stat("MappedBytesIn") - before, (long)mapped);
		CHECK_EQ(info_of(p.server).sdpi_zcopy_received, mapped);
	}
	munmap(room, ROOM);
	close_pair(p);
}

/* Neither whole pages nor whole messages: each end of one is read by a copy. */
static void lengths_of_all_kinds(void)
{
	unsigned int rounds = scaled_count(200), i;
	struct pair p = large_pair();
	unsigned char *room = room_of(p.server, ROOM);
	uint64_t pos = ROOM;
	uint32_t seed = 7;
	size_t len, most;

	set_nonblock(p.server, true);
	for (i = 0; i < rounds; i++, pos += len) {
		len = 1 + random_next(&seed) % (96 * KIB);
		most = PAGE * (1 + random_next(&seed) % 32);
		send_pattern(p.client, SEED_UP, pos, len, len);
		receive(p.server, room, most, pos, len);
	}
	munmap(room, ROOM);
	close_pair(p);
}

/* A ring's pages are the connection's: all that is in it is read. */
static void rings_are_read(const char *engine)
{
	struct flow_pair f = flow_open(engine, ROOM);
	unsigned char *room = room_of(f.p.server, ROOM);
	struct tcp_zerocopy_receive zc;

	send_pattern(f.p.client, FLOW_UP, f.up, 3 * PAGE, 3 * PAGE);
	wait_inq(f.p.server, 3 * PAGE);
	zc = wish(room, ROOM);
	CHECK_OK(map(f.p.server, &zc));
	CHECK_EQ(zc.length, 0);
	CHECK_EQ(zc.recv_skip_hint, 3 * PAGE);
	CHECK_EQ(zc.inq, 3 * PAGE);
	recv_pattern(f.p.server, FLOW_UP, f.up, 3 * PAGE, 3 * PAGE);
	munmap(room, ROOM);
	close_pair(f.p);
}

static void rings_are_read_rdma(void)
{
	rings_are_read("rdma");
}

static void rings_are_read_nic(void)
{
	rings_are_read("nic");
}

/* What is short, or is left at the end, is copied to where the program wants it. */
static void short_ones_are_copied(void)
{
	struct pair p = large_pair();
	unsigned char *room = room_of(p.server, ROOM), buf[PAGE] = { 0 };
	struct tcp_zerocopy_receive zc = wish(room, ROOM);

	send_pattern(p.client, SEED_UP, ROOM, 1000, 1000);
	wait_inq(p.server, 1000);
	zc.copybuf_address = (uintptr_t)buf;
	zc.copybuf_len = 999;
	CHECK_OK(map(p.server, &zc));
	CHECK_EQ(zc.length, 0);
	CHECK_EQ(zc.copybuf_len, 0);
	CHECK_EQ(zc.recv_skip_hint, 1000);
	zc = wish(room, ROOM);
	zc.copybuf_address = (uintptr_t)buf;
	zc.copybuf_len = sizeof(buf);
	CHECK_OK(map(p.server, &zc));
	CHECK_EQ(zc.length, 0);
	CHECK_EQ(zc.copybuf_len, 1000);
	CHECK_EQ(zc.recv_skip_hint, 0);
	CHECK_EQ(zc.inq, 0);
	pattern_verify(buf, 1000, SEED_UP, ROOM);
	close_pair(p);
}

static void ends_are_copied(void)
{
	struct pair p = large_pair();
	unsigned char *room = room_of(p.server, ROOM), buf[PAGE];
	struct tcp_zerocopy_receive zc = wish(room, ROOM);

	send_pattern(p.client, SEED_UP, ROOM, 2 * PAGE + 100, 2 * PAGE + 100);
	wait_inq(p.server, 2 * PAGE + 100);
	zc.copybuf_address = (uintptr_t)buf;
	zc.copybuf_len = sizeof(buf);
	CHECK_OK(map(p.server, &zc));
	expect_mapped(&zc);
	CHECK_EQ(zc.length, 2 * PAGE);
	CHECK_EQ(zc.copybuf_len, 100);
	CHECK_EQ(zc.inq, 0);
	pattern_verify(room, 2 * PAGE, SEED_UP, ROOM);
	pattern_verify(buf, 100, SEED_UP, ROOM + 2 * PAGE);
	close_pair(p);
}

/* Where the copy cannot go, nothing is lost. */
static void copies_to_nowhere(void)
{
	struct pair p = large_pair();
	unsigned char *room = room_of(p.server, ROOM);
	struct tcp_zerocopy_receive zc = wish(room, ROOM);

	send_pattern(p.client, SEED_UP, ROOM, 1000, 1000);
	wait_inq(p.server, 1000);
	zc.copybuf_address = PAGE;
	zc.copybuf_len = PAGE;
	CHECK_ERR(map(p.server, &zc), EFAULT);
	recv_pattern(p.server, SEED_UP, ROOM, 1000, 1000);
	close_pair(p);
}

/*
 * Neither what is before an urgent byte is lost, nor what is behind it.  TCP tells a
 * program that has one to come again, for ever.
 */
static void urgent_data(void)
{
	struct pair p = large_pair();
	unsigned char *room = room_of(p.server, ROOM);

	send_pattern(p.client, SEED_UP, ROOM, 2 * PAGE, 2 * PAGE);
	CHECK_EQ(send(p.client, "!", 1, MSG_OOB), 1);
	send_pattern(p.client, SEED_UP, ROOM + 2 * PAGE, 2 * PAGE, 2 * PAGE);
	wait_poll(p.server, POLLPRI);
	receive(p.server, room, ROOM, ROOM, 2 * PAGE);
	expect_urgent(p.server, '!', 0);
	receive(p.server, room, ROOM, ROOM + 2 * PAGE, 2 * PAGE);
	munmap(room, ROOM);
	close_pair(p);
}

/* The program does not sleep in a read, nor in poll(): what is offered comes by copy. */
static void offers_are_refused(void)
{
	struct pattern_task t;
	unsigned char *room;
	size_t mapped = 0;
	uint64_t pos = 0;
	struct pair p;

	skip_where_copied();
	p = zcopy_pair("sync", "sync");
	room = room_of(p.server, ROOM);
	t = sender(p.client, 0, ROOM);
	pattern_task_start(&t);
	while (pos < ROOM)
		pos += map_or_read(p.server, room, ROOM, pos, &mapped);
	pattern_task_end(&t);
	CHECK_EQ(info_of(p.client).sdpi_zcopy_sent, 0);
	CHECK_EQ(info_of(p.client).sdpi_zcopy_cancels, 0);
	CHECK(info_of(p.server).sdpi_zcopy_refusals > 0);
	munmap(room, ROOM);
	close_pair(p);
}

/* ---- what is mapped stays ---- */

/* Others come into the same buffers, and the connection ends. */
static void stays_as_it_is(void)
{
	struct pair p = large_pair();
	unsigned char *room = room_of(p.server, ROOM);
	size_t mapped = map_some(p, room, ROOM), len = scaled(8 * MIB);
	struct pattern_task t = sender(p.client, ROOM + 64 * KIB, len);

	read_rest(p, ROOM, mapped);
	pattern_task_start(&t);
	recv_pattern(p.server, SEED_UP, ROOM + 64 * KIB, len, 100 * KIB);
	pattern_task_end(&t);
	pattern_verify(room, mapped, SEED_UP, ROOM);
	close_pair(p);
	pattern_verify(room, mapped, SEED_UP, ROOM);
	munmap(room, ROOM);
}

/* A mapping of its own for each message: all are there at the end. */
static void many_mappings(void)
{
	enum { COUNT = 16 };
	struct pair p = large_pair();
	unsigned char *rooms[COUNT];
	size_t mapped[COUNT];
	uint64_t pos = ROOM;
	int i;

	for (i = 0; i < COUNT; i++, pos += 64 * KIB) {
		rooms[i] = room_of(p.server, ROOM);
		mapped[i] = map_some(p, rooms[i], pos);
		read_rest(p, pos, mapped[i]);
	}
	for (i = 0, pos = ROOM; i < COUNT; i++, pos += 64 * KIB) {
		pattern_verify(rooms[i], mapped[i], SEED_UP, pos);
		munmap(rooms[i], ROOM);
	}
	close_pair(p);
}

/* What was there goes when something else comes; a child keeps what it has. */
static void child_keeps_what_it_has(void)
{
	struct pair p = large_pair();
	unsigned char *room = room_of(p.server, ROOM);
	size_t mapped = map_some(p, room, ROOM);
	int go[2];
	pid_t pid;
	char c;

	read_rest(p, ROOM, mapped);
	CHECK_OK(pipe(go));
	pid = fork_child();
	if (!pid) {
		CHECK_EQ(read(go[0], &c, 1), 1);
		pattern_verify(room, mapped, SEED_UP, ROOM);
		_exit(0);
	}
	map_some(p, room, ROOM + 64 * KIB);
	CHECK_EQ(write(go[1], "", 1), 1);
	join_child(pid);
	close_pair(p);
}

/* The program sends on what it has mapped, in any way. */
static void sent_on(struct pair out, int flags)
{
	struct pair in = large_pair();
	unsigned char *room = room_of(in.server, ROOM);
	size_t mapped = map_some(in, room, ROOM), done;
	uint64_t pos = ROOM;
	int round;

	for (round = 0; round < 4; round++) {
		for (done = 0; done < mapped;)
			done += CHECK_OK(send(out.client, room + done, mapped - done, flags));
		read_rest(in, pos, mapped);
		pos += 64 * KIB;
		/* What was there before is still on its way. */
		done = map_some(in, room, pos);
		recv_pattern(out.server, SEED_UP, pos - 64 * KIB, mapped, mapped);
		mapped = done;
	}
	close_pair(in);
}

static void sent_on_with_copies(void)
{
	sent_on(new_pair(), 0);
}

static void sent_on_async(void)
{
	struct pair out = zcopy_pair("async", "async");
	long before = sdp_stat("GuardRefusals");

	set_int(out.client, SOL_TCP, SDP_ZCOPY_THRESH, PAGE);
	sent_on(out, 0);
	/* Such memory is nobody's to protect, and is copied. */
	CHECK(sdp_stat("GuardRefusals") > before);
}

static void sent_on_pinned(void)
{
	struct pair out = zcopy_pair("sync", "sync");

	skip_where_copied();
	want_words(out.client);
	set_int(out.client, SOL_TCP, SDP_ZCOPY_THRESH, PAGE);
	sent_on(out, MSG_ZEROCOPY);
	CHECK(info_of(out.client).sdpi_async_sent > 0);
}

/* ---- threads ---- */

struct remover {
	unsigned char *room;
	pthread_t thread;
	bool stop;
};

/* Takes the pages away from under the other thread's call. */
static void *remove_pages(void *arg)
{
	struct remover *r = arg;

	while (!__atomic_load_n(&r->stop, __ATOMIC_RELAXED)) {
		CHECK_OK(madvise(r->room, ROOM, MADV_DONTNEED));
		CHECK_OK(mprotect(r->room + ROOM / 2, ROOM / 2, PROT_NONE));
		CHECK_OK(mprotect(r->room + ROOM / 2, ROOM / 2, PROT_READ));
	}
	return NULL;
}

/* What is mapped is read, and all else comes when it is read; the pages are gone. */
static void removed_meanwhile(void)
{
	size_t len = scaled(4 * MIB), done = 0;
	struct pair p = large_pair();
	struct pattern_task t = sender(p.client, ROOM, len);
	struct remover r = { .room = room_of(p.server, ROOM) };
	struct tcp_zerocopy_receive zc;

	set_nonblock(p.server, true);
	thread_start(&r.thread, remove_pages, &r);
	pattern_task_start(&t);
	while (done < len) {
		wait_poll(p.server, POLLIN);
		zc = wish(r.room, ROOM);
		CHECK_OK(map(p.server, &zc));
		done += zc.length;
		if (zc.recv_skip_hint)
			done += read_some(p.server, zc.recv_skip_hint, ROOM + done);
	}
	CHECK_EQ(done, len);
	__atomic_store_n(&r.stop, true, __ATOMIC_RELAXED);
	thread_join(r.thread);
	pattern_task_end(&t);
	close_pair(p);
}

/* ---- errors ---- */

static void not_to_be_written_to(void)
{
	struct pair p = new_pair();
	unsigned char *room = room_of(p.server, ROOM);

	CHECK_EQ((long)mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED, p.server, 0), -1);
	CHECK_EQ(errno, EPERM);
	CHECK_EQ((long)mmap(NULL, ROOM, PROT_READ | PROT_EXEC, MAP_SHARED, p.server, 0), -1);
	CHECK_EQ(errno, EPERM);
	CHECK_ERR(mprotect(room, ROOM, PROT_READ | PROT_WRITE), EACCES);
	CHECK_ERR(mprotect(room, ROOM, PROT_READ | PROT_EXEC), EACCES);
	munmap(room, ROOM);
	close_pair(p);
}

/* The option with a longer structure, of some day, with this byte behind what is known. */
static int map_longer(int fd, const struct tcp_zerocopy_receive *zc, char byte)
{
	struct {
		struct tcp_zerocopy_receive known;
		char more[8];
	} longer = { .known = *zc, .more[7] = byte };
	socklen_t len = sizeof(longer);
	int ret = getsockopt(fd, SOL_TCP, TCP_ZEROCOPY_RECEIVE, &longer, &len);

	if (!ret)
		CHECK_EQ(len, sizeof(*zc));
	return ret;
}

static void wrong_wishes(void)
{
	struct pair p = large_pair();
	unsigned char *room = room_of(p.server, ROOM), *other = memory(ROOM, 0);
	socklen_t len = offsetof(struct tcp_zerocopy_receive, recv_skip_hint) - 1;
	struct tcp_zerocopy_receive zc = wish(room + 1, ROOM);

	send_pattern(p.client, SEED_UP, ROOM, 64 * KIB, 64 * KIB);
	wait_inq(p.server, 64 * KIB);
	CHECK_ERR(map(p.server, &zc), EINVAL);
	zc = wish(other, ROOM);
	CHECK_ERR(map(p.server, &zc), EINVAL);
	zc = wish(NULL, ROOM);
	CHECK_ERR(map(p.server, &zc), EINVAL);
	zc = wish(room, ROOM);
	zc.reserved = 1;
	CHECK_ERR(map(p.server, &zc), EINVAL);
	zc = wish(room, ROOM);
	zc.msg_flags = 1;
	CHECK_ERR(map(p.server, &zc), EINVAL);
	zc = wish(room, ROOM);
	CHECK_ERR(map_longer(p.server, &zc, 1), EINVAL);
	CHECK_ERR(getsockopt(p.server, SOL_TCP, TCP_ZEROCOPY_RECEIVE, &zc, &len), EINVAL);
	CHECK_ERR(setsockopt(p.server, SOL_TCP, TCP_ZEROCOPY_RECEIVE, &zc, sizeof(zc)),
		  ENOPROTOOPT);
	zc.length = 0;
	CHECK_OK(map_longer(p.server, &zc, 0));
	zc = wish(room, ROOM);
	CHECK_OK(munmap(room, ROOM));
	CHECK_ERR(map(p.server, &zc), EINVAL);
	/* Nothing was lost with any of these. */
	recv_pattern(p.server, SEED_UP, ROOM, 64 * KIB, 64 * KIB);
	close_pair(p);
}

static void where_nothing_comes(void)
{
	int listener = new_listener(1), fd = new_socket(0);
	struct tcp_zerocopy_receive zc = wish(NULL, ROOM);

	CHECK_ERR(map(listener, &zc), ENOTCONN);
	CHECK_OK(map(fd, &zc));
	CHECK_EQ(zc.length + zc.recv_skip_hint, 0);
}

/* Reads end with 0, and this with an error. */
static void at_the_end(void)
{
	struct pair p = large_pair();
	unsigned char *room = room_of(p.server, ROOM), buf[PAGE];
	struct tcp_zerocopy_receive zc = wish(room, ROOM);

	CHECK_OK(map(p.server, &zc));
	CHECK_EQ(zc.length + zc.recv_skip_hint, 0);
	send_pattern(p.client, SEED_UP, ROOM, 100, 100);
	CHECK_OK(close(p.client));
	wait_poll(p.server, POLLRDHUP);
	zc = wish(room, ROOM);
	zc.copybuf_address = (uintptr_t)buf;
	zc.copybuf_len = sizeof(buf);
	CHECK_OK(map(p.server, &zc));
	CHECK_EQ(zc.copybuf_len, 100);
	pattern_verify(buf, 100, SEED_UP, ROOM);
	/* As TCP_INQ: there is something, the end. */
	CHECK_EQ(zc.inq, 1);
	zc = wish(room, ROOM);
	CHECK_ERR(map(p.server, &zc), EIO);
}

/* As TCP: it is told with the rest, and gone then. */
static void after_a_reset(void)
{
	struct pair p = large_pair();
	unsigned char *room = room_of(p.server, ROOM);
	struct tcp_zerocopy_receive zc = wish(room, ROOM);

	set_linger(p.client, 1, 0);
	CHECK_OK(close(p.client));
	wait_poll(p.server, POLLHUP);
	CHECK_OK(map(p.server, &zc));
	CHECK_EQ(zc.err, -ECONNRESET);
	CHECK_EQ(zc.length + zc.recv_skip_hint, 0);
	CHECK_EQ(get_int(p.server, SOL_SOCKET, SO_ERROR), 0);
}

static const struct sdp_case cases[] = {
	CASE(all_that_is_sent, 0),
	CASE(lengths_of_all_kinds, 0),
	CASE(rings_are_read_rdma, CASE_SDP_ONLY),
	CASE(rings_are_read_nic, CASE_SDP_ONLY),
	CASE(short_ones_are_copied, CASE_TCP),
	CASE(ends_are_copied, 0),
	CASE(copies_to_nowhere, CASE_TCP),
	CASE(urgent_data, CASE_SDP_ONLY),
	CASE(offers_are_refused, CASE_SDP_ONLY),
	CASE(stays_as_it_is, 0),
	CASE(many_mappings, 0),
	CASE(child_keeps_what_it_has, 0),
	CASE(sent_on_with_copies, 0),
	CASE(sent_on_async, CASE_SDP_ONLY),
	CASE(sent_on_pinned, CASE_SDP_ONLY),
	CASE(removed_meanwhile, 0),
	CASE(not_to_be_written_to, CASE_TCP),
	CASE(wrong_wishes, CASE_TCP),
	CASE(where_nothing_comes, CASE_TCP),
	CASE(at_the_end, CASE_TCP),
	CASE(after_a_reset, CASE_TCP),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
