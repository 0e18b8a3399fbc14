// SPDX-License-Identifier: GPL-2.0
/*
 * A read that finds nothing lets the peer write to its memory (SinkAvail), while it waits.
 * No key to that memory is left when the read returns, whatever has happened.
 */
#include <linux/jiffies.h>
#include <linux/uio.h>

#include "base/base.h"
#include "rdma/rdma.h"
#include "stream/stream.h"
#include "zcopy.h"

/*
 * How long a peer may take to answer SinkAvailCancel, which needs no application.  Then
 * the key ends without its consent, and if it writes later the connection does.
 */
#define SDP_SINK_PATIENCE	HZ
/* How often that is looked at. */
#define SDP_SINK_NAP		max(HZ / 20, 2)
/* How long the device may take for what ends the key. */
#define SDP_SINK_LIMIT		(30 * HZ)
/* Requests that are kept for the end: the cancellation, and an invalidation. */
#define SDP_SINK_WRS		2

/*
 * Whether the memory could be advertised to a peer that may have something to write.  What
 * was sent from it may be in flight, and would be copied to make room.
 */
static bool sdp_sink_may_offer(const struct sdp_zcopy *z, u32 epoch)
{
	const struct sock *sk = z->st->sk;

	return z->on && z->st->features & SDP_FEAT_SINK && !z->writable &&
	       sdp_stream_is(z->st, epoch) && sdp_sinkadvert_may_begin(&z->sinkadvert) &&
	       !z->st->async_out && !z->st->rx.bytes && !sdp_zsink_busy(&z->sink) &&
	       !z->st->fin_received && !sk->sk_err && !(sk->sk_shutdown & RCV_SHUTDOWN) &&
	       sdp_rx_may_post(z->st);
}

static bool sdp_sink_map_mr(struct sdp_zcopy *z, struct sdp_zpages *zp)
{
	if (!z->writable_mr)
		z->writable_mr = sdp_region_alloc(z->st->link, sdp_zcopy_max_pages(z));
	zp->mr = z->writable_mr;
	return zp->mr && sdp_region_map(zp->mr, zp->sgt.sgl, zp->nents, zp->len);
}

static bool sdp_sink_add(struct sdp_zcopy *z, struct sdp_zpages *zp)
{
	if (!sdp_zpages_map(z, zp, DMA_FROM_DEVICE))
		return false;
	if (!sdp_sink_map_mr(z, zp)) {
		sdp_zpages_unmap(z, zp, DMA_FROM_DEVICE);
		return false;
	}
	z->writable = zp;
	sdp_sinkadvert_begin(&z->sinkadvert, zp->len);
	return true;
}

/*
 * Whether as much is to be expected: so long was what the peer sent in its last turn, and
 * it is its turn again; or it is a stream, which goes on, as what is longer than that
 * seems to be.  In the middle of a message memory would come too late.
 */
static bool sdp_sink_expects(struct sdp_zcopy *z, u32 len)
{
	const struct sdp_conn_stats *stats = &z->st->stats;
	u64 come;

	if (z->turn_out != stats->bytes_out) {
		z->turn_out = stats->bytes_out;
		z->turn_len = stats->bytes_in - z->turn_start;
		z->turn_start = stats->bytes_in;
	}
	come = stats->bytes_in - z->turn_start;
	return come ? come >= max_t(u64, len, z->turn_len + 1) : z->turn_len >= len;
}

/*
 * How much memory the read could lend, and from where on; 0 if it is not worth it: as with
 * SrcAvail, messages and registrations cost more than they save of what is short.
 */
static u32 sdp_sink_fit(struct sdp_zcopy *z, const struct iov_iter *iter, unsigned long *addr)
{
	u32 least = max(sdp_zcopy_thresh(z), sdp_zdirect_most(z));
	u32 len = sdp_zcopy_segment(iter, addr);

	if (!sdp_sink_expects(z, least) || !len)
		return 0;
	len = sdp_zsend_fit(z, *addr, len);
	return len < least || sdp_backoff_skips(&z->unwritten) ? 0 : len;
}

/**
 * sdp_sink_offer() - let the peer write to the memory of a read that is about to wait
 * @z: zero copy of a locked socket; the lock may be given up to get the memory
 * @iter: where the read puts its bytes
 * @epoch: the connection that it reads from, sdp_stream::epoch
 *
 * Only where large messages come: others are copied anyhow, and end the advertisement.
 * The caller pushes.
 *
 * Context: process context.
 * Return: the memory, for sdp_sink_withdraw(); NULL if it is not advertised.
 */
struct sdp_zpages *sdp_sink_offer(struct sdp_zcopy *z, const struct iov_iter *iter, u32 epoch)
{
	struct sdp_zpages *zp;
	unsigned long addr;
	u32 len;

	sdp_owned(z->st->sk);
	if (!sdp_sink_may_offer(z, epoch))
		return NULL;
	len = sdp_sink_fit(z, iter, &addr);
	if (!len)
		return NULL;
	sdp_zrecv_unshare(z, addr, len);
	zp = sdp_zpages_pin(z, addr, len, SDP_ZPAGES_RECV);
	if (!zp)
		return NULL;
	/* Nothing is written before it is advertised. */
	zp->write = false;
	if (sdp_sink_may_offer(z, epoch)) {
		if (sdp_sink_add(z, zp))
			return zp;
		sdp_backoff_learn(&z->unwritten, false);
	}
	sdp_zpages_drop(z, zp);
	return NULL;
}

/* The device does not use the memory any more; its reader may free it soon. */
static void sdp_sink_release(struct sdp_zcopy *z)
{
	struct sdp_zpages *zp = z->writable;

	/* Its key ends before. */
	WARN_ON_ONCE(zp->keyed);
	sdp_zpages_unmap(z, zp, DMA_FROM_DEVICE);
	sdp_sinkadvert_end(&z->sinkadvert);
	z->writable = NULL;
	z->writable_ending = false;
	complete_all(&zp->over);
}

/* Like RingAvail, the advert waits for all that is in flight. */
static bool sdp_sink_advertise(struct sdp_zcopy *z)
{
	struct sdp_msg msg = { .bsdh.mid = SDP_MID_SINKAVAIL };
	struct ib_reg_wr reg;

	if (z->sinkadvert.state != SDP_SINKADVERT_DUE ||
	    !z->st->ops->may_send(z->st->sk, SDP_MID_SINKAVAIL, 0) ||
	    !sdp_tx_room(&z->st->tx, SDP_TX_RESERVED + SDP_SINK_WRS) ||
	    !sdp_tx_idle(z->st, sdp_zrecv_busy(z)))
		return true;
	sdp_tx_add_reg_mr(z->st, &reg, z->writable_mr,
			  IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
	z->writable->keyed = true;
	z->writable->write = true;
	sdp_sinkadvert_sent(&z->sinkadvert);
	msg.bsdh.flags = sdp_oob_flags(&z->st->tx, false);
	msg.sinkah = (struct sdp_sinkah){
		.size = z->writable->len,
		.rkey = z->writable_mr->rkey,
		.vaddr = z->writable_mr->iova,
		.non_disc = z->st->stats.data_in,
	};
	SDP_SOCK_INC_STATS(z->st->sk, SDP_MIB_SINKADVERTS);
	return sdp_tx_post_msg(z->st, &msg, false);
}

static bool sdp_sink_may_post(const struct sdp_zcopy *z, enum sdp_mid mid)
{
	return z->st->ops->may_send(z->st->sk, mid, 0) && sdp_tx_room(&z->st->tx, 0);
}

static bool sdp_sink_cancel(struct sdp_zcopy *z)
{
	if (!z->sinkadvert.cancel_due || !sdp_sink_may_post(z, SDP_MID_SINKAVAILCANCEL))
		return true;
	sdp_sinkadvert_cancel_sent(&z->sinkadvert);
	SDP_SOCK_INC_STATS(z->st->sk, SDP_MIB_SINKCANCELS);
	return sdp_tx_post(z->st, SDP_MID_SINKAVAILCANCEL, 0, 0);
}

/* What the peer has ended the key of is free at once. */
static bool sdp_sink_end_key(struct sdp_zcopy *z)
{
	if (z->sinkadvert.state != SDP_SINKADVERT_OVER || z->writable_ending)
		return true;
	if (!z->writable->keyed) {
		sdp_sink_release(z);
		return true;
	}
	if (!sdp_tx_room(&z->st->tx, 0))
		return true;
	z->writable_ending = true;
	return sdp_tx_post_local_inv(z->st, z->writable_mr, &z->writable_ended);
}

/* The peer's request for its memory is answered behind all that was written to it. */
static bool sdp_sink_answer(struct sdp_zcopy *z)
{
	if (!z->sinktarget.ack_due || !sdp_sink_may_post(z, SDP_MID_SINKCANCELACK))
		return true;
	sdp_sinktarget_acked(&z->sinktarget);
	return sdp_tx_post(z->st, SDP_MID_SINKCANCELACK, 0, 0);
}

/**
 * sdp_sink_push() - go on with the memory that either end advertises
 * @z: zero copy of a locked socket (by its owner or in softirq) with a queue pair
 *
 * Return: whether the connection lives.
 */
bool sdp_sink_push(struct sdp_zcopy *z)
{
	sdp_owned(z->st->sk);
	return sdp_sink_answer(z) && sdp_sink_end_key(z) && sdp_sink_cancel(z) &&
	       sdp_sink_advertise(z);
}

/* The device has completed the invalidation. */
static void sdp_sink_key_over(struct sdp_done *done)
{
	struct sdp_zcopy *z = container_of(done, struct sdp_zcopy, writable_ended);

	z->writable->keyed = false;
	sdp_sink_release(z);
}

/**
 * sdp_sink_prepare() - prepare a new socket's zero copy
 * @z: zero copy, zeroed
 */
void sdp_sink_prepare(struct sdp_zcopy *z)
{
	z->writable_ended.done = sdp_sink_key_over;
}

/**
 * sdp_sink_key_ended() - the peer has invalidated a key
 * @z: zero copy of a locked socket (by its owner or in softirq) with a device
 * @key: any: only that of memory that is advertised counts
 */
void sdp_sink_key_ended(struct sdp_zcopy *z, u32 key)
{
	sdp_owned(z->st->sk);
	if (z->writable && !z->writable_ending && z->writable_mr->rkey == key)
		z->writable->keyed = false;
}

/**
 * sdp_sink_passed() - something has come that the peer would have written
 * @z: zero copy of a locked socket (by its owner or in softirq)
 *
 * It does not use the memory then.
 */
void sdp_sink_passed(struct sdp_zcopy *z)
{
	sdp_owned(z->st->sk);
	sdp_sinkadvert_passed(&z->sinkadvert);
}

/* The next bytes of the stream are in the reader's memory, which is to be woken. */
static int sdp_sink_written(struct sdp_zcopy *z, u32 len)
{
	int err = sdp_sinkadvert_written(&z->sinkadvert, len);

	if (err)
		return err;
	z->writable->done = len;
	sdp_zrecv_count(z, len);
	SDP_SOCK_ADD_STATS(z->st->sk, SDP_MIB_SINKBYTESIN, len);
	SDP_SOCK_ADD_STATS(z->st->sk, SDP_MIB_ZCOPYBYTESIN, len);
	z->st->sk->sk_data_ready(z->st->sk);
	return 0;
}

/**
 * sdp_sink_heard() - a message about memory to be written to
 * @z: zero copy of a locked socket (by its owner or in softirq)
 * @msg: SinkAvail, RdmaWrCompl, SinkAvailCancel or SinkCancelAck
 *
 * Return: 0 or -EPROTO.
 */
int sdp_sink_heard(struct sdp_zcopy *z, const struct sdp_msg *msg)
{
	sdp_owned(z->st->sk);
	if (!(z->st->features & SDP_FEAT_SINK))
		return -EPROTO;
	switch (msg->bsdh.mid) {
	case SDP_MID_SINKAVAIL:
		return sdp_sinktarget_advertised(&z->sinktarget, &msg->sinkah,
						 z->st->stats.data_out,
						 sdp_zsource_busy(&z->source));
	case SDP_MID_RDMAWRCOMPL:
		return sdp_sink_written(z, msg->rdma_len);
	case SDP_MID_SINKAVAILCANCEL:
		return sdp_sinktarget_cancelled(&z->sinktarget);
	case SDP_MID_SINKCANCELACK:
		return sdp_sinkadvert_cancelled(&z->sinkadvert);
	default:
		return -EPROTO;
	}
}

/**
 * sdp_sink_nudge() - have the device look at a key that is being ended
 * @z: zero copy of a locked socket with a queue pair
 *
 * Like sdp_zsend_nudge().
 */
void sdp_sink_nudge(struct sdp_zcopy *z)
{
	sdp_owned(z->st->sk);
	if (z->writable_ending)
		sdp_tx_nudge(z->st);
}

/* Waits until the peer has written, or says that it does not, or has not for too long. */
static void sdp_sink_await(struct sdp_zcopy *z, struct sdp_zpages *zp)
{
	unsigned long end = jiffies + SDP_SINK_PATIENCE;

	while (!sdp_sink_is_over(z, zp) && time_before(jiffies, end)) {
		sdp_release_sock(z->st->sk);
		wait_for_completion_timeout(&zp->over, SDP_SINK_NAP);
		sdp_lock_sock(z->st->sk);
	}
	/* What has come counts. */
	sdp_stream_catch_up(z->st);
}

/**
 * sdp_sink_withdraw() - the read does not wait any more
 * @z: zero copy of a locked socket; the lock is released meanwhile
 * @zp: what sdp_sink_offer() returned, which is freed
 * @epoch: the connection that it was advertised on, sdp_stream::epoch
 *
 * If the peer may still write it is asked not to.  No key is left when this returns.
 *
 * Context: process context.
 * Return: bytes that the peer has written.
 */
u32 sdp_sink_withdraw(struct sdp_zcopy *z, struct sdp_zpages *zp, u32 epoch)
{
	u32 done;

	sdp_owned(z->st->sk);
	if (z->writable == zp) {
		sdp_sinkadvert_cancel(&z->sinkadvert);
		z->st->ops->push(z->st->sk);
	}
	sdp_sink_await(z, zp);
	if (z->writable == zp) {
		sdp_sinkadvert_revoke(&z->sinkadvert);
		z->st->ops->push(z->st->sk);
	}
	sdp_zpages_wait(z, zp, SDP_SINK_LIMIT);
	done = zp->done;
	if (sdp_stream_is(z->st, epoch)) {
		sdp_backoff_learn(&z->unwritten, done);
		sdp_zcopy_tell(z, "the peer does not write to it", &z->unwritten);
	}
	sdp_zpages_drop(z, zp);
	return done;
}

/**
 * sdp_sink_free() - the connection is gone
 * @z: zero copy of a locked socket whose queue pair is gone, with its device
 *
 * Context: process context.
 */
void sdp_sink_free(struct sdp_zcopy *z)
{
	sdp_owned(z->st->sk);
	if (z->writable_mr)
		ib_dereg_mr(z->writable_mr);
	z->writable_mr = NULL;
	if (!z->writable)
		return;
	z->writable->keyed = false;
	sdp_sink_release(z);
}
