// SPDX-License-Identifier: GPL-2.0
/*
 * The application's reads: from receive buffers into user memory.
 */
#include <linux/mmu_notifier.h>
#include <linux/sched/signal.h>
#include <linux/splice.h>

#include "base/base.h"
#include "guard/guard.h"
#include "rdma/rdma.h"
#include "stream/stream.h"
#include "zcopy/zcopy.h"
#include "conn/conn.h"
#include "socket.h"

/**
 * struct sdp_read - a read in progress
 * @msg: where to put the bytes
 * @left: bytes still wanted
 * @done: bytes delivered
 * @pos: stream position of the next byte
 * @offset: unread bytes to pass over before the first one (SO_PEEK_OFF)
 * @stamp: when the last of the bytes arrived, 0 if nobody has looked
 * @missing: bytes of @msg that were not there to be copied to
 * @peek: leave the data in the queue
 * @discard: count the data, but copy none (MSG_TRUNC)
 * @zcopy: it may be read without a copy: it waits, and takes what it reads
 */
struct sdp_read {
	struct msghdr *msg;
	size_t left;
	size_t done;
	u32 pos;
	u32 offset;
	ktime_t stamp;
	u32 missing;
	bool peek;
	bool discard;
	bool zcopy;
};

/*
 * Copies bytes that lie together: to the mark, if it is among them, and not
 * from it on once something was read.  Returns how many bytes were passed, an
 * urgent one that is left out included; 0 at the mark; or -EFAULT if the
 * program's memory is not there.
 */
static int sdp_recv_piece(struct sdp_sock *ssk, struct sdp_read *rd,
			  const void *from, u32 len)
{
	u32 ahead = sdp_oob_ahead(&ssk->conn.stream, rd->pos);
	size_t copied;

	if (likely(ahead)) {
		len = min(len, ahead);
	} else if (rd->done) {
		return 0;
	} else if (!sock_flag(&ssk->sk, SOCK_URGINLINE)) {
		rd->pos++;
		return 1;
	}
	len = min_t(size_t, len, rd->left);
	copied = len;
	if (!rd->discard)
		copied = sdp_copy_out(from, len, &rd->msg->msg_iter);
	if (!copied) {
		rd->missing = len;
		return -EFAULT;
	}
	rd->left -= copied;
	rd->done += copied;
	rd->pos += copied;
	return copied;
}

/*
 * Reads from the ring, from its unread byte @at on; returns as
 * sdp_recv_piece().
 */
static int sdp_recv_ring(struct sdp_sock *ssk, struct sdp_read *rd, u32 at)
{
	const void *from;
	int ret = 1;
	u32 len;

	while (rd->left) {
		len = sdp_rx_ring_peek(&ssk->conn.stream, at, &from);
		if (!len)
			break;
		ret = sdp_recv_piece(ssk, rd, from, len);
		if (ret <= 0)
			break;
		rd->stamp = sdp_rx_ring_time(&ssk->conn.stream, at + ret - 1);
		if (rd->peek)
			at += ret;
		else
			sdp_recv_consume_ring(&ssk->conn.stream, ret);
	}
	return ret;
}

/* Reads from one buffer, from offset @at on; returns as sdp_recv_piece(). */
static int sdp_recv_buf(struct sdp_sock *ssk, struct sdp_read *rd,
			struct sdp_rx_buf *buf, u32 at)
{
	const u8 *payload = page_address(buf->page) + buf->off;
	int ret = 1;

	while (ret > 0 && rd->left && at < buf->len) {
		ret = sdp_recv_piece(ssk, rd, payload + at, buf->len - at);
		at += max(ret, 0);
	}
	rd->stamp = buf->stamp;
	if (!rd->peek && at)
		sdp_recv_consume(&ssk->conn.stream, buf, at);
	return ret;
}

/* Reads what is there, without waiting; returns as sdp_recv_piece(). */
static int sdp_recv_queue(struct sdp_sock *ssk, struct sdp_read *rd)
{
	struct sdp_rx *rx = &ssk->conn.stream.rx;
	struct sdp_rx_buf *buf, *next;
	u32 skip = rd->offset;
	int ret = 1;

	rd->pos = rx->copied + skip;
	list_for_each_entry_safe(buf, next, &rx->queue, list) {
		if (ret <= 0 || !rd->left)
			break;
		if (skip >= buf->len) {
			skip -= buf->len;
			continue;
		}
		ret = sdp_recv_buf(ssk, rd, buf, skip);
		skip = 0;
	}
	if (ret > 0 && rd->left && rx->ring.pos.size)
		ret = sdp_recv_ring(ssk, rd, skip);
	return ret;
}

/* Reads what the peer offers behind all that is there. */
static void sdp_recv_offered(struct sdp_sock *ssk, struct sdp_read *rd,
			     int target)
{
	u32 want = max_t(ssize_t, target - rd->done, 1);
	u32 read;

	if (!rd->left || (ssk->conn.stream.rx.bytes && !rd->peek))
		return;
	read = sdp_zrecv(&ssk->conn.zcopy, &rd->msg->msg_iter, rd->zcopy, want);
	if (!read)
		return;
	rd->stamp = sdp_timestamp_now(&ssk->sk);
	rd->left -= read;
	rd->done += read;
	rd->pos += read;
}

/* What ends a read that has got nothing yet; 1 = nothing does. */
static int sdp_recv_end(struct sock *sk, long timeo)
{
	if (sdp_sk(sk)->conn.stream.done)
		return 0;
	if (sk->sk_err)
		return sock_error(sk);
	if (sk->sk_shutdown & RCV_SHUTDOWN)
		return 0;
	/* As with TCP a socket that never was connected says so. */
	if (sdp_in_state(sk, TCPF_CLOSE | TCPF_LISTEN))
		return -ENOTCONN;
	if (!timeo)
		return -EAGAIN;
	if (signal_pending(current))
		return sock_intr_errno(timeo);
	return 1;
}

/*
 * Whether a read that has got something returns with it.  Who only looks must
 * not wait for what has no room to come before somebody takes something away.
 */
static bool sdp_recv_enough(const struct sock *sk, const struct sdp_read *rd,
			    int target, long timeo)
{
	return rd->done >= target || sk->sk_err || sk->sk_state == TCP_CLOSE ||
	       (sk->sk_shutdown & RCV_SHUTDOWN) || !timeo ||
	       signal_pending(current) ||
	       (rd->peek && sdp_rx_full(&sdp_sk(sk)->conn.stream));
}

/* As with TCP: the handler of SIGURG runs before anything behind the mark. */
static int sdp_recv_urgent_signal(const struct sock *sk,
				  const struct sdp_read *rd, long timeo)
{
	const struct sdp_sock *ssk = sdp_sk(sk);

	if (likely(sdp_oob_ahead(&ssk->conn.stream, ssk->conn.stream.rx.copied + rd->offset)) ||
	    rd->done || !signal_pending(current))
		return 0;
	return timeo ? sock_intr_errno(timeo) : -EAGAIN;
}

static void sdp_recv_wait(struct sock *sk, const struct sdp_read *rd,
			  long *timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sdp_rx *rx = &sdp_sk(sk)->conn.stream.rx;
	struct sdp_zcopy *z = &sdp_sk(sk)->conn.zcopy;
	bool zcopy = rd->zcopy && rd->left >= PAGE_SIZE;
	/* A peeker waits for more than it has seen. */
	u32 seen = rd->peek ? rd->pos - rx->copied : 0;

	z->readers += zcopy;
	z->takers += !rd->peek;
	add_wait_queue(sk_sleep(sk), &wait);
	sk_set_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	sdp_wait_event(sk, timeo,
		       READ_ONCE(rx->bytes) > seen || sk->sk_err ||
		       sdp_zrecv_ready(z) ||
		       (sk->sk_shutdown & RCV_SHUTDOWN) ||
		       sk->sk_state == TCP_CLOSE, &wait);
	sk_clear_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	remove_wait_queue(sk_sleep(sk), &wait);
	z->readers -= zcopy;
	z->takers -= !rd->peek;
}

static int sdp_recv_locked(struct sock *sk, struct sdp_read *rd, int target,
			   long timeo)
{
	unsigned int *turn = &sdp_sk(sk)->conn.stream.read_turn;
	struct iov_iter start = rd->msg->msg_iter;
	size_t want = rd->left;
	int ret;

	for (;;) {
		if (rd->peek) {
			rd->msg->msg_iter = start;
			rd->left = want;
			rd->done = 0;
		}
		ret = sdp_recv_urgent_signal(sk, rd, timeo);
		if (!ret && sdp_turn_wait(sk, turn))
			ret = sock_intr_errno(timeo);
		if (ret)
			return ret;
		ret = sdp_recv_queue(sdp_sk(sk), rd);
		if (ret == -EFAULT &&
		    !sdp_fault_in(sk, &rd->msg->msg_iter, rd->missing,
				  rd->peek ? NULL : turn))
			continue;
		if (ret <= 0)
			return ret;
		sdp_recv_offered(sdp_sk(sk), rd, target);
		/* Even a read of nothing waits, once, for something to read. */
		if (!rd->left && (want || sdp_sk(sk)->conn.stream.rx.bytes))
			return 0;
		if (rd->done) {
			if (sdp_recv_enough(sk, rd, target, timeo))
				return 0;
		} else {
			ret = sdp_recv_end(sk, timeo);
			if (ret == -EAGAIN)
				sdp_tx_pause_here(sdp_conn(sk));
			if (ret <= 0)
				return ret;
		}
		/* Returned credits must not wait while we do, nor the rest. */
		sdp_tx_pause_here(sdp_conn(sk));
		sdp_recv_wait(sk, rd, &timeo);
		if (!want)
			return 0;
	}
}

/* Tells of what was read: counters, the peeking position, credits. */
static void sdp_recv_finish(struct sock *sk, const struct sdp_read *rd)
{
	if (!rd->done)
		return;
	if (rd->peek) {
		sk_peek_offset_fwd(sk, rd->done);
		return;
	}
	sk_peek_offset_bwd(sk, rd->done);
	SDP_SOCK_ADD_STATS(sk, SDP_MIB_BYTESIN, rd->done);
	sdp_tx_update(sdp_conn(sk), SDP_FLUSH_CALL);
	sdp_rx_was_read(&sdp_sk(sk)->conn.stream);
}

/* What a next read would find, as io_uring wants to know; 1 for the end. */
static int sdp_recv_inq(const struct sock *sk)
{
	return sdp_sk(sk)->conn.stream.rx.bytes ?: sdp_sk(sk)->conn.stream.done;
}

/* What such a read may ask for; it does not matter whether it would wait. */
#define SDP_RECV_QUICK	(MSG_DONTWAIT | MSG_WAITALL | MSG_NOSIGNAL)

/*
 * What all but the first of many small reads come to: the bytes lie together in
 * the ring, and nothing but them is asked for.  Returns whether they were read;
 * if not, nothing has happened.
 */
static bool sdp_recv_quick(struct sock *sk, struct msghdr *msg, size_t len,
			   int flags)
{
	struct sdp_sock *ssk = sdp_sk(sk);
	struct sdp_rx *rx = &ssk->conn.stream.rx;
	const void *from;

	if ((flags & ~SDP_RECV_QUICK) || !list_empty(&rx->queue) ||
	    rx->oob.data || rx->ring.stamp_head != rx->ring.stamp_tail ||
	    msg->msg_get_inq || sdp_tx_stalled(&ssk->conn.stream.tx) || !len ||
	    ssk->conn.stream.read_turn ||
	    sdp_rx_ring_peek(&ssk->conn.stream, 0, &from) < len ||
	    !user_backed_iter(&msg->msg_iter) ||
	    !sdp_copy_out(from, len, &msg->msg_iter))
		return false;
	sdp_recv_consume_ring(&ssk->conn.stream, len);
	sk_peek_offset_bwd(sk, len);
	SDP_SOCK_ADD_STATS(&ssk->sk, SDP_MIB_BYTESIN, len);
	sdp_tx_update(&ssk->conn, SDP_FLUSH_CALL);
	return true;
}

static int sdp_recv_stream(struct sock *sk, struct msghdr *msg, size_t len,
			   int flags, ktime_t *stamp)
{
	struct sdp_read rd = {
		.msg = msg,
		.left = len,
		.peek = flags & MSG_PEEK,
		.discard = flags & MSG_TRUNC,
		.offset = max(sk_peek_offset(sk, flags), 0),
	};
	long timeo = sock_rcvtimeo(sk, flags & MSG_DONTWAIT);
	int err;

	rd.zcopy = timeo && !rd.peek && !rd.discard;

	sdp_tx_progress(sdp_conn(sk));
	err = sdp_recv_locked(sk, &rd, sock_rcvlowat(sk, flags & MSG_WAITALL,
						     len), timeo);
	sdp_recv_finish(sk, &rd);
	*stamp = rd.done ? rd.stamp : 0;
	if (msg->msg_get_inq)
		msg->msg_inq = sdp_recv_inq(sk);
	return rd.done ? rd.done : err;
}

/*
 * What a read fills is about to be overwritten: the read does not wait until it was
 * sent, but leaves copies to be sent.
 */
static void sdp_recv_unguard(const struct msghdr *msg)
{
	struct iov_iter iter = msg->msg_iter;
	unsigned long addr;
	u32 len;

	if (likely(!current->mm || !mm_has_notifiers(current->mm)))
		return;
	/* Passes over segments that are empty. */
	iov_iter_advance(&iter, 0);
	while ((len = sdp_zcopy_segment(&iter, &addr))) {
		sdp_guard_open(addr, len);
		iov_iter_advance(&iter, len);
	}
}

/**
 * sdp_recvmsg() - read from a stream
 * @sock: socket
 * @msg: where to put the data
 * @len: bytes wanted
 * @flags: MSG_PEEK, MSG_WAITALL, MSG_DONTWAIT, MSG_TRUNC, MSG_OOB
 *
 * Return: bytes read; 0 at the end of the stream; a negative errno.
 */
int sdp_recvmsg(struct socket *sock, struct msghdr *msg, size_t len,
		int flags)
{
	struct sock *sk = sock->sk;
	struct socket *tcp;
	ktime_t stamp = 0;
	int ret;

	tcp = sdp_fallback_settle(sdp_fallback(sk),
				  sock_rcvtimeo(sk, flags & MSG_DONTWAIT));
	if (IS_ERR(tcp))
		return PTR_ERR(tcp);
	if (tcp)
		return sdp_fallback_recvmsg(sdp_fallback(sk), tcp, msg, len,
					    flags);
	if (flags & MSG_ERRQUEUE)
		return sdp_zmsg_recv(&sdp_sk(sk)->conn.zcopy, msg);
	if (flags & MSG_OOB)
		return sdp_oob_recv(&sdp_sk(sk)->conn.stream, msg, len, flags);

	sdp_recv_unguard(msg);
	sdp_lock_sock(sk);
	if (sdp_rdmacg_known(&sdp_sk(sk)->conn.link) &&
	    sdp_recv_quick(sk, msg, len, flags)) {
		sdp_release_sock(sk);
		return len;
	}
	ret = sdp_rdmacg_use(&sdp_sk(sk)->conn.link);
	if (sk->sk_state == TCP_LISTEN)
		ret = -ENOTCONN;
	else if (!ret)
		ret = sdp_recv_stream(sk, msg, len, flags, &stamp);
	sdp_release_sock(sk);
	if (stamp)
		sdp_timestamp_put(msg, sk, stamp);
	return ret;
}

/**
 * sdp_splice_read() - read from a stream into a pipe
 * @sock: socket
 * @ppos: position, which a stream has none of
 * @pipe: pipe, locked
 * @len: bytes wanted
 * @flags: SPLICE_F_NONBLOCK and its like
 *
 * Who has put TLS upon TCP is given only what TCP's own call lets through: a record
 * that recvmsg() deciphers into the pages of a pipe stays there if it is forged.
 *
 * Return: as sdp_recvmsg().
 */
ssize_t sdp_splice_read(struct socket *sock, loff_t *ppos,
			struct pipe_inode_info *pipe, size_t len,
			unsigned int flags)
{
	struct sock *sk = sock->sk;
	struct socket *tcp;

	tcp = sdp_fallback_settle(sdp_fallback(sk),
				  sock_rcvtimeo(sk, sock->file->f_flags &
							    O_NONBLOCK));
	if (IS_ERR(tcp))
		return PTR_ERR(tcp);
	if (tcp)
		return sdp_fallback_splice_read(sdp_fallback(sk), tcp, ppos,
						pipe, len, flags);
	return copy_splice_read(sock->file, ppos, pipe, len, flags);
}
