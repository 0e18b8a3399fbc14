/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queue pairs that hold: a message without a receive request waits, instead of
 * ending the connection.
 */
#ifndef _IWP_HOLD_H
#define _IWP_HOLD_H

#include <linux/workqueue.h>

#include "wire/wire.h"

struct iwp_ep;
struct iwp_qp;
struct sock;

/**
 * struct iwp_hold - what waits for receive requests
 * @on: the queue pair's policy; set before it is connected
 * @waiting: something waits; who posts a receive request looks at this
 * @spilling: a segment is arriving that goes to @spill
 * @no_memory: there was none for @spill; it is asked for again after a while
 * @spill: segments that wait; without memory until it is needed
 * @poll: looks for requests of a process, which posts without our knowing
 *
 * Under the socket's lock, but for @on.
 */
struct iwp_hold {
	bool on;
	bool waiting;
	bool spilling;
	bool no_memory;
	struct iwarp_spill spill;
	struct delayed_work poll;
};

void iwp_hold_init(struct iwp_qp *qp);
void iwp_hold_free(struct iwp_qp *qp);
int iwp_hold_enable(struct iwp_qp *qp);
void iwp_hold_bound(struct iwp_ep *ep);
void iwp_hold_alloc(struct iwp_qp *qp);
bool iwp_hold_spills(struct iwp_qp *qp);
u32 iwp_hold_begin(struct iwp_qp *qp, const struct iwarp_hdr *hdr);
void iwp_hold_keep(struct iwp_qp *qp, const struct iwarp_hdr *hdr);
void iwp_hold_deliver(struct iwp_qp *qp);
bool iwp_hold_again(struct iwp_qp *qp);
void iwp_hold_look_later(struct iwp_qp *qp);
void iwp_hold_end(struct iwp_qp *qp);
bool iwp_hold_delays_end(struct iwp_qp *qp, const struct sock *sk);

#endif /* _IWP_HOLD_H */
