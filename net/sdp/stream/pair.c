// SPDX-License-Identifier: GPL-2.0
/*
 * How two ends of a connection find out that they are in the same kernel, and part.
 *
 * The Hello carries a token, a random number that this kernel remembers until the
 * connection is set up.  Whoever receives it in a Hello, and finds it here, for a socket
 * that connects from the one's address to the other's, has received the Hello of that
 * socket.
 *
 * A peer elsewhere that is asked may repeat the number, and lie about its address.  So
 * what else Hello and HelloAck say of buffers has to be true as well: then he can make
 * the two ends disagree, which ends them, but not have one write where the other has no
 * room; and nothing of the connection goes to him.
 */
#include <linux/hashtable.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "pair.h"
#include "pair_internal.h"
#include "stream.h"

#define SDP_PAIR_HASH_BITS	8

static DEFINE_HASHTABLE(sdp_pairs, SDP_PAIR_HASH_BITS);
/* Protects sdp_pairs, and nothing else. */
static DEFINE_SPINLOCK(sdp_pairs_lock);

/* What completions of a device do; an end that leaves waits until this is over. */
static void sdp_pair_kick(struct sdp_pair *pair, enum sdp_pair_end end)
{
	struct sdp_stream *st;

	spin_lock(&pair->lock);
	st = pair->end[end];
	spin_unlock(&pair->lock);
	if (st)
		sdp_link_kick(st->link);
}

static void sdp_pair_kick_asks(struct tasklet_struct *kick)
{
	sdp_pair_kick(container_of(kick, struct sdp_pair, kick[SDP_PAIR_ASKS]),
		      SDP_PAIR_ASKS);
}

static void sdp_pair_kick_answers(struct tasklet_struct *kick)
{
	sdp_pair_kick(container_of(kick, struct sdp_pair, kick[SDP_PAIR_ANSWERS]),
		      SDP_PAIR_ANSWERS);
}

static struct sdp_pair *sdp_pair_alloc(const struct sock *sk)
{
	struct sdp_pair *pair = kzalloc(sizeof(*pair), SDP_GFP_TABLE);

	if (!pair)
		return NULL;
	refcount_set(&pair->refs, 1);
	spin_lock_init(&pair->lock);
	tasklet_setup(&pair->kick[SDP_PAIR_ASKS], sdp_pair_kick_asks);
	tasklet_setup(&pair->kick[SDP_PAIR_ANSWERS], sdp_pair_kick_answers);
	pair->local = sdp_base(sk)->local;
	pair->peer = sdp_base(sk)->peer;
	do {
		pair->token = get_random_u64();
	} while (!pair->token);
	return pair;
}

/* Makes a stream an end; its buffers are allocated. */
static void sdp_pair_enter(struct sdp_pair *pair, enum sdp_pair_end end, struct sdp_stream *st)
{
	pair->end[end] = st;
	pair->bufs[end] = st->rx.rb.total;
	pair->rcv_size[end] = st->rx.rb.size + SDP_BSDH_LEN;
	st->pair = pair;
	st->pair_end = end;
}

/* Whether a Hello or HelloAck tells the truth. */
static bool sdp_pair_has(const struct sdp_pair *pair, enum sdp_pair_end end, u32 bufs,
			 u32 rcv_size)
{
	return pair->bufs[end] == bufs && pair->rcv_size[end] == rcv_size;
}

static void sdp_pair_put(struct sdp_pair *pair)
{
	if (refcount_dec_and_test(&pair->refs))
		kfree(pair);
}

/**
 * sdp_pair_offer() - wait for the other end of a connection in this kernel
 * @st: stream of a socket that is about to send its Hello, with its buffers, and that
 *	nothing else can transmit on yet
 *
 * Context: process context, may sleep for memory.
 * Return: false if there is no memory for it.
 */
bool sdp_pair_offer(struct sdp_stream *st)
{
	struct sdp_pair *pair = sdp_pair_alloc(st->sk);

	if (!pair)
		return false;
	sdp_pair_enter(pair, SDP_PAIR_ASKS, st);
	spin_lock_bh(&sdp_pairs_lock);
	hash_add(sdp_pairs, &pair->node, pair->token);
	spin_unlock_bh(&sdp_pairs_lock);
	return true;
}

/**
 * sdp_pair_token() - what the Hello is to say
 * @st: stream of a socket that is about to send it
 *
 * Return: the token; 0 if the other end is not looked for in this kernel.
 */
u64 sdp_pair_token(const struct sdp_stream *st)
{
	return st->pair ? st->pair->token : 0;
}

/* Each is claimed once. */
static struct sdp_pair *sdp_pair_find(const struct sdp_base *base, const struct sdp_hello *hello)
{
	struct sdp_pair *pair;

	lockdep_assert_held(&sdp_pairs_lock);
	hash_for_each_possible(sdp_pairs, pair, node, hello->token)
		if (pair->token == hello->token &&
		    sdp_addr_same_but_scope(&pair->local, &base->peer) &&
		    sdp_addr_same_but_scope(&pair->peer, &base->local) &&
		    sdp_pair_has(pair, SDP_PAIR_ASKS, hello->bufs, hello->local_rcv_size))
			return pair;
	return NULL;
}

/**
 * sdp_pair_claim() - find the end that has sent a Hello, if it is in this kernel
 * @st: stream of an unpublished socket that has got it, with its addresses and buffers
 * @hello: the Hello, which has a token
 *
 * Return: whether it was found.
 */
bool sdp_pair_claim(struct sdp_stream *st, const struct sdp_hello *hello)
{
	struct sdp_pair *pair;

	spin_lock_bh(&sdp_pairs_lock);
	pair = sdp_pair_find(sdp_base(st->sk), hello);
	if (pair) {
		hash_del(&pair->node);
		refcount_inc(&pair->refs);
	}
	spin_unlock_bh(&sdp_pairs_lock);
	if (!pair)
		return false;
	spin_lock_bh(&pair->lock);
	sdp_pair_enter(pair, SDP_PAIR_ANSWERS, st);
	pair->claimed = true;
	/* From now on it ends if the other one leaves. */
	set_bit(SDP_CONN_LOCAL, &st->link->flags);
	spin_unlock_bh(&pair->lock);
	return true;
}

/**
 * sdp_pair_confirm() - the peer says that it is in this kernel
 * @st: stream of a socket that has offered it
 * @ack: the peer's HelloAck
 *
 * Return: whether that is true; also if it has left by now.
 */
bool sdp_pair_confirm(struct sdp_stream *st, const struct sdp_hello_ack *ack)
{
	bool claimed;

	if (!st->pair)
		return false;
	spin_lock_bh(&st->pair->lock);
	claimed = st->pair->claimed &&
		  sdp_pair_has(st->pair, SDP_PAIR_ANSWERS, ack->bufs, ack->act_rcv_size);
	if (claimed)
		set_bit(SDP_CONN_LOCAL, &st->link->flags);
	spin_unlock_bh(&st->pair->lock);
	return claimed;
}

/**
 * sdp_pair_leave() - the connection ends, or its other end is elsewhere
 * @st: stream of a socket that nothing is submitted on any more; nothing happens if it is
 *	no end of a pair
 *
 * Nothing is delivered to it when this returns.  The other end ends as well, if it was
 * told that it is one: the device may have no way left to tell it.
 *
 * Context: process context, without the socket lock.
 */
void sdp_pair_leave(struct sdp_stream *st)
{
	struct sdp_pair *pair = st->pair;
	struct sdp_stream *other;

	if (!pair)
		return;
	spin_lock_bh(&sdp_pairs_lock);
	hash_del(&pair->node);
	spin_unlock_bh(&sdp_pairs_lock);
	spin_lock_bh(&pair->lock);
	pair->end[st->pair_end] = NULL;
	other = pair->end[!st->pair_end];
	/* It has its cm_id until it has left. */
	if (other && sdp_link_is_local(other->link))
		sdp_link_end(other->link, -ECONNRESET);
	spin_unlock_bh(&pair->lock);
	tasklet_kill(&pair->kick[st->pair_end]);
	st->pair = NULL;
	sdp_pair_put(pair);
}
