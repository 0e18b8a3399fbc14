// SPDX-License-Identifier: GPL-2.0
/*
 * Whether the peer is still there: a wait for it must not last for ever, and user
 * space may ask for shorter limits (SO_KEEPALIVE, TCP_USER_TIMEOUT).
 *
 * All probes are sent by sdp_tx_probe(): as a write of no bytes, or as a message
 * where the completion of a write says nothing of the peer (iWARP).  The device
 * repeats either by itself and fails the connection when there was no answer for
 * long enough; what is decided here can only be sooner than that.
 */
#include <linux/jiffies.h>

#include "base/base.h"
#include "stream/stream.h"
#include "conn.h"
#include "keepalive.h"

/* When a probe is tried again that found no place in the send queue. */
#define SDP_PROBE_RETRY		(HZ / 2)

/* When the first message is sent again, and how often: until 1.7 s have passed. */
#define SDP_GREET_AGAIN		(HZ / 50)
#define SDP_GREETINGS		4

static bool sdp_alive_connected(const struct sdp_conn *conn)
{
	return conn->link.qp && !sdp_in_state(&conn->sk, SDPF_CONNECTING);
}

/**
 * sdp_alive_persist() - probe a peer that lets us wait
 * @conn: connection of a locked socket
 *
 * Data that waits for credits leaves nothing on the wire whose loss would show that
 * the peer is gone, so it is probed from time to time, as TCP probes a closed window.
 * An answer that is overdue is an answer too.
 */
void sdp_alive_persist(struct sdp_conn *conn)
{
	sdp_owned(&conn->sk);
	if (!conn->link.id || !sdp_tx_waiting(&conn->stream))
		return;
	sdp_link_poll(&conn->link);
	if (sdp_tx_probe_overdue(&conn->stream)) {
		sdp_link_end(&conn->link, -ETIMEDOUT);
		return;
	}
	sdp_tx_probe(&conn->stream);
	sdp_timer_arm(&conn->sk, SDP_TIMER_PERSIST, SDP_PERSIST_PERIOD);
}

/* Ends a connection that has waited for so long; returns whether it has. */
static bool sdp_alive_expire(struct sdp_conn *conn, unsigned long waited, unsigned long limit)
{
	if (waited < limit)
		return false;
	sdp_link_end(&conn->link, -ETIMEDOUT);
	return true;
}

/**
 * sdp_alive_user_timeout() - give up data that is not acknowledged
 * @conn: connection of a locked socket
 *
 * Completions are requested now and then only, so that data may have arrived unnoticed.
 * At half of the time a probe is sent: its completion covers all that was posted before.
 */
void sdp_alive_user_timeout(struct sdp_conn *conn)
{
	unsigned long limit = sdp_alive_user_limit(&conn->stream);
	unsigned long waited = jiffies - conn->stream.tx.since;

	sdp_owned(&conn->sk);
	if (!conn->base.opt.user_timeout || !sdp_alive_connected(conn) ||
	    !sdp_tx_outstanding(&conn->stream))
		return;
	sdp_link_poll(&conn->link);
	if (sdp_alive_expire(conn, waited, limit))
		return;
	if (waited >= limit / 2)
		sdp_tx_probe(&conn->stream);
	else
		limit /= 2;
	sdp_timer_arm(&conn->sk, SDP_TIMER_USER, limit - waited);
}

/* How long a probe of an idle connection may be unanswered. */
static unsigned long sdp_alive_keep_limit(const struct sdp_conn *conn)
{
	unsigned long intvl = sdp_option_keepintvl(&conn->sk) * HZ;
	unsigned long idle = sdp_option_keepidle(&conn->sk) * HZ;
	unsigned long user = msecs_to_jiffies(conn->base.opt.user_timeout);

	if (!user)
		return sdp_option_keepcnt(&conn->sk) * intvl;
	return user > idle + intvl ? user - idle : intvl;
}

/* Asks an idle peer; returns when to look again. */
static unsigned long sdp_alive_keep_probe(struct sdp_conn *conn)
{
	const struct sdp_tx *tx = &conn->stream.tx;
	unsigned long limit = sdp_alive_keep_limit(conn);
	unsigned long intvl = sdp_option_keepintvl(&conn->sk) * HZ;
	unsigned long waited;

	sdp_tx_probe(&conn->stream);
	if (!tx->probing)
		return SDP_PROBE_RETRY;
	waited = jiffies - tx->probe_at;
	if (sdp_alive_expire(conn, waited, limit))
		return intvl;
	return min(intvl, limit - waited);
}

/**
 * sdp_alive_keepalive() - probe a peer that is idle
 * @conn: connection of a locked socket
 *
 * As with TCP, data in flight is watched by other timers.
 */
void sdp_alive_keepalive(struct sdp_conn *conn)
{
	unsigned long idle = jiffies - conn->stream.stats.last_heard;
	unsigned long next = sdp_option_keepidle(&conn->sk) * HZ;

	sdp_owned(&conn->sk);
	if (!conn->base.opt.keepalive || !sdp_alive_connected(conn))
		return;
	sdp_link_poll(&conn->link);
	if (!sdp_tx_outstanding(&conn->stream)) {
		if (idle < next)
			next -= idle;
		else
			next = sdp_alive_keep_probe(conn);
	}
	sdp_timer_arm(&conn->sk, SDP_TIMER_KEEPALIVE, next);
}

/**
 * sdp_alive_keep() - begin or cease to look after an idle peer, as SO_KEEPALIVE says
 * @conn: connection of a locked socket (by its owner or in softirq)
 */
void sdp_alive_keep(struct sdp_conn *conn)
{
	sdp_owned(&conn->sk);
	if (!conn->base.opt.keepalive)
		sdp_timer_disarm(&conn->sk, SDP_TIMER_KEEPALIVE);
	else if (sdp_alive_connected(conn))
		sdp_timer_arm_once(&conn->sk, SDP_TIMER_KEEPALIVE,
				   sdp_option_keepidle(&conn->sk) * HZ);
}

/* Whether the peer has to have our first message, and we do not know that it has. */
static bool sdp_alive_unheard(const struct sdp_conn *conn)
{
	return sdp_alive_connected(conn) && !conn->stream.stats.msgs_in &&
	       conn->link.dev->initiator_speaks_first;
}

/* Less often each time: a peer may just have nothing to say. */
static void sdp_alive_greet_later(struct sdp_conn *conn)
{
	if (sdp_alive_unheard(conn) && conn->greetings < SDP_GREETINGS)
		sdp_timer_arm(&conn->sk, SDP_TIMER_GREETING,
			      SDP_GREET_AGAIN << 2 * conn->greetings++);
}

/**
 * sdp_alive_greet() - speak again to a peer that we have heard nothing from
 * @conn: connection of a locked socket
 *
 * The handler of SDP_TIMER_GREETING at the initiator's side, with iWARP.  The kernel's
 * software iWARP sends its answer before it has the socket (siw_accept()), and does not
 * look at what the initiator says in between, until more comes.
 */
void sdp_alive_greet(struct sdp_conn *conn)
{
	sdp_owned(&conn->sk);
	if (!sdp_alive_unheard(conn))
		return;
	conn->stream.tx.empty_due = true;
	sdp_output(conn, SDP_FLUSH_TIMER);
	sdp_alive_greet_later(conn);
}

/**
 * sdp_alive_start() - watch a connection that has just been established
 * @conn: connection of a locked socket
 */
void sdp_alive_start(struct sdp_conn *conn)
{
	sdp_owned(&conn->sk);
	conn->stream.stats.last_heard = jiffies;
	sdp_alive_keep(conn);
	conn->greetings = 0;
	sdp_alive_greet_later(conn);
}

/**
 * sdp_alive_set_keepalive() - SO_KEEPALIVE is about to be set
 * @sk: socket, locked by the socket layer (sock::sk_lock)
 * @on: whether it will be on
 *
 * Context: any; BPF programs of control groups may do so while we own the socket.
 */
void sdp_alive_set_keepalive(struct sock *sk, int on)
{
	struct sdp_conn *conn = sdp_conn(sk);

	local_bh_disable();
	sdp_bh_lock_sock(sk);
	WRITE_ONCE(conn->base.opt.keepalive, on);
	if (sdp_sock_owned(sk)) {
		set_bit(SDP_CONN_KEEPALIVE, &conn->link.flags);
		set_bit(SDP_CONN_DEFERRED, &conn->link.flags);
	} else {
		sdp_alive_keep(conn);
	}
	sdp_bh_unlock_sock(sk);
	local_bh_enable();
}

/**
 * sdp_alive_options_changed() - have the timers go by new values
 * @conn: connection of a locked socket
 */
void sdp_alive_options_changed(struct sdp_conn *conn)
{
	sdp_owned(&conn->sk);
	if (!sdp_alive_connected(conn))
		return;
	/* They find out by themselves what is due when. */
	if (conn->base.opt.keepalive)
		sdp_timer_arm(&conn->sk, SDP_TIMER_KEEPALIVE, 0);
	sdp_timer_arm(&conn->sk, SDP_TIMER_USER, 0);
}

/**
 * sdp_alive_begin_user_timeout() - there is a limit from now on, and was none before
 * @conn: connection of a locked socket
 *
 * What a provider has copied may have arrived long ago: nobody has asked.  Its time begins
 * now.
 */
void sdp_alive_begin_user_timeout(struct sdp_conn *conn)
{
	sdp_owned(&conn->sk);
	if (sdp_tx_integrated(&conn->stream))
		conn->stream.tx.since = jiffies;
}
