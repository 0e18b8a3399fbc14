/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Both ends in this kernel: requests are executed by one copy from memory
 * region to memory region, and TCP's connection has nothing to carry but the
 * reason why it ends.
 */
#ifndef _IWP_LOOPBACK_H
#define _IWP_LOOPBACK_H

#include "core/core.h"

struct iov_iter;

/* pair.c */
void iwp_local_offer(struct iwp_ep *ep);
void iwp_local_withdraw(struct iwp_ep *ep);
bool iwp_local_join(struct iwp_ep *ep);
void iwp_local_ready(struct iwp_qp *qp, bool active);
void iwp_lane_kick(struct iwp_lane *lane);
void iwp_local_fed(struct iwp_qp *qp);
void iwp_local_put(struct iwp_local *local);

/* read.c */
ssize_t iwp_local_read(struct iwp_qp *qp, u32 stag, u64 addr,
		       struct iov_iter *to, size_t len);

/* If it is joined, have one of its lanes look; false if it is not, or not now. */
static inline bool iwp_local_kick(struct iwp_lane *lane)
{
	if (lane)
		iwp_lane_kick(lane);
	return lane;
}

/* There may be something to send. */
static inline bool iwp_local_send(const struct iwp_qp *qp)
{
	return iwp_local_kick(iwp_lane_out(qp));
}

/* What receives is to look at the queue pair's state. */
static inline bool iwp_local_receive(const struct iwp_qp *qp)
{
	return iwp_local_kick(iwp_lane_in(qp));
}

#endif /* _IWP_LOOPBACK_H */
