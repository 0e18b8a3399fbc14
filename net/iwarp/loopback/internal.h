/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of this folder. */
#ifndef _IWP_LOOPBACK_INTERNAL_H
#define _IWP_LOOPBACK_INTERNAL_H

#include <linux/interrupt.h>
#include <linux/refcount.h>

#include "mem/mem.h"
#include "loopback.h"

/* Bytes copied while the regions' locks are held. */
#define IWP_LOOPBACK_CHUNK		(64 * 1024)

/**
 * struct iwp_loopback_dir - one direction: requests of one end's send queue
 * @task: executes requests; fields without another rule belong to it
 * @pair: what this is part of
 * @from: requester, with a reference; NULL once it is in the error state and flushed
 * @to: responder, with a reference, likewise
 * @stopped: a request failed: the connection is about to end
 * @wait_rqe: a request waits for a receive request; read when one is posted
 * @started: the oldest request has been checked
 * @at: bytes of it that were copied
 * @local: the requester's memory
 * @remote: the responder's memory
 * @inlined: inline data of the request as a scatter/gather element
 * @range: the responder's memory that the request names
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
 * struct iwp_loopback_pair - two queue pairs connected by loopback
 * @refs: one for each queue pair, until that is freed
 * @open: the initiator's consumer was told of the connection
 * @dirs: the two directions
 */
struct iwp_loopback_pair {
	refcount_t refs;
	bool open;
	struct iwp_loopback_dir dirs[2];
};

/**
 * enum iwp_loopback_next - result of iwp_loopback_execute()
 * @IWP_LOOPBACK_CONTINUE: a chunk or a request was executed; call again
 * @IWP_LOOPBACK_RESCHED: the budget is used up
 * @IWP_LOOPBACK_STOP: there is no request that can be executed
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
