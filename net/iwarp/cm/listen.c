// SPDX-License-Identifier: GPL-2.0
/*
 * The side that listens, and answers.
 */
#include <net/ipv6.h>
#include <net/tcp.h>

#include "stream/stream.h"
#include "loopback/loopback.h"
#include "internal.h"

/* How long a peer that has connected may take to send its request. */
#define IWP_REQUEST_SECONDS	10
/* How long a consumer may take to answer it: longer than any peer waits. */
#define IWP_ANSWER_SECONDS	120
/* How many such peers a listener bears with. */
#define IWP_CHILDREN_MAX	1024
/* How many it takes at a time: who wants the listener to end waits for that. */
#define IWP_ACCEPT_MAX		64

/* Endpoints that wait to be answered, each with a reference, by @request_id. */
static DEFINE_XARRAY(iwp_requests);
static atomic_long_t iwp_next_request_id;

/**
 * iwp_child_unlink() - an endpoint has nothing to do with its listener any
 * more
 * @ep: endpoint, locked; nothing happens if it has no listener
 */
void iwp_child_unlink(struct iwp_ep *ep)
{
	struct iwp_ep *listener = ep->listener;

	lockdep_assert_held(&ep->lock);
	if (!listener)
		return;
	spin_lock(&listener->children_lock);
	list_del_init(&ep->node);
	listener->nr_children--;
	spin_unlock(&listener->children_lock);
	ep->listener = NULL;
	iwp_ep_put(listener);
}

static void iwp_child_link(struct iwp_ep *ep, struct iwp_ep *listener)
{
	iwp_ep_get(listener);
	ep->listener = listener;
	spin_lock(&listener->children_lock);
	list_add_tail(&ep->node, &listener->children);
	listener->nr_children++;
	spin_unlock(&listener->children_lock);
}

/*
 * The connection manager may throw a request away, and says nothing: its listener
 * goes, or there is no memory.  So what it is given is only a name of the endpoint,
 * which no other ever has.
 */
static int iwp_request_add(struct iwp_ep *ep)
{
	int err;

	ep->request_id = atomic_long_inc_return(&iwp_next_request_id);
	iwp_ep_get(ep);
	err = xa_insert(&iwp_requests, ep->request_id, ep, GFP_KERNEL);
	if (err)
		iwp_ep_put(ep);
	return err;
}

/**
 * iwp_request_remove() - nobody may answer an endpoint's request any more
 * @ep: endpoint, locked; nothing happens if it has none, or someone answers it
 */
void iwp_request_remove(struct iwp_ep *ep)
{
	lockdep_assert_held(&ep->lock);
	if (xa_erase(&iwp_requests, ep->request_id))
		iwp_ep_put(ep);
}

static struct iwp_ep *iwp_request_find(const struct iwp_device *dev)
{
	struct iwp_ep *ep, *found = NULL;
	unsigned long request_id;

	xa_lock(&iwp_requests);
	xa_for_each(&iwp_requests, request_id, ep) {
		if (ep->dev == dev) {
			iwp_ep_get(ep);
			found = ep;
			break;
		}
	}
	xa_unlock(&iwp_requests);
	return found;
}

/**
 * iwp_requests_abort() - end the endpoints that nobody will answer
 * @dev: device, which nobody uses any more
 *
 * Context: process; may sleep.
 */
void iwp_requests_abort(struct iwp_device *dev)
{
	struct iwp_ep *ep;

	while ((ep = iwp_request_find(dev))) {
		mutex_lock(&ep->lock);
		iwp_ep_finish(ep, -ECONNABORTED);
		mutex_unlock(&ep->lock);
		iwp_ep_put(ep);
	}
}

/* The listener is locked. */
static int iwp_request_upcall(struct iwp_ep *ep, struct iwp_ep *listener)
{
	struct sockaddr_storage local;

	lockdep_assert_held(&listener->lock);
	if (listener->state != IWP_EP_LISTEN ||
	    kernel_getsockname(ep->sock, (struct sockaddr *)&local) < 0 ||
	    !iwp_consumer_resolves(listener->cm_id, (struct sockaddr *)&local))
		return -ECONNREFUSED;
	return iwp_ep_upcall(ep, listener->cm_id, IW_CM_EVENT_CONNECT_REQUEST,
			     0);
}

/* The request is complete: whoever listens shall answer it. */
static int iwp_request_received(struct iwp_ep *ep)
{
	struct iwp_ep *listener = ep->listener;
	int err = iwp_mpa_check_request(ep);

	if (err)
		return err;
	err = iwp_request_add(ep);
	if (err)
		return err;
	ep->state = IWP_EP_REQUESTED;
	iwp_ep_set_timer(ep, IWP_ANSWER_SECONDS);
	iwp_ep_get(listener);
	iwp_child_unlink(ep);
	/* Its listener may have given it up just now, but it is not silent. */
	clear_bit(IWP_EV_ABORT, &ep->events);
	mutex_lock_nested(&listener->lock, SINGLE_DEPTH_NESTING);
	err = iwp_request_upcall(ep, listener);
	mutex_unlock(&listener->lock);
	iwp_ep_put(listener);
	return err;
}

/* One that knows another revision is told which one we know. */
static void iwp_request_reject(struct iwp_ep *ep, int err)
{
	if (err == -EPROTO && ep->mpa_rx.rev)
		iwp_mpa_reply(ep, true, NULL, 0);
	iwp_ep_finish(ep, err);
}

/**
 * iwp_request_step() - something happened to the socket of a peer that has
 * connected
 * @ep: endpoint, locked
 */
void iwp_request_step(struct iwp_ep *ep)
{
	int err = iwp_mpa_receive(ep, false);

	lockdep_assert_held(&ep->lock);
	if (err == -EAGAIN)
		return;
	if (!err)
		err = iwp_request_received(ep);
	if (err)
		iwp_request_reject(ep, err);
}

/* The one that has been silent for longest, so that silence shuts nobody out. */
static void iwp_child_abort_oldest(struct iwp_ep *listener)
{
	struct iwp_ep *ep;

	spin_lock(&listener->children_lock);
	ep = list_first_entry_or_null(&listener->children, struct iwp_ep, node);
	if (ep) {
		list_move_tail(&ep->node, &listener->children);
		iwp_ep_signal(ep, IWP_EV_ABORT);
	}
	spin_unlock(&listener->children_lock);
}

/*
 * It may end as soon as its timer runs, and lose all references but ours: so no
 * work of its own gets on before it is linked and watched.  Nobody who has its lock
 * waits for ours yet, as nobody else knows it.
 */
static int iwp_child_init(struct iwp_ep *ep, struct iwp_ep *listener)
{
	int err;

	mutex_lock_nested(&ep->lock, SINGLE_DEPTH_NESTING);
	ep->state = IWP_EP_WAIT_REQ;
	err = iwp_sock_watch(ep);
	if (err)
		goto out;
	tcp_sock_set_nodelay(ep->sock->sk);
	iwp_ep_set_timer(ep, IWP_REQUEST_SECONDS);
	iwp_child_link(ep, listener);
	/* The request may have come before we watched. */
	iwp_ep_signal(ep, IWP_EV_SOCKET);
out:
	mutex_unlock(&ep->lock);
	return err;
}

/* Takes the reference of one that is not closed. */
static void iwp_child_add(struct iwp_ep *ep, struct iwp_ep *listener)
{
	if (listener->nr_children >= IWP_CHILDREN_MAX)
		iwp_child_abort_oldest(listener);
	iwp_ep_get(ep);
	if (listener->nr_children >= 2 * IWP_CHILDREN_MAX ||
	    iwp_child_init(ep, listener)) {
		iwp_sock_abandon(ep);
		iwp_ep_put(ep);
	}
	iwp_ep_put(ep);
}

static int iwp_listen_accept(struct iwp_ep *listener)
{
	struct iwp_ep *ep;
	int err;

	ep = iwp_ep_new(listener->dev);
	if (!ep)
		return -ENOMEM;
	err = kernel_accept(listener->sock, &ep->sock, O_NONBLOCK);
	if (err) {
		iwp_ep_put(ep);
		return err;
	}
	ep->saved_cb = listener->saved_cb;
	iwp_child_add(ep, listener);
	return 0;
}

/*
 * Usually there is nobody left.  But who waits while there is no memory for him is
 * told of only once, and one that listens no more has nobody to wait for.
 */
static void iwp_listen_failed(struct iwp_ep *ep, int err)
{
	if (err != -EAGAIN && err != -EINVAL)
		iwp_ep_retry_later(ep);
}

/**
 * iwp_listen_step() - somebody connects
 * @ep: endpoint that listens, locked
 */
void iwp_listen_step(struct iwp_ep *ep)
{
	int i, err;

	lockdep_assert_held(&ep->lock);
	for (i = 0; i < IWP_ACCEPT_MAX; i++) {
		err = iwp_listen_accept(ep);
		if (err) {
			iwp_listen_failed(ep, err);
			return;
		}
		cond_resched();
	}
	iwp_ep_signal(ep, IWP_EV_SOCKET);
}

static bool iwp_addr_any(const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET)
		return ipv4_is_zeronet(((const struct sockaddr_in *)addr)
				       ->sin_addr.s_addr);
	return ipv6_addr_any(&((const struct sockaddr_in6 *)addr)->sin6_addr);
}

/*
 * All addresses means all of the device's, and no other's.  In another network
 * namespace it has none: rdma_cm asks each device to listen on all addresses, and
 * would give up if one refused, so there it listens without a socket.
 */
static int iwp_listen_bind(struct iwp_ep *ep, struct iw_cm_id *id)
{
	struct sockaddr_storage *addr = &id->m_local_addr;
	struct net *net = iwp_consumer_net(id);
	struct sock *sk;
	int err;

	if (!net)
		return iwp_addr_any(addr) ? 0 : -EADDRNOTAVAIL;
	err = iwp_sock_create(ep, net, addr);
	if (err)
		return err;
	sk = ep->sock->sk;
	if (addr->ss_family == AF_INET6 && id->afonly) {
		lock_sock(sk);
		sk->sk_ipv6only = true;
		release_sock(sk);
	}
	if (iwp_addr_any(addr))
		sk->sk_bound_dev_if = ep->dev->netdev->ifindex;
	return kernel_bind(ep->sock, (struct sockaddr *)addr,
			   iwp_addr_len(addr));
}

/**
 * iwp_create_listen() - listen
 * @id: the connection manager's, with the address
 * @backlog: how many connections may wait for us
 *
 * Return: 0 or a negative error number.
 */
static int iwp_create_listen(struct iw_cm_id *id, int backlog)
{
	struct iwp_ep *ep = iwp_ep_new(iwp_device(id->device));
	int err;

	if (!ep)
		return -ENOMEM;
	mutex_lock(&ep->lock);
	ep->state = IWP_EP_LISTEN;
	err = iwp_listen_bind(ep, id);
	if (!err && ep->sock) {
		iwp_sock_watch_listen(ep);
		err = kernel_listen(ep->sock, backlog);
	}
	iwp_ep_get(ep);
	if (err) {
		iwp_ep_finish(ep, err);
	} else {
		id->add_ref(id);
		ep->cm_id = id;
		id->provider_data = ep;
	}
	mutex_unlock(&ep->lock);
	/* One who listens is referred to by its iw_cm_id. */
	if (err)
		iwp_ep_put(ep);
	return err;
}

static void iwp_children_abort(struct iwp_ep *listener)
{
	struct iwp_ep *ep;

	spin_lock(&listener->children_lock);
	list_for_each_entry(ep, &listener->children, node)
		iwp_ep_signal(ep, IWP_EV_ABORT);
	spin_unlock(&listener->children_lock);
}

/**
 * iwp_destroy_listen() - listen no more
 * @id: the connection manager's
 *
 * Return: 0.
 */
static int iwp_destroy_listen(struct iw_cm_id *id)
{
	struct iwp_ep *ep = id->provider_data;

	if (!ep)
		return 0;
	id->provider_data = NULL;
	mutex_lock(&ep->lock);
	iwp_ep_finish(ep, 0);
	mutex_unlock(&ep->lock);
	iwp_children_abort(ep);
	iwp_ep_put(ep);
	return 0;
}

static int iwp_accept_depths(struct iwp_ep *ep,
			     const struct iw_cm_conn_param *param)
{
	u16 depths = ep->mpa_rx.enhanced ? IWARP_MPA_DEPTHS_LEN : 0;

	if (param->ird > IWP_MAX_RD_ATOM || param->ord > IWP_MAX_RD_ATOM ||
	    param->private_data_len > IWARP_MPA_PD_MAX - depths)
		return -EINVAL;
	if (!ep->mpa_rx.enhanced) {
		ep->ird = param->ird;
		ep->ord = param->ord;
		return 0;
	}
	/* We may always take more than the consumer thinks of. */
	ep->ird = max_t(u16, ep->ird, param->ird);
	ep->ord = min_t(u16, ep->ord, param->ord);
	return 0;
}

static int iwp_accept_qp(struct iwp_ep *ep, struct iwp_qp *qp,
			 struct iw_cm_conn_param *param)
{
	bool wait_first = ep->mpa_rx.enhanced && ep->mpa_rx.peer_to_peer;
	int err;

	err = iwp_accept_depths(ep, param);
	if (!err)
		err = iwp_ep_attach(ep, qp);
	if (err) {
		iwp_qp_put(qp);
		return err;
	}
	iwp_hold_limit_buffers(ep);
	iwp_loopback_offer(ep);
	err = iwp_mpa_reply(ep, false, param->private_data,
			    param->private_data_len);
	if (!err)
		err = iwp_ep_start(ep, wait_first);
	return err;
}

/* Answering takes the reference that came with the request. */
static struct iwp_ep *iwp_answer_begin(struct iw_cm_id *id)
{
	struct iwp_ep *ep = xa_erase(&iwp_requests,
				     (unsigned long)id->provider_data);

	id->provider_data = NULL;
	if (!ep)
		return NULL;
	mutex_lock(&ep->lock);
	if (ep->state == IWP_EP_REQUESTED)
		return ep;
	mutex_unlock(&ep->lock);
	iwp_ep_put(ep);
	return NULL;
}

static void iwp_answer_end(struct iwp_ep *ep)
{
	mutex_unlock(&ep->lock);
	iwp_ep_put(ep);
}

/**
 * iwp_accept() - answer a request with a queue pair
 * @id: the connection's
 * @param: queue pair, depths and private data
 *
 * Return: 0, and ESTABLISHED will follow, or a negative error number, and
 * nothing will.
 */
static int iwp_accept(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	struct iwp_ep *ep = iwp_answer_begin(id);
	struct iwp_qp *qp;
	int err = -EINVAL;

	if (!ep)
		return -ECONNRESET;
	qp = iwp_consumer_qp(id, param->qpn);
	if (qp)
		err = iwp_accept_qp(ep, qp, param);
	if (err) {
		ep->state = IWP_EP_REQUESTED;
		iwp_ep_finish(ep, err);
	} else {
		id->add_ref(id);
		ep->cm_id = id;
		iwp_ep_established(ep, IW_CM_EVENT_ESTABLISHED);
	}
	iwp_answer_end(ep);
	return err;
}

/**
 * iwp_reject() - refuse a request
 * @id: the connection's
 * @priv: private data for the peer
 * @len: its length
 *
 * Return: 0, or -ECONNRESET if the peer does not wait any more.
 */
static int iwp_reject(struct iw_cm_id *id, const void *priv, u8 len)
{
	struct iwp_ep *ep = iwp_answer_begin(id);

	if (!ep)
		return -ECONNRESET;
	iwp_mpa_reply(ep, true, priv, len);
	iwp_ep_finish(ep, -ECONNREFUSED);
	iwp_answer_end(ep);
	return 0;
}

const struct ib_device_ops iwp_listen_dev_ops = {
	.iw_accept = iwp_accept,
	.iw_create_listen = iwp_create_listen,
	.iw_destroy_listen = iwp_destroy_listen,
	.iw_reject = iwp_reject,
};
