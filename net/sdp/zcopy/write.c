// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA writes from the program's pages straight into memory that a reader at the peer has
 * advertised (SinkAvail): no copy at either end, one trip, and no key to the writer's
 * memory.
 */
#include "base/base.h"
#include "rdma/rdma.h"
#include "stream/stream.h"
#include "zcopy.h"

/**
 * sdp_zwrite_size() - how much memory of a reader's the next bytes may be written to
 * @z: zero copy of a locked socket that is connected
 *
 * Return: bytes; 0 if none waits for them, or bytes go before them.
 */
u32 sdp_zwrite_size(const struct sdp_zcopy *z)
{
	const struct sdp_tx *tx = &z->st->tx;

	sdp_owned(z->st->sk);
	if (likely(!z->sinktarget.held))
		return 0;
	return sdp_sinktarget_usable(&z->sinktarget, z->st->stats.data_out) &&
	       tx->wait_head == tx->wait_tail ? z->sinktarget.size : 0;
}

/* The requests for pages, of which each describes some, and the message. */
static u32 sdp_zwrite_requests(const struct sdp_zcopy *z, const struct sdp_zpages *zp)
{
	return DIV_ROUND_UP(zp->nr, z->st->link->max_sge - 1) + 1;
}

/**
 * sdp_zwrite_possible() - whether pages may be written to a reader's memory now
 * @z: zero copy of a locked socket (by its owner or in softirq)
 * @zp: pages that are next
 *
 * If not they are sent as messages, which says that the reader's memory is not used.
 */
bool sdp_zwrite_possible(const struct sdp_zcopy *z, const struct sdp_zpages *zp)
{
	return sdp_zwrite_size(z) && !z->st->fin_sent &&
	       z->st->ops->may_send(z->st->sk, SDP_MID_RDMAWRCOMPL, 0) &&
	       sdp_tx_room(&z->st->tx, SDP_TX_RESERVED + sdp_zwrite_requests(z, zp));
}

/* Writes the next bytes, as many as one request describes. */
static bool sdp_zwrite_part(struct sdp_zcopy *z, u32 done, u32 *len)
{
	const struct sdp_sinktarget *t = &z->sinktarget;
	struct sdp_stream *st = z->st;
	bool signal = st->link->dev->data_in_place;
	struct ib_sge sge[SDP_TX_DIRECT_SGE];
	struct ib_rdma_wr wr = {
		.wr.wr_cqe = &st->tx_cqe,
		.wr.opcode = IB_WR_RDMA_WRITE,
		.wr.sg_list = sge,
		.wr.send_flags = signal ? IB_SEND_SIGNALED : 0,
		.remote_addr = t->vaddr + done,
		.rkey = t->rkey,
	};

	*len = sdp_zdirect_fit(z, *len);
	wr.wr.num_sge = sdp_zdirect_take(z, *len, sge);
	sdp_tx_account(st, 0, signal);
	return sdp_tx_submit(st, &wr.wr, false);
}

/* Says how much was written, and ends the key if the peer wants that done. */
static bool sdp_zwrite_tell(struct sdp_zcopy *z, u32 len, struct sdp_done *done)
{
	struct sdp_msg msg = {
		.bsdh.mid = SDP_MID_RDMAWRCOMPL,
		.bsdh.flags = sdp_oob_flags(&z->st->tx, false),
		.rdma_len = len,
		.ends_key = z->ends_keys,
		.key = z->sinktarget.rkey,
	};

	sdp_sinktarget_drop(&z->sinktarget);
	SDP_SOCK_ADD_STATS(z->st->sk, SDP_MIB_SINKBYTESOUT, len);
	return sdp_tx_post_done(z->st, &msg, done);
}

/**
 * sdp_zwrite_post() - write the next pages to memory that a reader has advertised
 * @z: zero copy of a locked socket (by its owner or in softirq); sdp_zwrite_possible()
 *	said yes
 *
 * Their pages are free when the message behind the writes has completed.  What does not
 * fit in that memory is left.
 *
 * Return: whether the connection lives.
 */
bool sdp_zwrite_post(struct sdp_zcopy *z)
{
	struct sdp_zpages *zp = z->next;
	u32 all = min(z->sinktarget.size, zp->len - zp->sent);
	u32 done, len;

	sdp_owned(z->st->sk);
	for (done = 0; done < all; done += len) {
		len = all - done;
		if (!sdp_zwrite_part(z, done, &len))
			return false;
	}
	zp->written += all;
	if (zp->sent != zp->len)
		return sdp_zwrite_tell(z, all, NULL);
	sdp_zsend_advance(z);
	return sdp_zwrite_tell(z, all, &z->finished);
}
