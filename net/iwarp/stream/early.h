/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Payload that is placed ahead of a hole in the stream.
 *
 * All of it happens under the socket's lock.
 */
#ifndef _IWP_EARLY_H
#define _IWP_EARLY_H

#include <rdma/siw-abi.h>

#include "wire/wire.h"
#include "qp/qp.h"

/* How many FPDUs can be placed ahead of holes at a time. */
#define IWP_EARLY_SLOTS		1024
/* How much is placed before TCP gets on with its work. */
#define IWP_EARLY_BUDGET	65536

/**
 * struct iwp_early - what was placed ahead of a hole
 * @wire: the FPDU that is looked at
 * @qp: whose it is
 * @start_seq: TCP's number of the first byte of full operation
 * @off: something did not fit, and will not when it comes in order
 * @run: TCP's number of the first byte of the bytes that were looked at last
 * @next: and of the first of them that was not looked at
 * @filling: a segment has come that belongs to the hole
 * @filled: TCP's number of the byte behind it
 * @failed: some payload of @wire could not be placed
 * @target: what its payload goes to, see struct iwarp_place
 * @sge: pieces of that memory, if our own user has chosen it
 * @num_sge: how many
 * @at: offset of the payload in them
 * @nr: number of our request to read that @wire answers
 * @rqe: request that @wire will be received by
 * @placed: FPDUs that were placed
 * @slots: room for them
 */
struct iwp_early {
	struct iwarp_rx wire;
	struct iwp_qp *qp;
	u32 start_seq;
	bool off;
	u32 run;
	u32 next;
	bool filling;
	u32 filled;
	bool failed;
	u64 target;
	const struct siw_sge *sge;
	u8 num_sge;
	u32 at;
	u32 nr;
	struct siw_rqe rqe;
	struct iwarp_placed placed;
	struct iwarp_place slots[IWP_EARLY_SLOTS];
};

/* rx_place_early.c */
struct iwp_early *iwp_early_new(struct iwp_qp *qp);
void iwp_early_free(struct iwp_qp *qp);
u32 iwp_early_take(struct iwp_qp *qp);

/* rx_ooo.c */
void iwp_ooo_watch(struct iwp_qp *qp);
void iwp_ooo_unwatch(struct sock *sk);
void iwp_ooo_filled(struct iwp_qp *qp);

/* An FPDU comes in order and is right: whether its payload is there already. */
static inline u32 iwp_early_verdict(struct iwp_qp *qp)
{
	const struct iwp_early *early = qp->rx.early;

	if (!early || !early->placed.count)
		return IWARP_RX_GO;
	return iwp_early_take(qp);
}

#endif /* _IWP_EARLY_H */
