// SPDX-License-Identifier: GPL-2.0
/*
 * Holding: a message without a receive request waits instead of ending the connection.
 * To the peer this looks like a receiver that reads slowly: TCP's window closes, and
 * the peer's requests remain outstanding.
 *
 * But the stream contains more than messages for receive requests. If an RDMA Read
 * Response followed a held message, and the consumer posted a receive request only
 * after that response, nothing would ever proceed. Therefore held messages are taken
 * out of the stream as long as there is space for them.
 */
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <net/tcp.h>

#include "internal.h"

/* Space for held segments: some of the maximum length. */
#define IWP_SPILL_SIZE		SZ_128K
/*
 * TCP's buffers, beyond which the sender waits: more than is on its way in a cluster's
 * network, 100 Gb/s for 40 us, as half of it or more is payload.
 */
#define IWP_HOLD_BUFFER		SZ_1M
/* Interval of polling user receive queues. */
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
 * iwp_hold_init() - initialize a new queue pair
 * @qp: queue pair
 *
 * User queue pairs hold if the module parameter says so, except for those with a shared
 * receive queue: what is posted there wakes nobody.
 */
void iwp_hold_init(struct iwp_qp *qp)
{
	struct iwp_hold *hold = &qp->rx.hold;

	INIT_DELAYED_WORK(&hold->poll, iwp_hold_poll);
	hold->enabled = !iwp_qp_kernel(qp) && !qp->srq && READ_ONCE(iwp_hold_user);
}

/**
 * iwp_hold_free() - release the memory of held messages
 * @qp: queue pair without references
 */
void iwp_hold_free(struct iwp_qp *qp)
{
	kvfree(qp->rx.hold.spill.mem);
}

/**
 * iwp_hold_enable() - have a kernel consumer's queue pair hold
 * @qp: queue pair
 *
 * Return: 0, or -EINVAL if it is connected, or was, or if it shares a receive queue.
 */
int iwp_hold_enable(struct iwp_qp *qp)
{
	unsigned long flags;
	int err = -EINVAL;

	spin_lock_irqsave(&qp->lock, flags);
	if (!qp->ep && qp->state == IWP_QP_IDLE && !qp->srq) {
		qp->rx.hold.enabled = true;
		err = 0;
	}
	spin_unlock_irqrestore(&qp->lock, flags);
	return err;
}

static int iwp_hold_buffer(const int *limits)
{
	return min(IWP_HOLD_BUFFER, READ_ONCE(limits[2]));
}

/*
 * A socket that was accepted has a window for the buffer that it had; it may not grow by
 * itself with one that somebody has chosen. A route, and what TCP's header can say, limit it.
 */
static void iwp_hold_widen_window(struct sock *sk)
{
	const struct dst_entry *dst = __sk_dst_get(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (sk->sk_state != TCP_ESTABLISHED || (dst && dst_metric(dst, RTAX_WINDOW)))
		return;
	WRITE_ONCE(tp->window_clamp, min_t(u32, tcp_win_from_space(sk, sk->sk_rcvbuf),
					   U16_MAX << tp->rx_opt.rcv_wscale));
}

/**
 * iwp_hold_limit_buffers() - limit TCP's buffers, so that the peer soon waits if we
 * hold
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
	WRITE_ONCE(sk->sk_sndbuf, iwp_hold_buffer(sock_net(sk)->ipv4.sysctl_tcp_wmem));
	WRITE_ONCE(sk->sk_rcvbuf, iwp_hold_buffer(sock_net(sk)->ipv4.sysctl_tcp_rmem));
	iwp_hold_widen_window(sk);
	WRITE_ONCE(tcp_sk(sk)->notsent_lowat, IWP_HOLD_UNSENT);
	release_sock(sk);
}

/**
 * iwp_hold_alloc() - allocate memory for held messages, if there is one
 * @qp: queue pair
 *
 * Most queue pairs never need it.
 *
 * Context: process, socket lock held.
 */
void iwp_hold_alloc(struct iwp_qp *qp)
{
	struct iwarp_spill *spill = &qp->rx.hold.spill;

	if (!qp->rx.hold.waiting || spill->mem)
		return;
	spill->mem = kvmalloc(IWP_SPILL_SIZE, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	qp->rx.hold.no_memory = !spill->mem;
	if (spill->mem)
		spill->size = IWP_SPILL_SIZE;
}

/**
 * iwp_hold_spills() - whether the arriving segment has to wait
 * @qp: queue pair
 *
 * After a segment without a receive request all following ones have to wait.
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
		/*
		 * Pairs with iwp_post_recv(): it sees waiting, or we see its request.
		 */
		smp_mb();
		if (!iwp_rx_take_rqe(qp))
			return true;
	}
	WRITE_ONCE(hold->waiting, false);
	return false;
}

/**
 * iwp_hold_begin() - a segment that has to wait is arriving
 * @qp: queue pair
 * @hdr: its header
 *
 * Return: %IWARP_RX_GO if there is space for it; else %IWARP_RX_HOLD.
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

/* Returns an error as for a segment that arrives now. */
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
 * iwp_hold_deliver() - deliver held messages to receive requests
 * @qp: queue pair
 *
 * Context: socket lock held, state not %IWP_QP_ERROR; it may be afterwards.
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
	/* A segment left in TCP is handled when the stream is read next. */
	else if (iwarp_spill_empty(&hold->spill) && !hold->spilling)
		WRITE_ONCE(hold->waiting, false);
}

/**
 * iwp_hold_can_deliver() - whether more can be delivered after reading
 * @qp: queue pair
 *
 * A segment in several parts is stored when the last one has arrived, and its receive
 * request may have been posted before that.
 *
 * Context: socket lock held.
 */
bool iwp_hold_can_deliver(struct iwp_qp *qp)
{
	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	return !iwarp_spill_empty(&qp->rx.hold.spill) && !iwp_rq_empty(qp);
}

/**
 * iwp_hold_start_poll() - poll for receive requests
 * @qp: queue pair; no effect for kernel consumers, whose post_recv() finds waiting
 *	messages
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
 * iwp_hold_read_done() - everything was read that could be
 * @qp: queue pair, with messages that wait or waited
 *
 * Context: socket lock held.
 */
void iwp_hold_read_done(struct iwp_qp *qp)
{
	struct iwp_hold *hold = &qp->rx.hold;

	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	if (hold->waiting) {
		iwp_hold_start_poll(qp);
		return;
	}
	/* The peer's FIN may have been delayed. */
	iwp_qp_signal(qp, IWP_EV_SOCKET);
}

/**
 * iwp_hold_delays_close() - whether the peer's FIN must be ignored for now
 * @qp: queue pair
 * @sk: its socket
 *
 * The connection is not closed while messages before the FIN wait.
 *
 * Context: any; checked again after iwp_hold_read_done().
 */
bool iwp_hold_delays_close(struct iwp_qp *qp, const struct sock *sk)
{
	return READ_ONCE(qp->rx.hold.waiting) && !sk->sk_err &&
	       READ_ONCE(sk->sk_state) != TCP_CLOSE;
}
