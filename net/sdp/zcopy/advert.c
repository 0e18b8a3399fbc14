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

static struct sdp_zsend *sdp_zsend_at(struct sdp_zcopy *z, u32 count)
{
	return &z->sends[count % SDP_ZCOPY_ADVERTS];
}

static u32 sdp_zsend_max_pages(const struct sdp_zcopy *z)
{
	return min_t(u32, SDP_ZCOPY_PAGES,
		     z->st->link->dev->ibdev->attrs.max_fast_reg_page_list_len);
}

/**
 * sdp_zsend_fit() - how much of user memory may be sent at once
 * @z: zero copy of a locked socket with a device
 * @addr: where it begins
 * @len: bytes
 *
 * Return: bytes; 0 if the device cannot register memory.
 */
u32 sdp_zsend_fit(const struct sdp_zcopy *z, unsigned long addr, u32 len)
{
	u32 pages = sdp_zsend_max_pages(z);

	sdp_owned(z->st->sk);
	return pages ? min3(len, (u32)SDP_ZCOPY_BYTES,
			    (u32)(pages * PAGE_SIZE - offset_in_page(addr))) : 0;
}

/* The peer gets a key to these bytes and to nothing else, a new one each time. */
static bool sdp_zsend_map_mr(struct sdp_zcopy *z, struct sdp_zsend *s,
			     struct sdp_zpages *zp)
{
	if (!s->mr)
		s->mr = sdp_region_alloc(z->st->link, sdp_zsend_max_pages(z));
	return s->mr && sdp_region_map(s->mr, zp->sgt.sgl, zp->nents, zp->len);
}

static void sdp_zsend_unmap(struct sdp_zcopy *z, struct sdp_zpages *zp)
{
	ib_dma_unmap_sg(z->st->link->dev->ibdev, zp->sgt.sgl, zp->sgt.orig_nents,
			DMA_TO_DEVICE);
	zp->nents = 0;
}

static bool sdp_zsend_map(struct sdp_zcopy *z, struct sdp_zsend *s,
			  struct sdp_zpages *zp)
{
	zp->nents = ib_dma_map_sg(z->st->link->dev->ibdev, zp->sgt.sgl,
				  zp->sgt.orig_nents, DMA_TO_DEVICE);
	if (!zp->nents)
		return false;
	if (sdp_zsend_map_mr(z, s, zp))
		return true;
	sdp_zsend_unmap(z, zp);
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
 *
 * Not behind pages that the peer has refused in part: the rest of these goes first.
 */
bool sdp_zsend_may_add(const struct sdp_zcopy *z)
{
	u32 i = READ_ONCE(z->send_tail);
	u32 head = READ_ONCE(z->send_head);

	/* Without the lock the two may be of different connections. */
	if (head - i >= READ_ONCE(z->source.max))
		return false;
	for (; i != head; i++)
		if (READ_ONCE(z->sends[i % SDP_ZCOPY_ADVERTS].state) > SDP_ZSEND_OUT)
			return false;
	return true;
}

/**
 * sdp_zsend_add() - send pages
 * @z: zero copy of a locked socket with a queue pair; sdp_zsend_may_add() said yes
 * @zp: the pages, which belong to the connection now if they are asynchronous;
 *	otherwise no others are sent
 *
 * Return: whether that is possible.
 */
bool sdp_zsend_add(struct sdp_zcopy *z, struct sdp_zpages *zp)
{
	struct sdp_zsend *s = sdp_zsend_at(z, z->send_head);

	sdp_owned(z->st->sk);
	if (!sdp_zsend_map(z, s, zp))
		return false;
	s->zp = zp;
	s->state = SDP_ZSEND_READY;
	s->keyed = false;
	s->since = jiffies;
	WRITE_ONCE(z->send_head, z->send_head + 1);
	z->st->async_out += zp->async;
	if (zp->async)
		z->st->async_bytes += zp->len;
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
 * sdp_zsend_finish() - the device does not use the oldest pages any more
 * @z: zero copy of a locked socket (by its owner or in softirq) with a device
 */
void sdp_zsend_finish(struct sdp_zcopy *z)
{
	const struct sdp_zsend *s = sdp_zsend_oldest(z);
	struct sdp_zpages *zp = s->zp;

	sdp_owned(z->st->sk);
	/* Its key ends before memory is released. */
	WARN_ON_ONCE(s->keyed);
	if (zp->done == zp->len)
		sdp_zpace_learn(&z->pace, jiffies - s->since);
	sdp_zsend_count(&z->st->stats, zp->done);
	sdp_zsend_unmap(z, zp);
	WRITE_ONCE(z->send_tail, z->send_tail + 1);
	if (!zp->async) {
		complete_all(&zp->over);
		return;
	}
	z->st->stats.bytes_acked += zp->sent - zp->done;
	z->st->async_out--;
	z->st->async_bytes -= zp->len;
	sdp_zasync_over(z, zp);
	if (z->writers && sdp_zsend_has_drained(z))
		z->st->sk->sk_state_change(z->st->sk);
}

static bool sdp_zsend_may_post(const struct sdp_zcopy *z, enum sdp_mid mid)
{
	return z->st->ops->may_send(z->st->sk, mid, 0) && sdp_tx_room(&z->st->tx, 1);
}

/* Bytes of them that the peer has read. */
static u32 sdp_zsend_read(const struct sdp_zcopy *z, const struct sdp_zsend *s)
{
	return clamp_t(s32, z->source.done - s->start, 0, s->zp->len);
}

/* Advertises the pages to the peer; returns whether the connection lives. */
static bool sdp_zsend_tell(struct sdp_zcopy *z, struct sdp_zsend *s)
{
	struct sdp_msg msg = {
		.bsdh.mid = SDP_MID_SRCAVAIL,
		.srcah = {
			.len = s->zp->len,
			.rkey = s->mr->rkey,
			.vaddr = s->mr->iova,
		},
	};

	if (!sdp_zsource_busy(&z->source))
		z->advertised = z->source.done;
	s->state = SDP_ZSEND_OUT;
	s->start = z->advertised;
	z->advertised += s->zp->len;
	trace_sdp_zcopy_offer(z->st->sk, s->zp->len, s->mr->rkey, s->zp->async);
	if (!sdp_tx_post_msg(z->st, &msg,
			     z->st->link->dev->acked_on_completion))
		return false;
	sdp_zsource_advertise(&z->source, z->st->credit.tx_mseq, s->zp->len);
	return true;
}

/* Whether the peer has refused, or is about to have, some of the pages. */
static bool sdp_zsend_refused(const struct sdp_zcopy *z,
			      const struct sdp_zsend *s)
{
	if (s->state == SDP_ZSEND_OUT)
		return !sdp_zsource_busy(&z->source) &&
		       sdp_zsend_read(z, s) != s->zp->len;
	return s->state > SDP_ZSEND_OUT && s->zp->done != s->zp->len;
}

/*
 * The first pages that are to be advertised, by their count; @send_head if there
 * are none.  What was refused is sent before anything else is advertised.
 */
static u32 sdp_zsend_next(const struct sdp_zcopy *z)
{
	const struct sdp_zsend *s;
	u32 i;

	for (i = z->send_tail; i != z->send_head; i++) {
		s = &z->sends[i % SDP_ZCOPY_ADVERTS];
		if (sdp_zsend_refused(z, s))
			return z->send_head;
		if (s->state == SDP_ZSEND_READY)
			break;
	}
	return i;
}

/*
 * Data in the ring is before pages that a call waits for, and behind the others.
 * Like RingAvail, the advert waits for all that is in flight.
 */
static bool sdp_zsend_may_offer(struct sdp_zcopy *z, const struct sdp_zsend *s)
{
	return (s->zp->async || z->st->tx.wait_head == z->st->tx.wait_tail) &&
	       sdp_zsource_may_advertise(&z->source) &&
	       z->st->ops->may_send(z->st->sk, SDP_MID_SRCAVAIL, 0) &&
	       sdp_tx_room(&z->st->tx, SDP_ZSEND_WRS) &&
	       sdp_tx_idle(z->st, sdp_zrecv_busy(z));
}

/* How many adverts may be sent one after the other if one may be sent. */
static u32 sdp_zsend_batch(const struct sdp_zcopy *z)
{
	return min(sdp_credit_data(&z->st->credit),
		   sdp_zsource_room(&z->source));
}

/*
 * Advertises what is ready.  Memory is registered while the queue is empty, so that
 * what will be advertised together is registered before the first advert leaves.
 */
static bool sdp_zsend_advertise(struct sdp_zcopy *z)
{
	struct ib_reg_wr regs[SDP_ZCOPY_ADVERTS];
	u32 first = sdp_zsend_next(z);
	u32 end, i;

	if (first == z->send_head ||
	    !sdp_zsend_may_offer(z, sdp_zsend_at(z, first)))
		return true;
	end = first + min(z->send_head - first, sdp_zsend_batch(z));
	for (i = first; i != end; i++) {
		sdp_tx_add_reg_mr(z->st, &regs[i - first], sdp_zsend_at(z, i)->mr,
				  IB_ACCESS_REMOTE_READ);
		sdp_zsend_at(z, i)->keyed = true;
	}
	for (i = first; i != end; i++)
		if (!sdp_zsend_tell(z, sdp_zsend_at(z, i)))
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
	if (!sdp_zsend_busy(z))
		return true;
	return sdp_zsend_advertise(z) && sdp_zsend_cancel(z);
}

/* Releases pages that are revoked, or has the rest of them sent. */
static void sdp_zsend_settle(struct sdp_zcopy *z)
{
	struct sdp_zsend *s;
	u32 i;

	for (i = z->send_tail; i != z->send_head; i++) {
		s = sdp_zsend_at(z, i);
		if (s->state == SDP_ZSEND_DIRECT)
			continue;
		if (s->state != SDP_ZSEND_REVOKED || s->keyed)
			return;
		if (s->zp->async && s->zp->done != s->zp->len)
			s->state = SDP_ZSEND_DIRECT;
		else
			sdp_zsend_finish(z);
	}
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
	struct sdp_zsend *s;
	u32 i;

	sdp_owned(z->st->sk);
	for (i = z->send_tail; i != z->send_head; i++) {
		s = sdp_zsend_at(z, i);
		if (s->state != SDP_ZSEND_OUT)
			continue;
		s->zp->done = sdp_zsend_read(z, s);
		s->zp->sent = s->zp->done;
		if ((busy && s->zp->done != s->zp->len) ||
		    (s->keyed && !sdp_tx_room(&z->st->tx, 0)))
			break;
		s->state = SDP_ZSEND_REVOKED;
		if (s->keyed && !sdp_tx_post_local_inv(z->st, s->mr, &z->revoked))
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
	struct sdp_zsend *s;
	u32 i;

	sdp_owned(z->st->sk);
	for (i = z->send_tail; i != z->send_head; i++) {
		s = sdp_zsend_at(z, i);
		if (s->state == SDP_ZSEND_OUT && s->mr->rkey == key)
			s->keyed = false;
	}
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
	struct sdp_zsend *s;
	u32 i;

	sdp_owned(z->st->sk);
	for (i = 0; i < SDP_ZCOPY_ADVERTS; i++) {
		if (z->sends[i].mr)
			ib_dereg_mr(z->sends[i].mr);
		z->sends[i].mr = NULL;
		z->sends[i].keyed = false;
	}
	while (sdp_zsend_busy(z)) {
		s = sdp_zsend_oldest(z);
		if (s->state == SDP_ZSEND_OUT)
			s->zp->done = sdp_zsend_read(z, s);
		s->zp->sent = max(s->zp->sent, s->zp->done);
		sdp_zsend_finish(z);
	}
}

/* The device has completed a local invalidation: of the oldest of these. */
static void sdp_zsend_revoked(struct sdp_done *done)
{
	struct sdp_zcopy *z = container_of(done, struct sdp_zcopy, revoked);
	struct sdp_zsend *s;
	u32 i;

	for (i = z->send_tail; i != z->send_head; i++) {
		s = sdp_zsend_at(z, i);
		if (s->state != SDP_ZSEND_REVOKED || !s->keyed)
			continue;
		s->keyed = false;
		sdp_zsend_settle(z);
		return;
	}
}

static void sdp_zsend_finished(struct sdp_done *done)
{
	struct sdp_zcopy *z = container_of(done, struct sdp_zcopy, finished);

	sdp_zsend_finish(z);
}

/**
 * sdp_zsend_prepare() - prepare a new socket's zero copy
 * @z: zero copy, zeroed
 */
void sdp_zsend_prepare(struct sdp_zcopy *z)
{
	z->revoked.done = sdp_zsend_revoked;
	z->finished.done = sdp_zsend_finished;
	sdp_zdirect_prepare(z);
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
