// SPDX-License-Identifier: GPL-2.0
/*
 * The application's reads: from receive buffers into user memory.
 */
#include <linux/mmu_notifier.h>
#include <linux/sched/signal.h>
#include <linux/splice.h>
#include <linux/sched/stat.h>
#include <net/busy_poll.h>

#include "base/base.h"
#include "guard/guard.h"
#include "rdma/rdma.h"
#include "stream/stream.h"
#include "zcopy/zcopy.h"
#include "conn/conn.h"
#include "socket.h"

/* What a read has got otherwise than by copy. */
static void sdp_recv_got(struct sdp_sock *ssk, struct sdp_read *rd, u32 len)
{
	rd->stamp = sdp_timestamp_now(&ssk->sk);
	rd->left -= len;
	rd->done += len;
	rd->pos += len;
}

/*
 * Reads what the peer offers behind all that is there.  The lock is released meanwhile:
 * returns whether it has come by copy instead, which is to be read before the end is seen.
 */
static bool sdp_recv_offered(struct sdp_sock *ssk, struct sdp_read *rd,
			     int target, bool wait)
{
	u32 want = max_t(ssize_t, target - rd->done, 1);
	u32 unread = ssk->conn.stream.rx.bytes;
	u32 read;

	if (!rd->left || (unread && !rd->peek))
		return false;
	read = sdp_zrecv(&ssk->conn.zcopy, &rd->msg->msg_iter, rd->zcopy, wait, want);
	if (!read)
		return ssk->conn.stream.rx.bytes > unread;
	sdp_recv_got(ssk, rd, read);
	return false;
}

/*
 * Whether another thread has begun another connection while the read has waited, whose
 * bytes are not what was to be read.
 */
static bool sdp_recv_is_late(const struct sock *sk, const struct sdp_read *rd)
{
	return !sdp_stream_is(&sdp_sk(sk)->conn.stream, rd->epoch);
}

/* What ends a read that has got nothing yet; 1 = nothing does. */
static int sdp_recv_end(struct sock *sk, const struct sdp_read *rd, long timeo)
{
	/* As TCP says. */
	if (sdp_recv_is_late(sk, rd))
		return -EPIPE;
	/* As often as it is asked: another call may have been told first. */
	if (sdp_sk(sk)->conn.zcopy.lost)
		return sock_error(sk) ?: -EIO;
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
	return sdp_recv_is_late(sk, rd) || rd->done >= target || sk->sk_err ||
	       sk->sk_state == TCP_CLOSE || (sk->sk_shutdown & RCV_SHUTDOWN) || !timeo ||
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

static bool sdp_recv_is_ready(const struct sock *sk, const struct sdp_read *rd, u32 seen)
{
	return READ_ONCE(sdp_sk(sk)->conn.stream.rx.bytes) > seen || sk->sk_err ||
	       sdp_zrecv_ready(&sdp_sk(sk)->conn.zcopy) ||
	       test_bit(SDP_CONN_ARRIVING, &sdp_sk(sk)->conn.link.flags) ||
	       (rd->sink && sdp_sink_is_over(&sdp_sk(sk)->conn.zcopy, rd->sink)) ||
	       (sk->sk_shutdown & RCV_SHUTDOWN) || sk->sk_state == TCP_CLOSE ||
	       sdp_recv_is_late(sk, rd);
}

/* A read that polls, and what it has seen (see sdp_recv_wait()). */
struct sdp_recv_poll {
	struct sock *sk;
	const struct sdp_read *rd;
	u32 seen;
};

/*
 * Who else waits for this processor is preferred, for it may be the device's own thread
 * (Soft-RoCE's work queue since Linux 6.4), which the reader would wait for in vain.
 */
static bool sdp_recv_poll_end(void *arg, unsigned long start)
{
	const struct sdp_recv_poll *poll = arg;

	return sdp_recv_is_ready(poll->sk, poll->rd, poll->seen) || !single_task_running() ||
	       !sk_can_busy_loop(poll->sk) || sk_busy_loop_timeout(poll->sk, start);
}

/*
 * SO_BUSY_POLL: as with TCP a read that finds nothing polls the device before it sleeps,
 * and one that must not sleep polls it once.  Others may use the socket meanwhile.
 */
static noinline void sdp_recv_poll(struct sock *sk, const struct sdp_read *rd, u32 seen,
				   bool wait)
{
	struct sdp_recv_poll poll = { .sk = sk, .rd = rd, .seen = seen };

	sdp_release_sock(sk);
	sdp_busy_loop(sk, wait ? sdp_recv_poll_end : NULL, &poll);
	sdp_lock_sock(sk);
}

static void sdp_recv_wait(struct sock *sk, const struct sdp_read *rd,
			  long *timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sdp_zcopy *z = &sdp_sk(sk)->conn.zcopy;
	bool zcopy = rd->zcopy && rd->left >= PAGE_SIZE;
	/* A peeker waits for more than it has seen. */
	u32 seen = rd->peek ? rd->pos - sdp_sk(sk)->conn.stream.rx.copied : 0;

	z->readers += zcopy;
	z->takers += !rd->peek;
	if (unlikely(sk_can_busy_loop(sk)))
		sdp_recv_poll(sk, rd, seen, true);
	add_wait_queue(sk_sleep(sk), &wait);
	sk_set_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	sdp_wait_event(sk, timeo, sdp_recv_is_ready(sk, rd, seen), &wait);
	sk_clear_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	remove_wait_queue(sk_sleep(sk), &wait);
	z->readers -= zcopy;
	z->takers -= !rd->peek;
}

/*
 * Waits with the memory of the read open to the peer; returns how much that has written.
 * Others who use the socket wake all that sleep, and to ask again would have its price.
 */
static u32 sdp_recv_wait_open(struct sock *sk, struct sdp_read *rd, long *timeo)
{
	long time = min_t(long, *timeo, SDP_SINK_HOLD);
	long left = time;
	u32 len;

	while (left && !signal_pending(current) && !sdp_recv_is_ready(sk, rd, 0))
		sdp_recv_wait(sk, rd, &left);
	sdp_timeo_spend(timeo, time - left);
	len = sdp_sink_withdraw(&sdp_sk(sk)->conn.zcopy, rd->sink, rd->epoch);
	rd->sink = NULL;
	return len;
}

/*
 * Waits, with the memory of the read open to the peer if that is of use; returns whether
 * that has written to it.
 */
static bool sdp_recv_sink(struct sock *sk, struct sdp_read *rd, long *timeo)
{
	struct sdp_zcopy *z = &sdp_sk(sk)->conn.zcopy;
	u32 len = 0;

	if (rd->zcopy)
		rd->sink = sdp_sink_offer(z, &rd->msg->msg_iter, rd->epoch);
	/* Returned credits must not wait while we do, nor the rest. */
	sdp_tx_pause_here(sdp_conn(sk));
	if (rd->sink)
		len = sdp_recv_wait_open(sk, rd, timeo);
	else
		sdp_recv_wait(sk, rd, timeo);
	if (!len)
		return false;
	iov_iter_advance(&rd->msg->msg_iter, len);
	sdp_recv_got(sdp_sk(sk), rd, len);
	return true;
}

/* A program that has sent from the memory that it reads to would take page faults. */
static void sdp_recv_unshare(struct sdp_sock *ssk, const struct sdp_read *rd)
{
	if (unlikely(ssk->conn.zcopy.async) && !rd->discard)
		sdp_zrecv_unguard(&ssk->conn.zcopy, &rd->msg->msg_iter,
				  ssk->conn.stream.rx.bytes);
}

/* Reads what the provider has left to us; returns whether the queue has got more. */
static bool sdp_recv_integrated(struct sock *sk, struct sdp_read *rd, long timeo)
{
	struct sdp_stream *st = &sdp_sk(sk)->conn.stream;
	u32 turns = SDP_CATCH_UPS, unread = st->rx.bytes;

	if (!st->link->iter_min)
		return false;
	if (!rd->left) {
		sdp_integrated_expect(st, rd, timeo);
		return false;
	}
	while (turns-- && sdp_integrated_read(st, rd, timeo))
		;
	/* Who does not wait has to know of what else there is. */
	if (!timeo && test_bit(SDP_CONN_ARRIVING, &st->link->flags))
		sdp_integrated_pull(st);
	return rd->left && st->rx.bytes > unread;
}

static int sdp_recv_locked(struct sock *sk, struct sdp_read *rd, int target,
			   long timeo)
{
	unsigned int *turn = &sdp_sk(sk)->conn.stream.read_turn;
	struct iov_iter start = rd->msg->msg_iter;
	size_t want = rd->left;
	int ret;

	for (;;) {
		if (sdp_turn_wait(sk, turn))
			return sock_intr_errno(timeo);
		if (sdp_recv_is_late(sk, rd))
			return -EPIPE;
		if (rd->peek) {
			rd->msg->msg_iter = start;
			rd->left = want;
			rd->done = 0;
		}
		ret = sdp_recv_urgent_signal(sk, rd, timeo);
		if (ret)
			return ret;
		sdp_recv_unshare(sdp_sk(sk), rd);
		ret = sdp_recv_queue(&sdp_sk(sk)->conn.stream, rd);
		if (ret == -EFAULT &&
		    !sdp_fault_in(sk, &rd->msg->msg_iter, rd->missing,
				  rd->peek ? NULL : turn))
			continue;
		if (ret <= 0)
			return ret;
		if (sdp_recv_integrated(sk, rd, timeo))
			continue;
		if (sdp_recv_offered(sdp_sk(sk), rd, target, timeo))
			continue;
		/* Even a read of nothing waits, once, for something to read. */
		if (!rd->left && (want || sdp_sk(sk)->conn.stream.rx.bytes))
			return 0;
		if (rd->done) {
			if (sdp_recv_enough(sk, rd, target, timeo))
				return 0;
		} else {
			ret = sdp_recv_end(sk, rd, timeo);
			if (ret == -EAGAIN)
				sdp_tx_pause_here(sdp_conn(sk));
			if (ret <= 0)
				return ret;
		}
		/* Another reader may have what comes behind that by now. */
		if (sdp_recv_sink(sk, rd, &timeo) && sdp_recv_enough(sk, rd, target, timeo))
			return 0;
		if (!want)
			return 0;
	}
}

/**
 * sdp_recv_took() - tell of what user space has taken: counters, the peeking position,
 *	credits
 * @sk: locked socket
 * @len: bytes
 */
void sdp_recv_took(struct sock *sk, size_t len)
{
	sdp_owned(sk);
	sk_peek_offset_bwd(sk, len);
	sdp_conn(sk)->stream.tx.answers = true;
	SDP_SOCK_ADD_STATS(sk, SDP_MIB_BYTESIN, len);
	sdp_tx_update(sdp_conn(sk), SDP_FLUSH_CALL);
}

/* A read is over: one that only looked moves the peeking position alone. */
static void sdp_recv_finish(struct sock *sk, const struct sdp_read *rd)
{
	if (!rd->done || sdp_recv_is_late(sk, rd))
		return;
	if (rd->peek) {
		sk_peek_offset_fwd(sk, rd->done);
		return;
	}
	sdp_recv_took(sk, rd->done);
	sdp_rx_was_read(&sdp_sk(sk)->conn.stream);
}

/**
 * sdp_recv_inq() - what a next read would find, as TCP_INQ means it
 * @sk: locked socket
 *
 * Return: bytes; 1 for the end.
 */
int sdp_recv_inq(const struct sock *sk)
{
	sdp_owned(sk);
	return sdp_sk(sk)->conn.stream.rx.bytes ?: sdp_sk(sk)->conn.stream.done;
}

static bool sdp_recv_short(struct sock *sk, struct msghdr *msg, size_t len, int flags)
{
	if (!sdp_recv_fast(&sdp_sk(sk)->conn.stream, msg, len, flags))
		return false;
	sdp_recv_took(sk, len);
	return true;
}

static int sdp_recv_stream(struct sock *sk, struct msghdr *msg, size_t len,
			   int flags, u32 epoch, ktime_t *stamp)
{
	struct sdp_read rd = {
		.epoch = epoch,
		.msg = msg,
		.left = len,
		.peek = flags & MSG_PEEK,
		.discard = flags & MSG_TRUNC,
		.offset = max(sk_peek_offset(sk, flags), 0),
	};
	long timeo = sock_rcvtimeo(sk, flags & MSG_DONTWAIT);
	int err;

	rd.zcopy = (timeo || sdp_zasync_read_wanted(&sdp_conn(sk)->zcopy)) &&
		   !rd.peek && !rd.discard;

	sdp_tx_progress(sdp_conn(sk), SDP_FLUSH_CALL);
	if (unlikely(!timeo && sk_can_busy_loop(sk)) && !sdp_recv_is_ready(sk, &rd, 0))
		sdp_recv_poll(sk, &rd, 0, false);
	err = sdp_recv_locked(sk, &rd, sock_rcvlowat(sk, flags & MSG_WAITALL,
						     len), timeo);
	sdp_recv_finish(sk, &rd);
	*stamp = rd.done ? rd.stamp : 0;
	if (msg->msg_get_inq) {
		sdp_integrated_pull(&sdp_sk(sk)->conn.stream);
		msg->msg_inq = sdp_recv_inq(sk);
	}
	return rd.done ? rd.done : err;
}

/*
 * What a read fills is about to be overwritten: the read does not wait until it was
 * sent, but leaves copies to be sent.
 */
static noinline void sdp_recv_unguard(const struct msghdr *msg)
{
	struct iov_iter iter = msg->msg_iter;
	unsigned long addr;
	u32 len;

	/* Passes over segments that are empty. */
	iov_iter_advance(&iter, 0);
	while ((len = sdp_zcopy_segment(&iter, &addr))) {
		sdp_guard_open(addr, len);
		iov_iter_advance(&iter, len);
	}
}

/* What the fast path does not do, and then the lock's release; kept out of its frame. */
static noinline int sdp_recv_slow(struct sock *sk, struct msghdr *msg, size_t len, int flags,
				  u32 epoch)
{
	int ret = sdp_rdmacg_use(&sdp_sk(sk)->conn.link);
	ktime_t stamp = 0;

	if (sk->sk_state == TCP_LISTEN)
		ret = -ENOTCONN;
	else if (!ret)
		ret = sdp_recv_stream(sk, msg, len, flags, epoch, &stamp);
	sdp_release_sock(sk);
	if (stamp)
		sdp_timestamp_put(msg, sk, stamp);
	return ret;
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
	u32 epoch;

	tcp = sdp_fallback_wait_get(sdp_fallback(sk),
				    sock_rcvtimeo(sk, flags & MSG_DONTWAIT), &epoch);
	if (IS_ERR(tcp))
		return PTR_ERR(tcp);
	if (tcp)
		return sdp_fallback_recvmsg(sdp_fallback(sk), tcp, msg, flags);
	if (flags & MSG_ERRQUEUE)
		return sdp_zmsg_recv(&sdp_sk(sk)->conn.zcopy, msg);
	if (flags & MSG_OOB)
		return sdp_oob_recv(&sdp_sk(sk)->conn.stream, msg, len, flags);

	if (unlikely(current->mm && mm_has_notifiers(current->mm)))
		sdp_recv_unguard(msg);
	sdp_lock_sock(sk);
	if (sdp_stream_is(&sdp_sk(sk)->conn.stream, epoch) &&
	    sdp_rdmacg_known(&sdp_sk(sk)->conn.link) &&
	    sdp_recv_short(sk, msg, len, flags)) {
		sdp_release_sock(sk);
		return len;
	}
	return sdp_recv_slow(sk, msg, len, flags, epoch);
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
	u32 epoch;

	tcp = sdp_fallback_wait_get(sdp_fallback(sk),
				    sock_rcvtimeo(sk, sock->file->f_flags & O_NONBLOCK),
				    &epoch);
	if (IS_ERR(tcp))
		return PTR_ERR(tcp);
	if (tcp)
		return sdp_fallback_splice_read(sdp_fallback(sk), tcp, ppos,
						pipe, len, flags);
	return copy_splice_read(sock->file, ppos, pipe, len, flags);
}
