// SPDX-License-Identifier: GPL-2.0
/*
 * What a device would do between two ends in this kernel: send requests are executed by
 * their caller, who copies what they say to where the other end expects it.
 *
 * Messages, credits and rings are those of any connection, so that all that holds for the
 * wire holds here.  Both ends are this module's, and know the truth of each other's
 * buffers (pair.c): what breaks the rules is a mistake of ours.
 */
#include "pair.h"
#include "pair_internal.h"
#include "stream.h"

/* From so many bytes on a write goes straight to the other end; others may be coalesced. */
#define SDP_LOCAL_LEAST		PAGE_SIZE
/* In a burst only these: they take longer to copy once more than a reader to wake up. */
#define SDP_LOCAL_BULK		(32U * 1024)
/* For so many bytes an instruction that moves them pays. */
#define SDP_LOCAL_LONG		256
/* So many bytes of a program's are copied at once, while softirqs wait. */
#define SDP_LOCAL_PART		(64U * 1024)

/**
 * struct sdp_local_from - what is left to be copied of a request
 * @sge: piece that has the next byte, by the processor's address
 * @off: where in it
 */
struct sdp_local_from {
	const struct ib_sge *sge;
	u32 off;
};

static u32 sdp_local_len(const struct ib_send_wr *wr)
{
	u32 len = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++)
		len += wr->sg_list[i].length;
	return len;
}

/*
 * The kernel's memcpy() depends on its version and on what the processor says of itself,
 * and may take three times as long for what is long.
 */
static void sdp_local_move(void *to, const void *from, size_t len)
{
#if defined(CONFIG_X86_64) && !defined(CONFIG_KASAN) && !defined(CONFIG_KCSAN) && \
	!defined(CONFIG_KMSAN)
	if (len >= SDP_LOCAL_LONG) {
		size_t words = len >> 3;

		asm volatile("rep movsq"
			     : "+D" (to), "+S" (from), "+c" (words) : : "memory");
		len &= 7;
	}
#endif
	memcpy(to, from, len);
}

static void sdp_local_copy(struct sdp_local_from *from, void *to, u32 len)
{
	u32 part;

	for (; len; len -= part, to += part) {
		if (from->off == from->sge->length) {
			from->sge++;
			from->off = 0;
		}
		part = min(len, from->sge->length - from->off);
		sdp_local_move(to, (void *)(uintptr_t)from->sge->addr + from->off, part);
		from->off += part;
	}
}

/* The next receive buffer; NULL if an end has gone between its promise and its deed. */
static struct sdp_rx_buf *sdp_local_buf(const struct sdp_stream *to)
{
	const struct sdp_rx *rx = &to->rx;

	/* Pairs with the release in sdp_rx_give(). */
	if (rx->done == smp_load_acquire(&rx->given))
		return NULL;
	return rx->posted[rx->done & rx->mask];
}

/* As sdp_rx_build() tells a device: a header, and payload if there is memory for it. */
static bool sdp_local_send(struct sdp_stream *to, const struct ib_send_wr *wr)
{
	struct sdp_rx_buf *buf = sdp_local_buf(to);
	struct sdp_local_from from = { .sge = wr->sg_list };
	struct ib_wc wc = { .opcode = IB_WC_RECV, .byte_len = sdp_local_len(wr) };
	u32 hdr;

	if (!buf)
		return false;
	hdr = min_t(u32, wc.byte_len, buf->page ? SDP_BSDH_LEN : SDP_MSG_HDR_MAX);
	if (WARN_ON_ONCE(wc.byte_len - hdr > (buf->page ? buf->size : 0)))
		return false;
	sdp_local_copy(&from, buf->bsdh, hdr);
	if (buf->page)
		sdp_local_copy(&from, page_address(buf->page), wc.byte_len - hdr);
	sdp_rx_note(to, &wc);
	return true;
}

/* A write into the ring; what tells of it comes with it. */
static bool sdp_local_fill(struct sdp_stream *to, const struct ib_send_wr *wr)
{
	struct sdp_local_from from = { .sge = wr->sg_list };
	struct ib_wc wc = {
		.opcode = IB_WC_RECV_RDMA_WITH_IMM,
		.wc_flags = IB_WC_WITH_IMM,
		.byte_len = sdp_local_len(wr),
		.ex.imm_data = wr->ex.imm_data,
	};
	u64 addr = rdma_wr(wr)->remote_addr;
	u32 left = wc.byte_len;
	void *room;
	u32 part;

	if (!sdp_local_buf(to))
		return false;
	for (; left; left -= part, addr += part) {
		room = sdp_rx_ring_room(to, addr, &part);
		if (WARN_ON_ONCE(!room))
			return false;
		part = min(part, left);
		sdp_local_copy(&from, room, part);
	}
	sdp_rx_note(to, &wc);
	return true;
}

static bool sdp_local_deliver(struct sdp_stream *to, const struct ib_send_wr *wr)
{
	switch (wr->opcode) {
	case IB_WR_SEND:
		return sdp_local_send(to, wr);
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return sdp_local_fill(to, wr);
	case IB_WR_RDMA_WRITE:
		/* A probe: that there is another end is the answer. */
		return !WARN_ON_ONCE(wr->num_sge);
	case IB_WR_REG_MR:
		/* Nobody needs the key. */
		return true;
	default:
		WARN_ON_ONCE(1);
		return false;
	}
}

/* Executes requests; returns how many have a completion, or -errno. */
static int sdp_local_execute(struct sdp_stream *to, const struct ib_send_wr *wr)
{
	int signaled = 0;

	if (!to)
		return -ECONNRESET;
	lockdep_assert_held(&to->pair->lock);
	for (; wr; wr = wr->next) {
		if (!sdp_local_deliver(to, wr))
			return -EPROTO;
		signaled += !!(wr->send_flags & IB_SEND_SIGNALED);
	}
	return signaled;
}

/**
 * sdp_local_submit() - execute send requests whose other end is in this kernel
 * @st: stream of a locked socket (by its owner or in softirq) that is an end of a pair
 * @wr: the requests, with the processor's addresses
 *
 * The other end looks at what has come when no socket lock keeps softirqs away, and this
 * one at its completions when its owner releases the lock.
 *
 * Return: whether all were executed; if not the connection is to end, as the other end
 * does.
 */
bool sdp_local_submit(struct sdp_stream *st, const struct ib_send_wr *wr)
{
	struct sdp_pair *pair = st->pair;
	enum sdp_pair_end other = !st->pair_end;
	int signaled;

	sdp_owned(st->sk);
	spin_lock_bh(&pair->lock);
	signaled = sdp_local_execute(pair->end[other], wr);
	if (signaled >= 0)
		tasklet_schedule(&pair->kick[other]);
	if (signaled > 0) {
		/* Pairs with the acquire in sdp_tx_reap(). */
		smp_store_release(&st->tx.signaled_done, st->tx.signaled_done + signaled);
		if (sdp_in_call(st->sk))
			set_bit(SDP_CONN_DEFERRED, &st->link->flags);
		else
			tasklet_schedule(&pair->kick[st->pair_end]);
	}
	spin_unlock_bh(&pair->lock);
	return signaled >= 0;
}

/* ---- writes that go straight to the other end's memory ---- */

/* Where the payload of the next message belongs, and how much of it is contiguous. */
static void *sdp_local_room(const struct sdp_stream *st, const struct sdp_stream *to, u32 done,
			    u32 *len)
{
	struct sdp_rx_buf *buf;

	lockdep_assert_held(&st->pair->lock);
	if (st->tx.out.size)
		return sdp_rx_ring_room(to, st->tx.out_addr +
					    sdp_outring_offset(&st->tx.out) + done, len);
	buf = sdp_local_buf(to);
	if (!buf || !buf->page || done >= buf->size)
		return NULL;
	*len = buf->size - done;
	return page_address(buf->page) + done;
}

/* Copies a part, in one go; returns bytes, 0 if they are not there or the other end is not. */
static u32 sdp_local_place_part(struct sdp_stream *st, struct iov_iter *from, u32 done, u32 len)
{
	struct sdp_pair *pair = st->pair;
	void *room = NULL;
	u32 part = 0;

	spin_lock_bh(&pair->lock);
	if (pair->end[!st->pair_end])
		room = sdp_local_room(st, pair->end[!st->pair_end], done, &part);
	part = min3(part, len - done, SDP_LOCAL_PART);
	if (!room || !sdp_copy_in(room, part, from))
		part = 0;
	spin_unlock_bh(&pair->lock);
	return part;
}

/* Copies what the program's memory has; nothing is delivered yet. */
static u32 sdp_local_place(struct sdp_stream *st, struct iov_iter *from, u32 len)
{
	u32 done = 0;
	u32 part;

	do {
		part = sdp_local_place_part(st, from, done, len);
		done += part;
	} while (part && done < len);
	return done;
}

/*
 * The other end learns of what was copied to where it belongs; returns false if it has gone
 * between its promise and its deed.
 */
static bool sdp_local_tell(struct sdp_stream *st, struct sdp_stream *to, u32 len)
{
	struct sdp_tx *tx = &st->tx;
	struct sdp_msg msg = {
		.bsdh.mid = SDP_MID_DATA,
		.bsdh.flags = sdp_oob_flags(tx, false),
		.payload_len = len,
	};
	struct ib_wc wc = { .opcode = IB_WC_RECV, .byte_len = len };

	lockdep_assert_held(&st->pair->lock);
	if (!sdp_local_buf(to))
		return false;
	sdp_tx_say(st, &msg);
	if (tx->out.size) {
		wc.opcode = IB_WC_RECV_RDMA_WITH_IMM;
		wc.wc_flags = IB_WC_WITH_IMM;
		wc.ex.imm_data = cpu_to_be32(sdp_imm_encode(&msg.bsdh));
		sdp_tx_ring_written(tx, len);
	} else {
		wc.byte_len += sdp_msg_encode(&msg, sdp_local_buf(to)->bsdh, SDP_MSG_HDR_MAX);
	}
	sdp_rx_note(to, &wc);
	sock_hold(to->sk);
	return true;
}

/* Whether what comes next may wait for company: writes come faster than answers. */
static bool sdp_local_is_burst(const struct sdp_stream *st)
{
	return st->tx.out.size && sdp_burst_hold(&st->tx.burst);
}

/*
 * Has the other end look at what it was told of, before this returns; the socket of the
 * caller, who is its owner, is not locked against softirqs.  The other end may have left
 * meanwhile, and is released here.  What was sent has arrived; it is not in the send ring,
 * nor was any request posted.
 */
static void sdp_local_told(struct sdp_stream *st, struct sdp_stream *to, u32 len)
{
	struct sock *sk = to->sk;

	local_bh_disable();
	sdp_link_kick(to->link);
	local_bh_enable();
	sock_put(sk);
	st->stats.bytes_acked += len;
	st->stats.last_heard = jiffies;
	sdp_need_answered(&st->rx.ring.need);
	SDP_SOCK_INC_STATS(st->sk, SDP_MIB_DATAOUT);
	SDP_SOCK_ADD_STATS(st->sk, SDP_MIB_LOCALBYTESOUT, len);
}

/*
 * Whether what is written need not wait for anything that goes before it, and may be
 * posted: see sdp_conn_drain().
 */
static bool sdp_local_may_write(const struct sdp_stream *st, const struct msghdr *msg)
{
	return sdp_tx_is_empty(&st->tx) && !sdp_tx_stalled(&st->tx) &&
	       !(msg->msg_flags & (MSG_OOB | SDP_SEND_MORE)) &&
	       !sdp_base(st->sk)->opt.cork && sdp_rx_may_post(st);
}

/* What sdp_local_write() takes if the other end has the room. */
static bool sdp_local_suits(const struct sdp_stream *st, struct msghdr *msg)
{
	size_t least = sdp_local_is_burst(st) ? SDP_LOCAL_BULK : SDP_LOCAL_LEAST;

	return msg_data_left(msg) >= least && sdp_local_may_write(st, msg);
}

/**
 * sdp_local_write() - copy what the program writes to where the other end reads it
 * @st: stream of a locked socket that is an end of a pair, between sdp_tx_begin_write()
 *	and sdp_tx_end_write()
 * @msg: what it writes, not empty
 *
 * One copy less than by way of the send ring, for what would leave at once.
 *
 * Context: process context; does not wait for the program's memory.
 * Return: bytes, as many as one message takes; 0 if they are for the send ring.
 */
u32 sdp_local_write(struct sdp_stream *st, struct msghdr *msg)
{
	u32 len = min_t(size_t, msg_data_left(msg), INT_MAX);
	struct sdp_pair *pair = st->pair;
	struct sdp_stream *to;
	enum sdp_tx_wait why;
	bool told;

	sdp_owned(st->sk);
	if (!sdp_local_suits(st, msg))
		return 0;
	sdp_tx_want(st, len);
	len = sdp_tx_fit(st, min(len, st->tx.max_payload), &why);
	if (len)
		len = sdp_local_place(st, &msg->msg_iter, len);
	if (!len)
		return 0;
	spin_lock_bh(&pair->lock);
	to = pair->end[!st->pair_end];
	told = to && sdp_local_tell(st, to, len);
	spin_unlock_bh(&pair->lock);
	/* If the other end has left it is as if it had done so a moment later. */
	if (told)
		sdp_local_told(st, to, len);
	/* The rest of a write does not wait for company, with no completion to end that. */
	st->tx.burst.due = msg_data_left(msg);
	return len;
}

/**
 * sdp_local_want_room() - whether a writer had better wait for room at the other end
 * @st: stream of a locked socket for which sdp_local_write() has returned 0
 * @msg: what is left to be written
 *
 * There is room in the send ring as well, but what is copied there is copied once more.
 *
 * Return: true if that is all that is missing, see sdp_tx_want_room().
 */
bool sdp_local_want_room(struct sdp_stream *st, struct msghdr *msg)
{
	sdp_owned(st->sk);
	return sdp_tx_want_room(st, sdp_local_suits(st, msg) ? SDP_LOCAL_LEAST : 0);
}

/* Whether the other end has read all that it got: then nothing is won by waiting for more. */
static bool sdp_local_has_read(const struct sdp_stream *to)
{
	return !READ_ONCE(to->rx.bytes) && READ_ONCE(to->rx.seen) == to->rx.done;
}

/* Returns whether all was copied to the other end, which has been told. */
static bool sdp_local_put(struct sdp_stream *st, struct sdp_stream *to, struct msghdr *msg,
			  u32 len)
{
	void *room;
	u32 part;

	if (!to || !sdp_local_has_read(to))
		return false;
	room = sdp_local_room(st, to, 0, &part);
	if (!room || part < len || !sdp_copy_in(room, len, &msg->msg_iter))
		return false;
	return sdp_local_tell(st, to, len);
}

/**
 * sdp_local_at_once() - a write for which the other end may wait
 * @st: stream of a locked socket that may be written to, and is an end of a pair
 * @msg: what user space writes
 * @len: bytes
 *
 * The fast path of sdp_send_locked() for requests and answers: if both ends have nothing
 * else to do, what is written is copied, and its reader woken.
 *
 * Context: process context; does not wait for user memory.
 * Return: whether the bytes were taken; if not, nothing has happened.
 */
bool sdp_local_at_once(struct sdp_stream *st, struct msghdr *msg, size_t len)
{
	struct sdp_pair *pair = st->pair;
	struct sdp_stream *to;
	enum sdp_tx_wait why;
	bool done;

	sdp_owned(st->sk);
	if (!len || len > SDP_LOCAL_PART ||
	    (msg->msg_flags & ~SDP_SEND_FAST) || msg->msg_controllen ||
	    !sdp_local_may_write(st, msg) || len > st->tx.max_payload ||
	    sdp_local_is_burst(st) ||
	    sdp_tx_fit(st, len, &why) < len)
		return false;
	spin_lock_bh(&pair->lock);
	to = pair->end[!st->pair_end];
	done = sdp_local_put(st, to, msg, len);
	spin_unlock_bh(&pair->lock);
	if (!done)
		return false;
	sdp_local_told(st, to, len);
	st->tx.intent = SDP_INTENT_NONE;
	SDP_SOCK_ADD_STATS(st->sk, SDP_MIB_BYTESOUT, len);
	return true;
}
