// SPDX-License-Identifier: GPL-2.0
/*
 * The send queue: work requests on their way to the device, and their completions,
 * which give the send ring's room back.
 */
#include <linux/bottom_half.h>
#include <linux/error-injection.h>
#include <linux/jiffies.h>

#include "stream.h"

static struct sdp_tx_wr *sdp_tx_wr(struct sdp_tx *tx, u32 count)
{
	return &tx->wr[count % SDP_TX_DEPTH];
}

/**
 * sdp_tx_account() - add a work request to those whose completion is to come
 * @st: stream of a locked socket, a work request is available
 * @len: bytes of the send ring that it takes along
 * @signal: it has a completion of its own
 *
 * Return: its entry, whose other members are the caller's.
 */
struct sdp_tx_wr *sdp_tx_account(struct sdp_stream *st, u32 len, bool signal)
{
	struct sdp_tx *tx = &st->tx;
	struct sdp_tx_wr *twr = sdp_tx_wr(tx, tx->wr_head);

	sdp_owned(st->sk);
	twr->done = NULL;
	twr->data = len;
	twr->signaled = signal;
	twr->len = len;
	twr->direct = 0;
	twr->integrated = 0;
	tx->since_signal = signal ? 0 : tx->since_signal + 1;
	tx->bytes_since_signal = signal ? 0 : tx->bytes_since_signal + len;
	tx->signaled += signal;
	tx->wr_head++;
	return twr;
}

static void sdp_tx_trace(const struct sdp_stream *st, const struct ib_send_wr *wr)
{
	for (; wr; wr = wr->next)
		trace_sdp_post(st->sk, wr);
}

/*
 * A device that works in softirqs (Soft-RoCE up to Linux 6.3, iwarp) does so before this
 * returns if it is to be done now, as what is below TCP does, and ksoftirqd is not woken.
 */
static noinline int sdp_tx_give(struct sdp_stream *st, struct ib_send_wr *wr, bool now)
{
	int err;

	if (now)
		local_bh_disable();
	err = ib_post_send(st->link->qp, wr, NULL);
	if (now)
		local_bh_enable();
	return err;
}
ALLOW_ERROR_INJECTION(sdp_tx_give, ERRNO);

/**
 * sdp_tx_submit() - give work requests to the device
 * @st: stream of a locked socket
 * @wr: the requests, accounted for; what waits to leave with the next one goes ahead
 * @now: somebody is likely to wait for this one.  In a stream what is written while the
 *	device is at work is coalesced, for which it must not be done at once.
 *
 * Nothing follows a request that the device has refused: the peer would take what does
 * for a breach of the protocol, as a message is missing before it.
 *
 * Return: whether they were posted; if not, the connection is ending.
 */
bool sdp_tx_submit(struct sdp_stream *st, struct ib_send_wr *wr, bool now)
{
	struct sdp_tx *tx = &st->tx;

	sdp_owned(st->sk);
	if (tx->reg_first) {
		tx->reg_last->next = wr;
		wr = tx->reg_first;
		tx->reg_first = NULL;
	}
	if (unlikely(test_bit(SDP_CONN_BROKEN, &st->link->flags)))
		return false;
	if (trace_sdp_post_enabled())
		sdp_tx_trace(st, wr);
	if (sdp_link_is_local(st->link)) {
		if (likely(sdp_local_submit(st, wr)))
			return true;
		sdp_link_end(st->link, -ECONNRESET);
		return false;
	}
	if (likely(!sdp_tx_give(st, wr, now)))
		return true;
	SDP_INC_STATS(sock_net(st->sk), SDP_MIB_POSTERRORS);
	sdp_link_end(st->link, -ECONNRESET);
	return false;
}

/**
 * sdp_tx_add_reg_mr() - register memory that the next message advertises
 * @st: stream of a locked socket, a work request is available beside the message's
 * @reg: to fill; it stays until the message is posted, with which it leaves
 * @mr: the memory
 * @access: IB_ACCESS_*
 */
void sdp_tx_add_reg_mr(struct sdp_stream *st, struct ib_reg_wr *reg,
		       struct ib_mr *mr, int access)
{
	struct sdp_tx *tx = &st->tx;

	sdp_owned(st->sk);
	*reg = (struct ib_reg_wr){
		.wr.wr_cqe = &st->tx_cqe,
		.wr.opcode = IB_WR_REG_MR,
		.mr = mr,
		.key = mr->rkey,
		.access = access,
	};
	if (tx->reg_first)
		tx->reg_last->next = &reg->wr;
	else
		tx->reg_first = &reg->wr;
	tx->reg_last = &reg->wr;
	sdp_tx_account(st, 0, false);
}

/**
 * sdp_tx_post_local_inv() - take memory back from the peer
 * @st: stream of a locked socket, a work request is available
 * @mr: the memory
 * @done: what is to be done once the peer cannot use it any more
 *
 * Return: as sdp_tx_post_msg().
 */
bool sdp_tx_post_local_inv(struct sdp_stream *st, struct ib_mr *mr, struct sdp_done *done)
{
	struct ib_send_wr wr = {
		.wr_cqe = &st->tx_cqe,
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = mr->rkey,
	};

	sdp_owned(st->sk);
	sdp_tx_account(st, 0, true)->done = done;
	return sdp_tx_submit(st, &wr, false);
}

/**
 * sdp_tx_done() - completion of a send work request
 * @cq: completion queue
 * @wc: work completion
 *
 * Context: softirq, without the socket lock.  Only counts; all else happens
 * in sdp_tx_reap().
 */
void sdp_tx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct sdp_stream *st = container_of(wc->wr_cqe, struct sdp_stream, tx_cqe);

	trace_sdp_completion(st->sk, wc, false);
	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		sdp_link_wc_error(st->link, wc);
		return;
	}
	/* Pairs with the acquire in sdp_tx_reap(). */
	smp_store_release(&st->tx.signaled_done, st->tx.signaled_done + 1);
	sdp_link_kick(st->link);
}

static void sdp_tx_complete(struct sdp_stream *st, const struct sdp_tx_wr *twr)
{
	if (twr->data)
		st->tx.since = jiffies;
	st->stats.bytes_acked += twr->len + twr->direct + twr->integrated;
	WRITE_ONCE(st->tx.integrated_acked, st->tx.integrated_acked + twr->integrated);
	WRITE_ONCE(st->async_bytes, st->async_bytes - twr->direct);
	st->direct_acked += twr->direct;
	if (WARN_ON_ONCE(!sdp_ring_release(&st->tx.ring, twr->len)))
		return;
	if (twr->done)
		twr->done->done(twr->done);
}

/**
 * sdp_tx_prepare() - prepare the send side of a new socket's stream
 * @st: stream, zeroed
 */
void sdp_tx_prepare(struct sdp_stream *st)
{
	st->tx_cqe.done = sdp_tx_done;
	st->probed.done = sdp_tx_probed;
}

/**
 * sdp_tx_reap() - release the room of messages that have arrived
 * @st: stream of a locked socket (by its owner or in softirq)
 *
 * A completion also stands for the unsignaled work requests before it.
 */
void sdp_tx_reap(struct sdp_stream *st)
{
	struct sdp_tx *tx = &st->tx;
	const struct sdp_tx_wr *twr;
	/* Pairs with the release in sdp_tx_done(), or in sdp_local_submit(). */
	u32 done = smp_load_acquire(&tx->signaled_done);

	sdp_owned(st->sk);
	if (tx->signaled_seen == done)
		return;
	/* As with TCP, what arrives releases what user space held back. */
	if (tx->intent == SDP_INTENT_MORE)
		tx->intent = SDP_INTENT_NONE;
	st->stats.last_heard = jiffies;
	while (tx->signaled_seen != done) {
		do {
			twr = sdp_tx_wr(tx, tx->wr_tail++);
			sdp_tx_complete(st, twr);
		} while (!twr->signaled);
		tx->signaled_seen++;
	}
	/* Devices without DMA are the kernel's own code. */
	if (tx->out.size && tx->signaled_seen == tx->signaled && !tx->bytes_since_signal)
		sdp_burst_complete(&tx->burst, tx->waits_for == SDP_WAIT_BURST,
				   !sdp_link_is_local(st->link) &&
				   !ib_uses_virt_dma(st->link->dev->ibdev));
	if (tx->starved && !sdp_ring_used(&tx->ring))
		WRITE_ONCE(tx->starved, false);
	if (sdp_tx_writeable(st))
		st->sk->sk_write_space(st->sk);
}
