// SPDX-License-Identifier: GPL-2.0
/*
 * Whatever calls a program makes, the kernel lives, the program can be ended, and nothing of
 * it is left; and whatever a writer and a reader do, each byte arrives at its place.
 *
 * "calls" runs programs that chance makes, "corpus" those that were kept, and "streams" has
 * writers and readers.  All follow from --seed, or SDP_FUZZ_SEED.  With SDP_FUZZ_SECONDS
 * "calls" and "streams" go on for as long; where the kernel tells what code is run, "calls"
 * then changes what ran new code, and keeps it.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>

#include "../lib/sdp_memory.h"
#include "fuzz.h"

/*
 * How many, if nobody says for how long, or fewer where they take longer than half of the
 * case's time, but that many; and after how many to look for what is left.
 */
#define LEAST		10
#define PROGRAMS	150
#define STREAMS		30
#define BATCH		50

static uint32_t seed_of(void)
{
	const char *text = getenv("SDP_FUZZ_SEED");
	uint32_t seed = text && *text ? strtoul(text, NULL, 0) : opts.seed;

	ktap_diag("SDP_FUZZ_SEED=%u", seed);
	/* Neighbours among seeds are to begin differently. */
	return (seed + 1) * 0x9e3779b1;
}

static bool explores(void)
{
	const char *text = getenv("SDP_FUZZ_SECONDS");

	return text && *text;
}

/* Half of a long case's deadline, or as long as was asked for. */
static uint64_t patience_ms(void)
{
	return explores() ? 1000 * strtoul(getenv("SDP_FUZZ_SECONDS"), NULL, 0) :
			    3 * wait_limit_ms();
}

/* Whether to go on: for so many, or for as long. */
static bool more(unsigned int done, unsigned int count)
{
	static uint64_t end;

	if (!end)
		end = now_ms() + patience_ms();
	if (explores())
		return now_ms() < end;
	return done < LEAST || (done < scaled_count(count) && now_ms() < end);
}

static void run_one(const struct fuzz_program *p)
{
	fuzz_run(p);
	if (fuzz_changes_settings(p))
		fuzz_settings_restore();
}

/* What a node makes with its first connection it keeps. */
static void begin(void)
{
	signal(SIGPIPE, SIG_IGN);
	close_pair(new_pair());
	fuzz_settings_restore();
	fuzz_account_begin();
}

static void with_settings(void (*run)(void))
{
	fuzz_settings_restore();
	run_and_undo(run, fuzz_settings_restore);
}

/* ---- calls ---- */

static void progress(unsigned int programs, const struct fuzz_corpus *corpus)
{
	ktap_diag("%u programs, %u places of the module's code, %u kept", programs,
		  fuzz_cover_total(), corpus->count);
}

/* A new one, or one that was kept and is changed. */
static struct fuzz_program next_program(const struct fuzz_corpus *corpus, uint32_t *state)
{
	struct fuzz_program p;

	if (!corpus->count || fuzz_below(state, 4) == 0) {
		fuzz_generate(&p, state);
		return p;
	}
	p = corpus->programs[fuzz_below(state, corpus->count)];
	fuzz_mutate(&p, &corpus->programs[fuzz_below(state, corpus->count)], state);
	return p;
}

static void replay(const struct fuzz_corpus *corpus)
{
	unsigned int i;

	for (i = 0; i < corpus->count; i++) {
		run_one(&corpus->programs[i]);
		fuzz_cover_new();
	}
}

/*
 * As few of them as run all that all of them did, the latest first, which do most.  Nobody
 * takes those of a run that did not get to its end for all of them.
 */
static void distil(const struct fuzz_corpus *corpus)
{
	unsigned int i, kept = 0;

	fuzz_cover_forget();
	for (i = corpus->count; i-- > 0;) {
		run_one(&corpus->programs[i]);
		if (!fuzz_cover_new())
			continue;
		fuzz_keep(&corpus->programs[i], "sdp_fuzz.new");
		kept++;
	}
	if (kept)
		fuzz_keep_as("sdp_fuzz.new", "sdp_fuzz.calls");
	ktap_diag("%u of %u programs are kept", kept, corpus->count);
}

static void run_calls(void)
{
	struct fuzz_corpus corpus = { 0 };
	uint32_t state = seed_of();
	bool covers = explores() && fuzz_cover_open();
	unsigned int n;

	begin();
	if (covers) {
		fuzz_corpus_load(&corpus);
		replay(&corpus);
	}
	for (n = 0; more(n, PROGRAMS); n++) {
		struct fuzz_program p = next_program(&corpus, &state);

		run_one(&p);
		if (covers && fuzz_cover_new()) {
			fuzz_corpus_add(&corpus, &p);
			fuzz_keep(&p, "sdp_fuzz.kept");
		}
		if (n % BATCH == BATCH - 1) {
			fuzz_account_end();
			if (explores())
				progress(n + 1, &corpus);
		}
	}
	progress(n, &corpus);
	if (covers)
		distil(&corpus);
	fuzz_account_end();
}

static void calls(void)
{
	with_settings(run_calls);
}

static void run_corpus(void)
{
	struct fuzz_corpus corpus = { 0 };

	fuzz_corpus_load(&corpus);
	if (!corpus.count)
		sdp_skip("no programs were kept");
	begin();
	replay(&corpus);
	fuzz_account_end();
}

static void corpus(void)
{
	with_settings(run_corpus);
}

/* ---- streams ---- */

static void run_streams(void)
{
	uint32_t state = seed_of();
	unsigned int n;

	if (opts.tcp && explores())
		sdp_skip("TCP's bytes are not what is looked for");
	begin();
	for (n = 0; more(n, STREAMS); n++) {
		fuzz_announce_stream(n);
		fuzz_stream(random_next(&state));
	}
	fuzz_account_end();
	ktap_diag("%u streams", n);
}

static void streams(void)
{
	with_settings(run_streams);
}

static const struct sdp_case cases[] = {
	CASE(calls, CASE_LONG | CASE_SDP_ONLY),
	CASE(corpus, CASE_LONG | CASE_SDP_ONLY),
	CASE(streams, CASE_LONG | CASE_TCP),
};

int main(int argc, char **argv)
{
	fuzz_account_first();
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
