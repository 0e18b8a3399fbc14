/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connections of which something may fail, in a call, in a work queue, or when something
 * has arrived (sdp_attempts.c).
 */
#ifndef SDP_ATTEMPTS_H
#define SDP_ATTEMPTS_H

#include "sdp_test.h"

/*
 * A connection is made, or its client hears why not; what it carries, so many bytes each
 * way, is right until it ends, which both ends see.
 */
void attempt_connection(int listener, const struct addr *to, size_t len);
/* Skips where the devices are not those of iwarp.ko. */
void need_own_device(void);
/* One more is made, and does not end. */
void attempt_succeeds(int listener, size_t len);

/*
 * Which engine connections have, which mode of zero copy, from how many bytes on, and up to
 * how many straight from pages; NULL = as it is.  What it was is noted, and put back.
 */
#define ATTEMPT_SETTINGS	4
void attempt_note_settings(void);
void attempt_set(const char *const values[ATTEMPT_SETTINGS]);
void attempt_restore(void);

/*
 * A program of which each element of an array is a case: these begin with its name, and
 * run() is called with the one whose case it is.
 */
struct attempt_ways {
	const void *first;
	size_t nr, size;
	void (*run)(const void *way);
};

int attempt_main(int argc, char **argv, struct attempt_ways ways);

#endif /* SDP_ATTEMPTS_H */
