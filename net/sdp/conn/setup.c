// SPDX-License-Identifier: GPL-2.0
/*
 * One RDMA connection: how it is set up, and how its completions reach the
 * socket.
 */
#include <linux/slab.h>

#include "base/base.h"
#include "rdma/rdma.h"
#include "stream/stream.h"
#include "cm.h"
#include "conn.h"
#include "keepalive.h"

/* Work requests beyond the messages: the ones that mark a drained queue. */
#define SDP_DRAIN_WR		1

/*
 * What send requests take with them: a header and 64 bytes are asked for, which costs no
 * device memory beside so many pieces of memory; from the most on a device that fetches
 * the bytes is faster than a processor that copies them.
 */
#define SDP_TX_INLINE		80U
#define SDP_TX_INLINE_MAX	256U

/* For what has to be done in process context. */

static void sdp_conn_interrupt(struct sock *sk)
{
	sdp_conn_process(sdp_conn(sk), SDP_FLUSH_INTERRUPT);
}

static void sdp_conn_probe(struct sock *sk)
{
	sdp_tx_probe(&sdp_conn(sk)->stream);
}

/* The work item holds a reference to its socket. */
static void sdp_conn_grow(struct sock *sk)
{
	sock_hold(sk);
	if (!queue_work(sdp_wq, &sdp_conn(sk)->grow))
		__sock_put(sk);
}

static void sdp_conn_grow_work(struct work_struct *work)
{
	struct sdp_conn *conn = container_of(work, struct sdp_conn, grow);
	struct sock *sk = &conn->sk;

	sdp_lock_sock(sk);
	sdp_rx_grow(&conn->stream);
	sdp_output(conn, SDP_FLUSH_CALL);
	sdp_release_sock(sk);
	sock_put(sk);
}

static bool sdp_conn_may_send(const struct sock *sk, enum sdp_mid mid, u32 payload_len)
{
	return sdp_tx_may_send(sdp_conn(sk), mid, payload_len);
}

static void sdp_conn_push(struct sock *sk)
{
	sdp_output(sdp_conn(sk), SDP_FLUSH_CALL);
}

static void sdp_conn_flush_all(struct sock *sk)
{
	sdp_tx_force(sdp_conn(sk), SDP_FLUSH_CALL);
}

/* Else the next message says it, see sdp_tx_heard(). */
static void sdp_conn_disconn_sent(struct sdp_done *done)
{
	struct sdp_conn *conn =
		container_of(done, struct sdp_conn, disconn_sent);

	if (conn->link.dev->acked_on_completion)
		conn->ops->fin_acked(conn);
}

static void sdp_conn_between(struct sock *sk)
{
	sdp_conn_catch_up(sdp_conn(sk));
}

static const struct sdp_stream_ops sdp_conn_stream_ops = {
	.may_send = sdp_conn_may_send,
	.push = sdp_conn_push,
	.flush = sdp_conn_flush_all,
	.grow = sdp_conn_grow,
	.catch_up = sdp_conn_between,
};

/* It may be nothing to read, which who reads finds out. */
static void sdp_conn_arriving(void *context)
{
	struct sdp_conn *conn = context;

	set_bit(SDP_CONN_ARRIVING, &conn->link.flags);
	conn->sk.sk_data_ready(&conn->sk);
}

static const struct sdp_link_ops sdp_conn_link_ops = {
	.interrupt = sdp_conn_interrupt,
	.probe = sdp_conn_probe,
	.arriving = sdp_conn_arriving,
	.broken = sdp_conn_broken,
};

/**
 * sdp_conn_init() - prepare a new socket's connection
 * @conn: connection, zeroed, with its socket
 * @ops: what the layer above does for it
 */
void sdp_conn_init(struct sdp_conn *conn, const struct sdp_conn_ops *ops)
{
	conn->ops = ops;
	conn->link.sk = &conn->sk;
	conn->link.ops = &sdp_conn_link_ops;
	INIT_WORK(&conn->hello, sdp_cm_hello);
	INIT_WORK(&conn->teardown, sdp_conn_teardown);
	INIT_WORK(&conn->release_id, sdp_conn_release_id);
	INIT_LIST_HEAD(&conn->link.dev_node);
	INIT_WORK(&conn->grow, sdp_conn_grow_work);
	hrtimer_setup(&conn->stream.pause, sdp_tx_pause, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	sdp_stream_init(&conn->stream, &conn->link, &sdp_conn_stream_ops);
	conn->disconn_sent.done = sdp_conn_disconn_sent;
	conn->zcopy.st = &conn->stream;
	sdp_zsend_prepare(&conn->zcopy);
}

/**
 * sdp_conn_create_id() - make sure that the socket has a cm_id
 * @conn: connection of a locked socket
 *
 * The identifier's context is the socket, which it holds until it is
 * destroyed.
 *
 * Return: 0 or a negative errno.
 */
int sdp_conn_create_id(struct sdp_conn *conn)
{
	struct rdma_cm_id *id;

	sdp_owned(&conn->sk);
	if (conn->link.id)
		return 0;
	id = rdma_create_id(sock_net(&conn->sk), sdp_cm_handler, conn,
			    RDMA_PS_IB, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	sdp_conn_hold(conn, SDP_REF_CM);
	conn->link.id = id;
	conn->id_bound = false;
	return 0;
}

static u32 sdp_conn_cqes(const struct sdp_conn *conn)
{
	u32 reads = conn->zcopy.on ? SDP_ZCOPY_READS * (SDP_ZCOPY_READ_WRS +
							SDP_ZCOPY_REG_WRS) : 0;

	return SDP_TX_WRS + conn->stream.rx.slots + 2 * SDP_DRAIN_WR + reads;
}

static void sdp_conn_qp_event(struct ib_event *event, void *context)
{
	struct sdp_conn *conn = context;

	if (event->event == IB_EVENT_QP_FATAL ||
	    event->event == IB_EVENT_QP_REQ_ERR ||
	    event->event == IB_EVENT_QP_ACCESS_ERR)
		sdp_link_end(&conn->link, -ECONNRESET);
}

/*
 * What a peer can reach is what its queue pair's protection domain has, whichever
 * keys it knows, so that no two connections may share one.  Devices differ in what
 * they say when they have none left.
 */
static int sdp_conn_alloc_pd(struct sdp_conn *conn)
{
	struct ib_pd *pd = ib_alloc_pd(conn->link.dev->ibdev, 0);

	if (IS_ERR(pd))
		return -ENOBUFS;
	conn->link.pd = pd;
	return 0;
}

/*
 * A queue pair whose send requests take short messages with them, if the device has any
 * room for that; more than was asked for is used if it says so.
 */
static int sdp_conn_create_inline_qp(struct sdp_conn *conn, struct rdma_cm_id *id,
				     const struct ib_qp_init_attr *wanted)
{
	struct ib_qp_init_attr attr = *wanted;
	int err;

	attr.cap.max_inline_data = SDP_TX_INLINE;
	err = rdma_create_qp(id, conn->link.pd, &attr);
	if (err == -EINVAL || err == -EOPNOTSUPP) {
		attr = *wanted;
		err = rdma_create_qp(id, conn->link.pd, &attr);
	}
	if (err)
		return err;
	conn->link.max_inline = min(attr.cap.max_inline_data, SDP_TX_INLINE_MAX);
	conn->link.max_sge = min(wanted->cap.max_send_sge, SDP_TX_DIRECT_SGE);
	return 0;
}

static int sdp_conn_create_qp(struct sdp_conn *conn, struct rdma_cm_id *id)
{
	struct ib_qp_init_attr attr = {
		.event_handler = sdp_conn_qp_event,
		.qp_context = conn,
		.cap = {
			.max_send_wr = SDP_TX_WRS + SDP_DRAIN_WR,
			.max_recv_wr = conn->stream.rx.slots + SDP_DRAIN_WR,
			.max_send_sge = SDP_TX_MAX_SGE,
			.max_recv_sge = SDP_RX_SGE,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};
	struct ib_cq *cq;
	int err;

	/* SO_INCOMING_CPU, of the listener if that has it; else one vector after the other. */
	cq = ib_cq_pool_get(id->device, sdp_conn_cqes(conn),
			    READ_ONCE(conn->sk.sk_incoming_cpu), IB_POLL_SOFTIRQ);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	conn->link.cq = cq;
	if (!sdp_link_is_local(&conn->link))
		sdp_busy_attach(&conn->link);
	attr.send_cq = cq;
	attr.recv_cq = cq;
	if (conn->zcopy.on) {
		attr.cap.max_send_sge =
			clamp_t(u32, id->device->attrs.max_send_sge,
				SDP_TX_MAX_SGE, SDP_TX_DIRECT_SGE);
		attr.cap.max_send_wr += SDP_ZCOPY_READS * SDP_ZCOPY_READ_WRS;
		attr.cap.max_rdma_ctxs = SDP_ZCOPY_READS;
		attr.port_num = id->port_num;
	}
	err = sdp_conn_create_inline_qp(conn, id, &attr);
	if (err)
		return err;
	/* "rdma resource" says whose it is; rdma_cm has made it in its own name. */
	WRITE_ONCE(id->qp->res.kern_name, KBUILD_MODNAME);
	WRITE_ONCE(conn->link.qpn, id->qp->qp_num);
	conn->link.qp = id->qp;
	conn->link.iter_max = 0;
	conn->link.iter_min = 0;
	if (!sdp_link_is_local(&conn->link))
		sdp_ulp_set_iter(conn->link.dev, &conn->link.iter_max, &conn->link.iter_min);
	/* Answers to adverts of memory come between data. */
	if (conn->zcopy.on)
		conn->link.iter_min = 0;
	if (conn->link.dev->info.flags & IW_ULP_HOLD && conn->stream.features & SDP_FEAT_NIC)
		err = conn->link.dev->ulp->hold(conn->link.qp);
	return err;
}

/* What the device has to give; what there is after an error, teardown frees. */
static int sdp_conn_ask_device(struct sdp_conn *conn, struct rdma_cm_id *id)
{
	int err = sdp_conn_alloc_pd(conn);

	if (!err)
		err = sdp_conn_create_qp(conn, id);
	if (err)
		SDP_INC_STATS(sock_net(&conn->sk), SDP_MIB_DEVICEREFUSALS);
	return err;
}

/**
 * sdp_conn_destroy_qp() - release the queue pair
 * @conn: connection
 * @id: its cm_id, which stays
 *
 * Context: process context, without the socket lock, because it may take the
 * provider a while.
 */
void sdp_conn_destroy_qp(struct sdp_conn *conn, struct rdma_cm_id *id)
{
	if (conn->link.dev)
		sdp_device_unlink(&conn->link);
	if (id->qp)
		rdma_destroy_qp(id);
	sdp_busy_detach(&conn->link);
	if (conn->link.cq)
		ib_cq_pool_put(conn->link.cq, sdp_conn_cqes(conn));
	conn->link.cq = NULL;
}

/**
 * sdp_conn_free() - release the memory, and last the device
 * @conn: connection of a locked socket, which keeps calls away from what is freed;
 *	its queue pair is gone; nothing happens if it was never set up
 */
void sdp_conn_free(struct sdp_conn *conn)
{
	sdp_owned(&conn->sk);
	if (!conn->link.dev)
		return;
	sdp_zcopy_free(&conn->zcopy);
	sdp_stream_free(&conn->stream);
	/* No region is left in it, and no queue pair. */
	if (conn->link.pd)
		ib_dealloc_pd(conn->link.pd);
	conn->link.pd = NULL;
	sdp_rdmacg_uncharge(&conn->link);
	sdp_device_put(conn->link.dev);
	conn->link.dev = NULL;
}

/* The engine that is wanted, and all that are weaker. */
static u16 sdp_flow_up_to(const struct sdp_flow_ops *flow)
{
	return flow->feature | (flow->feature - 1);
}

/*
 * Decides which engines to offer the peer.  What is offered stays, because buffers are
 * made for it and the peer learns it: the administrator may want another engine
 * before the peer has answered.
 */
static void sdp_flow_begin(struct sdp_conn *conn)
{
	/* Pairs with sdp_rx_full(), which needs no lock. */
	WRITE_ONCE(conn->stream.flow, sdp_option_flow(&conn->sk));
	conn->stream.rx.ring.need = (struct sdp_need){ .adapts = conn->stream.flow->adapts };
	WRITE_ONCE(conn->flow_reason, SDP_FLOW_REASON_NONE);
	conn->stream.features = sdp_flow_up_to(conn->stream.flow) & conn->link.dev->flows;
	/* Whether, and how, messages travel without a header: see stream/immediate.c. */
	conn->stream.features |= conn->link.dev->immediate;
}

static void sdp_conn_reset_stats(struct sdp_conn *conn)
{
	conn->stream.stats = (struct sdp_conn_stats){
		.last_out = jiffies,
		.last_in = jiffies,
		.last_heard = jiffies,
	};
}

/*
 * Of what the last connection has left, nothing is to be seen in this one.  User space
 * may have the socket, and what it calls, be it close(), looks at all of this.  Among the
 * callers is the handler of a request.
 */
static int sdp_conn_begin(struct sdp_conn *conn)
{
	int err;

	sdp_lock_sock_nested(&conn->sk, SDP_LOCK_CHILD);
	strscpy(conn->dev_name, conn->link.dev->ibdev->name, sizeof(conn->dev_name));
	sdp_conn_reset_stats(conn);
	sdp_flow_begin(conn);
	sdp_zcopy_begin(&conn->zcopy);
	err = sdp_stream_alloc(&conn->stream);
	sdp_release_sock(&conn->sk);
	return err;
}

static int sdp_conn_post(struct sdp_conn *conn)
{
	int err;

	sdp_lock_sock_nested(&conn->sk, SDP_LOCK_CHILD);
	err = sdp_rx_post_all(&conn->stream);
	sdp_release_sock(&conn->sk);
	return err;
}

/**
 * sdp_conn_setup() - create queue pair and buffers, and post the buffers
 * @conn: connection that nothing else can transmit on yet
 * @id: its cm_id, with a device
 *
 * Context: under the handler mutex of @id; may sleep.
 * Return: 0, or a negative errno; sdp_link_end() is due in both cases.
 */
int sdp_conn_setup(struct sdp_conn *conn, struct rdma_cm_id *id)
{
	int err;

	conn->link.dev = sdp_device_get(id->device);
	if (!conn->link.dev)
		return -ENETDOWN;
	err = sdp_conn_begin(conn);
	if (err)
		return err;
	sdp_join_begin(conn);
	err = sdp_conn_ask_device(conn, id);
	if (!err)
		err = sdp_conn_post(conn);
	if (err)
		return err;
	rdma_set_ack_timeout(id, SDP_ACK_TIMEOUT);
	return sdp_device_link(conn->link.dev, &conn->link) ? 0 : -ENETDOWN;
}

static const char *sdp_flow_reason(enum sdp_flow_reason reason)
{
	return reason == SDP_FLOW_REASON_DEVICE ? "the device cannot do it" :
						  "the peer does not offer it";
}

/* What has kept a connection from the engine that was wanted. */
static enum sdp_flow_reason sdp_flow_obstacle(const struct sdp_conn *conn,
					      const struct sdp_flow_ops *want)
{
	if (conn->stream.flow->feature == want->feature)
		return SDP_FLOW_REASON_NONE;
	return want->feature & conn->link.dev->flows ? SDP_FLOW_REASON_PEER :
						  SDP_FLOW_REASON_DEVICE;
}

/**
 * sdp_flow_choose() - use the strongest engine that both sides offer
 * @conn: connection of a locked, or of an unpublished socket, after
 *	sdp_conn_setup()
 * @peer: SDP_FEAT_* that the peer has offered; a peer that has said nothing
 *	gets credits
 */
void sdp_flow_choose(struct sdp_conn *conn, u16 peer)
{
	const struct sdp_flow_ops *want = conn->stream.flow;

	conn->stream.features &= peer;
	WRITE_ONCE(conn->stream.flow, sdp_flow_strongest(conn->stream.features));
	WRITE_ONCE(conn->flow_reason, sdp_flow_obstacle(conn, want));
	sdp_dbg(&conn->sk, "RDMA over %s with flow control %s, %s is wanted",
		conn->dev_name, conn->stream.flow->name, want->name);
	/* Whoever leaves the choice to us has got what he wants. */
	if (!conn->flow_reason || want->adapts)
		return;
	SDP_INC_STATS(sock_net(&conn->sk), SDP_MIB_FLOWDOWNGRADES);
	pr_info_ratelimited("sdp: flow control on %s is %s and not %s: %s\n",
			    conn->dev_name, conn->stream.flow->name, want->name,
			    sdp_flow_reason(conn->flow_reason));
}

/**
 * sdp_conn_fill_param() - connection parameters for both ends
 * @conn: connection
 * @param: to fill; the private data is the caller's
 */
void sdp_conn_fill_param(const struct sdp_conn *conn,
			 struct rdma_conn_param *param)
{
	const struct ib_device_attr *attrs = &conn->link.dev->ibdev->attrs;

	param->responder_resources = min(attrs->max_qp_rd_atom, 4);
	param->initiator_depth = min(attrs->max_qp_init_rd_atom, 4);
	param->retry_count = SDP_RETRY_COUNT;
	param->rnr_retry_count = SDP_RNR_RETRY_COUNT;
}
