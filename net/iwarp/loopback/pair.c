// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs that are joined: how they find each other, when their requests
 * are executed, and how they part.
 *
 * The side that accepts offers itself before its reply leaves.  When the side
 * that connects has the reply, it looks for an offer that is the other end of
 * its own TCP connection.  Up to then neither has sent a segment: one has not
 * begun, the other has to wait for the first.
 *
 * Requests are executed by whoever posts them, if he lets soft interrupts in, as
 * if one came, and in a tasklet otherwise.  It runs as soon as he does, and so
 * never below a lock of his; what completion handlers post is executed after they
 * have returned.
 */
#include <linux/hashtable.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/tcp.h>

#include "queue/queue.h"
#include "stream/stream.h"
#include "internal.h"

/* How many bytes are copied before others get the processor. */
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
 * iwp_loopback_offer() - a peer in this kernel may join us
 * @ep: endpoint, locked, with its queue pair, that is about to reply
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
 * iwp_loopback_withdraw() - nobody may join us any more
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

/* Returns who offered itself, with a reference, or NULL. */
static struct iwp_ep *iwp_offer_take(const struct sock *sk)
{
	u32 key = iwp_offer_key(inet_sk(sk)->inet_sport,
				inet_sk(sk)->inet_dport);
	struct iwp_ep *ep, *found = NULL;

	spin_lock(&iwp_offers_lock);
	hash_for_each_possible(iwp_offers, ep, offer_node, key) {
		if (iwp_ends_match(sk, ep->sock->sk)) {
			hash_del(&ep->offer_node);
			iwp_ep_get(ep);
			found = ep;
			break;
		}
	}
	spin_unlock(&iwp_offers_lock);
	return found;
}

/*
 * Addresses may be translated on the way, or stand for another machine.  But
 * TCP's numbers began at random: who is at the very same places in both
 * directions is the other end.
 */
static bool iwp_ends_meet(const struct sock *sk, const struct sock *peer)
{
	return sk->sk_state == TCP_ESTABLISHED &&
	       peer->sk_state == TCP_ESTABLISHED &&
	       tcp_sk(sk)->write_seq == tcp_sk(peer)->rcv_nxt &&
	       tcp_sk(peer)->write_seq == tcp_sk(sk)->rcv_nxt;
}

/* Whoever is in error leaves, and from then on looks after itself. */
static void iwp_loopback_detach(struct iwp_loopback_dir *dir)
{
	struct iwp_qp *from = dir->from, *to = dir->to;

	if (from && READ_ONCE(from->state) == IWP_QP_ERROR) {
		/* Who posts sees this, or we see what he posted. */
		smp_store_mb(from->loopback.out, NULL);
		iwp_sq_flush(from);
		dir->from = NULL;
		iwp_qp_put(from);
	}
	if (to && READ_ONCE(to->state) == IWP_QP_ERROR) {
		/* Who puts it in error does this himself as soon as it has left. */
		iwp_rx_flush(to);
		smp_wmb(); /* pairs with iwp_loopback_kick_in() */
		/* As above. */
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
 * @dir: where
 *
 * Context: the dir's turn, or while it is kept from running.
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

/* Does what the tasklet would, in its place; returns whether that may be. */
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
 * iwp_loopback_kick() - there may be something to do
 * @dir: where
 *
 * Soft interrupts must not be let in where interrupts are off.
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
	/* Who finds the lanes is to see what is in them. */
	smp_store_release(&qp->loopback.out, &pair->dirs[side]);
	/* As above. */
	smp_store_release(&qp->loopback.in, &pair->dirs[!side]);
}

/* What was posted, or went wrong, before they were joined is found now. */
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
 * iwp_loopback_join() - join with the peer if it is in this kernel
 * @ep: endpoint, locked, that has a reply to its request, and a queue pair in
 *	which no requests can be yet
 *
 * The peer's socket is watched as long as it has its queue pair, and its lock
 * keeps the two together.
 *
 * Return: true if so: then nothing is to be sent.
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
 * iwp_loopback_ready() - the consumer has been told of its connection
 * @qp: queue pair, ready to send; nothing happens if it is not joined
 * @active: it is that of the side that connects, for which both wait
 *
 * Context: socket's lock held.
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
 * iwp_loopback_rq_posted() - there is a receive request
 * @qp: queue pair; nothing happens if nothing waits for it
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
 * iwp_loopback_fail() - a request is refused: the connection has to end
 * @dir: where
 * @qp: whose fault it is, or who found out about the peer
 * @error: what the peer is told
 */
void iwp_loopback_fail(struct iwp_loopback_dir *dir, struct iwp_qp *qp,
		       enum iwarp_error error)
{
	dir->stopped = true;
	iwp_qp_fail(qp, error);
}

/**
 * iwp_loopback_pair_put() - a queue pair's memory goes
 * @pair: what joined it, or NULL
 *
 * Both have left before, but what told them so may still run.
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
