// SPDX-License-Identifier: GPL-2.0
/*
 * What the trace of AF_SDP says of data that waits: that it is coalesced, why it is held
 * back or stalls, and what ends that.
 */
#define _GNU_SOURCE
#include <netinet/tcp.h>

#include "sdp_memory.h"
#include "sdp_engine.h"
#include "sdp_events.h"
#include "sdp_wire.h"

/* ---- held back ---- */

/* Whether four writes, of which the last opens the cork, were one message. */
static bool joined_once(struct pair p, const struct end *c, uint64_t *pos)
{
	int i;

	trace_clear();
	set_int(p.client, SOL_TCP, TCP_CORK, 1);
	for (i = 0; i < 4; i++)
		send_pattern(p.client, 1, *pos + 100 * i, 100, 100);
	set_int(p.client, SOL_TCP, TCP_CORK, 0);
	recv_pattern(p.server, 1, *pos, 400, 400);
	*pos += 400;
	trace_read();
	return count_of("sdp_msg_out", c, "len=400") &&
	       count_of("sdp_flush", c, "cause=call");
}

static void run_coalesce(void)
{
	static const char * const lens[] = { "len=200", "len=300", "len=400" };
	struct pair p = new_pair();
	struct end c = end_of_fd(p.client);
	uint64_t pos = 0;
	size_t i;

	/* A program that stands still finds that the time has opened the cork. */
	WAIT_FOR(joined_once(p, &c, &pos));
	CHECK_EQ(count_of("sdp_coalesce", &c, NULL), 3);
	for (i = 0; i < ARRAY_SIZE(lens); i++)
		CHECK_EQ(sum_of("sdp_coalesce", &c, lens[i], "bytes"), 100);
	CHECK_EQ(count_of("sdp_flush", &c, NULL), 1);
	CHECK_EQ(count_of("sdp_flush", &c, "cause=call waited=cork"), 1);
	CHECK_EQ(sum_of("sdp_flush", &c, NULL, "unsent"), 400);
	close_pair(p);
}

static void coalesce(void)
{
	traced(run_coalesce);
}

static void run_flush_by_timer(void)
{
	struct pair p = new_pair();
	struct end c = end_of_fd(p.client);

	set_int(p.client, SOL_TCP, TCP_CORK, 1);
	send_pattern(p.client, 1, 0, 100, 100);
	recv_pattern(p.server, 1, 0, 100, 100);
	trace_read();
	CHECK_EQ(count_of("sdp_flush", &c, NULL), 1);
	CHECK_EQ(count_of("sdp_flush", &c, "cause=timer waited=cork"), 1);
	CHECK_EQ(sum_of("sdp_flush", &c, NULL, "unsent"), 100);
	close_pair(p);
}

static void flush_by_timer(void)
{
	traced(run_flush_by_timer);
}

/* Whether a message was filled before its time was over. */
static bool filled_once(struct pair p, const struct end *c, uint64_t *pos)
{
	uint32_t len = info_of(p.client).sdpi_max_payload;
	char what[32];

	trace_clear();
	set_int(p.client, SOL_TCP, TCP_CORK, 1);
	send_pattern(p.client, 1, *pos, 100, 100);
	send_pattern(p.client, 1, *pos + 100, len - 100, len);
	recv_pattern(p.server, 1, *pos, len, len);
	set_int(p.client, SOL_TCP, TCP_CORK, 0);
	*pos += len;
	trace_read();
	snprintf(what, sizeof(what), "unsent=%u", len);
	return count_of("sdp_flush", c, "cause=full waited=cork") == 1 &&
	       count_of("sdp_flush", c, what) == 1;
}

static void run_flush_of_full(void)
{
	struct pair p = new_pair();
	struct end c = end_of_fd(p.client);
	uint64_t pos = 0;

	WAIT_FOR(filled_once(p, &c, &pos));
	CHECK_EQ(count_of("sdp_flush", &c, NULL), 1);
	close_pair(p);
}

static void flush_of_full(void)
{
	traced(run_flush_of_full);
}

/* Writes so many parts of a pattern, all at once, and reads them; @flags but for the last. */
static void send_parts(struct pair p, uint64_t *pos, int parts, int flags)
{
	char part[100];
	int i;

	trace_clear();
	for (i = 0; i < parts; i++) {
		pattern_fill(part, sizeof(part), 1, *pos + i * sizeof(part));
		CHECK_EQ(send(p.client, part, sizeof(part), i < parts - 1 ? flags : 0),
			 sizeof(part));
	}
	recv_pattern(p.server, 1, *pos, parts * sizeof(part), parts * sizeof(part));
	*pos += parts * sizeof(part);
	trace_read();
}

static bool promised_once(struct pair p, const struct end *c, uint64_t *pos)
{
	send_parts(p, pos, 2, MSG_MORE);
	return count_of("sdp_flush", c, "cause=call waited=more");
}

static bool nagle_once(struct pair p, const struct end *c, uint64_t *pos)
{
	send_parts(p, pos, 8, 0);
	return count_of("sdp_flush", c, "cause=interrupt waited=nagle");
}

static bool burst_once(struct pair p, const struct end *c, uint64_t *pos)
{
	send_parts(p, pos, 400, 0);
	return count_of("sdp_flush", c, "cause=pause waited=burst");
}

/* What is held back leaves, and the trace says why it was. */
static void run_flush_of_held(void)
{
	struct pair p = new_pair();
	struct end c = end_of_fd(p.client);
	struct flow_pair f;
	uint64_t pos = 0;

	set_int(p.client, SOL_TCP, TCP_NODELAY, 1);
	WAIT_FOR(promised_once(p, &c, &pos));
	CHECK_EQ(count_of("sdp_flush", &c, NULL), 1);
	set_int(p.client, SOL_TCP, TCP_NODELAY, 0);
	/* A device that is done before the next write leaves nothing to wait for. */
	wire_is("delay 1ms");
	/* Likewise one whose requests complete before they have arrived. */
	if (!over_iwarp())
		WAIT_FOR(nagle_once(p, &c, &pos));
	close_pair(p);
	f = flow_open("nic", 64 * KIB);
	c = end_of_fd(f.p.client);
	pos = 0;
	set_int(f.p.client, SOL_TCP, TCP_NODELAY, 1);
	WAIT_FOR(burst_once(f.p, &c, &pos));
	close_pair(f.p);
}

static void wire_as_before(void)
{
	wire_is("");
}

static void run_with_a_wire(void)
{
	run_and_undo(run_flush_of_held, wire_as_before);
}

static void flush_of_held(void)
{
	wire_find();
	traced(run_with_a_wire);
}

/* ---- stalled ---- */

static void run_credit_stall(void)
{
	struct pair p = pair_wanting("credit");
	struct end c = end_of_fd(p.client), s = end_of_fd(p.server);
	const struct event *e;
	uint64_t sent, flushes;
	struct sdp_info info;
	size_t from = 0;

	/* The last bytes that fit are written one by one. */
	trace_without("sdp_coalesce");
	sent = fill_pipe(p.client, 1);
	WAIT_FOR(count_now("sdp_credit_stall", &c, NULL) ==
		 info_of(p.client).sdpi_credit_stalls);
	CHECK(count_of("sdp_credit_stall", &c, NULL) > 0);
	while ((e = event_from(&from, "sdp_credit_stall", &c, NULL))) {
		CHECK(!strcmp(word_of(e, "engine"), "credit"));
		CHECK(!strcmp(word_of(e, "missing"), "credits"));
		CHECK(number_of(e, "credits") < 3);
		CHECK_EQ(number_of(e, "space"), 0);
	}
	CHECK(sum_of("sdp_msg_out", &c, NULL, "len") < sent);
	recv_pattern(p.server, 1, 0, sent, 64 * KIB);
	WAIT_FOR(sum_now("sdp_msg_in", &s, NULL, "len") == sent);
	CHECK_EQ(sum_of("sdp_msg_out", &c, NULL, "len"), sent);
	info = info_of(p.client);
	flushes = info.sdpi_flushes[SDP_FLUSH_INTERRUPT];
	CHECK(flushes + info.sdpi_flushes[SDP_FLUSH_CALL] > 0);
	/* What has waited for company is not counted. */
	CHECK(count_of("sdp_flush", &c, "cause=interrupt waited=credits") >= flushes);
	CHECK(count_of("sdp_flush", &c, "cause=call") >= info.sdpi_flushes[SDP_FLUSH_CALL]);
	close_pair(p);
}

static void credit_stall(void)
{
	traced(run_credit_stall);
}

static void run_space_stall(void)
{
	struct flow_pair f = flow_open("rdma", 64 * KIB);
	struct end c = end_of_fd(f.p.client);
	const struct event *e;
	size_t from = 0;
	uint64_t sent;

	trace_without("sdp_coalesce");
	sent = fill_pipe(f.p.client, 1);
	trace_read();
	CHECK(count_of("sdp_credit_stall", &c, NULL) > 0);
	while ((e = event_from(&from, "sdp_credit_stall", &c, NULL))) {
		CHECK(!strcmp(word_of(e, "engine"), "rdma"));
		CHECK(!strcmp(word_of(e, "missing"), "space"));
		CHECK(number_of(e, "space") < 64 * KIB);
	}
	if (!over_iwarp())
		CHECK_EQ(sum_of("sdp_post", &c, "opcode=RDMA_WRITE_WITH_IMM", "len"),
			 sum_of("sdp_msg_out", &c, NULL, "len"));
	recv_pattern(f.p.server, 1, 0, sent, 5000);
	close_pair(f.p);
}

static void space_stall(void)
{
	traced(run_space_stall);
}

#define MOST_WORDS	40

static int split_words(char *line, char **word)
{
	int n = 0;

	for (; (line = strtok(line, " \t\n")); line = NULL) {
		CHECK(n < MOST_WORDS);
		word[n++] = line;
	}
	return n;
}

/* The column of this name, counted from the right: two names share one on the left. */
static int column_from_end(FILE *f, const char *name)
{
	char line[512], *word[MOST_WORDS];
	int i, n;

	CHECK(fgets(line, sizeof(line), f));
	n = split_words(line, word);
	for (i = 1; i <= n; i++)
		if (!strcmp(word[n - i], name))
			return i;
	FAIL("no column %s", name);
}

static bool column_says(char *line, int from_end, const char *what)
{
	char *word[MOST_WORDS];

	return !strcmp(word[split_words(line, word) - from_end], what);
}

/* Whether a socket's line in /proc/net/sdp says this in this column. */
static bool proc_says(int fd, const char *column, const char *what)
{
	struct addr peer = peer_addr(fd);
	FILE *f = fopen("/proc/net/sdp", "r");
	unsigned int own, other;
	bool said = false;
	char line[512];
	int from_end;

	CHECK(f);
	from_end = column_from_end(f, column);
	while (!said && fgets(line, sizeof(line), f))
		said = sscanf(line, "%*s %*[0-9A-F]:%x %*[0-9A-F]:%x", &own, &other) == 2 &&
		       own == local_port(fd) && other == addr_port(&peer) &&
		       column_says(line, from_end, what);
	fclose(f);
	return said;
}

static void run_ring(void)
{
	struct pair p = pair_wanting("auto");
	struct end s = end_of_fd(p.server);
	struct sdp_info info;
	uint64_t pos = 0;

	set_int(p.client, SOL_TCP, TCP_NODELAY, 1);
	trace_without("sdp_coalesce");
	flow_until_ring(p.client, p.server, FLOW_UP, &pos, 100);
	info = info_of(p.server);
	CHECK_EQ(info.sdpi_ring_reason, SDP_RING_SHORT);
	CHECK_EQ(count_now("sdp_ring", &s, NULL), 1);
	CHECK_EQ(sum_of("sdp_ring", &s, "why=short", "bytes"), info.sdpi_rx_ring);
	CHECK_EQ(count_of("sdp_ring", NULL, NULL), 1);
	CHECK(proc_says(p.server, "ring_why", "short"));
	CHECK(proc_says(p.client, "ring_why", "-"));
	CHECK(proc_says(p.client, "flow_why", "-"));
	close_pair(p);
}

static void ring(void)
{
	traced(run_ring);
}

static const struct sdp_case cases[] = {
	CASE(coalesce, CASE_SDP_ONLY),
	CASE(flush_by_timer, CASE_SDP_ONLY),
	CASE(flush_of_full, CASE_SDP_ONLY),
	CASE(flush_of_held, CASE_SDP_ONLY),
	CASE(credit_stall, CASE_SDP_ONLY),
	CASE(space_stall, CASE_SDP_ONLY),
	CASE(ring, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
