// SPDX-License-Identifier: GPL-2.0
/*
 * When the send side has to look again: the program's calls, and the timers
 * that do so in their place.
 */
#include <linux/hrtimer.h>
#include <linux/jiffies.h>

#include "base/base.h"
#include "stream/stream.h"
#include "conn.h"

/* A program that has been quiet for so long begins a new burst. */
#define SDP_TX_QUIET_WRITER	(HZ / 100)

/**
 * sdp_tx_flush() - send what waited for the rest that the program promised
 * @conn: connection of a locked socket
 */
void sdp_tx_flush(struct sdp_conn *conn)
{
	sdp_owned(&conn->sk);
	conn->stream.tx.hold = false;
	sdp_output(conn, SDP_FLUSH_CALL);
}

/**
 * sdp_tx_force() - send what waited, whatever it waited for
 * @conn: connection of a locked socket
 * @cause: what has come to look
 */
void sdp_tx_force(struct sdp_conn *conn, enum sdp_flush cause)
{
	struct sdp_tx *tx = &conn->stream.tx;

	sdp_owned(&conn->sk);
	if (tx->wait_head != tx->wait_tail)
		sdp_tx_msg(tx, tx->wait_head - 1)->open = false;
	tx->hold = false;
	sdp_output(conn, cause);
}

/**
 * sdp_tx_progress() - the program has come by
 * @conn: connection of a locked socket
 */
void sdp_tx_progress(struct sdp_conn *conn)
{
	sdp_owned(&conn->sk);
	if (unlikely(conn->stream.tx.stalled))
		sdp_output(conn, SDP_FLUSH_CALL);
}

/**
 * sdp_tx_write_begins() - the program is about to write
 * @conn: connection of a locked socket
 */
void sdp_tx_write_begins(struct sdp_conn *conn)
{
	struct sdp_tx *tx = &conn->stream.tx;

	sdp_owned(&conn->sk);
	tx->more = true;
	tx->joined = false;
	if (sdp_tx_may_append(&conn->stream)) {
		sdp_tx_count_joined(&conn->stream);
		tx->joined = sdp_tx_waits_by_itself(&conn->stream);
	} else if (time_after(jiffies, conn->stream.stats.last_out +
					       SDP_TX_QUIET_WRITER)) {
		sdp_burst_end(&tx->burst);
	}
}

/**
 * sdp_tx_write_ends() - the program has written what it wanted, or what fits
 * @conn: connection of a locked socket
 *
 * What has only made a waiting message longer waits with it: for credits, for a
 * completion or for the end of its time, which all send it.  Unless it is full
 * now, or what was to be waited for has changed.
 */
void sdp_tx_write_ends(struct sdp_conn *conn)
{
	struct sdp_tx *tx = &conn->stream.tx;

	sdp_owned(&conn->sk);
	tx->more = false;
	if (!tx->joined || !sdp_tx_may_append(&conn->stream))
		sdp_output(conn, SDP_FLUSH_CALL);
}

/**
 * sdp_tx_pause_here() - the program looks for the peer's answer, or waits for it
 * @conn: connection of a locked socket (by its owner or in softirq)
 *
 * What it has written is all that it will write now.
 */
void sdp_tx_pause_here(struct sdp_conn *conn)
{
	sdp_owned(&conn->sk);
	sdp_burst_end(&conn->stream.tx.burst);
	sdp_output(conn, SDP_FLUSH_CALL);
}

/**
 * sdp_tx_pause_poll() - a program polls for the peer's answer
 * @conn: connection of a socket that is not locked
 *
 * If a call of another thread is in progress it may be one that writes on.
 *
 * Context: process context.
 */
void sdp_tx_pause_poll(struct sdp_conn *conn)
{
	struct sock *sk = &conn->sk;

	if (!READ_ONCE(conn->stream.tx.burst.running))
		return;
	local_bh_disable();
	sdp_bh_lock_sock(sk);
	if (!sdp_sock_owned(sk))
		sdp_tx_pause_here(conn);
	sdp_bh_unlock_sock(sk);
	local_bh_enable();
}

/**
 * sdp_tx_late() - the program did not come by for long
 * @conn: connection of a locked socket
 *
 * The handler of SDP_TIMER_FLUSH.
 */
void sdp_tx_late(struct sdp_conn *conn)
{
	sdp_owned(&conn->sk);
	if (conn->stream.tx.stalled)
		sdp_output(conn, SDP_FLUSH_TIMER);
}

/**
 * sdp_tx_end_wait() - what is held back has waited for company
 * @conn: connection of a locked socket (by its owner or in softirq)
 * @cause: what has come to look
 */
void sdp_tx_end_wait(struct sdp_conn *conn, enum sdp_flush cause)
{
	struct sdp_tx *tx = &conn->stream.tx;
	bool held = tx->wait_head != tx->wait_tail;

	sdp_owned(&conn->sk);
	if (!tx->burst.running)
		return;
	if (sdp_burst_expired(&tx->burst, held))
		sdp_tx_count_cause(conn, SDP_FLUSH_PAUSE);
	if (held)
		sdp_output(conn, cause);
}

/**
 * sdp_tx_pause() - the timer of what is held back
 * @timer: timer of a connection, which holds its socket
 *
 * Context: softirq.
 * Return: that the timer is not to run again.
 */
enum hrtimer_restart sdp_tx_pause(struct hrtimer *timer)
{
	struct sdp_conn *conn = container_of(timer, struct sdp_conn, pause);
	struct sock *sk = &conn->sk;

	sdp_bh_lock_sock(sk);
	if (sdp_sock_owned(sk)) {
		set_bit(SDP_CONN_PAUSE, &conn->link.flags);
		set_bit(SDP_CONN_DEFERRED, &conn->link.flags);
	} else {
		sdp_tx_end_wait(conn, SDP_FLUSH_INTERRUPT);
	}
	sdp_bh_unlock_sock(sk);
	sock_put(sk);
	return HRTIMER_NORESTART;
}

/**
 * sdp_tx_relieve() - make room for a peer that nobody reads from
 * @conn: connection of a locked socket
 *
 * The handler of SDP_TIMER_RELIEF.
 *
 * Context: process context, may sleep for memory.
 */
void sdp_tx_relieve(struct sdp_conn *conn)
{
	struct sdp_stream *st = &conn->stream;

	sdp_owned(&conn->sk);
	if (!sdp_rx_relieve(st))
		return;
	if (st->tx.empty_due)
		sdp_output(conn, SDP_FLUSH_INTERRUPT);
	if (sdp_rx_full(st) && sdp_rx_readable(st))
		conn->sk.sk_data_ready(&conn->sk);
}
