// SPDX-License-Identifier: GPL-2.0
/*
 * Asynchronous zero copy (AZ-SDP, the zero-copy paper, section 4): the write returns
 * at once, and its memory is protected until the peer has read it.
 *
 * What does not fill a page is copied, so that user space may use the rest of that
 * page for something else at no cost (section 4.3).
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "base/base.h"
#include "guard/guard.h"
#include "rdma/rdma.h"
#include "stream/stream.h"
#include "zcopy.h"

/* So many bytes have a page to themselves wherever they begin. */
#define SDP_ZASYNC_LEAST	(2 * PAGE_SIZE)
/* So many writes are copied after the first of which the memory was touched too early. */
#define SDP_ZASYNC_TOUCHED	16

/**
 * sdp_zasync_should_copy() - whether a write is cheaper to copy
 * @z: zero copy of a locked socket; sdp_zasync_possible() said yes
 * @len: bytes of user memory that are contiguous, which sdp_zcopy_wanted() said
 * @zm: whether that is with MSG_ZEROCOPY
 *
 * An application that wrote to its memory too early is likely to do so again, and gets
 * copies of it in any case, each by a page fault.  One that writes to it later takes the
 * page faults.  And of little memory there may be no whole page to protect.
 */
bool sdp_zasync_should_copy(struct sdp_zcopy *z, u32 len, const struct sdp_zmsg *zm)
{
	sdp_owned(z->st->sk);
	if (len < SDP_ZASYNC_LEAST)
		return true;
	return !zm->uarg && (sdp_backoff_skips(&z->touched) || sdp_backoff_skips(&z->dear));
}

/* Adds a page with a copy of what does not fill one. */
static bool sdp_zasync_copy(struct sdp_zpages *zp, struct page *page,
			    unsigned long addr, u32 len)
{
	if (!page)
		return false;
	zp->pages[zp->nr++] = page;
	return !copy_from_user(page_address(page) + offset_in_page(addr),
			       (const void __user *)addr, len);
}

/* The copy of the first bytes leaves room before them, often for the last ones. */
static struct page *sdp_zasync_tail_page(struct sdp_zpages *zp, u32 head_room,
					 u32 tail)
{
	if (tail > head_room)
		return alloc_page(SDP_GFP_TABLE);
	get_page(zp->pages[0]);
	return zp->pages[0];
}

/*
 * Gets the pages of a range: copies of the partial ones at its ends, and the others
 * protected.  Returns whether it has them all.
 */
static bool sdp_zasync_get(struct sdp_zpages *zp)
{
	unsigned long addr = zp->addr;
	u32 head_room = offset_in_page(addr);
	unsigned long end = addr + zp->len;
	u32 head = head_room ? PAGE_SIZE - head_room : 0;
	u32 tail = offset_in_page(end);
	u32 whole = (zp->len - head - tail) >> PAGE_SHIFT;

	if (WARN_ON_ONCE(zp->len < SDP_ZASYNC_LEAST))
		return false;
	if (head && !sdp_zasync_copy(zp, alloc_page(SDP_GFP_TABLE), addr, head))
		return false;
	zp->first = zp->nr;
	zp->guard = zp->guard_ops->protect(addr + head, whole, zp->pages + zp->first,
					   &zp->changed);
	if (IS_ERR(zp->guard))
		return false;
	zp->guarded = whole;
	zp->nr += whole;
	return !tail ||
	       sdp_zasync_copy(zp, sdp_zasync_tail_page(zp, head_room, tail),
			       end - tail, tail);
}

/* The lock is released meanwhile. */
static struct sdp_zpages *sdp_zasync_protect(struct sdp_zcopy *z, struct sdp_zmsg *zm,
					     unsigned long addr, u32 len)
{
	struct sdp_zpages *zp = sdp_zpages_alloc(z, addr, len);

	if (!zp)
		return NULL;
	zp->async = true;
	zp->guard_ops = sdp_option_guard(z->st->sk);
	if (!mm_account_pinned_pages(&zp->mmp, len) &&
	    sdp_zpages_fill(z, zp, &z->st->write_turn, sdp_zasync_get)) {
		sdp_zcost_count(z, zm, zp);
		return zp;
	}
	sdp_zpages_free(zp);
	return NULL;
}

static bool sdp_zasync_may_go_on(const struct sdp_zcopy *z,
				 const struct sdp_zmsg *zm)
{
	const struct sock *sk = z->st->sk;

	return (sdp_zsend_may_add(z, zm->straight) && sdp_zsend_has_drained(z)) || sk->sk_err ||
	       (sk->sk_shutdown & SEND_SHUTDOWN) ||
	       !sdp_in_state(sk, SDPF_SEND) || !sdp_stream_is(z->st, zm->epoch);
}

/*
 * Waits for room as long as the peer reads on.  Otherwise it may be waiting for
 * us to read, and the bytes go where others are, too, until that is full.
 */
static void sdp_zasync_wait(struct sdp_zcopy *z, const struct sdp_zmsg *zm,
			    long *timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk = z->st->sk;
	long time, left;
	u32 seen;

	z->writers++;
	add_wait_queue(sk_sleep(sk), &wait);
	do {
		seen = sdp_zsend_passed(z);
		time = min_t(long, sdp_zsend_patience(z), *timeo);
		left = time;
		while (left && !signal_pending(current) &&
		       !sdp_zasync_may_go_on(z, zm))
			sdp_wait_event(sk, &left, sdp_zasync_may_go_on(z, zm),
				       &wait);
		sdp_timeo_spend(timeo, time - left);
	} while (!left && *timeo && sdp_zsend_passed(z) != seen);
	remove_wait_queue(sk_sleep(sk), &wait);
	z->writers--;
}

/*
 * What was copied before and waits is to go first, and would be overtaken.  Checked
 * again whenever the lock was released: the connection may be another one.
 */
static bool sdp_zasync_may_add(const struct sdp_zcopy *z,
			       const struct sdp_zmsg *zm)
{
	return (zm->uarg ? z->on : z->async) && sdp_stream_is(z->st, zm->epoch) &&
	       !sdp_zsend_waited_for(z) &&
	       sdp_zsend_may_add(z, zm->straight) && sdp_zsend_open(z) &&
	       z->st->tx.wait_head == z->st->tx.wait_tail;
}

static bool sdp_zasync_ready(struct sdp_zcopy *z, const struct sdp_zmsg *zm,
			     long *timeo)
{
	z->st->ops->flush(z->st->sk);
	if (!sdp_zsend_may_add(z, zm->straight) && *timeo) {
		sdp_zasync_wait(z, zm, timeo);
		/* Another call may have begun to get its memory meanwhile. */
		if (sdp_turn_wait(z->st->sk, &z->st->write_turn))
			return false;
	}
	return sdp_zasync_may_add(z, zm);
}

/* No call waits for the pages, so that a timer checks their progress. */
static void sdp_zasync_begin(struct sdp_zcopy *z, u32 len)
{
	if (sdp_tx_outstanding(z->st) == len)
		z->st->tx.since = jiffies;
	if (z->st->async_out == 1)
		z->watched_at = jiffies;
	sdp_alive_written(z->st);
	sdp_alive_stalled(z->st);
	sdp_timer_arm_once(z->st->sk, SDP_TIMER_ASYNC, SDP_ZCOPY_PATIENCE);
}

/*
 * Long writes leave in pieces, so that one is protected while another is on its way, and
 * the first pages are free before the last are sent.  None is shorter than that.
 */
static u32 sdp_zasync_piece(const struct sdp_zcopy *z, u32 len)
{
	u32 piece = max_t(u32, sdp_tx_limit(z->st) / 4, SZ_64K);

	return len / 2 >= piece ? piece : len;
}

/* The least that a write sends in such a way. */
static u32 sdp_zasync_least(const struct sdp_zcopy *z)
{
	return max_t(u32, sdp_zcopy_thresh(z), SDP_ZASYNC_LEAST);
}

/* Whether a reader has memory for that much. */
static bool sdp_zasync_fits(const struct sdp_zcopy *z)
{
	return sdp_zwrite_room(z) >= sdp_zasync_least(z);
}

/* Sends the next bytes, see sdp_zasync_send(). */
static u32 sdp_zasync_send_some(struct sdp_zcopy *z, struct msghdr *msg,
				struct sdp_zmsg *zm, long *timeo)
{
	u32 least = sdp_zasync_least(z);
	struct sdp_zpages *zp;
	unsigned long addr;
	u32 len;

	len = sdp_zcopy_segment(&msg->msg_iter, &addr);
	if (len < least || !sdp_zasync_ready(z, zm, timeo))
		return 0;
	len = sdp_zsend_fit(z, addr, len);
	/* What a reader has memory for is written there in one go. */
	if (zm->straight)
		len = sdp_zasync_fits(z) ? min(len, sdp_zwrite_room(z)) : sdp_zasync_piece(z, len);
	if (!len)
		return 0;
	zp = zm->uarg ? sdp_zmsg_pin(zm, z, addr, len) :
			sdp_zasync_protect(z, zm, addr, len);
	if (!zp || !sdp_zasync_may_add(z, zm) || !sdp_zsend_add(z, zp, zm->straight)) {
		if (zp)
			sdp_zpages_free(zp);
		SDP_INC_STATS(sock_net(z->st->sk), SDP_MIB_GUARDREFUSALS);
		z->st->stats.guard_refusals++;
		return 0;
	}
	SDP_SOCK_ADD_STATS(z->st->sk, SDP_MIB_ASYNCBYTESOUT, len);
	z->st->stats.async_out += len;
	zm->sent += len;
	iov_iter_advance(&msg->msg_iter, len);
	sdp_zasync_begin(z, len);
	z->st->ops->push(z->st->sk);
	return len;
}

/**
 * sdp_zasync_send() - send the next bytes of a write without a copy or a wait
 * @z: zero copy of a locked socket, connected; the lock may be given up meanwhile
 * @msg: what user space writes; advanced by what is sent
 * @zm: whether that is with MSG_ZEROCOPY
 * @timeo: how long to wait for room; less by what it took
 *
 * Return: bytes; 0 if they are to take another path.
 */
u32 sdp_zasync_send(struct sdp_zcopy *z, struct msghdr *msg,
		    struct sdp_zmsg *zm, long *timeo)
{
	bool straight = zm->straight;
	u32 sent;

	sdp_owned(z->st->sk);
	/* What is written to a reader's memory is not advertised; what is left may be. */
	zm->straight = straight || sdp_zasync_fits(z);
	sent = sdp_zasync_send_some(z, msg, zm, timeo);
	zm->straight = straight;
	return sent;
}

/* Gives up what is advertised, or was to be. */
static void sdp_zasync_cancel(struct sdp_zcopy *z, struct sdp_zpages *zp)
{
	struct sdp_zsource *source = &z->source;

	if (source->cancelled || source->cancel_due ||
	    zp->state == SDP_ZSEND_DIRECT)
		return;
	SDP_INC_STATS(sock_net(z->st->sk), SDP_MIB_ZCOPYCANCELS);
	z->st->stats.zcopy_cancels++;
	if (zp->state == SDP_ZSEND_READY)
		sdp_zsend_refuse(z, zp, SDP_ZSEND_DIRECT);
	else
		sdp_zsource_cancel(source);
}

/**
 * sdp_zasync_watch() - check the progress of pages that no call waits for
 * @z: zero copy of a locked socket
 *
 * The handler of SDP_TIMER_ASYNC.  A peer that has read nothing for too long
 * gets the rest by copy, as far as it has buffers for that; so do those to which
 * the pages could not even be advertised.
 */
void sdp_zasync_watch(struct sdp_zcopy *z)
{
	u32 now = sdp_zsend_passed(z) + z->finishes;

	sdp_owned(z->st->sk);
	if (!z->st->async_out || !z->st->link->qp)
		return;
	if (now != z->watched)
		z->watched_at = jiffies;
	z->watched = now;
	if (!sdp_zsend_nudge(z) &&
	    time_after_eq(jiffies, z->watched_at + sdp_zsend_patience(z)))
		sdp_zasync_cancel(z, sdp_zsend_oldest(z));
	sdp_timer_arm(z->st->sk, SDP_TIMER_ASYNC, SDP_ZCOPY_PATIENCE);
	z->st->ops->push(z->st->sk);
}

/* Counts what user space did to its memory; returns pages that it touched. */
static u32 sdp_zasync_count(struct sdp_zcopy *z, struct sdp_zpages *zp)
{
	struct sdp_conn_stats *stats = &z->st->stats;
	struct sdp_guard_count count =
		zp->guard_ops->count(zp->guard, zp->pages + zp->first,
				     zp->guarded);

	SDP_SOCK_ADD_STATS(z->st->sk, SDP_MIB_GUARDFAULTS, count.touched);
	SDP_SOCK_ADD_STATS(z->st->sk, SDP_MIB_GUARDWAITS, count.waited);
	SDP_SOCK_ADD_STATS(z->st->sk, SDP_MIB_GUARDCOPIES, count.copied);
	stats->guard_faults += count.touched;
	stats->guard_waits += count.waited;
	stats->guard_copies += count.copied;
	trace_sdp_guard_fault(z->st->sk, zp->guarded, count.touched, count.waited, count.copied);
	return count.touched;
}

/* Whether user space is better off with copies. */
static void sdp_zasync_learn(struct sdp_zcopy *z, struct sdp_zpages *zp)
{
	const struct sdp_net *sn = sdp_net(sock_net(z->st->sk));
	u32 touched = sdp_zasync_count(z, zp);

	/* Each attempt costs several times what it might save. */
	sdp_backoff_learn_from(&z->touched,
			       touched * 100 <= zp->nr * READ_ONCE(sn->zcopy_fault_limit),
			       SDP_ZASYNC_TOUCHED);
	sdp_zcopy_tell(z, "the program writes to it too early", &z->touched);
	if (z->touched.skip)
		sdp_zcost_forget(z);
}

/**
 * sdp_zasync_over() - the peer has all bytes of a write
 * @z: zero copy of a locked socket (by its owner or in softirq)
 * @zp: its pages, which are freed
 *
 * An application that writes to its memory too early too often is better off if that
 * is copied: each page costs it a fault and a copy.
 */
void sdp_zasync_over(struct sdp_zcopy *z, struct sdp_zpages *zp)
{
	sdp_owned(z->st->sk);
	if (!zp->straight) {
		sdp_backoff_learn(&z->unread, zp->done == zp->len);
		sdp_zcopy_tell(z, "the peer has not read it", &z->unread);
	}
	if (!zp->msg)
		sdp_zasync_learn(z, zp);
	sdp_zpages_free(zp);
}
