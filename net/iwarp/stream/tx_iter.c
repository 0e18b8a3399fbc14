// SPDX-License-Identifier: GPL-2.0
/*
 * Integrated buffering: what a process writes is copied once, to where TCP sends it from,
 * with gaps for markers (Sockets Direct Protocol for hybrid network stacks, section 4.1).
 *
 * The paper has the layer above leave the gaps. Here that is done where their positions
 * are known, which depend on all that is sent before. So a request is executed at once, or
 * not at all.
 */
#include <net/tcp.h>

#include "offload/offload.h"
#include "internal.h"

/**
 * struct iwp_tx_mark - what to go back to if a message cannot be completed
 * @stream: order of messages
 * @pos: stream position
 * @seg_used: bytes used in TCP's last segment
 * @segs: segments built
 * @nr_vecs: fragments
 * @nr_submitted: those that the engine was given
 * @nr_ready: those that it is done with
 * @nr_batches: in so many batches
 * @last_len: length of the last one
 */
struct iwp_tx_mark {
	struct iwarp_stream stream;
	u64 pos;
	u32 seg_used;
	u32 segs;
	u32 nr_vecs;
	u32 nr_submitted;
	u32 nr_ready;
	u32 nr_batches;
	u32 last_len;
};

static void iwp_tx_set_mark(const struct iwp_tx *tx, struct iwp_tx_mark *mark)
{
	*mark = (struct iwp_tx_mark) {
		.stream = tx->stream,
		.pos = tx->pos,
		.seg_used = tx->seg_used,
		.segs = tx->segs,
		.nr_vecs = tx->nr_vecs,
		.nr_submitted = tx->nr_submitted,
		.nr_ready = tx->nr_ready,
		.nr_batches = tx->nr_batches,
		.last_len = tx->nr_vecs ? tx->vecs[tx->nr_vecs - 1].bv_len : 0,
	};
}

/* TCP has nothing of the message yet. */
static void iwp_tx_go_back(struct iwp_tx *tx, const struct iwp_tx_mark *mark)
{
	iwp_vec_truncate(tx, mark->nr_vecs, mark->last_len);
	tx->stream = mark->stream;
	tx->pos = mark->pos;
	tx->seg_used = mark->seg_used;
	tx->segs = mark->segs;
	tx->nr_submitted = mark->nr_submitted;
	tx->nr_ready = mark->nr_ready;
	tx->nr_batches = mark->nr_batches;
	memset(&tx->msg, 0, sizeof(tx->msg));
}

/* Takes back the request, which is the last one. */
static void iwp_sq_take_back(struct iwp_sq *sq, u32 index)
{
	unsigned long flags;

	spin_lock_irqsave(&sq->lock, flags);
	WARN_ON_ONCE(sq->put != index + 1);
	sq->next = index;
	iwp_index_store(&sq->put, index);
	spin_unlock_irqrestore(&sq->lock, flags);
}

static int iwp_tx_build_segment(struct iwp_qp *qp)
{
	int err;

	if (qp->tx.nr_vecs + IWP_TX_SEG_VECS > IWP_TX_VECS ||
	    qp->tx.nr_batches == IWP_TX_BATCHES)
		return -EAGAIN;
	err = iwp_tx_segment(qp);
	return err == -ENOMEM ? -EAGAIN : err;
}

/* The engine works on what is complete while the rest is copied. */
static int iwp_tx_build(struct iwp_qp *qp, struct iov_iter *from)
{
	struct iwp_tx *tx = &qp->tx;
	u64 pos = tx->pos;
	u32 segs = tx->segs;
	int err = 0;

	iwp_tx_next_msg(qp);
	if (tx->msg.source == IWP_MSG_NONE)
		return -EAGAIN;
	tx->msg.from = from;
	while (!err && tx->msg.source != IWP_MSG_NONE) {
		err = iwp_tx_build_segment(qp);
		if (err || (tx->msg.source != IWP_MSG_NONE && tx->pos - pos < iwp_tx_batch(qp)))
			continue;
		iwp_tx_submit(qp, tx->pos - pos, tx->segs - segs);
		pos = tx->pos;
		segs = tx->segs;
	}
	return err;
}

/**
 * iwp_tx_takes_iter() - whether iwp_tx_iter() can send a request at once
 * @qp: queue pair
 *
 * Nothing goes before it, and TCP has room.
 *
 * Context: socket lock held, Full Operation.
 */
bool iwp_tx_takes_iter(const struct iwp_qp *qp)
{
	const struct iwp_tx *tx = &qp->tx;

	lockdep_assert(lockdep_sock_is_held(tx->sk));
	return qp->state == IWP_QP_RTS && !tx->busy && !tx->wait_first &&
	       iwp_tx_written(qp) && sk_stream_is_writeable(tx->sk);
}

/**
 * iwp_tx_iter() - send the request posted last, whose payload a process has
 * @qp: queue pair without loopback for which iwp_tx_takes_iter() was true before that
 * @from: payload behind what the request has inline; advanced behind it
 *
 * Context: socket lock held, with softirqs disabled; does not wait for the memory.
 * Return: 0; -EAGAIN if there is no memory for the segments; -EFAULT if the process's is
 * not there. After an error the request is not posted, and @from is where it was.
 */
int iwp_tx_iter(struct iwp_qp *qp, struct iov_iter *from)
{
	size_t before = iov_iter_count(from);
	struct iwp_tx *tx = &qp->tx;
	u32 index = qp->sq.next;
	struct iwp_tx_mark mark;
	int err;

	lockdep_assert(lockdep_sock_is_held(tx->sk));
	iwp_tx_begin_batch(tx);
	iwp_tx_set_mark(tx, &mark);
	pagefault_disable();
	err = iwp_tx_build(qp, from);
	pagefault_enable();
	if (err) {
		iwp_tx_go_back(tx, &mark);
		iwp_sq_take_back(&qp->sq, index);
		iov_iter_revert(from, before - iov_iter_count(from));
		return err;
	}
	iwp_count(qp->dev, IWP_STAT_TX_ITER_BYTES, before - iov_iter_count(from));
	iwp_tx_ready(qp);
	return 0;
}
