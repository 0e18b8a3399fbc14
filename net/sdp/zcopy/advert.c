// SPDX-License-Identifier: GPL-2.0
/*
 * The sender's side of zero copy: from user pages to an advertisement
 * (SrcAvail), and back from the peer when it has read them, or refuses.
 */
#include "rdma/rdma.h"
#include "stream/stream.h"
#include "zcopy.h"

/* Work requests for all that may be advertised, and for revoking it. */
#define SDP_ZSEND_WRS		(3 * SDP_ZCOPY_ADVERTS)

/**
 * sdp_zcopy_max_pages() - how many pages a key may be for
 * @z: zero copy of a locked socket with a device
 */
u32 sdp_zcopy_max_pages(const struct sdp_zcopy *z)
{
	sdp_owned(z->st->sk);
	return min_t(u32, SDP_ZCOPY_PAGES,
		     z->st->link->dev->ibdev->attrs.max_fast_reg_page_list_len);
}

/**
 * sdp_zsend_fit() - how much of user memory may be sent, or written to, at once
 * @z: zero copy of a locked socket with a device
 * @addr: where it begins
 * @len: bytes
 *
 * Return: bytes; 0 if the device cannot register memory.
 */
u32 sdp_zsend_fit(const struct sdp_zcopy *z, unsigned long addr, u32 len)
{
	u32 pages = sdp_zcopy_max_pages(z);

	sdp_owned(z->st->sk);
	return pages ? min3(len, (u32)SDP_ZCOPY_BYTES,
			    (u32)(pages * PAGE_SIZE - offset_in_page(addr))) : 0;
}

/* The peer gets a key to these bytes and to nothing else, a new one each time. */
static bool sdp_zsend_map_mr(struct sdp_zcopy *z, struct sdp_zpages *zp)
{
	struct ib_mr **mr = &z->mrs[z->mr_turn % SDP_ZCOPY_ADVERTS];

	/* Who had it before is gone: they come and go in turn. */
	if (WARN_ON_ONCE(z->adverts >= SDP_ZCOPY_ADVERTS))
		return false;
	if (!*mr)
		*mr = sdp_region_alloc(z->st->link, sdp_zcopy_max_pages(z));
	if (!*mr || !sdp_region_map(*mr, zp->sgt.sgl, zp->nents, zp->len))
		return false;
	zp->mr = *mr;
	z->mr_turn++;
	return true;
}

static bool sdp_zsend_map(struct sdp_zcopy *z, struct sdp_zpages *zp)
{
	if (!sdp_zpages_map(z, zp, DMA_TO_DEVICE))
		return false;
	if (zp->straight || sdp_zsend_map_mr(z, zp))
		return true;
	sdp_zpages_unmap(z, zp, DMA_TO_DEVICE);
	return false;
}

/**
 * sdp_zsend_open() - whether user space may still write
 * @z: zero copy of a locked socket, that was connected before the lock was released
 */
bool sdp_zsend_open(const struct sdp_zcopy *z)
{
	sdp_owned(z->st->sk);
	return z->st->link->qp && !test_bit(SDP_CONN_BROKEN, &z->st->link->flags) &&
	       sdp_in_state(z->st->sk, SDPF_SEND) &&
	       !(z->st->sk->sk_shutdown & SEND_SHUTDOWN);
}

/**
 * sdp_zsend_may_add() - whether pages may be sent behind those in flight
 * @z: zero copy of a socket; without its lock it is a hint for a caller that waits
 * @straight: they are not to be advertised
 *
 * What is advertised is not behind pages that the peer has refused in part: the rest of
 * these goes first.  All else may have as much in flight as the send ring may, beside it:
 * the writer that waits is woken when pages are released.
 */
bool sdp_zsend_may_add(const struct sdp_zcopy *z, bool straight)
{
	if (straight)
		return READ_ONCE(z->st->async_bytes) < sdp_tx_limit(z->st);
	return !READ_ONCE(z->refused) && READ_ONCE(z->adverts) < READ_ONCE(z->source.max);
}

/**
 * sdp_zsend_add() - send pages
 * @z: zero copy of a locked socket with a queue pair; sdp_zsend_may_add() said yes
 * @zp: the pages, which belong to the connection now if they are asynchronous;
 *	otherwise no others are sent
 * @straight: they are not advertised, but sent as messages at once, or written
 *
 * Return: whether that is possible.
 */
bool sdp_zsend_add(struct sdp_zcopy *z, struct sdp_zpages *zp, bool straight)
{
	sdp_owned(z->st->sk);
	zp->straight = straight;
	if (!sdp_zsend_map(z, zp))
		return false;
	zp->state = straight ? SDP_ZSEND_DIRECT : SDP_ZSEND_READY;
	zp->since = jiffies;
	if (straight) {
		if (sdp_zwrite_size(z) < zp->len)
			sdp_tx_want(z->st, zp->len);
		WRITE_ONCE(z->unsent_bytes, z->unsent_bytes + zp->len);
	} else {
		WRITE_ONCE(z->adverts, z->adverts + 1);
	}
	list_add_tail(&zp->node, &z->sends);
	if (!z->next)
		z->next = zp;
	z->st->async_out += zp->async;
	if (zp->async)
		WRITE_ONCE(z->st->async_bytes, z->st->async_bytes + zp->len);
	return true;
}

static void sdp_zsend_count(struct sdp_conn_stats *stats, u32 len)
{
	stats->bytes_out += len;
	stats->bytes_acked += len;
	stats->zcopy_out += len;
	stats->last_out = jiffies;
}

/**
 * sdp_zsend_advance() - the first pages that were not posted are posted, or gone
 * @z: zero copy of a locked socket (by its owner or in softirq) with such pages
 */
void sdp_zsend_advance(struct sdp_zcopy *z)
{
	sdp_owned(z->st->sk);
	z->next = list_is_last(&z->next->node, &z->sends) ? NULL : list_next_entry(z->next, node);
}

/**
 * sdp_zsend_refuse() - pages are not to be read any more by the peer
 * @z: zero copy of a locked socket (by its owner or in softirq)
 * @zp: pages that were advertised, or were to be
 * @state: what becomes of them
 */
void sdp_zsend_refuse(struct sdp_zcopy *z, struct sdp_zpages *zp, enum sdp_zsend_state state)
{
	sdp_owned(z->st->sk);
	if (zp->state <= SDP_ZSEND_OUT)
		WRITE_ONCE(z->refused, z->refused + 1);
	zp->state = state;
}

/* Pages are not in flight any more. */
static void sdp_zsend_uncount(struct sdp_zcopy *z, const struct sdp_zpages *zp)
{
	z->finishes++;
	if (zp->straight) {
		WRITE_ONCE(z->unsent_bytes, z->unsent_bytes - (zp->len - zp->sent));
		return;
	}
	WRITE_ONCE(z->adverts, z->adverts - 1);
	if (zp->state > SDP_ZSEND_OUT)
		WRITE_ONCE(z->refused, z->refused - 1);
}

/**
 * sdp_zsend_finish() - the device does not use the oldest pages any more
 * @z: zero copy of a locked socket (by its owner or in softirq) with a device
 */
void sdp_zsend_finish(struct sdp_zcopy *z)
{
	struct sdp_zpages *zp = sdp_zsend_oldest(z);

	sdp_owned(z->st->sk);
	/* Its key ends before memory is released. */
	WARN_ON_ONCE(zp->keyed);
	if (zp->done == zp->len && !zp->straight)
		sdp_zpace_learn(&z->pace, jiffies - zp->since);
	sdp_zsend_count(&z->st->stats, zp->done);
	sdp_zpages_unmap(z, zp, DMA_TO_DEVICE);
	if (z->next == zp)
		sdp_zsend_advance(z);
	list_del(&zp->node);
	sdp_zsend_uncount(z, zp);
	if (!zp->async) {
		complete_all(&zp->over);
		return;
	}
	z->st->async_out--;
	/* The others have arrived in messages, see sdp_tx_reap(). */
	WRITE_ONCE(z->st->async_bytes, z->st->async_bytes - zp->done);
	sdp_zasync_over(z, zp);
	if (z->writers && sdp_zsend_has_drained(z))
		z->st->sk->sk_state_change(z->st->sk);
}

static bool sdp_zsend_may_post(const struct sdp_zcopy *z, enum sdp_mid mid)
{
	return z->st->ops->may_send(z->st->sk, mid, 0) && sdp_tx_room(&z->st->tx, 1);
}

/* Bytes of them that the peer has read. */
static u32 sdp_zsend_read(const struct sdp_zcopy *z, const struct sdp_zpages *zp)
{
	return clamp_t(s32, z->source.done - zp->start, 0, zp->len);
}

/* Advertises the pages to the peer; returns whether the connection lives. */
static bool sdp_zsend_tell(struct sdp_zcopy *z, struct sdp_zpages *zp)
{
	struct sdp_msg msg = {
		.bsdh.mid = SDP_MID_SRCAVAIL,
		.srcah = {
			.len = zp->len,
			.rkey = zp->mr->rkey,
			.vaddr = zp->mr->iova,
		},
	};

	if (!sdp_zsource_busy(&z->source))
		z->advertised = z->source.done;
	zp->state = SDP_ZSEND_OUT;
	zp->start = z->advertised;
	z->advertised += zp->len;
	trace_sdp_zcopy_offer(z->st->sk, zp->len, zp->mr->rkey, zp->async);
	if (!sdp_tx_post_msg(z->st, &msg,
			     z->st->link->dev->acked_on_completion))
		return false;
	sdp_zsource_advertise(&z->source, z->st->credit.tx_mseq, zp->len);
	/* What is written to the peer would overtake it. */
	sdp_sinktarget_drop(&z->sinktarget);
	return true;
}

/* Whether the peer has refused, or is about to have, some of the pages. */
static bool sdp_zsend_refused(const struct sdp_zcopy *z, const struct sdp_zpages *zp)
{
	if (zp->state == SDP_ZSEND_OUT)
		return !sdp_zsource_busy(&z->source) && sdp_zsend_read(z, zp) != zp->len;
	return zp->state > SDP_ZSEND_OUT && zp->done != zp->len;
}

/*
 * The first pages that are to be advertised, NULL if there are none.  What was refused,
 * or goes as messages, is sent before anything else is advertised.
 */
static struct sdp_zpages *sdp_zsend_next(const struct sdp_zcopy *z)
{
	struct sdp_zpages *zp;

	list_for_each_entry(zp, &z->sends, node) {
		if (sdp_zsend_refused(z, zp))
			return NULL;
		if (zp->state == SDP_ZSEND_READY)
			return zp;
	}
	return NULL;
}

/*
 * Data in the ring is before pages that a call waits for, and behind the others.
 * Like RingAvail, the advert waits for all that is in flight.
 */
static bool sdp_zsend_may_offer(struct sdp_zcopy *z, const struct sdp_zpages *zp)
{
	return (zp->async || z->st->tx.wait_head == z->st->tx.wait_tail) &&
	       sdp_zsource_may_advertise(&z->source) &&
	       z->st->ops->may_send(z->st->sk, SDP_MID_SRCAVAIL, 0) &&
	       sdp_tx_room(&z->st->tx, SDP_ZSEND_WRS) &&
	       sdp_tx_idle(z->st, sdp_zrecv_busy(z));
}

/* How many adverts may be sent one after the other if one may be sent. */
static u32 sdp_zsend_batch(const struct sdp_zcopy *z)
{
	u32 kept = sdp_sinkadvert_reserves(&z->sinkadvert);
	u32 credits = sdp_credit_data(&z->st->credit);

	return min(credits - min(credits, kept), sdp_zsource_room(&z->source));
}

/*
 * Advertises what is ready.  Memory is registered while the queue is empty, so that
 * what will be advertised together is registered before the first advert leaves.
 */
static bool sdp_zsend_advertise(struct sdp_zcopy *z)
{
	struct ib_reg_wr regs[SDP_ZCOPY_ADVERTS];
	struct sdp_zpages *first = sdp_zsend_next(z);
	struct sdp_zpages *zp = first;
	u32 n = 0;
	u32 i;

	if (!first || !sdp_zsend_may_offer(z, first))
		return true;
	list_for_each_entry_from(zp, &z->sends, node) {
		if (zp->state != SDP_ZSEND_READY || n == sdp_zsend_batch(z))
			break;
		sdp_tx_add_reg_mr(z->st, &regs[n++], zp->mr, IB_ACCESS_REMOTE_READ);
		zp->keyed = true;
	}
	for (zp = first, i = 0; i < n; i++, zp = list_next_entry(zp, node))
		if (!sdp_zsend_tell(z, zp))
			return false;
	return true;
}

static bool sdp_zsend_cancel(struct sdp_zcopy *z)
{
	struct sdp_zsource *source = &z->source;

	if (!source->cancel_due ||
	    !sdp_zsend_may_post(z, SDP_MID_SRCAVAILCANCEL))
		return true;
	if (!sdp_tx_post(z->st, SDP_MID_SRCAVAILCANCEL, 0, 0))
		return false;
	sdp_zsource_cancel_sent(source);
	return true;
}

/**
 * sdp_zsend_push() - go on with the pages that are sent
 * @z: zero copy of a locked socket (by its owner or in softirq), all data before them was
 *	posted
 *
 * Return: whether the connection lives.
 */
bool sdp_zsend_push(struct sdp_zcopy *z)
{
	sdp_owned(z->st->sk);
	if (!z->adverts)
		return true;
	return sdp_zsend_advertise(z) && sdp_zsend_cancel(z);
}

/* Releases pages that are revoked, or has the rest of them sent. */
static void sdp_zsend_settle(struct sdp_zcopy *z)
{
	struct sdp_zpages *zp, *next;

	list_for_each_entry_safe(zp, next, &z->sends, node) {
		if (zp->state == SDP_ZSEND_DIRECT)
			continue;
		if (zp->state != SDP_ZSEND_REVOKED || zp->keyed)
			return;
		if (zp->async && zp->done != zp->len)
			sdp_zsend_refuse(z, zp, SDP_ZSEND_DIRECT);
		else
			sdp_zsend_finish(z);
	}
}

/* Revokes the key of pages; returns whether the connection lives. */
static bool sdp_zsend_end_key(struct sdp_zcopy *z, struct sdp_zpages *zp)
{
	sdp_zsend_refuse(z, zp, SDP_ZSEND_REVOKED);
	return !zp->keyed || sdp_tx_post_local_inv(z->st, zp->mr, &z->revoked);
}

/**
 * sdp_zsend_revoke() - revoke the key of pages that are read, or whose rest is
 *	refused
 * @z: zero copy of a locked socket (by its owner or in softirq) with a queue pair
 *
 * What user space has written since may be sent behind the pages that are free now.
 *
 * Return: whether the connection lives.
 */
bool sdp_zsend_revoke(struct sdp_zcopy *z)
{
	bool busy = sdp_zsource_busy(&z->source);
	struct sdp_zpages *zp;

	sdp_owned(z->st->sk);
	if (!z->adverts)
		return true;
	list_for_each_entry(zp, &z->sends, node) {
		if (zp->state != SDP_ZSEND_OUT)
			continue;
		zp->done = sdp_zsend_read(z, zp);
		zp->sent = zp->done;
		if ((busy && zp->done != zp->len) ||
		    (zp->keyed && !sdp_tx_room(&z->st->tx, 0)))
			break;
		if (!sdp_zsend_end_key(z, zp))
			return false;
	}
	sdp_zsend_settle(z);
	return true;
}

/**
 * sdp_zsend_key_ended() - the peer has invalidated a key
 * @z: zero copy of a locked socket (by its owner or in softirq) with a device
 * @key: any, for a peer may name what it likes: only those of advertised pages
 *	count
 */
void sdp_zsend_key_ended(struct sdp_zcopy *z, u32 key)
{
	struct sdp_zpages *zp;

	sdp_owned(z->st->sk);
	if (!z->adverts)
		return;
	list_for_each_entry(zp, &z->sends, node)
		if (zp->state == SDP_ZSEND_OUT && zp->mr->rkey == key)
			zp->keyed = false;
}

/**
 * sdp_zsend_nudge() - have the device look at pages that are being revoked
 * @z: zero copy of a locked socket with a queue pair
 *
 * A device may forget an invalidation that had to wait (SDP_QUIRK_LAZY_INV).
 *
 * Return: whether the oldest pages are.
 */
bool sdp_zsend_nudge(struct sdp_zcopy *z)
{
	sdp_owned(z->st->sk);
	if (!sdp_zsend_busy(z) ||
	    sdp_zsend_oldest(z)->state != SDP_ZSEND_REVOKED)
		return false;
	sdp_tx_nudge(z->st);
	return true;
}

/**
 * sdp_zsend_free() - the connection is gone
 * @z: zero copy of a locked socket whose queue pair is gone, with its device
 *
 * Context: process context.
 */
void sdp_zsend_free(struct sdp_zcopy *z)
{
	struct sdp_zpages *zp;
	u32 i;

	sdp_owned(z->st->sk);
	for (i = 0; i < SDP_ZCOPY_ADVERTS; i++) {
		if (z->mrs[i])
			ib_dereg_mr(z->mrs[i]);
		z->mrs[i] = NULL;
	}
	while (sdp_zsend_busy(z)) {
		zp = sdp_zsend_oldest(z);
		zp->keyed = false;
		if (zp->state == SDP_ZSEND_OUT)
			zp->done = sdp_zsend_read(z, zp);
		zp->sent = max(zp->sent, zp->done);
		sdp_zsend_finish(z);
	}
	WRITE_ONCE(z->st->async_bytes, 0);
}

/* The device has completed a local invalidation: of the oldest of these. */
static void sdp_zsend_revoked(struct sdp_done *done)
{
	struct sdp_zcopy *z = container_of(done, struct sdp_zcopy, revoked);
	struct sdp_zpages *zp;

	list_for_each_entry(zp, &z->sends, node) {
		if (zp->state != SDP_ZSEND_REVOKED || !zp->keyed)
			continue;
		zp->keyed = false;
		sdp_zsend_settle(z);
		return;
	}
}

static void sdp_zsend_finished(struct sdp_done *done)
{
	struct sdp_zcopy *z = container_of(done, struct sdp_zcopy, finished);
	struct sdp_zpages *zp = sdp_zsend_oldest(z);

	/* Messages are counted as such. */
	zp->done += zp->written;
	z->st->direct_acked += zp->written;
	z->st->tx.since = jiffies;
	sdp_zsend_finish(z);
}

/**
 * sdp_zsend_prepare() - prepare a new socket's zero copy
 * @z: zero copy, zeroed
 */
void sdp_zsend_prepare(struct sdp_zcopy *z)
{
	INIT_LIST_HEAD(&z->sends);
	z->revoked.done = sdp_zsend_revoked;
	z->finished.done = sdp_zsend_finished;
	sdp_zdirect_prepare(z);
	sdp_sink_prepare(z);
}

/**
 * sdp_zcopy_answered() - an advert is over, or is to be: the peer's, or one to it
 * @z: zero copy of a locked socket (by its owner or in softirq)
 * @msg: SrcAvailCancel, RdmaRdCompl or SendSm
 *
 * Return: 0 or -EPROTO.
 */
int sdp_zcopy_answered(struct sdp_zcopy *z, const struct sdp_msg *msg)
{
	sdp_owned(z->st->sk);
	switch (msg->bsdh.mid) {
	case SDP_MID_SRCAVAILCANCEL:
		sdp_zsink_refuse(&z->sink);
		return 0;
	case SDP_MID_RDMARDCOMPL:
		z->st->tx.since = jiffies;
		return sdp_zsource_read(&z->source, msg->bsdh.mseq_ack,
					msg->rdma_len);
	default:
		return sdp_zsource_refused(&z->source, msg->bsdh.mseq_ack);
	}
}
