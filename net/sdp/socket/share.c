// SPDX-License-Identifier: GPL-2.0
/*
 * SO_REUSEPORT: sockets of one user that share an address and a port.
 *
 * The connection manager has one listener for each port.  So the port belongs to a
 * socket without a file, the owner, which binds and listens as others do; each request
 * to it is handed to the next member that listens and has room.  A member has no
 * identifier, and may come and go; the owner goes with the last.
 */
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <net/sock.h>

#include "base/base.h"
#include "conn/conn.h"
#include "socket.h"

/**
 * struct sdp_share - sockets that share an address and a port
 * @node: place among those of the namespace
 * @owner: the socket that has the port; its own @share points here
 * @members: by share_node, first the one whose turn it is
 * @lock: protects @members and @lost
 * @users: members, readers that are none, and @work while it has the last of these
 *	references
 * @work: drops the last reference for callers that hold a lock
 * @rollback: undoes a failed attempt to listen, with a reference while it is pending
 * @uid: whose sockets these are
 * @dual: the unspecified address stands for IPv4, too
 * @listening: the owner listens (its socket lock)
 * @lost: a device has taken the port with it; no members are added any more
 */
struct sdp_share {
	struct list_head node;
	struct sock *owner;
	struct list_head members;
	spinlock_t lock; /* protects @members and @lost */
	refcount_t users;
	struct work_struct work;
	struct work_struct rollback;
	kuid_t uid;
	bool dual;
	bool listening;
	bool lost;
};

/*
 * Protects the namespace's list, and which share a socket is a member of; between
 * the socket locks of a member and of an owner.  As below these, nothing is called
 * below it that takes a handler mutex.
 */
static struct mutex *sdp_share_mutex(const struct sock *sk)
{
	return &sdp_net(sock_net(sk))->share_mutex;
}

static bool sdp_share_is_member(const struct sdp_sock *ssk)
{
	lockdep_assert_held(sdp_share_mutex(&ssk->sk));
	return ssk->share && ssk->share->owner != &ssk->sk;
}

/* After this no request is in flight to the owner, and its port is free. */
static void sdp_share_put(struct sdp_share *share)
{
	struct sock *owner = share->owner;
	struct mutex *mutex = sdp_share_mutex(owner);

	if (!refcount_dec_and_mutex_lock(&share->users, mutex))
		return;
	list_del(&share->node);
	mutex_unlock(mutex);
	sdp_sock_close(owner);
	sdp_conn_flush(sdp_conn(owner));
	sdp_sk(owner)->share = NULL;
	sock_put(owner);
	kfree(share);
}

static void sdp_share_work(struct work_struct *work)
{
	sdp_share_put(container_of(work, struct sdp_share, work));
}

/*
 * For callers that hold a socket lock or the mutex.  While the work item has a reference
 * no other one can be the last, so that it is queued only once.
 */
static void sdp_share_put_later(struct sdp_share *share)
{
	if (!refcount_dec_not_one(&share->users))
		queue_work(sdp_share_wq, &share->work);
}

/* The member's own timer does the rest: this does not wait for its lock. */
static void sdp_share_tell(struct sdp_sock *ssk)
{
	lockdep_assert_held(&ssk->share->lock);
	set_bit(SDP_CONN_UNSHARED, &ssk->conn.link.flags);
	sdp_link_kick(&ssk->conn.link);
}

/* The owner's callback: it has an error, which can only be its device's end. */
static void sdp_share_lost(struct sock *owner)
{
	struct sdp_share *share = sdp_sk(owner)->share;
	struct sdp_sock *member;

	spin_lock_bh(&share->lock);
	share->lost = true;
	list_for_each_entry(member, &share->members, share_node)
		sdp_share_tell(member);
	spin_unlock_bh(&share->lock);
}

static void sdp_share_add(struct sdp_share *share, struct sdp_sock *ssk)
{
	lockdep_assert_held(sdp_share_mutex(&ssk->sk));
	sdp_sock_owned_by_me(&ssk->sk);
	refcount_inc(&share->users);
	WRITE_ONCE(ssk->share, share);
	spin_lock_bh(&share->lock);
	list_add_tail(&ssk->share_node, &share->members);
	if (share->lost)
		sdp_share_tell(ssk);
	spin_unlock_bh(&share->lock);
}

/* Ends a membership, whose reference is the caller's now; NULL if there is none. */
static struct sdp_share *sdp_share_remove(struct sdp_sock *ssk, bool only_if_lost)
{
	struct sdp_share *share = NULL;

	if (!READ_ONCE(ssk->share))
		return NULL;
	mutex_lock(sdp_share_mutex(&ssk->sk));
	if (sdp_share_is_member(ssk) &&
	    (!only_if_lost || READ_ONCE(ssk->share->lost))) {
		share = ssk->share;
		spin_lock_bh(&share->lock);
		list_del_init(&ssk->share_node);
		spin_unlock_bh(&share->lock);
		WRITE_ONCE(ssk->share, NULL);
	}
	mutex_unlock(sdp_share_mutex(&ssk->sk));
	return share;
}

/**
 * sdp_share_leave() - give up a socket's part in a port that it shares
 * @ssk: socket, not locked, that does not listen any more; nothing happens if it
 *	shares none
 *
 * A request may just have been handed to it, see sdp_accept_child().  If it was
 * the last one the port is free when this returns.
 *
 * Context: process context.
 */
void sdp_share_leave(struct sdp_sock *ssk)
{
	struct sdp_share *share = sdp_share_remove(ssk, false);

	if (share)
		sdp_share_put(share);
}

/**
 * sdp_share_check() - end a socket whose shared port a device has taken with it
 * @ssk: locked socket; nothing happens if it has none, or another one by now
 *
 * For user space it is as if the identifier had been the socket's own.
 */
void sdp_share_check(struct sdp_sock *ssk)
{
	struct sdp_share *share;

	sdp_sock_owned_by_me(&ssk->sk);
	share = sdp_share_remove(ssk, true);
	if (!share)
		return;
	sdp_share_put_later(share);
	/* What TCP carries needs no port of RDMA. */
	if (sdp_fallback_tcp(&ssk->fallback))
		return;
	/* Another thread is ending it; the state is that one's, sdp_sock_rollback(). */
	if (sdp_in_state(&ssk->sk, TCPF_CLOSING))
		return;
	if (!sdp_in_state(&ssk->sk, TCPF_LISTEN))
		sdp_sock_failed(ssk, -ENETDOWN);
	sdp_sock_ended(ssk, -ENETDOWN);
}

static bool sdp_share_fits(const struct sdp_share *share,
			   const struct sdp_sock *ssk, bool dual)
{
	const struct sdp_sock *owner = sdp_sk(share->owner);

	return !READ_ONCE(share->lost) &&
	       sdp_addr_same(&owner->base.local, &ssk->base.local) &&
	       owner->sk.sk_bound_dev_if == ssk->sk.sk_bound_dev_if &&
	       owner->base.v6only == ssk->base.v6only && share->dual == dual &&
	       uid_eq(share->uid, ssk->sk.sk_uid);
}

static struct sdp_share *sdp_share_find(const struct sdp_sock *ssk, bool dual)
{
	struct sdp_share *share;

	lockdep_assert_held(sdp_share_mutex(&ssk->sk));
	if (!ssk->base.local.port)
		return NULL;
	list_for_each_entry(share, &sdp_net(sock_net(&ssk->sk))->shares, node)
		if (sdp_share_fits(share, ssk, dual))
			return share;
	return NULL;
}

/* A socket with the options of @ssk that shows up nowhere. */
static struct sock *sdp_share_alloc_owner(const struct sdp_sock *ssk)
{
	struct sock *owner = sdp_sock_alloc_child(&ssk->sk, GFP_KERNEL);

	if (!owner)
		return NULL;
	owner->sk_prot->unhash(owner);
	owner->sk_reuseport = 0;
	owner->sk_error_report = sdp_share_lost;
	sock_reset_flag(owner, SOCK_LINGER);
	sdp_sk(owner)->base.local = ssk->base.local;
	sdp_sk(owner)->fallback.wanted = SDP_FALLBACK_OFF;
	return owner;
}

static void sdp_share_keep_id(struct sdp_sock *owner)
{
	sdp_conn_rollback(&owner->conn);
}

/* Ends a failed attempt of the owner to listen. */
static void sdp_share_rollback_owner(struct sdp_share *share)
{
	struct sock *owner = share->owner;

	sdp_lock_sock(owner);
	if (owner->sk_state == TCP_LISTEN && !share->listening)
		sdp_sock_rollback(owner, sdp_share_keep_id);
	sdp_release_sock(owner);
}

static void sdp_share_rollback_work(struct work_struct *work)
{
	struct sdp_share *share = container_of(work, struct sdp_share, rollback);

	sdp_share_rollback_owner(share);
	sdp_share_put(share);
}

static struct sdp_share *sdp_share_alloc(const struct sdp_sock *ssk, bool dual)
{
	struct sdp_share *share = kzalloc(sizeof(*share), GFP_KERNEL_ACCOUNT);

	if (!share)
		return NULL;
	share->owner = sdp_share_alloc_owner(ssk);
	if (!share->owner) {
		kfree(share);
		return NULL;
	}
	sdp_sk(share->owner)->share = share;
	INIT_LIST_HEAD(&share->node);
	INIT_LIST_HEAD(&share->members);
	spin_lock_init(&share->lock);
	refcount_set(&share->users, 1);
	INIT_WORK(&share->work, sdp_share_work);
	INIT_WORK(&share->rollback, sdp_share_rollback_work);
	share->uid = ssk->sk.sk_uid;
	share->dual = dual;
	return share;
}

static int sdp_share_found(struct sdp_sock *ssk, bool dual)
{
	struct sdp_share *share = sdp_share_alloc(ssk, dual);
	struct sdp_sock *owner;
	int err;

	lockdep_assert_held(sdp_share_mutex(&ssk->sk));
	if (!share)
		return -ENOBUFS;
	owner = sdp_sk(share->owner);
	sdp_lock_sock_nested(&owner->sk, SDP_LOCK_PORT);
	err = sdp_cm_bind(&owner->conn, dual);
	sdp_release_sock(&owner->sk);
	if (err) {
		sdp_share_put_later(share);
		return err;
	}
	ssk->base.local.port = owner->base.local.port;
	list_add(&share->node, &sdp_net(sock_net(&ssk->sk))->shares);
	sdp_share_add(share, ssk);
	refcount_dec(&share->users);
	return 0;
}

/**
 * sdp_share_wanted() - whether a socket is to share the port that it gets
 * @ssk: locked socket
 *
 * One that connects needs an identifier of its own.
 */
bool sdp_share_wanted(const struct sdp_sock *ssk)
{
	sdp_owned(&ssk->sk);
	return ssk->sk.sk_reuseport && ssk->sk.sk_state != TCP_SYN_SENT;
}

/* The connection manager has checked the first one, as TCP checks each. */
static bool sdp_share_may_join(const struct sdp_share *share)
{
	return ntohs(sdp_sk(share->owner)->base.local.port) >= PROT_SOCK ||
	       capable(CAP_NET_BIND_SERVICE);
}

/**
 * sdp_share_bind() - reserve a local address that others may share
 * @ssk: locked socket without a port, whose local address says what is wanted
 * @dual: the unspecified address stands for IPv6 and IPv4
 *
 * Context: process context.
 * Return: as sdp_cm_bind().
 */
int sdp_share_bind(struct sdp_sock *ssk, bool dual)
{
	struct sdp_share *share;
	int err = 0;

	sdp_owned(&ssk->sk);
	mutex_lock(sdp_share_mutex(&ssk->sk));
	share = sdp_share_find(ssk, dual);
	/* Another thread is about to leave the one that it has. */
	if (ssk->share)
		err = -EADDRINUSE;
	else if (!share)
		err = sdp_share_found(ssk, dual);
	else if (!sdp_share_may_join(share))
		err = -EACCES;
	else
		sdp_share_add(share, ssk);
	mutex_unlock(sdp_share_mutex(&ssk->sk));
	return err;
}

/*
 * For callers that may fall back to TCP, or hold locks.  The calling member has a
 * reference, so that no other is the last one meanwhile.
 */
static void sdp_share_rollback_later(struct sdp_share *share)
{
	refcount_inc(&share->users);
	if (!queue_work(sdp_share_wq, &share->rollback))
		refcount_dec(&share->users);
}

static int sdp_share_listen_owner(struct sdp_share *share)
{
	struct sock *owner = share->owner;
	int err = 0;

	lockdep_assert_held(sdp_share_mutex(owner));
	sdp_lock_sock_nested(owner, SDP_LOCK_PORT);
	if (!share->listening) {
		/* Another member's attempt has just failed. */
		err = -EADDRINUSE;
		if (owner->sk_state == TCP_CLOSE &&
		    sdp_conn_is_bound(&sdp_sk(owner)->conn)) {
			sdp_set_state(owner, TCP_LISTEN);
			err = sdp_listen_begin(sdp_conn(owner));
			if (err)
				sdp_share_rollback_later(share);
		}
		share->listening = !err;
	}
	sdp_release_sock(owner);
	return err;
}

/**
 * sdp_share_listen() - have the port's owner listen
 * @ssk: locked socket in state LISTEN that shares a port
 *
 * Context: process context.
 * Return: 0 or a negative errno; then sdp_share_rollback() is due.
 */
int sdp_share_listen(struct sdp_sock *ssk)
{
	int err = -EADDRINUSE;

	sdp_sock_owned_by_me(&ssk->sk);
	mutex_lock(sdp_share_mutex(&ssk->sk));
	/* It may just have left, if another thread has been at it. */
	if (sdp_share_is_member(ssk))
		err = sdp_share_listen_owner(ssk->share);
	mutex_unlock(sdp_share_mutex(&ssk->sk));
	return err;
}

/* A device may take it with it, unless there is a reference or the socket lock. */
static struct sdp_share *sdp_share_get(const struct sdp_sock *ssk)
{
	struct sdp_share *share = NULL;

	mutex_lock(sdp_share_mutex(&ssk->sk));
	if (sdp_share_is_member(ssk)) {
		share = ssk->share;
		refcount_inc(&share->users);
	}
	mutex_unlock(sdp_share_mutex(&ssk->sk));
	return share;
}

/**
 * sdp_share_rollback() - undo a failed attempt of sdp_share_listen()
 * @ssk: socket in state CLOSING, not locked; nothing happens if it shares no port
 *
 * Context: process context, no work item; waits for one of sdp_share_wq.
 */
void sdp_share_rollback(struct sdp_sock *ssk)
{
	struct sdp_share *share = sdp_share_get(ssk);

	if (!share)
		return;
	sdp_share_rollback_owner(share);
	/* It may be at it: the next attempt is to find the end of that. */
	flush_work(&share->rollback);
	sdp_share_put(share);
}

static bool sdp_share_listens(const struct sdp_sock *member, int netdev)
{
	int want = READ_ONCE(member->sk.sk_bound_dev_if);

	lockdep_assert_held(&member->share->lock);
	return sdp_in_state(&member->sk, TCPF_LISTEN) &&
	       (!want || want == netdev);
}

/**
 * sdp_share_pick() - choose the socket that gets a connection request
 * @ssk: socket that the request came to
 * @netdev: interface that it came by
 *
 * The members' locks are not taken, so that one that is held for long delays no others.
 *
 * Context: handler of its cm_id.
 * Return: @ssk, or the member whose turn it is if it owns a shared port, held for
 * the caller; NULL if none listens.
 */
struct sdp_sock *sdp_share_pick(struct sdp_sock *ssk, int netdev)
{
	struct sdp_sock *member, *found = NULL;
	struct sdp_share *share = ssk->share;

	if (!share) {
		sock_hold(&ssk->sk);
		return ssk;
	}
	spin_lock_bh(&share->lock);
	list_for_each_entry(member, &share->members, share_node) {
		if (!sdp_share_listens(member, netdev))
			continue;
		if (!found || !sdp_accept_is_full(member))
			found = member;
		if (!sdp_accept_is_full(member))
			break;
	}
	if (found) {
		sock_hold(&found->sk);
		list_move_tail(&found->share_node, &share->members);
	}
	spin_unlock_bh(&share->lock);
	return found;
}
