// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that a device says have failed: sends, receives, writes and reads, with each kind
 * of status.  Both ends hear of it by the errno that is documented, after nothing but right
 * bytes; it is counted; and nothing is left.  Needs root, devices of iwarp.ko, and a kernel
 * that injects faults.
 */
#define _GNU_SOURCE
#include <infiniband/verbs.h>
#include <unistd.h>

#include "sdp_attempts.h"
#include "sdp_inject.h"
#include "sdp_memory.h"
#include "sdp_transfer.h"

#define FAULT	"cqe_error"
/* Whether both ends in one kernel exchange no segments. */
#define JOINED	"/sys/module/iwarp/parameters/local"
/* Each way, and in one write. */
#define LEN	(120 * KIB)
#define CHUNK	(40 * KIB)

/* The device's own trouble, a silent peer, memory that the request may not use. */
static const unsigned int statuses[] = {
	IBV_WC_GENERAL_ERR, IBV_WC_RETRY_EXC_ERR, IBV_WC_LOC_PROT_ERR,
};

/* What a case has fail, with which settings. */
static const struct way {
	const char *name;
	unsigned int opcode;
	const char *joined;
	const char *values[ATTEMPT_SETTINGS];
} ways[] = {
	{ "sends", IBV_WC_SEND, "Y", { "credit", "off" } },
	{ "receives", IBV_WC_RECV, "N", { "credit", "off" } },
	{ "windows", IBV_WC_RECV, "Y", { "nic", "off" } },
	{ "writes", IBV_WC_RDMA_WRITE, "N", { "rdma", "off" } },
	{ "reads", IBV_WC_RDMA_READ, "N", { "credit", "async", "4096", "0" } },
};

static const struct way *way;
static char joined_before[4];

/* An end of a connection, what it has sent and got, and how it ended. */
struct end {
	int fd;
	uint64_t tx_seed, rx_seed, sent, got;
	int err;
	bool over;
};

/* Only the first call says why. */
static bool note(struct end *e, ssize_t n)
{
	if (n > 0 || (n < 0 && errno == EAGAIN))
		return n > 0;
	if (!e->over)
		e->err = n ? errno : 0;
	e->over = true;
	return false;
}

static void push(struct end *e, int flags)
{
	size_t want = LEN - e->sent < CHUNK ? LEN - e->sent : CHUNK;
	static unsigned char *buf;
	ssize_t n;

	if (!buf)
		buf = memory(CHUNK, 0);

	pattern_fill(buf, want, e->tx_seed, e->sent);
	n = send(e->fd, buf, want, flags | MSG_NOSIGNAL);
	if (note(e, n))
		e->sent += n;
}

static void pull(struct end *e, int flags)
{
	unsigned char buf[CHUNK];
	ssize_t n = recv(e->fd, buf, sizeof(buf), flags);

	if (note(e, n)) {
		pattern_verify(buf, n, e->rx_seed, e->got);
		e->got += n;
	}
}

static void step(struct end *e)
{
	if (e->sent < LEN && !e->over)
		push(e, MSG_DONTWAIT);
	pull(e, MSG_DONTWAIT);
}

/* What has been offered the device reads for who waits. */
static void transfer_offered(struct end *a, struct end *b)
{
	a->got = LEN;
	b->sent = LEN;
	while (a->sent < LEN && !a->over)
		push(a, 0);
	while (b->got < LEN && !b->over)
		pull(b, 0);
}

/* Returns whether the connection has ended; what fails last may do so after all has come. */
static bool transfer(struct end *a, struct end *b)
{
	WAIT_FOR((step(a), step(b), (a->over && b->over) ||
		  (a->got == LEN && b->got == LEN && !inject_in_device_met(FAULT))));
	return a->over;
}

/* A peer that is silent is one end's opinion only. */
static void expect_errors(const struct end *a, const struct end *b, unsigned int status)
{
	if (status != IBV_WC_RETRY_EXC_ERR) {
		CHECK_EQ(a->err, ECONNRESET);
		CHECK_EQ(b->err, ECONNRESET);
		return;
	}
	CHECK_EQ(a->err == ETIMEDOUT ? b->err : a->err, ECONNRESET);
	CHECK_EQ(a->err == ETIMEDOUT ? a->err : b->err, ETIMEDOUT);
}

/* Returns whether it has failed. */
static bool fail_nth(unsigned int status, unsigned int nth)
{
	struct rdma_objects before = rdma_objects();
	long ends = sdp_stat("Resets") + sdp_stat("Timeouts"), silent = sdp_stat("Timeouts");
	struct pair p = new_nodelay_pair();
	struct end a = { .fd = p.client, .tx_seed = SEED_UP, .rx_seed = SEED_DOWN };
	struct end b = { .fd = p.server, .tx_seed = SEED_DOWN, .rx_seed = SEED_UP };
	bool met;

	inject_status(way->opcode, status);
	inject_in_device(FAULT, nth);
	if (way->opcode == IBV_WC_RDMA_READ)
		transfer_offered(&a, &b);
	met = transfer(&a, &b);
	inject_in_device_no_more(FAULT);
	if (met) {
		expect_errors(&a, &b, status);
		WAIT_FOR(sdp_stat("Resets") + sdp_stat("Timeouts") - ends == 2);
		CHECK_EQ(sdp_stat("Timeouts") - silent, status == IBV_WC_RETRY_EXC_ERR);
	}
	close_pair(p);
	expect_rdma_objects(&before);
	expect_pinned(0);
	return met;
}

static void fail_each(void)
{
	unsigned int i, nth, met;

	attempt_set(way->values);
	CHECK(file_write(JOINED, way->joined));
	for (i = 0; i < ARRAY_SIZE(statuses); i++) {
		for (nth = 1, met = 0; nth < 20 && fail_nth(statuses[i], nth); nth += 1 + nth)
			met++;
		/* Or there is no test of anything. */
		CHECK(met);
	}
}

static void restore(void)
{
	inject_in_device_no_more(FAULT);
	attempt_restore();
	CHECK(file_write(JOINED, joined_before));
}

static void run_way(const void *which)
{
	way = which;
	need_own_device();
	attempt_note_settings();
	read_sysctl(JOINED, joined_before, sizeof(joined_before));
	run_and_undo(fail_each, restore);
}

int main(int argc, char **argv)
{
	return attempt_main(argc, argv, (struct attempt_ways){
		ways, ARRAY_SIZE(ways), sizeof(*ways), run_way
	});
}
