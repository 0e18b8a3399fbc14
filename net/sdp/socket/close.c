// SPDX-License-Identifier: GPL-2.0
/*
 * How connections close: DisConn in each direction, aborts, orphans (IBTA
 * annex A4, connection teardown).
 *
 *	shutdown(WR), close()	DisConn arrived there	DisConn came from there
 *
 *	ESTABLISHED -> FIN_WAIT1 -> FIN_WAIT2		ESTABLISHED -> CLOSE_WAIT
 *	CLOSE_WAIT -> LAST_ACK -> CLOSE			FIN_WAIT1 -> CLOSING
 *			CLOSING -> CLOSE		FIN_WAIT2 -> CLOSE
 */
#include <linux/jiffies.h>
#include <linux/net.h>

#include "base/base.h"
#include "stream/stream.h"
#include "conn/conn.h"
#include "accept.h"
#include "socket.h"

/* Both directions are closed and the peer knows: nothing can get lost now. */
static void sdp_sock_both_closed(struct sdp_sock *ssk)
{
	sdp_set_state(&ssk->sk, SDP_TIME_WAIT);
	sdp_link_end(&ssk->conn.link, 0);
}

/* How many bytes have left, wraps. */
static u32 sdp_sock_passed(const struct sdp_sock *ssk)
{
	const struct sdp_tx *tx = &ssk->conn.stream.tx;

	return tx->ring.tail + tx->integrated_acked + sdp_zsend_passed(&ssk->conn.zcopy);
}

/*
 * An orphan may stand still only so long.  Once all has arrived it only waits
 * for the peer's DisConn, which is for TCP_LINGER2 to limit.
 */
static void sdp_sock_watch_orphan(struct sdp_sock *ssk)
{
	int seconds = READ_ONCE(sdp_net(sock_net(&ssk->sk))->fin_timeout);

	if (ssk->sk.sk_state == TCP_FIN_WAIT2)
		seconds = sdp_option_linger2(&ssk->sk);
	if (seconds < 0) {
		sdp_link_end(&ssk->conn.link, -ECONNABORTED);
		return;
	}
	ssk->progress = sdp_sock_passed(ssk);
	ssk->deadline = jiffies + seconds * HZ;
	sdp_timer_arm(&ssk->sk, SDP_TIMER_ORPHAN, HZ);
}

/**
 * sdp_sock_fin_received() - the peer will send no more data
 * @ssk: locked socket (by its owner or in softirq)
 */
void sdp_sock_fin_received(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;

	sdp_owned(sk);
	ssk->conn.stream.fin_received = true;
	WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | RCV_SHUTDOWN);
	ssk->conn.stream.done = true;
	switch (sk->sk_state) {
	case TCP_ESTABLISHED:
		sdp_set_state(sk, TCP_CLOSE_WAIT);
		break;
	case TCP_FIN_WAIT1:
		sdp_set_state(sk, TCP_CLOSING);
		break;
	case TCP_FIN_WAIT2:
		sdp_sock_both_closed(ssk);
		break;
	}
	if (sock_flag(sk, SOCK_DEAD))
		return;
	sdp_accept_first_data(ssk);
	sk->sk_state_change(sk);
	if (sk->sk_shutdown == SHUTDOWN_MASK)
		sk_wake_async(sk, SOCK_WAKE_WAITD, POLL_HUP);
	else
		sk_wake_async(sk, SOCK_WAKE_WAITD, POLL_IN);
}

/**
 * sdp_sock_fin_acked() - our DisConn, and so all our data, has arrived
 * @ssk: locked socket (by its owner or in softirq)
 */
void sdp_sock_fin_acked(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;

	sdp_owned(sk);
	ssk->conn.stream.fin_acked = true;
	switch (sk->sk_state) {
	case TCP_FIN_WAIT1:
		sdp_set_state(sk, TCP_FIN_WAIT2);
		break;
	case TCP_CLOSING:
	case TCP_LAST_ACK:
		sdp_sock_both_closed(ssk);
		break;
	}
	if (sock_flag(sk, SOCK_DEAD))
		sdp_sock_watch_orphan(ssk);
	/* Lingering close() waits for this. */
	sk->sk_state_change(sk);
}

/* Sends DisConn behind all data. */
static void sdp_sock_queue_fin(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;

	if (ssk->conn.stream.fin_queued)
		return;
	if (sk->sk_state == TCP_ESTABLISHED)
		sdp_set_state(sk, TCP_FIN_WAIT1);
	else if (sk->sk_state == TCP_CLOSE_WAIT)
		sdp_set_state(sk, TCP_LAST_ACK);
	else
		return;
	ssk->conn.stream.fin_queued = true;
	sdp_output(&ssk->conn, SDP_FLUSH_CALL);
}

/**
 * sdp_sock_check_orphan() - give up an orphan that makes no progress
 * @ssk: locked socket
 *
 * It has no file any more, so that no caller would notice.  A peer that reads on, however
 * slowly, gets all data.
 */
void sdp_sock_check_orphan(struct sdp_sock *ssk)
{
	sdp_owned(&ssk->sk);
	if (!ssk->conn.link.id)
		return;
	if (ssk->progress != sdp_sock_passed(ssk))
		sdp_sock_watch_orphan(ssk);
	else if (time_after(jiffies, ssk->deadline))
		sdp_link_end(&ssk->conn.link, -ETIMEDOUT);
	else
		sdp_timer_arm(&ssk->sk, SDP_TIMER_ORPHAN, HZ);
}

/*
 * Limits on open files do not count it from now on.  One too many is reset, and its peer
 * is notified once.
 */
static void sdp_sock_become_orphan(struct sdp_sock *ssk)
{
	struct sdp_net *sn = sdp_net(sock_net(&ssk->sk));

	ssk->orphan = true;
	sdp_sock_watch_orphan(ssk);
	if (atomic_inc_return(&sn->orphans) <= READ_ONCE(sn->max_orphans) ||
	    !ssk->conn.link.id)
		return;
	SDP_INC_STATS(sock_net(&ssk->sk), SDP_MIB_ORPHANDROPS);
	sdp_dbg(&ssk->sk, "reset: more orphans than max_orphans");
	set_bit(SDP_CONN_DISCONNECTED, &ssk->conn.link.flags);
	sdp_link_end(&ssk->conn.link, -ECONNABORTED);
}

static long sdp_sock_linger(const struct sock *sk)
{
	if (!sock_flag(sk, SOCK_LINGER) || (current->flags & PF_EXITING))
		return 0;
	return sk->sk_lingertime;
}

/* As with TCP: unread data, or a linger time of zero, makes it a reset. */
static bool sdp_sock_must_abort(const struct sdp_sock *ssk)
{
	return ssk->conn.stream.rx.bytes || sdp_zsink_busy(&ssk->conn.zcopy.sink) ||
	       (sock_flag(&ssk->sk, SOCK_LINGER) && !ssk->sk.sk_lingertime);
}

/* Waits until the peer has all data and the end; gives up the lock meanwhile. */
static void sdp_wait_close(struct sock *sk, long timeo)
{
	const u32 closing = TCPF_FIN_WAIT1 | TCPF_CLOSING | TCPF_LAST_ACK;
	DEFINE_WAIT_FUNC(wait, woken_wake_function);

	sdp_sock_owned_by_me(sk);
	if (!timeo)
		return;
	add_wait_queue(sk_sleep(sk), &wait);
	while (sdp_in_state(sk, closing) && !signal_pending(current) && timeo)
		sdp_wait_event(sk, &timeo, !sdp_in_state(sk, closing), &wait);
	remove_wait_queue(sk_sleep(sk), &wait);
}

static void sdp_sock_close_connected(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;

	if (sdp_sock_must_abort(ssk) || sdp_in_state(sk, SDPF_CONNECTING)) {
		sdp_link_end(&ssk->conn.link, -ECONNABORTED);
		return;
	}
	sdp_sock_queue_fin(ssk);
	sdp_wait_close(sk, sdp_sock_linger(sk));
}

/**
 * sdp_sock_close() - the last file descriptor is gone
 * @sk: socket, not locked, which the caller holds
 *
 * Waits only if SO_LINGER says so, or for what reads have returned early.  Data that was
 * written is delivered in the background.
 */
void sdp_sock_close(struct sock *sk)
{
	struct sdp_sock *ssk = sdp_sk(sk);
	bool connecting, idle;

	sdp_lock_sock(sk);
	sdp_integrated_pull(&ssk->conn.stream);
	sdp_zasync_read_settle(&ssk->conn.zcopy);
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	/* Between two attempts to connect there is nothing to tear down. */
	if (sk->sk_state == TCP_LISTEN) {
		sdp_listen_stop(sk);
	} else if (sk->sk_state == TCP_SYN_SENT && !ssk->conn.link.id) {
		sdp_timer_disarm_all(&ssk->sk);
		sdp_set_state(sk, TCP_CLOSE);
	}
	connecting = sdp_in_state(sk, TCPF_SYN_SENT);
	if (sk->sk_state != TCP_CLOSE)
		sdp_sock_close_connected(ssk);
	sock_orphan(sk);
	idle = sk->sk_state == TCP_CLOSE;
	if (!idle)
		sdp_sock_become_orphan(ssk);
	sdp_release_sock(sk);

	sdp_share_leave(ssk);
	if (idle && ssk->conn.link.id)
		sdp_conn_destroy_id(&ssk->conn);
	/* As with TCP no request is in flight any more after close(). */
	if (connecting)
		sdp_conn_flush(&ssk->conn);
}

static bool sdp_sock_needs_reset(const struct sock *sk)
{
	return sdp_in_state(sk, SDPF_SEND | TCPF_FIN_WAIT1 | TCPF_FIN_WAIT2 |
				SDPF_CONNECTING);
}

/* Ends whatever the socket does; returns when the last of it is gone. */
static void sdp_sock_stop(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;
	bool rollback;

	if (sk->sk_state == TCP_LISTEN) {
		sdp_listen_stop(sk);
		sdp_sock_keep_port(ssk);
		return;
	}
	/* An attempt to connect that is just failing is not to be repeated. */
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	/*
	 * A connection in this state has a device.  Without one another thread is in
	 * sdp_sock_rollback(), and keeps the id, if there is one.
	 */
	rollback = sdp_in_state(sk, TCPF_CLOSING) && !ssk->conn.link.dev;
	if (ssk->conn.link.id && !rollback)
		sdp_link_end(&ssk->conn.link, -ECONNABORTED);
	else if (sdp_in_state(sk, TCPF_SYN_SENT))
		sdp_sock_ended(ssk, -ECONNRESET);
	sdp_release_sock(sk);
	sdp_conn_flush(&ssk->conn);
	sdp_lock_sock(sk);
}

/**
 * sdp_sock_forget() - prepare a socket without connection for another one
 * @ssk: locked socket in state CLOSE
 *
 * What user space has chosen, options and a bound address, stays.  There is no
 * peer any more.
 */
void sdp_sock_forget(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;

	sdp_owned(sk);
	sdp_rx_purge(&ssk->conn.stream);
	WRITE_ONCE(sk->sk_shutdown, 0);
	ssk->conn.stream.done = false;
	ssk->conn.zcopy.lost = false;
	if (!ssk->conn.bound_addr)
		sdp_addr_set_any(&ssk->base.local, ssk->base.v6);
	sdp_sock_forget_peer(ssk);
}

/**
 * sdp_sock_disconnect() - make a socket one that is not connected
 * @sock: locked socket
 *
 * That is what connect() to AF_UNSPEC asks for, and shutdown() of a socket that
 * connects or listens.  Data in either direction is lost, but what reads have
 * returned early is waited for.  The lock is given up for that, and while the
 * connection manager is waited for.
 */
void sdp_sock_disconnect(struct socket *sock)
{
	struct sock *sk = sock->sk;
	bool reset;

	sdp_owned(sk);
	sdp_zasync_read_settle(&sdp_sk(sk)->conn.zcopy);
	reset = sdp_sock_needs_reset(sk);
	if (sk->sk_state != TCP_CLOSE)
		sdp_sock_stop(sdp_sk(sk));
	/* Another thread may have begun something new. */
	if (sk->sk_state != TCP_CLOSE || sdp_fallback_tcp(sdp_fallback(sk)))
		return;
	sock->state = SS_UNCONNECTED;
	sdp_sock_forget(sdp_sk(sk));
	if (reset)
		WRITE_ONCE(sk->sk_err, ECONNRESET);
	sk_error_report(sk);
}

static int sdp_shutdown_locked(struct socket *sock, int how)
{
	struct sock *sk = sock->sk;

	if (sdp_in_state(sk, TCPF_SYN_SENT) ||
	    (sdp_in_state(sk, TCPF_LISTEN) && (how & RCV_SHUTDOWN))) {
		sdp_sock_disconnect(sock);
		return 0;
	}
	if (sk->sk_state == TCP_LISTEN)
		return 0;
	WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | how);
	if (how & SEND_SHUTDOWN)
		sdp_sock_queue_fin(sdp_sk(sk));
	return sdp_in_state(sk, SDPF_OVER) ? -ENOTCONN : 0;
}

/* Returns the TCP socket if that has taken over meanwhile, see sdp_fallback_get(). */
static struct socket *sdp_shutdown_rdma(struct socket *sock, int how, int *err)
{
	struct sock *sk = sock->sk;
	struct socket *tcp;

	sdp_lock_sock(sk);
	sdp_integrated_pull(&sdp_sk(sk)->conn.stream);
	if (how & RCV_SHUTDOWN)
		sdp_zasync_read_settle(&sdp_sk(sk)->conn.zcopy);
	tcp = sdp_fallback_get(sdp_fallback(sk));
	if (!tcp) {
		*err = sdp_shutdown_locked(sock, how);
		/* Wake sleepers in poll(). */
		sk->sk_state_change(sk);
	}
	sdp_release_sock(sk);
	return tcp;
}

/**
 * sdp_shutdown() - close one direction, or both
 * @sock: socket
 * @how: SHUT_RD, SHUT_WR or SHUT_RDWR
 *
 * A listener stops to listen if it is shut down for reading.
 *
 * Return: 0 or a negative errno.
 */
int sdp_shutdown(struct socket *sock, int how)
{
	struct sock *sk = sock->sk;
	struct socket *tcp = sdp_fallback_get(sdp_fallback(sk));
	int err = 0;

	if (!tcp && (how < SHUT_RD || how > SHUT_RDWR))
		return -EINVAL;
	/* SHUT_RD, SHUT_WR, SHUT_RDWR are 0, 1, 2; the flags 1, 2, 3. */
	if (!tcp)
		tcp = sdp_shutdown_rdma(sock, how + 1, &err);
	return tcp ? sdp_fallback_shutdown(sdp_fallback(sk), tcp, how) : err;
}
