// SPDX-License-Identifier: GPL-2.0
/*
 * Data over our own iWARP devices when the kernel has no memory for them: it arrives
 * when there is some again, and until then nobody tries without end. Needs root, and a
 * kernel that fails allocations on request (CONFIG_FAILSLAB).
 */
#include "iwarp_end.h"
#include "sdp_inject.h"
#include "sdp_memory.h"

/* More than a page of the sender's, and than one of TCP's buffers. */
#define LEN		100001
/* How often it is not to be had, and how soon one may ask again so often. */
#define FAILURES	50
#define FAILURES_MS	100

static void send_one(struct iwarp_end *from, struct iwarp_end *to)
{
	struct ibv_wc wc;

	pattern_fill(from->mem, LEN, LEN, 0);
	memset(to->mem, 0, LEN);
	CHECK_EQ(iwarp_recv(to, 0, LEN, 1), 0);
	CHECK_EQ(iwarp_send(from, 0, LEN, 1), 0);
	wc = iwarp_wait(to->rcq);
	CHECK_EQ(wc.status, IBV_WC_SUCCESS);
	CHECK_EQ(wc.byte_len, LEN);
	pattern_verify(to->mem, LEN, LEN, 0);
	iwarp_expect(from->scq, IBV_WC_SUCCESS);
}

static void run_without_memory(void)
{
	struct iwarp_pair p;
	struct stopwatch w;

	iwarp_join(false);
	iwarp_pair_open(&p);
	send_one(&p.client, &p.server);
	inject_in_module("iwarp", INJECT_SLAB, 100, FAILURES);
	w = start_watch();
	send_one(&p.client, &p.server);
	CHECK(watch_ms(w) >= FAILURES_MS);
	CHECK_EQ(inject_left(INJECT_SLAB), 0);
	inject_no_more();
	send_one(&p.server, &p.client);
	iwarp_pair_close(&p);
}

static void without_buffers(void)
{
	run_and_undo(run_without_memory, inject_no_more);
}

static const struct sdp_case cases[] = {
	CASE(without_buffers, 0),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
