// SPDX-License-Identifier: GPL-2.0
/*
 * What becomes due on a connection.
 */
#include "base/base.h"
#include "conn.h"
#include "request.h"

static void sdp_conn_timer_hold(struct sdp_conn *conn)
{
	sdp_tx_force(conn, SDP_FLUSH_TIMER);
}

static void sdp_conn_timer_quiet(struct sdp_conn *conn)
{
	sdp_tx_trim(&conn->stream);
}

static void sdp_conn_timer_flush(struct sdp_conn *conn)
{
	sdp_tx_progress(conn, SDP_FLUSH_TIMER);
}

static void sdp_conn_timer_async(struct sdp_conn *conn)
{
	sdp_zasync_watch(&conn->zcopy);
}

static void sdp_conn_timer_read(struct sdp_conn *conn)
{
	sdp_zasync_read_watch(&conn->zcopy);
}

static void sdp_conn_timer_update(struct sdp_conn *conn)
{
	sdp_tx_update(conn, SDP_FLUSH_INTERRUPT);
}

static void sdp_conn_timer_greeting(struct sdp_conn *conn)
{
	sdp_request_check_greeting(conn);
	sdp_alive_greet(conn);
}

static void (*const sdp_conn_timers[__SDP_TIMER_MAX])(struct sdp_conn *conn) = {
	[SDP_TIMER_HOLD] = sdp_conn_timer_hold,
	[SDP_TIMER_PERSIST] = sdp_alive_persist,
	[SDP_TIMER_USER] = sdp_alive_user_timeout,
	[SDP_TIMER_KEEPALIVE] = sdp_alive_keepalive,
	[SDP_TIMER_QUIET] = sdp_conn_timer_quiet,
	[SDP_TIMER_FLUSH] = sdp_conn_timer_flush,
	[SDP_TIMER_UPDATE] = sdp_conn_timer_update,
	[SDP_TIMER_RELIEF] = sdp_tx_relieve,
	[SDP_TIMER_GREETING] = sdp_conn_timer_greeting,
	[SDP_TIMER_LINGER_END] = sdp_conn_linger_end,
	[SDP_TIMER_ASYNC] = sdp_conn_timer_async,
	[SDP_TIMER_READ] = sdp_conn_timer_read,
};

/**
 * sdp_conn_timer() - a timer of a connection has expired
 * @conn: connection of a locked socket
 * @which: one that the layers above do not handle themselves
 *
 * Context: process context.
 */
void sdp_conn_timer(struct sdp_conn *conn, enum sdp_timer which)
{
	sdp_owned(&conn->sk);
	if (!WARN_ON_ONCE(!sdp_conn_timers[which]))
		sdp_conn_timers[which](conn);
}
