// SPDX-License-Identifier: GPL-2.0
/*
 * TCP's out-of-order queue, and how we are notified of it.
 *
 * TCP notifies a socket's owner only of data in order. But it sends an acknowledgment
 * for every out-of-order segment, through icsk_af_ops->queue_xmit(). So sockets get a
 * copy of their family's operations, in which queue_xmit() looks at the queue after
 * sending.
 *
 * After the third acknowledgment TCP delays the next ones. While there is a hole we
 * therefore clear the socket's receive route: then TCP calls sk_rx_dst_set() for each
 * segment before it processes it. Without a hole the route is kept and nothing is
 * different.
 *
 * The queue is only read. TCP may coalesce, trim or discard its skbs between two calls,
 * so only sequence numbers are remembered.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <net/tcp.h>

#include "internal.h"

static bool iwp_early_enabled = true;
module_param_named(early, iwp_early_enabled, bool, 0644);
MODULE_PARM_DESC(early, "Place data that arrives out of order, if it has markers");

/* IPv4, IPv6, and IPv4 on IPv6 sockets. */
#define IWP_OOO_FAMILIES	3

/**
 * struct iwp_ooo_ops - address family operations with two replaced
 * @orig: the family's own
 * @ops: the copy; used by a socket from iwp_ooo_watch() to iwp_ooo_unwatch()
 */
struct iwp_ooo_ops {
	const struct inet_connection_sock_af_ops *orig;
	struct inet_connection_sock_af_ops ops;
};

static struct iwp_ooo_ops iwp_ooo_families[IWP_OOO_FAMILIES];
static DEFINE_MUTEX(iwp_ooo_lock); /* protects unused entries */

/**
 * struct iwp_run - contiguous data in TCP's out-of-order queue
 * @skb: skb that was used last
 * @seq: TCP sequence number at offset 0
 */
struct iwp_run {
	struct sk_buff *skb;
	u32 seq;
};

/* Sequence number after the data, not counting a FIN. */
static u32 iwp_skb_end(const struct sk_buff *skb)
{
	return TCP_SKB_CB(skb)->seq + skb->len;
}

/* Finds the skb of a byte, and how much of a range is in it. */
static u32 iwp_run_piece(struct iwp_run *run, u32 off, u32 len, u32 *skb_off)
{
	u32 seq = run->seq + off;

	while (before(seq, TCP_SKB_CB(run->skb)->seq))
		run->skb = skb_rb_prev(run->skb);
	while (!before(seq, iwp_skb_end(run->skb)))
		run->skb = skb_rb_next(run->skb);
	*skb_off = seq - TCP_SKB_CB(run->skb)->seq;
	return min(len, iwp_skb_end(run->skb) - seq);
}

static void iwp_run_copy(const struct iwarp_source *src, u32 off, void *to,
			 u32 len)
{
	struct iwp_run *run = (struct iwp_run *)src->ctx;
	u32 n, skb_off;

	for (; len; off += n, to += n, len -= n) {
		struct iwarp_source piece = {};

		n = iwp_run_piece(run, off, len, &skb_off);
		piece.ctx = run->skb;
		iwp_skb_copy(&piece, skb_off, to, n);
	}
}

static u32 iwp_run_crc(const struct iwarp_source *src, u32 off, u32 len,
		       u32 crc)
{
	struct iwp_run *run = (struct iwp_run *)src->ctx;
	u32 n, skb_off;

	for (; len; off += n, len -= n) {
		struct iwarp_source piece = {};

		n = iwp_run_piece(run, off, len, &skb_off);
		piece.ctx = run->skb;
		crc = iwp_skb_crc(&piece, skb_off, n, crc);
	}
	return crc;
}

static struct sk_buff *iwp_ooo_find(const struct tcp_sock *tp, u32 seq)
{
	struct rb_node *node = tp->out_of_order_queue.rb_node;

	while (node) {
		struct sk_buff *skb = rb_to_skb(node);

		if (before(seq, TCP_SKB_CB(skb)->seq))
			node = node->rb_left;
		else if (!before(seq, iwp_skb_end(skb)))
			node = node->rb_right;
		else
			return skb;
	}
	return NULL;
}

/* Returns the first skb of the run, at most an FPDU's length back. */
static struct sk_buff *iwp_ooo_first(struct sk_buff *skb)
{
	u32 seq = TCP_SKB_CB(skb)->seq;
	struct sk_buff *prev;

	while ((prev = skb_rb_prev(skb)) &&
	       !before(iwp_skb_end(prev), TCP_SKB_CB(skb)->seq) &&
	       seq - TCP_SKB_CB(prev)->seq < IWARP_MULPDU_MAX)
		skb = prev;
	return skb;
}

/* Returns the length of contiguous data, as far as one call needs it. */
static u32 iwp_ooo_len(struct sk_buff *skb, u32 seq)
{
	const u32 enough = IWP_EARLY_BUDGET + 2 * IWARP_MULPDU_MAX;
	u32 end = iwp_skb_end(skb);

	while (end - seq < enough && (skb = skb_rb_next(skb)) &&
	       !before(end, TCP_SKB_CB(skb)->seq)) {
		if (after(iwp_skb_end(skb), end))
			end = iwp_skb_end(skb);
	}
	return end - seq;
}

static void iwp_ooo_scan_run(struct iwp_early *early, struct iwp_run *run,
			     bool synced)
{
	const struct iwarp_source src = {
		.copy = iwp_run_copy,
		.crc = iwp_run_crc,
		.ctx = run,
	};
	u32 len = iwp_ooo_len(run->skb, run->seq);
	u32 pos = run->seq - early->start_seq;
	struct iwarp_rx *wire = &early->wire;
	u32 at = 0;

	if (!synced && !iwarp_sync(&src, wire->interval, pos, len, &at))
		return;
	at = iwarp_rx_early(wire, &early->placed, &src, pos, len, at,
			    IWP_EARLY_BUDGET);
	early->next = run->seq + at;
	early->off = wire->error;
}

/* The latest segment is in TCP's first SACK block. */
static void iwp_ooo_scan_block(struct iwp_early *early, const struct tcp_sock *tp)
{
	const struct tcp_sack_block *block = &tp->selective_acks[0];
	struct iwp_run run;
	bool synced;

	synced = early->run == block->start_seq &&
		 between(early->next, block->start_seq, block->end_seq);
	run.seq = synced ? early->next : block->start_seq;
	run.skb = iwp_ooo_find(tp, run.seq);
	if (!run.skb)
		return;
	if (!synced) {
		run.skb = iwp_ooo_first(run.skb);
		run.seq = TCP_SKB_CB(run.skb)->seq;
		early->run = block->start_seq;
		early->next = block->start_seq - 1;
	}
	iwp_ooo_scan_run(early, &run, synced);
}

/* Without a route TCP calls sk_rx_dst_set() for each segment. */
static void iwp_ooo_forget_route(struct sock *sk)
{
	struct dst_entry *dst;

	dst = rcu_dereference_protected(sk->sk_rx_dst,
					lockdep_sock_is_held(sk));
	if (!dst)
		return;
	RCU_INIT_POINTER(sk->sk_rx_dst, NULL);
	dst_release(dst);
}

static struct iwp_early *iwp_ooo_early(const struct sock *sk)
{
	struct iwp_ep *ep = sk->sk_user_data;

	if (!ep || !ep->fpdu || ep->qp->state == IWP_QP_ERROR ||
	    ep->qp->loopback.pair)
		return NULL;
	return ep->qp->rx.early;
}

static void iwp_ooo_scan(struct sock *sk)
{
	struct iwp_early *early = iwp_ooo_early(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (!early || early->off)
		return;
	iwp_ooo_forget_route(sk);
	if (tp->rx_opt.num_sacks)
		iwp_ooo_scan_block(early, tp);
}

static bool iwp_ooo_empty(const struct sock *sk)
{
	return likely(RB_EMPTY_ROOT(&tcp_sk(sk)->out_of_order_queue));
}

static const struct inet_connection_sock_af_ops *
iwp_ooo_orig(const struct sock *sk)
{
	return container_of(inet_csk(sk)->icsk_af_ops, struct iwp_ooo_ops,
			    ops)->orig;
}

static int iwp_ooo_queue_xmit(struct sock *sk, struct sk_buff *skb,
			      struct flowi *fl)
{
	int err = iwp_ooo_orig(sk)->queue_xmit(sk, skb, fl);

	if (!iwp_ooo_empty(sk))
		iwp_ooo_scan(sk);
	return err;
}

/*
 * A segment has arrived and is not processed yet. If it fills the hole, nothing placed
 * now would be early.
 */
static void iwp_ooo_rx_dst_set(struct sock *sk, const struct sk_buff *skb)
{
	u32 next = tcp_sk(sk)->rcv_nxt;
	struct iwp_early *early;

	if (iwp_ooo_empty(sk)) {
		iwp_ooo_orig(sk)->sk_rx_dst_set(sk, skb);
		return;
	}
	if (after(TCP_SKB_CB(skb)->seq, next)) {
		iwp_ooo_scan(sk);
		return;
	}
	early = iwp_ooo_early(sk);
	if (!early)
		return;
	early->hole_filling = true;
	early->filled_end = TCP_SKB_CB(skb)->end_seq;
	if (before(early->filled_end, next))
		early->filled_end = next;
}

/**
 * iwp_ooo_hole_filled() - TCP has data in order
 * @qp: queue pair
 *
 * Counts the data that had waited for it.
 *
 * Context: socket lock held.
 */
void iwp_ooo_hole_filled(struct iwp_qp *qp)
{
	struct iwp_early *early = qp->rx.early;
	u32 next;

	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	if (!early || !early->hole_filling)
		return;
	early->hole_filling = false;
	next = tcp_sk(qp->tx.sk)->rcv_nxt;
	if (after(next, early->filled_end))
		iwp_count(qp->dev, IWP_STAT_RX_OOO_BYTES,
			  next - early->filled_end);
}

static void iwp_ooo_fill(struct iwp_ooo_ops *family,
			 const struct inet_connection_sock_af_ops *orig)
{
	lockdep_assert_held(&iwp_ooo_lock);
	family->ops = *orig;
	family->ops.queue_xmit = iwp_ooo_queue_xmit;
	family->ops.sk_rx_dst_set = iwp_ooo_rx_dst_set;
	family->orig = orig;
}

/* Returns the copy of a family's operations, or NULL if the table is full. */
static const struct inet_connection_sock_af_ops *
iwp_ooo_copy(const struct inet_connection_sock_af_ops *orig)
{
	const struct inet_connection_sock_af_ops *ops = NULL;
	int i;

	mutex_lock(&iwp_ooo_lock);
	for (i = 0; i < IWP_OOO_FAMILIES && !ops; i++) {
		if (!iwp_ooo_families[i].orig)
			iwp_ooo_fill(&iwp_ooo_families[i], orig);
		if (iwp_ooo_families[i].orig == orig)
			ops = &iwp_ooo_families[i].ops;
	}
	mutex_unlock(&iwp_ooo_lock);
	return ops;
}

/**
 * iwp_ooo_enabled() - whether new connections place early what has markers
 *
 * Context: any.
 * Return: what the module parameter says.
 */
bool iwp_ooo_enabled(void)
{
	return READ_ONCE(iwp_early_enabled);
}

/**
 * iwp_ooo_watch() - enable early placement, if possible
 * @qp: queue pair that starts Full Operation
 *
 * Does nothing without markers or memory.
 *
 * Context: process, socket lock held.
 */
void iwp_ooo_watch(struct iwp_qp *qp)
{
	struct inet_connection_sock *icsk = inet_csk(qp->tx.sk);
	const struct inet_connection_sock_af_ops *ops;
	struct iwp_early *early;

	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	if (!qp->rx.wire.interval || !iwp_ooo_enabled())
		return;
	ops = iwp_ooo_copy(icsk->icsk_af_ops);
	early = ops ? iwp_early_new(qp) : NULL;
	if (!early)
		return;
	/* Only the MPA frame has been read yet. */
	early->start_seq = tcp_sk(qp->tx.sk)->copied_seq;
	/* Socket options read it without the socket lock. */
	WRITE_ONCE(icsk->icsk_af_ops, ops);
}

/**
 * iwp_ooo_unwatch() - restore a socket's operations
 * @sk: socket in any state
 *
 * Context: socket lock held.
 */
void iwp_ooo_unwatch(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);

	lockdep_assert(lockdep_sock_is_held(sk));
	if (icsk->icsk_af_ops->queue_xmit == iwp_ooo_queue_xmit)
		WRITE_ONCE(icsk->icsk_af_ops, iwp_ooo_orig(sk));
}
