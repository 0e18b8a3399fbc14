// SPDX-License-Identifier: GPL-2.0
/*
 * The receiver's side of zero copy: RDMA reads from the peer's pages into user
 * memory, or a request for a copy.
 */
#include <linux/sched/signal.h>
#include <linux/uio.h>

#include "base/base.h"
#include "guard/guard.h"
#include "rdma/rdma.h"
#include "stream/stream.h"
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
	struct sdp_zcopy *z = container_of(wc->wr_cqe, struct sdp_zcopy, read_cqe);

	trace_sdp_completion(z->st->sk, wc, false);
	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		sdp_link_wc_error(z->st->link, wc);
		return;
	}
	/* Pairs with the acquire in sdp_zrecv_reap(). */
	smp_store_release(&z->reads_done, z->reads_done + 1);
	sdp_link_kick(z->st->link);
}

static void sdp_zrecv_unmap(struct sdp_zcopy *z, struct sdp_zread *read,
			    struct sdp_zpages *zp)
{
	struct ib_qp *qp = z->st->link->qp;

	rdma_rw_ctx_destroy(&read->rw, qp, qp->port, zp->sgt.sgl,
			    zp->sgt.orig_nents, DMA_FROM_DEVICE);
}

/* The device does not use the first pages any more; their reader may free them soon. */
static void sdp_zrecv_release(struct sdp_zcopy *z)
{
	struct sdp_zpages *zp = z->reads[z->read_tail++ % SDP_ZCOPY_READS].zp;

	if (zp->async)
		sdp_zasync_read_over(z, zp);
	else
		complete_all(&zp->over);
}

/**
 * sdp_zrecv_count() - the next bytes of the stream are in user memory
 * @z: zero copy of a locked socket (by its owner or in softirq)
 * @len: bytes
 */
void sdp_zrecv_count(struct sdp_zcopy *z, u32 len)
{
	sdp_owned(z->st->sk);
	WRITE_ONCE(z->st->rx.copied, z->st->rx.copied + len);
	sdp_oob_passed(z->st);
	z->st->stats.bytes_in += len;
	z->st->stats.zcopy_in += len;
	z->st->stats.last_in = jiffies;
}

/* They were read from what the peer advertises. */
static void sdp_zrecv_took(struct sdp_zcopy *z, u32 len)
{
	sdp_zrecv_count(z, len);
	sdp_zsink_read_done(&z->sink, len);
}

/* What the first read was for has arrived. */
static void sdp_zrecv_arrived(struct sdp_zcopy *z)
{
	struct sdp_zread *read = &z->reads[z->read_tail % SDP_ZCOPY_READS];
	struct sdp_zpages *zp = read->zp;

	zp->done = zp->len;
	if (zp->async)
		sdp_zsink_read_done(&z->sink, zp->len);
	else
		sdp_zrecv_took(z, zp->len);
	sdp_zrecv_unmap(z, read, zp);
	sdp_zrecv_release(z);
}

/**
 * sdp_zrecv_reap() - see whether what is read has arrived
 * @z: zero copy of a locked socket (by its owner or in softirq) with a queue pair
 */
void sdp_zrecv_reap(struct sdp_zcopy *z)
{
	/* Pairs with the release in sdp_zrecv_done(). */
	u32 done = smp_load_acquire(&z->reads_done);

	sdp_owned(z->st->sk);
	if (z->read_tail == done)
		return;
	while (z->read_tail != done)
		sdp_zrecv_arrived(z);
	/* Others may have waited for their turn. */
	z->st->sk->sk_data_ready(z->st->sk);
}

/**
 * sdp_zrecv_unmap_all() - release what the reads had of the queue pair
 * @z: zero copy of a locked socket with a queue pair that is drained; nothing happens if
 *	nothing is being read
 *
 * With iWARP the peer may have keys to the pages, which end with the queue pair:
 * the reader keeps them until sdp_zrecv_free().
 */
void sdp_zrecv_unmap_all(struct sdp_zcopy *z)
{
	struct sdp_zread *read;
	u32 i;

	sdp_owned(z->st->sk);
	for (i = z->read_tail; i != z->read_head; i++) {
		read = &z->reads[i % SDP_ZCOPY_READS];
		sdp_zrecv_unmap(z, read, read->zp);
	}
}

/**
 * sdp_zrecv_free() - release the pages that were being read into
 * @z: zero copy of a locked socket whose queue pair is gone
 *
 * It may free them as soon as the lock is released.
 */
void sdp_zrecv_free(struct sdp_zcopy *z)
{
	sdp_owned(z->st->sk);
	/* The keys end before memory is released. */
	WARN_ON_ONCE(sdp_zrecv_busy(z) && z->st->link->id->qp);
	while (sdp_zrecv_busy(z))
		sdp_zrecv_release(z);
}

static void sdp_zrecv_refuse(struct sdp_zcopy *z, enum sdp_trace_refusal why)
{
	struct sdp_zsink *sink = &z->sink;

	if (!sdp_zsink_busy(sink) || sink->refusing)
		return;
	SDP_INC_STATS(sock_net(z->st->sk), SDP_MIB_ZCOPYREFUSALS);
	z->st->stats.zcopy_refusals++;
	trace_sdp_zcopy_refuse(z->st->sk, sink->fifo.head - sink->fifo.tail, why);
	sdp_zsink_refuse(sink);
}

/*
 * Whether the only sleeper is a read for which there is something already, so that it
 * will not take the advert: the next call decides.  A call that begins to sleep now
 * checks for adverts itself.
 */
static bool sdp_zrecv_is_served(const struct sdp_zcopy *z)
{
	bool alone;

	if (!z->st->rx.bytes || z->takers != 1)
		return false;
	rcu_read_lock();
	alone = list_is_singular(&rcu_dereference(z->st->sk->sk_wq)->wait.head);
	rcu_read_unlock();
	return alone;
}

/* Whether a program that sleeps does so in poll(), and can read when that returns. */
static bool sdp_zrecv_may_be_polled(const struct sdp_zcopy *z)
{
	const struct socket *sock = z->st->sk->sk_socket;

	return sdp_zasync_read_wanted(z) && !sdp_zsend_waited_for(z) && !z->writers && sock &&
	       !test_bit(SOCK_NOSPACE, &sock->flags);
}

/**
 * sdp_zrecv_offered() - the peer lets us read its pages
 * @z: zero copy of a locked socket (by its owner or in softirq)
 *
 * A reader that sleeps takes them.  Other sleepers, in poll() or in a write, would wait
 * for bytes that only a read brings; and if this end has advertised pages itself it
 * waits for a peer that may do the same.  Otherwise user space may come and read; so may
 * who sleeps in poll(), if its reads need not wait.
 */
void sdp_zrecv_offered(struct sdp_zcopy *z)
{
	sdp_owned(z->st->sk);
	if (z->on && (z->readers || sdp_zrecv_may_be_polled(z)))
		z->st->sk->sk_data_ready(z->st->sk);
	else if (!z->on || sdp_zsend_waited_for(z) ||
		 sock_flag(z->st->sk, SOCK_FASYNC) ||
		 (sdp_has_sleeper(z->st->sk) && !sdp_zrecv_is_served(z)))
		sdp_zrecv_refuse(z, z->on ? SDP_REFUSAL_SLEEPER : SDP_REFUSAL_OFF);
}

/**
 * sdp_zrecv_asked() - user space polls for something to read
 * @z: zero copy of a socket, locked or not; poll() has queued itself already
 *
 * It may wait for that before it reads, so that it gets a copy.
 *
 * Context: process context.
 */
void sdp_zrecv_asked(struct sdp_zcopy *z)
{
	const struct sdp_zfifo *fifo = &z->sink.fifo;

	/* Either this sees the advert, or sdp_zrecv_offered() the sleeper. */
	if (READ_ONCE(fifo->head) == READ_ONCE(fifo->tail))
		return;
	set_bit(SDP_CONN_ASKED, &z->st->link->flags);
	local_bh_disable();
	sdp_link_kick(z->st->link);
	local_bh_enable();
}

/**
 * sdp_zrecv_answer() - act on sdp_zrecv_asked()
 * @z: zero copy of a locked socket (by its owner or in softirq)
 */
void sdp_zrecv_answer(struct sdp_zcopy *z)
{
	sdp_owned(z->st->sk);
	if (z->readers || !sdp_zsink_busy(&z->sink))
		return;
	/* A read that need not wait comes for it now, or when another one is over. */
	if (sdp_zasync_read_pollable(z))
		z->st->sk->sk_data_ready(z->st->sk);
	else if (!sdp_zasync_read_wanted(z) || (!z->reading && sdp_zrecv_has_room(z)))
		sdp_zrecv_refuse(z, SDP_REFUSAL_POLL);
}

/**
 * sdp_zrecv_want_copy() - user space takes only what is in receive buffers
 * @z: zero copy of a locked socket
 *
 * Context: process context.
 */
void sdp_zrecv_want_copy(struct sdp_zcopy *z)
{
	sdp_owned(z->st->sk);
	if (z->readers)
		return;
	sdp_zrecv_refuse(z, SDP_REFUSAL_POLL);
	z->st->ops->push(z->st->sk);
}

static bool sdp_zrecv_post(struct sdp_zcopy *z, struct sdp_zpages *zp)
{
	struct sdp_zread *read = &z->reads[z->read_head % SDP_ZCOPY_READS];
	struct sdp_zadvert from = sdp_zsink_read(&z->sink, zp->len);
	int wrs;

	wrs = rdma_rw_ctx_init(&read->rw, z->st->link->qp, z->st->link->qp->port, zp->sgt.sgl,
			       zp->sgt.orig_nents, 0, from.vaddr, from.rkey,
			       DMA_FROM_DEVICE);
	if (wrs > (int)SDP_ZCOPY_READ_WRS)
		sdp_zrecv_unmap(z, read, zp);
	if (wrs < 0 || wrs > (int)SDP_ZCOPY_READ_WRS) {
		z->sink.reading -= zp->len;
		return false;
	}
	read->zp = zp;
	z->read_head++;
	trace_sdp_zcopy_read(z->st->sk, zp->len, from.rkey, from.left);
	if (rdma_rw_ctx_post(&read->rw, z->st->link->qp, z->st->link->qp->port, &z->read_cqe,
			     NULL))
		sdp_link_end(z->st->link, -ECONNRESET);
	return true;
}

/**
 * struct sdp_zrecv_call - a call that reads without a copy
 * @z: its socket
 * @iter: where to, behind all that has begun
 * @reads: pages that are being read into
 * @since: when each of them began, jiffies
 * @epoch: the connection that it reads from, sdp_stream::epoch
 * @wait: it may wait for what it reads
 * @head: how many have begun that it has to wait for
 * @tail: how many of them it has waited for
 * @begun: bytes of all reads
 * @done: those that have arrived, or are behind a guard until they do
 */
struct sdp_zrecv_call {
	struct sdp_zcopy *z;
	struct iov_iter *iter;
	struct sdp_zpages *reads[SDP_ZCOPY_READS];
	unsigned long since[SDP_ZCOPY_READS];
	u32 epoch;
	bool wait;
	u32 head;
	u32 tail;
	u32 begun;
	u32 done;
};

/* Pieces end with a page, for the next one may have to wait for it. */
static u32 sdp_zrecv_piece(unsigned long addr, u32 len)
{
	if (len <= SDP_ZCOPY_READ_BYTES)
		return len;
	return SDP_ZCOPY_READ_BYTES - offset_in_page(addr + SDP_ZCOPY_READ_BYTES);
}

/* How much of what comes next may be read to where; 0 if it may not. */
static u32 sdp_zrecv_fit(struct sdp_zrecv_call *call, unsigned long *addr)
{
	const struct sdp_zcopy *z = call->z;
	u32 avail = sdp_zsink_readable(&z->sink);
	u32 len;

	/* What another connection advertises is not behind what this one has brought. */
	if (!sdp_stream_is(z->st, call->epoch))
		return 0;
	/* What was copied since then is before what is advertised. */
	if (!avail || z->st->rx.bytes || !z->on ||
	    !sdp_rx_may_post(z->st))
		return 0;
	*addr = 0;
	len = min(sdp_zcopy_segment(call->iter, addr), avail);
	return len < min(avail, sdp_zcopy_thresh(z)) ? 0 : sdp_zrecv_piece(*addr, len);
}

/*
 * A provider that finds the peer in this kernel copies straight from its user memory to
 * ours, which takes neither a registration nor a completion.  Returns whether
 * something was read, or may be next time: if user memory was not there the lock was
 * released to get it.
 */
static bool sdp_zrecv_at_once(struct sdp_zrecv_call *call, u32 len)
{
	struct sdp_zcopy *z = call->z;
	struct sdp_zsink *sink = &z->sink;
	struct sdp_zadvert from;
	ssize_t read;

	if (!(z->st->link->dev->info.flags & IW_ULP_READ) || sdp_zrecv_busy(z))
		return false;
	from = sdp_zsink_read(sink, len);
	read = z->st->link->dev->ulp->read(z->st->link->qp, from.rkey, from.vaddr, call->iter,
				    len);
	sink->reading -= len - max_t(ssize_t, read, 0);
	/* Then it is tried once more. */
	if (read == -EFAULT)
		return !sdp_fault_in(call->z->st->sk, call->iter, len,
				     &call->z->st->read_turn);
	if (read <= 0)
		return false;
	trace_sdp_zcopy_read(z->st->sk, read, from.rkey, from.left);
	sdp_zrecv_took(call->z, read);
	call->begun += read;
	call->done += read;
	/* Which takes less than to be written to by the peer would. */
	sdp_backoff_learn(&z->unwritten, false);
	return true;
}

/**
 * sdp_zrecv_unshare() - memory is about to be written to, by us or by the device
 * @z: zero copy of a locked socket
 * @addr: where it begins
 * @len: bytes
 *
 * If it was sent from it stays protected until then, so that a page fault would be taken
 * for each page.  Memory without such pages is skipped for a while: a look at a page takes
 * a tenth of a fault.
 *
 * Context: process context.
 */
void sdp_zrecv_unshare(struct sdp_zcopy *z, unsigned long addr, u32 len)
{
	u32 nr;

	sdp_owned(z->st->sk);
	if (!z->async || sdp_backoff_skips(&z->unsent))
		return;
	nr = sdp_guard_unshare(addr, len);
	z->unshared += nr;
	sdp_backoff_learn(&z->unsent,
			  nr && nr * SDP_ZRECV_GIVEN >= len >> PAGE_SHIFT);
}

/*
 * Memory for a call that need not wait for what it reads, or for one that does; nothing
 * is read early behind what is waited for, so that what it has got is contiguous.
 */
static struct sdp_zpages *sdp_zrecv_get(struct sdp_zrecv_call *call, unsigned long addr,
					u32 len)
{
	struct sdp_zpages *zp = NULL;

	if (call->head == call->tail)
		zp = sdp_zasync_read_protect(call->z, addr, len);
	if (zp || !call->wait)
		return zp;
	return sdp_zpages_pin(call->z, addr, len, SDP_ZPAGES_RECV);
}

/* Reads are posted. */
static void sdp_zrecv_begun(struct sdp_zrecv_call *call, struct sdp_zpages *zp)
{
	call->begun += zp->len;
	iov_iter_advance(call->iter, zp->len);
	if (zp->async) {
		call->done += zp->len;
		sdp_zasync_read_begun(call->z, zp);
		return;
	}
	call->since[call->head % SDP_ZCOPY_READS] = jiffies;
	call->reads[call->head++ % SDP_ZCOPY_READS] = zp;
}

/*
 * Begins another read; returns whether there was one to begin.  The lock is given
 * up to get user memory.
 */
static bool sdp_zrecv_begin(struct sdp_zrecv_call *call)
{
	struct sdp_zcopy *z = call->z;
	struct sdp_zpages *zp;
	unsigned long addr;
	u32 len;

	/* Those that are there and not waited for yet count for the call alone. */
	if (!sdp_zrecv_has_room(z) || call->head - call->tail == SDP_ZCOPY_READS)
		return false;
	len = sdp_zrecv_fit(call, &addr);
	if (!len)
		return false;
	if (unlikely(sdp_zasync_read_has(z, addr, len))) {
		/* A call that has got something returns with it. */
		if (call->begun)
			return false;
		sdp_zasync_read_await(z, addr, len);
		return !fatal_signal_pending(current);
	}
	sdp_zrecv_unshare(z, addr, len);
	if (sdp_zrecv_at_once(call, len))
		return true;
	zp = sdp_zrecv_get(call, addr, len);
	if (!zp)
		return false;
	/* Another reader may have come, or the connection be another one, or about to end. */
	if (sdp_zrecv_fit(call, &addr) < len ||
	    (zp->async && !sdp_zasync_read_possible(z)) || !sdp_zrecv_post(z, zp)) {
		sdp_zpages_drop(z, zp);
		return false;
	}
	sdp_zrecv_begun(call, zp);
	return true;
}

/* Waits for the first read; returns whether all of it has arrived. */
static bool sdp_zrecv_await(struct sdp_zrecv_call *call)
{
	unsigned long since = call->since[call->tail % SDP_ZCOPY_READS];
	struct sdp_zpages *zp = call->reads[call->tail++ % SDP_ZCOPY_READS];
	long left = since + SDP_ZRECV_LIMIT - jiffies;
	bool all;

	sdp_zpages_wait(call->z, zp, max(left, 0L));
	call->done += zp->done;
	all = zp->done == zp->len;
	sdp_zpages_drop(call->z, zp);
	return all;
}

/*
 * Reads all that is advertised, at once, and then what is advertised meanwhile, if
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
 * sdp_zrecv() - read what the peer advertises straight into user memory
 * @z: zero copy of a locked socket without unread data; the lock is released meanwhile
 * @iter: where to; advanced by what was read
 * @may: the call is one that can do so
 * @wait: and may wait for it
 * @want: how many bytes it waits for
 *
 * What cannot be read this way is refused, and comes by copy.
 *
 * Return: bytes.
 */
u32 sdp_zrecv(struct sdp_zcopy *z, struct iov_iter *iter, bool may, bool wait, u32 want)
{
	struct sdp_zrecv_call call = {
		.z = z,
		.iter = iter,
		.epoch = z->st->epoch,
		.wait = wait,
	};

	sdp_owned(z->st->sk);
	if (!sdp_zrecv_ready(z))
		return 0;
	if (may) {
		z->reading = true;
		sdp_zrecv_run(&call, want);
		z->reading = false;
	}
	if (call.done)
		SDP_SOCK_ADD_STATS(z->st->sk, SDP_MIB_ZCOPYBYTESIN, call.done);
	else
		sdp_zrecv_refuse(z, SDP_REFUSAL_READ);
	/* Others may have waited for their turn. */
	if (sdp_zrecv_ready(z))
		z->st->sk->sk_data_ready(z->st->sk);
	/* No completion does that for what was read at once. */
	z->st->ops->push(z->st->sk);
	return call.done;
}

/**
 * sdp_zrecv_push() - report to the peer what was read, or is refused
 * @z: zero copy of a locked socket (by its owner or in softirq)
 *
 * Return: whether the connection lives.
 */
bool sdp_zrecv_push(struct sdp_zcopy *z)
{
	struct sdp_zsink *sink = &z->sink;
	enum sdp_mid mid;

	sdp_owned(z->st->sk);
	while ((mid = sdp_zsink_due(sink)) != SDP_MID_DATA &&
	       z->st->ops->may_send(z->st->sk, mid, 0) && sdp_tx_room(&z->st->tx, 0)) {
		struct sdp_msg msg = {
			.bsdh.mid = mid,
			.rdma_len = sink->unreported,
		};

		msg.ends_key = z->ends_keys &&
			       mid == SDP_MID_RDMARDCOMPL &&
			       sdp_zsink_spent(sink, &msg.key);
		if (!sdp_tx_post_msg(z->st, &msg, false))
			return false;
		sdp_zsink_told(sink, mid, z->st->credit.tx_mseq);
	}
	return true;
}

/**
 * sdp_zrecv_unguard() - a read is about to copy to user memory
 * @z: zero copy of a locked socket
 * @iter: where to
 * @len: bytes that there are
 *
 * Context: process context.
 */
void sdp_zrecv_unguard(struct sdp_zcopy *z, const struct iov_iter *iter, u32 len)
{
	unsigned long addr;

	sdp_owned(z->st->sk);
	len = min(sdp_zcopy_segment(iter, &addr), len);
	if (len >= PAGE_SIZE)
		sdp_zrecv_unshare(z, addr, len);
}
