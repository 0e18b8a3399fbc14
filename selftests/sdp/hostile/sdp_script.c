// SPDX-License-Identifier: GPL-2.0
/*
 * Peers that keep to the protocol, and peers that do not: each script plays one against a
 * socket of the module. Whatever it does, others are not disturbed, and nothing is left.
 * The scripts stand beside this program, in a folder of its name, or where SDP_TEST_SCRIPTS
 * says: iwarp_script is the same program.
 */
#define _GNU_SOURCE
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "play.h"
#include "sdp_engine.h"
#include "sdp_memory.h"

#define SUFFIX		".script"
/* Of the connection that has nothing to do with it, in each direction. */
#define OTHER_BYTES	20000

struct play play = { .listener = -1, .fd = -1 };

static const struct statement *const tables[] = {
	meet_statements, message_statements, memory_statements, socket_statements,
	tcp_statements, NULL
};

static char folder[PATH_MAX];

/* ---- what is left ---- */

/* What is in use of what each connection takes. */
struct in_use {
	long sockets, pages, pinned;
};

/* Before there was a case. */
static struct in_use first;

static struct in_use in_use_now(void)
{
	return (struct in_use){
		.sockets = sdp_stat("Sockets"),
		.pages = sdp_stat("MemPages"),
		.pinned = pinned_pages(),
	};
}

/* What there is once there is no more than that, or time is over. */
static struct in_use wait_in_use(const struct in_use *most)
{
	uint64_t end = now_ms() + wait_limit_ms();
	struct in_use now;

	while (now = in_use_now(), now.sockets > most->sockets || now.pages > most->pages ||
	       now.pinned > most->pinned) {
		if (now_ms() > end)
			break;
		pause_a_bit();
	}
	return now;
}

/* Not the rest of the last case; what another one has left for good is its own failure. */
static struct in_use in_use_before(void)
{
	return wait_in_use(&first);
}

static void expect_in_use(const struct in_use *most)
{
	struct in_use now = wait_in_use(most);

	if (now.sockets > most->sockets || now.pages > most->pages || now.pinned > most->pinned)
		FAIL("left behind: %ld sockets, %ld pages, %ld pinned",
		     now.sockets - most->sockets, now.pages - most->pages,
		     now.pinned - most->pinned);
}

/* ---- a script ---- */

static void end_peer(void)
{
	if (play.ready)
		verbs_close(&play.peer);
	else if (play.met)
		verbs_forget(&play.peer);
}

static void run_script(void)
{
	static struct script script;
	struct in_use before;
	struct pair others;
	char file[PATH_MAX + 80];

	snprintf(file, sizeof(file), "%s/%s" SUFFIX, folder, sdp_case_name);
	script_load(&script, file, tables);
	before = in_use_before();
	others = new_pair();
	play_counters_begin();
	script_run(&script);
	play_counters_end();
	play_socket_end();
	end_peer();
	exchange(others.client, others.server, OTHER_BYTES);
	close_pair(others);
	expect_in_use(&before);
}

/* ---- all of them ---- */

static void find_folder(void)
{
	const char *told = getenv("SDP_TEST_SCRIPTS");
	char self[PATH_MAX - 32], *slash;
	ssize_t len;

	if (told) {
		snprintf(folder, sizeof(folder), "%s", told);
		return;
	}
	len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[len > 0 ? len : 0] = 0;
	snprintf(folder, sizeof(folder), "%ss", self);
	slash = strrchr(self, '/');
	/* Where it was not installed they are in the sources. */
	if (slash && access(folder, R_OK))
		snprintf(folder, sizeof(folder), "%.*s/hostile%ss", (int)(slash - self), self,
			 slash);
}

static char *case_name(const char *path)
{
	char *name = strdup(strrchr(path, '/') + 1);

	name[strlen(name) - strlen(SUFFIX)] = 0;
	return name;
}

static size_t find_scripts(struct sdp_case **cases)
{
	char pattern[PATH_MAX + 16];
	glob_t found;
	size_t i;

	find_folder();
	snprintf(pattern, sizeof(pattern), "%s/*" SUFFIX, folder);
	if (glob(pattern, 0, NULL, &found)) {
		fprintf(stderr, "no scripts in %s\n", folder);
		exit(KTAP_EXIT_FAIL);
	}
	*cases = calloc(found.gl_pathc, sizeof(**cases));
	for (i = 0; i < found.gl_pathc; i++)
		(*cases)[i] = (struct sdp_case){
			case_name(found.gl_pathv[i]), run_script, CASE_SDP_ONLY | CASE_LONG
		};
	globfree(&found);
	return i;
}

int main(int argc, char **argv)
{
	struct sdp_case *cases;
	size_t count = find_scripts(&cases);

	if (!access("/proc/net/sdpstats", R_OK) && may_count_pinned_pages())
		first = in_use_now();
	return zcopy_main("off", argc, argv, cases, count);
}
