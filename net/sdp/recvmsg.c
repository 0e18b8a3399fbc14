// SPDX-License-Identifier: GPL-2.0
/*
 * The application's reads: from receive buffers into user memory.
 */
#include <linux/sched/signal.h>

#include "conn.h"
#include "mib.h"
#include "rx.h"
#include "sock.h"
#include "tx.h"

/**
 * struct sdp_read - a read in progress
 * @msg: where to put the bytes
 * @left: bytes still wanted
 * @done: bytes delivered
 * @peek: leave the data in the queue
 * @discard: count the data, but copy none (MSG_TRUNC)
 */
struct sdp_read {
	struct msghdr *msg;
	size_t left;
	size_t done;
	bool peek;
	bool discard;
};

/* Copies from one buffer; returns bytes, or -EFAULT if none could be copied. */
static int sdp_recv_piece(struct sdp_read *rd, const struct sdp_rx_buf *buf)
{
	size_t len = min_t(size_t, rd->left, buf->len);
	size_t copied = len;

	if (!rd->discard)
		copied = copy_to_iter(page_address(buf->page) + buf->off, len,
				      &rd->msg->msg_iter);
	if (!copied)
		return -EFAULT;
	rd->left -= copied;
	rd->done += copied;
	return copied;
}

static void sdp_recv_consume(struct sdp_sock *ssk, struct sdp_rx_buf *buf,
			     u32 len)
{
	struct sdp_rx *rx = &ssk->conn.rx;

	buf->off += len;
	buf->len -= len;
	WRITE_ONCE(rx->bytes, rx->bytes - len);
	if (buf->len)
		return;
	list_del_init(&buf->list);
	sdp_rx_recycle(ssk, buf);
}

/* Reads what is there, without waiting.  Returns 0 or -EFAULT. */
static int sdp_recv_queue(struct sdp_sock *ssk, struct sdp_read *rd)
{
	struct sdp_rx_buf *buf, *next;
	int ret;

	list_for_each_entry_safe(buf, next, &ssk->conn.rx.queue, list) {
		if (!rd->left)
			break;
		ret = sdp_recv_piece(rd, buf);
		if (ret < 0)
			return ret;
		if (!rd->peek)
			sdp_recv_consume(ssk, buf, ret);
	}
	return 0;
}

/* What ends a read that has got nothing yet; 1 = nothing does. */
static int sdp_recv_end(struct sock *sk, long timeo)
{
	if (sock_flag(sk, SOCK_DONE))
		return 0;
	if (sk->sk_err)
		return sock_error(sk);
	if (sk->sk_shutdown & RCV_SHUTDOWN)
		return 0;
	/* As with TCP a socket that never was connected says so. */
	if (sk->sk_state == TCP_CLOSE)
		return -ENOTCONN;
	if (!timeo)
		return -EAGAIN;
	if (signal_pending(current))
		return sock_intr_errno(timeo);
	return 1;
}

/* Whether a read that has got something returns with it. */
static bool sdp_recv_enough(const struct sock *sk, size_t done, int target,
			    long timeo)
{
	return done >= target || sk->sk_err || sk->sk_state == TCP_CLOSE ||
	       (sk->sk_shutdown & RCV_SHUTDOWN) || !timeo ||
	       signal_pending(current);
}

static void sdp_recv_wait(struct sock *sk, const struct sdp_read *rd,
			  long *timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sdp_rx *rx = &sdp_sk(sk)->conn.rx;
	/* A peeker waits for more than it has seen. */
	u32 seen = rd->peek ? rd->done : 0;

	add_wait_queue(sk_sleep(sk), &wait);
	sk_set_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	sk_wait_event(sk, timeo,
		      READ_ONCE(rx->bytes) > seen || sk->sk_err ||
		      (sk->sk_shutdown & RCV_SHUTDOWN) ||
		      sk->sk_state == TCP_CLOSE, &wait);
	sk_clear_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	remove_wait_queue(sk_sleep(sk), &wait);
}

static int sdp_recv_locked(struct sock *sk, struct sdp_read *rd, int target,
			   long timeo)
{
	struct iov_iter start = rd->msg->msg_iter;
	size_t want = rd->left;
	int ret;

	for (;;) {
		if (rd->peek) {
			rd->msg->msg_iter = start;
			rd->left = want;
			rd->done = 0;
		}
		ret = sdp_recv_queue(sdp_sk(sk), rd);
		if (ret)
			return ret;
		/* Even a read of nothing waits for something to read. */
		if (!rd->left && (want || sdp_sk(sk)->conn.rx.bytes))
			return 0;
		if (rd->done) {
			if (sdp_recv_enough(sk, rd->done, target, timeo))
				return 0;
		} else {
			ret = sdp_recv_end(sk, timeo);
			if (ret <= 0)
				return ret;
		}
		/* Returned credits must not wait while we do. */
		sdp_tx_push(sdp_sk(sk));
		sdp_recv_wait(sk, rd, &timeo);
	}
}

/**
 * sdp_recvmsg() - read from a stream
 * @sock: socket
 * @msg: where to put the data
 * @len: bytes wanted
 * @flags: MSG_PEEK, MSG_WAITALL, MSG_DONTWAIT, MSG_TRUNC
 *
 * Return: bytes read; 0 at the end of the stream; a negative errno.
 */
int sdp_recvmsg(struct socket *sock, struct msghdr *msg, size_t len,
		int flags)
{
	struct sock *sk = sock->sk;
	struct sdp_read rd = {
		.msg = msg,
		.left = len,
		.peek = flags & MSG_PEEK,
		.discard = flags & MSG_TRUNC,
	};
	int err;

	if (flags & MSG_ERRQUEUE)
		return -EAGAIN;
	/* Urgent data is not there, as TCP says when there is none. */
	if (flags & MSG_OOB)
		return -EINVAL;

	lock_sock(sk);
	if (sk->sk_state == TCP_LISTEN)
		err = -ENOTCONN;
	else
		err = sdp_recv_locked(sk, &rd,
				      sock_rcvlowat(sk, flags & MSG_WAITALL,
						    len),
				      sock_rcvtimeo(sk, flags & MSG_DONTWAIT));
	if (rd.done && !rd.peek) {
		SDP_ADD_STATS(sock_net(sk), SDP_MIB_BYTESIN, rd.done);
		sdp_tx_push(sdp_sk(sk));
	}
	release_sock(sk);
	return rd.done ? rd.done : err;
}
