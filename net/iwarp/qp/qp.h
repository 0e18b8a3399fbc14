/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queue pairs: their queues, their states, and who refers to them.
 */
#ifndef _IWP_QP_H
#define _IWP_QP_H

#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rdma/siw-abi.h>

#include "mem/mem.h"
#include "queue/queue.h"
#include "stream/rx.h"
#include "stream/tx.h"
#include "loopback/loopback.h"

struct iwp_ep;

/**
 * enum iwp_qp_state - what a queue pair can do
 * @IWP_QP_IDLE: take receive requests
 * @IWP_QP_RTS: everything
 * @IWP_QP_CLOSING: receive, and send what was posted before
 * @IWP_QP_ERROR: nothing; requests are flushed
 *
 * Only forwards, one way.
 */
enum iwp_qp_state {
	IWP_QP_IDLE,
	IWP_QP_RTS,
	IWP_QP_CLOSING,
	IWP_QP_ERROR,
};

/**
 * enum iwp_send_state - where a send request is
 * @IWP_SEND_POSTED: not begun
 * @IWP_SEND_ACTIVE: parts of it, or all, have become segments
 * @IWP_SEND_DONE: it needs nothing more but those before it
 */
enum iwp_send_state {
	IWP_SEND_POSTED,
	IWP_SEND_ACTIVE,
	IWP_SEND_DONE,
};

/**
 * struct iwp_send - a send request
 * @id: the user's name for it
 * @opcode: enum siw_opcode or enum iwp_opcode
 * @flags: enum siw_wqe_flags
 * @num_sge: pieces of memory
 * @state: enum iwp_send_state
 * @status: enum siw_wc_status, once it is done
 * @rkey: the peer's STag, or what to invalidate or register
 * @raddr: the peer's address
 * @length: bytes in all pieces
 * @imm: immediate data
 * @access: for a registration
 * @mr: region to register
 * @end: place in the stream behind its last byte
 * @sge: pieces; with SIW_WQE_INLINE, the data itself follows the first
 */
struct iwp_send {
	u64 id;
	u8 opcode;
	u8 flags;
	u8 num_sge;
	u8 state;
	u8 status;
	u32 rkey;
	u64 raddr;
	u32 length;
	__be32 imm;
	int access;
	struct iwp_mr *mr;
	u64 end;
	struct siw_sge sge[SIW_MAX_SGE];
};

/**
 * struct iwp_sq - send queue
 * @lock: orders those who post
 * @ring: requests
 * @size: of the ring, a power of two
 * @put: where the next request goes
 * @next: the first request that is not begun; as all below, not wrapped
 * @done: the first request that has not completed
 * @shared: the queue of a process, from which requests move to @ring
 * @shared_get: where the next of them is
 * @max_sge: pieces of memory in a request
 * @sig_all: each request is to be reported
 * @reaping: somebody takes completed requests off, bit 0
 *
 * @put is moved under @lock, @next under the socket's lock, and @done by the
 * owner of @reaping.
 */
struct iwp_sq {
	spinlock_t lock; /* of posting */
	struct iwp_send *ring;
	u32 size;
	u32 put;
	u32 next;
	u32 done;
	struct iwp_queue shared;
	u32 shared_get;
	u8 max_sge;
	bool sig_all;
	unsigned long reaping;
};

/**
 * struct iwp_rq - receive queue
 * @lock: orders those who post
 * @queue: memory of the requests, perhaps shared with a process
 * @ring: requests; a valid one may be taken
 * @size: of the ring, a power of two, or 0
 * @put: where the next request of a kernel user goes, not wrapped
 * @get: the next request to be used, not wrapped
 * @max_sge: pieces of memory in a request
 * @flushing: somebody takes requests off, bit 0
 */
struct iwp_rq {
	spinlock_t lock; /* of posting */
	struct iwp_queue queue;
	struct siw_rqe *ring;
	u32 size;
	u32 put;
	u32 get;
	u8 max_sge;
	unsigned long flushing;
};

/**
 * struct iwp_late - looks for what a process posts to a queue pair in error
 * @work: does it
 * @delay: when it will look again, jiffies
 */
struct iwp_late {
	struct delayed_work work;
	unsigned long delay;
};

/**
 * struct iwp_ack - when to acknowledge what was received
 * @timer: does it
 * @armed: it will, and has a reference of the queue pair
 * @again: how often it has waited for more
 * @shift: how often its delay is doubled
 * @received: how far TCP had received when the timer was started, or last ran
 * @sent: how far TCP had sent when it was started
 */
struct iwp_ack {
	struct hrtimer timer;
	bool armed;
	u8 again;
	u8 shift;
	u32 received;
	u32 sent;
};

/**
 * struct iwp_qp - a queue pair
 * @ibqp: what the RDMA core knows; first, as the core allocates it
 * @dev: device
 * @state: enum iwp_qp_state; changed under @lock, and, while there is a
 *	connection, under the socket's lock
 * @lock: protects @ep
 * @ep: the connection, a reference, or NULL
 * @refs: the user's, the endpoint's, the connection manager's, the work's
 * @released: no reference is left
 * @destroying: the user gives it up: no more events
 * @sq: send queue
 * @rq: receive queue
 * @tx: what is being sent; under the socket's lock
 * @rx: what is being received; under the socket's lock
 * @tx_work: sends where post_send() cannot
 * @design: enum iwp_design
 * @engine_from: when the engine's work began that processors do now
 * @tx_timer: goes on sending when the engine is done
 * @ack: when what was received is acknowledged; under the socket's lock
 * @late: flushes what is posted after that, once it is in error
 * @local: joins it with a queue pair of this kernel, or NULL; for good
 * @out: where its requests are executed, if it is joined and not in error
 * @in: where the peer's are
 * @failure: why iwp_qp_fail() wants the connection to end
 * @tx_retry: sends what there was no memory for
 */
struct iwp_qp {
	struct ib_qp ibqp;
	struct iwp_device *dev;
	u8 state;
	spinlock_t lock; /* of ep and state */
	struct iwp_ep *ep;
	refcount_t refs;
	struct completion released;
	bool destroying;
	struct iwp_sq sq;
	struct iwp_rq rq;
	struct iwp_tx tx;
	struct iwp_rx rx;
	struct work_struct tx_work;
	u8 design;
	u64 engine_from;
	struct hrtimer tx_timer;
	struct iwp_ack ack;
	struct iwp_late late;
	struct iwp_local *local;
	struct iwp_lane *out;
	struct iwp_lane *in;
	enum iwarp_error failure;
	struct delayed_work tx_retry;
};

static inline struct iwp_qp *iwp_qp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct iwp_qp, ibqp);
}

/* Whether a request brings the peer's memory here. */
static inline bool iwp_send_reads(const struct iwp_send *send)
{
	return send->opcode == SIW_OP_READ ||
	       send->opcode == SIW_OP_READ_LOCAL_INV;
}

/* Whether the peer has no part in a request. */
static inline bool iwp_send_is_here(const struct iwp_send *send)
{
	return send->opcode == SIW_OP_REG_MR ||
	       send->opcode == SIW_OP_INVAL_STAG;
}

static inline bool iwp_qp_kernel(const struct iwp_qp *qp)
{
	return rdma_is_kernel_res(&qp->ibqp.res);
}

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
	return iwp_local_kick(READ_ONCE(qp->out));
}

/* What receives is to look at the queue pair's state. */
static inline bool iwp_local_receive(const struct iwp_qp *qp)
{
	/* Pairs with iwp_lane_leave(): who has left has flushed. */
	return iwp_local_kick(smp_load_acquire(&qp->in));
}

/* Between who fills a place in a ring and who empties it: an index. */
static inline u32 iwp_index_load(const u32 *index)
{
	/* Pairs with iwp_index_store(): what it counts is to be seen. */
	return smp_load_acquire(index);
}

static inline void iwp_index_store(u32 *index, u32 value)
{
	/* Pairs with iwp_index_load(). */
	smp_store_release(index, value);
}

/* The same for a place that says itself whether it is full. */
static inline u16 iwp_place_load(const __u16 *flags)
{
	/* Pairs with iwp_place_store(), and with the process's like. */
	return smp_load_acquire(flags);
}

static inline void iwp_place_store(__u16 *flags, u16 value)
{
	/* Pairs with iwp_place_load(), and with the process's like. */
	smp_store_release(flags, value);
}

/* Whether there is a request in a process's queue. */
static inline bool iwp_sq_shared_pending(const struct iwp_sq *sq)
{
	const struct siw_sqe *ring = sq->shared.mem;

	return ring && iwp_place_load(&ring[READ_ONCE(sq->shared_get) &
					    (sq->size - 1)].flags) &
		       SIW_WQE_VALID;
}

/* Whether there is a request that is not begun, be it there. */
static inline bool iwp_sq_pending(const struct iwp_sq *sq)
{
	return sq->next != iwp_index_load(&sq->put) ||
	       iwp_sq_shared_pending(sq);
}

/* Whether everything is in segments.  The socket's lock is held. */
static inline bool iwp_tx_written(const struct iwp_qp *qp)
{
	const struct iwp_tx *tx = &qp->tx;

	return tx->msg.source == IWP_MSG_NONE && !tx->send_rtr &&
	       tx->reads_get == tx->reads_put && !iwp_sq_pending(&qp->sq);
}

/* Whether TCP has all of it, too: what remains is to be acknowledged. */
static inline bool iwp_tx_idle(const struct iwp_qp *qp)
{
	return !qp->tx.nr_vecs && iwp_tx_written(qp);
}

/* qp.c */
int iwp_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr,
		  struct ib_udata *udata);
int iwp_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
int iwp_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_udata *udata);
int iwp_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init);
struct iwp_qp *iwp_qp_find(struct ib_device *ibdev, u32 qpn);
struct ib_qp *iwp_get_qp(struct ib_device *ibdev, int qpn);
void iwp_qp_add_ref(struct ib_qp *ibqp);
void iwp_qp_rem_ref(struct ib_qp *ibqp);
void iwp_qp_get(struct iwp_qp *qp);
void iwp_qp_put(struct iwp_qp *qp);
struct iwp_ep *iwp_qp_ep(struct iwp_qp *qp);
int iwp_qp_rts(struct iwp_qp *qp);
void iwp_qp_error(struct iwp_qp *qp);
void iwp_qp_abort(struct iwp_qp *qp);
void iwp_qp_fail(struct iwp_qp *qp, enum iwarp_error error);
void iwp_qp_tell_error(struct iwp_qp *qp);

/* stream/ack.c */
void iwp_ack_init(struct iwp_qp *qp);
void iwp_ack_soon(struct iwp_qp *qp);
void iwp_ack_stop(struct iwp_qp *qp);

/* flush_poll.c */
void iwp_late_init(struct iwp_qp *qp);
void iwp_late_start(struct iwp_qp *qp);
void iwp_late_stop(struct iwp_qp *qp);

/* verbs/post.c */
int iwp_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad_wr);
int iwp_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad_wr);

/* queue/queue.c */
struct iwp_send *iwp_sq_next(struct iwp_qp *qp);
void iwp_sq_complete(struct iwp_qp *qp, struct iwp_send *send,
		     enum siw_wc_status status);
void iwp_sq_reap(struct iwp_qp *qp, u64 acked);
void iwp_sq_flush(struct iwp_qp *qp);
bool iwp_rq_peek(struct iwp_qp *qp, u32 ahead, struct siw_rqe *rqe);
bool iwp_rq_take(struct iwp_qp *qp, struct siw_rqe *rqe);
bool iwp_rq_empty(struct iwp_qp *qp);
void iwp_rq_complete(struct iwp_qp *qp, const struct iwp_completion *done);
void iwp_rq_flush(struct iwp_qp *qp);

#endif /* _IWP_QP_H */
