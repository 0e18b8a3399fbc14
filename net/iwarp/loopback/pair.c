// SPDX-License-Identifier: GPL-2.0
/*
 * Loopback pairs: how two queue pairs find each other, when their requests are
 * executed, and how a pair ends.
 *
 * The responder of the connection setup offers itself before it sends its MPA Reply.
 * When the initiator has received the reply, it looks for an offer that is the other
 * end of its own TCP connection. No segment was sent before that: the initiator has not
 * started, and the responder waits for the initiator's first message (RFC 6581).
 *
 * Requests are executed by the caller of post_send() if soft interrupts are enabled, as
 * if one had occurred, and in a tasklet otherwise. The tasklet runs when the caller
 * enables soft interrupts, so never under a lock of the caller. Requests posted by
 * completion handlers are executed after these have returned.
 */
#include <linux/hashtable.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/tcp.h>

#include "queue/queue.h"
#include "stream/stream.h"
#include "internal.h"

/* Bytes copied before the CPU is released. */
#define IWP_LOOPBACK_BUDGET	(256 * 1024)

static bool iwp_loopback_enabled = true;
module_param_named(local, iwp_loopback_enabled, bool, 0644);
MODULE_PARM_DESC(local, "Copy from memory to memory if the peer is in this kernel");

static DEFINE_SPINLOCK(iwp_offers_lock);
static DEFINE_HASHTABLE(iwp_offers, 8);

static bool iwp_loopback_possible(const struct iwp_ep *ep)
{
	return READ_ONCE(iwp_loopback_enabled) && ep->mpa_rx.enhanced &&
	       ep->mpa_rx.peer_to_peer;
}

static u32 iwp_offer_key(__be16 from, __be16 to)
{
	return (__force u32)from << 16 | (__force u32)to;
}

/**
 * iwp_loopback_offer() - let a peer in this kernel use loopback
 * @ep: endpoint, locked, with a queue pair, about to send its MPA Reply
 */
void iwp_loopback_offer(struct iwp_ep *ep)
{
	const struct inet_sock *inet = inet_sk(ep->sock->sk);

	lockdep_assert_held(&ep->lock);
	if (!iwp_loopback_possible(ep))
		return;
	spin_lock(&iwp_offers_lock);
	hash_add(iwp_offers, &ep->offer_node,
		 iwp_offer_key(inet->inet_dport, inet->inet_sport));
	spin_unlock(&iwp_offers_lock);
}

/**
 * iwp_loopback_withdraw() - take back an offer
 * @ep: endpoint, locked
 */
void iwp_loopback_withdraw(struct iwp_ep *ep)
{
	lockdep_assert_held(&ep->lock);
	spin_lock(&iwp_offers_lock);
	hash_del(&ep->offer_node);
	spin_unlock(&iwp_offers_lock);
}

static bool iwp_addr_same(const struct sock *sk, const struct sock *peer)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6 && peer->sk_family == AF_INET6)
		return ipv6_addr_equal(&sk->sk_v6_daddr,
				       &peer->sk_v6_rcv_saddr);
#endif
	return sk->sk_daddr == peer->sk_rcv_saddr;
}

static bool iwp_ends_match(const struct sock *sk, const struct sock *peer)
{
	return net_eq(sock_net(sk), sock_net(peer)) &&
	       inet_sk(sk)->inet_dport == inet_sk(peer)->inet_sport &&
	       inet_sk(sk)->inet_sport == inet_sk(peer)->inet_dport &&
	       iwp_addr_same(sk, peer) && iwp_addr_same(peer, sk);
}

static struct iwp_ep *iwp_offer_find(const struct sock *sk)
{
	u32 key = iwp_offer_key(inet_sk(sk)->inet_sport,
				inet_sk(sk)->inet_dport);
	struct iwp_ep *ep;

	lockdep_assert_held(&iwp_offers_lock);
	hash_for_each_possible(iwp_offers, ep, offer_node, key)
		if (iwp_ends_match(sk, ep->sock->sk))
			return ep;
	return NULL;
}

/* Returns the endpoint of the offer, with a reference, or NULL. */
static struct iwp_ep *iwp_offer_take(const struct sock *sk)
{
	struct iwp_ep *ep;

	spin_lock(&iwp_offers_lock);
	ep = iwp_offer_find(sk);
	if (ep) {
		hash_del(&ep->offer_node);
		iwp_ep_get(ep);
	}
	spin_unlock(&iwp_offers_lock);
	return ep;
}

/*
 * Addresses may be translated by NAT, or belong to another machine. But TCP's initial
 * sequence numbers are random: a socket with the same numbers in both directions is the
 * other end.
 */
static bool iwp_ends_meet(const struct sock *sk, const struct sock *peer)
{
	return sk->sk_state == TCP_ESTABLISHED &&
	       peer->sk_state == TCP_ESTABLISHED &&
	       tcp_sk(sk)->write_seq == tcp_sk(peer)->rcv_nxt &&
	       tcp_sk(peer)->write_seq == tcp_sk(sk)->rcv_nxt;
}

/* A queue pair in the error state is detached, and flushes itself from then on. */
static void iwp_loopback_detach(struct iwp_loopback_dir *dir)
{
	struct iwp_qp *from = dir->from, *to = dir->to;

	if (from && READ_ONCE(from->state) == IWP_QP_ERROR) {
		/* Pairs with iwp_sq_posted(): it sees NULL, or we see its request. */
		smp_store_mb(from->loopback.out, NULL);
		iwp_sq_flush(from);
		dir->from = NULL;
		iwp_qp_put(from);
	}
	if (to && READ_ONCE(to->state) == IWP_QP_ERROR) {
		/* iwp_qp_flush() does the same once the queue pair is detached. */
		iwp_rx_flush(to);
		smp_wmb(); /* pairs with iwp_loopback_kick_in() */
		/* Pairs with iwp_post_recv(): it sees NULL, or we see its request. */
		smp_store_mb(to->loopback.in, NULL);
		iwp_rq_flush(to);
		dir->to = NULL;
		iwp_qp_put(to);
	}
}

static bool iwp_loopback_qp_active(const struct iwp_qp *qp)
{
	u8 state;

	if (!qp)
		return false;
	state = READ_ONCE(qp->state);
	return state == IWP_QP_RTS || state == IWP_QP_CLOSING;
}

/**
 * iwp_loopback_usable() - whether requests may be executed
 * @dir: direction
 *
 * Context: the direction's tasklet, or while that is disabled.
 */
bool iwp_loopback_usable(const struct iwp_loopback_dir *dir)
{
	return READ_ONCE(dir->pair->open) && !dir->stopped &&
	       iwp_loopback_qp_active(dir->from) && iwp_loopback_qp_active(dir->to);
}

static void iwp_loopback_drained(struct iwp_loopback_dir *dir)
{
	if (READ_ONCE(dir->from->state) != IWP_QP_CLOSING ||
	    iwp_sq_next(dir->from))
		return;
	iwp_qp_signal(dir->from, IWP_EV_DRAINED);
}

static void iwp_loopback_run(struct tasklet_struct *task)
{
	struct iwp_loopback_dir *dir = from_tasklet(dir, task, task);
	enum iwp_loopback_next next = IWP_LOOPBACK_CONTINUE;
	u32 budget = IWP_LOOPBACK_BUDGET;

	iwp_loopback_detach(dir);
	while (next == IWP_LOOPBACK_CONTINUE && iwp_loopback_usable(dir))
		next = iwp_loopback_execute(dir, &budget);
	if (next == IWP_LOOPBACK_RESCHED)
		tasklet_schedule(task);
	else if (iwp_loopback_usable(dir))
		iwp_loopback_drained(dir);
}

/* Runs in the tasklet's place; returns whether that was possible. */
static bool iwp_loopback_run_inline(struct iwp_loopback_dir *dir)
{
	struct tasklet_struct *task = &dir->task;
	bool may;

	if (!tasklet_trylock(task))
		return false;
	may = !atomic_read(&task->count);
	if (may)
		iwp_loopback_run(task);
	tasklet_unlock(task);
	return may;
}

/**
 * iwp_loopback_kick() - check a direction for work
 * @dir: direction
 *
 * With interrupts disabled it uses the tasklet, as local_bh_enable() is not allowed
 * there.
 *
 * Context: any.
 */
void iwp_loopback_kick(struct iwp_loopback_dir *dir)
{
	if (in_interrupt() || irqs_disabled()) {
		tasklet_schedule(&dir->task);
		return;
	}
	local_bh_disable();
	if (!iwp_loopback_run_inline(dir))
		tasklet_schedule(&dir->task);
	local_bh_enable();
}

static void iwp_loopback_dir_init(struct iwp_loopback_dir *dir, struct iwp_loopback_pair *pair,
				  struct iwp_qp *from, struct iwp_qp *to)
{
	tasklet_setup(&dir->task, iwp_loopback_run);
	dir->pair = pair;
	iwp_qp_get(from);
	dir->from = from;
	iwp_qp_get(to);
	dir->to = to;
}

static void iwp_loopback_attach(struct iwp_qp *qp, struct iwp_loopback_pair *pair,
				unsigned int side)
{
	qp->loopback.pair = pair;
	/* Pairs with iwp_loopback_in(); the directions are initialized. */
	smp_store_release(&qp->loopback.out, &pair->dirs[side]);
	/* Likewise. */
	smp_store_release(&qp->loopback.in, &pair->dirs[!side]);
}

/* Finds requests and errors from before the pair existed. */
static void iwp_loopback_kick_both(struct iwp_loopback_pair *pair)
{
	iwp_loopback_kick(&pair->dirs[0]);
	iwp_loopback_kick(&pair->dirs[1]);
}

static bool iwp_loopback_pair_create(struct iwp_qp *qp, struct iwp_qp *peer)
{
	struct iwp_loopback_pair *pair = kzalloc(sizeof(*pair), GFP_KERNEL_ACCOUNT);

	if (!pair)
		return false;
	refcount_set(&pair->refs, 2);
	iwp_loopback_dir_init(&pair->dirs[0], pair, qp, peer);
	iwp_loopback_dir_init(&pair->dirs[1], pair, peer, qp);
	iwp_loopback_attach(qp, pair, 0);
	iwp_loopback_attach(peer, pair, 1);
	iwp_loopback_kick_both(pair);
	return true;
}

/**
 * iwp_loopback_join() - use loopback if the peer is in this kernel
 * @ep: endpoint, locked, that has received its MPA Reply, with a queue pair to which
 *	nothing can have been posted yet
 *
 * sk_user_data of the peer's socket is set as long as it has its queue pair, and the
 * peer's socket lock keeps both together.
 *
 * Return: true with loopback: nothing may be sent by TCP.
 */
bool iwp_loopback_join(struct iwp_ep *ep)
{
	struct iwp_ep *peer;
	bool joined;
	struct sock *sk;

	lockdep_assert_held(&ep->lock);
	if (!iwp_loopback_possible(ep))
		return false;
	peer = iwp_offer_take(ep->sock->sk);
	if (!peer)
		return false;
	sk = peer->sock->sk;
	lock_sock(sk);
	joined = sk->sk_user_data == peer && iwp_ends_meet(ep->sock->sk, sk) &&
		 iwp_loopback_pair_create(ep->qp, peer->qp);
	release_sock(sk);
	iwp_ep_put(peer);
	return joined;
}

/**
 * iwp_loopback_ready() - the consumer was told of its connection
 * @qp: queue pair in the RTS state; no effect without loopback
 * @active: it is the initiator's, for which both directions wait
 *
 * Context: socket lock held.
 */
void iwp_loopback_ready(struct iwp_qp *qp, bool active)
{
	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	if (!qp->loopback.pair)
		return;
	if (active)
		WRITE_ONCE(qp->loopback.pair->open, true);
	iwp_loopback_kick_both(qp->loopback.pair);
}

/**
 * iwp_loopback_rq_posted() - a receive request was posted
 * @qp: queue pair; no effect if no request waits for it
 *
 * Context: any.
 */
void iwp_loopback_rq_posted(struct iwp_qp *qp)
{
	struct iwp_loopback_dir *dir = READ_ONCE(qp->loopback.in);

	if (dir && READ_ONCE(dir->wait_rqe))
		iwp_loopback_kick(dir);
}

/**
 * iwp_loopback_fail() - end the connection after a failed request
 * @dir: direction of the request
 * @qp: end that reports the error to the other
 * @error: error code for the Terminate
 */
void iwp_loopback_fail(struct iwp_loopback_dir *dir, struct iwp_qp *qp,
		       enum iwarp_error error)
{
	dir->stopped = true;
	iwp_qp_fail(qp, error);
}

/**
 * iwp_loopback_pair_put() - drop the reference of a queue pair that is freed
 * @pair: its pair, or NULL
 *
 * Both ends are detached, but the tasklets may still run.
 *
 * Context: process.
 */
void iwp_loopback_pair_put(struct iwp_loopback_pair *pair)
{
	if (!pair || !refcount_dec_and_test(&pair->refs))
		return;
	tasklet_kill(&pair->dirs[0].task);
	tasklet_kill(&pair->dirs[1].task);
	kfree(pair);
}
