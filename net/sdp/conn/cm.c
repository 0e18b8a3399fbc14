// SPDX-License-Identifier: GPL-2.0
/*
 * The connection manager's side: addresses, routes, Hello and HelloAck
 * (IBTA annex A4, connection set-up).
 *
 * Handlers run in process context under rdma_cm's handler mutex, which comes before the
 * socket lock.  Of socket locks they take those of children only, see sdp_cm_may_wait().
 */
#include <rdma/ib_addr.h>
#include <rdma/ib_cm.h>
#include <rdma/rdma_cm.h>

#include "base/base.h"
#include "rdma/rdma.h"
#include "stream/stream.h"
#include "bind.h"
#include "cm.h"
#include "conn.h"
#include "loopback.h"
#include "request.h"

#ifdef CONFIG_LOCKDEP
/* Held by each handler. */
static struct lockdep_map sdp_cm_handler_map =
	STATIC_LOCKDEP_MAP_INIT("sdp_cm_handler", &sdp_cm_handler_map);
#endif

/* As long as ARP and neighbour discovery try before they give up. */
#define SDP_RESOLVE_TIMEOUT_MS	4000

/* As with TCP an address that user space has chosen stays; a port may not. */
static bool sdp_cm_has_address(const struct sdp_conn *conn)
{
	return conn->bound || conn->bound_addr;
}

/* Type of service of the packets to the peer, 0 = not stated. */
static int sdp_cm_service_type(const struct sdp_conn *conn)
{
	bool v4 = sdp_addr_is_v4(&conn->base.peer);

	return conn->base.opt.ip[v4 ? SDP_IP_TOS : SDP_IPV6_TCLASS];
}

/* Has the connection manager find the way that the socket's options say. */
static void sdp_cm_prepare_route(struct sdp_conn *conn)
{
	struct rdma_cm_id *id = conn->link.id;
	int tos = sdp_cm_service_type(conn);

	/* An address that user space chose has an interface already, and so has loopback. */
	if (!sdp_addr_is_loopback(&conn->base.peer) &&
	    (!sdp_cm_has_address(conn) || sdp_addr_is_any(&conn->base.local)))
		*sdp_cm_netdev(id) = conn->sk.sk_bound_dev_if;
	if (tos)
		rdma_set_service_type(id, tos);
}

/* An identifier from which the peer can be reached, with the port if there is one. */
static int sdp_cm_take_id(struct sdp_conn *conn)
{
	int err = 0;

	if (!sdp_cm_has_address(conn))
		err = sdp_conn_create_id(conn);
	else if (!sdp_conn_is_bound(conn))
		err = sdp_cm_bind(conn, sdp_is_dual(&conn->sk));
	if (err)
		return err;
	if (sdp_addr_is_loopback(&conn->base.peer))
		return sdp_loopback_bind_for_peer(conn);
	return sdp_cm_has_address(conn) ? sdp_bind_for_peer(conn) : 0;
}

/* As TCP says, a loopback address leads to no other host. */
static int sdp_cm_no_way(struct rdma_cm_id *id, int err)
{
	sdp_loopback_disguise(id);
	return err == -ENODEV && sdp_loopback_is_id(id) ? -EINVAL : err;
}

/* The port stands in the same place for both families. */
static __be16 sdp_cm_port(const struct rdma_cm_id *id)
{
	/* The address beside it is resolved by another thread meanwhile; the port stays. */
	return data_race(((const struct sockaddr_in *)&id->route.addr.src_addr)->sin_port);
}

/**
 * sdp_cm_connect() - begin to connect to the socket's peer
 * @conn: connection of a locked socket in state SYN_SENT
 *
 * All else happens in the handler: address, route, request.
 *
 * Return: 0 or a negative errno.
 */
int sdp_cm_connect(struct sdp_conn *conn)
{
	struct sockaddr_storage dst;
	int err;

	sdp_owned(&conn->sk);
	/* Completions are to come where the caller is, unless it has said where. */
	if (READ_ONCE(conn->sk.sk_incoming_cpu) < 0)
		WRITE_ONCE(conn->sk.sk_incoming_cpu, raw_smp_processor_id());
	sdp_conn_forget_port(conn);
	err = sdp_cm_take_id(conn);
	if (!err)
		err = sdp_bind_claim(conn);
	if (err)
		return err;
	sdp_cm_prepare_route(conn);
	sdp_loopback_reveal(conn->link.id);
	sdp_addr_to_rdma(&conn->base.peer, false, &dst);
	err = rdma_resolve_addr(conn->link.id, NULL, (struct sockaddr *)&dst,
				SDP_RESOLVE_TIMEOUT_MS);
	if (err)
		return sdp_cm_no_way(conn->link.id, err);
	conn->base.local.port = sdp_cm_port(conn->link.id);
	if (sdp_addr_is_any(&conn->base.local))
		sdp_bind_source(sock_net(&conn->sk), conn->sk.sk_bound_dev_if,
				&conn->base.peer, &conn->base.local);
	return 0;
}

/* The errno that TCP gives when there is no route to the peer. */
static int sdp_cm_addr_errno(int status)
{
	switch (status) {
	case -ENETUNREACH:
	case -ENODEV:
		return -ENETUNREACH;
	case -ENOMEM:
	case -ECONNREFUSED:
	case -EADDRNOTAVAIL:
		return status;
	default:
		return -EHOSTUNREACH;
	}
}

static int sdp_cm_send_hello(struct sdp_conn *conn, struct rdma_cm_id *id)
{
	u8 data[SDP_REQ_PRIVATE_LEN];
	struct sdp_hello hello = {
		.bufs = conn->stream.rx.rb.total,
		.version = SDP_VERSION,
		.ip_version = sdp_addr_is_v4(&conn->base.peer) ? 4 : 6,
		.cap = sdp_zcopy_cap(&conn->zcopy),
		.max_adverts = sdp_zcopy_adverts(&conn->zcopy),
		.des_remote_rcv_size = conn->stream.rx.rb.size + SDP_BSDH_LEN,
		.local_rcv_size = conn->stream.rx.rb.size + SDP_BSDH_LEN,
		.src_port = ntohs(conn->base.local.port),
		.has_ext = true,
		.ext_features = conn->stream.features,
		.token = sdp_pair_token(&conn->stream),
	};
	struct rdma_conn_param param = {
		.private_data = data,
		.private_data_len = sdp_hello_encode(&hello, data,
						     sizeof(data)),
	};
	struct sdp_netns_visit visit;
	int err;

	sdp_conn_fill_param(conn, &param);
	sdp_netns_enter(&visit, sock_net(&conn->sk));
	err = rdma_connect_locked(id, &param);
	sdp_netns_leave(&visit);
	return err;
}

static int sdp_cm_route_resolved(struct sdp_conn *conn, struct rdma_cm_id *id)
{
	int err;

	sdp_lock_sock(&conn->sk);
	sdp_addr_from_rdma(&id->route.addr.src_addr, &conn->base.local);
	sdp_release_sock(&conn->sk);
	err = sdp_conn_setup(conn, id);
	/* Nobody waits for the answer if it has ended meanwhile. */
	if (err || test_bit(SDP_CONN_BROKEN, &conn->link.flags))
		return err;
	return sdp_cm_send_hello(conn, id);
}

/**
 * sdp_cm_hello() - set up a connection: the route is known, or a peer has asked
 * @work: a connection's work item, which holds the socket
 *
 * Not in the handler, nor does anything else there wait for the socket lock: one
 * worker delivers such events to all users of the connection manager, and the owner
 * of the socket may wait for memory, or for another lock.  A listener's handler is one
 * for all its peers.
 */
void sdp_cm_hello(struct work_struct *work)
{
	struct sdp_conn *conn = container_of(work, struct sdp_conn, hello);
	struct rdma_cm_id *id = conn->link.id;
	int err = 0;

	rdma_lock_handler(id);
	if (!test_bit(SDP_CONN_BROKEN, &conn->link.flags))
		err = sdp_in_state(&conn->sk, TCPF_SYN_RECV) ?
			sdp_request_answer(conn, id) : sdp_cm_route_resolved(conn, id);
	if (err)
		sdp_link_end(&conn->link, err);
	rdma_unlock_handler(id);
	sock_put(&conn->sk);
}

/**
 * sdp_cm_queue_hello() - have the connection's work item set it up
 * @conn: connection
 *
 * Context: a handler, under the handler mutex of its cm_id.
 */
void sdp_cm_queue_hello(struct sdp_conn *conn)
{
	bool asked = sdp_in_state(&conn->sk, TCPF_SYN_RECV);

	sock_hold(&conn->sk);
	if (!queue_work(asked ? sdp_accept_wq : sdp_connect_wq, &conn->hello))
		__sock_put(&conn->sk);
}

/* The listener's HelloAck completes the active side. */
static void sdp_cm_use_ack(struct sdp_conn *conn)
{
	/* Pairs with the barrier in sdp_cm_established(). */
	smp_rmb();
	sdp_flow_choose(conn, conn->ack.ext_features);
	sdp_zcopy_choose(&conn->zcopy, conn->ack.has_ext, conn->ack.cap,
			 conn->ack.max_adverts);
	sdp_stream_choose(&conn->stream, conn->ack.act_rcv_size, conn->ack.bufs);
	conn->stream.tx.empty_due = true;
	conn->ops->connected(conn);
}

/**
 * sdp_cm_check_answered() - enter the next state if the handshake is over
 * @conn: connection of a locked socket (by its owner or in softirq) in state SYN_SENT or SYN_RECV
 */
void sdp_cm_check_answered(struct sdp_conn *conn)
{
	const unsigned long *flags = &conn->link.flags;
	int err;

	sdp_owned(&conn->sk);
	if (sdp_in_state(&conn->sk, TCPF_SYN_SENT)) {
		/* Too late for an attempt that has timed out: see sdp_cm_established(). */
		if (!test_bit(SDP_CONN_ANSWERED, flags) ||
		    test_bit(SDP_CONN_BROKEN, flags))
			return;
		sdp_cm_use_ack(conn);
	} else {
		if (!test_bit(SDP_CONN_SETTLED, flags) ||
		    conn->link.dev->initiator_speaks_first)
			return;
		conn->ops->established(conn);
	}
	err = sdp_link_check_flushed(&conn->link);
	if (err)
		sdp_link_end(&conn->link, err);
}

/* Reads HelloAck, which may be that of an end in this kernel. */
static int sdp_cm_read_ack(struct sdp_conn *conn, const struct rdma_conn_param *param)
{
	int err;

	err = sdp_hello_ack_parse(param->private_data, param->private_data_len, &conn->ack);
	if (!err)
		err = sdp_join_answered(conn, &conn->ack);
	if (err == -EPROTO || err == -EPROTONOSUPPORT) {
		SDP_INC_STATS(sock_net(&conn->sk), SDP_MIB_PROTOCOLERRORS);
		sdp_dbg(&conn->sk, "a HelloAck with error %d", err);
	}
	return err;
}

/*
 * If the socket is owned, its owner goes on with this when it releases the lock:
 * see sdp_cm_hello().
 */
static int sdp_cm_established(struct sdp_conn *conn,
			      const struct rdma_cm_event *event)
{
	int err;

	/* An answer that comes when the attempt was given up is too late. */
	if (sdp_in_state(&conn->sk, TCPF_SYN_SENT) &&
	    !test_bit(SDP_CONN_BROKEN, &conn->link.flags)) {
		err = sdp_cm_read_ack(conn, &event->param.conn);
		if (err)
			return err;
		/* Pairs with the barrier in sdp_cm_use_ack(). */
		smp_mb__before_atomic();
		set_bit(SDP_CONN_ANSWERED, &conn->link.flags);
	}
	local_bh_disable();
	sdp_link_kick(&conn->link);
	local_bh_enable();
	return 0;
}

/**
 * sdp_cm_heard() - a message has come from a peer whose handshake is not over
 * @conn: connection of a locked socket (by its owner or in softirq) in state SYN_RECV
 *
 * With InfiniBand the message that ends the handshake, RTU, is late, or got lost
 * and will be asked for again.  With iWARP the handshake ends with the active
 * side's first message: before that, the passive side may not send (RFC 5044,
 * section 7.1.3).
 *
 * rdma_notify() would have the connection manager believe that RTU has come,
 * but then it may forget the HelloAck that it goes on to repeat: ib_cm keeps
 * the identifier until it has repeated it often enough, for a minute, if one
 * of the ends disconnects before ib_cm's work item has cancelled that.
 */
void sdp_cm_heard(struct sdp_conn *conn)
{
	int err;

	sdp_owned(&conn->sk);
	conn->ops->established(conn);
	err = sdp_link_check_flushed(&conn->link);
	if (err)
		sdp_link_end(&conn->link, err);
}

static int sdp_cm_rejected(struct sdp_conn *conn, struct rdma_cm_id *id,
			   const struct rdma_cm_event *event)
{
	/* The listener went after its HelloAck, and before we could send RTU. */
	if (!sdp_in_state(&conn->sk, TCPF_SYN_SENT) ||
	    test_bit(SDP_CONN_ANSWERED, &conn->link.flags))
		return -ECONNRESET;
	/*
	 * Not by rdma_consumer_reject_data(): an iWARP provider says "reset"
	 * of a request that the peer's application has rejected.
	 */
	if (sdp_reject_parse(event->param.conn.private_data,
			     event->param.conn.private_data_len) ==
	    SDP_REJECT_BACKLOG) {
		conn->retry = true;
		return -ETIMEDOUT;
	}
	if (rdma_cap_ib_cm(id->device, id->port_num)) {
		/* An earlier connection's leftovers are in the way. */
		if (event->status == IB_CM_REJ_STALE_CONN) {
			conn->retry = true;
			return -ETIMEDOUT;
		}
		if (event->status == IB_CM_REJ_TIMEOUT)
			return -ETIMEDOUT;
	}
	sdp_dbg(&conn->sk, "the peer refuses, status %d", event->status);
	return -ECONNREFUSED;
}

/*
 * The connection manager says so of a peer that does not answer, and, of one
 * that is connected, when its neighbour entry gets another hardware address.
 * Whether packets still reach it then is for the queue pair's retries to find
 * out: the address may have been confirmed by another name, or be valid again.
 */
static int sdp_cm_unreachable(const struct sdp_conn *conn)
{
	const unsigned long *flags = &conn->link.flags;

	if (test_bit(SDP_CONN_ANSWERED, flags) ||
	    test_bit(SDP_CONN_SETTLED, flags) ||
	    !sdp_in_state(&conn->sk, SDPF_CONNECTING))
		return 0;
	return -ETIMEDOUT;
}

/* Handles an event of a connection; the result ends it unless it is 0. */
static int sdp_cm_event(struct sdp_conn *conn, struct rdma_cm_id *id,
			struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (!sdp_cm_on_bound_netdev(conn, id))
			return -ENETUNREACH;
		return rdma_resolve_route(id, SDP_RESOLVE_TIMEOUT_MS);
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		sdp_cm_queue_hello(conn);
		return 0;
	case RDMA_CM_EVENT_ESTABLISHED:
		return sdp_cm_established(conn, event);
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
		return sdp_cm_addr_errno(event->status);
	case RDMA_CM_EVENT_CONNECT_ERROR:
		/*
		 * With iWARP, the TCP port is in use and does not speak it.  With
		 * InfiniBand the listener went between its HelloAck and our RTU, or
		 * this end could not make its queue pair ready.
		 */
		set_bit(SDP_CONN_UNREADY, &conn->link.flags);
		return event->status == -ENOMEM ? -ENOMEM : -ECONNREFUSED;
	case RDMA_CM_EVENT_UNREACHABLE:
		return sdp_cm_unreachable(conn);
	case RDMA_CM_EVENT_REJECTED:
		return sdp_cm_rejected(conn, id, event);
	case RDMA_CM_EVENT_DISCONNECTED:
		return -ECONNRESET;
	default:
		/* Nothing that changes the connection. */
		return 0;
	}
}

static int sdp_cm_handle(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct sdp_conn *conn = id->context;
	int err;

	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		return sdp_request_event(conn, id, event);
	if (event->event == RDMA_CM_EVENT_DISCONNECTED)
		sdp_conn_disconnected(conn);
	if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL)
		sdp_conn_lost(conn);
	if (test_bit(SDP_CONN_DYING, &conn->link.flags))
		return 0;
	if (event->event == RDMA_CM_EVENT_ESTABLISHED)
		set_bit(SDP_CONN_SETTLED, &conn->link.flags);
	err = sdp_cm_event(conn, id, event);
	if (err)
		sdp_link_end(&conn->link, err);
	return 0;
}

/**
 * sdp_cm_handler() - an event of a cm_id
 * @id: identifier, whose context is the socket
 * @event: what has happened
 *
 * Context: process context, under the identifier's handler mutex.
 * Return: 0; for a refused request anything else, so that rdma_cm drops it.
 */
int sdp_cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	int err;

	lock_map_acquire(&sdp_cm_handler_map);
	err = sdp_cm_handle(id, event);
	lock_map_release(&sdp_cm_handler_map);
	return err;
}

/**
 * sdp_cm_may_wait() - assert that the caller may wait for the end of handlers
 *
 * rdma_cm waits for them when it destroys an identifier, and so does rdma_listen() when
 * one of several devices refuses.  Lockdep learns from each caller which locks no handler
 * may take.
 */
void sdp_cm_may_wait(void)
{
	might_sleep();
	lock_map_acquire(&sdp_cm_handler_map);
	lock_map_release(&sdp_cm_handler_map);
}

/**
 * sdp_cm_destroy_id() - destroy an identifier
 * @id: identifier
 *
 * The worker that has resolved its address may still be about to leave the handler
 * mutex, even if the next waiter for the mutex has had it since: rdma_cm waits for
 * that worker only while it resolves.
 *
 * Context: process context, without the socket lock; waits for handlers of @id.
 */
void sdp_cm_destroy_id(struct rdma_cm_id *id)
{
	sdp_cm_may_wait();
	rdma_addr_cancel(&id->route.addr.dev_addr);
	rdma_destroy_id(id);
}
