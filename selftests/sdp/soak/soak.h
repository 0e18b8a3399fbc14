/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Load that goes on: a number of rounds, or with SDP_SOAK_SECONDS as long as that in each
 * case. Somebody watches that it moves, and says every ten seconds what it has moved.
 */
#ifndef SOAK_H
#define SOAK_H

#include "sdp_engine.h"

/* So many rounds, where the time does not say when it is over. */
void soak_begin(const char *name, unsigned int rounds);
/* Whether there is one more round. */
bool soak_goes_on(void);
/* Whether it goes on for a time, and not for a few rounds. */
bool soak_is_long(void);
/* What has been done: something must be within the watch's patience. */
void soak_count(unsigned int connections, uint64_t bytes);
/* Something else has been done, which nobody counts. */
void soak_moved(void);
/* The last line, of all that was done. */
void soak_end(void);
/* Other for each round, the same each time. */
uint32_t soak_seed(void);

/* What must not grow. */
struct soak_ledger {
	long objects;		/* in the module's slab caches */
	long pinned;		/* pages */
	long resources;		/* queue pairs, regions and identifiers of RDMA devices */
	long sockets;
	long tasks;		/* but for the kernel's workers, which come and go */
	long kernel_kib;	/* of memory that nobody can reclaim */
};

/* When the sockets of all that was done are gone. */
struct soak_ledger soak_ledger(void);
/* Must not be called in more than one thread. */
void soak_expect_no_growth(const struct soak_ledger *first);

/* ---- transfers (soak_transfer.c) ---- */

/* How a connection moves its bytes. */
struct soak_mix {
	const char *engine, *zcopy;
	unsigned int call;
	size_t len;		/* each way */
	uint32_t seed;
};

/* All of it, from the connection to its end; every byte is looked at. */
void soak_transfer(const struct soak_mix *mix);
/*
 * Some at a time: each engine with each mode of zero copy, or none of them but "off", and
 * each call.
 */
void soak_mixes(size_t len, bool zcopy, unsigned int part, unsigned int parts);

/* ---- ways to write (soak_write.c) ---- */

#define SOAK_CALLS	5

/* One end's stream to its peer. */
struct soak_writer {
	int fd;
	unsigned int call;
	size_t len;
	uint64_t seed;
	uint32_t state;
};

/* All of it, in pieces of any size. */
void soak_write(struct soak_writer *w);
/* What the end needs for it before anything is written. */
void soak_prepare(int fd, unsigned int call);

/* ---- the cases ---- */

void churn(void);
void traffic(void);
void lossy(void);
void pressure(void);
void clock_leaps(void);
void fairness_credit(void);
void fairness_auto(void);
void rate(void);

#endif /* SOAK_H */
