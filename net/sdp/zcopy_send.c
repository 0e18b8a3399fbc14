// SPDX-License-Identifier: GPL-2.0
/*
 * The sender's side of zero copy: the program waits until the peer has read its
 * pages, or wants the bytes by copy.
 */
#include <linux/sched/signal.h>
#include <linux/uio.h>

#include "conn.h"
#include "device.h"
#include "mib.h"
#include "sock.h"
#include "tx.h"
#include "zcopy.h"

/*
 * How long a peer may take to read some of what it is offered.  A program that
 * is not there costs its peer this once; then writes are copied for a while.
 */
#define SDP_ZSEND_PATIENCE	max(HZ / 20, 2)
/*
 * How long it may take to answer SrcAvailCancel, which needs no program, but
 * has to wait for what the peer's device is reading.
 */
#define SDP_ZSEND_ANSWER	(40 * HZ)
/* Large writes that are copied after a failure, at first and at most. */
#define SDP_ZSEND_BACKOFF	1U
#define SDP_ZSEND_BACKOFF_MAX	64U

/**
 * sdp_zsend_wanted() - whether a write is to be tried without a copy
 * @ssk: locked socket that is connected
 * @msg: what the program writes
 * @timeo: how long it may wait
 *
 * Who may not wait cannot: the pages are the program's until the peer has read
 * them.
 */
bool sdp_zsend_wanted(struct sdp_sock *ssk, const struct msghdr *msg,
		      long timeo)
{
	struct sdp_zcopy *z = &ssk->conn.zcopy;
	unsigned long addr;

	if (!z->on || !z->source.max || !timeo || z->out ||
	    (msg->msg_flags & MSG_OOB) ||
	    sdp_zcopy_segment(&msg->msg_iter, &addr) < sdp_zcopy_thresh(ssk))
		return false;
	if (!z->skip)
		return true;
	z->skip--;
	return false;
}

static void sdp_zsend_failed(struct sdp_zcopy *z)
{
	z->backoff = clamp(z->backoff * 2, SDP_ZSEND_BACKOFF,
			   SDP_ZSEND_BACKOFF_MAX);
	z->skip = z->backoff;
}

static u32 sdp_zsend_max_pages(const struct sdp_sock *ssk)
{
	return min(ssk->conn.dev->ibdev->attrs.max_fast_reg_page_list_len,
		   SDP_ZCOPY_PAGES);
}

/*
 * The peer gets a key to these bytes and to nothing else, a new one each time,
 * and an address that does not say where they are in memory.
 */
static bool sdp_zsend_map_mr(struct sdp_sock *ssk, struct sdp_zpages *zp)
{
	struct sdp_zcopy *z = &ssk->conn.zcopy;
	struct ib_mr *mr = z->mr;

	if (!mr) {
		mr = ib_alloc_mr(ssk->conn.dev->pd, IB_MR_TYPE_MEM_REG,
				 sdp_zsend_max_pages(ssk));
		if (IS_ERR(mr))
			return false;
		z->mr = mr;
	}
	if (ib_map_mr_sg(mr, zp->sgt.sgl, zp->nents, NULL, PAGE_SIZE) !=
	    (int)zp->nents || mr->length != zp->len)
		return false;
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	mr->iova = offset_in_page(mr->iova);
	return true;
}

static void sdp_zsend_unmap(struct sdp_sock *ssk, struct sdp_zpages *zp)
{
	ib_dma_unmap_sg(ssk->conn.dev->ibdev, zp->sgt.sgl, zp->sgt.orig_nents,
			DMA_TO_DEVICE);
	zp->nents = 0;
}

static bool sdp_zsend_map(struct sdp_sock *ssk, struct sdp_zpages *zp)
{
	zp->nents = ib_dma_map_sg(ssk->conn.dev->ibdev, zp->sgt.sgl,
				  zp->sgt.orig_nents, DMA_TO_DEVICE);
	if (!zp->nents)
		return false;
	if (sdp_zsend_map_mr(ssk, zp))
		return true;
	sdp_zsend_unmap(ssk, zp);
	return false;
}

static struct sdp_zpages *sdp_zsend_prepare(struct sdp_sock *ssk,
					    const struct msghdr *msg)
{
	struct sdp_zcopy *z = &ssk->conn.zcopy;
	struct sdp_zpages *zp;
	unsigned long addr;
	u32 len;

	len = sdp_zcopy_segment(&msg->msg_iter, &addr);
	if (len < sdp_zcopy_thresh(ssk) || z->out || !ssk->conn.qp ||
	    test_bit(SDP_CONN_BROKEN, &ssk->conn.flags))
		return NULL;
	len = min_t(u32, len, sdp_zsend_max_pages(ssk) * PAGE_SIZE -
			      offset_in_page(addr));
	zp = sdp_zpages_pin(ssk->conn.dev->ibdev, addr, len, false);
	if (!zp)
		return NULL;
	if (!sdp_zsend_map(ssk, zp)) {
		sdp_zpages_free(zp);
		return NULL;
	}
	z->out = zp;
	z->send_state = SDP_ZSEND_READY;
	return zp;
}

static void sdp_zsend_count(struct sdp_conn_stats *stats, u32 len)
{
	stats->bytes_out += len;
	stats->bytes_acked += len;
	stats->zcopy_out += len;
	stats->last_out = jiffies;
}

/**
 * sdp_zsend_revoked() - the peer cannot read the pages any more
 * @ssk: locked socket (by its owner or in softirq) with a device
 */
void sdp_zsend_revoked(struct sdp_sock *ssk)
{
	struct sdp_zcopy *z = &ssk->conn.zcopy;
	struct sdp_zpages *zp = z->out;

	if (z->send_state != SDP_ZSEND_READY) {
		zp->done = z->source.done - z->start;
		sdp_zsend_count(&ssk->conn.stats, zp->done);
	}
	z->out = NULL;
	z->send_state = SDP_ZSEND_IDLE;
	sdp_zsend_unmap(ssk, zp);
	complete_all(&zp->over);
}

static bool sdp_zsend_may_post(const struct sdp_sock *ssk, enum sdp_mid mid)
{
	return sdp_tx_may_send(ssk, mid, 0) && sdp_tx_room(&ssk->conn.tx, 1);
}

/* Like RingAvail, the offer waits for all that is on its way. */
static bool sdp_zsend_advertise(struct sdp_sock *ssk)
{
	struct sdp_conn *conn = &ssk->conn;
	struct sdp_zcopy *z = &conn->zcopy;
	struct sdp_msg msg = {
		.bsdh.mid = SDP_MID_SRCAVAIL,
		.srcah = {
			.len = z->out->len,
			.rkey = z->mr->rkey,
			.vaddr = z->mr->iova,
		},
	};

	if (conn->tx.wait_head != conn->tx.wait_tail ||
	    !sdp_zsource_may_advertise(&z->source) ||
	    !sdp_zsend_may_post(ssk, SDP_MID_SRCAVAIL))
		return true;
	if (!sdp_tx_idle(ssk))
		return true;
	if (!sdp_tx_post_reg_mr(ssk, z->mr, IB_ACCESS_REMOTE_READ))
		return false;
	z->send_state = SDP_ZSEND_OUT;
	z->start = z->source.done;
	if (!sdp_tx_post_msg(ssk, &msg, true))
		return false;
	sdp_zsource_advertise(&z->source, conn->credit.tx_mseq, z->out->len);
	return true;
}

/**
 * sdp_zsend_push() - go on with the pages that are sent
 * @ssk: locked socket (by its owner or in softirq), all data was posted
 *
 * Return: whether the connection lives.
 */
bool sdp_zsend_push(struct sdp_sock *ssk)
{
	struct sdp_zcopy *z = &ssk->conn.zcopy;

	if (z->send_state == SDP_ZSEND_READY && !sdp_zsend_advertise(ssk))
		return false;
	if (z->source.cancel_due &&
	    sdp_zsend_may_post(ssk, SDP_MID_SRCAVAILCANCEL)) {
		if (!sdp_tx_post(ssk, SDP_MID_SRCAVAILCANCEL, 0, 0, false))
			return false;
		sdp_zsource_cancel_sent(&z->source);
	}
	if (z->send_state == SDP_ZSEND_OUT && !sdp_zsource_busy(&z->source) &&
	    sdp_tx_room(&ssk->conn.tx, 0)) {
		z->send_state = SDP_ZSEND_REVOKED;
		return sdp_tx_post_local_inv(ssk, z->mr);
	}
	return true;
}

/* Waits as long as the peer reads on; returns whether the pages are free. */
static bool sdp_zsend_wait_read(struct sdp_sock *ssk, struct sdp_zpages *zp,
				long *timeo)
{
	struct sdp_zcopy *z = &ssk->conn.zcopy;
	long time, left;
	u32 seen;

	do {
		seen = z->source.done;
		time = min_t(long, SDP_ZSEND_PATIENCE, *timeo);
		release_sock(&ssk->sk);
		left = wait_for_completion_interruptible_timeout(&zp->over,
								 time);
		lock_sock(&ssk->sk);
		if (*timeo != MAX_SCHEDULE_TIMEOUT)
			*timeo -= time - max(left, 0L);
		if (left > 0)
			return true;
	} while (!left && *timeo && z->out == zp && z->source.done != seen);
	return false;
}

/* As with TCP the program may limit how long nothing is acknowledged. */
static unsigned long sdp_zsend_answer(const struct sdp_sock *ssk)
{
	unsigned long user = msecs_to_jiffies(ssk->opt.user_timeout);

	return user ? min_t(unsigned long, user, SDP_ZSEND_ANSWER) :
		      SDP_ZSEND_ANSWER;
}

static void sdp_zsend_count_cancel(struct sdp_sock *ssk)
{
	SDP_INC_STATS(sock_net(&ssk->sk), SDP_MIB_ZCOPYCANCELS);
	ssk->conn.stats.zcopy_cancels++;
}

/* Gets the pages back from a peer that does not read. */
static void sdp_zsend_take_back(struct sdp_sock *ssk, struct sdp_zpages *zp)
{
	struct sdp_zcopy *z = &ssk->conn.zcopy;

	if (z->out == zp && z->send_state == SDP_ZSEND_READY) {
		sdp_zsend_count_cancel(ssk);
		sdp_zsend_revoked(ssk);
	} else if (z->out == zp && sdp_zsource_busy(&z->source)) {
		sdp_zsend_count_cancel(ssk);
		sdp_zsource_cancel(&z->source);
	}
	sdp_tx_push(ssk);
	sdp_zpages_wait(ssk, zp, sdp_zsend_answer(ssk));
}

/**
 * sdp_zsend() - send the next bytes of a write without a copy
 * @ssk: locked socket, connected; the lock is given up meanwhile
 * @msg: what the program writes; advanced by what was sent
 * @timeo: how long to wait; less by what it took
 *
 * Nobody reads the program's memory any more when this returns.
 *
 * Return: bytes; if they are fewer than a write of the threshold, the rest is
 * to be copied.
 */
u32 sdp_zsend(struct sdp_sock *ssk, struct msghdr *msg, long *timeo)
{
	struct sdp_zpages *zp = sdp_zsend_prepare(ssk, msg);
	struct sdp_zcopy *z = &ssk->conn.zcopy;
	u32 done;

	if (!zp)
		return 0;
	sdp_tx_force(ssk);
	if (!sdp_zsend_wait_read(ssk, zp, timeo))
		sdp_zsend_take_back(ssk, zp);
	done = zp->done;
	if (done == zp->len)
		z->backoff = 0;
	else
		sdp_zsend_failed(z);
	sdp_zpages_free(zp);
	SDP_SOCK_ADD_STATS(ssk, SDP_MIB_ZCOPYBYTESOUT, done);
	iov_iter_advance(&msg->msg_iter, done);
	return done;
}
