// SPDX-License-Identifier: GPL-2.0
/*
 * Details for "rdma resource show ... -dd".
 *
 * The RDMA core keeps an object's structure for the time of a call, but on some kernels not
 * what the object has allocated: it may be destroyed meanwhile. So only fields of the
 * structures themselves are read, and those without locks: they may be of different
 * moments. Nothing here says where memory is, or what its keys are, as everybody may ask.
 */
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>

#include "mem/mem.h"
#include "offload/offload.h"
#include "queue/queue.h"
#include "verbs.h"

static const char *iwp_res_bool(bool value)
{
	return value ? "yes" : "no";
}

/* What is between two counts, of which the one that follows the other is read first. */
static u32 iwp_res_used(const u32 *get, const u32 *put)
{
	/* The order is all that this acquires. */
	u32 got = smp_load_acquire(get);

	return READ_ONCE(*put) - got;
}

static int iwp_res_end(struct sk_buff *msg, struct nlattr *table, int err)
{
	if (err) {
		nla_nest_cancel(msg, table);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, table);
	return 0;
}

static const char *iwp_res_state(const struct iwp_qp *qp)
{
	static const char * const names[] = {
		[IWP_QP_IDLE] = "idle",
		[IWP_QP_RTS] = "connected",
		[IWP_QP_CLOSING] = "closing",
		[IWP_QP_ERROR] = "error",
	};

	return names[READ_ONCE(qp->state)];
}

static const char *iwp_res_hold(const struct iwp_hold *hold)
{
	if (!READ_ONCE(hold->enabled))
		return "no";
	return READ_ONCE(hold->waiting) ? "waiting" : "yes";
}

/* What was negotiated, and how requests are transferred. */
static int iwp_res_connection(struct sk_buff *msg, const struct iwp_qp *qp)
{
	return rdma_nl_put_driver_string(msg, "connection", iwp_res_state(qp)) ?:
	       rdma_nl_put_driver_string(msg, "design", iwp_design_name(qp->design)) ?:
	       rdma_nl_put_driver_string(msg, "joined",
					 iwp_res_bool(READ_ONCE(qp->loopback.pair))) ?:
	       rdma_nl_put_driver_u32(msg, "markers_out", READ_ONCE(qp->tx.interval)) ?:
	       rdma_nl_put_driver_u32(msg, "markers_in", READ_ONCE(qp->rx.wire.interval)) ?:
	       rdma_nl_put_driver_string(msg, "crc",
					 iwp_res_bool(READ_ONCE(qp->tx.use_crc))) ?:
	       rdma_nl_put_driver_string(msg, "long_fpdus",
					 iwp_res_bool(READ_ONCE(qp->tx.long_fpdus) &&
						      !READ_ONCE(qp->loopback.pair))) ?:
	       rdma_nl_put_driver_string(msg, "early",
					 iwp_res_bool(READ_ONCE(qp->rx.early))) ?:
	       rdma_nl_put_driver_string(msg, "hold", iwp_res_hold(&qp->rx.hold)) ?:
	       rdma_nl_put_driver_u32(msg, "held_bytes",
				      iwp_res_used(&qp->rx.hold.spill.get,
						   &qp->rx.hold.spill.put));
}

/* Requests of processes that were not looked at yet are in their memory. */
static int iwp_res_queues(struct sk_buff *msg, const struct iwp_qp *qp)
{
	const struct iwp_tx *tx = &qp->tx;
	int err;

	err = rdma_nl_put_driver_u32(msg, "sq_size", qp->sq.size) ?:
	      rdma_nl_put_driver_u32(msg, "sq_used",
				     iwp_res_used(&qp->sq.done, &qp->sq.put)) ?:
	      rdma_nl_put_driver_u32(msg, "rq_size", qp->rq.size) ?:
	      rdma_nl_put_driver_u32(msg, "rq_taken", READ_ONCE(qp->rq.get)) ?:
	      rdma_nl_put_driver_u32(msg, "reads_out",
				     iwp_res_used(&tx->orq_get, &tx->orq_put)) ?:
	      rdma_nl_put_driver_u32(msg, "reads_in",
				     iwp_res_used(&tx->reads_get, &tx->reads_put)) ?:
	      rdma_nl_put_driver_u64(msg, "sent_bytes", READ_ONCE(tx->pos)) ?:
	      rdma_nl_put_driver_u64(msg, "acked_bytes", READ_ONCE(tx->acked));
	if (!err && iwp_qp_kernel(qp))
		err = rdma_nl_put_driver_u32(msg, "rq_used",
					     iwp_res_used(&qp->rq.get, &qp->rq.put));
	return err;
}

static int iwp_fill_res_qp(struct sk_buff *msg, struct ib_qp *ibqp)
{
	const struct iwp_qp *qp = iwp_qp(ibqp);
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);

	if (!table)
		return -EMSGSIZE;
	return iwp_res_end(msg, table, iwp_res_connection(msg, qp) ?:
				       iwp_res_queues(msg, qp));
}

/* What a process has taken is in its memory. */
static int iwp_fill_res_cq(struct sk_buff *msg, struct ib_cq *ibcq)
{
	const struct iwp_cq *cq = iwp_cq(ibcq);
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	u32 used = iwp_res_used(&cq->get, &cq->put);
	int err;

	if (!table)
		return -EMSGSIZE;
	err = rdma_nl_put_driver_u32(msg, "size", cq->size) ?:
	      rdma_nl_put_driver_u32(msg, "completions", READ_ONCE(cq->put)) ?:
	      rdma_nl_put_driver_string(msg, "overrun", iwp_res_bool(READ_ONCE(cq->overrun)));
	if (!err && rdma_is_kernel_res(&ibcq->res))
		err = rdma_nl_put_driver_u32(msg, "used", used);
	return iwp_res_end(msg, table, err);
}

static const char *iwp_res_mr_type(const struct iwp_mr *mr)
{
	if (mr->dma)
		return "dma";
	return mr->umem ? "user" : "fast-reg";
}

static int iwp_fill_res_mr(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	struct iwp_mr *mr = iwp_mr(ibmr);
	bool valid;
	int access;

	if (!table)
		return -EMSGSIZE;
	read_lock_bh(&mr->lock);
	valid = mr->valid;
	access = mr->access;
	read_unlock_bh(&mr->lock);
	return iwp_res_end(msg, table,
			   rdma_nl_put_driver_string(msg, "type", iwp_res_mr_type(mr)) ?:
			   rdma_nl_put_driver_string(msg, "valid", iwp_res_bool(valid)) ?:
			   rdma_nl_put_driver_u32_hex(msg, "access", access) ?:
			   rdma_nl_put_driver_u32(msg, "pages", READ_ONCE(mr->npages)) ?:
			   rdma_nl_put_driver_u32(msg, "page_size", 1u << mr->page_shift));
}

const struct ib_device_ops iwp_restrack_dev_ops = {
	.fill_res_cq_entry = iwp_fill_res_cq,
	.fill_res_mr_entry = iwp_fill_res_mr,
	.fill_res_qp_entry = iwp_fill_res_qp,
};
