// SPDX-License-Identifier: GPL-2.0
/* Statements about memory of the other end, and the peer's own. */
#define _GNU_SOURCE
#include "play.h"

/* Memory that has been offered, and which part of it is meant. */
struct part {
	uint32_t rkey, len;
	uint64_t addr;
};

static uint64_t value_of(const struct script *s, const char *of, const char *name)
{
	char full[64];

	snprintf(full, sizeof(full), "%s.%s", of, name);
	return script_value(s, full);
}

static struct part part_of(const struct script *s, const struct script_line *l)
{
	uint64_t offset = script_field(s, l, "offset", 0);
	const char *of = l->words[0];

	return (struct part){
		.rkey = script_field(s, l, "rkey", value_of(s, of, "rkey")),
		.addr = value_of(s, of, "addr") + offset,
		.len = script_field(s, l, "len", 1),
	};
}

/* Soft-RoCE says why; iWARP ends the connection, and tells the other end. */
static void expect_status(const struct script_line *l, enum ibv_wc_status got)
{
	enum ibv_wc_status want = over_iwarp() ? IBV_WC_WR_FLUSH_ERR : IBV_WC_REM_ACCESS_ERR;

	if (l->nr_words == 1)
		want = IBV_WC_SUCCESS;
	else if (strcmp(l->words[1], "refused"))
		FAIL("it is refused, or nothing is said: '%s'", l->words[1]);
	if (got != want)
		FAIL("expected %s, got %s", ibv_wc_status_str(want), ibv_wc_status_str(got));
}

static void run_read(struct script *s, const struct script_line *l)
{
	struct part part = part_of(s, l);

	expect_status(l, verbs_read(&play.peer, part.rkey, part.addr, part.len));
	if (l->nr_words == 1)
		pattern_verify(play.peer.ring, part.len, SEED_SOCKET,
			       value_of(s, l->words[0], "pos") + script_field(s, l, "offset", 0));
}

/* What comes next in the stream is where the memory begins. */
static void run_write(struct script *s, const struct script_line *l)
{
	struct part part = part_of(s, l);

	pattern_fill(play.peer.ring, part.len, SEED_PEER,
		     script_field(s, l, "pos", play.up + script_field(s, l, "offset", 0)));
	expect_status(l, verbs_access(&play.peer, IBV_WR_RDMA_WRITE, part.rkey, part.addr,
				      part.len));
}

static void run_add(struct script *s, const struct script_line *l)
{
	struct part part = part_of(s, l);

	expect_status(l, verbs_access(&play.peer, IBV_WR_ATOMIC_FETCH_AND_ADD, part.rkey,
				      part.addr, sizeof(uint64_t)));
}

static void run_wrote(struct script *s, const struct script_line *l)
{
	play.up += script_value(s, l->words[0]);
}

const struct statement memory_statements[] = {
	{ "read", 1, 2, "offset len rkey", run_read },
	{ "write", 1, 2, "offset len rkey pos", run_write },
	{ "add", 1, 2, "offset rkey", run_add },
	{ "wrote", 1, 1, NULL, run_wrote },
	{ }
};
