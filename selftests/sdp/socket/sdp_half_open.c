// SPDX-License-Identifier: GPL-2.0
/*
 * Peers that ask for a connection, get their answer, and say nothing more: how
 * long that lasts, and that others are served meanwhile.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include "sdp_memory.h"
#include "sdp_verbs.h"

#define SYSCTL_SYN_BACKLOG	"/proc/sys/net/ipv4/tcp_max_syn_backlog"
/* More than a listener of this backlog has places. */
#define BACKLOG			1
#define SILENT			(BACKLOG + 1)
/* When the module gives up a peer that does not go on. */
#define GIVEN_UP_MS		15000

static void need_half_open(void)
{
	if (over_iwarp())
		sdp_skip("iWARP sends no request without a queue pair");
}

static void ask(struct verbs_end *silent, int count, int listener)
{
	struct addr a = local_addr(listener);
	int i;

	for (i = 0; i < count; i++)
		verbs_ask(&silent[i], &a);
}

static void forget(struct verbs_end *silent, int count)
{
	while (count--)
		verbs_forget(&silent[count]);
}

/* An honest client is connected, has its data taken, and goes. */
static void check_served(int listener)
{
	struct addr a = local_addr(listener);
	int client = new_client(0), server;

	set_timeout(client, SO_SNDTIMEO, wait_limit_ms());
	CHECK_OK(connect(client, &a.sa, a.len));
	server = CHECK_OK(accept(listener, NULL, NULL));
	exchange(client, server, 1000);
	CHECK_OK(close(client));
	CHECK_OK(close(server));
}

/* As many as the backlog is for, and one after the other. */
static void silent_peers_keep_nobody_out(void)
{
	struct verbs_end silent[SILENT];
	int listener, i;

	need_half_open();
	listener = new_listener(BACKLOG);
	ask(silent, SILENT, listener);
	for (i = 0; i < 3; i++)
		check_served(listener);
	CHECK_EQ(get_int(listener, SOL_SOCKET, SO_ERROR), 0);
	forget(silent, SILENT);
	check_served(listener);
}

static char old_syn_backlog[32];

static void restore_syn_backlog(void)
{
	CHECK(file_write(SYSCTL_SYN_BACKLOG, old_syn_backlog));
}

static void oldest_makes_room(void)
{
	struct verbs_end silent[SILENT];
	long before = sdp_stat("HalfOpenDrops");
	int listener;

	CHECK(file_write(SYSCTL_SYN_BACKLOG, "1"));
	listener = new_listener(BACKLOG);
	ask(silent, SILENT, listener);
	check_served(listener);
	CHECK(sdp_stat("HalfOpenDrops") > before);
	CHECK(verbs_refused(&silent[0], wait_limit_ms()));
	forget(silent, SILENT);
}

/* There are no more of them than of TCP's requests. */
static void oldest_silent_peer_makes_room(void)
{
	need_half_open();
	file_read(SYSCTL_SYN_BACKLOG, old_syn_backlog, sizeof(old_syn_backlog));
	run_and_undo(oldest_makes_room, restore_syn_backlog);
}

/* Whatever the request says of the time that it may take. */
static void silent_peer_is_given_up(void)
{
	struct stopwatch start = start_watch();
	struct verbs_end silent;
	int listener;

	need_half_open();
	listener = new_listener(BACKLOG);
	ask(&silent, 1, listener);
	CHECK(verbs_refused(&silent, GIVEN_UP_MS + wait_limit_ms()));
	CHECK(watch_ms(start) >= GIVEN_UP_MS - TICK_MS);
	forget(&silent, 1);
}

/* What is half open when its listener goes, goes with it. */
static void listener_takes_them_along(void)
{
	struct verbs_end silent;
	int listener;

	need_half_open();
	listener = new_listener(BACKLOG);
	ask(&silent, 1, listener);
	CHECK_OK(close(listener));
	CHECK(verbs_refused(&silent, wait_limit_ms()));
	forget(&silent, 1);
}

static const struct sdp_case cases[] = {
	CASE(silent_peers_keep_nobody_out, CASE_SDP_ONLY),
	CASE(oldest_silent_peer_makes_room, CASE_SDP_ONLY),
	CASE(silent_peer_is_given_up, CASE_SDP_ONLY | CASE_LONG),
	CASE(listener_takes_them_along, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
