/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the loopback share, and nobody else uses.
 */
#ifndef _IWP_LOOPBACK_INTERNAL_H
#define _IWP_LOOPBACK_INTERNAL_H

#include <linux/interrupt.h>
#include <linux/refcount.h>

#include "mem/mem.h"
#include "loopback.h"

/* How much is copied while regions are locked. */
#define IWP_LOOPBACK_CHUNK		(64 * 1024)

/**
 * struct iwp_loopback_dir - one direction: what one end sends and reads
 * @task: executes requests; what it does not say otherwise is its alone
 * @pair: what it is part of
 * @from: whose send queue it works on, with a reference; NULL once that end is
 *	in error and its requests are flushed
 * @to: whose memory and receive queue it uses, likewise
 * @stopped: a request was refused: the connection is about to end
 * @wait_rqe: a request waits for a receive request; who posts one looks here
 * @started: the oldest request has been checked
 * @at: how many of its bytes are copied
 * @local: memory at our end
 * @remote: memory at the peer's
 * @inlined: the request's own data as a piece of memory
 * @range: the peer's memory that the request names
 */
struct iwp_loopback_dir {
	struct tasklet_struct task;
	struct iwp_loopback_pair *pair;
	struct iwp_qp *from;
	struct iwp_qp *to;
	bool stopped;
	bool wait_rqe;
	bool started;
	u32 at;
	struct iwp_sgl local;
	struct iwp_sgl remote;
	struct siw_sge inlined;
	struct siw_sge range;
};

/**
 * struct iwp_loopback_pair - two queue pairs that are joined
 * @refs: one for each of them, until its memory goes
 * @open: the consumer of the side that connects knows of it
 * @dirs: the two directions
 */
struct iwp_loopback_pair {
	refcount_t refs;
	bool open;
	struct iwp_loopback_dir dirs[2];
};

/**
 * enum iwp_loopback_next - how a request goes on
 * @IWP_LOOPBACK_CONTINUE: it has left the queue; the next one may begin
 * @IWP_LOOPBACK_RESCHED: it goes on in another turn
 * @IWP_LOOPBACK_STOP: nothing goes on
 */
enum iwp_loopback_next {
	IWP_LOOPBACK_CONTINUE,
	IWP_LOOPBACK_RESCHED,
	IWP_LOOPBACK_STOP,
};

/* pair.c */
void iwp_loopback_fail(struct iwp_loopback_dir *dir, struct iwp_qp *qp,
		       enum iwarp_error error);
bool iwp_loopback_usable(const struct iwp_loopback_dir *dir);

/* execute.c */
enum iwp_loopback_next iwp_loopback_execute(struct iwp_loopback_dir *dir, u32 *budget);

#endif /* _IWP_LOOPBACK_INTERNAL_H */
