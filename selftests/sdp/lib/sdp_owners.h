/* SPDX-License-Identifier: GPL-2.0 */
/* Programs that stand still in a call on a socket of theirs (sdp_owners.c). */
#ifndef SDP_OWNERS_H
#define SDP_OWNERS_H

#include "sdp_test.h"

enum call { CALL_OPTION, CALL_SEND, CALL_RECV, CALL_CONNECT };

/* Somebody who stands still in a call. */
struct owner {
	struct pair p;
	enum call call;
	char *memory;
	pthread_t thread;
	long ret;
	int err;
};

/* Those whose memory one userfaultfd provides. */
struct owners {
	struct owner *list;
	unsigned int count;
	char *memory;
	int uffd;
};

/* What a call moves, of which a half is there and a half is missing. */
size_t owner_len(void);
size_t owner_half(void);
char *owner_hole(const struct owner *o);
/* Memory for one owner whom the caller has made. */
struct owners owners_of(struct owner *o);
/* The call, as a thread. */
void *owner_thread(void *arg);

/* So many, with connections and something to read; of ten, one calls connect(). */
struct owners owners_open(unsigned int count);
/* Returns when all of them stand still. */
void owners_freeze(struct owners *all);
/* All go on, and have come to an end. */
void owners_thaw(struct owners *all);
/* All calls have done what they are for. */
void owners_check(const struct owners *all);
/* The connections are whole. */
void owners_close(struct owners *all);

#endif /* SDP_OWNERS_H */
