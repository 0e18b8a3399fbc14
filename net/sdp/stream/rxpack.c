// SPDX-License-Identifier: GPL-2.0
/*
 * Room for a peer whose data nobody reads.
 *
 * A message takes a buffer, however short it is, so that a few short ones take
 * them all.  A program that reads gives the buffers back.  One that waits for
 * more to come before it reads (SO_RCVLOWAT, MSG_PEEK, FIONREAD) would wait for
 * ever; for it payloads move together, so that all buffers but one are full, and
 * the others are posted again.
 *
 * A byte moves twice at most: into a buffer that is full afterwards, or to the
 * start of its own, which is filled next.  Nothing of this happens as long as the program reads.
 */
#include "conn/conn.h"
#include "socket/socket.h"
#include "rx.h"
#include "tx.h"

/* A program that reads nothing for so long does not read. */
#define SDP_RX_PATIENCE		(HZ / 100)

static u32 sdp_rx_tail_room(const struct sdp_rx_buf *buf)
{
	return buf->size - buf->off - buf->len;
}

/*
 * Moves what fits to the buffer before, which the device does not write to.
 * As in a ring, arrivals may share a time, the latest.
 */
static void sdp_rx_pack_pair(struct sdp_sock *ssk, struct sdp_rx_buf *to,
			     struct sdp_rx_buf *from)
{
	u32 len = min(sdp_rx_tail_room(to), from->len);

	if (!len)
		return;
	memcpy(page_address(to->page) + to->off + to->len,
	       page_address(from->page) + from->off, len);
	to->len += len;
	to->stamp = from->stamp;
	from->off += len;
	from->len -= len;
	if (from->len) {
		/* Room is only behind what is there. */
		memmove(page_address(from->page),
			page_address(from->page) + from->off, from->len);
		from->off = 0;
		return;
	}
	list_del_init(&from->list);
	sdp_rx_recycle(ssk, from);
}

/**
 * sdp_rx_pack_last() - a payload has come that nobody is about to read
 * @ssk: locked socket (by its owner or in softirq) with unread data
 *
 * It is moved as a whole or not at all: no time is spent on what frees nothing.
 */
void sdp_rx_pack_last(struct sdp_sock *ssk)
{
	struct list_head *queue = &ssk->conn.rx.queue;
	struct sdp_rx_buf *last, *before;

	if (list_empty(queue) || list_is_singular(queue))
		return;
	last = list_last_entry(queue, struct sdp_rx_buf, list);
	before = list_prev_entry(last, list);
	if (last->len <= sdp_rx_tail_room(before))
		sdp_rx_pack_pair(ssk, before, last);
}

static void sdp_rx_pack(struct sdp_sock *ssk)
{
	struct sdp_rx_buf *buf, *next, *to = NULL;

	list_for_each_entry_safe(buf, next, &ssk->conn.rx.queue, list) {
		if (to)
			sdp_rx_pack_pair(ssk, to, buf);
		if (buf->len)
			to = buf;
	}
}

static bool sdp_rx_may_pack(const struct sdp_sock *ssk)
{
	return sdp_rx_may_post(&ssk->conn) && !ssk->conn.rx.ring.pos.size;
}

/**
 * sdp_rx_relieve_later() - the peer may wait, see whether somebody reads
 * @ssk: locked socket (by its owner or in softirq)
 */
void sdp_rx_relieve_later(struct sdp_sock *ssk)
{
	struct sdp_rx *rx = &ssk->conn.rx;

	if (rx->relief || rx->rb.growing || !sdp_rx_may_pack(ssk) ||
	    ssk->conn.credit.rx_advertised >= SDP_PEER_BUFS_MIN)
		return;
	if (rx->packing && sdp_credit_want_relief(&ssk->conn.credit)) {
		ssk->conn.tx.empty_due = true;
		return;
	}
	WRITE_ONCE(rx->relief, true);
	rx->relief_copied = rx->copied;
	sdp_timer_arm(&ssk->sk, SDP_TIMER_RELIEF, SDP_RX_PATIENCE);
}

static void sdp_rx_make_room(struct sdp_sock *ssk)
{
	struct sdp_conn *conn = &ssk->conn;

	conn->rx.packing = true;
	sdp_rx_pack(ssk);
	if (!sdp_credit_want_relief(&conn->credit))
		sdp_rx_add_spare(ssk);
	if (!sdp_credit_want_relief(&conn->credit))
		return;
	conn->tx.empty_due = true;
	conn->tx.cause = SDP_FLUSH_INTERRUPT;
	sdp_tx_push(ssk);
	conn->tx.cause = SDP_FLUSH_CALL;
}

/**
 * sdp_rx_relieve() - the peer has waited, and the program had time to read
 * @ssk: locked socket
 *
 * The handler of SDP_TIMER_RELIEF.  If there is no room to be made, those who
 * wait for more data than there is have waited in vain.
 *
 * Context: process context, may sleep for memory.
 */
void sdp_rx_relieve(struct sdp_sock *ssk)
{
	struct sdp_rx *rx = &ssk->conn.rx;
	struct sock *sk = &ssk->sk;

	if (!rx->relief)
		return;
	WRITE_ONCE(rx->relief, false);
	if (!sdp_rx_may_pack(ssk) ||
	    ssk->conn.credit.rx_advertised >= SDP_PEER_BUFS_MIN)
		return;
	if (rx->copied != rx->relief_copied) {
		sdp_rx_relieve_later(ssk);
		return;
	}
	sdp_rx_make_room(ssk);
	if (sdp_rx_full(ssk) && sdp_rx_readable(sk))
		sk->sk_data_ready(sk);
}

/**
 * sdp_rx_was_read() - the program has read
 * @ssk: locked socket
 */
void sdp_rx_was_read(struct sdp_sock *ssk)
{
	ssk->conn.rx.packing = false;
	sdp_rx_relieve_later(ssk);
}
