// SPDX-License-Identifier: GPL-2.0
/*
 * Data over our own iWARP devices when the kernel has no memory for them: it arrives
 * when there is some again, and until then nobody tries without end. Needs root, and a
 * kernel that fails allocations on request (CONFIG_FAILSLAB).
 */
#include <stdlib.h>

#include "iwarp_end.h"
#include "sdp_memory.h"

/* More than a page of the sender's, and than one of TCP's buffers. */
#define LEN		100001
/* How often it is not to be had, and how soon one may ask again so often. */
#define FAILURES	50
#define FAILURES_MS	100
#define FAILSLAB	"/sys/kernel/debug/failslab"

static bool fail_set(const char *knob, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), FAILSLAB "/%s", knob);
	return file_write(path, text);
}

static void fail_no_more(void)
{
	fail_set("probability", "0");
	fail_set("require-start", "0");
	fail_set("require-end", "0xffffffffffffffff");
}

/* Where the module's functions are. */
static void find_module(uint64_t *start, uint64_t *end)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	uint64_t at;
	char line[256], type;

	CHECK(f);
	*start = UINT64_MAX;
	*end = 0;
	while (fgets(line, sizeof(line), f)) {
		if (!strstr(line, "[iwarp]") ||
		    sscanf(line, "%lx %c", &at, &type) != 2 ||
		    (type != 't' && type != 'T'))
			continue;
		*start = at < *start ? at : *start;
		*end = at > *end ? at : *end;
	}
	fclose(f);
	CHECK(*start && *start < *end);
}

/* Whatever the module asks for, or TCP for it, the next times. */
static void fail_in_module(void)
{
	uint64_t start, end;
	char text[3][24];

	find_module(&start, &end);
	snprintf(text[0], sizeof(text[0]), "%#lx", start);
	snprintf(text[1], sizeof(text[1]), "%#lx", end);
	snprintf(text[2], sizeof(text[2]), "%d", FAILURES);
	CHECK(fail_set("require-start", text[0]) && fail_set("require-end", text[1]));
	CHECK(fail_set("ignore-gfp-wait", "N") && fail_set("verbose", "0"));
	CHECK(fail_set("times", text[2]) && fail_set("probability", "100"));
}

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
	char left[24];

	if (!fail_set("probability", "0"))
		sdp_skip("this kernel does not fail allocations on request");
	iwarp_join(false);
	iwarp_pair_open(&p);
	send_one(&p.client, &p.server);
	fail_in_module();
	w = start_watch();
	send_one(&p.client, &p.server);
	CHECK(watch_ms(w) >= FAILURES_MS);
	file_read(FAILSLAB "/times", left, sizeof(left));
	CHECK_EQ(atoi(left), 0);
	fail_no_more();
	send_one(&p.server, &p.client);
	iwarp_pair_close(&p);
}

static void without_buffers(void)
{
	run_and_undo(run_without_memory, fail_no_more);
}

static const struct sdp_case cases[] = {
	CASE(without_buffers, 0),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
