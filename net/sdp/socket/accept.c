// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners and their children.
 *
 * A child is on its listener's pending list from the request until it is
 * connected, then on the ready list until accept() takes it.  The list owns
 * the reference that will be the accepted socket's.
 *
 * The backlog of user space limits the ready list, as with TCP.  Pending children have a
 * limit of their own: a peer that asks for a connection and then sends nothing must not
 * keep others out.
 */
#include <linux/net.h>
#include <linux/sched/signal.h>

#include "base/base.h"
#include "fallback/fallback.h"
#include "conn/conn.h"
#include "accept.h"
#include "socket.h"

static int sdp_listen_bind(struct sdp_sock *ssk)
{
	/* An unbound AF_SDP socket listens to IPv4 and IPv6. */
	bool dual = sdp_is_dual(&ssk->sk) ||
		    (!ssk->conn.bound && ssk->sk.sk_family == AF_SDP);

	if (ssk->fallback.wanted)
		return sdp_fallback_bind(ssk, dual);
	return sdp_sock_has_port(ssk) ? 0 : sdp_sock_bind(ssk, dual);
}

static int sdp_listen_rdma(struct sdp_sock *ssk)
{
	int err = 0;

	if (!sdp_fallback_alone(&ssk->fallback))
		err = sdp_conn_is_bound(&ssk->conn) ?
			      sdp_listen_begin(&ssk->conn) :
			      sdp_share_listen(ssk);
	if (err || sdp_fallback_alone(&ssk->fallback))
		return sdp_fallback_listen_alone(&ssk->fallback) ? 0 : err;
	return 0;
}

/* One identifier of two may listen, and have children already. */
static void sdp_listen_failed(struct sdp_sock *ssk)
{
	sdp_conn_rollback(&ssk->conn);
	sdp_share_rollback(ssk);
	sdp_accept_purge(ssk);
}

/**
 * sdp_listen_start() - make a socket a listener, or change its backlog
 * @sk: locked socket; the lock is released for a while if this fails
 * @backlog: connections that may wait for accept(), TCP's rule: one more
 *
 * Return: 0 or a negative errno.
 */
int sdp_listen_start(struct sock *sk, int backlog)
{
	struct sdp_sock *ssk = sdp_sk(sk);
	int err;

	sdp_owned(sk);
	WRITE_ONCE(sk->sk_max_ack_backlog, backlog);
	if (sk->sk_state == TCP_LISTEN)
		return sdp_fallback_listen(ssk, backlog);
	sdp_stream_begin(&ssk->conn.stream);
	sdp_conn_forget_port(&ssk->conn);
	err = sdp_listen_bind(ssk);
	if (err)
		return err;
	ssk->conn.bound = true;
	sk->sk_ack_backlog = 0;
	sk->sk_shutdown = 0;
	/* Requests may come before rdma_listen() has returned. */
	sdp_set_state(sk, TCP_LISTEN);
	err = sdp_fallback_listen(ssk, backlog);
	if (!err)
		err = sdp_listen_rdma(ssk);
	sdp_dbg(sk, "listen: error %d, backlog %d, %s", err, backlog,
		sdp_fallback_alone(&ssk->fallback) ? "TCP alone" :
		ssk->fallback.tcp ? "RDMA and TCP" : "RDMA");
	if (err)
		sdp_sock_rollback(sk, sdp_listen_failed);
	return err;
}

static void sdp_listen_over(struct sdp_sock *ssk)
{
	sdp_conn_destroy_id(&ssk->conn);
	sdp_share_leave(ssk);
	sdp_accept_purge(ssk);
}

/**
 * sdp_listen_stop() - end a listener
 * @sk: locked socket in state LISTEN; the lock is released for a while
 *
 * The port is free and all children that were not accepted are reset when this
 * returns.
 */
void sdp_listen_stop(struct sock *sk)
{
	sdp_owned(sk);
	/* Not below: if a device goes meanwhile others may use the socket again. */
	sdp_fallback_listen_stop(sdp_fallback(sk));
	sdp_sock_free_port(sdp_sk(sk));
	sdp_sock_rollback(sk, sdp_listen_over);
}

/* One of so many requests is let in that only pending children keep out. */
#define SDP_ACCEPT_PUT_OFF	4
/* From this age on a pending child may have to go, as with TCP, if its peer can answer. */
#define SDP_ACCEPT_OLD		HZ
/* Else it is we who are late. */
#define SDP_ACCEPT_LATE		(15 * HZ)

static u32 sdp_accept_limit(const struct sdp_sock *parent)
{
	int limit = READ_ONCE(sock_net(&parent->sk)->ipv4.sysctl_max_syn_backlog);

	return max_t(u32, max(limit, 0),
		     READ_ONCE(parent->sk.sk_max_ack_backlog) + 1);
}

/**
 * sdp_accept_is_full() - whether the backlog is, once all children are ready
 * @parent: listener, locked or not
 */
bool sdp_accept_is_full(const struct sdp_sock *parent)
{
	const struct sock *sk = &parent->sk;

	return READ_ONCE(sk->sk_ack_backlog) + READ_ONCE(parent->accept_waits) >
	       READ_ONCE(sk->sk_max_ack_backlog);
}

/*
 * Pending children are going to be ready, if their peers are honest, so that a
 * request which would find the queue full then is put off.  Of peers that are
 * not, however few and however often they ask, this makes no barrier.
 */
static bool sdp_accept_has_room(struct sdp_sock *parent)
{
	const struct sock *sk = &parent->sk;

	lockdep_assert_held(&parent->accept_lock);
	if (!sdp_in_state(sk, TCPF_LISTEN) || sk_acceptq_is_full(sk))
		return false;
	if (!sdp_accept_is_full(parent))
		return true;
	return !(++parent->accept_put_off % SDP_ACCEPT_PUT_OFF);
}

/* Makes room on the pending list; the oldest child that may go is @old then. */
static bool sdp_accept_displace(struct sdp_sock *parent, struct sdp_sock **old)
{
	struct sdp_sock *child;

	lockdep_assert_held(&parent->accept_lock);
	if (parent->accept_waits < sdp_accept_limit(parent))
		return true;
	list_for_each_entry(child, &parent->accept_pending, accept_node) {
		if (time_before(jiffies, READ_ONCE(child->deadline)))
			continue;
		list_del_init(&child->accept_node);
		parent->accept_waits--;
		*old = child;
		return true;
	}
	return false;
}

/* Its teardown may have begun: a child is pending until the end of that. */
static void sdp_accept_give_up(struct sdp_sock *child)
{
	sdp_lock_sock_nested(&child->sk, SDP_LOCK_CHILD);
	if (child->conn.link.id)
		sdp_link_end(&child->conn.link, -ETIMEDOUT);
	sdp_release_sock(&child->sk);
}

static bool sdp_accept_reserve(struct sdp_sock *parent)
{
	struct sdp_sock *old = NULL;
	bool ok;

	spin_lock_bh(&parent->accept_lock);
	ok = sdp_accept_has_room(parent) && sdp_accept_displace(parent, &old);
	if (ok)
		parent->accept_waits++;
	spin_unlock_bh(&parent->accept_lock);
	if (old) {
		SDP_INC_STATS(sock_net(&old->sk), SDP_MIB_HALFOPENDROPS);
		sdp_dbg(&old->sk, "half open for too long, another one takes its place");
		sdp_accept_give_up(old);
		/* The list's reference. */
		sock_put(&old->sk);
	}
	return ok;
}

static void sdp_accept_unreserve(struct sdp_sock *parent)
{
	spin_lock_bh(&parent->accept_lock);
	parent->accept_waits--;
	spin_unlock_bh(&parent->accept_lock);
}

/* Whether the child was still on the list, whose reference is the caller's now. */
static bool sdp_accept_remove(struct sdp_sock *parent, struct sdp_sock *child)
{
	bool linked;

	spin_lock_bh(&parent->accept_lock);
	linked = !list_empty(&child->accept_node);
	if (linked) {
		list_del_init(&child->accept_node);
		if (child->conn.listener)
			parent->accept_waits--;
		else
			sk_acceptq_removed(&parent->sk);
	}
	spin_unlock_bh(&parent->accept_lock);
	return linked;
}

/**
 * sdp_accept_unlink() - take a child that failed off the pending list
 * @child: locked socket
 *
 * The list's reference to the child is dropped: the caller needs its own.
 */
void sdp_accept_unlink(struct sdp_sock *child)
{
	struct sock *listener = child->conn.listener;

	sdp_owned(&child->sk);
	if (!listener)
		return;
	/* It will not be accepted any more. */
	sock_set_flag(&child->sk, SOCK_DEAD);
	if (sdp_accept_remove(sdp_sk(listener), child))
		sock_put(&child->sk);
	child->conn.listener = NULL;
	sock_put(listener);
}

/* Resets a child that will not be accepted; the caller holds it. */
static void sdp_accept_drop(struct sdp_sock *parent, struct sdp_sock *child)
{
	struct sock *sk = &child->sk;

	sdp_lock_sock_nested(sk, SDP_LOCK_CHILD);
	sock_set_flag(sk, SOCK_DEAD);
	if (child->conn.link.id)
		sdp_link_end(&child->conn.link, -ECONNABORTED);
	if (child->conn.listener)
		sdp_accept_unlink(child);
	else if (sdp_accept_remove(parent, child))
		sock_put(sk);
	sdp_release_sock(sk);
}

/**
 * sdp_accept_child() - create the socket for a connection request
 * @parent: listener
 * @id: the connection's cm_id, which becomes the child's
 * @why: set to the reason if there is no child
 *
 * Another child whose peer has been silent may have to end for it.
 *
 * Context: handler of the listener's cm_id, under the handler mutex of @id.
 * Return: the child on the pending list, where other contexts may end it; or NULL.
 */
struct sdp_sock *sdp_accept_child(struct sdp_sock *parent,
				  struct rdma_cm_id *id,
				  enum sdp_reject_reason *why)
{
	struct net *net = sock_net(&parent->sk);
	struct sdp_sock *child;
	struct sock *sk;
	bool late;

	if (!sdp_accept_reserve(parent)) {
		sdp_dbg(&parent->sk, "put off: %u of %u ready, %u of %u half open",
			READ_ONCE(parent->sk.sk_ack_backlog),
			READ_ONCE(parent->sk.sk_max_ack_backlog) + 1,
			READ_ONCE(parent->accept_waits), sdp_accept_limit(parent));
		SDP_INC_STATS(net, SDP_MIB_BACKLOGREJECTS);
		*why = SDP_REJECT_BACKLOG;
		return NULL;
	}
	sk = sdp_sock_alloc_child(&parent->sk, GFP_KERNEL);
	if (!sk) {
		sdp_accept_unreserve(parent);
		*why = SDP_REJECT_RESOURCES;
		return NULL;
	}
	child = sdp_sk(sk);
	sdp_set_state(sk, TCP_SYN_RECV);
	child->deadline = jiffies + SDP_ACCEPT_LATE;
	id->context = &child->conn;
	child->conn.link.id = id;
	sdp_conn_hold(&child->conn, SDP_REF_CM);
	sock_hold(&parent->sk);
	child->conn.listener = &parent->sk;

	spin_lock_bh(&parent->accept_lock);
	list_add_tail(&child->accept_node, &parent->accept_pending);
	late = !sdp_in_state(&parent->sk, TCPF_LISTEN);
	spin_unlock_bh(&parent->accept_lock);
	/* sdp_accept_purge() may have run before it was on the list. */
	if (late)
		sdp_accept_drop(parent, child);
	return child;
}

/**
 * sdp_accept_answered() - the peer is about to be able to answer
 * @child: socket on the pending list, not locked
 *
 * Context: the child's work item, under the handler mutex of its cm_id.
 */
void sdp_accept_answered(struct sdp_sock *child)
{
	WRITE_ONCE(child->deadline, jiffies + SDP_ACCEPT_OLD);
}

/**
 * sdp_accept_established() - the three-way handshake is complete
 * @child: locked socket (by its owner or in softirq) in state SYN_RECV
 *
 * With TCP_DEFER_ACCEPT the child stays on the pending list until it has
 * something to read, or the time is over.
 */
void sdp_accept_established(struct sdp_sock *child)
{
	unsigned int retrans;

	sdp_owned(&child->sk);
	if (!child->conn.listener)
		return;
	sdp_sock_connected(child);
	retrans = READ_ONCE(sdp_base(child->conn.listener)->opt.defer_accept);
	if (retrans && !child->conn.stream.rx.bytes && !child->conn.stream.fin_received)
		sdp_timer_arm(&child->sk, SDP_TIMER_DEFER,
			      sdp_tcp_retrans_to_secs(retrans) * HZ);
	else
		sdp_accept_ready(child);
}

/**
 * sdp_accept_first_data() - a child has something to read, or its end
 * @child: locked socket (by its owner or in softirq)
 */
void sdp_accept_first_data(struct sdp_sock *child)
{
	sdp_owned(&child->sk);
	if (likely(!child->conn.listener) ||
	    sdp_in_state(&child->sk, SDPF_CONNECTING))
		return;
	sdp_timer_disarm(&child->sk, SDP_TIMER_DEFER);
	sdp_accept_ready(child);
}

/**
 * sdp_accept_ready() - let accept() have a child
 * @child: locked socket (by its owner or in softirq), connected
 */
void sdp_accept_ready(struct sdp_sock *child)
{
	struct sock *listener = child->conn.listener;
	struct sdp_sock *parent;
	bool linked;

	sdp_owned(&child->sk);
	if (!listener)
		return;
	parent = sdp_sk(listener);
	spin_lock_bh(&parent->accept_lock);
	linked = !list_empty(&child->accept_node);
	if (linked) {
		list_move_tail(&child->accept_node, &parent->accept_ready);
		parent->accept_waits--;
		sk_acceptq_added(listener);
	}
	spin_unlock_bh(&parent->accept_lock);
	/* It has just been given up for another one. */
	if (!linked)
		return;
	child->conn.listener = NULL;
	SDP_INC_STATS(sock_net(listener), SDP_MIB_PASSIVEOPENS);
	listener->sk_data_ready(listener);
	sock_put(listener);
}

static struct sdp_sock *sdp_accept_first(struct sdp_sock *parent)
{
	struct sdp_sock *child;

	spin_lock_bh(&parent->accept_lock);
	child = list_first_entry_or_null(&parent->accept_ready,
					 struct sdp_sock, accept_node);
	if (!child)
		child = list_first_entry_or_null(&parent->accept_pending,
						 struct sdp_sock, accept_node);
	if (child)
		sock_hold(&child->sk);
	spin_unlock_bh(&parent->accept_lock);
	return child;
}

/**
 * sdp_accept_purge() - reset all children that were not accepted
 * @parent: socket that does not listen any more, locked or not
 */
void sdp_accept_purge(struct sdp_sock *parent)
{
	struct sdp_sock *child;

	while ((child = sdp_accept_first(parent))) {
		sdp_accept_drop(parent, child);
		sock_put(&child->sk);
	}
}

/**
 * sdp_accept_waiting() - whether accept() would find a connection
 * @sk: listener, locked or not
 */
bool sdp_accept_waiting(const struct sock *sk)
{
	return !list_empty_careful(&sdp_sk(sk)->accept_ready) ||
	       sdp_fallback_accept_waiting(sdp_fallback(sk));
}

/*
 * The TCP socket of a listener may have been ended below its own lock alone (ss --kill).
 * For user space there is one listener: it ends as a whole.
 */
static int sdp_accept_check(struct sock *sk)
{
	if (sk->sk_state == TCP_LISTEN &&
	    sdp_fallback_listener_gone(sdp_fallback(sk)))
		sdp_listen_stop(sk);
	return sk->sk_state == TCP_LISTEN ? 0 : -EINVAL;
}

/* One waiter is woken for each connection, as with TCP. */
static int sdp_accept_wait(struct sock *sk, long *timeo)
{
	DEFINE_WAIT(wait);
	int err = 0;

	for (;;) {
		prepare_to_wait_exclusive(sk_sleep(sk), &wait,
					  TASK_INTERRUPTIBLE);
		sdp_release_sock(sk);
		if (!sdp_accept_waiting(sk) &&
		    !sdp_fallback_listener_gone(sdp_fallback(sk)))
			*timeo = schedule_timeout(*timeo);
		sched_annotate_sleep();
		sdp_lock_sock(sk);
		err = sdp_accept_check(sk);
		if (err || sdp_accept_waiting(sk))
			break;
		err = sock_intr_errno(*timeo);
		if (signal_pending(current))
			break;
		err = -EAGAIN;
		if (!*timeo)
			break;
	}
	finish_wait(sk_sleep(sk), &wait);
	return err;
}

static struct sock *sdp_accept_take_rdma(struct sdp_sock *parent)
{
	struct sdp_sock *child;

	spin_lock_bh(&parent->accept_lock);
	child = list_first_entry_or_null(&parent->accept_ready, struct sdp_sock,
					 accept_node);
	if (child) {
		list_del_init(&child->accept_node);
		sk_acceptq_removed(&parent->sk);
	}
	spin_unlock_bh(&parent->accept_lock);
	return child ? &child->sk : NULL;
}

/*
 * Only a listener's owner takes, but what was seen need not be there any more: TCP's
 * queue is under TCP's lock, and is emptied when that socket is ended (ss --kill).  If
 * connections have come over RDMA and over TCP they are taken by turns.
 */
static struct sock *sdp_accept_take(struct sdp_sock *parent, int *err)
{
	bool rdma = !list_empty_careful(&parent->accept_ready);

	if (sdp_fallback_accept_waiting(&parent->fallback) &&
	    (!rdma || parent->fallback.turn)) {
		parent->fallback.turn = false;
		return sdp_fallback_accept(parent, err);
	}
	parent->fallback.turn = true;
	return sdp_accept_take_rdma(parent);
}

/**
 * sdp_accept_dequeue() - take the first connection, wait for one if need be
 * @sk: listener
 * @flags: O_NONBLOCK
 * @err: set to a negative errno if there is none
 *
 * Return: the child, whose list reference is the caller's now; or NULL.
 */
struct sock *sdp_accept_dequeue(struct sock *sk, int flags, int *err)
{
	struct sock *child = NULL;
	long timeo;

	sdp_lock_sock(sk);
	timeo = sock_rcvtimeo(sk, flags & O_NONBLOCK);
	do {
		*err = sdp_accept_check(sk);
		if (!*err && !sdp_accept_waiting(sk))
			*err = timeo ? sdp_accept_wait(sk, &timeo) : -EAGAIN;
		if (!*err)
			child = sdp_accept_take(sdp_sk(sk), err);
	} while (!*err && !child);
	sdp_release_sock(sk);
	return child;
}
