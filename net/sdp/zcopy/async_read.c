// SPDX-License-Identifier: GPL-2.0
/*
 * Asynchronous reads (AZ-SDP, the zero-copy paper, section 4): a read returns when its
 * RDMA READs are posted, and its memory is out of the program's reach until the bytes
 * are there, which nobody can tell from bytes that were there before.
 *
 * But the connection may end before.  Then they never come: their place is filled with
 * zeros, and the socket reports EIO.  Nor may a program be kept waiting for long; if the
 * peer takes longer, the connection ends.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/wait_bit.h>

#include "base/base.h"
#include "guard/guard.h"
#include "rdma/rdma.h"
#include "stream/stream.h"
#include "zcopy.h"

/* How long memory may be out of reach. */
#define SDP_ZASYNC_READ_LIMIT		(5 * HZ)

/* In process context.  Bytes that have not come must not be those of somebody else. */
static void sdp_zasync_read_release(struct work_struct *work)
{
	struct sdp_zpages *zp = container_of(work, struct sdp_zpages, release);

	if (zp->done < zp->len)
		sg_zero_buffer(zp->sgt.sgl, zp->sgt.orig_nents, zp->len, 0);
	sdp_zpages_free(zp);
}

static bool sdp_zasync_read_hide(struct sdp_zpages *zp)
{
	zp->guard = sdp_guard_access.protect(zp->addr & PAGE_MASK, zp->charged, zp->pages,
					    &zp->changed);
	if (IS_ERR(zp->guard))
		return false;
	zp->since = jiffies;
	zp->nr = zp->charged;
	zp->guarded = zp->charged;
	return true;
}

static struct sdp_zpages *sdp_zasync_read_get(struct sdp_zcopy *z, unsigned long addr, u32 len)
{
	struct sdp_zpages *zp = sdp_zpages_alloc(z, addr, len);

	if (!zp)
		return NULL;
	zp->async = true;
	zp->write = true;
	zp->guard_ops = &sdp_guard_access;
	INIT_WORK(&zp->release, sdp_zasync_read_release);
	if (!mm_account_pinned_pages(&zp->mmp, len) &&
	    sdp_zpages_fill(z, zp, NULL, sdp_zasync_read_hide))
		return zp;
	sdp_zpages_drop(z, zp);
	return NULL;
}

/**
 * sdp_zasync_read_possible() - whether a read may return early
 * @z: zero copy of a locked socket
 *
 * Not where a registration waits until nothing is in flight, which reads that follow one
 * another without a pause would put off for ever; nor when the connection may be about to
 * be aborted: a peer that sends what is not read any more is reset.
 */
bool sdp_zasync_read_possible(const struct sdp_zcopy *z)
{
	sdp_owned(z->st->sk);
	return sdp_zasync_read_wanted(z) && !z->settling &&
	       !(z->st->sk->sk_shutdown & RCV_SHUTDOWN) &&
	       !(sdp_zrecv_busy(z) &&
		 (z->next || z->sinkadvert.state == SDP_SINKADVERT_DUE));
}

/**
 * sdp_zasync_read_protect() - put user memory out of reach, to be read into
 * @z: zero copy of a locked socket; the lock is released meanwhile
 * @addr: user address
 * @len: bytes
 *
 * Memory that could not be had is likely not to be had the next time.
 *
 * Context: process context.
 * Return: the pages, for sdp_zasync_read_begun(), or sdp_zpages_drop(); NULL if that is not
 * wanted, or not possible with this memory.
 */
struct sdp_zpages *sdp_zasync_read_protect(struct sdp_zcopy *z, unsigned long addr, u32 len)
{
	struct sdp_zpages *zp;

	sdp_sock_owned_by_me(z->st->sk);
	if (!sdp_zasync_read_possible(z) || sdp_backoff_skips(&z->unhidden))
		return NULL;
	zp = sdp_zasync_read_get(z, addr, len);
	sdp_backoff_learn(&z->unhidden, zp);
	return zp;
}

/**
 * sdp_zasync_read_begun() - reads into such memory are posted
 * @z: zero copy of a locked socket
 * @zp: the memory, which is the connection's from now on
 *
 * The read counts now, and so its bytes are in the past of the stream.
 */
void sdp_zasync_read_begun(struct sdp_zcopy *z, struct sdp_zpages *zp)
{
	sdp_owned(z->st->sk);
	sdp_zrecv_count(z, zp->len);
	SDP_SOCK_ADD_STATS(z->st->sk, SDP_MIB_ASYNCBYTESIN, zp->len);
	sdp_timer_arm_once(z->st->sk, SDP_TIMER_READ, SDP_ZASYNC_READ_LIMIT);
}

/**
 * sdp_zasync_read_over() - the device does not use such memory any more
 * @z: zero copy of a locked socket (by its owner or in softirq)
 * @zp: the memory, which is released in process context
 */
void sdp_zasync_read_over(struct sdp_zcopy *z, struct sdp_zpages *zp)
{
	struct sdp_guard_count count;

	sdp_owned(z->st->sk);
	count = sdp_guard_access.count(zp->guard, zp->pages, zp->guarded);
	SDP_SOCK_ADD_STATS(z->st->sk, SDP_MIB_ASYNCREADWAITS, count.waited);
	SDP_SOCK_ADD_STATS(z->st->sk, SDP_MIB_ASYNCBYTESLOST, zp->len - zp->done);
	queue_work(sdp_wq, &zp->release);
	/* Pairs with the barrier in prepare_to_wait_event(): see wake_up_bit(). */
	smp_mb();
	wake_up_var(&z->read_tail);
}

/* The oldest memory that is out of reach, of that which has such bytes; NULL = none. */
static const struct sdp_zpages *
sdp_zasync_read_oldest(const struct sdp_zcopy *z, unsigned long addr, size_t len)
{
	const struct sdp_zpages *zp;
	u32 i;

	for (i = z->read_tail; i != z->read_head; i++) {
		zp = z->reads[i % SDP_ZCOPY_READS].zp;
		if (zp->async && (zp->addr & PAGE_MASK) < addr + len &&
		    addr < PAGE_ALIGN(zp->addr + zp->len))
			return zp;
	}
	return NULL;
}

static const struct sdp_zpages *sdp_zasync_read_first(const struct sdp_zcopy *z)
{
	return sdp_zasync_read_oldest(z, 0, ULONG_MAX);
}

/**
 * sdp_zasync_read_watch() - end a connection whose peer lets programs wait too long
 * @z: zero copy of a locked socket
 *
 * The handler of SDP_TIMER_READ.  The end of the connection needs no peer.
 */
void sdp_zasync_read_watch(struct sdp_zcopy *z)
{
	const struct sdp_zpages *zp = sdp_zasync_read_first(z);
	unsigned long end;

	sdp_owned(z->st->sk);
	if (!zp || !z->st->link->qp)
		return;
	end = zp->since + SDP_ZASYNC_READ_LIMIT;
	if (time_before(jiffies, end)) {
		sdp_timer_arm(z->st->sk, SDP_TIMER_READ, end - jiffies);
		return;
	}
	sdp_dbg(z->st->sk, "reset: the peer's memory could not be read in time");
	sdp_link_end(z->st->link, -ETIMEDOUT);
}

/* Until so many reads of this connection are over, in all; or the caller is killed. */
static void sdp_zasync_read_wait(struct sdp_zcopy *z, u32 nr)
{
	u32 epoch = z->st->epoch;

	while (sdp_stream_is(z->st, epoch) && (s32)(READ_ONCE(z->read_tail) - nr) < 0 &&
	       !fatal_signal_pending(current)) {
		sdp_release_sock(z->st->sk);
		wait_var_event_timeout(&z->read_tail, (s32)(READ_ONCE(z->read_tail) - nr) >= 0,
				       SDP_ZPAGES_NAP);
		sdp_lock_sock(z->st->sk);
	}
}

/**
 * sdp_zasync_read_has() - whether memory is being read into
 * @z: zero copy of a locked socket
 * @addr: user address
 * @len: bytes; what shares a page with them counts
 *
 * Return: whether this socket reads to there.
 */
bool sdp_zasync_read_has(const struct sdp_zcopy *z, unsigned long addr, size_t len)
{
	sdp_owned(z->st->sk);
	return sdp_zrecv_busy(z) && sdp_zasync_read_oldest(z, addr, len);
}

/**
 * sdp_zasync_read_await() - wait for memory that this socket reads into
 * @z: zero copy of a locked socket; the lock is released meanwhile
 * @addr: user address
 * @len: bytes that a call is about to use there
 *
 * A page fault in the kernel would wait as well, but with mmap_lock held, and could not be
 * killed.
 *
 * Context: process context.
 */
void sdp_zasync_read_await(struct sdp_zcopy *z, unsigned long addr, size_t len)
{
	sdp_sock_owned_by_me(z->st->sk);
	while (sdp_zasync_read_has(z, addr, len) && !fatal_signal_pending(current))
		sdp_zasync_read_wait(z, z->read_tail + 1);
}

/**
 * sdp_zasync_read_settle() - wait until bytes that were said to be read are there
 * @z: zero copy of a locked socket; the lock is released meanwhile
 *
 * For callers that may abort the connection, which must not take away what the program
 * has got, nor a child that it has left behind.  No other read returns early meanwhile.
 * Needs no application at the peer, and ends when sdp_zasync_read_watch() does so.
 *
 * Context: process context.
 */
void sdp_zasync_read_settle(struct sdp_zcopy *z)
{
	sdp_sock_owned_by_me(z->st->sk);
	if (!sdp_zasync_read_first(z))
		return;
	z->settling++;
	sdp_zasync_read_wait(z, z->read_head);
	z->settling--;
}

/**
 * sdp_zasync_read_end() - a connection is over, maybe before all bytes have come
 * @z: zero copy of a locked socket whose queue pair is drained
 * @reason: why, as given to sdp_link_end()
 *
 * Return: what the program is to hear: -EIO if bytes that were said to be read never
 * come, which all later reads say as well; else @reason.
 */
int sdp_zasync_read_end(struct sdp_zcopy *z, int reason)
{
	sdp_owned(z->st->sk);
	z->lost = sdp_zasync_read_first(z);
	return z->lost ? -EIO : reason;
}
