// SPDX-License-Identifier: GPL-2.0
/*
 * The receiver's side of zero copy: RDMA reads from the peer's pages into the
 * program's, or word that a copy is wanted.
 */
#include <linux/uio.h>

#include "conn.h"
#include "device.h"
#include "mib.h"
#include "oob.h"
#include "rx.h"
#include "sock.h"
#include "tx.h"
#include "zcopy.h"

/*
 * How long a read may take.  The device's own retries end before, unless the
 * peer answers some of them now and then.
 */
#define SDP_ZRECV_LIMIT	(30 * HZ)

/**
 * sdp_zrecv_done() - completion of RDMA reads
 * @cq: completion queue
 * @wc: work completion
 *
 * Context: softirq, without the socket lock.
 */
void sdp_zrecv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct sdp_conn *conn = container_of(wc->wr_cqe, struct sdp_conn,
					     zcopy.read_cqe);
	struct sdp_sock *ssk = container_of(conn, struct sdp_sock, conn);

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		sdp_conn_wc_error(ssk, wc);
		return;
	}
	/* Pairs with the acquire in sdp_zrecv_reap(). */
	smp_store_release(&conn->zcopy.read_done, true);
	sdp_conn_kick(ssk);
}

static void sdp_zrecv_unmap(struct sdp_sock *ssk, struct sdp_zpages *zp)
{
	struct ib_qp *qp = ssk->conn.qp;

	rdma_rw_ctx_destroy(&ssk->conn.zcopy.rw, qp, qp->port, zp->sgt.sgl,
			    zp->sgt.orig_nents, DMA_FROM_DEVICE);
}

/**
 * sdp_zrecv_reap() - see whether what is read has arrived
 * @ssk: locked socket (by its owner or in softirq) with a queue pair
 */
void sdp_zrecv_reap(struct sdp_sock *ssk)
{
	struct sdp_conn *conn = &ssk->conn;
	struct sdp_zcopy *z = &conn->zcopy;

	/* Pairs with the release in sdp_zrecv_done(). */
	if (!z->in || !smp_load_acquire(&z->read_done))
		return;
	z->read_done = false;
	z->in->done = z->in->len;
	WRITE_ONCE(conn->rx.copied, conn->rx.copied + z->in->len);
	sdp_oob_passed(ssk);
	conn->stats.bytes_in += z->in->len;
	conn->stats.zcopy_in += z->in->len;
	conn->stats.last_in = jiffies;
	sdp_zsink_read_done(&z->sink);
	sdp_zrecv_release(ssk);
	/* Others may have waited for their turn. */
	ssk->sk.sk_data_ready(&ssk->sk);
}

/**
 * sdp_zrecv_release() - the device does not write to the pages any more
 * @ssk: locked socket (by its owner or in softirq) with a queue pair; nothing
 *	happens if there are none
 *
 * Their reader may free them as soon as the lock is given up.
 */
void sdp_zrecv_release(struct sdp_sock *ssk)
{
	struct sdp_zcopy *z = &ssk->conn.zcopy;
	struct sdp_zpages *zp = z->in;

	if (!zp)
		return;
	sdp_zrecv_unmap(ssk, zp);
	z->in = NULL;
	complete_all(&zp->over);
}

static void sdp_zrecv_refuse(struct sdp_sock *ssk)
{
	struct sdp_zsink *sink = &ssk->conn.zcopy.sink;

	if (!sdp_zsink_busy(sink) || sink->refusing)
		return;
	SDP_INC_STATS(sock_net(&ssk->sk), SDP_MIB_ZCOPYREFUSALS);
	ssk->conn.stats.zcopy_refusals++;
	sdp_zsink_refuse(sink);
}

/**
 * sdp_zrecv_offered() - the peer lets us read its pages
 * @ssk: locked socket (by its owner or in softirq)
 *
 * A reader that sleeps takes them.  Whoever sleeps otherwise, in poll() or in a
 * write, would wait for bytes that only a read brings; and who has offered
 * pages himself waits for a peer that may do the same.  A program that is busy
 * elsewhere may come and read.
 */
void sdp_zrecv_offered(struct sdp_sock *ssk)
{
	struct sdp_zcopy *z = &ssk->conn.zcopy;

	if (z->on && z->readers)
		ssk->sk.sk_data_ready(&ssk->sk);
	else if (!z->on || sdp_zsend_waited_for(z) ||
		 sock_flag(&ssk->sk, SOCK_FASYNC) ||
		 sdp_tx_has_sleeper(&ssk->sk))
		sdp_zrecv_refuse(ssk);
}

/**
 * sdp_zrecv_asked() - a program asks whether there is something to read
 * @ssk: socket, locked or not; for poll() the program is among its sleepers
 *
 * It may wait for that before it reads, so that it gets a copy.
 *
 * Context: process context.
 */
void sdp_zrecv_asked(struct sdp_sock *ssk)
{
	const struct sdp_zfifo *fifo = &ssk->conn.zcopy.sink.fifo;

	/* Either this sees the offer, or sdp_zrecv_offered() the sleeper. */
	if (READ_ONCE(fifo->head) == READ_ONCE(fifo->tail))
		return;
	set_bit(SDP_CONN_ASKED, &ssk->conn.flags);
	local_bh_disable();
	sdp_conn_kick(ssk);
	local_bh_enable();
}

/**
 * sdp_zrecv_answer() - act on sdp_zrecv_asked()
 * @ssk: locked socket (by its owner or in softirq)
 */
void sdp_zrecv_answer(struct sdp_sock *ssk)
{
	if (!ssk->conn.zcopy.readers)
		sdp_zrecv_refuse(ssk);
}

static bool sdp_zrecv_post(struct sdp_sock *ssk, struct sdp_zpages *zp)
{
	struct sdp_conn *conn = &ssk->conn;
	struct sdp_zcopy *z = &conn->zcopy;
	const struct sdp_zadvert *from;
	int wrs;

	from = sdp_zsink_read(&z->sink, zp->len);
	wrs = rdma_rw_ctx_init(&z->rw, conn->qp, conn->qp->port, zp->sgt.sgl,
			       zp->sgt.orig_nents, 0, from->vaddr, from->rkey,
			       DMA_FROM_DEVICE);
	if (wrs > (int)SDP_ZCOPY_READ_WRS)
		sdp_zrecv_unmap(ssk, zp);
	if (wrs < 0 || wrs > (int)SDP_ZCOPY_READ_WRS) {
		z->sink.reading = 0;
		return false;
	}
	z->in = zp;
	z->read_done = false;
	if (rdma_rw_ctx_post(&z->rw, conn->qp, conn->qp->port, &z->read_cqe,
			     NULL))
		sdp_conn_end(ssk, -ECONNRESET);
	return true;
}

/* Reads into the program's memory; returns bytes, 0 if that cannot be done. */
static u32 sdp_zrecv_read(struct sdp_sock *ssk, unsigned long addr, u32 len)
{
	struct sdp_zpages *zp;
	u32 done;

	zp = sdp_zpages_pin(ssk, addr, len, SDP_ZPAGES_RECV);
	if (!zp)
		return 0;
	if (sdp_zrecv_post(ssk, zp))
		sdp_zpages_wait(ssk, zp, SDP_ZRECV_LIMIT);
	done = zp->done;
	sdp_zpages_free(zp);
	return done;
}

/**
 * sdp_zrecv() - read what the peer offers straight into the program's memory
 * @ssk: locked socket without unread data; the lock is given up meanwhile
 * @iter: where to; advanced by what was read
 * @may: the program's call is one that can do so
 *
 * What cannot be read this way is refused, and comes by copy.
 *
 * Return: bytes.
 */
u32 sdp_zrecv(struct sdp_sock *ssk, struct iov_iter *iter, bool may)
{
	struct sdp_zcopy *z = &ssk->conn.zcopy;
	u32 avail = sdp_zsink_readable(&z->sink);
	unsigned long addr = 0;
	u32 read = 0;
	u32 len;

	if (!avail)
		return 0;
	len = min(sdp_zcopy_segment(iter, &addr), avail);
	len = min_t(u32, len, SDP_ZCOPY_READ_PAGES * PAGE_SIZE -
			      offset_in_page(addr));
	if (may && z->on && sdp_rx_may_post(&ssk->conn) &&
	    len >= min(avail, sdp_zcopy_thresh(ssk)))
		read = sdp_zrecv_read(ssk, addr, len);
	if (!read) {
		sdp_zrecv_refuse(ssk);
		sdp_tx_push(ssk);
		return 0;
	}
	SDP_SOCK_ADD_STATS(ssk, SDP_MIB_ZCOPYBYTESIN, read);
	iov_iter_advance(iter, read);
	return read;
}

/**
 * sdp_zrecv_push() - tell the peer what was read, or is refused
 * @ssk: locked socket (by its owner or in softirq)
 *
 * Return: whether the connection lives.
 */
bool sdp_zrecv_push(struct sdp_sock *ssk)
{
	struct sdp_conn *conn = &ssk->conn;
	struct sdp_zsink *sink = &conn->zcopy.sink;
	struct sdp_msg msg = {};

	while ((msg.bsdh.mid = sdp_zsink_due(sink)) != SDP_MID_DATA &&
	       sdp_tx_may_send(ssk, msg.bsdh.mid, 0) &&
	       sdp_tx_room(&conn->tx, 0)) {
		msg.rdma_len = sink->unreported;
		if (!sdp_tx_post_msg(ssk, &msg, false))
			return false;
		sdp_zsink_told(sink, msg.bsdh.mid, conn->credit.tx_mseq);
	}
	return true;
}
