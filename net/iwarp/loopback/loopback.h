/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Loopback: if both ends are in this kernel, requests are executed by one copy from
 * memory region to memory region. The TCP connection stays idle and carries only the
 * connection's end, with its reason.
 */
#ifndef _IWP_LOOPBACK_H
#define _IWP_LOOPBACK_H

#include "core/core.h"

struct iov_iter;

/* pair.c */
void iwp_loopback_offer(struct iwp_ep *ep);
void iwp_loopback_withdraw(struct iwp_ep *ep);
bool iwp_loopback_join(struct iwp_ep *ep);
void iwp_loopback_ready(struct iwp_qp *qp, bool active);
void iwp_loopback_kick(struct iwp_loopback_dir *dir);
void iwp_loopback_rq_posted(struct iwp_qp *qp);
void iwp_loopback_pair_put(struct iwp_loopback_pair *pair);

/* read.c */
ssize_t iwp_loopback_read(struct iwp_qp *qp, u32 stag, u64 addr,
			  struct iov_iter *to, size_t len);

/* Returns false without loopback, or after that direction was detached. */
static inline bool iwp_loopback_try_kick(struct iwp_loopback_dir *dir)
{
	if (dir)
		iwp_loopback_kick(dir);
	return dir;
}

/* Check the send queue for requests. */
static inline bool iwp_loopback_kick_out(const struct iwp_qp *qp)
{
	return iwp_loopback_try_kick(iwp_loopback_out(qp));
}

/* Check the queue pair's state on the receiving side. */
static inline bool iwp_loopback_kick_in(const struct iwp_qp *qp)
{
	return iwp_loopback_try_kick(iwp_loopback_in(qp));
}

#endif /* _IWP_LOOPBACK_H */
