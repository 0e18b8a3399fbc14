// SPDX-License-Identifier: GPL-2.0
/*
 * The sender: what it hands to TCP, and what TCP has got rid of.
 *
 * It runs wherever something makes room or work for it: in post_send(), in the
 * receiver, and when TCP's acknowledgements arrive.  Below it TCP may process
 * packets, and so come back here; the inner one then leaves it to the outer.
 */
#include <linux/slab.h>
#include <net/tcp.h>

#include "offload/offload.h"
#include "internal.h"

/* How much is written before TCP is asked to take it. */
#define IWP_TX_BATCH		65536
/* And how much the engine is given at a time, so that it does not begin late. */
#define IWP_TX_ENGINE_BATCH	16384
/* What the engine fetches at a time, where it is free to choose. */
#define IWP_TX_ENGINE_CHUNK	2048
/* How much one call sends before others get the processor. */
#define IWP_TX_BUDGET		(8 * IWP_TX_BATCH)

static void iwp_vec_consume(struct iwp_tx *tx, size_t len)
{
	u32 gone = 0;

	while (len) {
		struct bio_vec *vec = &tx->vecs[gone];
		u32 n = min_t(size_t, len, vec->bv_len);

		vec->bv_offset += n;
		vec->bv_len -= n;
		len -= n;
		if (vec->bv_len)
			break;
		put_page(vec->bv_page);
		gone++;
	}
	tx->nr_vecs -= gone;
	tx->nr_ready -= gone;
	if (tx->nr_vecs)
		memmove(tx->vecs, tx->vecs + gone,
			tx->nr_vecs * sizeof(*tx->vecs));
}

/* Returns 0 if TCP has taken all, or a negative error number. */
static int iwp_tx_push(struct iwp_tx *tx, bool more)
{
	while (tx->nr_ready) {
		struct msghdr msg = {
			.msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL |
				     MSG_SPLICE_PAGES | (more ? MSG_MORE : 0),
		};
		size_t len = 0;
		int sent;
		u32 i;

		for (i = 0; i < tx->nr_ready; i++)
			len += tx->vecs[i].bv_len;
		iov_iter_bvec(&msg.msg_iter, ITER_SOURCE, tx->vecs,
			      tx->nr_ready, len);
		sent = tcp_sendmsg_locked(tx->sk, &msg, len);
		if (sent <= 0)
			return sent ?: -EAGAIN;
		iwp_vec_consume(tx, sent);
	}
	return 0;
}

/**
 * iwp_tx_read_error() - what the peer is told that may not read memory
 * @err: why it may not
 *
 * Return: the error of a TERMINATE.
 */
enum iwarp_error iwp_tx_read_error(enum iwp_mem_err err)
{
	switch (err) {
	case IWP_MEM_PD:
		return IWARP_E_PROT_STREAM;
	case IWP_MEM_ACCESS:
		return IWARP_E_PROT_ACCESS;
	case IWP_MEM_BOUNDS:
		return IWARP_E_PROT_BOUNDS;
	default:
		return IWARP_E_PROT_STAG;
	}
}

static void iwp_tx_mem_error(struct iwp_qp *qp, enum iwp_mem_err err)
{
	struct iwp_msg *msg = &qp->tx.msg;

	if (msg->source == IWP_MSG_READ)
		iwp_tx_terminate(qp, iwp_tx_read_error(err), NULL, 0);
	else
		iwp_tx_send_failed(qp, msg->send, SIW_WC_LOC_PROT_ERR);
}

/* TCP adds what comes to the last segment, if that has not been sent. */
static u32 iwp_tx_unsent(const struct sock *sk)
{
	return tcp_send_head(sk) ? tcp_write_queue_tail(sk)->len : 0;
}

static u32 iwp_tx_batch(const struct iwp_qp *qp)
{
	return qp->design == IWP_DESIGN_HOST ? IWP_TX_BATCH :
					       IWP_TX_ENGINE_BATCH;
}

/* Returns how many bytes of the stream were written, or -ENOMEM. */
static int iwp_tx_fill(struct iwp_qp *qp)
{
	struct iwp_tx *tx = &qp->tx;
	u32 room = IWP_TX_VECS - (tx->gather ? IWP_TX_SG_VECS : IWP_TX_SEG_VECS);
	u64 from = tx->pos;

	if (!tx->nr_vecs)
		tx->seg_used = iwp_tx_unsent(tx->sk);
	tx->more = true;
	while (tx->pos - from < iwp_tx_batch(qp) && tx->nr_vecs <= room) {
		int err;

		tx->more = tx->msg.source != IWP_MSG_NONE ||
			   iwp_tx_next_msg(qp);
		if (!tx->more)
			break;
		err = iwp_tx_segment(qp);
		if (err == -ENOMEM)
			return tx->pos == from ? err : (int)(tx->pos - from);
		if (err)
			iwp_tx_mem_error(qp, err);
		tx->more = qp->state != IWP_QP_ERROR && !iwp_tx_written(qp);
		if (!tx->more)
			break;
	}
	return tx->pos - from;
}

/* Whether the engine is done with what it was given. */
static bool iwp_tx_engine_done(struct iwp_tx *tx)
{
	if (tx->nr_ready < tx->nr_vecs && ktime_get_ns() < tx->ready_at)
		return false;
	tx->nr_ready = tx->nr_vecs;
	return true;
}

static u32 iwp_tx_dmas(const struct iwp_qp *qp, u32 len, u32 segs)
{
	switch (qp->design) {
	case IWP_DESIGN_ASSISTED:
		return segs;
	case IWP_DESIGN_OFFLOADED:
		return DIV_ROUND_UP(len, IWP_TX_ENGINE_CHUNK);
	default:
		return qp->tx.nr_vecs - qp->tx.nr_ready;
	}
}

/* What was written goes to the engine, or, if there is none, to TCP. */
static void iwp_tx_submit(struct iwp_qp *qp, u32 len, u32 segs)
{
	struct iwp_tx *tx = &qp->tx;

	if (qp->design == IWP_DESIGN_HOST || !len) {
		tx->nr_ready = tx->nr_vecs;
		return;
	}
	tx->ready_at = iwp_engine_submit(&qp->dev->engine, qp->design, len,
					 iwp_tx_dmas(qp, len, segs));
	hrtimer_start(&qp->tx.timer, ns_to_ktime(tx->ready_at),
		      HRTIMER_MODE_ABS_SOFT);
}

static int iwp_tx_write(struct iwp_qp *qp)
{
	bool offloaded = iwp_design_offloaded(qp->design);
	u32 segs = qp->tx.segs;
	int n;

	qp->tx.more = false;
	if (qp->state == IWP_QP_ERROR || !iwp_tx_engine_done(&qp->tx))
		return 0;
	if (offloaded)
		iwp_engine_enter(qp);
	n = iwp_tx_fill(qp);
	if (offloaded)
		iwp_engine_leave(qp);
	if (n >= 0)
		iwp_tx_submit(qp, n, qp->tx.segs - segs);
	return n;
}

/* Returns 0 if nothing is left, or why something is. */
static int iwp_tx_loop(struct iwp_qp *qp)
{
	u32 budget = IWP_TX_BUDGET;

	for (;;) {
		int n, err;

		/* Each attempt has its price: let it get rid of some first. */
		if (qp->tx.nr_ready && !sk_stream_is_writeable(qp->tx.sk))
			return -EAGAIN;
		n = iwp_tx_write(qp);
		if (n < 0)
			return n;
		err = iwp_tx_push(&qp->tx, qp->tx.more && n >= iwp_tx_batch(qp));
		if (err || !qp->tx.more || qp->state == IWP_QP_ERROR)
			return err;
		if (n >= budget)
			return -EBUSY;
		budget -= n;
	}
}

/* Whether TCP is to tell when it has got rid of something. */
static void iwp_tx_set_nospace(struct iwp_qp *qp, bool on)
{
	struct socket *sock = qp->tx.sk->sk_socket;

	if (sock && on != test_bit(SOCK_NOSPACE, &sock->flags))
		assign_bit(SOCK_NOSPACE, &sock->flags, on);
}

/* The acknowledgements of what is under way have to be noticed. */
static void iwp_tx_watch_acks(struct iwp_qp *qp)
{
	iwp_tx_set_nospace(qp, qp->tx.nr_vecs || qp->sq.done != qp->sq.next);
}

/**
 * iwp_tx_acked() - look what the peer's TCP has acknowledged
 * @qp: queue pair; nothing happens if it is joined with its peer
 *
 * Context: socket's lock held.
 * Return: whether there is something new.
 */
bool iwp_tx_acked(struct iwp_qp *qp)
{
	struct iwp_tx *tx = &qp->tx;
	u32 more;

	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	if (qp->loopback.pair)
		return false;
	more = iwp_tx_newly_acked(tx);
	if (!more && !tx->reap_pending)
		return false;
	tx->acked += more;
	tx->reap_pending = false;
	iwp_sq_reap(qp, tx->acked);
	return true;
}

/*
 * TCP takes nothing, though it has nothing: it was short of memory, and no
 * acknowledgment will come to tell of more.
 */
static bool iwp_tx_no_ack_expected(const struct iwp_tx *tx)
{
	return tcp_rtx_and_write_queues_empty(tx->sk);
}

static void iwp_tx_run(struct iwp_qp *qp)
{
	struct iwp_tx *tx = &qp->tx;
	int err;

	/* What happens meanwhile is looked at behind it. */
	iwp_tx_set_nospace(qp, false);
	do {
		tx->rerun = false;
		err = iwp_tx_loop(qp);
		if (qp->state == IWP_QP_ERROR)
			return;
		/* That may have made room. */
		if (iwp_tx_acked(qp) && !iwp_tx_written(qp))
			tx->rerun = true;
	} while (tx->rerun && !err);
	if (err == -EBUSY)
		iwp_tx_queue(qp);
	else if (err == -ENOMEM || (err == -EAGAIN && iwp_tx_no_ack_expected(tx)))
		iwp_tx_retry(qp);
	else if (err && err != -EAGAIN)
		iwp_tx_terminate(qp, IWARP_E_MPA_LOST, NULL, 0);
	iwp_tx_watch_acks(qp);
}

static void iwp_tx_drained(struct iwp_qp *qp)
{
	if (qp->state != IWP_QP_CLOSING || !iwp_tx_idle(qp))
		return;
	iwp_qp_signal(qp, IWP_EV_DRAINED);
}

/**
 * iwp_tx_ready() - send what can be sent, complete what is acknowledged
 * @qp: queue pair
 *
 * Context: socket's lock held, full operation.
 */
void iwp_tx_ready(struct iwp_qp *qp)
{
	struct iwp_tx *tx = &qp->tx;

	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	if (qp->state == IWP_QP_ERROR || iwp_stream_kick_loopback(qp, iwp_loopback_out(qp)))
		return;
	if (tx->busy) {
		tx->rerun = true;
		return;
	}
	tx->busy = true;
	iwp_tx_run(qp);
	tx->busy = false;
	if (qp->state != IWP_QP_ERROR)
		iwp_tx_drained(qp);
}

/**
 * iwp_tx_ack_received() - the peer may have acknowledged something
 * @qp: queue pair
 *
 * Most often all is sent by then, and all of it acknowledged by what brings the
 * peer's answer.
 *
 * Context: socket's lock held, full operation.
 * Return: whether there is nothing to send.
 */
bool iwp_tx_ack_received(struct iwp_qp *qp)
{
	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	if (qp->state == IWP_QP_ERROR || qp->loopback.pair || qp->tx.busy)
		return false;
	iwp_tx_acked(qp);
	if (!iwp_tx_idle(qp))
		return false;
	iwp_tx_watch_acks(qp);
	iwp_tx_drained(qp);
	return true;
}

/**
 * iwp_tx_terminate() - the connection is not to go on
 * @qp: queue pair, in error from now on
 * @error: why
 * @fpdu: what the peer sent, if that is the reason, or NULL
 * @len: how much of it is known
 *
 * The peer is told before the socket is closed, if TCP takes it.
 *
 * Context: socket's lock held.
 */
void iwp_tx_terminate(struct iwp_qp *qp, enum iwarp_error error,
		      const u8 *fpdu, u32 len)
{
	struct iwp_tx *tx = &qp->tx;

	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	if (qp->state == IWP_QP_ERROR)
		return;
	tx->term_len = iwarp_terminate_encode(error, fpdu, len, tx->term);
	iwp_qp_abort(qp);
}

/**
 * iwp_tx_detach() - the queue pair loses its socket
 * @qp: queue pair
 *
 * If it has something to say about that, it says it.  Segments that TCP has
 * not taken go first, for TERMINATE cannot stand in the middle of one.
 *
 * Context: process, socket's lock held, nothing is being sent.
 */
void iwp_tx_detach(struct iwp_qp *qp)
{
	struct iwp_tx *tx = &qp->tx;

	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	tx->nr_ready = tx->nr_vecs;
	if (tx->term_len && tx->nr_vecs + IWP_TX_SEG_VECS <= IWP_TX_VECS) {
		memset(&tx->msg, 0, sizeof(tx->msg));
		tx->msg.source = IWP_MSG_CONTROL;
		tx->msg.opcode = IWARP_TERMINATE;
		tx->msg.msn = iwarp_out_msn(&tx->stream, IWARP_QN_TERMINATE);
		tx->msg.len = tx->term_len;
		memcpy(tx->msg.control, tx->term, tx->term_len);
		if (!iwp_tx_segment(qp)) {
			tx->nr_ready = tx->nr_vecs;
			if (!iwp_tx_push(tx, false))
				iwp_count(qp->dev, IWP_STAT_TX_TERMINATES, 1);
		}
	}
	if (qp->state != IWP_QP_ERROR)
		iwp_tx_acked(qp);
	iwp_tx_release_pages(tx);
}

/**
 * iwp_tx_start() - begin full operation
 * @qp: queue pair, whose @tx is empty
 * @sk: its socket
 * @interval: of markers that the peer wants, or %IWARP_NO_MARKERS
 * @crc: checksums are in use
 * @ird: requests to read that we take at a time
 * @ord: requests to read that we send at a time
 *
 * Context: process, socket's lock held.
 * Return: 0 or -ENOMEM.
 */
int iwp_tx_start(struct iwp_qp *qp, struct sock *sk, u32 interval, bool crc,
		 u16 ird, u16 ord)
{
	struct iwp_tx *tx = &qp->tx;

	lockdep_assert(lockdep_sock_is_held(sk));
	tx->reads_size = roundup_pow_of_two(max_t(u32, ird, 1));
	tx->orq_size = roundup_pow_of_two(max_t(u32, ord, 1));
	tx->reads = kcalloc(tx->reads_size, sizeof(*tx->reads),
			    GFP_KERNEL_ACCOUNT);
	tx->orq = kcalloc(tx->orq_size, sizeof(*tx->orq), GFP_KERNEL_ACCOUNT);
	if (!tx->reads || !tx->orq)
		return -ENOMEM;
	tx->reads_put = IWP_READS_FIRST;
	tx->reads_get = IWP_READS_FIRST;
	tx->orq_put = IWP_READS_FIRST;
	tx->orq_get = IWP_READS_FIRST;
	tx->sk = sk;
	tx->interval = interval;
	tx->gather = qp->design == IWP_DESIGN_OFFLOADED_SG;
	tx->use_crc = crc;
	tx->start_seq = tcp_sk(sk)->write_seq;
	iwarp_stream_init(&tx->stream, ird, ord);
	return 0;
}
