// SPDX-License-Identifier: GPL-2.0
/*
 * The receiver's side of zero copy: RDMA reads from the peer's pages into the
 * program's, or word that a copy is wanted.
 */
#include <linux/sched/signal.h>
#include <linux/uio.h>

#include "base/base.h"
#include "guard/guard.h"
#include "rdma/rdma.h"
#include "stream/stream.h"
#include "conn/conn.h"
#include "socket/socket.h"
#include "zcopy.h"

/*
 * How long a read may take.  The device's own retries end before, unless the
 * peer answers some of them now and then.
 */
#define SDP_ZRECV_LIMIT	(30 * HZ)

/* One page in so many that was protected is worth a look at the others. */
#define SDP_ZRECV_GIVEN	8U

static_assert(DIV_ROUND_UP(SDP_ZCOPY_READ_PAGES, SDP_TX_MAX_SGE) <=
	      SDP_ZCOPY_READ_WRS);

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
		sdp_link_wc_error(&ssk->conn.link, wc);
		return;
	}
	/* Pairs with the acquire in sdp_zrecv_reap(). */
	smp_store_release(&conn->zcopy.reads_done, conn->zcopy.reads_done + 1);
	sdp_link_kick(&ssk->conn.link);
}

static void sdp_zrecv_unmap(struct sdp_sock *ssk, struct sdp_zread *read,
			    struct sdp_zpages *zp)
{
	struct ib_qp *qp = ssk->conn.link.qp;

	rdma_rw_ctx_destroy(&read->rw, qp, qp->port, zp->sgt.sgl,
			    zp->sgt.orig_nents, DMA_FROM_DEVICE);
}

/* Takes the first pages from the device; their reader may free them soon. */
static void sdp_zrecv_end(struct sdp_sock *ssk)
{
	struct sdp_zcopy *z = &ssk->conn.zcopy;
	struct sdp_zread *read = &z->reads[z->read_tail++ % SDP_ZCOPY_READS];

	sdp_zrecv_unmap(ssk, read, read->zp);
	complete_all(&read->zp->over);
}

/* The next bytes of the stream are in the program's memory. */
static void sdp_zrecv_took(struct sdp_sock *ssk, u32 len)
{
	struct sdp_conn *conn = &ssk->conn;

	WRITE_ONCE(conn->rx.copied, conn->rx.copied + len);
	sdp_oob_passed(ssk);
	conn->stats.bytes_in += len;
	conn->stats.zcopy_in += len;
	conn->stats.last_in = jiffies;
	sdp_zsink_read_done(&conn->zcopy.sink, len);
}

/* What the first read was for has arrived. */
static void sdp_zrecv_arrived(struct sdp_sock *ssk)
{
	struct sdp_zcopy *z = &ssk->conn.zcopy;
	struct sdp_zpages *zp = z->reads[z->read_tail % SDP_ZCOPY_READS].zp;

	zp->done = zp->len;
	sdp_zrecv_took(ssk, zp->len);
	sdp_zrecv_end(ssk);
}

/**
 * sdp_zrecv_reap() - see whether what is read has arrived
 * @ssk: locked socket (by its owner or in softirq) with a queue pair
 */
void sdp_zrecv_reap(struct sdp_sock *ssk)
{
	struct sdp_zcopy *z = &ssk->conn.zcopy;
	/* Pairs with the release in sdp_zrecv_done(). */
	u32 done = smp_load_acquire(&z->reads_done);

	if (z->read_tail == done)
		return;
	while (z->read_tail != done)
		sdp_zrecv_arrived(ssk);
	/* Others may have waited for their turn. */
	ssk->sk.sk_data_ready(&ssk->sk);
}

/**
 * sdp_zrecv_unmap_all() - give back what the reads had of the queue pair
 * @ssk: locked socket with a queue pair that is drained; nothing happens if
 *	nothing is being read
 *
 * With iWARP the peer may have keys to the pages, which end with the queue pair:
 * the reader keeps them until sdp_zrecv_free().
 */
void sdp_zrecv_unmap_all(struct sdp_sock *ssk)
{
	struct sdp_zcopy *z = &ssk->conn.zcopy;
	struct sdp_zread *read;
	u32 i;

	for (i = z->read_tail; i != z->read_head; i++) {
		read = &z->reads[i % SDP_ZCOPY_READS];
		sdp_zrecv_unmap(ssk, read, read->zp);
	}
}

/**
 * sdp_zrecv_free() - let the reader have pages that were being read into
 * @ssk: locked socket whose queue pair is gone
 *
 * It may free them as soon as the lock is given up.
 */
void sdp_zrecv_free(struct sdp_sock *ssk)
{
	struct sdp_zcopy *z = &ssk->conn.zcopy;

	/* The keys end before memory is given back. */
	WARN_ON_ONCE(sdp_zrecv_busy(z) && ssk->conn.link.id->qp);
	while (sdp_zrecv_busy(z))
		complete_all(&z->reads[z->read_tail++ %
				       SDP_ZCOPY_READS].zp->over);
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

/*
 * Whether nobody sleeps but a read for which there is something already, so that
 * it will not come to what is offered: the program's next call says what it
 * wants.  Who begins to sleep now looks at the offer himself.
 */
static bool sdp_zrecv_is_served(const struct sdp_sock *ssk)
{
	bool alone;

	if (!ssk->conn.rx.bytes || ssk->conn.zcopy.takers != 1)
		return false;
	rcu_read_lock();
	alone = list_is_singular(&rcu_dereference(ssk->sk.sk_wq)->wait.head);
	rcu_read_unlock();
	return alone;
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
		 (sdp_tx_has_sleeper(&ssk->sk) && !sdp_zrecv_is_served(ssk)))
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
	set_bit(SDP_CONN_ASKED, &ssk->conn.link.flags);
	local_bh_disable();
	sdp_link_kick(&ssk->conn.link);
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
	struct sdp_zread *read = &z->reads[z->read_head % SDP_ZCOPY_READS];
	struct sdp_zadvert from = sdp_zsink_read(&z->sink, zp->len);
	int wrs;

	wrs = rdma_rw_ctx_init(&read->rw, conn->link.qp, conn->link.qp->port, zp->sgt.sgl,
			       zp->sgt.orig_nents, 0, from.vaddr, from.rkey,
			       DMA_FROM_DEVICE);
	if (wrs > (int)SDP_ZCOPY_READ_WRS)
		sdp_zrecv_unmap(ssk, read, zp);
	if (wrs < 0 || wrs > (int)SDP_ZCOPY_READ_WRS) {
		z->sink.reading -= zp->len;
		return false;
	}
	read->zp = zp;
	z->read_head++;
	if (rdma_rw_ctx_post(&read->rw, conn->link.qp, conn->link.qp->port, &z->read_cqe,
			     NULL))
		sdp_link_end(&ssk->conn.link, -ECONNRESET);
	return true;
}

/**
 * struct sdp_zrecv_call - a call that reads without a copy
 * @ssk: its socket
 * @iter: where to, behind all that has begun
 * @reads: pages that are being read into
 * @since: when each of them began, jiffies
 * @epoch: the connection that it reads from, sdp_zcopy::epoch
 * @head: how many have begun
 * @tail: how many of them it has waited for
 * @begun: bytes of all reads
 * @done: those that have arrived
 */
struct sdp_zrecv_call {
	struct sdp_sock *ssk;
	struct iov_iter *iter;
	struct sdp_zpages *reads[SDP_ZCOPY_READS];
	unsigned long since[SDP_ZCOPY_READS];
	u32 epoch;
	u32 head;
	u32 tail;
	u32 begun;
	u32 done;
};

/* How much of what comes next may be read to where; 0 if it may not. */
static u32 sdp_zrecv_fit(struct sdp_zrecv_call *call, unsigned long *addr)
{
	const struct sdp_sock *ssk = call->ssk;
	const struct sdp_zcopy *z = &ssk->conn.zcopy;
	u32 avail = sdp_zsink_readable(&z->sink);
	u32 len;

	/* What another connection offers is not behind what this one has brought. */
	if (z->epoch != call->epoch)
		return 0;
	/* What was copied since then is before what is offered. */
	if (!avail || ssk->conn.rx.bytes || !z->on ||
	    !sdp_rx_may_post(&ssk->conn))
		return 0;
	*addr = 0;
	len = min3(sdp_zcopy_segment(call->iter, addr), avail,
		   (u32)SDP_ZCOPY_READ_BYTES);
	return len < min(avail, sdp_zcopy_thresh(ssk)) ? 0 : len;
}

/*
 * A provider that finds the peer in this kernel copies straight from its
 * program to ours, which takes neither a registration nor a completion.  Returns
 * whether something was read, or may be next time: if the program's memory was
 * not there the lock was given up to get it.
 */
static bool sdp_zrecv_at_once(struct sdp_zrecv_call *call, u32 len)
{
	struct sdp_conn *conn = &call->ssk->conn;
	struct sdp_zsink *sink = &conn->zcopy.sink;
	struct sdp_zadvert from;
	ssize_t read;

	if (!conn->link.dev->ulp || sdp_zrecv_busy(&conn->zcopy))
		return false;
	from = sdp_zsink_read(sink, len);
	read = conn->link.dev->ulp->read(conn->link.qp, from.rkey, from.vaddr, call->iter,
				    len);
	sink->reading -= len - max_t(ssize_t, read, 0);
	/* Then it is tried once more. */
	if (read == -EFAULT)
		return !sdp_fault_in(&call->ssk->sk, call->iter, len,
				     &call->ssk->read_turn);
	if (read <= 0)
		return false;
	sdp_zrecv_took(call->ssk, read);
	call->begun += read;
	call->done += read;
	return true;
}

/*
 * Memory that was sent from is as it was protected for that until it is written
 * to, so that whoever writes, we or the device, would take a page fault for each
 * page.  What finds no such pages is left alone for a while: a look at a page
 * takes a tenth of a fault.
 */
static void sdp_zrecv_unguard(struct sdp_sock *ssk, unsigned long addr, u32 len)
{
	struct sdp_zcopy *z = &ssk->conn.zcopy;
	u32 nr;

	if (!z->async || sdp_backoff_skips(&z->unsent))
		return;
	nr = sdp_guard_give(addr, len);
	sdp_backoff_learn(&z->unsent,
			  nr && nr * SDP_ZRECV_GIVEN >= len >> PAGE_SHIFT);
}

/*
 * Begins another read; returns whether there was one to begin.  The lock is given
 * up to get the program's memory.
 */
static bool sdp_zrecv_begin(struct sdp_zrecv_call *call)
{
	struct sdp_sock *ssk = call->ssk;
	struct sdp_zpages *zp;
	unsigned long addr;
	u32 len;

	if (call->head - call->tail == SDP_ZCOPY_READS)
		return false;
	len = sdp_zrecv_fit(call, &addr);
	if (!len)
		return false;
	sdp_zrecv_unguard(ssk, addr, len);
	if (sdp_zrecv_at_once(call, len))
		return true;
	zp = sdp_zpages_pin(ssk, addr, len, SDP_ZPAGES_RECV);
	if (!zp)
		return false;
	/* Another reader may have come, or the connection be another one. */
	if (sdp_zrecv_fit(call, &addr) < len || !sdp_zrecv_post(ssk, zp)) {
		sdp_zpages_drop(ssk, zp);
		return false;
	}
	call->since[call->head % SDP_ZCOPY_READS] = jiffies;
	call->reads[call->head++ % SDP_ZCOPY_READS] = zp;
	call->begun += len;
	iov_iter_advance(call->iter, len);
	return true;
}

/* Waits for the first read; returns whether all of it has arrived. */
static bool sdp_zrecv_await(struct sdp_zrecv_call *call)
{
	unsigned long since = call->since[call->tail % SDP_ZCOPY_READS];
	struct sdp_zpages *zp = call->reads[call->tail++ % SDP_ZCOPY_READS];
	long left = since + SDP_ZRECV_LIMIT - jiffies;
	bool all;

	sdp_zpages_wait(call->ssk, zp, max(left, 0L));
	call->done += zp->done;
	all = zp->done == zp->len;
	sdp_zpages_drop(call->ssk, zp);
	return all;
}

/*
 * Reads all that is offered, at once, and then what is offered meanwhile, if
 * the call waits for more than it has.
 */
static void sdp_zrecv_run(struct sdp_zrecv_call *call, u32 want)
{
	bool more = true;

	do {
		while (more && sdp_zrecv_begin(call))
			;
		if (call->head == call->tail)
			break;
		more = sdp_zrecv_await(call) && call->done < want &&
		       !signal_pending(current);
	} while (more || call->head != call->tail);
	iov_iter_revert(call->iter, call->begun - call->done);
}

/**
 * sdp_zrecv() - read what the peer offers straight into the program's memory
 * @ssk: locked socket without unread data; the lock is given up meanwhile
 * @iter: where to; advanced by what was read
 * @may: the program's call is one that can do so
 * @want: how many bytes it waits for
 *
 * What cannot be read this way is refused, and comes by copy.
 *
 * Return: bytes.
 */
u32 sdp_zrecv(struct sdp_sock *ssk, struct iov_iter *iter, bool may, u32 want)
{
	struct sdp_zcopy *z = &ssk->conn.zcopy;
	struct sdp_zrecv_call call = {
		.ssk = ssk,
		.iter = iter,
		.epoch = z->epoch,
	};

	if (!sdp_zrecv_ready(z))
		return 0;
	if (may) {
		z->reading = true;
		sdp_zrecv_run(&call, want);
		z->reading = false;
	}
	if (call.done)
		SDP_SOCK_ADD_STATS(&ssk->sk, SDP_MIB_ZCOPYBYTESIN, call.done);
	else
		sdp_zrecv_refuse(ssk);
	/* Others may have waited for their turn. */
	if (sdp_zrecv_ready(z))
		ssk->sk.sk_data_ready(&ssk->sk);
	/* No completion does that for what was read at once. */
	sdp_tx_push(ssk);
	return call.done;
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
	enum sdp_mid mid;

	while ((mid = sdp_zsink_due(sink)) != SDP_MID_DATA &&
	       sdp_tx_may_send(ssk, mid, 0) && sdp_tx_room(&conn->tx, 0)) {
		struct sdp_msg msg = {
			.bsdh.mid = mid,
			.rdma_len = sink->unreported,
		};

		msg.ends_key = conn->zcopy.ends_keys &&
			       mid == SDP_MID_RDMARDCOMPL &&
			       sdp_zsink_spent(sink, &msg.key);
		if (!sdp_tx_post_msg(ssk, &msg, false))
			return false;
		sdp_zsink_told(sink, mid, conn->credit.tx_mseq);
	}
	return true;
}
