// SPDX-License-Identifier: GPL-2.0
/*
 * Placement ahead of a hole: what may be placed early, where it goes, and whether it is
 * still there when it arrives in order.
 *
 * Only payload is placed early. Completions, invalidations, responses and errors wait
 * until the FPDU arrives in order, as does what cannot be placed now.
 */
#include <linux/hash.h>
#include <linux/slab.h>

#include "internal.h"

static struct iwp_early *iwp_early_of(struct iwarp_rx *wire)
{
	return container_of(wire, struct iwp_early, wire);
}

static u64 iwp_target_hash(u64 target, u64 value)
{
	return (target + value) * GOLDEN_RATIO_64;
}

/* Other memory, or the same re-registered, is another target. */
static u64 iwp_sge_target(struct ib_pd *pd, const struct siw_sge *sge,
			  u8 num_sge, u64 target)
{
	for (; num_sge; sge++, num_sge--) {
		target = iwp_target_hash(target, sge->laddr);
		target = iwp_target_hash(target, sge->length);
		target = iwp_target_hash(target,
					 iwp_mem_generation(pd, sge->lkey));
	}
	return target;
}

static u64 iwp_write_target(struct iwp_qp *qp, const struct iwarp_hdr *hdr)
{
	return iwp_mem_generation(qp->ibqp.pd, hdr->stag);
}

/* Target of an early FPDU. */
static u64 iwp_early_target(struct iwp_early *early)
{
	if (early->wire.hdr.opcode == IWARP_WRITE)
		return iwp_write_target(early->qp, &early->wire.hdr);
	return iwp_sge_target(early->pd, early->sge, early->num_sge,
			      early->nr);
}

/* Target of the FPDU that arrives in order. */
static u64 iwp_in_order_target(struct iwp_qp *qp)
{
	const struct iwarp_hdr *hdr = &qp->rx.wire.hdr;
	const struct siw_rqe *rqe = &qp->rx.rqe;
	const struct iwp_send *send;

	switch (hdr->opcode) {
	case IWARP_WRITE:
		return iwp_write_target(qp, hdr);
	case IWARP_READ_RESP:
		send = iwp_read_send(qp, qp->tx.orq_get);
		return iwp_sge_target(qp->ibqp.pd, send->sge, send->num_sge,
				      qp->tx.orq_get);
	default:
		return iwp_sge_target(iwp_rq_pd(qp), rqe->sge, rqe->num_sge, 0);
	}
}

/* The response may be to any of our RDMA Read Requests, not only the oldest. */
static bool iwp_early_response(struct iwp_early *early)
{
	const struct iwarp_hdr *hdr = &early->wire.hdr;
	struct iwp_qp *qp = early->qp;
	struct iwp_tx *tx = &qp->tx;
	struct iwp_send *send;
	u32 nr = tx->orq_get;

	while (nr != tx->orq_put && iwp_read_stag(tx, nr) != hdr->stag)
		nr++;
	if (nr == tx->orq_put)
		return false;
	send = iwp_read_send(qp, nr);
	if (tx->msg.send == send || hdr->payload_len > send->length ||
	    hdr->to > send->length - hdr->payload_len)
		return false;
	early->sge = send->sge;
	early->num_sge = send->num_sge;
	early->pd = qp->ibqp.pd;
	early->at = hdr->to;
	early->nr = nr;
	return true;
}

/*
 * Each message takes one receive request, so its MSN says which one, unless messages
 * are held; or the queue is shared, and it is not the message that has begun. User
 * space might change the request before it is taken: that would be another target, and
 * until then it is memory that user space has offered.
 */
static bool iwp_early_send(struct iwp_early *early)
{
	const struct iwarp_hdr *hdr = &early->wire.hdr;
	struct iwp_qp *qp = early->qp;
	u32 ahead = iwarp_in_ahead(&qp->tx.stream, hdr);

	if (qp->rx.hold.waiting)
		return false;
	if (qp->rx.has_rqe && !ahead)
		early->rqe = qp->rx.rqe;
	else if (!iwp_rq_peek(qp, ahead - qp->rx.has_rqe, &early->rqe))
		return false;
	if ((u64)hdr->mo + hdr->payload_len > iwp_rqe_len(&early->rqe))
		return false;
	early->sge = early->rqe.sge;
	early->num_sge = early->rqe.num_sge;
	early->pd = iwp_rq_pd(qp);
	early->at = hdr->mo;
	early->nr = 0;
	return true;
}

static bool iwp_early_wanted(struct iwp_early *early)
{
	const struct iwarp_hdr *hdr = &early->wire.hdr;

	if (!hdr->payload_len || iwarp_opcode_control(hdr->opcode))
		return false;
	switch (hdr->opcode) {
	case IWARP_WRITE:
		return !iwp_write_check(early->qp, hdr);
	case IWARP_READ_RESP:
		return iwp_early_response(early);
	default:
		return iwp_early_send(early);
	}
}

static u32 iwp_early_begin(struct iwarp_rx *wire)
{
	struct iwp_early *early = iwp_early_of(wire);

	if (iwarp_placed_full(&early->placed))
		return IWARP_RX_HOLD;
	if (!iwp_early_wanted(early))
		return IWARP_RX_SKIP;
	early->failed = false;
	early->target = iwp_early_target(early);
	return IWARP_RX_GO;
}

static enum iwarp_error iwp_early_data(struct iwarp_rx *wire,
				       const struct iwarp_source *src, u32 off,
				       u32 len, u32 at)
{
	struct iwp_early *early = iwp_early_of(wire);
	struct iwp_copy copy = { .src = src, .off = off };
	const struct iwarp_hdr *hdr = &wire->hdr;
	enum iwp_mem_err err;

	if (early->failed)
		return IWARP_OK;
	if (hdr->opcode == IWARP_WRITE)
		err = iwp_place_write(early->qp, hdr, at, len, &copy);
	else
		err = iwp_scatter(early->qp, early->pd, early->sge,
				  early->num_sge, early->at + at, len, &copy);
	early->failed = err;
	return IWARP_OK;
}

/*
 * The FPDU counts as placed if all of it went to the same registration. If it was
 * placed between two parts of a segment that arrives in order, the second part may
 * overwrite it.
 */
static enum iwarp_error iwp_early_end(struct iwarp_rx *wire)
{
	struct iwp_early *early = iwp_early_of(wire);
	struct iwarp_placed *placed = &early->placed;
	struct iwarp_rx *in_order = &early->qp->rx.wire;

	if (wire->skip || early->failed ||
	    iwp_early_target(early) != early->target)
		return IWARP_OK;
	iwarp_placed_overwrite(placed, wire->start, &wire->hdr);
	iwarp_placed_add(placed, wire->start, wire->end - wire->start,
			 wire->fpdu, iwarp_hdr_len(wire->hdr.opcode),
			 early->target);
	if (in_order->state > IWARP_RX_BEGIN)
		iwarp_placed_overwrite(placed, in_order->start, &in_order->hdr);
	return IWARP_OK;
}

static const struct iwarp_rx_ops iwp_early_rx_ops = {
	.begin = iwp_early_begin,
	.data = iwp_early_data,
	.end = iwp_early_end,
};

/**
 * iwp_early_take() - check whether an FPDU that arrives in order was placed early
 * @qp: queue pair; the FPDU is valid, and has its receive request, if it takes one, or
 *	is held
 *
 * Context: socket lock held.
 * Return: %IWARP_RX_SKIP if it was placed, else %IWARP_RX_GO.
 */
u32 iwp_early_take(struct iwp_qp *qp)
{
	struct iwarp_placed *placed = &qp->rx.early->placed;
	const struct iwarp_rx *wire = &qp->rx.wire;
	u32 len = wire->end - wire->start;

	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	if (iwarp_opcode_receives(wire->hdr.opcode) && qp->rx.hold.spilling)
		return IWARP_RX_GO;
	if (iwarp_placed_take(placed, wire->start, len, wire->fpdu,
			      iwarp_hdr_len(wire->hdr.opcode),
			      iwp_in_order_target(qp))) {
		iwp_count(qp->dev, IWP_STAT_RX_EARLY_BYTES, len);
		iwp_count(qp->dev, IWP_STAT_RX_EARLY_FPDUS, 1);
		return IWARP_RX_SKIP;
	}
	iwarp_placed_overwrite(placed, wire->start, &wire->hdr);
	return IWARP_RX_GO;
}

/**
 * iwp_early_new() - allocate the state of early placement
 * @qp: queue pair that starts Full Operation, with markers
 *
 * Context: process.
 * Return: the state, which belongs to the queue pair, or NULL.
 */
struct iwp_early *iwp_early_new(struct iwp_qp *qp)
{
	const struct iwarp_rx *in_order = &qp->rx.wire;
	struct iwp_early *early = kvzalloc(sizeof(*early), GFP_KERNEL_ACCOUNT);

	qp->rx.early = early;
	if (!early)
		return NULL;
	early->qp = qp;
	iwarp_rx_init(&early->wire, &iwp_early_rx_ops, in_order->interval,
		      in_order->use_crc, 0);
	iwarp_placed_init(&early->placed, early->slots, IWP_EARLY_SLOTS);
	return early;
}

/**
 * iwp_early_free() - release the state of early placement
 * @qp: queue pair without a socket
 */
void iwp_early_free(struct iwp_qp *qp)
{
	kvfree(qp->rx.early);
}
