// SPDX-License-Identifier: GPL-2.0
/*
 * What a connection has its socket do.
 */
#include "conn/conn.h"
#include "socket.h"

static struct sdp_sock *sdp_event_sk(struct sdp_conn *conn)
{
	return container_of(conn, struct sdp_sock, conn);
}

static struct sdp_conn *sdp_event_listener(struct sdp_conn *conn, int netdev)
{
	struct sdp_sock *found = sdp_share_pick(sdp_event_sk(conn), netdev);

	return found ? &found->conn : NULL;
}

static struct sdp_conn *sdp_event_child(struct sdp_conn *listener,
					struct rdma_cm_id *id,
					enum sdp_reject_reason *why)
{
	struct sdp_sock *child =
		sdp_accept_child(sdp_event_sk(listener), id, why);

	return child ? &child->conn : NULL;
}

static void sdp_event_answered(struct sdp_conn *conn)
{
	sdp_accept_answered(sdp_event_sk(conn));
}

static void sdp_event_connected(struct sdp_conn *conn)
{
	sdp_fallback_not_needed(sdp_event_sk(conn));
	sdp_sock_connected(sdp_event_sk(conn));
}

static void sdp_event_established(struct sdp_conn *conn)
{
	sdp_accept_established(sdp_event_sk(conn));
}

static void sdp_event_first_data(struct sdp_conn *conn)
{
	sdp_accept_first_data(sdp_event_sk(conn));
}

static void sdp_event_fin_received(struct sdp_conn *conn)
{
	sdp_sock_fin_received(sdp_event_sk(conn));
}

static void sdp_event_fin_acked(struct sdp_conn *conn)
{
	sdp_sock_fin_acked(sdp_event_sk(conn));
}

static void sdp_event_failed(struct sdp_conn *conn, int reason)
{
	sdp_sock_failed(sdp_event_sk(conn), reason);
}

static void sdp_event_ended(struct sdp_conn *conn, int reason)
{
	sdp_sock_ended(sdp_event_sk(conn), reason);
	sdp_sock_keep_port(sdp_event_sk(conn));
}

const struct sdp_conn_ops sdp_sock_events = {
	.listener = sdp_event_listener,
	.child = sdp_event_child,
	.answered = sdp_event_answered,
	.connected = sdp_event_connected,
	.established = sdp_event_established,
	.first_data = sdp_event_first_data,
	.fin_received = sdp_event_fin_received,
	.fin_acked = sdp_event_fin_acked,
	.failed = sdp_event_failed,
	.ended = sdp_event_ended,
};
