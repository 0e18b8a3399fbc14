// SPDX-License-Identifier: GPL-2.0
/*
 * What is held back to coalesce leaves when the device has completed what it was given
 * before, and not by the timer only.
 */
#define _GNU_SOURCE
#include <netinet/tcp.h>

#include "sdp_engine.h"
#include "sdp_memory.h"
#include "sdp_wire.h"

#define RING		(64 * KIB)
/* The device's share of a burst takes a few virtual windows only. */
#define FIRST		3
#define FIRST_LEN	3000
/* Much less than a message takes. */
#define SMALL		50
#define WRITES		20

static void write_each(struct flow_pair *f, uint64_t *sent, int count, size_t len)
{
	for (; count--; *sent += len)
		send_pattern(f->p.client, FLOW_UP, *sent, len, len);
}

/* Whether the end of a burst arrives, and neither its time nor a window has freed it. */
static bool burst_by_the_clock(struct flow_pair *f)
{
	struct sdp_info before = info_of(f->p.client), after;
	uint64_t sent = f->up;

	write_each(f, &sent, FIRST, FIRST_LEN);
	write_each(f, &sent, WRITES, SMALL);
	recv_pattern(f->p.server, FLOW_UP, f->up, sent - f->up, SMALL);
	f->up = sent;
	after = info_of(f->p.client);
	return after.sdpi_coalesced - before.sdpi_coalesced > WRITES / 2 &&
	       after.sdpi_credit_stalls == before.sdpi_credit_stalls &&
	       after.sdpi_flushes[SDP_FLUSH_PAUSE] == before.sdpi_flushes[SDP_FLUSH_PAUSE];
}

static const char *engine;

static void run_bursts(void)
{
	struct flow_pair f = flow_open(engine, RING);

	if (over_iwarp())
		sdp_skip("a request that has completed need not have arrived");
	set_int(f.p.client, SOL_TCP, TCP_NODELAY, 1);
	/* Longer than the writes take, and not as long as the timer. */
	wire_is("delay 1ms");
	WAIT_FOR(burst_by_the_clock(&f));
	close_pair(f.p);
}

static void wire_as_before(void)
{
	wire_is("");
}

static void run_slowly(void)
{
	run_and_undo(run_bursts, wire_as_before);
}

static void completions_are_the_clock(const char *name)
{
	engine = name;
	wire_find();
	with_long_wait(run_slowly);
}

static void rdma_completions_are_the_clock(void)
{
	completions_are_the_clock("rdma");
}

static void nic_completions_are_the_clock(void)
{
	completions_are_the_clock("nic");
}

static const struct sdp_case cases[] = {
	CASE(rdma_completions_are_the_clock, CASE_SDP_ONLY),
	CASE(nic_completions_are_the_clock, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
