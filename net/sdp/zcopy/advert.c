// SPDX-License-Identifier: GPL-2.0
/*
 * The sender's side of zero copy: from the program's pages to an advertisement
 * (SrcAvail), and back from the peer when it has read them, or refuses.
 */
#include "rdma/rdma.h"
#include "stream/stream.h"
#include "conn/conn.h"
#include "socket/socket.h"
#include "zcopy.h"

/* Work requests for all that may be offered, and for taking it back. */
#define SDP_ZSEND_WRS		(3 * SDP_ZCOPY_ADVERTS)

static struct sdp_zsend *sdp_zsend_at(struct sdp_zcopy *z, u32 count)
{
	return &z->sends[count % SDP_ZCOPY_ADVERTS];
}

static u32 sdp_zsend_max_pages(const struct sdp_sock *ssk)
{
	return min_t(u32, SDP_ZCOPY_PAGES,
		     ssk->conn.link.dev->ibdev->attrs.max_fast_reg_page_list_len);
}

/**
 * sdp_zsend_fit() - how much of a program's memory may be sent at once
 * @ssk: locked socket with a device
 * @addr: where it begins
 * @len: bytes
 *
 * Return: bytes; 0 if the device cannot register memory.
 */
u32 sdp_zsend_fit(const struct sdp_sock *ssk, unsigned long addr, u32 len)
{
	u32 pages = sdp_zsend_max_pages(ssk);

	return pages ? min3(len, (u32)SDP_ZCOPY_BYTES,
			    (u32)(pages * PAGE_SIZE - offset_in_page(addr))) : 0;
}

/* The peer gets a key to these bytes and to nothing else, a new one each time. */
static bool sdp_zsend_map_mr(struct sdp_sock *ssk, struct sdp_zsend *s,
			     struct sdp_zpages *zp)
{
	if (!s->mr)
		s->mr = sdp_region_alloc(&ssk->conn.link, sdp_zsend_max_pages(ssk));
	return s->mr && sdp_region_map(s->mr, zp->sgt.sgl, zp->nents, zp->len);
}

static void sdp_zsend_unmap(struct sdp_sock *ssk, struct sdp_zpages *zp)
{
	ib_dma_unmap_sg(ssk->conn.link.dev->ibdev, zp->sgt.sgl, zp->sgt.orig_nents,
			DMA_TO_DEVICE);
	zp->nents = 0;
}

static bool sdp_zsend_map(struct sdp_sock *ssk, struct sdp_zsend *s,
			  struct sdp_zpages *zp)
{
	zp->nents = ib_dma_map_sg(ssk->conn.link.dev->ibdev, zp->sgt.sgl,
				  zp->sgt.orig_nents, DMA_TO_DEVICE);
	if (!zp->nents)
		return false;
	if (sdp_zsend_map_mr(ssk, s, zp))
		return true;
	sdp_zsend_unmap(ssk, zp);
	return false;
}

/**
 * sdp_zsend_open() - whether the program may still write
 * @ssk: locked socket, that was connected before the lock was given up
 */
bool sdp_zsend_open(const struct sdp_sock *ssk)
{
	return ssk->conn.link.qp && !test_bit(SDP_CONN_BROKEN, &ssk->conn.link.flags) &&
	       sdp_in_state(&ssk->sk, SDPF_SEND) &&
	       !(ssk->sk.sk_shutdown & SEND_SHUTDOWN);
}

/**
 * sdp_zsend_may_add() - whether pages may be sent behind those that are
 * @z: zero copy of a locked socket
 *
 * Not behind those of which the peer has refused some, which are sent first.
 */
bool sdp_zsend_may_add(const struct sdp_zcopy *z)
{
	u32 i;

	for (i = z->send_tail; i != z->send_head; i++)
		if (z->sends[i % SDP_ZCOPY_ADVERTS].state > SDP_ZSEND_OUT)
			return false;
	return z->send_head - z->send_tail < z->source.max;
}

/**
 * sdp_zsend_add() - send pages
 * @ssk: locked socket with a queue pair; sdp_zsend_may_add() said yes
 * @zp: the pages, which belong to the connection now if they are asynchronous;
 *	otherwise no others are sent
 *
 * Return: whether that is possible.
 */
bool sdp_zsend_add(struct sdp_sock *ssk, struct sdp_zpages *zp)
{
	struct sdp_zcopy *z = &ssk->conn.zcopy;
	struct sdp_zsend *s = sdp_zsend_at(z, z->send_head);

	if (!sdp_zsend_map(ssk, s, zp))
		return false;
	s->zp = zp;
	s->state = SDP_ZSEND_READY;
	s->keyed = false;
	s->since = jiffies;
	z->send_head++;
	z->async_out += zp->async;
	if (zp->async)
		z->async_bytes += zp->len;
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
 * @ssk: locked socket (by its owner or in softirq) with a device
 */
void sdp_zsend_finish(struct sdp_sock *ssk)
{
	struct sdp_zcopy *z = &ssk->conn.zcopy;
	const struct sdp_zsend *s = sdp_zsend_oldest(z);
	struct sdp_zpages *zp = s->zp;

	/* Its key ends before memory is given back. */
	WARN_ON_ONCE(s->keyed);
	if (zp->done == zp->len)
		sdp_zpace_learn(&z->pace, jiffies - s->since);
	sdp_zsend_count(&ssk->conn.stats, zp->done);
	sdp_zsend_unmap(ssk, zp);
	z->send_tail++;
	if (!zp->async) {
		complete_all(&zp->over);
		return;
	}
	ssk->conn.stats.bytes_acked += zp->sent - zp->done;
	z->async_out--;
	z->async_bytes -= zp->len;
	sdp_zasync_over(ssk, zp);
	if (z->writers && sdp_zsend_has_drained(z))
		ssk->sk.sk_state_change(&ssk->sk);
}

static bool sdp_zsend_may_post(const struct sdp_sock *ssk, enum sdp_mid mid)
{
	return sdp_tx_may_send(ssk, mid, 0) && sdp_tx_room(&ssk->conn.tx, 1);
}

/* Bytes of them that the peer has read. */
static u32 sdp_zsend_read(const struct sdp_zcopy *z, const struct sdp_zsend *s)
{
	return clamp_t(s32, z->source.done - s->start, 0, s->zp->len);
}

/* Tells the peer of the pages; returns whether the connection lives. */
static bool sdp_zsend_tell(struct sdp_sock *ssk, struct sdp_zsend *s)
{
	struct sdp_conn *conn = &ssk->conn;
	struct sdp_zcopy *z = &conn->zcopy;
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
	if (!sdp_tx_post_msg(ssk, &msg, !conn->link.dev->iwarp))
		return false;
	sdp_zsource_advertise(&z->source, conn->credit.tx_mseq, s->zp->len);
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
 * The first pages that are to be offered, by their count; @send_head if there
 * are none.  What was refused is sent before anything else is offered.
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
 * Like RingAvail, the offer waits for all that is on its way.
 */
static bool sdp_zsend_may_offer(struct sdp_sock *ssk, const struct sdp_zsend *s)
{
	struct sdp_conn *conn = &ssk->conn;

	return (s->zp->async || conn->tx.wait_head == conn->tx.wait_tail) &&
	       sdp_zsource_may_advertise(&conn->zcopy.source) &&
	       sdp_tx_may_send(ssk, SDP_MID_SRCAVAIL, 0) &&
	       sdp_tx_room(&conn->tx, SDP_ZSEND_WRS) && sdp_tx_idle(ssk);
}

/* How many offers may be made one after the other if one may be made. */
static u32 sdp_zsend_batch(const struct sdp_conn *conn)
{
	return min(sdp_credit_data(&conn->credit),
		   sdp_zsource_room(&conn->zcopy.source));
}

/*
 * Offers what is ready.  Memory is registered while the queue is empty, so that
 * what will be offered together is registered before the first offer leaves.
 */
static bool sdp_zsend_advertise(struct sdp_sock *ssk)
{
	struct sdp_zcopy *z = &ssk->conn.zcopy;
	struct ib_reg_wr regs[SDP_ZCOPY_ADVERTS];
	u32 first = sdp_zsend_next(z);
	u32 end, i;

	if (first == z->send_head ||
	    !sdp_zsend_may_offer(ssk, sdp_zsend_at(z, first)))
		return true;
	end = first + min(z->send_head - first, sdp_zsend_batch(&ssk->conn));
	for (i = first; i != end; i++) {
		sdp_tx_add_reg_mr(ssk, &regs[i - first], sdp_zsend_at(z, i)->mr,
				  IB_ACCESS_REMOTE_READ);
		sdp_zsend_at(z, i)->keyed = true;
	}
	for (i = first; i != end; i++)
		if (!sdp_zsend_tell(ssk, sdp_zsend_at(z, i)))
			return false;
	return true;
}

static bool sdp_zsend_cancel(struct sdp_sock *ssk)
{
	struct sdp_zsource *source = &ssk->conn.zcopy.source;

	if (!source->cancel_due ||
	    !sdp_zsend_may_post(ssk, SDP_MID_SRCAVAILCANCEL))
		return true;
	if (!sdp_tx_post(ssk, SDP_MID_SRCAVAILCANCEL, 0, 0, false))
		return false;
	sdp_zsource_cancel_sent(source);
	return true;
}

/**
 * sdp_zsend_push() - go on with the pages that are sent
 * @ssk: locked socket (by its owner or in softirq), all data before them was
 *	posted
 *
 * Return: whether the connection lives.
 */
bool sdp_zsend_push(struct sdp_sock *ssk)
{
	if (!sdp_zsend_busy(&ssk->conn.zcopy))
		return true;
	return sdp_zsend_advertise(ssk) && sdp_zsend_cancel(ssk) &&
	       sdp_tx_push_direct(ssk);
}

/* Lets go of pages that are taken back, or has the rest of them sent. */
static void sdp_zsend_settle(struct sdp_sock *ssk)
{
	struct sdp_zcopy *z = &ssk->conn.zcopy;
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
			sdp_zsend_finish(ssk);
	}
}

/**
 * sdp_zsend_revoke() - take the pages back of which all was read, or the rest
 *	refused
 * @ssk: locked socket (by its owner or in softirq) with a queue pair
 *
 * What the program has written since may be behind those that are free now.
 *
 * Return: whether the connection lives.
 */
bool sdp_zsend_revoke(struct sdp_sock *ssk)
{
	struct sdp_zcopy *z = &ssk->conn.zcopy;
	bool busy = sdp_zsource_busy(&z->source);
	struct sdp_zsend *s;
	u32 i;

	for (i = z->send_tail; i != z->send_head; i++) {
		s = sdp_zsend_at(z, i);
		if (s->state != SDP_ZSEND_OUT)
			continue;
		s->zp->done = sdp_zsend_read(z, s);
		s->zp->sent = s->zp->done;
		if ((busy && s->zp->done != s->zp->len) ||
		    (s->keyed && !sdp_tx_room(&ssk->conn.tx, 0)))
			break;
		s->state = SDP_ZSEND_REVOKED;
		if (s->keyed && !sdp_tx_post_local_inv(ssk, s->mr))
			return false;
	}
	sdp_zsend_settle(ssk);
	return true;
}

/**
 * sdp_zsend_revoked() - the device has invalidated a key, as it was asked to
 * @ssk: locked socket (by its owner or in softirq) with a device
 *
 * It is the first that was taken back and is not known to be.
 */
void sdp_zsend_revoked(struct sdp_sock *ssk)
{
	struct sdp_zcopy *z = &ssk->conn.zcopy;
	struct sdp_zsend *s;
	u32 i;

	for (i = z->send_tail; i != z->send_head; i++) {
		s = sdp_zsend_at(z, i);
		if (s->state != SDP_ZSEND_REVOKED || !s->keyed)
			continue;
		s->keyed = false;
		sdp_zsend_settle(ssk);
		return;
	}
}

/**
 * sdp_zsend_key_ended() - the peer has invalidated a key
 * @ssk: locked socket (by its owner or in softirq) with a device
 * @key: any, for a peer may name what it likes: only those of pages that are
 *	offered count
 */
void sdp_zsend_key_ended(struct sdp_sock *ssk, u32 key)
{
	struct sdp_zcopy *z = &ssk->conn.zcopy;
	struct sdp_zsend *s;
	u32 i;

	for (i = z->send_tail; i != z->send_head; i++) {
		s = sdp_zsend_at(z, i);
		if (s->state == SDP_ZSEND_OUT && s->mr->rkey == key)
			s->keyed = false;
	}
}

/**
 * sdp_zsend_nudge() - have the device look at pages that are being taken back
 * @ssk: locked socket with a queue pair
 *
 * A device may forget an invalidation that had to wait (SDP_QUIRK_LAZY_INV).
 *
 * Return: whether the oldest pages are.
 */
bool sdp_zsend_nudge(struct sdp_sock *ssk)
{
	struct sdp_zcopy *z = &ssk->conn.zcopy;

	if (!sdp_zsend_busy(z) ||
	    sdp_zsend_oldest(z)->state != SDP_ZSEND_REVOKED)
		return false;
	sdp_tx_nudge(ssk);
	return true;
}

/**
 * sdp_zsend_free() - the connection is gone
 * @ssk: locked socket whose queue pair is gone, with its device
 *
 * Context: process context.
 */
void sdp_zsend_free(struct sdp_sock *ssk)
{
	struct sdp_zcopy *z = &ssk->conn.zcopy;
	struct sdp_zsend *s;
	u32 i;

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
		sdp_zsend_finish(ssk);
	}
}
