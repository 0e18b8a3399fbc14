// SPDX-License-Identifier: GPL-2.0
/*
 * The sockets of endpoints: how they are made, and what they tell us.
 *
 * The socket's lock protects what its callbacks look at.  Only a listening
 * socket's are called without it, by connections that come in; for that one
 * the callback lock does.
 */
#include <net/tcp.h>

#include "stream/stream.h"
#include "internal.h"

static struct lock_class_key iwp_slock_keys[2];
static struct lock_class_key iwp_sk_lock_keys[2];

/*
 * A consumer may hold the lock of a socket of its own when it comes to us, so
 * ours must not be of the same class.
 */
static void iwp_sock_classify(struct sock *sk)
{
	if (sk->sk_family == AF_INET)
		sock_lock_init_class_and_name(sk, "slock-iwarp",
					      &iwp_slock_keys[0],
					      "sk_lock-iwarp",
					      &iwp_sk_lock_keys[0]);
	else
		sock_lock_init_class_and_name(sk, "slock-iwarp6",
					      &iwp_slock_keys[1],
					      "sk_lock-iwarp6",
					      &iwp_sk_lock_keys[1]);
}

/**
 * iwp_addr_len() - how long an address is
 * @addr: address
 *
 * Return: the length of its family's addresses.
 */
size_t iwp_addr_len(const struct sockaddr_storage *addr)
{
	return addr->ss_family == AF_INET ? sizeof(struct sockaddr_in) :
					    sizeof(struct sockaddr_in6);
}

/**
 * iwp_sock_create() - give an endpoint a TCP socket
 * @ep: endpoint
 * @net: the socket's network namespace, which it holds
 * @addr: an address of the wanted family
 *
 * Return: 0 or a negative error number.
 */
int iwp_sock_create(struct iwp_ep *ep, struct net *net,
		    const struct sockaddr_storage *addr)
{
	struct sock *sk;
	int err;

	if (addr->ss_family != AF_INET && addr->ss_family != AF_INET6)
		return -EAFNOSUPPORT;
	err = __sock_create(net, addr->ss_family, SOCK_STREAM, IPPROTO_TCP,
			    &ep->sock, 0);
	if (err)
		return err;
	sk = ep->sock->sk;
	ep->saved_cb.state_change = sk->sk_state_change;
	ep->saved_cb.data_ready = sk->sk_data_ready;
	ep->saved_cb.write_space = sk->sk_write_space;
	ep->saved_cb.error_report = sk->sk_error_report;
	iwp_sock_classify(sk);
	sock_set_reuseaddr(sk);
	tcp_sock_set_nodelay(sk);
	return 0;
}

static void iwp_sock_data_ready(struct sock *sk)
{
	struct iwp_ep *ep = sk->sk_user_data;

	if (!ep)
		return;
	if (!ep->fpdu) {
		iwp_ep_signal(ep, IWP_EV_SOCKET);
		return;
	}
	if (iwp_tx_newly_acked(&ep->qp->tx))
		iwp_tx_ack_received(ep->qp);
	iwp_rx_ready(ep->qp);
}

/*
 * TCP may be in the middle of sending a buffer.  Sending more is fine then,
 * unless the socket has an owner: that would process packets that wait for him,
 * and the buffer may be acknowledged and freed before TCP is done with it.
 */
static void iwp_sock_write_space(struct sock *sk)
{
	struct iwp_ep *ep = sk->sk_user_data;

	/* Who is sending looks when he is done. */
	if (!ep || !ep->fpdu || ep->qp->tx.busy || iwp_tx_ack_received(ep->qp))
		return;
	if (sock_owned_by_user(sk))
		iwp_tx_queue(ep->qp);
	else
		iwp_tx_ready(ep->qp);
}

static void iwp_sock_state_change(struct sock *sk)
{
	struct iwp_ep *ep = sk->sk_user_data;

	if (ep)
		iwp_ep_signal(ep, IWP_EV_SOCKET);
}

static int iwp_sock_set_user_data(struct sock *sk, struct iwp_ep *ep)
{
	int err = -EBUSY;

	write_lock_bh(&sk->sk_callback_lock);
	if (!sk->sk_user_data) {
		sk->sk_user_data = ep;
		err = 0;
	}
	write_unlock_bh(&sk->sk_callback_lock);
	return err;
}

/**
 * iwp_sock_watch() - be told what happens to a connection's socket
 * @ep: endpoint
 *
 * The socket refers to the endpoint from now on, without a reference: it is
 * unwatched before the endpoint is closed.  A program of a control group may have
 * put one that was accepted into a map of sockets before.
 *
 * Return: 0, or -EBUSY if the socket refers to something else.
 */
int iwp_sock_watch(struct iwp_ep *ep)
{
	struct sock *sk = ep->sock->sk;
	int err;

	lock_sock(sk);
	err = iwp_sock_set_user_data(sk, ep);
	if (err)
		goto out;
	/* Soft interrupts send as well, below whatever sends at the time. */
	sk->sk_allocation = GFP_ATOMIC;
	sk->sk_use_task_frag = false;
	sk->sk_data_ready = iwp_sock_data_ready;
	sk->sk_write_space = iwp_sock_write_space;
	sk->sk_state_change = iwp_sock_state_change;
	sk->sk_error_report = iwp_sock_state_change;
out:
	release_sock(sk);
	return err;
}

/* One that is to be accepted may refer to something else, see iwp_sock_watch(). */
static void iwp_listen_state_change(struct sock *sk)
{
	struct iwp_ep *ep;

	if (READ_ONCE(sk->sk_state) != TCP_LISTEN)
		return;
	rcu_read_lock();
	read_lock_bh(&sk->sk_callback_lock);
	ep = rcu_dereference_sk_user_data(sk);
	if (ep)
		iwp_ep_signal(ep, IWP_EV_SOCKET);
	read_unlock_bh(&sk->sk_callback_lock);
	rcu_read_unlock();
}

static void iwp_listen_ignore(struct sock *sk)
{
}

/**
 * iwp_sock_watch_listen() - be told of connections
 * @ep: endpoint that listens
 *
 * What is accepted inherits the callbacks, but not whom they tell.  Its lock is of
 * the kernel's class: TCP faults memory in below that of a program's socket.
 */
void iwp_sock_watch_listen(struct iwp_ep *ep)
{
	struct sock *sk = ep->sock->sk;

	sk->sk_kern_sock = true;
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_data_ready = iwp_listen_state_change;
	sk->sk_write_space = iwp_listen_ignore;
	sk->sk_state_change = iwp_listen_ignore;
	sk->sk_error_report = iwp_listen_ignore;
	__rcu_assign_sk_user_data_with_flags(sk, ep, SK_USER_DATA_NOCOPY);
	write_unlock_bh(&sk->sk_callback_lock);
}

/* A control group is told of the end of its sockets, not of the kernel's own. */
static void iwp_sock_restore(struct iwp_ep *ep)
{
	struct sock *sk = ep->sock->sk;

	sk->sk_kern_sock = false;
	sk->sk_state_change = ep->saved_cb.state_change;
	sk->sk_data_ready = ep->saved_cb.data_ready;
	sk->sk_write_space = ep->saved_cb.write_space;
	sk->sk_error_report = ep->saved_cb.error_report;
}

/**
 * iwp_sock_abandon() - give up an accepted socket that refers to something else
 * @ep: endpoint, whose last reference closes the socket
 *
 * Whatever that is may have saved the callbacks that were inherited, and put them
 * back.  So TCP must not need the socket any more once it is closed: it resets.
 */
void iwp_sock_abandon(struct iwp_ep *ep)
{
	struct sock *sk = ep->sock->sk;

	lock_sock(sk);
	write_lock_bh(&sk->sk_callback_lock);
	iwp_sock_restore(ep);
	write_unlock_bh(&sk->sk_callback_lock);
	release_sock(sk);
	sock_no_linger(sk);
}

/**
 * iwp_sock_unwatch() - hear no more of a socket
 * @ep: endpoint
 *
 * TCP may need the socket for longer than there is this module: the callbacks
 * are those that it came with.
 *
 * Context: socket's lock held.
 */
void iwp_sock_unwatch(struct iwp_ep *ep)
{
	struct sock *sk = ep->sock->sk;

	lockdep_assert(lockdep_sock_is_held(sk));
	write_lock_bh(&sk->sk_callback_lock);
	iwp_sock_restore(ep);
	sk->sk_user_data = NULL;
	write_unlock_bh(&sk->sk_callback_lock);
	iwp_ooo_unwatch(sk);
}
