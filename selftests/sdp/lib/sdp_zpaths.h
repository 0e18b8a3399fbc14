/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ways on which the kernel writes to memory of a program (sdp_zpaths.c), for
 * sdp_zwriters.
 */
#ifndef SDP_ZPATHS_H
#define SDP_ZPATHS_H

#include "sdp_test.h"

/* What devices and file systems read at least. */
#define BLOCK	1024UL

/**
 * struct path - one of these ways
 * @len: bytes that one store fills, all of them with the same number
 * @open: called once, before there is memory to write to; may skip the case
 * @begin: called before a round of stores to these pages; NULL for nothing
 * @put: store a number; what returns has stored it
 * @end: called behind a round; NULL for nothing
 */
struct path {
	size_t len;
	void (*open)(void);
	void (*begin)(unsigned char *pages, size_t len);
	void (*put)(uint64_t *at, uint64_t n);
	void (*end)(void);
};

extern const struct path path_process_vm;
extern const struct path path_ptrace;
extern const struct path path_direct;
extern const struct path path_9p;
extern const struct path path_fixed;
extern const struct path path_vmsplice;

/* Held by who sends, and by who must not have pages protected meanwhile. */
extern pthread_mutex_t sending;

/* An ordinary store. */
void store(uint64_t *at, uint64_t n);

#endif /* SDP_ZPATHS_H */
