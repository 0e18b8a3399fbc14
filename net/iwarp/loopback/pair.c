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
#define IWP_LOCAL_BUDGET	(256 * 1024)

static bool iwp_local_wanted = true;
module_param_named(local, iwp_local_wanted, bool, 0644);
MODULE_PARM_DESC(local, "Copy from memory to memory if the peer is in this kernel");

static DEFINE_SPINLOCK(iwp_offers_lock);
static DEFINE_HASHTABLE(iwp_offers, 8);

static bool iwp_local_possible(const struct iwp_ep *ep)
{
	return READ_ONCE(iwp_local_wanted) && ep->mpa.enhanced &&
	       ep->mpa.peer_to_peer;
}

static u32 iwp_offer_key(__be16 from, __be16 to)
{
	return (__force u32)from << 16 | (__force u32)to;
}

/**
 * iwp_local_offer() - a peer in this kernel may join us
 * @ep: endpoint, locked, with its queue pair, that is about to reply
 */
void iwp_local_offer(struct iwp_ep *ep)
{
	const struct inet_sock *inet = inet_sk(ep->sock->sk);

	lockdep_assert_held(&ep->lock);
	if (!iwp_local_possible(ep))
		return;
	spin_lock(&iwp_offers_lock);
	hash_add(iwp_offers, &ep->offer,
		 iwp_offer_key(inet->inet_dport, inet->inet_sport));
	spin_unlock(&iwp_offers_lock);
}

/**
 * iwp_local_withdraw() - nobody may join us any more
 * @ep: endpoint, locked
 */
void iwp_local_withdraw(struct iwp_ep *ep)
{
	lockdep_assert_held(&ep->lock);
	spin_lock(&iwp_offers_lock);
	hash_del(&ep->offer);
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
	hash_for_each_possible(iwp_offers, ep, offer, key) {
		if (iwp_ends_match(sk, ep->sock->sk)) {
			hash_del(&ep->offer);
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
static void iwp_lane_leave(struct iwp_lane *lane)
{
	struct iwp_qp *from = lane->from, *to = lane->to;

	if (from && READ_ONCE(from->state) == IWP_QP_ERROR) {
		/* Who posts sees this, or we see what he posted. */
		smp_store_mb(from->lanes.out, NULL);
		iwp_sq_flush(from);
		lane->from = NULL;
		iwp_qp_put(from);
	}
	if (to && READ_ONCE(to->state) == IWP_QP_ERROR) {
		/* Who puts it in error does this himself as soon as it has left. */
		iwp_rx_flush(to);
		smp_wmb(); /* pairs with iwp_local_receive() */
		/* As above. */
		smp_store_mb(to->lanes.in, NULL);
		iwp_rq_flush(to);
		lane->to = NULL;
		iwp_qp_put(to);
	}
}

static bool iwp_qp_moves(const struct iwp_qp *qp)
{
	u8 state;

	if (!qp)
		return false;
	state = READ_ONCE(qp->state);
	return state == IWP_QP_RTS || state == IWP_QP_CLOSING;
}

/**
 * iwp_lane_usable() - whether requests may be executed
 * @lane: where
 *
 * Context: the lane's turn, or while it is kept from running.
 */
bool iwp_lane_usable(const struct iwp_lane *lane)
{
	return READ_ONCE(lane->local->open) && !lane->stopped &&
	       iwp_qp_moves(lane->from) && iwp_qp_moves(lane->to);
}

static void iwp_lane_drained(struct iwp_lane *lane)
{
	if (READ_ONCE(lane->from->state) != IWP_QP_CLOSING ||
	    iwp_sq_next(lane->from))
		return;
	iwp_qp_signal(lane->from, IWP_EV_DRAINED);
}

static void iwp_lane_run(struct tasklet_struct *task)
{
	struct iwp_lane *lane = from_tasklet(lane, task, task);
	enum iwp_lane_next next = IWP_LANE_DONE;
	u32 budget = IWP_LOCAL_BUDGET;

	iwp_lane_leave(lane);
	while (next == IWP_LANE_DONE && iwp_lane_usable(lane))
		next = iwp_lane_execute(lane, &budget);
	if (next == IWP_LANE_MORE)
		tasklet_schedule(task);
	else if (iwp_lane_usable(lane))
		iwp_lane_drained(lane);
}

/* Does what the tasklet would, in its place; returns whether that may be. */
static bool iwp_lane_run_now(struct iwp_lane *lane)
{
	struct tasklet_struct *task = &lane->task;
	bool may;

	if (!tasklet_trylock(task))
		return false;
	may = !atomic_read(&task->count);
	if (may)
		iwp_lane_run(task);
	tasklet_unlock(task);
	return may;
}

/**
 * iwp_lane_kick() - there may be something to do
 * @lane: where
 *
 * Soft interrupts must not be let in where interrupts are off.
 *
 * Context: any.
 */
void iwp_lane_kick(struct iwp_lane *lane)
{
	if (in_interrupt() || irqs_disabled()) {
		tasklet_schedule(&lane->task);
		return;
	}
	local_bh_disable();
	if (!iwp_lane_run_now(lane))
		tasklet_schedule(&lane->task);
	local_bh_enable();
}

static void iwp_lane_init(struct iwp_lane *lane, struct iwp_local *local,
			  struct iwp_qp *from, struct iwp_qp *to)
{
	tasklet_setup(&lane->task, iwp_lane_run);
	lane->local = local;
	iwp_qp_get(from);
	lane->from = from;
	iwp_qp_get(to);
	lane->to = to;
}

static void iwp_qp_join(struct iwp_qp *qp, struct iwp_local *local,
			unsigned int side)
{
	qp->lanes.local = local;
	/* Who finds the lanes is to see what is in them. */
	smp_store_release(&qp->lanes.out, &local->lanes[side]);
	/* As above. */
	smp_store_release(&qp->lanes.in, &local->lanes[!side]);
}

/* What was posted, or went wrong, before they were joined is found now. */
static void iwp_local_look(struct iwp_local *local)
{
	iwp_lane_kick(&local->lanes[0]);
	iwp_lane_kick(&local->lanes[1]);
}

static bool iwp_local_tie(struct iwp_qp *qp, struct iwp_qp *peer)
{
	struct iwp_local *local = kzalloc(sizeof(*local), GFP_KERNEL_ACCOUNT);

	if (!local)
		return false;
	refcount_set(&local->refs, 2);
	iwp_lane_init(&local->lanes[0], local, qp, peer);
	iwp_lane_init(&local->lanes[1], local, peer, qp);
	iwp_qp_join(qp, local, 0);
	iwp_qp_join(peer, local, 1);
	iwp_local_look(local);
	return true;
}

/**
 * iwp_local_join() - join with the peer if it is in this kernel
 * @ep: endpoint, locked, that has a reply to its request, and a queue pair in
 *	which no requests can be yet
 *
 * The peer's socket is watched as long as it has its queue pair, and its lock
 * keeps the two together.
 *
 * Return: true if so: then nothing is to be sent.
 */
bool iwp_local_join(struct iwp_ep *ep)
{
	struct iwp_ep *peer;
	bool joined;
	struct sock *sk;

	lockdep_assert_held(&ep->lock);
	if (!iwp_local_possible(ep))
		return false;
	peer = iwp_offer_take(ep->sock->sk);
	if (!peer)
		return false;
	sk = peer->sock->sk;
	lock_sock(sk);
	joined = sk->sk_user_data == peer && iwp_ends_meet(ep->sock->sk, sk) &&
		 iwp_local_tie(ep->qp, peer->qp);
	release_sock(sk);
	iwp_ep_put(peer);
	return joined;
}

/**
 * iwp_local_ready() - the consumer has been told of its connection
 * @qp: queue pair, ready to send; nothing happens if it is not joined
 * @active: it is that of the side that connects, for which both wait
 *
 * Context: socket's lock held.
 */
void iwp_local_ready(struct iwp_qp *qp, bool active)
{
	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	if (!qp->lanes.local)
		return;
	if (active)
		WRITE_ONCE(qp->lanes.local->open, true);
	iwp_local_look(qp->lanes.local);
}

/**
 * iwp_local_fed() - there is a receive request
 * @qp: queue pair; nothing happens if nothing waits for it
 *
 * Context: any.
 */
void iwp_local_fed(struct iwp_qp *qp)
{
	struct iwp_lane *lane = READ_ONCE(qp->lanes.in);

	if (lane && READ_ONCE(lane->starved))
		iwp_lane_kick(lane);
}

/**
 * iwp_local_fail() - a request is refused: the connection has to end
 * @lane: where
 * @qp: whose fault it is, or who found out about the peer
 * @error: what the peer is told
 */
void iwp_local_fail(struct iwp_lane *lane, struct iwp_qp *qp,
		    enum iwarp_error error)
{
	lane->stopped = true;
	iwp_qp_fail(qp, error);
}

/**
 * iwp_local_put() - a queue pair's memory goes
 * @local: what joined it, or NULL
 *
 * Both have left before, but what told them so may still run.
 *
 * Context: process.
 */
void iwp_local_put(struct iwp_local *local)
{
	if (!local || !refcount_dec_and_test(&local->refs))
		return;
	tasklet_kill(&local->lanes[0].task);
	tasklet_kill(&local->lanes[1].task);
	kfree(local);
}
