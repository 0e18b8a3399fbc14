/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One RDMA connection: cm_id, queue pair, completion queue, and the buffers.
 */
#ifndef _SDP_CONN_H
#define _SDP_CONN_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "wire/wire.h"
#include "base/base.h"
#include "flow/flow.h"
#include "rdma/rdma.h"
#include "stream/stream.h"
#include "zcopy/zcopy.h"
#include "bind.h"
#include "cm.h"
#include "keepalive.h"
#include "loopback.h"
#include "output.h"
#include "siw_netns.h"

struct sdp_conn;

/*
 * References to a socket besides its file's.  There is at most one of each kind at a
 * time, so that a bit for each catches a reference taken or dropped twice.
 */
enum sdp_ref {
	SDP_REF_CM,		/* the cm_id's context; dropped after its end */
	SDP_REF_CM_OTHER,	/* likewise of the one for the other family */
	SDP_REF_TEARDOWN,	/* queued or running teardown work */
};

/**
 * struct sdp_conn_ops - what a connection has the layer above do
 * @listener: the socket that gets a request that has come by an interface, held for the
 *	caller; NULL if there is none; handler of the listener's cm_id
 * @child: a connection for a request, which has the cm_id; NULL with a reason
 * @answered: a child's peer is about to have our HelloAck
 * @connected: the peer has accepted; the connection carries data from now on
 * @established: the same of a child, which accept() may have now
 * @first_data: something to read has come to a child that has a listener
 * @fin_received: the peer sends nothing more
 * @fin_acked: the peer has our DisConn
 * @failed: the connection is over, for which reason, though not all is released
 * @ended: it is gone, and all that belonged to it
 *
 * From @connected on the socket is locked, by its owner or in softirq; for @failed and
 * @ended by its owner.
 */
struct sdp_conn_ops {
	struct sdp_conn *(*listener)(struct sdp_conn *conn, int netdev);
	struct sdp_conn *(*child)(struct sdp_conn *listener, struct rdma_cm_id *id,
				  enum sdp_reject_reason *why);
	void (*answered)(struct sdp_conn *conn);
	void (*connected)(struct sdp_conn *conn);
	void (*established)(struct sdp_conn *conn);
	void (*first_data)(struct sdp_conn *conn);
	void (*fin_received)(struct sdp_conn *conn);
	void (*fin_acked)(struct sdp_conn *conn);
	void (*failed)(struct sdp_conn *conn, int reason);
	void (*ended)(struct sdp_conn *conn, int reason);
};

/*
 * Local ACK timeout of the queue pair, 4.096 us * 2^18 = 1.07 s, and how often
 * it is tried: a silent peer is noticed after about 7.5 s.  Not 7 tries, which
 * some devices take for "for ever".  A shorter timeout would be right on a
 * wire with hardware at both ends, but a virtual machine that is not scheduled
 * for a while must not lose its connections.
 */
#define SDP_ACK_TIMEOUT		18
#define SDP_ACK_TIMEOUT_US	1073742U
#define SDP_RETRY_COUNT		6
/* Credits make "receiver not ready" impossible; this is the safety net. */
#define SDP_RNR_RETRY_COUNT	7

/**
 * struct sdp_conn_request - what a peer has asked for that connects
 * @hello: its Hello
 * @responder_resources: RDMA reads that it may have in flight
 * @initiator_depth: those that it lets us have
 */
struct sdp_conn_request {
	struct sdp_hello hello;
	u8 responder_resources;
	u8 initiator_depth;
};

/**
 * struct sdp_conn - one RDMA connection, the first part of its socket
 * @sk: the generic socket, first
 * @base: the same as the layers below see it
 * @ops: what the layer above does for it
 * @link: the RDMA side: identifier, device, queue pair
 * @stream: the copy path, and flow control
 * @disconn_sent: the device has sent our DisConn
 * @id_other: a second identifier for the other family, see sdp_bind_split()
 * @id_bound: the identifier in @link, if there is one, has the socket's port
 * @flow_reason: why it is not the one that was wanted
 * @ack: the peer's HelloAck, valid once SDP_CONN_ANSWERED is set
 * @asked: of a child: the peer's Hello, and what is to be answered
 * @retry: the peer asked us to try again later
 * @greetings: how often our first message is on its way again, or was; of who was asked,
 *	how often it has waited for the peer's
 * @hello: sets the connection up and sends our Hello, once the route is known, or, for
 *	a child, our HelloAck
 * @teardown: releases everything above, in process context
 * @release_id: releases the identifier, if that had to wait
 * @grow: allocates receive buffers, in process context
 * @zcopy: transfers without a copy
 * @bound: bind() was called or a port was taken
 * @bound_addr: user space has chosen the address
 * @bound_port: it has chosen the port
 * @last_bind_err: for SDP_LAST_BIND_ERR
 * @refs: bits of enum sdp_ref
 * @dev_name: RDMA device of the current or last connection
 * @listener: socket on whose pending list this one is, held (socket lock)
 */
struct sdp_conn {
	union {
		struct sock sk;
		struct sdp_base base;
	};
	const struct sdp_conn_ops *ops;
	struct sdp_link link;
	struct sdp_stream stream;
	struct sdp_done disconn_sent;
	struct rdma_cm_id *id_other;
	bool id_bound;
	enum sdp_flow_reason flow_reason;
	union {
		struct sdp_hello_ack ack;
		struct sdp_conn_request asked;
	};
	bool retry;
	u8 greetings;
	struct work_struct hello;
	struct work_struct teardown;
	struct work_struct release_id;
	struct work_struct grow;
	struct sdp_zcopy zcopy;
	bool bound;
	bool bound_addr;
	bool bound_port;
	int last_bind_err;
	unsigned long refs;
	char dev_name[IB_DEVICE_NAME_MAX];
	struct sock *listener;
};

static inline struct sdp_conn *sdp_conn(const struct sock *sk)
{
	return (struct sdp_conn *)sk;
}

static inline void sdp_conn_hold(struct sdp_conn *conn, enum sdp_ref who)
{
	WARN_ON_ONCE(test_and_set_bit(who, &conn->refs));
	sock_hold(&conn->sk);
}

/* For a reference that is dropped by sock_put() later. */
static inline void sdp_conn_unname(struct sdp_conn *conn, enum sdp_ref who)
{
	WARN_ON_ONCE(!test_and_clear_bit(who, &conn->refs));
}

static inline void sdp_conn_put(struct sdp_conn *conn, enum sdp_ref who)
{
	sdp_conn_unname(conn, who);
	sock_put(&conn->sk);
}

/* getsockname() shows a port that was released, but it is not to be used. */
static inline void sdp_conn_forget_port(struct sdp_conn *conn)
{
	if (!conn->bound)
		conn->base.local.port = 0;
}

/* An identifier that is there may be one that could not be bound. */
static inline bool sdp_conn_is_bound(const struct sdp_conn *conn)
{
	return conn->link.id && conn->id_bound;
}

/* Interface of a cm_id's address, 0 = not known yet. */
static inline int *sdp_cm_netdev(struct rdma_cm_id *id)
{
	return &id->route.addr.dev_addr.bound_dev_if;
}

/* Whether an identifier's interface is the one of SO_BINDTODEVICE. */
static inline bool sdp_cm_on_bound_netdev(const struct sdp_conn *conn,
					  struct rdma_cm_id *id)
{
	int want = READ_ONCE(conn->sk.sk_bound_dev_if);

	return !want || *sdp_cm_netdev(id) == want;
}

void sdp_conn_init(struct sdp_conn *conn, const struct sdp_conn_ops *ops);
int sdp_conn_create_id(struct sdp_conn *conn);
int sdp_conn_setup(struct sdp_conn *conn, struct rdma_cm_id *id);
void sdp_flow_choose(struct sdp_conn *conn, u16 peer);
void sdp_conn_destroy_qp(struct sdp_conn *conn, struct rdma_cm_id *id);
void sdp_conn_free(struct sdp_conn *conn);
void sdp_conn_catch_up(struct sdp_conn *conn);
void sdp_conn_process(struct sdp_conn *conn, enum sdp_flush cause);
void sdp_conn_timer(struct sdp_conn *conn, enum sdp_timer which);
void sdp_conn_fill_param(const struct sdp_conn *conn,
			 struct rdma_conn_param *param);

/* join.c */
void sdp_join_begin(struct sdp_conn *conn);
int sdp_join_answered(struct sdp_conn *conn, const struct sdp_hello_ack *ack);

/* teardown.c */
void sdp_conn_teardown(struct work_struct *work);
void sdp_conn_release_id(struct work_struct *work);
void sdp_conn_linger_end(struct sdp_conn *conn);
void sdp_conn_disconnected(struct sdp_conn *conn);
void sdp_conn_lost(struct sdp_conn *conn);
void sdp_conn_flush(struct sdp_conn *conn);
void sdp_conn_destroy_id(struct sdp_conn *conn);
void sdp_conn_rollback(struct sdp_conn *conn);
void sdp_conn_broken(struct sock *sk);

#endif /* _SDP_CONN_H */
