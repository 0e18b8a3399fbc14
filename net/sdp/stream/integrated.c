// SPDX-License-Identifier: GPL-2.0
/*
 * Integrated buffering: a provider that copies all that it sends takes it from where the
 * program has it, and the send ring is left out (Sockets Direct Protocol for hybrid
 * network stacks, section 4.1).
 *
 * Messages, credits and rings are those of the engine that the connection has; only where
 * the payload comes from is different.  What cannot leave at once goes by way of the send
 * ring, and so does what is written while anything is there.
 */
#include <linux/jiffies.h>
#include <linux/net.h>
#include <linux/uio.h>

#include "stream.h"

/* In a burst only writes that are worth a message of their own are not coalesced. */
#define SDP_INTEGRATED_BURST	(16U * 1024)

/* Whether what is written next would wait for company. */
static bool sdp_integrated_waits(const struct sdp_stream *st, struct msghdr *msg, u32 len)
{
	const struct sdp_tx *tx = &st->tx;

	return msg->msg_flags & SDP_SEND_MORE || sdp_base(st->sk)->opt.cork ||
	       sdp_tx_nagle(st, len) ||
	       (tx->out.size && len < SDP_INTEGRATED_BURST && sdp_burst_hold(&tx->burst));
}

/*
 * Whether what is written next need not wait, for what goes before it or for company, and
 * does not take more memory of the provider's than the program has allowed.
 */
static bool sdp_integrated_suits(const struct sdp_stream *st, struct msghdr *msg, u32 len)
{
	const struct sdp_tx *tx = &st->tx;

	return sdp_rx_may_post(st) && sdp_tx_is_empty(tx) && !tx->reg_first &&
	       !(msg->msg_flags & MSG_OOB) && !sdp_integrated_waits(st, msg, len) &&
	       (!tx->out.size || sdp_immediate_written(st)) &&
	       sdp_tx_integrated(st) + len <= max(sdp_tx_limit(st), len);
}

/* The request that takes the payload along; a header is inline. */
static void sdp_integrated_build(struct sdp_stream *st, const struct sdp_msg *msg, bool signal,
				 u8 *hdr, struct ib_sge *sge, struct ib_rdma_wr *wr)
{
	*wr = (struct ib_rdma_wr){
		.wr.wr_cqe = &st->tx_cqe,
		.wr.send_flags = IB_SEND_INLINE | (signal ? IB_SEND_SIGNALED : 0) |
				 (msg->bsdh.flags & SDP_OOB_PEND ? IB_SEND_SOLICITED : 0),
		.wr.sg_list = sge,
	};
	if (st->tx.out.size) {
		wr->wr.opcode = IB_WR_RDMA_WRITE_WITH_IMM;
		wr->wr.ex.imm_data = cpu_to_be32(sdp_imm_encode(&msg->bsdh));
		wr->remote_addr = st->tx.out_addr + sdp_outring_offset(&st->tx.out);
		wr->rkey = st->tx.out_rkey;
		return;
	}
	wr->wr.opcode = IB_WR_SEND;
	wr->wr.num_sge = 1;
	sge->addr = (uintptr_t)hdr;
	sge->length = sdp_msg_encode(msg, hdr, SDP_TX_HDR_LEN);
}

static void sdp_integrated_sent(struct sdp_stream *st, const struct sdp_msg *msg, bool signal)
{
	struct sdp_tx *tx = &st->tx;
	u32 len = msg->payload_len;
	struct sdp_tx_wr *twr;

	if (!sdp_tx_outstanding(st))
		tx->since = jiffies;
	sdp_tx_said(st, msg);
	if (tx->out.size)
		sdp_tx_ring_written(tx, len);
	twr = sdp_tx_account(st, 0, signal);
	twr->data = true;
	twr->integrated = len;
	tx->bytes_since_signal += signal ? 0 : len;
	WRITE_ONCE(tx->integrated, tx->integrated + len);
	sdp_alive_written(st);
	sdp_need_answered(&st->rx.ring.need);
	SDP_SOCK_INC_STATS(st->sk, SDP_MIB_DATAOUT);
	SDP_SOCK_ADD_STATS(st->sk, SDP_MIB_INTEGRATEDBYTESOUT, len);
}

/* It may have to be posted, or all of its kind. */
static int sdp_integrated_refused(struct sdp_stream *st, int err)
{
	if (err != -EAGAIN && err != -EFAULT)
		st->link->iter_max = 0;
	return err == -EFAULT ? err : -EAGAIN;
}

/* Sends so many bytes as one message; returns 0, -EAGAIN, or -EFAULT if they are not there. */
static int sdp_integrated_send(struct sdp_stream *st, struct iov_iter *from, u32 len)
{
	bool signal = sdp_tx_want_signal(st, len, st->tx.answers);
	struct sdp_credit credit;
	u8 hdr[SDP_TX_HDR_LEN];
	struct ib_rdma_wr wr;
	struct ib_sge sge;
	struct sdp_msg msg = {
		.bsdh.mid = SDP_MID_DATA,
		.bsdh.flags = sdp_oob_flags(&st->tx, false),
		.payload_len = len,
	};
	int err;

	sdp_rx_settle(st);
	credit = st->credit;
	sdp_tx_number(st, &msg);
	sdp_integrated_build(st, &msg, signal, hdr, &sge, &wr);
	err = st->link->dev->ulp->send_iter(st->link->qp, &wr.wr, from, len);
	if (err) {
		st->credit = credit;
		return sdp_integrated_refused(st, err);
	}
	trace_sdp_post(st->sk, &wr.wr);
	sdp_integrated_sent(st, &msg, signal);
	return 0;
}

/**
 * sdp_integrated_write() - have the provider send what the program writes
 * @st: stream of a locked socket, between sdp_tx_begin_write() and sdp_tx_end_write();
 *	no pages go before what is written
 * @msg: what it writes, not empty
 * @want: set to how many bytes were to be copied
 *
 * Context: process context; does not wait for the program's memory.
 * Return: bytes, as many as one message takes; 0 if they are for the send ring; -EFAULT if
 * the next @want bytes are not there.
 */
int sdp_integrated_write(struct sdp_stream *st, struct msghdr *msg, u32 *want)
{
	u32 len = min_t(size_t, msg_data_left(msg), st->link->iter_max);
	enum sdp_tx_wait why;
	int err;

	sdp_owned(st->sk);
	if (!sdp_integrated_suits(st, msg, len))
		return 0;
	sdp_tx_want(st, len);
	len = sdp_tx_fit(st, min(len, st->tx.max_payload), &why);
	if (!len)
		return 0;
	*want = len;
	err = sdp_integrated_send(st, &msg->msg_iter, len);
	if (err)
		return err == -EFAULT ? err : 0;
	return len;
}

/**
 * sdp_integrated_want_room() - whether a writer had better wait for room at the peer
 * @st: stream of a locked socket for which sdp_integrated_write() has returned 0
 * @msg: what is left to be written
 *
 * There is room in the send ring as well, but what is copied there is copied once more.  But
 * a wire may be so long that room does not come while a writer waits.
 *
 * Return: true if that is all that is missing, see sdp_tx_want_room().
 */
bool sdp_integrated_want_room(struct sdp_stream *st, struct msghdr *msg)
{
	u32 len = min_t(size_t, msg_data_left(msg), st->link->iter_max);

	sdp_owned(st->sk);
	if (len < SDP_INTEGRATED_BURST || time_before(jiffies, st->tx.patient_from) ||
	    !sdp_integrated_suits(st, msg, len))
		len = 0;
	return sdp_tx_want_room(st, min(len, st->tx.max_payload));
}

/**
 * sdp_integrated_at_once() - a write that is one message, and leaves at once
 * @st: stream of a locked socket that may be written to; no pages go before what is written
 * @msg: what user space writes
 * @len: bytes
 *
 * The fast path of sdp_send_locked() for requests and answers.
 *
 * Context: process context; does not wait for user memory.
 * Return: whether the bytes were taken; if not, nothing has happened.
 */
bool sdp_integrated_at_once(struct sdp_stream *st, struct msghdr *msg, size_t len)
{
	enum sdp_tx_wait why;

	sdp_owned(st->sk);
	if (!len || len > min(st->link->iter_max, st->tx.max_payload) ||
	    (msg->msg_flags & ~SDP_SEND_FAST) || msg->msg_controllen ||
	    !sdp_integrated_suits(st, msg, len) || sdp_tx_fit(st, len, &why) < len ||
	    sdp_integrated_send(st, &msg->msg_iter, len))
		return false;
	st->tx.intent = SDP_INTENT_NONE;
	SDP_SOCK_ADD_STATS(st->sk, SDP_MIB_BYTESOUT, len);
	return true;
}
