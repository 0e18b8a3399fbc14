// SPDX-License-Identifier: GPL-2.0
/*
 * The passive side of connection set-up: a peer's Hello, and our HelloAck (IBTA annex
 * A4, connection set-up).
 *
 * The listener's handler makes the child; all that takes time is done by the child's work
 * item, so that a listener's connections are set up side by side.
 */
#include <rdma/ib_cm.h>
#include <rdma/rdma_cm.h>

#include "base/base.h"
#include "rdma/rdma.h"
#include "stream/stream.h"
#include "cm.h"
#include "conn.h"
#include "request.h"

/*
 * How long a peer may take that has our HelloAck.  It was sent three times by
 * then with InfiniBand, if the peer's own timeout is that of rdma_cm.  So often
 * the device is asked whether it has not told us of what has come.
 */
#define SDP_GREETING_WAIT	(5 * HZ)
#define SDP_GREETING_WAITS	3

static void sdp_request_reject(struct rdma_cm_id *id, enum sdp_reject_reason why)
{
	u8 data[SDP_REJECT_LEN];
	u32 len = sdp_reject_encode(why, data, sizeof(data));

	rdma_reject(id, data, len, IB_CM_REJ_CONSUMER_DEFINED);
}

/* More RDMA reads than the peer said, in either direction, break the queue pair. */
static void sdp_request_limit_reads(struct rdma_conn_param *param,
				    const struct sdp_conn_request *peer)
{
	param->responder_resources = min(param->responder_resources,
					 peer->responder_resources);
	param->initiator_depth = min(param->initiator_depth,
				     peer->initiator_depth);
}

static int sdp_request_accept(struct sdp_conn *conn, struct rdma_cm_id *id)
{
	const struct sdp_hello *hello = &conn->asked.hello;
	u8 data[SDP_REP_PRIVATE_LEN];
	struct sdp_hello_ack ack = {
		.bufs = conn->stream.rx.rb.total,
		.version = SDP_VERSION,
		.cap = sdp_zcopy_cap(&conn->zcopy),
		.max_adverts = sdp_zcopy_adverts(&conn->zcopy),
		.act_rcv_size = conn->stream.rx.rb.size + SDP_BSDH_LEN,
		.has_ext = hello->has_ext,
		.ext_features = hello->ext_features & conn->stream.features,
	};
	struct rdma_conn_param param = {
		.private_data = data,
		.private_data_len = sdp_hello_ack_encode(&ack, data,
							 sizeof(data)),
	};

	sdp_flow_choose(conn, hello->ext_features);
	sdp_zcopy_choose(&conn->zcopy, hello->has_ext, hello->cap,
			 hello->max_adverts);
	sdp_stream_choose(&conn->stream, hello->local_rcv_size, hello->bufs);
	sdp_conn_fill_param(conn, &param);
	if (!conn->link.dev->cm_limits_reads)
		sdp_request_limit_reads(&param, &conn->asked);
	return rdma_accept(id, &param);
}

/*
 * With InfiniBand the connection manager gives up, too, but after the timeout of the
 * peer's request, which may be hours.  The child is not accepted yet.
 */
static void sdp_request_await_greeting(struct sdp_conn *child)
{
	sdp_lock_sock_nested(&child->sk, SDP_LOCK_CHILD);
	sdp_timer_arm(&child->sk, SDP_TIMER_GREETING, SDP_GREETING_WAIT);
	sdp_release_sock(&child->sk);
}

/**
 * sdp_request_answer() - set up the connection that a peer has asked for, and accept it
 * @child: connection in state SYN_RECV
 * @id: its cm_id
 *
 * Context: the child's work item, under the handler mutex of @id; may sleep.
 * Return: 0, or a negative errno if the peer was refused; sdp_link_end() is due then.
 */
int sdp_request_answer(struct sdp_conn *child, struct rdma_cm_id *id)
{
	int err = sdp_conn_setup(child, id);

	/* The listener may have gone meanwhile. */
	if (!err && test_bit(SDP_CONN_BROKEN, &child->link.flags))
		err = -ECONNABORTED;
	if (!err) {
		sdp_request_await_greeting(child);
		child->ops->answered(child);
		err = sdp_request_accept(child, id);
		if (err)
			set_bit(SDP_CONN_UNREADY, &child->link.flags);
	}
	if (err) {
		sdp_dbg(&child->sk, "refused: set-up fails with error %d", err);
		sdp_request_reject(id, SDP_REJECT_RESOURCES);
	}
	return err;
}

/**
 * sdp_request_check_greeting() - give up a peer that sent nothing after its request
 * @conn: connection of a locked socket
 */
void sdp_request_check_greeting(struct sdp_conn *conn)
{
	sdp_owned(&conn->sk);
	if (!sdp_in_state(&conn->sk, TCPF_SYN_RECV))
		return;
	if (++conn->greetings == SDP_GREETING_WAITS) {
		sdp_link_end(&conn->link, -ETIMEDOUT);
		return;
	}
	sdp_link_poll(&conn->link);
	sdp_timer_arm(&conn->sk, SDP_TIMER_GREETING, SDP_GREETING_WAIT);
}

static void sdp_request_addrs(struct sdp_conn *child,
			      const struct rdma_cm_id *id)
{
	sdp_addr_from_rdma(&id->route.addr.src_addr, &child->base.local);
	sdp_addr_from_rdma(&id->route.addr.dst_addr, &child->base.peer);
}

/*
 * A Hello has come in.  Nothing is allocated for a peer that does not speak the protocol.
 * A value other than 0 makes rdma_cm destroy @id; once the child has it that is for the
 * child to do, as with any other connection, because others may have ended it by now.
 */
static int sdp_request_hello(struct sdp_conn *parent, struct rdma_cm_id *id,
			     const struct rdma_cm_event *event)
{
	enum sdp_reject_reason why;
	struct sdp_conn *child;
	struct sdp_hello hello;
	int err;

	/* To requests that come by another interface the port is closed. */
	if (!sdp_cm_on_bound_netdev(parent, id)) {
		sdp_dbg(&parent->sk, "refused: not on the interface of SO_BINDTODEVICE");
		rdma_reject(id, NULL, 0, IB_CM_REJ_CONSUMER_DEFINED);
		return -ECONNREFUSED;
	}
	err = sdp_hello_parse(event->param.conn.private_data,
			      event->param.conn.private_data_len, &hello);
	if (err) {
		SDP_INC_STATS(sock_net(&parent->sk), SDP_MIB_PROTOCOLERRORS);
		sdp_dbg(&parent->sk, "refused: a Hello with error %d", err);
		sdp_request_reject(id, err == -EPROTONOSUPPORT ?
				   SDP_REJECT_VERSION : SDP_REJECT_PROTOCOL);
		return err;
	}
	child = parent->ops->child(parent, id, &why);
	if (!child) {
		sdp_request_reject(id, why);
		return -ECONNREFUSED;
	}
	sdp_request_addrs(child, id);
	child->asked = (struct sdp_conn_request){
		.hello = hello,
		.responder_resources = event->param.conn.responder_resources,
		.initiator_depth = event->param.conn.initiator_depth,
	};
	/* If the child is ending already: not before this handler has returned. */
	sdp_cm_queue_hello(child);
	return 0;
}

/**
 * sdp_request_event() - a peer asks for a connection
 * @conn: that of the listener, or of the owner of a shared port, which has no children
 *	of its own
 * @id: the new connection's cm_id
 * @event: the request
 *
 * Context: handler of the listener's cm_id, under the handler mutex of both.
 * Return: 0 if there is a child now, which has @id; else a negative errno.
 */
int sdp_request_event(struct sdp_conn *conn, struct rdma_cm_id *id,
		      const struct rdma_cm_event *event)
{
	struct sdp_conn *parent = conn->ops->listener(conn, *sdp_cm_netdev(id));
	int err;

	if (!parent) {
		rdma_reject(id, NULL, 0, IB_CM_REJ_CONSUMER_DEFINED);
		return -ECONNREFUSED;
	}
	err = sdp_request_hello(parent, id, event);
	sock_put(&parent->sk);
	return err;
}
