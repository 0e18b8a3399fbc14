// SPDX-License-Identifier: GPL-2.0
/*
 * Synchronous zero copy (ZSDP): user space waits until the peer has read its
 * pages, or wants the bytes by copy.
 */
#include <linux/sched/signal.h>
#include <linux/uio.h>

#include "base/base.h"
#include "rdma/rdma.h"
#include "stream/stream.h"
#include "zcopy.h"

/*
 * How long it may take to answer SrcAvailCancel, which needs no application, but has to
 * wait for what the peer's device is reading.
 */
#define SDP_ZSYNC_ANSWER	(40 * HZ)

/* Checked again whenever the lock was released: the connection may be another one. */
static bool sdp_zsync_may_add(const struct sdp_zcopy *z,
			      const struct sdp_zmsg *zm)
{
	return z->on && sdp_stream_is(z->st, zm->epoch) && !sdp_zsend_busy(z) &&
	       sdp_zsend_may_add(z, false) && sdp_zsend_open(z);
}

/* Writes pages to memory of a reader's that has room for them, or advertises them. */
static bool sdp_zsync_add(struct sdp_zcopy *z, struct sdp_zpages *zp)
{
	if (sdp_zwrite_room(z) < zp->len || !sdp_zwrite_possible(z, zp))
		return sdp_zsend_add(z, zp, false);
	if (!sdp_zsend_add(z, zp, true))
		return false;
	sdp_zwrite_post(z);
	return true;
}

static struct sdp_zpages *sdp_zsync_prepare(struct sdp_zcopy *z,
					    const struct msghdr *msg,
					    const struct sdp_zmsg *zm)
{
	struct sdp_zpages *zp;
	unsigned long addr;
	u32 len;

	len = sdp_zcopy_segment(&msg->msg_iter, &addr);
	if (len < sdp_zcopy_thresh(z) || !sdp_zsync_may_add(z, zm))
		return NULL;
	z->st->ops->flush(z->st->sk);
	if (sdp_zwrite_room(z) >= sdp_zcopy_thresh(z))
		len = min(len, sdp_zwrite_room(z));
	len = sdp_zsend_fit(z, addr, len);
	if (!len)
		return NULL;
	zp = sdp_zpages_pin(z, addr, len, SDP_ZPAGES_SEND);
	if (zp && !(sdp_zsync_may_add(z, zm) && sdp_zsync_add(z, zp))) {
		sdp_zpages_free(zp);
		return NULL;
	}
	return zp;
}

/* Whether the pages are still the connection's. */
static bool sdp_zsync_is_out(struct sdp_zcopy *z, const struct sdp_zpages *zp)
{
	return sdp_zsend_busy(z) && sdp_zsend_oldest(z) == zp;
}

/* Waits as long as the peer reads on; returns whether the pages are free. */
static bool sdp_zsync_wait_read(struct sdp_zcopy *z, struct sdp_zpages *zp,
				long *timeo)
{
	unsigned long since = jiffies;
	u32 seen = z->source.done;
	long time, left;

	do {
		time = min_t(long, SDP_ZCOPY_PATIENCE, *timeo);
		sdp_release_sock(z->st->sk);
		left = wait_for_completion_interruptible_timeout(&zp->over,
								 time);
		sdp_lock_sock(z->st->sk);
		if (*timeo != MAX_SCHEDULE_TIMEOUT)
			*timeo -= time - max(left, 0L);
		if (left > 0)
			return true;
		if (z->source.done != seen)
			since = jiffies;
		seen = z->source.done;
		sdp_zsend_nudge(z);
	} while (!left && *timeo && sdp_zsync_is_out(z, zp) &&
		 time_before(jiffies, since + sdp_zsend_patience(z)));
	return false;
}

/* As with TCP user space may limit how long nothing is acknowledged. */
static unsigned long sdp_zsync_answer(const struct sdp_zcopy *z)
{
	unsigned long user = msecs_to_jiffies(sdp_base(z->st->sk)->opt.user_timeout);

	return user ? min_t(unsigned long, user, SDP_ZSYNC_ANSWER) :
		      SDP_ZSYNC_ANSWER;
}

static void sdp_zsync_count_cancel(struct sdp_zcopy *z)
{
	SDP_INC_STATS(sock_net(z->st->sk), SDP_MIB_ZCOPYCANCELS);
	z->st->stats.zcopy_cancels++;
}

/* Gets the pages back from a peer that does not read. */
static void sdp_zsync_take_back(struct sdp_zcopy *z, struct sdp_zpages *zp)
{
	if (sdp_zsync_is_out(z, zp) && zp->state == SDP_ZSEND_READY) {
		sdp_zsync_count_cancel(z);
		sdp_zsend_finish(z);
	} else if (sdp_zsync_is_out(z, zp) && sdp_zsource_busy(&z->source)) {
		sdp_zsync_count_cancel(z);
		sdp_zsource_cancel(&z->source);
	}
	z->st->ops->push(z->st->sk);
	sdp_zpages_wait(z, zp, sdp_zsync_answer(z));
}

/**
 * sdp_zsync_send() - send the next bytes of a write without a copy
 * @z: zero copy of a locked socket, connected; the lock is released meanwhile
 * @msg: what user space writes; advanced by what was sent
 * @zm: the connection that it goes to
 * @timeo: how long to wait; less by what it took
 *
 * The peer does not read user memory any more when this returns.
 *
 * Return: bytes; if they are fewer than a write of the threshold, the rest is
 * to be copied.
 */
u32 sdp_zsync_send(struct sdp_zcopy *z, struct msghdr *msg,
		   const struct sdp_zmsg *zm, long *timeo)
{
	struct sdp_zpages *zp = sdp_zsync_prepare(z, msg, zm);
	u32 done;

	sdp_owned(z->st->sk);
	if (!zp)
		return 0;
	z->st->ops->flush(z->st->sk);
	if (!sdp_zsync_wait_read(z, zp, timeo))
		sdp_zsync_take_back(z, zp);
	done = zp->done;
	if (!zp->straight && sdp_stream_is(z->st, zm->epoch)) {
		sdp_backoff_learn(&z->unread, done == zp->len);
		sdp_zcopy_tell(z, "the peer has not read it", &z->unread);
	}
	sdp_zpages_free(zp);
	SDP_SOCK_ADD_STATS(z->st->sk, SDP_MIB_ZCOPYBYTESOUT, done);
	iov_iter_advance(&msg->msg_iter, done);
	return done;
}
