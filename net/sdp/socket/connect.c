// SPDX-License-Identifier: GPL-2.0
/*
 * How a connection begins, and how user space learns of its end.
 */
#include <linux/jiffies.h>
#include <linux/sched/signal.h>

#include "socket.h"

/* How soon a busy listener is asked again: doubled from the first to the last. */
#define SDP_BACKOFF_MIN		(HZ / 50)
#define SDP_BACKOFF_MAX		HZ

/**
 * sdp_sock_connected() - a connection carries data from now on
 * @ssk: locked socket in state SYN_SENT or SYN_RECV
 */
void sdp_sock_connected(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;

	sdp_owned(sk);
	/* The peer may have sent its DisConn before that. */
	sdp_set_state(sk, ssk->conn.stream.fin_received ? TCP_CLOSE_WAIT :
							  TCP_ESTABLISHED);
	sdp_timer_disarm(&ssk->sk, SDP_TIMER_SYN);
	sdp_alive_start(&ssk->conn);
	sdp_rx_ring_want(&ssk->conn.stream);
	sk->sk_state_change(sk);
	sk_wake_async(sk, SOCK_WAKE_IO, POLL_OUT);
}

/**
 * sdp_sock_connect_again() - ask a listener again that was full
 * @ssk: locked socket
 */
void sdp_sock_connect_again(struct sdp_sock *ssk)
{
	int err;

	sdp_owned(&ssk->sk);
	if (ssk->sk.sk_state != TCP_SYN_SENT || ssk->conn.link.id)
		return;
	/* What the route has said may be the address of other sockets that share the port. */
	if (!ssk->conn.bound_addr && sdp_addr_is_loopback(&ssk->base.local))
		sdp_addr_set_any(&ssk->base.local, ssk->base.v6);
	err = sdp_cm_connect(&ssk->conn);
	if (err && ssk->conn.link.id)
		sdp_link_end(&ssk->conn.link, err);
	else if (err)
		sdp_sock_ended(ssk, err);
}

/**
 * sdp_sock_connect_timeout() - the time to connect is over
 * @ssk: locked socket
 */
void sdp_sock_connect_timeout(struct sdp_sock *ssk)
{
	sdp_owned(&ssk->sk);
	if (ssk->sk.sk_state != TCP_SYN_SENT ||
	    test_bit(SDP_CONN_ANSWERED, &ssk->conn.link.flags))
		return;
	if (ssk->conn.link.id)
		sdp_link_end(&ssk->conn.link, -ETIMEDOUT);
	else
		sdp_sock_ended(ssk, -ETIMEDOUT);
}

static void sdp_sock_keep_id(struct sdp_sock *ssk)
{
	sdp_conn_rollback(&ssk->conn);
}

static void sdp_sock_destroy_id(struct sdp_sock *ssk)
{
	sdp_conn_destroy_id(&ssk->conn);
}

/*
 * Jiffies that connect() tries.  TCP gives up when the timeout after the last of
 * TCP_SYNCNT repetitions has passed, or after TCP_USER_TIMEOUT.
 */
static unsigned long sdp_sock_connect_time(const struct sock *sk)
{
	const struct sdp_net *sn = sdp_net(sock_net(sk));
	const struct sdp_options *opt = &sdp_base(sk)->opt;
	unsigned long timeout;

	if (opt->syncnt)
		timeout = sdp_tcp_retrans_to_secs(opt->syncnt + 1) * HZ;
	else
		timeout = READ_ONCE(sn->connect_timeout) * HZ;
	if (!opt->user_timeout)
		return timeout;
	/* TCP looks when it repeats its request, after a second at first. */
	return clamp_t(unsigned long, msecs_to_jiffies(opt->user_timeout), HZ,
		       timeout);
}

/**
 * sdp_sock_start_connect() - leave state CLOSE towards the peer
 * @ssk: locked socket with its peer set; the lock is released for a while if
 *	this fails
 *
 * Return: 0 when the connection manager is at work, or a negative errno.
 */
int sdp_sock_start_connect(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;
	struct sdp_net *sn = sdp_net(sock_net(sk));
	unsigned long timeout = sdp_sock_connect_time(&ssk->sk);
	u32 epoch = ssk->conn.stream.epoch;
	int err;

	sdp_owned(sk);
	sdp_rx_purge(&ssk->conn.stream);
	/* What has ended the last connection is not said of this one. */
	WRITE_ONCE(sk->sk_err, 0);
	ssk->conn.stream.done = false;
	ssk->conn.stream.fin_sent = false;
	ssk->conn.stream.fin_acked = false;
	ssk->conn.stream.fin_received = false;
	ssk->conn.stream.fin_queued = false;
	ssk->backoff = SDP_BACKOFF_MIN;
	ssk->deadline = jiffies + timeout;
	sdp_set_state(sk, TCP_SYN_SENT);
	SDP_INC_STATS(sock_net(sk), SDP_MIB_ACTIVEOPENS);
	if (sdp_fallback_ready(&ssk->fallback))
		sdp_timer_arm(&ssk->sk, SDP_TIMER_FALLBACK,
			      msecs_to_jiffies(READ_ONCE(sn->fallback_timeout)));
	err = sdp_cm_connect(&ssk->conn);
	if (!err) {
		sdp_timer_arm(&ssk->sk, SDP_TIMER_SYN, timeout);
		return 0;
	}
	sdp_dbg(sk, "connect: error %d of RDMA", err);
	/* The id is bound at most, and has seen no event that we act upon. */
	sdp_timer_disarm_all(&ssk->sk);
	/* What it has fixed, a family and a port, is not for the next attempt. */
	sdp_sock_rollback(sk, ssk->conn.bound ? sdp_sock_keep_id :
						sdp_sock_destroy_id);
	SDP_INC_STATS(sock_net(sk), SDP_MIB_CONNECTFAILS);
	if (sdp_stream_is(&ssk->conn.stream, epoch) && !ssk->conn.bound_addr)
		sdp_addr_set_any(&ssk->base.local, ssk->base.v6);
	return err;
}

/* Whether a full listener is to be tried again, and if so, when. */
static bool sdp_sock_retry(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;

	if (!ssk->conn.retry)
		return false;
	ssk->conn.retry = false;
	if (sk->sk_state != TCP_SYN_SENT || sk->sk_shutdown ||
	    time_after(jiffies + ssk->backoff, ssk->deadline))
		return false;
	sdp_rx_purge(&ssk->conn.stream);
	SDP_INC_STATS(sock_net(sk), SDP_MIB_CONNECTRETRIES);
	sdp_dbg(sk, "the peer puts us off, asked again in %u ms",
		jiffies_to_msecs(ssk->backoff));
	/* It has answered: this is a peer that speaks SDP. */
	sdp_timer_disarm(&ssk->sk, SDP_TIMER_FALLBACK);
	sdp_timer_arm(&ssk->sk, SDP_TIMER_CONNECT, ssk->backoff);
	ssk->backoff = min_t(unsigned long, 2 * ssk->backoff, SDP_BACKOFF_MAX);
	return true;
}

static void sdp_sock_count_end(const struct sdp_sock *ssk, int reason)
{
	struct net *net = sock_net(&ssk->sk);

	if (sdp_in_state(&ssk->sk, SDPF_CONNECTING))
		SDP_INC_STATS(net, SDP_MIB_CONNECTFAILS);
	else if (ssk->conn.stream.fin_sent && ssk->conn.stream.fin_received)
		SDP_INC_STATS(net, SDP_MIB_ORDERLYCLOSES);
	else if (reason == -ETIMEDOUT)
		SDP_INC_STATS(net, SDP_MIB_TIMEOUTS);
	else if (reason == -ENETDOWN)
		SDP_INC_STATS(net, SDP_MIB_DEVICEREMOVALS);
	else
		SDP_INC_STATS(net, SDP_MIB_RESETS);
}

/* The errno that user space sees, which is the one that TCP would give. */
static int sdp_sock_end_errno(const struct sdp_sock *ssk, int reason)
{
	/* Bytes that were said to be read are not there, whatever else was. */
	if (reason == -EIO)
		return EIO;
	if (ssk->conn.stream.fin_sent && ssk->conn.stream.fin_received)
		return 0;
	if (reason == -ECONNRESET && ssk->sk.sk_state == TCP_CLOSE_WAIT)
		return EPIPE;
	return reason == -ECONNABORTED ? ECONNRESET : -reason;
}

/**
 * sdp_sock_failed() - report to user space that its connection is over
 * @ssk: locked socket that was connected
 * @reason: why, as given to sdp_link_end()
 *
 * Releasing what the connection has used may take the provider a while, and
 * user space need not wait for that.
 */
void sdp_sock_failed(struct sdp_sock *ssk, int reason)
{
	struct sock *sk = &ssk->sk;

	/* After an orderly end all waiters were woken: nothing changes for them. */
	bool told = sdp_in_state(sk, SDPF_TIME_WAIT) &&
		    sk->sk_shutdown == SHUTDOWN_MASK;

	sdp_owned(sk);
	WRITE_ONCE(sk->sk_err, sdp_sock_end_errno(ssk, reason));
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	if (!told || sk->sk_err)
		sk->sk_state_change(sk);
	if (sk->sk_err)
		sk_error_report(sk);
}

/* Whether TCP goes on with the attempt to connect. */
static bool sdp_sock_fall_back(struct sdp_sock *ssk, int *reason)
{
	struct sock *sk = &ssk->sk;

	if (sk->sk_shutdown || !sdp_fallback_connect(ssk, reason))
		return false;
	sdp_set_state(sk, TCP_CLOSE);
	sk->sk_state_change(sk);
	return true;
}

/**
 * sdp_sock_ended() - the connection is gone, and all that belonged to it
 * @ssk: locked socket, which the caller holds
 * @reason: why, as given to sdp_link_end()
 *
 * In state CLOSE a socket therefore has no device, queue pair or teardown any more.
 */
void sdp_sock_ended(struct sdp_sock *ssk, int reason)
{
	struct sock *sk = &ssk->sk;
	bool full = ssk->conn.retry;
	int old = sk->sk_state;

	sdp_owned(sk);
	if (sdp_sock_retry(ssk))
		return;
	sdp_dbg(sk, "RDMA ends in state %d with error %d", old, reason);
	sdp_sock_count_end(ssk, reason);
	if (old == TCP_LISTEN && sdp_fallback_listen_alone(&ssk->fallback))
		return;
	sdp_timer_disarm_all(&ssk->sk);
	if (old == TCP_SYN_SENT && !full && sdp_sock_fall_back(ssk, &reason))
		return;
	/* User space has given up before the network did. */
	if (old == TCP_SYN_SENT && sk->sk_shutdown)
		reason = -ECONNRESET;
	sdp_sock_closed(ssk);
	if (old == TCP_LISTEN)
		sdp_accept_purge(ssk);
	sdp_accept_unlink(ssk);
	/* In other states sdp_sock_failed() was called before. */
	if (old == TCP_LISTEN || ((1 << old) & SDPF_CONNECTING))
		sdp_sock_failed(ssk, reason);
	else if (old != SDP_TIME_WAIT)
		sk->sk_state_change(sk);
}

static bool sdp_wait_is_connected(const struct sock *sk)
{
	return !READ_ONCE(sk->sk_err) && sdp_in_state(sk, SDPF_SEND);
}

/**
 * sdp_wait_connect() - wait until an attempt to connect is over
 * @sk: locked socket; the lock is released meanwhile
 * @timeo: jiffies to wait; what is left of them is written back
 *
 * Return: 0 if the socket can send; the errno that TCP gives to a writer if not.
 */
int sdp_wait_connect(struct sock *sk, long *timeo)
{
	u32 epoch = sdp_conn(sk)->stream.epoch;
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	int err;

	sdp_sock_owned_by_me(sk);
	do {
		err = sock_error(sk);
		if (err)
			return err;
		if (!sdp_in_state(sk, SDPF_CONNECTING))
			return -EPIPE;
		if (!*timeo)
			return -EAGAIN;
		if (signal_pending(current))
			return sock_intr_errno(*timeo);
		add_wait_queue(sk_sleep(sk), &wait);
		sdp_wait_event(sk, timeo, sdp_wait_is_connected(sk), &wait);
		remove_wait_queue(sk_sleep(sk), &wait);
		/* Another thread has begun another attempt. */
		if (!sdp_stream_is(&sdp_conn(sk)->stream, epoch))
			return -EPIPE;
	} while (!sdp_wait_is_connected(sk));
	return 0;
}
