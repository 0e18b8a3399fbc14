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
#define IWP_LOCAL_PIECE		(64 * 1024)

/**
 * struct iwp_lane - one direction: what one end sends and reads
 * @task: executes requests; what it does not say otherwise is its alone
 * @local: what it is part of
 * @from: whose send queue it works on, with a reference; NULL once that end is
 *	in error and its requests are flushed
 * @to: whose memory and receive queue it uses, likewise
 * @stopped: a request was refused: the connection is about to end
 * @starved: a request waits for a receive request; who posts one looks here
 * @begun: the oldest request has been checked
 * @at: how many of its bytes are copied
 * @own: memory at our end
 * @far: memory at the peer's
 * @inlined: the request's own data as a piece of memory
 * @range: the peer's memory that the request names
 */
struct iwp_lane {
	struct tasklet_struct task;
	struct iwp_local *local;
	struct iwp_qp *from;
	struct iwp_qp *to;
	bool stopped;
	bool starved;
	bool begun;
	u32 at;
	struct iwp_pieces own;
	struct iwp_pieces far;
	struct siw_sge inlined;
	struct siw_sge range;
};

/**
 * struct iwp_local - two queue pairs that are joined
 * @refs: one for each of them, until its memory goes
 * @open: the consumer of the side that connects knows of it
 * @lanes: the two directions
 */
struct iwp_local {
	refcount_t refs;
	bool open;
	struct iwp_lane lanes[2];
};

/**
 * enum iwp_lane_next - how a request goes on
 * @IWP_LANE_DONE: it has left the queue; the next one may begin
 * @IWP_LANE_MORE: it goes on in another turn
 * @IWP_LANE_STOP: nothing goes on
 */
enum iwp_lane_next {
	IWP_LANE_DONE,
	IWP_LANE_MORE,
	IWP_LANE_STOP,
};

/* pair.c */
void iwp_local_fail(struct iwp_lane *lane, struct iwp_qp *qp,
		    enum iwarp_error error);
bool iwp_lane_usable(const struct iwp_lane *lane);

/* execute.c */
enum iwp_lane_next iwp_lane_execute(struct iwp_lane *lane, u32 *budget);

#endif /* _IWP_LOOPBACK_INTERNAL_H */
