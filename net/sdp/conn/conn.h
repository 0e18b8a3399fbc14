/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One RDMA connection: cm_id, queue pair, completion queue, and the buffers.
 */
#ifndef _SDP_CONN_H
#define _SDP_CONN_H

#include <linux/completion.h>
#include <linux/hrtimer.h>
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
#include "output.h"
#include "port.h"
#include "route.h"
#include "share.h"
#include "siw_netns.h"

struct sdp_sock;

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
 * struct sdp_conn - one RDMA connection, part of its socket
 * @link: the RDMA side: identifier, device, queue pair
 * @stream: the copy path, and flow control
 * @disconn_sent: the device has sent our DisConn
 * @id_other: a second identifier for the other family, see sdp_bind_split()
 * @id_bound: the identifier in @link, if there is one, has the socket's port
 * @flow_reason: why it is not the one that was wanted
 * @ack: the peer's HelloAck, valid once SDP_CONN_ANSWERED is set
 * @retry: the peer asked us to try again later
 * @hello: sets the connection up and sends our Hello, once the route is known
 * @teardown: releases everything above, in process context
 * @farewell: releases the identifier, if that had to wait
 * @grow: allocates receive buffers, in process context
 * @pause: sends what waits for company; holds the socket while it is pending
 * @zcopy: transfers without a copy
 */
struct sdp_conn {
	struct sdp_link link;
	struct sdp_stream stream;
	struct sdp_done disconn_sent;
	struct rdma_cm_id *id_other;
	bool id_bound;
	enum sdp_flow_reason flow_reason;
	struct sdp_hello_ack ack;
	bool retry;
	struct work_struct hello;
	struct work_struct teardown;
	struct work_struct farewell;
	struct work_struct grow;
	struct hrtimer pause;
	struct sdp_zcopy zcopy;
};

/* An identifier that is there may be one that could not be bound. */
static inline bool sdp_conn_is_bound(const struct sdp_conn *conn)
{
	return conn->link.id && conn->id_bound;
}

void sdp_conn_init(struct sdp_sock *ssk);
int sdp_conn_create_id(struct sdp_sock *ssk);
int sdp_conn_setup(struct sdp_sock *ssk, struct rdma_cm_id *id);
void sdp_conn_destroy_qp(struct sdp_sock *ssk, struct rdma_cm_id *id);
void sdp_conn_free(struct sdp_sock *ssk);
void sdp_conn_process(struct sdp_sock *ssk);
void sdp_conn_fill_param(const struct sdp_conn *conn,
			 struct rdma_conn_param *param);

/* teardown.c */
void sdp_conn_teardown(struct work_struct *work);
void sdp_conn_farewell(struct work_struct *work);
void sdp_conn_part(struct sdp_sock *ssk);
void sdp_conn_told(struct sdp_sock *ssk);
void sdp_conn_lost(struct sdp_sock *ssk);
void sdp_conn_flush(struct sdp_sock *ssk);
void sdp_conn_destroy_id(struct sdp_sock *ssk);
void sdp_conn_retreat(struct sdp_sock *ssk);
void sdp_conn_broken(struct sock *sk);

/* negotiate.c */
void sdp_flow_begin(struct sdp_sock *ssk);
void sdp_flow_choose(struct sdp_sock *ssk, u16 peer);

#endif /* _SDP_CONN_H */
