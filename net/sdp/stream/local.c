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
/* For so many bytes an instruction that moves them pays. */
#define SDP_LOCAL_LONG		256
/* So many bytes of a program's are copied at once, while softirqs wait. */
#define SDP_LOCAL_PART		(64U * 1024)

/**
 * struct sdp_local_from - what is left to be copied of a request
 * @sge: piece that has the next byte, by the processor's address; if that is 0 the bytes
 *	are where they belong already, see sdp_local_place()
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
		if (from->sge->addr)
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
 * Both ends look at what has come when no socket lock keeps softirqs away: before this
 * returns if it was called by the owner.
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

static int sdp_local_map(struct sdp_payload *payload, u32 off, u32 len, struct ib_sge *sge)
{
	*sge = (struct ib_sge){ .length = len };
	return 1;
}

static struct sdp_done *sdp_local_consume(struct sdp_payload *payload, u32 len)
{
	return NULL;
}

/* What sdp_local_place() has copied. */
static struct sdp_payload sdp_local_payload = {
	.map = sdp_local_map,
	.consume = sdp_local_consume,
};

/*
 * Whether what is written need not wait for anything that goes before it, or for company,
 * and may be posted: see sdp_conn_drain().
 */
static bool sdp_local_may_write(const struct sdp_stream *st, struct msghdr *msg)
{
	return sdp_tx_is_empty(&st->tx) && msg_data_left(msg) >= SDP_LOCAL_LEAST &&
	       !(msg->msg_flags & (MSG_OOB | SDP_SEND_MORE)) &&
	       !sdp_base(st->sk)->opt.cork && sdp_rx_may_post(st);
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
	enum sdp_tx_wait why;

	sdp_owned(st->sk);
	if (!sdp_local_may_write(st, msg))
		return 0;
	sdp_tx_want(st, len);
	len = sdp_tx_fit(st, min(len, st->tx.max_payload), &why);
	if (len)
		len = sdp_local_place(st, &msg->msg_iter, len);
	if (!len)
		return 0;
	WRITE_ONCE(st->async_bytes, st->async_bytes + len);
	SDP_SOCK_ADD_STATS(st->sk, SDP_MIB_LOCALBYTESOUT, len);
	/* If the connection ends now it is as if it had ended a moment later. */
	sdp_tx_send_direct(st, len, &sdp_local_payload, SDP_FLUSH_CALL);
	return len;
}
