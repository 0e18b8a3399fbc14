// SPDX-License-Identifier: GPL-2.0
/*
 * Connections within this machine that do without the device (net.sdp.local): that they
 * do, what they carry, and that nobody gets into one who is not its end.  Needs root.
 */
#define _GNU_SOURCE
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_transfer.h"
#include "sdp_verbs.h"

#define SYSCTL_LOCAL	"/proc/sys/net/sdp/local"
#define PAGE		4096UL

static char was[16];
static void (*the_case)(void);

static void allow(const char *yes)
{
	CHECK_EQ(write_sysctl(SYSCTL_LOCAL, yes), 0);
}

static void run_the_case(void)
{
	allow("1");
	the_case();
}

static void as_before(void)
{
	write_sysctl(SYSCTL_LOCAL, was);
}

static void allowed(void (*run)(void))
{
	if (over_iwarp())
		sdp_skip("iWARP has a short cut of its own");
	read_sysctl(SYSCTL_LOCAL, was, sizeof(was));
	the_case = run;
	run_and_undo(run_the_case, as_before);
}

static bool is_joined(int fd)
{
	return info_of(fd).sdpi_features & FEAT_LOCAL;
}

static void expect_joined(struct pair p, bool joined)
{
	CHECK_EQ(is_joined(p.client), joined);
	CHECK_EQ(is_joined(p.server), joined);
}

/* ---- the bytes ---- */

/* Whether /proc/net/sdp names what carries a connection so. */
static bool is_listed(const char *word)
{
	static char text[1 << 20];

	file_read("/proc/net/sdp", text, sizeof(text));
	return strstr(text, word);
}

static void run_both_ways(void)
{
	long ends = sdp_stat("LocalEnds");
	struct pair p = new_pair();
	struct job jobs[4] = {
		{ .fd = p.client, .seed = SEED_UP, .len = 8 * MIB, .chunk = 65536 },
		{ .fd = p.server, .seed = SEED_DOWN, .len = 8 * MIB, .chunk = 5003 },
		{ .fd = p.server, .seed = SEED_UP, .len = 8 * MIB, .chunk = 100001 },
		{ .fd = p.client, .seed = SEED_DOWN, .len = 8 * MIB, .chunk = 777 },
	};

	expect_joined(p, true);
	CHECK(is_listed(" local "));
	CHECK_EQ(sdp_stat("LocalEnds") - ends, 2);
	both_ways(jobs, write_job);
	close_pair(p);
}

static void both_ways_at_once(void)
{
	allowed(run_both_ways);
}

/* Sizes around those at which a write takes another way. */
static void run_sizes(void)
{
	static const size_t sizes[] = {
		1, 15, 16, 17, PAGE - 1, PAGE, PAGE + 1, 32767, 32768, 32769, 65535, 65536,
		65537, 3 * 65536 + 1, MIB - 1, MIB, MIB + 1, 3 * MIB + 17,
	};
	long before = sdp_stat("LocalBytesOut");
	struct pair p = new_pair();

	move_sizes(p, sizes, ARRAY_SIZE(sizes));
	/* Some have found the reader's buffers free. */
	CHECK(sdp_stat("LocalBytesOut") - before >= (long)PAGE);
	close_pair(p);
}

static void sizes(void)
{
	allowed(run_sizes);
}

/* What is long does not overtake what is short, and waits. */
static void run_short_before_long(void)
{
	struct pair p = new_pair();

	move_short_before_long(p, PAGE, 2 * PAGE);
	close_pair(p);
}

static void short_before_long(void)
{
	allowed(run_short_before_long);
}

/* Requests and answers, each read at once: none takes the way that a stream takes. */
static void run_requests(void)
{
	long before = sdp_stat("LocalBytesOut");
	struct pair p = new_pair();

	move_requests(p);
	CHECK(sdp_stat("LocalBytesOut") - before >= 90 * 1001);
	CHECK_EQ(ioctl_int(p.client, SIOCOUTQ), 0);
	close_pair(p);
}

static void requests(void)
{
	allowed(run_requests);
}

/* A writer that is faster than its reader waits for room where no byte is copied twice. */
static void run_stream(void)
{
	long before = sdp_stat("LocalBytesOut");
	struct pair p = new_pair();
	struct job job = { .fd = p.client, .seed = SEED_UP, .len = 16 * MIB, .chunk = 65536 };
	uint64_t pos = 0;

	WAIT_FOR(({
		pthread_t writer;

		job.pos = pos;
		thread_start(&writer, write_job, &job);
		recv_pattern(p.server, SEED_UP, pos, job.len, 65536);
		thread_join(writer);
		pos += job.len;
		sdp_stat("LocalBytesOut") - before > (long)pos / 4;
	}));
	close_pair(p);
}

static void stream(void)
{
	allowed(run_stream);
}

/* But it does not wait for ever: who writes may be who reads. */
static void run_writer_reads(void)
{
	struct pair p = new_pair();
	uint64_t room;

	set_nonblock(p.client, true);
	room = fill_pipe(p.client, SEED_UP);
	recv_pattern(p.server, SEED_UP, 0, room, 65536);
	set_nonblock(p.client, false);
	room = room / 4 * 3;
	send_pattern(p.client, SEED_DOWN, 0, room, room);
	recv_pattern(p.server, SEED_DOWN, 0, room, 65536);
	close_pair(p);
}

static void writer_reads(void)
{
	allowed(run_writer_reads);
}

/* What is not there is waited for; where there is nothing the write ends. */
static void run_memory_not_there(void)
{
	unsigned char *buf = memory(64 * PAGE, 0);
	struct pair p = new_pair();

	pattern_fill(buf, 64 * PAGE, SEED_UP, 0);
	CHECK_OK(madvise(buf + 8 * PAGE, 8 * PAGE, MADV_DONTNEED));
	CHECK_EQ(send(p.client, buf, 32 * PAGE, 0), 32 * PAGE);
	recv_pattern(p.server, SEED_UP, 0, 8 * PAGE, PAGE);
	read_into(p.server, buf, 8 * PAGE);
	expect_bytes(buf, 8 * PAGE, 0);
	recv_pattern(p.server, SEED_UP, 16 * PAGE, 16 * PAGE, PAGE);
	close_pair(p);
}

static void memory_not_there(void)
{
	allowed(run_memory_not_there);
}

static void run_memory_that_ends(void)
{
	unsigned char *buf = memory(16 * PAGE, 0);
	struct pair p = new_pair();
	long sent;

	pattern_fill(buf, 16 * PAGE, SEED_UP, 0);
	CHECK_OK(munmap(buf + 8 * PAGE, 8 * PAGE));
	CHECK_ERR(send(p.client, buf + 8 * PAGE, PAGE, 0), EFAULT);
	sent = send(p.client, buf, 16 * PAGE, 0);
	CHECK(sent == -1 ? errno == EFAULT : sent <= (long)(8 * PAGE));
	if (sent > 0)
		recv_pattern(p.server, SEED_UP, 0, sent, PAGE);
	/* The stream goes on where it has stopped. */
	send_pattern(p.client, SEED_DOWN, 0, 3 * PAGE, 3 * PAGE);
	recv_pattern(p.server, SEED_DOWN, 0, 3 * PAGE, PAGE);
	close_pair(p);
}

static void memory_that_ends(void)
{
	allowed(run_memory_that_ends);
}

/* A peer that does not read stops the writer, and nothing is lost. */
static void run_reader_that_waits(void)
{
	struct pair p = new_pair();
	unsigned char *buf = memory(65536, 0);
	uint64_t pos = 0;
	long n;

	set_nonblock(p.client, true);
	do {
		pattern_fill(buf, 65536, SEED_UP, pos);
		n = send(p.client, buf, 65536, MSG_NOSIGNAL);
		pos += n > 0 ? n : 0;
	} while (n > 0);
	CHECK_EQ(errno, EAGAIN);
	recv_pattern(p.server, SEED_UP, 0, pos, 12345);
	wait_poll(p.client, POLLOUT);
	set_nonblock(p.client, false);
	send_pattern(p.client, SEED_UP, pos, 3, 3);
	recv_pattern(p.server, SEED_UP, pos, 3, 3);
	close_pair(p);
}

/*
 * A write that waits for its own memory while the reader makes room leaves when that is
 * there: what has kept it is over.
 */
static void run_cold_memory_and_no_room(void)
{
	struct pair p = engine_pair("nic", "nic", 65536);
	unsigned char *buf = memory(6 * PAGE, 0), *cold = memory(6 * PAGE, 0);
	uint64_t pos = 0, read = 0;
	unsigned int i;
	long n;

	for (i = 0; i < 20; i++) {
		set_nonblock(p.client, true);
		do {
			pattern_fill(buf, 5 * PAGE, SEED_UP, pos);
			n = send(p.client, buf, 5 * PAGE, MSG_NOSIGNAL);
			pos += n > 0 ? n : 0;
		} while (n == 5 * PAGE);
		set_nonblock(p.client, false);
		recv_pattern(p.server, SEED_UP, read, pos - read, 3000);
		read = pos;
		CHECK_OK(madvise(cold, 6 * PAGE, MADV_DONTNEED));
		CHECK_EQ(send(p.client, cold, 5 * PAGE, 0), 5 * PAGE);
		read_into(p.server, buf, 5 * PAGE);
		expect_bytes(buf, 5 * PAGE, 0);
	}
	close_pair(p);
}

static void cold_memory_and_no_room(void)
{
	allowed(run_cold_memory_and_no_room);
}

static void reader_that_waits(void)
{
	allowed(run_reader_that_waits);
}

static void engine(const char *name)
{
	struct pair p = engine_pair(name, name, 0);
	struct job jobs[4] = {
		{ .fd = p.client, .seed = SEED_UP, .len = 4 * MIB, .chunk = 1000 },
		{ .fd = p.server, .seed = SEED_DOWN, .len = 4 * MIB, .chunk = 70000 },
		{ .fd = p.server, .seed = SEED_UP, .len = 4 * MIB, .chunk = 1000 },
		{ .fd = p.client, .seed = SEED_DOWN, .len = 4 * MIB, .chunk = 70000 },
	};

	expect_joined(p, true);
	both_ways(jobs, write_job);
	close_pair(p);
}

static void run_each_engine(void)
{
	engine("credit");
	engine("rdma");
	engine("nic");
}

static void each_engine(void)
{
	allowed(run_each_engine);
}

/* ---- who may ---- */

static void run_forbidden(void)
{
	int listener = new_listener(1);
	struct pair p;

	allow("0");
	WAIT_FOR(!is_listed(" local "));
	p.client = connect_to(listener);
	p.server = CHECK_OK(accept(listener, NULL, NULL));
	expect_joined(p, false);
	CHECK(!is_listed(" local "));
	send_pattern(p.client, SEED_UP, 0, MIB, 65536);
	recv_pattern(p.server, SEED_UP, 0, MIB, 65536);
	close_pair(p);
	CHECK_EQ(write_sysctl(SYSCTL_LOCAL, "2"), EINVAL);
}

static void forbidden(void)
{
	allowed(run_forbidden);
}

/* A connection that somebody has asked for who does not answer. */
static int start_asking(struct verbs_end *v, struct verbs_offer *offer)
{
	struct addr to = verbs_listen(v);
	int fd = new_socket(0);

	set_nonblock(fd, true);
	CHECK_ERR(connect(fd, &to.sa, to.len), EINPROGRESS);
	*offer = verbs_asked(v);
	return fd;
}

/* Who has got a Hello says it to somebody else. */
static void run_token_of_another(void)
{
	long ends = sdp_stat("LocalEnds");
	struct verbs_end asked, thief;
	struct verbs_offer offer;
	int fd = start_asking(&asked, &offer);
	int listener = new_listener(1);
	struct addr to = local_addr(listener);
	struct rogue r;

	CHECK(offer.features & FEAT_LOCAL);
	CHECK(offer.token);
	offer.adverts = 1;
	verbs_connect_as(&thief, &to, 8, offer);
	r.fd = CHECK_OK(accept(listener, NULL, NULL));
	CHECK(!is_joined(r.fd));
	CHECK_EQ(sdp_stat("LocalEnds"), ends);
	verbs_close(&thief);
	verbs_answer(&asked, 8, FEAT_ALL);
	wait_poll(fd, POLLOUT);
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_ERROR), 0);
	CHECK(!is_joined(fd));
	close(fd);
	close(r.fd);
	verbs_close(&asked);
}

static void token_of_another(void)
{
	allowed(run_token_of_another);
}

/* Who is elsewhere says that it is here. */
static void run_answer_that_lies(void)
{
	struct verbs_end asked;
	struct verbs_offer offer;
	int fd = start_asking(&asked, &offer);
	long ends = sdp_stat("LocalEnds");

	verbs_answer(&asked, 8, FEAT_ALL | FEAT_LOCAL);
	wait_poll(fd, POLLERR);
	CHECK_EQ(get_int(fd, SOL_SOCKET, SO_ERROR), EPROTO);
	CHECK_EQ(sdp_stat("LocalEnds"), ends);
	close(fd);
	verbs_close(&asked);
}

static void answer_that_lies(void)
{
	allowed(run_answer_that_lies);
}

/* A token that this kernel has never made. */
static void run_token_of_nobody(void)
{
	struct verbs_offer offer = { FEAT_ALL | FEAT_LOCAL, 1, 0, 0x123456789abcdef0 };
	int listener = new_listener(1);
	struct addr to = local_addr(listener);
	struct verbs_end v;
	int fd;

	verbs_connect_as(&v, &to, 8, offer);
	fd = CHECK_OK(accept(listener, NULL, NULL));
	CHECK(!is_joined(fd));
	close(fd);
	verbs_close(&v);
}

static void token_of_nobody(void)
{
	allowed(run_token_of_nobody);
}

/* ---- how they end ---- */

static void run_reset(void)
{
	struct pair p = new_pair();
	struct blocked call;

	expect_joined(p, true);
	block_start(&call, op_recv, p.server);
	set_linger(p.client, 1, 0);
	close(p.client);
	CHECK_EQ(block_join(&call), -1);
	CHECK_EQ(errno, ECONNRESET);
	close(p.server);
}

static void reset(void)
{
	allowed(run_reset);
}

static void run_all_then_closed(void)
{
	struct pair p = new_pair();

	send_pattern(p.client, SEED_UP, 0, 100000, 33333);
	close(p.client);
	recv_pattern(p.server, SEED_UP, 0, 100000, 1000);
	CHECK_EQ(recv_until_end(p.server), 0);
	close(p.server);
}

static void all_then_closed(void)
{
	allowed(run_all_then_closed);
}

/* Whoever writes then has nothing left to write to. */
static void *write_until_the_end(void *arg)
{
	static unsigned char buf[65536];
	int fd = *(int *)arg;
	ssize_t n;

	do {
		n = send(fd, buf, sizeof(buf), MSG_NOSIGNAL);
	} while (n > 0);
	CHECK(errno == ECONNRESET || errno == EPIPE);
	return NULL;
}

static void run_ends_under_a_writer(void)
{
	unsigned int i;

	for (i = 0; i < 50; i++) {
		struct pair p = new_pair();
		pthread_t writer;

		expect_joined(p, true);
		thread_start(&writer, write_until_the_end, &p.client);
		read_into(p.server, memory(65536, 0), 65536);
		set_linger(p.server, 1, 0);
		close(p.server);
		thread_join(writer);
		close(p.client);
	}
}

static void ends_under_a_writer(void)
{
	allowed(run_ends_under_a_writer);
}

static const struct sdp_case cases[] = {
	CASE(both_ways_at_once, CASE_SDP_ONLY),
	CASE(sizes, CASE_SDP_ONLY),
	CASE(short_before_long, CASE_SDP_ONLY),
	CASE(requests, CASE_SDP_ONLY),
	CASE(stream, CASE_SDP_ONLY | CASE_LONG),
	CASE(writer_reads, CASE_SDP_ONLY),
	CASE(memory_not_there, CASE_SDP_ONLY),
	CASE(memory_that_ends, CASE_SDP_ONLY),
	CASE(reader_that_waits, CASE_SDP_ONLY),
	CASE(cold_memory_and_no_room, CASE_SDP_ONLY),
	CASE(each_engine, CASE_SDP_ONLY),
	CASE(forbidden, CASE_SDP_ONLY),
	CASE(token_of_another, CASE_SDP_ONLY),
	CASE(answer_that_lies, CASE_SDP_ONLY),
	CASE(token_of_nobody, CASE_SDP_ONLY),
	CASE(reset, CASE_SDP_ONLY),
	CASE(all_then_closed, CASE_SDP_ONLY),
	CASE(ends_under_a_writer, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
