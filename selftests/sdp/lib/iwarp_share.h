/* SPDX-License-Identifier: GPL-2.0 */
/* A shared receive queue, on the servers' device, and memory for its requests. */
#ifndef IWARP_SHARE_H
#define IWARP_SHARE_H

#include "iwarp_end.h"

/* Slots of memory, one for each request; its wr_id is the number of its slot. */
#define SHARE_SLOTS	64
#define SHARE_SLOT	65536
/* No device has more kinds of events. */
#define SHARE_EVENTS	32

struct iwarp_share {
	/* Has the device open; never listens. */
	struct iwarp_end at;
	/* A domain that no queue pair is in. */
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	unsigned char *mem;
	struct ibv_srq *srq;
	/* Events so far of each kind, and the object of the last. */
	unsigned int events[SHARE_EVENTS];
	void *object[SHARE_EVENTS];
};

/* With room for so many requests; servers use it from now on. */
void share_open(struct iwarp_share *s, uint32_t wrs, uint32_t sges);
/* Nobody uses it any more. */
void share_close(struct iwarp_share *s);
unsigned char *share_slot(const struct iwarp_share *s, uint64_t slot);
/* Post a slot's first bytes; returns the error. */
int share_post(struct iwarp_share *s, uint64_t slot, size_t len);
/* Post the first slots of all, the whole of each. */
void share_post_first(struct iwarp_share *s, unsigned int count);
/* Arm the event; returns the error. */
int share_arm(struct iwarp_share *s, uint32_t limit);
/* What the kernel says of it, for which the library has no call. */
struct ibv_srq_attr share_query(const struct iwarp_share *s);
/* How many events of that kind have come until now, of the whole device. */
unsigned int share_events(struct iwarp_share *s, enum ibv_event_type type);

#endif /* IWARP_SHARE_H */
