// SPDX-License-Identifier: GPL-2.0
/* Listeners and the responder. */
#include <linux/error-injection.h>
#include <net/ipv6.h>
#include <net/tcp.h>

#include "stream/stream.h"
#include "loopback/loopback.h"
#include "internal.h"

/* Timeout of the MPA Request after TCP's connect. */
#define IWP_REQUEST_SECONDS	10
/* Timeout of the consumer's accept or reject: longer than any peer waits. */
#define IWP_ANSWER_SECONDS	120
/* Maximum number of children without a complete MPA Request. */
#define IWP_CHILDREN_MAX	1024
/*
 * Connections accepted in one run of the work, as iwp_destroy_listen() waits for its
 * lock.
 */
#define IWP_ACCEPT_MAX		64

/* Endpoints in %IWP_EP_REQUESTED, each with a reference, by @request_id. */
static DEFINE_XARRAY(iwp_requests);
static atomic_long_t iwp_next_request_id;

/**
 * iwp_child_unlink() - remove an endpoint from its listener's children
 * @ep: endpoint, locked; no effect if it has no listener
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
 * iw_cm may drop a request silently, if the listener is destroyed or memory is short.
 * So it gets only an identifier of the endpoint, which is never reused.
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
 * iwp_request_remove() - prevent an accept or reject of an endpoint's request
 * @ep: endpoint, locked; no effect without a request, or while it is being accepted or
 *	rejected
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
 * iwp_requests_abort() - close the endpoints of unanswered requests
 * @dev: device that is going away, without users
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

/* Both endpoints are locked. */
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

/* The MPA Request is complete: pass it to the listener's consumer. */
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
	/* Clears an abort by the listener: the peer is not silent any more. */
	clear_bit(IWP_EV_ABORT, &ep->events);
	mutex_lock_nested(&listener->lock, SINGLE_DEPTH_NESTING);
	err = iwp_request_upcall(ep, listener);
	mutex_unlock(&listener->lock);
	iwp_ep_put(listener);
	return err;
}

/* Tells a peer with another MPA revision which one we support. */
static void iwp_request_reject(struct iwp_ep *ep, int err)
{
	if (err == -EPROTO && ep->mpa_rx.rev)
		iwp_mpa_reply(ep, true, NULL, 0);
	iwp_ep_finish(ep, err);
}

/**
 * iwp_request_step() - handle an event of a child's socket
 * @ep: endpoint in %IWP_EP_WAIT_REQ, locked
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

/*
 * Aborts the child that has been silent for longest, so that silent peers do not block
 * others.
 */
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
 * The child may be closed when its timer runs, with only the caller's reference left:
 * its lock keeps its work from running before it is linked and watched. Nothing else
 * refers to it, so no holder of its lock can wait for the listener's lock.
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
	/* The MPA Request may have arrived before that. */
	iwp_ep_signal(ep, IWP_EV_SOCKET);
out:
	mutex_unlock(&ep->lock);
	return err;
}

/* Takes over the reference of iwp_ep_new(). */
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
 * Usually there is no more connection. But TCP does not notify us again of a connection
 * that we had no memory for. A socket that does not listen any more returns -EINVAL.
 */
static void iwp_listen_failed(struct iwp_ep *ep, int err)
{
	if (err != -EAGAIN && err != -EINVAL)
		iwp_ep_retry_later(ep);
}

/**
 * iwp_listen_step() - accept connections
 * @ep: listening endpoint, locked
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
 * The wildcard address means all addresses of the device. In another network namespace
 * it has none: rdma_cm asks each device to listen on the wildcard address, and fails if
 * one refuses, so there the endpoint listens without a socket.
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
	return kernel_bind(ep->sock, (struct sockaddr_unsized *)addr,
			   iwp_addr_len(addr));
}

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
	/* A listener's iw_cm_id keeps this reference. */
	if (err)
		iwp_ep_put(ep);
	return err;
}
ALLOW_ERROR_INJECTION(iwp_create_listen, ERRNO);

static void iwp_children_abort(struct iwp_ep *listener)
{
	struct iwp_ep *ep;

	spin_lock(&listener->children_lock);
	list_for_each_entry(ep, &listener->children, node)
		iwp_ep_signal(ep, IWP_EV_ABORT);
	spin_unlock(&listener->children_lock);
}

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
	/* The inbound depth may be more than the consumer asked for. */
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

/* Takes over the reference of the request's entry in iwp_requests. */
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

/* ESTABLISHED follows if this succeeds, and no event otherwise. */
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

/* Returns -ECONNRESET if the peer does not wait any more. */
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
