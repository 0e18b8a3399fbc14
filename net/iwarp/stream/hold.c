// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs that hold.  Nothing in iWARP tells a receiver that stops reading
 * from one that is slow, so that a message without a receive request can wait
 * in TCP: its window closes, and the sender's requests stay where they are.
 *
 * But the stream has more in it than messages for receive requests.  If a
 * response to a request to read came behind one that waits, and the consumer
 * gives a receive request only after that response, nothing would ever move.
 * Therefore messages that wait are taken out of the stream as long as there is
 * room for them.
 */
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <net/tcp.h>

#include "internal.h"

/* Room for segments that wait: some of the longest that there may be. */
#define IWP_SPILL_SIZE		SZ_128K
/* What TCP keeps for each direction, beyond which the sender waits. */
#define IWP_HOLD_BUFFER		SZ_256K
/* Requests become segments when TCP has less than this to send. */
#define IWP_HOLD_UNSENT		SZ_64K
/* How often to look whether a process has posted a request. */
#define IWP_HOLD_POLL		msecs_to_jiffies(4)

static bool iwp_hold_user;
module_param_named(hold, iwp_hold_user, bool, 0644);
MODULE_PARM_DESC(hold, "Queue pairs of processes hold messages that have no receive request");

static void iwp_hold_poll(struct work_struct *work)
{
	struct iwp_qp *qp = container_of(to_delayed_work(work), struct iwp_qp,
					 rx.hold.poll);

	if (!iwp_stream_kick_loopback(qp, iwp_loopback_in(qp)))
		iwp_tx_kick(qp);
	iwp_qp_put(qp);
}

/**
 * iwp_hold_init() - a queue pair is new
 * @qp: queue pair
 *
 * Those of processes hold if the administrator says so.
 */
void iwp_hold_init(struct iwp_qp *qp)
{
	struct iwp_hold *hold = &qp->rx.hold;

	INIT_DELAYED_WORK(&hold->poll, iwp_hold_poll);
	hold->enabled = !iwp_qp_kernel(qp) && READ_ONCE(iwp_hold_user);
}

/**
 * iwp_hold_free() - a queue pair goes
 * @qp: queue pair, without references
 */
void iwp_hold_free(struct iwp_qp *qp)
{
	kvfree(qp->rx.hold.spill.mem);
}

/**
 * iwp_hold_enable() - a consumer in the kernel wants its queue pair to hold
 * @qp: queue pair
 *
 * Return: 0, or -EINVAL if it is connected.
 */
int iwp_hold_enable(struct iwp_qp *qp)
{
	unsigned long flags;
	int err = -EINVAL;

	spin_lock_irqsave(&qp->lock, flags);
	if (!qp->ep && qp->state == IWP_QP_IDLE) {
		qp->rx.hold.enabled = true;
		err = 0;
	}
	spin_unlock_irqrestore(&qp->lock, flags);
	return err;
}

/**
 * iwp_hold_limit_buffers() - have the sender feel it soon if we hold
 * @ep: endpoint, locked, with a queue pair and a socket
 *
 * Context: process.
 */
void iwp_hold_limit_buffers(struct iwp_ep *ep)
{
	struct sock *sk = ep->sock->sk;

	lockdep_assert_held(&ep->lock);
	if (!ep->qp->rx.hold.enabled)
		return;
	lock_sock(sk);
	sk->sk_userlocks |= SOCK_SNDBUF_LOCK | SOCK_RCVBUF_LOCK;
	WRITE_ONCE(sk->sk_sndbuf, IWP_HOLD_BUFFER);
	WRITE_ONCE(sk->sk_rcvbuf, IWP_HOLD_BUFFER);
	WRITE_ONCE(tcp_sk(sk)->notsent_lowat, IWP_HOLD_UNSENT);
	release_sock(sk);
}

/**
 * iwp_hold_alloc() - get room for what waits, if something does
 * @qp: queue pair
 *
 * Most never need it.
 *
 * Context: process, socket's lock held.
 */
void iwp_hold_alloc(struct iwp_qp *qp)
{
	struct iwarp_spill *spill = &qp->rx.hold.spill;

	if (!qp->rx.hold.waiting || spill->mem)
		return;
	spill->mem = kvmalloc(IWP_SPILL_SIZE, GFP_KERNEL_ACCOUNT);
	qp->rx.hold.no_memory = !spill->mem;
	if (spill->mem)
		spill->size = IWP_SPILL_SIZE;
}

/**
 * iwp_hold_spills() - whether the segment that is arriving has to wait
 * @qp: queue pair
 *
 * From its first one on that finds no request, all have to wait that follow.
 */
bool iwp_hold_spills(struct iwp_qp *qp)
{
	struct iwp_hold *hold = &qp->rx.hold;

	if (!hold->enabled)
		return false;
	if (!iwarp_spill_empty(&hold->spill))
		return true;
	if (!iwp_rx_take_rqe(qp)) {
		WRITE_ONCE(hold->waiting, true);
		/* Who posts sees that, or we see what he posted. */
		smp_mb();
		if (!iwp_rx_take_rqe(qp))
			return true;
	}
	WRITE_ONCE(hold->waiting, false);
	return false;
}

/**
 * iwp_hold_begin() - a segment is arriving that has to wait
 * @qp: queue pair
 * @hdr: its header
 *
 * Return: %IWARP_RX_GO if there is room for it; else %IWARP_RX_HOLD.
 */
u32 iwp_hold_begin(struct iwp_qp *qp, const struct iwarp_hdr *hdr)
{
	struct iwp_hold *hold = &qp->rx.hold;

	hold->spilling = hold->spill.mem &&
			 iwarp_spill_fits(&hold->spill, hdr->payload_len);
	if (hold->spilling)
		return IWARP_RX_GO;
	if (hold->no_memory)
		iwp_tx_retry(qp);
	else if (!hold->spill.mem)
		iwp_tx_queue(qp);
	return IWARP_RX_HOLD;
}

/**
 * iwp_hold_store() - a segment that has to wait is complete
 * @qp: queue pair
 * @hdr: its header
 */
void iwp_hold_store(struct iwp_qp *qp, const struct iwarp_hdr *hdr)
{
	struct iwp_rx *rx = &qp->rx;
	struct iwarp_spilled segment = {
		.hdr = *hdr,
		.written = rx->written,
	};

	if (iwarp_opcode_immediate(hdr->opcode))
		segment.imm = iwarp_immediate_parse(iwarp_rx_control(&rx->wire));
	iwarp_spill_put(&rx->hold.spill, &segment);
	rx->hold.spilling = false;
}

/* Returns what is wrong with it, as if it arrived now. */
static enum iwarp_error iwp_hold_deliver_one(struct iwp_qp *qp,
					     const struct iwarp_spilled *segment,
					     const struct iwarp_source *src)
{
	const struct iwarp_hdr *hdr = &segment->hdr;
	enum iwarp_error error;

	if (iwarp_opcode_immediate(hdr->opcode)) {
		iwp_rx_immediate(qp, hdr, segment->written, segment->imm);
		return IWARP_OK;
	}
	error = iwp_rx_send_fits(qp, hdr);
	if (!error)
		error = iwp_rx_place_send(qp, hdr, src, 0, hdr->payload_len, 0);
	return error ?: iwp_rx_end_send(qp, hdr);
}

/**
 * iwp_hold_deliver() - give receive requests what has waited for them
 * @qp: queue pair
 *
 * Context: socket's lock held, state not IWP_QP_ERROR; it may be afterwards.
 */
void iwp_hold_deliver(struct iwp_qp *qp)
{
	struct iwp_hold *hold = &qp->rx.hold;
	enum iwarp_error error = IWARP_OK;
	struct iwarp_spilled segment;
	struct iwarp_source src;

	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	while (!error && iwarp_spill_first(&hold->spill, &segment, &src) &&
	       iwp_rx_take_rqe(qp)) {
		error = iwp_hold_deliver_one(qp, &segment, &src);
		iwarp_spill_drop(&hold->spill);
	}
	if (error)
		iwp_tx_terminate(qp, error, NULL, 0);
	/* What has stopped the stream is looked at when it is read next. */
	else if (iwarp_spill_empty(&hold->spill) && !hold->spilling)
		WRITE_ONCE(hold->waiting, false);
}

/**
 * iwp_hold_can_deliver() - whether more can be delivered, after all was read
 * @qp: queue pair
 *
 * A segment that comes in pieces is kept when its last one is here, and the
 * request for it may have been posted before.
 *
 * Context: socket's lock held.
 */
bool iwp_hold_can_deliver(struct iwp_qp *qp)
{
	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	return !iwarp_spill_empty(&qp->rx.hold.spill) && !iwp_rq_empty(qp);
}

/**
 * iwp_hold_start_poll() - something waits for receive requests
 * @qp: queue pair; nothing happens if its user tells us of his
 *
 * Context: any.
 */
void iwp_hold_start_poll(struct iwp_qp *qp)
{
	if (iwp_qp_kernel(qp))
		return;
	iwp_qp_get(qp);
	if (!iwp_tx_queue_later(&qp->rx.hold.poll, IWP_HOLD_POLL))
		iwp_qp_put(qp);
}

/**
 * iwp_hold_read_done() - all was read that could be
 * @qp: queue pair, on which something has waited, or does
 *
 * Context: socket's lock held.
 */
void iwp_hold_read_done(struct iwp_qp *qp)
{
	struct iwp_hold *hold = &qp->rx.hold;

	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	if (hold->waiting) {
		iwp_hold_start_poll(qp);
		return;
	}
	/* The peer's FIN may have waited, too. */
	iwp_qp_signal(qp, IWP_EV_SOCKET);
}

/**
 * iwp_hold_delays_close() - whether the peer's FIN is not to be noticed yet
 * @qp: queue pair
 * @sk: its socket
 *
 * The connection is not over while something waits that came before.
 *
 * Context: any; looked at again after iwp_hold_read_done().
 */
bool iwp_hold_delays_close(struct iwp_qp *qp, const struct sock *sk)
{
	return READ_ONCE(qp->rx.hold.waiting) && !sk->sk_err &&
	       READ_ONCE(sk->sk_state) != TCP_CLOSE;
}
