// SPDX-License-Identifier: GPL-2.0
/*
 * The sender: passes segments to TCP, and processes acknowledgments.
 *
 * It runs in post_send(), in the receiver, and when TCP acknowledgments arrive. TCP may
 * process packets below it, and so call it recursively; the inner call then only sets
 * @rerun.
 */
#include <linux/slab.h>
#include <net/tcp.h>

#include "offload/offload.h"
#include "internal.h"

/* Bytes segmented before TCP is called: one segment is enough, if it is a long one. */
#define IWP_TX_BATCH		64000
/* Bytes submitted to the engine at a time; small, so that the engine starts early. */
#define IWP_TX_ENGINE_BATCH	16384
/* Bytes of a DMA transfer, where the engine can choose. */
#define IWP_TX_ENGINE_CHUNK	2048
/* Bytes sent in one call before the CPU is released. */
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
	tx->nr_submitted -= gone;
	if (tx->nr_vecs)
		memmove(tx->vecs, tx->vecs + gone,
			tx->nr_vecs * sizeof(*tx->vecs));
}

/* Returns 0 if TCP has taken all ready fragments, or a negative error number. */
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
 * iwp_tx_read_error() - error code for an RDMA Read that is not allowed
 * @err: result of the access check
 *
 * Return: error code for the Terminate (RFC 5040, section 4.8).
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

/**
 * iwp_tx_begin_batch() - segments are about to be built
 * @tx: transmit state
 *
 * TCP appends to its last segment if that has not been sent.
 *
 * Context: socket lock held.
 */
void iwp_tx_begin_batch(struct iwp_tx *tx)
{
	const struct sock *sk = tx->sk;

	if (!tx->nr_vecs)
		tx->seg_used = tcp_send_head(sk) ? tcp_write_queue_tail(sk)->len : 0;
}

/**
 * iwp_tx_batch() - bytes segmented before they are submitted
 * @qp: queue pair
 */
u32 iwp_tx_batch(const struct iwp_qp *qp)
{
	return qp->design == IWP_DESIGN_HOST ? IWP_TX_BATCH :
					       IWP_TX_ENGINE_BATCH;
}

/* Returns the number of stream bytes segmented, or -ENOMEM. */
static int iwp_tx_fill(struct iwp_qp *qp)
{
	struct iwp_tx *tx = &qp->tx;
	u32 room = IWP_TX_VECS - (tx->gather ? IWP_TX_SG_VECS : IWP_TX_SEG_VECS);
	u64 from = tx->pos;

	iwp_tx_begin_batch(tx);
	tx->more = true;
	while (tx->pos - from < iwp_tx_batch(qp) && tx->nr_vecs <= room) {
		int err;

		if (tx->msg.source == IWP_MSG_NONE)
			iwp_tx_next_msg(qp);
		tx->more = tx->msg.source != IWP_MSG_NONE;
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

static void iwp_tx_start_timer(struct iwp_tx *tx)
{
	hrtimer_start(&tx->timer, ns_to_ktime(tx->batches[0].ready_at),
		      HRTIMER_MODE_ABS_SOFT);
}

/* Whether the engine is done with all submitted fragments; if not the timer runs. */
static bool iwp_tx_engine_done(struct iwp_tx *tx)
{
	u64 now = tx->nr_batches ? ktime_get_ns() : 0;
	u32 done = 0;

	for (; done < tx->nr_batches && tx->batches[done].ready_at <= now; done++)
		tx->nr_ready += tx->batches[done].nr_vecs;
	if (done) {
		tx->nr_batches -= done;
		memmove(tx->batches, tx->batches + done, tx->nr_batches * sizeof(*tx->batches));
	}
	if (tx->nr_batches && !hrtimer_is_queued(&tx->timer))
		iwp_tx_start_timer(tx);
	return !tx->nr_batches;
}

static u32 iwp_tx_dmas(const struct iwp_qp *qp, u32 len, u32 segs)
{
	switch (qp->design) {
	case IWP_DESIGN_ASSISTED:
		return segs;
	case IWP_DESIGN_OFFLOADED:
		return DIV_ROUND_UP(len, IWP_TX_ENGINE_CHUNK);
	default:
		return qp->tx.nr_vecs - qp->tx.nr_submitted;
	}
}

/**
 * iwp_tx_submit() - new segments go to the engine, or directly to TCP
 * @qp: queue pair, with room in @batches
 * @len: bytes of the stream
 * @segs: segments
 *
 * Context: socket lock held.
 */
void iwp_tx_submit(struct iwp_qp *qp, u32 len, u32 segs)
{
	struct iwp_tx *tx = &qp->tx;
	struct iwp_tx_batch *batch;

	if (!len)
		return;
	if (qp->design == IWP_DESIGN_HOST) {
		tx->nr_ready = tx->nr_vecs;
	} else {
		batch = &tx->batches[tx->nr_batches++];
		batch->nr_vecs = tx->nr_vecs - tx->nr_submitted;
		batch->ready_at = iwp_engine_submit(&qp->dev->engine, qp->design, len,
						    iwp_tx_dmas(qp, len, segs));
		if (tx->nr_batches == 1)
			iwp_tx_start_timer(tx);
	}
	tx->nr_submitted = tx->nr_vecs;
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

/* Returns 0 if everything was sent, or the error that prevents it. */
static int iwp_tx_loop(struct iwp_qp *qp)
{
	u32 budget = IWP_TX_BUDGET;

	for (;;) {
		int n, err;

		/* Calling TCP without space is expensive: wait for acknowledgments. */
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

/* Sets whether TCP calls sk_write_space() when it has freed space. */
static void iwp_tx_set_nospace(struct iwp_qp *qp, bool on)
{
	struct socket *sock = qp->tx.sk->sk_socket;

	if (sock && on != test_bit(SOCK_NOSPACE, &sock->flags))
		assign_bit(SOCK_NOSPACE, &sock->flags, on);
}

/* Data in flight: its acknowledgments must be noticed. */
static void iwp_tx_watch_acks(struct iwp_qp *qp)
{
	iwp_tx_set_nospace(qp, qp->tx.nr_vecs || qp->sq.done != qp->sq.next);
}

/**
 * iwp_tx_acked() - process what the peer's TCP has acknowledged
 * @qp: queue pair; no effect with loopback
 *
 * Context: socket lock held.
 * Return: whether there is new progress.
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
 * TCP's queues are empty although it returned -EAGAIN: it was short of memory, and no
 * acknowledgment will come to announce space.
 */
static bool iwp_tx_no_ack_expected(const struct iwp_tx *tx)
{
	return tcp_rtx_and_write_queues_empty(tx->sk);
}

/* TCP takes nothing any more; what has arrived before that is delivered. */
static void iwp_tx_lost(struct iwp_qp *qp)
{
	iwp_iter_end(qp);
	iwp_tx_terminate(qp, IWARP_E_MPA_LOST, NULL, 0);
}

static void iwp_tx_run(struct iwp_qp *qp)
{
	struct iwp_tx *tx = &qp->tx;
	int err;

	/* Acknowledgments that arrive meanwhile are processed below. */
	iwp_tx_set_nospace(qp, false);
	do {
		tx->rerun = false;
		err = iwp_tx_loop(qp);
		if (qp->state == IWP_QP_ERROR)
			return;
		/* This may have freed space. */
		if (iwp_tx_acked(qp) && !iwp_tx_written(qp))
			tx->rerun = true;
	} while (tx->rerun && !err);
	if (err == -EBUSY)
		iwp_tx_queue(qp);
	else if (err == -ENOMEM || (err == -EAGAIN && iwp_tx_no_ack_expected(tx)))
		iwp_tx_retry(qp);
	else if (err && err != -EAGAIN)
		iwp_tx_lost(qp);
	iwp_tx_watch_acks(qp);
}

static void iwp_tx_drained(struct iwp_qp *qp)
{
	if (qp->state != IWP_QP_CLOSING || !iwp_tx_idle(qp))
		return;
	iwp_qp_signal(qp, IWP_EV_DRAINED);
}

/**
 * iwp_tx_ready() - send what can be sent, complete what was acknowledged
 * @qp: queue pair
 *
 * Context: socket lock held, Full Operation.
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
 * iwp_tx_ack_received() - fast path for an acknowledgment
 * @qp: queue pair
 *
 * Most often everything has been sent, and the packet with the peer's response
 * acknowledges all of it.
 *
 * Context: socket lock held, Full Operation.
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
 * iwp_tx_terminate() - end the connection with a Terminate
 * @qp: queue pair, in the error state afterwards
 * @error: error code
 * @fpdu: the peer's FPDU that caused the error, or NULL
 * @len: bytes of it that are known
 *
 * The Terminate is sent before the socket is closed, if TCP takes it.
 *
 * Context: socket lock held.
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
 * iwp_tx_detach() - detach the queue pair from its socket
 * @qp: queue pair
 *
 * Sends a pending Terminate, after segments that TCP has not taken, as it must not be
 * in the middle of one.
 *
 * Context: process, socket lock held, nothing is being sent.
 */
void iwp_tx_detach(struct iwp_qp *qp)
{
	struct iwp_tx *tx = &qp->tx;

	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	tx->nr_batches = 0;
	tx->nr_submitted = tx->nr_vecs;
	tx->nr_ready = tx->nr_vecs;
	if (tx->term_len && tx->nr_vecs + IWP_TX_SEG_VECS <= IWP_TX_VECS) {
		memset(&tx->msg, 0, sizeof(tx->msg));
		tx->msg.source = IWP_MSG_CONTROL;
		tx->msg.opcode = IWARP_TERMINATE;
		tx->msg.msn = iwarp_out_msn(&tx->stream, IWARP_QN_TERMINATE);
		tx->msg.len = tx->term_len;
		memcpy(tx->msg.control, tx->term, tx->term_len);
		if (!iwp_tx_segment(qp)) {
			tx->nr_submitted = tx->nr_vecs;
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
 * iwp_tx_start() - start Full Operation of the sender
 * @qp: queue pair, whose @tx is empty
 * @sk: its socket
 * @interval: marker interval that the peer wants, or %IWARP_NO_MARKERS
 * @crc: checksums are in use
 * @long_fpdus: the peer takes FPDUs that are longer than TCP's segments, in pieces
 * @ird: inbound RDMA Read depth
 * @ord: outbound RDMA Read depth
 *
 * Context: process, socket lock held.
 * Return: 0 or -ENOMEM.
 */
int iwp_tx_start(struct iwp_qp *qp, struct sock *sk, u32 interval, bool crc,
		 bool long_fpdus, u16 ird, u16 ord)
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
	tx->long_fpdus = long_fpdus && !interval && !crc && qp->design == IWP_DESIGN_HOST;
	tx->start_seq = tcp_sk(sk)->write_seq;
	iwarp_stream_init(&tx->stream, ird, ord);
	return 0;
}
