// SPDX-License-Identifier: GPL-2.0
/*
 * Urgent data (MSG_OOB), as TCP shows it to user space.  On the wire the last byte of a
 * message with OOB_PRES is urgent, and OOB_PEND announces that such a byte follows
 * (IBTA annex A4, out-of-band data).
 *
 * The urgent byte stays in the stream at the mark; readers pass over it unless
 * SO_OOBINLINE is set.  There is one mark, and a new urgent byte moves it.
 */
#include <linux/net.h>

#include "stream.h"

static bool sdp_oob_marked(const struct sdp_oob *oob)
{
	return READ_ONCE(oob->data) & (SDP_OOB_VALID | SDP_OOB_READ);
}

/**
 * sdp_oob_ahead() - how far ahead the mark is
 * @st: stream of a socket, locked or not
 * @pos: stream position
 *
 * Return: bytes from @pos to the urgent byte, U32_MAX if there is none.  If
 * the mark is behind @pos, which peeking can bring about, more than there ever
 * is in the queue.
 */
u32 sdp_oob_ahead(const struct sdp_stream *st, u32 pos)
{
	const struct sdp_oob *oob = &st->rx.oob;

	return unlikely(sdp_oob_marked(oob)) ? READ_ONCE(oob->mark) - pos :
					       U32_MAX;
}

/**
 * sdp_oob_at_mark() - whether the next byte to be read is the urgent one
 * @st: stream of a socket, locked or not
 */
bool sdp_oob_at_mark(const struct sdp_stream *st)
{
	return !sdp_oob_ahead(st, READ_ONCE(st->rx.copied));
}

/**
 * sdp_oob_hole() - bytes at the head of the queue that a read would pass over
 * @st: stream of a socket, locked or not
 *
 * Return: 1 for an urgent byte that is not inline, else 0.
 */
u32 sdp_oob_hole(const struct sdp_stream *st)
{
	return !sock_flag(st->sk, SOCK_URGINLINE) && sdp_oob_at_mark(st);
}

/**
 * sdp_oob_unread() - how many bytes may be read, also in several reads
 * @st: stream of a socket, locked or not
 *
 * Return: bytes, without the one at the head of the queue that is passed over.
 */
u32 sdp_oob_unread(const struct sdp_stream *st)
{
	u32 bytes = READ_ONCE(st->rx.bytes);
	u32 hole = sdp_oob_hole(st);

	return bytes > hole ? bytes - hole : 0;
}

/**
 * sdp_oob_inq() - what SIOCINQ answers
 * @st: stream of a locked socket
 *
 * Return: unread bytes, only those before the mark if the urgent byte is ahead
 * and not inline.
 */
u32 sdp_oob_inq(const struct sdp_stream *st)
{
	const struct sdp_rx *rx = &st->rx;

	sdp_owned(st->sk);
	if (sock_flag(st->sk, SOCK_URGINLINE))
		return rx->bytes;
	return min(rx->bytes, sdp_oob_ahead(st, rx->copied));
}

/**
 * sdp_oob_valid() - whether recv(MSG_OOB) would find a byte
 * @st: stream of a socket, locked or not
 */
bool sdp_oob_valid(const struct sdp_stream *st)
{
	return READ_ONCE(st->rx.oob.data) & SDP_OOB_VALID;
}

/**
 * sdp_oob_passed() - forget the mark if the reader is behind it
 * @st: stream of a locked socket whose reader has moved on
 */
void sdp_oob_passed(struct sdp_stream *st)
{
	struct sdp_rx *rx = &st->rx;

	sdp_owned(st->sk);
	if (unlikely(sdp_oob_marked(&rx->oob)) &&
	    (s32)(rx->copied - rx->oob.mark) > 0)
		WRITE_ONCE(rx->oob.data, 0);
}

/**
 * sdp_oob_announced() - a message said that urgent data follows
 * @st: stream of a locked socket (by its owner or in softirq)
 *
 * An earlier urgent byte becomes a byte like any other; but if it is the next
 * one it is dropped, as TCP does, because applications read to the mark and take the
 * urgent byte for read.
 */
void sdp_oob_announced(struct sdp_stream *st)
{
	struct sdp_rx *rx = &st->rx;

	sdp_owned(st->sk);
	if (rx->oob.data == SDP_OOB_NOTYET)
		return;
	sk_send_sigurg(st->sk);
	if (rx->bytes && sdp_oob_hole(st))
		sdp_recv_drop_first(st);
	WRITE_ONCE(rx->oob.data, SDP_OOB_NOTYET);
}

/**
 * sdp_oob_arrived() - the last byte of the queue is urgent
 * @st: stream of a locked socket (by its owner or in softirq)
 * @byte: that byte
 */
void sdp_oob_arrived(struct sdp_stream *st, u8 byte)
{
	struct sdp_rx *rx = &st->rx;

	sdp_owned(st->sk);
	WRITE_ONCE(rx->oob.mark, rx->copied + rx->bytes - 1);
	WRITE_ONCE(rx->oob.data, SDP_OOB_VALID | byte);
	st->sk->sk_data_ready(st->sk);
}

/* Takes the urgent byte; returns as sdp_oob_recv(). */
static int sdp_oob_take(struct sdp_stream *st, int flags, u8 *byte)
{
	struct sdp_oob *oob = &st->rx.oob;
	const struct sock *sk = st->sk;

	if (sk->sk_state == TCP_LISTEN)
		return -ENOTCONN;
	if (sock_flag(sk, SOCK_URGINLINE) || !oob->data ||
	    (oob->data & SDP_OOB_READ))
		return -EINVAL;
	if (sdp_in_state(sk, SDPF_OVER) && !st->done)
		return -ENOTCONN;
	if (oob->data & SDP_OOB_NOTYET)
		return sdp_in_state(sk, SDPF_OVER) ||
		       (sk->sk_shutdown & RCV_SHUTDOWN) ? 0 : -EAGAIN;

	*byte = oob->data;
	if (!(flags & MSG_PEEK))
		WRITE_ONCE(oob->data, SDP_OOB_READ);
	return 1;
}

/**
 * sdp_oob_recv() - recv() with MSG_OOB
 * @st: stream of a socket that is not locked
 * @msg: where to put the byte
 * @len: room there
 * @flags: MSG_PEEK, MSG_TRUNC
 *
 * Never waits but for user memory.  As with TCP the byte is read even
 * if it cannot be delivered.
 *
 * Return: as TCP: 1, or 0 if there was no room; -EINVAL if there is no urgent
 * data, or it was read, or is inline; -EAGAIN if it is announced and has not
 * arrived, but 0 if it never will; -ENOTCONN; -EFAULT.
 */
int sdp_oob_recv(struct sdp_stream *st, struct msghdr *msg, size_t len, int flags)
{
	u8 byte;
	int ret;

	sdp_lock_sock(st->sk);
	sdp_integrated_pull(st);
	ret = sdp_oob_take(st, flags, &byte);
	sdp_release_sock(st->sk);
	if (ret <= 0)
		return ret;
	msg->msg_flags |= MSG_OOB;
	if (!len) {
		msg->msg_flags |= MSG_TRUNC;
		return 0;
	}
	if (!(flags & MSG_TRUNC) && memcpy_to_msg(msg, &byte, 1))
		return -EFAULT;
	return 1;
}

/**
 * sdp_oob_flags() - flags for the base header of a message that leaves now
 * @tx: send side
 * @urgent: its last byte is urgent
 *
 * Every message that leaves while an urgent byte waits behind it, for credits
 * for instance, announces that byte.
 */
u8 sdp_oob_flags(struct sdp_tx *tx, bool urgent)
{
	if (urgent) {
		tx->urgent--;
		tx->announced = false;
		return SDP_OOB_PRES | SDP_OOB_PEND;
	}
	tx->announced = tx->urgent;
	return tx->urgent ? SDP_OOB_PEND : 0;
}

/**
 * sdp_oob_want_announce() - whether an empty message should announce a byte
 * @tx: send side, of which all was sent that could be
 */
bool sdp_oob_want_announce(const struct sdp_tx *tx)
{
	return tx->urgent && !tx->announced;
}
