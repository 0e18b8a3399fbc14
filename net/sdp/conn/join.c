// SPDX-License-Identifier: GPL-2.0
/*
 * Whether both ends of a connection are in this kernel, and do without the device.
 *
 * The device has set up the connection, with all that decides who may talk to whom, and
 * ends it.  In between nothing goes through it: see stream/local.c.
 */
#include "base/base.h"
#include "rdma/rdma.h"
#include "stream/stream.h"
#include "conn.h"

/* The queue pair of iWARP is the life line of its connection, and may not be in error. */
static bool sdp_join_possible(const struct sdp_conn *conn)
{
	return READ_ONCE(sdp_net(sock_net(&conn->sk))->local) &&
	       !conn->link.dev->initiator_speaks_first;
}

static void sdp_join_done(struct sdp_conn *conn)
{
	/* Nothing comes by the completion queue that could be polled for. */
	sdp_busy_detach(&conn->link);
	SDP_INC_STATS(sock_net(&conn->sk), SDP_MIB_LOCALENDS);
	sdp_dbg(&conn->sk, "the peer is in this kernel");
}

/* Whoever is asked knows at once. */
static void sdp_join_claim(struct sdp_conn *conn, const struct sdp_hello *asked)
{
	if (!(asked->ext_features & SDP_FEAT_LOCAL) || !asked->token ||
	    !sdp_pair_claim(&conn->stream, asked))
		return;
	conn->stream.features |= SDP_FEAT_LOCAL;
	sdp_join_done(conn);
}

/**
 * sdp_join_begin() - find the other end of a connection in this kernel, or let it find us
 * @conn: connection that has its device, features and buffers, none of which is posted
 *
 * Context: under the handler mutex; may sleep.
 */
void sdp_join_begin(struct sdp_conn *conn)
{
	if (!sdp_join_possible(conn))
		return;
	if (sdp_in_state(&conn->sk, TCPF_SYN_RECV))
		sdp_join_claim(conn, &conn->asked.hello);
	else if (sdp_pair_offer(&conn->stream))
		conn->stream.features |= SDP_FEAT_LOCAL;
}

/**
 * sdp_join_answered() - the peer has said whether it is in this kernel
 * @conn: connection that has asked, and has not taken the answer yet
 * @ack: that answer
 *
 * Then the queue pair is put in error: it gives its receive buffers back, so that nothing
 * comes that way, and what becomes of their memory is for the two ends alone.
 *
 * Context: under the handler mutex; may sleep.
 * Return: 0 or a negative errno, which ends the connection.
 */
int sdp_join_answered(struct sdp_conn *conn, const struct sdp_hello_ack *ack)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	if (!(conn->stream.features & ack->ext_features & SDP_FEAT_LOCAL)) {
		sdp_pair_leave(&conn->stream);
		return 0;
	}
	if (!sdp_pair_confirm(&conn->stream, ack))
		return -EPROTO;
	sdp_join_done(conn);
	return ib_modify_qp(conn->link.qp, &attr, IB_QP_STATE);
}
