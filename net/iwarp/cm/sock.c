// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets of endpoints: creation and callbacks.
 *
 * The socket lock protects what callbacks access. Only those of a listening socket are
 * called without it, for incoming connections; they use sk_callback_lock.
 */
#include <net/tcp.h>

#include "stream/stream.h"
#include "internal.h"

static struct lock_class_key iwp_slock_keys[2];
static struct lock_class_key iwp_sk_lock_keys[2];

/*
 * A consumer may call us with the lock of its own socket held, so ours need another
 * lockdep class.
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
 * iwp_addr_len() - get the length of an address
 * @addr: address
 *
 * Return: length of the address family's sockaddr.
 */
size_t iwp_addr_len(const struct sockaddr_storage *addr)
{
	return addr->ss_family == AF_INET ? sizeof(struct sockaddr_in) :
					    sizeof(struct sockaddr_in6);
}

/**
 * iwp_sock_create() - create an endpoint's TCP socket
 * @ep: endpoint
 * @net: network namespace, to which the socket takes a reference
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
	if (!iwp_iter_waits(ep->qp))
		iwp_rx_ready(ep->qp);
}

/*
 * TCP may be in the middle of sending an skb. Sending more is allowed then, unless the
 * socket is owned: sending would process the backlog, which may acknowledge and free
 * the skb before TCP is done with it.
 */
static void iwp_sock_write_space(struct sock *sk)
{
	struct iwp_ep *ep = sk->sk_user_data;

	/* An active iwp_tx_run() checks for acknowledgments itself. */
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
 * iwp_sock_watch() - install the callbacks of a connection's socket
 * @ep: endpoint
 *
 * From now on the socket refers to the endpoint, without a reference:
 * iwp_sock_unwatch() is called before the endpoint is closed. A cgroup's BPF program
 * may have added an accepted socket to a sockmap before.
 *
 * Return: 0, or -EBUSY if sk_user_data is in use.
 */
int iwp_sock_watch(struct iwp_ep *ep)
{
	struct sock *sk = ep->sock->sk;
	int err;

	lock_sock(sk);
	err = iwp_sock_set_user_data(sk, ep);
	if (err)
		goto out;
	/* Soft interrupts send, too, and may interrupt another sender of the task. */
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

/*
 * sk_user_data of a socket to be accepted may belong to others, see iwp_sock_watch().
 */
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
 * iwp_sock_watch_listen() - install the callbacks of a listening socket
 * @ep: listening endpoint
 *
 * Accepted sockets inherit the callbacks, but not sk_user_data. sk_kern_sock selects
 * the lockdep class of kernel sockets for their lock: TCP handles page faults under
 * that of user sockets.
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

/*
 * BPF programs of a cgroup see the release of its sockets, but not of kernel sockets.
 */
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
 * iwp_sock_abandon() - give up an accepted socket whose sk_user_data is in use
 * @ep: endpoint, whose last reference closes the socket
 *
 * The owner of sk_user_data may have saved the inherited callbacks, and restore them
 * later. So TCP must not need the socket after it is closed: it resets the connection.
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
 * iwp_sock_unwatch() - restore a socket's callbacks
 * @ep: endpoint
 *
 * TCP may need the socket for longer than the module exists.
 *
 * Context: socket lock held.
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
