/* SPDX-License-Identifier: GPL-2.0 */
/* Completion queues; send and receive queues, of queue pairs or shared by some. */
#ifndef _IWP_QUEUE_H
#define _IWP_QUEUE_H

#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>
#include <rdma/siw-abi.h>

#include "core/core.h"
#include "mem/mem.h"

/* Operations for kernel consumers that siw's ABI has no opcode for. */
enum iwp_opcode {
	IWP_OP_WRITE_WITH_IMM = SIW_NUM_OPCODES,
	IWP_OP_RECEIVE_IMM,
	IWP_NUM_OPCODES
};

/* Flag of a kernel consumer's completion: it has immediate data. */
#define IWP_CQE_IMM		BIT(7)

/**
 * struct iwp_cq_fault - what a completion queue does wrong, see cq_fault.c
 * @timer: when what is late comes
 * @hidden: no completion is to be seen before
 */
struct iwp_cq_fault {
#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS
	struct timer_list timer;
	bool hidden;
#endif
};

/**
 * struct iwp_cq - a completion queue
 * @ibcq: the RDMA core's part; first, as the core allocates the structure
 * @lock: serializes writers, and readers in the kernel
 * @queue: memory
 * @ring: elements
 * @ctrl: notification flags, after the elements
 * @size: number of elements
 * @put: next element to be written, not wrapped
 * @get: next element for a kernel consumer to read, not wrapped
 * @overrun: a completion was lost, and the event sent; under @lock
 * @fault: for tests
 */
struct iwp_cq {
	struct ib_cq ibcq;
	spinlock_t lock; /* protects put and get */
	struct iwp_queue queue;
	struct siw_cqe *ring;
	struct siw_cq_ctrl *ctrl;
	u32 size;
	u32 put;
	u32 get;
	bool overrun;
	struct iwp_cq_fault fault;
};

static inline struct iwp_cq *iwp_cq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct iwp_cq, ibcq);
}

/**
 * struct iwp_srq - a shared receive queue
 * @ibsrq: the RDMA core's part; first, as the core allocates the structure
 * @rq: requests; queue pairs take them under its lock, whatever locks they hold beside
 * @limit: an event is due when fewer requests are posted; 0 = none is; under the lock
 * @told: how many requests had been taken when the last event was sent; under the lock
 */
struct iwp_srq {
	struct ib_srq ibsrq;
	struct iwp_rq rq;
	u32 limit;
	u32 told;
};

static inline struct iwp_srq *iwp_srq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct iwp_srq, ibsrq);
}

/* Protection domain of the memory that receive requests name. */
static inline struct ib_pd *iwp_rq_pd(const struct iwp_qp *qp)
{
	return qp->srq ? qp->srq->ibsrq.pd : qp->ibqp.pd;
}

/**
 * struct iwp_completion - contents of a completion
 * @id: wr_id
 * @opcode: enum siw_opcode or enum iwp_opcode
 * @status: enum siw_wc_status
 * @flags: SIW_WQE_REM_INVAL or IWP_CQE_IMM
 * @solicited: the peer requested a solicited event
 * @bytes: received or read
 * @stag: STag that the peer invalidated
 * @imm: immediate data
 */
struct iwp_completion {
	u64 id;
	u8 opcode;
	u8 status;
	u8 flags;
	bool solicited;
	u32 bytes;
	u32 stag;
	__be32 imm;
};

/* cq.c */
extern const struct ib_device_ops iwp_cq_dev_ops;
bool iwp_cq_put(struct iwp_cq *cq, struct ib_qp *ibqp,
		const struct iwp_completion *done);

/* cq_fault.c */
#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS
void iwp_cq_fault_init(struct iwp_cq *cq);
void iwp_cq_fault_exit(struct iwp_cq *cq);
bool iwp_cq_fault_put(struct iwp_cq *cq, bool event);
void iwp_cq_fault_polled(struct ib_wc *wc, int n);

static inline bool iwp_cq_fault_hides(const struct iwp_cq *cq)
{
	return READ_ONCE(cq->fault.hidden);
}
#else
static inline void iwp_cq_fault_init(struct iwp_cq *cq)
{
}

static inline void iwp_cq_fault_exit(struct iwp_cq *cq)
{
}

static inline bool iwp_cq_fault_put(struct iwp_cq *cq, bool event)
{
	return false;
}

static inline void iwp_cq_fault_polled(struct ib_wc *wc, int n)
{
}

static inline bool iwp_cq_fault_hides(const struct iwp_cq *cq)
{
	return false;
}
#endif

/* Whether it is an RDMA Read. */
static inline bool iwp_send_reads(const struct iwp_send *send)
{
	return send->opcode == SIW_OP_READ ||
	       send->opcode == SIW_OP_READ_LOCAL_INV;
}

/* Whether the request does not involve the peer. */
static inline bool iwp_send_is_local(const struct iwp_send *send)
{
	return send->opcode == SIW_OP_REG_MR ||
	       send->opcode == SIW_OP_INVAL_STAG;
}

/* A ring index, read by the other side of the ring. */
static inline u32 iwp_index_load(const u32 *index)
{
	/* Pairs with iwp_index_store(): the entries before it are visible. */
	return smp_load_acquire(index);
}

static inline void iwp_index_store(u32 *index, u32 value)
{
	/* Pairs with iwp_index_load(). */
	smp_store_release(index, value);
}

/* Flags of a ring entry that say whether it is valid; also written by user space. */
static inline u16 iwp_flags_load(const __u16 *flags)
{
	/* Pairs with iwp_flags_store() and user space. */
	return smp_load_acquire(flags);
}

static inline void iwp_flags_store(__u16 *flags, u16 value)
{
	/* Pairs with iwp_flags_load() and user space. */
	smp_store_release(flags, value);
}

/* Whether user space's send queue has a request. */
static inline bool iwp_sq_shared_pending(const struct iwp_sq *sq)
{
	const struct siw_sqe *ring = sq->shared.mem;

	return ring && iwp_flags_load(&ring[READ_ONCE(sq->shared_get) &
					    (sq->size - 1)].flags) &
		       SIW_WQE_VALID;
}

/* Whether there is a request that is not started, in either queue. */
static inline bool iwp_sq_pending(const struct iwp_sq *sq)
{
	return sq->next != iwp_index_load(&sq->put) ||
	       iwp_sq_shared_pending(sq);
}

/* queue.c */
struct iwp_send *iwp_sq_next(struct iwp_qp *qp);
void iwp_sq_reap(struct iwp_qp *qp, u64 acked);
void iwp_sq_flush(struct iwp_qp *qp);
bool iwp_rq_peek(struct iwp_qp *qp, u32 ahead, struct siw_rqe *rqe);
bool iwp_rq_take_own(struct iwp_rq *rq, struct siw_rqe *rqe);
bool iwp_rq_take(struct iwp_qp *qp, struct siw_rqe *rqe);
bool iwp_rq_empty(struct iwp_qp *qp);
void iwp_rq_complete(struct iwp_qp *qp, const struct iwp_completion *done);
void iwp_rq_flush(struct iwp_qp *qp);

/* srq.c */
extern const struct ib_device_ops iwp_srq_dev_ops;
bool iwp_srq_take(struct iwp_srq *srq, struct siw_rqe *rqe);
void iwp_srq_leave(struct iwp_qp *qp);

#endif /* _IWP_QUEUE_H */
