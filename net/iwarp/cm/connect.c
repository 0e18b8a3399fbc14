// SPDX-License-Identifier: GPL-2.0
/* The initiator, and what both sides do after MPA's startup phase. */
#include <linux/error-injection.h>
#include <net/ip.h>
#include <net/tcp.h>

#include "stream/stream.h"
#include "loopback/loopback.h"
#include "qp/qp.h"
#include "internal.h"

/* Timeouts of TCP's connect and of the MPA Reply. */
#define IWP_CONNECT_SECONDS	30
#define IWP_REPLY_SECONDS	10

/**
 * iwp_ep_upcall() - send an event to iw_cm
 * @ep: endpoint
 * @id: iw_cm_id of the connection, or, for a CONNECT_REQUEST, of the listener
 * @type: event
 * @status: 0 or a negative error number
 *
 * iw_cm handles it in a work item, after the return, with a copy of the private data.
 * If there is no memory for that, a failure is reported without private data.
 *
 * Return: 0 or -ENOMEM.
 */
int iwp_ep_upcall(struct iwp_ep *ep, struct iw_cm_id *id,
		  enum iw_cm_event_type type, int status)
{
	struct iw_cm_event event = { .event = type, .status = status };
	int err;

	if (type == IW_CM_EVENT_CONNECT_REQUEST ||
	    (type == IW_CM_EVENT_CONNECT_REPLY && ep->priv)) {
		event.private_data = (void *)ep->priv;
		event.private_data_len = min_t(u16, ep->mpa_rx.priv_len, U8_MAX);
	}
	if (type == IW_CM_EVENT_CONNECT_REQUEST) {
		event.provider_data = (void *)ep->request_id;
		/* The peer's ORD is our IRD, and vice versa. */
		event.ird = min_t(u16, ep->ord, U8_MAX);
		event.ord = min_t(u16, ep->ird, U8_MAX);
	} else {
		event.ird = min_t(u16, ep->ird, U8_MAX);
		event.ord = min_t(u16, ep->ord, U8_MAX);
	}
	if (type == IW_CM_EVENT_CONNECT_REQUEST ||
	    type == IW_CM_EVENT_CONNECT_REPLY) {
		kernel_getsockname(ep->sock,
				   (struct sockaddr *)&event.local_addr);
		kernel_getpeername(ep->sock,
				   (struct sockaddr *)&event.remote_addr);
	}
	err = id->event_handler(id, &event);
	if (err && status && event.private_data_len) {
		event.private_data_len = 0;
		err = id->event_handler(id, &event);
	}
	return err;
}

/**
 * iwp_ep_attach() - attach a queue pair to an endpoint
 * @ep: endpoint, locked
 * @qp: queue pair; the caller's reference becomes the endpoint's
 *
 * Return: 0, or -EISCONN if the queue pair is or was connected, and the reference stays
 * the caller's.
 */
int iwp_ep_attach(struct iwp_ep *ep, struct iwp_qp *qp)
{
	unsigned long flags;
	int err = -EISCONN;

	lockdep_assert_held(&ep->lock);
	spin_lock_irqsave(&qp->lock, flags);
	if (!qp->ep && qp->state == IWP_QP_IDLE) {
		iwp_ep_get(ep);
		qp->ep = ep;
		ep->qp = qp;
		err = 0;
	}
	spin_unlock_irqrestore(&qp->lock, flags);
	return err;
}

/**
 * iwp_ep_start() - start Full Operation
 * @ep: endpoint, locked; both MPA frames have been exchanged
 * @wait_first: do not send before the peer's first message (RFC 6581)
 *
 * Return: 0, or -ECONNABORTED if the queue pair is in the error state, or -ENOMEM.
 */
int iwp_ep_start(struct iwp_ep *ep, bool wait_first)
{
	struct sock *sk = ep->sock->sk;
	bool crc = ep->mpa_tx.crc || ep->mpa_rx.crc;
	bool long_fpdus = ep->mpa_tx.long_fpdus && ep->mpa_rx.long_fpdus;
	struct iwp_qp *qp = ep->qp;
	int err;

	lockdep_assert_held(&ep->lock);
	iwp_ep_stop_timer(ep);
	lock_sock(sk);
	err = iwp_tx_start(qp, sk, iwp_mpa_interval(ep->mpa_rx.markers), crc,
			   long_fpdus, ep->ird, ep->ord);
	qp->tx.wait_first = wait_first;
	iwp_rx_start(qp, iwp_mpa_interval(ep->mpa_tx.markers), crc);
	if (!err)
		err = iwp_qp_rts(qp);
	if (!err) {
		ep->state = IWP_EP_FPDU;
		ep->fpdu = true;
		iwp_ooo_watch(qp);
	}
	release_sock(sk);
	return err;
}

/* Processes what arrived before fpdu was set. */
static void iwp_ep_catch_up(struct iwp_ep *ep, bool active)
{
	struct sock *sk = ep->sock->sk;

	lock_sock(sk);
	if (ep->fpdu) {
		iwp_rx_ready(ep->qp);
		iwp_tx_ready(ep->qp);
		iwp_loopback_ready(ep->qp, active);
	}
	release_sock(sk);
	iwp_ep_signal(ep, IWP_EV_SOCKET);
}

/**
 * iwp_ep_established() - notify the consumer, then process what has arrived
 * @ep: endpoint, locked, in Full Operation
 * @type: event that the consumer waits for
 *
 * The consumer is notified first, so that nothing that arrives ends the connection
 * before. If that fails the connection is closed.
 */
void iwp_ep_established(struct iwp_ep *ep, enum iw_cm_event_type type)
{
	lockdep_assert_held(&ep->lock);
	if (iwp_ep_upcall(ep, ep->cm_id, type, 0)) {
		/* For iw_cm the connection is not established. */
		if (type == IW_CM_EVENT_CONNECT_REPLY)
			ep->state = IWP_EP_WAIT_REP;
		iwp_ep_finish(ep, -ENOMEM);
		return;
	}
	iwp_ep_catch_up(ep, type == IW_CM_EVENT_CONNECT_REPLY);
}

static void iwp_connect_replied(struct iwp_ep *ep)
{
	int err = iwp_mpa_check_reply(ep);
	bool joined = false;

	if (!err) {
		joined = iwp_loopback_join(ep);
		err = iwp_ep_start(ep, false);
	}
	if (err) {
		iwp_ep_finish(ep, err);
		return;
	}
	ep->qp->tx.send_rtr = !joined && ep->mpa_rx.enhanced &&
			      ep->mpa_rx.peer_to_peer;
	iwp_ep_established(ep, IW_CM_EVENT_CONNECT_REPLY);
}

/* Private data was stored where the peer's will be. */
static int iwp_connect_request(struct iwp_ep *ep)
{
	int err = iwp_mpa_request(ep, ep->frame, ep->mpa_tx.priv_len);

	if (err)
		return err;
	ep->state = IWP_EP_WAIT_REP;
	iwp_ep_set_timer(ep, IWP_REPLY_SECONDS);
	return 0;
}

static int iwp_sock_error(const struct sock *sk)
{
	if (sk->sk_err)
		return -sk->sk_err;
	return sk->sk_state == TCP_CLOSE ? -ECONNRESET : 0;
}

/**
 * iwp_connect_step() - handle an event of a connecting endpoint's socket
 * @ep: endpoint, locked
 */
void iwp_connect_step(struct iwp_ep *ep)
{
	struct sock *sk = ep->sock->sk;
	int err = -EAGAIN;

	lockdep_assert_held(&ep->lock);
	if (ep->state == IWP_EP_CONNECTING) {
		err = iwp_sock_error(sk);
		if (!err && sk->sk_state == TCP_SYN_SENT)
			return;
		if (!err)
			err = iwp_connect_request(ep);
	}
	if (ep->state == IWP_EP_WAIT_REP) {
		err = iwp_mpa_receive(ep, true);
		if (!err) {
			iwp_connect_replied(ep);
			return;
		}
		if (err == -EAGAIN)
			err = iwp_sock_error(sk);
	}
	if (err)
		iwp_ep_finish(ep, err == -EPROTO ? -ECONNRESET : err);
}

/*
 * The port that rdma_cm chose may be in use by TCP, or in TIME_WAIT. Then TCP chooses
 * one, as that is not worth a failure.
 */
static int iwp_connect_bind(struct socket *sock,
			    const struct sockaddr_storage *local, bool port)
{
	struct sockaddr_storage addr = *local;

	if (!port && addr.ss_family == AF_INET)
		((struct sockaddr_in *)&addr)->sin_port = 0;
	else if (!port)
		((struct sockaddr_in6 *)&addr)->sin6_port = 0;
	return kernel_bind(sock, (struct sockaddr_unsized *)&addr, iwp_addr_len(&addr));
}

static void iwp_connect_options(struct iwp_ep *ep, const struct iw_cm_id *id)
{
	struct socket *sock = ep->sock;
	int tos = id->tos;

	if (!id->tos_set)
		return;
	if (id->m_local_addr.ss_family == AF_INET)
		ip_sock_set_tos(sock->sk, tos);
	else
		sock->ops->setsockopt(sock, SOL_IPV6, IPV6_TCLASS, KERNEL_SOCKPTR(&tos),
				      sizeof(tos));
}

static int iwp_connect_try(struct iwp_ep *ep, struct iw_cm_id *id, bool port)
{
	struct net *net = iwp_consumer_net(id);
	int err;

	if (!net)
		return -ENETUNREACH;
	err = iwp_sock_create(ep, net, &id->m_local_addr);
	if (err)
		return err;
	iwp_connect_options(ep, id);
	err = iwp_connect_bind(ep->sock, &id->m_local_addr, port);
	if (err)
		return err;
	iwp_hold_limit_buffers(ep);
	err = iwp_sock_watch(ep);
	if (err)
		return err;
	err = kernel_connect(ep->sock, (struct sockaddr_unsized *)&id->m_remote_addr,
			     iwp_addr_len(&id->m_remote_addr), O_NONBLOCK);
	return err == -EINPROGRESS ? 0 : err;
}

static int iwp_connect_socket(struct iwp_ep *ep, struct iw_cm_id *id)
{
	int err = iwp_connect_try(ep, id, true);

	/* A BPF program may say so of what is not even created. */
	if (!ep->sock || (err != -EADDRINUSE && err != -EADDRNOTAVAIL))
		return err;
	lock_sock(ep->sock->sk);
	iwp_sock_unwatch(ep);
	release_sock(ep->sock->sk);
	sock_release(ep->sock);
	ep->sock = NULL;
	return iwp_connect_try(ep, id, false);
}

static int iwp_connect_start(struct iwp_ep *ep, struct iw_cm_id *id,
			     struct iw_cm_conn_param *param)
{
	int err;

	if (param->private_data_len > IWARP_MPA_PD_MAX - IWARP_MPA_DEPTHS_LEN ||
	    param->ird > IWP_MAX_RD_ATOM || param->ord > IWP_MAX_RD_ATOM)
		return -EINVAL;
	ep->ird = param->ird;
	ep->ord = param->ord;
	ep->mpa_tx.priv_len = param->private_data_len;
	memcpy(ep->frame, param->private_data, param->private_data_len);
	ep->state = IWP_EP_CONNECTING;
	err = iwp_connect_socket(ep, id);
	if (err)
		return err;
	id->add_ref(id);
	ep->cm_id = id;
	iwp_ep_set_timer(ep, IWP_CONNECT_SECONDS);
	iwp_ep_signal(ep, IWP_EV_SOCKET);
	return 0;
}

/* CONNECT_REPLY follows if this succeeds, and no event otherwise. */
static int iwp_connect(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	struct iwp_device *dev = iwp_device(id->device);
	struct iwp_qp *qp;
	struct iwp_ep *ep;
	int err;

	qp = iwp_consumer_qp(id, param->qpn);
	if (!qp)
		return -EINVAL;
	ep = iwp_ep_new(dev);
	if (!ep) {
		iwp_qp_put(qp);
		return -ENOMEM;
	}
	iwp_ep_get(ep);
	mutex_lock(&ep->lock);
	err = iwp_ep_attach(ep, qp);
	if (err)
		iwp_qp_put(qp);
	else
		err = iwp_connect_start(ep, id, param);
	if (err)
		iwp_ep_finish(ep, err);
	mutex_unlock(&ep->lock);
	iwp_ep_put(ep);
	return err;
}
ALLOW_ERROR_INJECTION(iwp_connect, ERRNO);

const struct ib_device_ops iwp_connect_dev_ops = {
	.iw_connect = iwp_connect,
};
