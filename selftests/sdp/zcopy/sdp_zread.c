// SPDX-License-Identifier: GPL-2.0
/*
 * Reads that return before their bytes are there (SDP_ZCOPY_RECV "async"): whoever looks
 * at the memory finds what the peer has sent, whatever became of that memory meanwhile.
 * Needs root, for a wire that takes its time.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_transfer.h"
#include "sdp_wire.h"

#define SYSCTL_RECV	"/proc/sys/net/sdp/zcopy_recv"
#define PAGE		4096UL
#define LEN		(2 * THRESH)
/* Bytes around what is read that are not the read's. */
#define OFFSET		100
#define AROUND		PAGE
#define MARK		0xa5
#define ROUNDS		10

static void expect_recv(int fd, const char *want)
{
	char name[16] = "";
	socklen_t len = sizeof(name);

	CHECK_OK(getsockopt(fd, SOL_SDP, SDP_ZCOPY_RECV, name, &len));
	if (strcmp(name, want))
		FAIL("expected %s, got %s", want, name);
}

/* ---- a connection whose server reads so ---- */

static struct pair p;
/* How far the stream has come. */
static uint64_t pos;
/* What the peer writes, in a thread: it waits until that is read. */
static struct job job;
static pthread_t writer;

static void wire_as_before(void)
{
	wire_is("");
}

static void connect_ends(void)
{
	p = new_pair();
	CHECK_OK(set_zcopy_recv(p.server, "async"));
}

static void (*the_case)(void);

static void run_the_case(void)
{
	wire_is("delay 10ms");
	connect_ends();
	the_case();
}

/* What is read is on its way for a while. */
static void slowly(void (*run)(void))
{
	skip_without_early_reads();
	if (over_iwarp())
		sdp_skip("what is offered within one machine is copied at once");
	wire_find();
	the_case = run;
	run_and_undo(run_the_case, wire_as_before);
}

/* The case of run_...() of this name. */
#define SLOWLY(name)							\
static void name(void)							\
{									\
	slowly(run_##name);						\
}

static unsigned char *marked(size_t len)
{
	unsigned char *buf = memory(OFFSET + len + AROUND, 0);

	memset(buf, MARK, OFFSET + len + AROUND);
	return buf + OFFSET;
}

/* What is before and behind memory that marked() gave. */
static void expect_around(const unsigned char *buf, size_t len)
{
	expect_bytes(buf - OFFSET, OFFSET, MARK);
	expect_bytes(buf + len, AROUND, MARK);
}

/* A peer that aborts may do so before the writer has heard that all was read. */
static void *write_or_be_reset(void *arg)
{
	const struct job *j = arg;
	size_t done = 0;
	ssize_t n;

	while (done < j->len) {
		n = send(j->fd, j->buf + done, j->len - done, MSG_NOSIGNAL);
		if (n < 0) {
			CHECK(errno == ECONNRESET || errno == EPIPE);
			break;
		}
		done += n;
	}
	return NULL;
}

static void start_write(size_t len)
{
	unsigned char *from = memory(len, OFFSET);

	pattern_fill(from, len, SEED_UP, pos);
	job = (struct job){ .fd = p.client, .len = len, .buf = from };
	thread_start(&writer, write_or_be_reset, &job);
}

static void end_write(void)
{
	thread_join(writer);
	pos += job.len;
	munmap((unsigned char *)job.buf - OFFSET, job.len + OFFSET);
}

/*
 * One read of what the peer offers; returns whether it has returned before the bytes were
 * there, as they may have been copied by chance. Then they are from pos on.
 */
static bool read_early(unsigned char *to, size_t len)
{
	long before = sdp_stat("AsyncBytesIn");
	ssize_t got;

	start_write(len);
	wait_poll(p.server, POLLIN);
	got = CHECK_OK(recv(p.server, to, len, 0));
	if (sdp_stat("AsyncBytesIn") - before == (long)len) {
		CHECK_EQ(got, len);
		return true;
	}
	read_into(p.server, to + got, len - got);
	end_write();
	return false;
}

static void expect_read(const unsigned char *buf)
{
	pattern_verify(buf, LEN, SEED_UP, pos);
	end_write();
}

/* ---- what is asked for ---- */

static char was[16];

static void run_option(void)
{
	int fd = new_socket(0);

	expect_recv(fd, "sync");
	CHECK_ERR(set_zcopy_recv(fd, "off"), EINVAL);
	CHECK_ERR(set_zcopy_recv(fd, ""), EINVAL);
	CHECK_ERR(set_zcopy_recv(fd, "asynchronous"), EINVAL);
	CHECK_OK(set_zcopy_recv(fd, "sync"));
	if (!reads_can_return_early()) {
		CHECK_EQ(write_sysctl(SYSCTL_RECV, "async"), EOPNOTSUPP);
		expect_recv(fd, "sync");
		return;
	}
	CHECK_OK(set_zcopy_recv(fd, "async"));
	expect_recv(fd, "async");
	CHECK_EQ(write_sysctl(SYSCTL_RECV, "off"), EINVAL);
	CHECK_EQ(write_sysctl(SYSCTL_RECV, "async"), 0);
	expect_recv(new_socket(0), "async");
	CHECK_EQ(write_sysctl(SYSCTL_RECV, "sync"), 0);
	expect_recv(new_socket(0), "sync");
	expect_recv(fd, "async");
}

static void restore_recv(void)
{
	write_sysctl(SYSCTL_RECV, was);
}

static void option(void)
{
	read_sysctl(SYSCTL_RECV, was, sizeof(was));
	run_and_undo(run_option, restore_recv);
}

static void handed_on_by_a_listener(void)
{
	int listener = new_listener(1);
	int client, server;

	skip_without_early_reads();
	CHECK_OK(set_zcopy_recv(listener, "async"));
	client = connect_to(listener);
	server = CHECK_OK(accept(listener, NULL, NULL));
	expect_recv(server, "async");
	expect_recv(client, "sync");
}

/* ---- the bytes ---- */

/* Until somebody has waited: the read has returned before the bytes were there. */
static void run_who_looks_waits(void)
{
	long waits = sdp_stat("AsyncReadWaits");
	unsigned char *buf = marked(LEN);

	WAIT_FOR(({
		if (read_early(buf, LEN))
			expect_read(buf);
		expect_around(buf, LEN);
		sdp_stat("AsyncReadWaits") > waits;
	}));
	close_pair(p);
}

SLOWLY(who_looks_waits)

static void run_several_on_their_way(void)
{
	unsigned char *bufs[4];
	long before = sdp_stat("AsyncBytesIn");
	size_t i, round;

	for (i = 0; i < ARRAY_SIZE(bufs); i++)
		bufs[i] = marked(LEN);
	for (round = 0; round < ROUNDS || sdp_stat("AsyncBytesIn") == before; round++) {
		start_write(4 * LEN);
		wait_poll(p.server, POLLIN);
		for (i = 0; i < ARRAY_SIZE(bufs); i++)
			read_into(p.server, bufs[i], LEN);
		for (i = 0; i < ARRAY_SIZE(bufs); i++) {
			pattern_verify(bufs[i], LEN, SEED_UP, pos + i * LEN);
			expect_around(bufs[i], LEN);
		}
		end_write();
	}
	close_pair(p);
}

SLOWLY(several_on_their_way)

/* The second read waits for the first, whose bytes it overwrites. */
static void run_twice_to_the_same_memory(void)
{
	unsigned char *buf = marked(LEN);
	long before = sdp_stat("AsyncBytesIn");
	size_t round;

	for (round = 0; round < ROUNDS || sdp_stat("AsyncBytesIn") == before; round++) {
		start_write(2 * LEN);
		wait_poll(p.server, POLLIN);
		read_into(p.server, buf, LEN);
		read_into(p.server, buf, LEN);
		pattern_verify(buf, LEN, SEED_UP, pos + LEN);
		expect_around(buf, LEN);
		end_write();
	}
	close_pair(p);
}

SLOWLY(twice_to_the_same_memory)

static void read_size(size_t len)
{
	unsigned char *buf = marked(len);

	start_write(len);
	wait_poll(p.server, POLLIN);
	read_into(p.server, buf, len);
	pattern_verify(buf, len, SEED_UP, pos);
	expect_around(buf, len);
	end_write();
}

static void run_sizes(void)
{
	static const size_t sizes[] = {
		THRESH, THRESH + 1, THRESH + 4095, 100000, 4 * THRESH, 4 * THRESH + 1, MIB + 17,
	};
	long before = sdp_stat("AsyncBytesIn");
	size_t i;

	WAIT_FOR(({
		for (i = 0; i < ARRAY_SIZE(sizes); i++)
			read_size(sizes[i]);
		sdp_stat("AsyncBytesIn") > before;
	}));
	close_pair(p);
}

SLOWLY(sizes)

/*
 * A writer whose peer reads early knows how long that takes on this machine, and does not
 * lose patience with what takes longer.
 */
static void learn_pace(void)
{
	unsigned char *buf = marked(LEN);

	WAIT_FOR(read_early(buf, LEN));
	expect_read(buf);
	munmap(buf - OFFSET, OFFSET + LEN + AROUND);
}

static void read_all_at_once(void)
{
	size_t len = scaled(3 * MIB);
	unsigned char *buf = marked(len);

	start_write(len);
	wait_poll(p.server, POLLIN);
	CHECK_EQ(recv(p.server, buf, len, MSG_WAITALL), len);
	pattern_verify(buf, len, SEED_UP, pos);
	expect_around(buf, len);
	end_write();
	munmap(buf - OFFSET, OFFSET + len + AROUND);
}

static void run_all_at_once(void)
{
	long before;

	WAIT_FOR(({
		learn_pace();
		before = sdp_stat("AsyncBytesIn");
		read_all_at_once();
		sdp_stat("AsyncBytesIn") > before;
	}));
	close_pair(p);
}

SLOWLY(all_at_once)

/* Programs that never wait in a read are not refused what they are offered. */
static void run_poll_loop(void)
{
	long before = sdp_stat("AsyncBytesIn");
	unsigned char *buf = marked(LEN);
	size_t got = 0;
	ssize_t n;

	set_nonblock(p.server, true);
	while (sdp_stat("AsyncBytesIn") - before < (long)(4 * LEN)) {
		start_write(LEN);
		for (got = 0; got < LEN; got += n > 0 ? n : 0) {
			wait_poll(p.server, POLLIN);
			n = recv(p.server, buf + got, LEN - got, 0);
			CHECK(n > 0 || (n == -1 && errno == EAGAIN));
		}
		expect_read(buf);
	}
	close_pair(p);
}

SLOWLY(poll_loop)

/* What poll() has told of is there for who asks how much it is. */
static void run_asked_for(void)
{
	long before = sdp_stat("AsyncBytesIn");
	unsigned char *buf = marked(LEN);
	uint64_t cancels;

	while (sdp_stat("AsyncBytesIn") - before < (long)(4 * LEN)) {
		cancels = info_of(p.client).sdpi_zcopy_cancels;
		start_write(LEN);
		wait_poll(p.server, POLLIN);
		/* A writer that has lost patience sends it once more. */
		CHECK(ioctl_int(p.server, FIONREAD) > 0 ||
		      info_of(p.client).sdpi_zcopy_cancels > cancels);
		read_into(p.server, buf, LEN);
		expect_read(buf);
	}
	close_pair(p);
}

SLOWLY(asked_for)

/* ---- what becomes of the memory ---- */

/* What the program stores is there, though the bytes came after its store began. */
static void run_stored_to(void)
{
	unsigned char *buf = marked(LEN);

	WAIT_FOR(read_early(buf, LEN));
	buf[PAGE] = 0;
	buf[LEN - 1] = 1;
	end_write();
	pattern_verify(buf, PAGE, SEED_UP, pos - LEN);
	CHECK_EQ(buf[PAGE], 0);
	pattern_verify(buf + PAGE + 1, LEN - PAGE - 2, SEED_UP, pos - LEN + PAGE + 1);
	CHECK_EQ(buf[LEN - 1], 1);
	close_pair(p);
}

SLOWLY(stored_to)

/* A child has what its parent has, and memory of its own. */
static void run_fork_meanwhile(void)
{
	unsigned char *buf = marked(LEN);
	pid_t child;

	WAIT_FOR(read_early(buf, LEN));
	child = fork_child();
	if (!child) {
		pattern_verify(buf, LEN, SEED_UP, pos);
		memset(buf, 0, LEN);
		_exit(0);
	}
	join_child(child);
	expect_read(buf);
	expect_around(buf, LEN);
	close_pair(p);
}

SLOWLY(fork_meanwhile)

/* What the program maps there instead stays as it is. */
static void run_unmapped_meanwhile(void)
{
	unsigned char *buf = memory(LEN, 0);
	size_t i;

	for (i = 0; i < ROUNDS; i++) {
		memset(buf, MARK, LEN);
		WAIT_FOR(read_early(buf, LEN));
		CHECK(mmap(buf, LEN, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == buf);
		memset(buf, MARK, LEN);
		end_write();
		expect_bytes(buf, LEN, MARK);
	}
	close_pair(p);
}

SLOWLY(unmapped_meanwhile)

static void run_moved_meanwhile(void)
{
	unsigned char *buf = memory(LEN, 0), *there = memory(LEN, 0);

	memset(buf, MARK, LEN);
	WAIT_FOR(read_early(buf, LEN));
	CHECK(mremap(buf, LEN, LEN, MREMAP_MAYMOVE | MREMAP_FIXED, there) == there);
	expect_read(there);
	WAIT_FOR(read_early(there, LEN));
	CHECK_OK(mprotect(there, LEN, PROT_READ));
	expect_read(there);
	close_pair(p);
}

SLOWLY(moved_meanwhile)

/* Memory that the kernel may take back was read into since. */
static void run_given_up_before(void)
{
	unsigned char *buf = memory(LEN, 0);

	memset(buf, MARK, LEN);
	CHECK_OK(madvise(buf, LEN, MADV_FREE));
	WAIT_FOR(read_early(buf, LEN));
	pattern_verify(buf, LEN, SEED_UP, pos);
	CHECK_OK(madvise(buf, LEN, MADV_PAGEOUT));
	expect_read(buf);
	close_pair(p);
}

SLOWLY(given_up_before)

/* A program that ends amid a read leaves nothing behind. */
static void run_exit_meanwhile(void)
{
	long before = sdp_stat("ZcopyPages");
	unsigned char *buf = memory(LEN, 0);
	pid_t child;
	int i;

	for (i = 0; i < 3; i++) {
		child = fork_child();
		if (!child) {
			memset(buf, MARK, LEN);
			/* Its writer ends with it. */
			WAIT_FOR(read_early(buf, LEN));
			_exit(0);
		}
		join_child(child);
		close_pair(p);
		connect_ends();
	}
	close_pair(p);
	WAIT_FOR(sdp_stat("ZcopyPages") <= before);
}

SLOWLY(exit_meanwhile)

/* ---- memory that takes another way ---- */

static void expect_waited_for(unsigned char *buf)
{
	long before = sdp_stat("AsyncBytesIn");

	start_write(LEN);
	read_into(p.server, buf, LEN);
	expect_read(buf);
	CHECK_EQ(sdp_stat("AsyncBytesIn"), before);
}

static void run_other_memory(void)
{
	unsigned char *shared = mmap(NULL, LEN, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned char *buf = marked(LEN);
	int file;

	CHECK(shared != MAP_FAILED);
	expect_waited_for(shared);
	/* What cannot be had is not tried the next time. */
	WAIT_FOR(read_early(buf, LEN));
	expect_read(buf);
	expect_waited_for(file_memory(LEN, &file));
	close_pair(p);
}

SLOWLY(other_memory)

/* Pages that a child has as well are the reader's alone before they are written to. */
static void run_shared_with_a_child(void)
{
	unsigned char *buf = marked(LEN);
	int go[2];
	pid_t child;
	char c;

	CHECK_OK(pipe(go));
	child = fork_child();
	if (!child) {
		CHECK_EQ(read(go[0], &c, 1), 1);
		expect_bytes(buf - OFFSET, OFFSET + LEN + AROUND, MARK);
		_exit(0);
	}
	WAIT_FOR(read_early(buf, LEN));
	expect_read(buf);
	expect_around(buf, LEN);
	CHECK_EQ(write(go[1], "", 1), 1);
	join_child(child);
	close_pair(p);
}

SLOWLY(shared_with_a_child)

/* The limit is the reader's: the writer's memory is pinned, and read. */
static void run_more_than_may_be_pinned(void)
{
	struct rlimit none = { 0 };
	unsigned char *buf = marked(LEN);
	long before = sdp_stat("AsyncBytesIn");
	pid_t child;

	start_write(LEN);
	child = fork_child();
	if (!child) {
		CHECK_OK(setrlimit(RLIMIT_MEMLOCK, &none));
		CHECK_OK(setresuid(65534, 65534, 65534));
		read_into(p.server, buf, LEN);
		pattern_verify(buf, LEN, SEED_UP, pos);
		_exit(0);
	}
	join_child(child);
	end_write();
	CHECK_EQ(sdp_stat("AsyncBytesIn"), before);
	close_pair(p);
}

SLOWLY(more_than_may_be_pinned)

/* ---- ends ---- */

/* What a read has said it has got does not go with the connection. */
static void run_closed_meanwhile(void)
{
	unsigned char *buf = marked(LEN);

	WAIT_FOR(read_early(buf, LEN));
	set_linger(p.server, 1, 0);
	CHECK_OK(close(p.server));
	expect_read(buf);
	expect_around(buf, LEN);
	CHECK_OK(close(p.client));
}

SLOWLY(closed_meanwhile)

static void run_shut_down_meanwhile(void)
{
	unsigned char *buf = marked(LEN);

	WAIT_FOR(read_early(buf, LEN));
	CHECK_OK(shutdown(p.server, SHUT_RDWR));
	expect_read(buf);
	expect_around(buf, LEN);
	close_pair(p);
}

SLOWLY(shut_down_meanwhile)

static void run_dissolved_meanwhile(void)
{
	unsigned char *buf = marked(LEN);

	WAIT_FOR(read_early(buf, LEN));
	CHECK_OK(op_dissolve(p.server));
	expect_read(buf);
	close_pair(p);
}

SLOWLY(dissolved_meanwhile)

static const struct sdp_case cases[] = {
	CASE(option, CASE_SDP_ONLY),
	CASE(handed_on_by_a_listener, CASE_SDP_ONLY),
	CASE(who_looks_waits, CASE_SDP_ONLY),
	CASE(several_on_their_way, CASE_SDP_ONLY),
	CASE(twice_to_the_same_memory, CASE_SDP_ONLY),
	CASE(sizes, CASE_SDP_ONLY),
	CASE(all_at_once, CASE_SDP_ONLY),
	CASE(poll_loop, CASE_SDP_ONLY),
	CASE(asked_for, CASE_SDP_ONLY),
	CASE(stored_to, CASE_SDP_ONLY),
	CASE(fork_meanwhile, CASE_SDP_ONLY),
	CASE(unmapped_meanwhile, CASE_SDP_ONLY),
	CASE(moved_meanwhile, CASE_SDP_ONLY),
	CASE(given_up_before, CASE_SDP_ONLY),
	CASE(exit_meanwhile, CASE_SDP_ONLY),
	CASE(other_memory, CASE_SDP_ONLY),
	CASE(shared_with_a_child, CASE_SDP_ONLY),
	CASE(more_than_may_be_pinned, CASE_SDP_ONLY),
	CASE(closed_meanwhile, CASE_SDP_ONLY),
	CASE(shut_down_meanwhile, CASE_SDP_ONLY),
	CASE(dissolved_meanwhile, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return zcopy_main("sync", argc, argv, cases, ARRAY_SIZE(cases));
}
