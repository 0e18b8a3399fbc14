// SPDX-License-Identifier: GPL-2.0
/*
 * Wires that lose, repeat, delay and turn round what is sent, and that are silent for a
 * while.  Whoever carries a connection mends that, and all bytes arrive; what is too much
 * for Soft-RoCE ends in an error at both ends.  Without zero copy, which Soft-RoCE's RDMA
 * reads make of an order that a cable keeps, see sdp_engine.c.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "sdp_memory.h"
#include "sdp_wire.h"
#include "soak.h"

#define ROUNDS		1
#define LEN		(24 * KIB)
#define ROUGH_LEN	(64 * KIB)
#define GOOD		"delay 0"
#define SILENT		"loss 100%"
/* Less than the device's patience of 7.5 s, and what takes as long as it takes. */
#define SHORT_MS	1500
/* Where that took longer, some of the patience may have been used up before. */
#define LONG_MS		5000

static const char * const bad_wires[] = {
	"loss 1%",
	"duplicate 2%",
	"delay 1ms",
	"loss 0.5% duplicate 1% delay 1ms reorder 1%",
};

/* Soft-RoCE sends again from where something is missing, but six times at most. */
static const char * const rough_wires[] = {
	"delay 1ms 1ms",
	"delay 2ms reorder 25% 50%",
};

/* ---- transfers that may end ---- */

struct rough {
	int fd;
	uint64_t tx_seed, rx_seed, got;
	int tx_err, rx_err;
	pthread_t writer, reader;
};

static void *write_rough(void *arg)
{
	unsigned char buf[4 * KIB];
	struct rough *r = arg;
	uint64_t pos = 0;
	ssize_t n;

	while (pos < ROUGH_LEN) {
		pattern_fill(buf, sizeof(buf), r->tx_seed, pos);
		n = send(r->fd, buf, ROUGH_LEN - pos < sizeof(buf) ? ROUGH_LEN - pos : sizeof(buf),
			 MSG_NOSIGNAL);
		if (n < 0) {
			r->tx_err = errno;
			return NULL;
		}
		pos += n;
	}
	if (shutdown(r->fd, SHUT_WR))
		r->tx_err = errno;
	return NULL;
}

static void *read_rough(void *arg)
{
	struct rough *r = arg;

	r->got = recv_pattern_to_end(r->fd, r->rx_seed, 0, &r->rx_err);
	soak_count(0, r->got);
	return NULL;
}

/* As Documentation/user/failures.rst has it of a wire that is cut. */
static bool is_broken(int err)
{
	return err == ETIMEDOUT || err == ECONNRESET || err == EPIPE || err == ENOTCONN;
}

/* Whether all has arrived; an end that lacks something knows, as a reader or a writer. */
static bool check_rough(const struct rough *r)
{
	bool whole = true;
	int i;

	for (i = 0; i < 2; i++) {
		if (r[i].got == ROUGH_LEN && !r[i].rx_err)
			continue;
		whole = false;
		if (!is_broken(r[i].rx_err) && !is_broken(r[i].tx_err))
			FAIL("%llu bytes of %lu without an error", (unsigned long long)r[i].got,
			     ROUGH_LEN);
	}
	return whole;
}

static bool transfer_roughly(void (*meanwhile)(void))
{
	struct pair p = new_pair();
	struct rough r[2] = {
		{ .fd = p.client, .tx_seed = 1, .rx_seed = 2 },
		{ .fd = p.server, .tx_seed = 2, .rx_seed = 1 },
	};
	int i;

	for (i = 0; i < 2; i++) {
		thread_start(&r[i].reader, read_rough, &r[i]);
		thread_start(&r[i].writer, write_rough, &r[i]);
	}
	if (meanwhile)
		meanwhile();
	for (i = 0; i < 2; i++) {
		thread_join(r[i].writer);
		thread_join(r[i].reader);
	}
	close_pair(p);
	soak_count(1, 0);
	return check_rough(r);
}

/* ---- wires ---- */

static uint64_t silent_ms;

static void silence_for_a_while(void)
{
	uint64_t start = now_ms();

	wire_becomes(SILENT);
	poll(NULL, 0, SHORT_MS);
	wire_becomes(GOOD);
	silent_ms = now_ms() - start;
}

/* TCP, which carries iWARP, has more patience than any machine is slow. */
static void survive_silence(void)
{
	bool whole = transfer_roughly(silence_for_a_while);

	if (!whole)
		ktap_diag("soak lossy: broken by a silence of %llu ms",
			  (unsigned long long)silent_ms);
	CHECK(whole || (!over_iwarp() && silent_ms > LONG_MS));
}

static void silence(void)
{
	wire_becomes(SILENT);
}

static void on_each_wire(void)
{
	unsigned int broken = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad_wires); i++) {
		wire_becomes(bad_wires[i]);
		soak_mixes(LEN, false, i, ARRAY_SIZE(bad_wires));
	}
	for (i = 0; i < ARRAY_SIZE(rough_wires); i++) {
		wire_becomes(rough_wires[i]);
		broken += !transfer_roughly(NULL);
	}
	CHECK(!broken || !over_iwarp());
	wire_becomes(GOOD);
	survive_silence();
	ktap_diag("soak lossy: broken=%u of %zu where packets overtake others", broken,
		  ARRAY_SIZE(rough_wires));
}

/* Both ends come to an end by themselves, which takes half a minute. */
static void on_cut_wire(void)
{
	transfer_roughly(silence);
	wire_becomes(GOOD);
	CHECK(transfer_roughly(NULL));
}

static void on_bad_wires(void)
{
	wire_is(GOOD);
	soak_begin("lossy", ROUNDS);
	while (soak_goes_on()) {
		on_each_wire();
		if (soak_is_long())
			on_cut_wire();
	}
	soak_end();
}

static void good_wires(void)
{
	wire_is("");
}

void lossy(void)
{
	wire_find();
	run_and_undo(on_bad_wires, good_wires);
}
