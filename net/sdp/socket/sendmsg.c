// SPDX-License-Identifier: GPL-2.0
/*
 * The application's writes: from user memory into the send ring.
 */
#include <linux/sched/signal.h>

#include "base/base.h"
#include "rdma/rdma.h"
#include "stream/stream.h"
#include "conn/conn.h"
#include "socket.h"

/* So long a writer waits for its reader before it fills the send ring. */
#define SDP_SEND_PATIENCE	max(HZ / 200, 2)
/* If that was in vain, it is not tried again for so long. */
#define SDP_SEND_IMPATIENCE	HZ

/**
 * struct sdp_send_how - how the parts of a write are copied
 * @want: bytes that were to be copied last
 * @patient: room where they are copied once is waited for
 * @cold: some were not there; one copy of a whole message might never find all of them
 */
struct sdp_send_how {
	u32 want;
	bool patient;
	bool cold;
};

/* sk_stream_error() turns this into the pending error, if there is one. */
static int sdp_send_error(const struct sock *sk)
{
	return sk->sk_err || (sk->sk_shutdown & SEND_SHUTDOWN) ? -EPIPE : 0;
}

/* Whether the next bytes may be sent. */
static int sdp_send_check(const struct sock *sk)
{
	if (!sdp_in_state(sk, SDPF_SEND))
		return -EPIPE;
	return sdp_send_error(sk);
}

/*
 * While a writer has waited another thread may have dissolved the connection, and taken
 * the error, and even begun another one, to which the write does not go.
 */
static int sdp_send_check_again(const struct sock *sk, const struct sdp_zmsg *zm)
{
	if (!sdp_stream_is(&sdp_sk(sk)->conn.stream, zm->epoch))
		return -EPIPE;
	return sdp_send_check(sk);
}

/* Waits until a connection that is being set up can carry data. */
static int sdp_send_wait_connected(struct sock *sk, long *timeo)
{
	if (likely(sdp_in_state(sk, SDPF_SEND)))
		return 0;
	return sdp_wait_connect(sk, timeo);
}

static bool sdp_send_may_go_on(const struct sdp_sock *ssk, const struct sdp_zmsg *zm,
			       size_t left)
{
	return sdp_tx_has_room(&ssk->conn.stream, left) ||
	       sdp_send_check_again(&ssk->sk, zm);
}

/*
 * Asks to be told of room.  Whoever is woken takes the word with him, so that a
 * writer who finds too little for himself asks again: another one was quicker,
 * and what that one has sent may not have asked for its completion.
 */
static void sdp_send_want_space(struct sock *sk)
{
	struct sdp_sock *ssk = sdp_sk(sk);

	/* It may have come, and be left to a read. */
	sdp_integrated_pull(&ssk->conn.stream);
	sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
	set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	/* Whoever waits for room must not hold back what takes it. */
	sdp_tx_force(&ssk->conn, SDP_FLUSH_CALL);
	sdp_tx_ask_for_room(&ssk->conn.stream);
}

/* Waits for room, see sdp_tx_has_room(). */
static int sdp_send_wait_space(struct sock *sk, const struct sdp_zmsg *zm, size_t left,
			       long *timeo)
{
	struct sdp_sock *ssk = sdp_sk(sk);
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	int err = 0;

	sdp_send_want_space(sk);
	if (!*timeo)
		return -EAGAIN;
	SDP_INC_STATS(sock_net(sk), SDP_MIB_SENDWAITS);
	ssk->conn.stream.stats.send_waits++;
	sdp_alive_stalled(&ssk->conn.stream);
	add_wait_queue(sk_sleep(sk), &wait);
	while (!sdp_send_may_go_on(ssk, zm, left)) {
		if (signal_pending(current))
			err = sock_intr_errno(*timeo);
		else if (!*timeo)
			err = -EAGAIN;
		if (err)
			break;
		sdp_send_want_space(sk);
		sdp_wait_event(sk, timeo, sdp_send_may_go_on(ssk, zm, left), &wait);
	}
	remove_wait_queue(sk_sleep(sk), &wait);
	return err;
}

/*
 * Waits until the peer has room where nothing is copied twice, but not longer than a reader
 * may reasonably take: who writes and then reads at one end may rely on the send ring's room.
 * For that room would do, other writers wait until this one goes on, see usercopy.c.
 * Returns whether it is worth waiting again: if not, then not for a while.
 */
static bool sdp_send_wait_reader(struct sock *sk, const struct sdp_zmsg *zm, long *timeo)
{
	long time = min_t(long, *timeo, SDP_SEND_PATIENCE);
	struct sdp_stream *st = &sdp_sk(sk)->conn.stream;
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	long left = time;

	SDP_INC_STATS(sock_net(sk), SDP_MIB_SENDWAITS);
	st->stats.send_waits++;
	add_wait_queue(sk_sleep(sk), &wait);
	while (left && st->tx.room_wanted && !signal_pending(current) &&
	       !sdp_send_check_again(sk, zm)) {
		sdp_send_want_space(sk);
		sdp_turn_leave(sk, &st->write_turn);
		if (READ_ONCE(st->tx.room_wanted) && !sdp_send_check_again(sk, zm))
			left = wait_woken(&wait, TASK_INTERRUPTIBLE, left);
		sdp_turn_enter(sk, &st->write_turn);
	}
	remove_wait_queue(sk_sleep(sk), &wait);
	if (sdp_stream_is(st, zm->epoch)) {
		if (st->tx.room_wanted && !left && time == SDP_SEND_PATIENCE)
			st->tx.patient_from = jiffies + SDP_SEND_IMPATIENCE;
		WRITE_ONCE(st->tx.room_wanted, 0);
	}
	sdp_timeo_spend(timeo, time - left);
	return left && !signal_pending(current);
}

/* Between two parts of a write: what has come is heard, and what is complete leaves. */
static void sdp_send_go_on(struct sdp_conn *conn, u32 *turns)
{
	if (*turns && (*turns)--)
		sdp_stream_catch_up(&conn->stream);
	if (!sdp_tx_may_append(&conn->stream))
		sdp_output(conn, SDP_FLUSH_CALL);
}

/*
 * The next part of a write, to the other end if that is in this kernel, to a provider that
 * copies it, or into the send ring; returns bytes, 0 to wait for room, -EFAULT if the next
 * bytes are not there.
 */
static int sdp_send_part(struct sdp_conn *conn, struct msghdr *msg, struct sdp_send_how *how)
{
	struct sdp_stream *st = &conn->stream;
	int ret = 0;

	if (sdp_link_is_local(st->link)) {
		ret = sdp_local_write(st, msg);
		if (ret || (how->patient && sdp_local_want_room(st, msg)))
			return ret;
	} else if (st->link->iter_max && !how->cold && !sdp_zsend_busy(&conn->zcopy)) {
		ret = sdp_integrated_write(st, msg, &how->want);
		if (ret || (how->patient && sdp_integrated_want_room(st, msg)))
			return ret;
	}
	ret = sdp_tx_write(st, msg, &how->want);
	how->cold = how->cold && ret <= 0;
	return ret;
}

/*
 * Copies until the ring is full or the program's bytes are in it, and sends what may
 * leave; or returns -EFAULT if the next bytes are not there.  The end of the write
 * is looked at when it is known as such.
 */
static int sdp_send_fill(struct sdp_sock *ssk, struct msghdr *msg,
			 size_t *done, struct sdp_send_how *how)
{
	struct sdp_stream *st = &ssk->conn.stream;
	bool more = sdp_tx_begin_write(st);
	u32 turns = SDP_CATCH_UPS;
	int ret = 0;
	bool all;

	while (msg_data_left(msg)) {
		ret = sdp_send_part(&ssk->conn, msg, how);
		if (ret <= 0)
			break;
		*done += ret;
		if (msg_data_left(msg))
			sdp_send_go_on(&ssk->conn, &turns);
	}
	all = !msg_data_left(msg);
	if (all)
		more = msg->msg_flags & SDP_SEND_MORE;
	if (sdp_tx_end_write(st, all, more))
		sdp_output(&ssk->conn, SDP_FLUSH_CALL);
	return min(ret, 0);
}

/* As TCP does: only what is known is accepted, and all of it is ignored. */
static int sdp_send_cmsg(struct sock *sk, struct msghdr *msg)
{
	struct sockcm_cookie sockc;

	if (likely(!msg->msg_controllen))
		return 0;
	sockcm_init(&sockc, sk);
	if (sock_cmsg_send(sk, msg, &sockc))
		return -EINVAL;
	return 0;
}

static enum sdp_zcopy_mode sdp_send_sync_mode(struct sdp_zcopy *z, long timeo)
{
	return sdp_zsync_possible(z, timeo) && sdp_zsend_offers(z) ? SDP_ZCOPY_SYNC :
								     SDP_ZCOPY_OFF;
}

static enum sdp_zcopy_mode sdp_send_mode(struct sdp_sock *ssk,
					 const struct msghdr *msg,
					 struct sdp_zmsg *zm, long timeo)
{
	struct sdp_zcopy *z = &ssk->conn.zcopy;
	u32 len = sdp_zcopy_wanted(z, msg);

	if (!len)
		return SDP_ZCOPY_OFF;
	if (sdp_zasync_possible(z, zm)) {
		zm->straight = sdp_zdirect_suits(z, len);
		return sdp_zasync_should_copy(z, len, zm) ||
		       !(zm->straight || sdp_zsend_offers(z)) ? SDP_ZCOPY_OFF : SDP_ZCOPY_ASYNC;
	}
	return sdp_send_sync_mode(z, timeo);
}

/*
 * Sends the next bytes as the mode says, if that can be done; returns how many.
 * The rest of the write is not tried in a mode that has failed once.
 */
static u32 sdp_send_zcopy(struct sdp_sock *ssk, struct msghdr *msg,
			  struct sdp_zmsg *zm, long *timeo,
			  enum sdp_zcopy_mode *mode)
{
	u32 sent;

	if (*mode == SDP_ZCOPY_ASYNC) {
		sent = sdp_zasync_send(&ssk->conn.zcopy, msg, zm, timeo);
		if (!sent)
			*mode = sdp_send_sync_mode(&ssk->conn.zcopy, *timeo);
		return sent;
	}
	sent = sdp_zsync_send(&ssk->conn.zcopy, msg, zm, timeo);
	zm->sent += sent;
	if (!sent || ssk->conn.zcopy.unread.skip)
		*mode = SDP_ZCOPY_OFF;
	return sent;
}

static int sdp_send_locked(struct sock *sk, struct msghdr *msg,
			   struct sdp_zmsg *zm, long timeo, size_t *done)
{
	enum sdp_zcopy_mode mode = SDP_ZCOPY_OFF;
	struct sdp_sock *ssk = sdp_sk(sk);
	struct sdp_send_how how = { .patient = timeo };
	int err;

	err = sdp_send_wait_connected(sk, &timeo);
	if (!err)
		err = sdp_rdmacg_use(&ssk->conn.link);
	if (!err)
		err = sdp_send_cmsg(sk, msg);
	if (!err)
		mode = sdp_send_mode(ssk, msg, zm, timeo);
	while (!err && msg_data_left(msg)) {
		err = sdp_turn_wait(sk, &ssk->conn.stream.write_turn) ?
		      sock_intr_errno(timeo) : sdp_send_check_again(sk, zm);
		if (err)
			break;
		if (mode != SDP_ZCOPY_OFF) {
			*done += sdp_send_zcopy(ssk, msg, zm, &timeo, &mode);
			continue;
		}
		err = sdp_send_fill(ssk, msg, done, &how);
		how.cold |= err == -EFAULT;
		if (err == -EFAULT)
			err = sdp_fault_in(sk, &msg->msg_iter, how.want,
					   &ssk->conn.stream.write_turn);
		else if (!err && msg_data_left(msg) && ssk->conn.stream.tx.room_wanted)
			how.patient = sdp_send_wait_reader(sk, zm, &timeo);
		else if (!err && msg_data_left(msg))
			err = sdp_send_wait_space(sk, zm, msg_data_left(msg),
						  &timeo);
	}
	return err;
}

/* What a writer says who could send nothing; the error may be another connection's. */
static int sdp_send_errno(struct sock *sk, const struct msghdr *msg,
			  const struct sdp_zmsg *zm, int err)
{
	if (sdp_stream_is(&sdp_sk(sk)->conn.stream, zm->epoch))
		return sk_stream_error(sk, msg->msg_flags, err);
	if (err == -EPIPE && !(msg->msg_flags & MSG_NOSIGNAL))
		send_sig(SIGPIPE, current, 0);
	return err;
}

/* What the fast path does not do, and then the lock's release; kept out of its frame. */
static noinline int sdp_send_slow(struct sock *sk, struct msghdr *msg, size_t len,
				  u32 epoch)
{
	struct sdp_zmsg zm;
	size_t done = 0;
	int err;

	err = sdp_zmsg_begin(&zm, &sdp_sk(sk)->conn.zcopy, msg, len, epoch);
	if (!err && !sdp_stream_is(&sdp_sk(sk)->conn.stream, epoch))
		err = -EPIPE;
	if (!err)
		err = sdp_send_error(sk);
	if (!err)
		err = sdp_send_locked(sk, msg, &zm,
				      sock_sndtimeo(sk, msg->msg_flags &
							MSG_DONTWAIT),
				      &done);
	if (done)
		SDP_SOCK_ADD_STATS(sk, SDP_MIB_BYTESOUT, done);
	else if (err)
		err = sdp_send_errno(sk, msg, &zm, err);
	if (zm.guarded)
		sdp_zcost_learn(&sdp_sk(sk)->conn.zcopy, &zm);
	sdp_zmsg_end(&zm, done);
	sdp_release_sock(sk);
	return done ? done : err;
}

/*
 * The fast paths, of which a connection has at most one, but for writes that are coalesced;
 * returns whether all was taken, and nothing has happened if not.
 */
static bool sdp_send_fast(struct sdp_conn *conn, struct msghdr *msg, size_t len)
{
	struct sdp_stream *st = &conn->stream;

	if (sdp_tx_join(st, msg, len))
		return true;
	if (!sdp_rdmacg_known(&conn->link))
		return false;
	if (sdp_link_is_local(st->link))
		return sdp_local_at_once(st, msg, len);
	return st->link->iter_max && !sdp_zsend_busy(&conn->zcopy) &&
	       (!conn->zcopy.on || len < SDP_MIN_ZCOPY_THRESHOLD) &&
	       sdp_integrated_at_once(st, msg, len);
}

/**
 * sdp_sendmsg() - send data on a stream
 * @sock: socket
 * @msg: what to send, with flags
 * @len: bytes
 *
 * Return: bytes taken, fewer than @len only if an error, a signal or the
 * timeout cut it short; a negative errno if none was taken.
 */
int sdp_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	struct sock *sk = sock->sk;
	struct socket *tcp;
	u32 epoch;

	/*
	 * As TCP says where fast open is disabled.  It would connect, and security
	 * modules, who know only our socket, would not be asked.
	 */
	if (msg->msg_flags & MSG_FASTOPEN)
		return -EOPNOTSUPP;
	tcp = sdp_fallback_wait_get(sdp_fallback(sk),
				    sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT), &epoch);
	if (IS_ERR(tcp))
		return PTR_ERR(tcp);
	if (tcp)
		return sdp_fallback_sendmsg(sdp_fallback(sk), tcp, msg);
	sdp_lock_sock(sk);
	if (!sdp_send_check(sk) && sdp_stream_is(&sdp_sk(sk)->conn.stream, epoch) &&
	    !sdp_sk(sk)->conn.stream.write_turn && sdp_send_fast(sdp_conn(sk), msg, len)) {
		sdp_release_sock(sk);
		return len;
	}
	return sdp_send_slow(sk, msg, len, epoch);
}

/**
 * sdp_splice_eof() - sendfile() has promised more than its file had
 * @sock: socket
 */
void sdp_splice_eof(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct socket *tcp = sdp_fallback_get(sdp_fallback(sk));

	if (tcp) {
		sdp_fallback_splice_eof(sdp_fallback(sk), tcp);
		return;
	}
	sdp_lock_sock(sk);
	sdp_tx_flush(sdp_conn(sk));
	sdp_release_sock(sk);
}
