// SPDX-License-Identifier: GPL-2.0
/*
 * Zero copy: user pages, from when a transfer gets them to when it releases them.
 */
#include <linux/atomic.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "base/base.h"
#include "guard/guard.h"
#include "rdma/rdma.h"
#include "stream/stream.h"
#include "zcopy.h"

/* How long it then goes on to wait, so that the stream stays whole. */
#define SDP_ZPAGES_GRACE	(HZ / 2)

/* Releases the pages, and the copies that stand for protected ones. */
static void sdp_zpages_release(struct sdp_zpages *zp)
{
	u32 i;

	for (i = 0; i < zp->nr; i++)
		if (i - zp->first >= zp->guarded)
			put_page(zp->pages[i]);
	if (zp->guarded)
		zp->guard_ops->release(zp->guard, zp->pages + zp->first,
				       zp->guarded);
}

static void sdp_zpages_unpin(struct sdp_zpages *zp)
{
	if (zp->async && !zp->msg)
		sdp_zpages_release(zp);
	else if (zp->write)
		unpin_user_pages_dirty_lock(zp->pages, zp->nr, true);
	else
		unpin_user_pages(zp->pages, zp->nr);
}

static atomic_long_t sdp_zmem_used;

static void sdp_zmem_uncharge(u32 pages)
{
	atomic_long_sub(pages, &sdp_zmem_used);
}

/*
 * Asks for memory of all transfers together (net.sdp.zcopy_mem), in pages; what there
 * is not is counted.  Each user's is limited by RLIMIT_MEMLOCK besides.
 */
static bool sdp_zmem_charge(struct sdp_zcopy *z, u32 pages)
{
	if (atomic_long_add_return(pages, &sdp_zmem_used) <=
	    READ_ONCE(sdp_sysctl_zcopy_mem))
		return true;
	sdp_zmem_uncharge(pages);
	SDP_SOCK_INC_STATS(z->st->sk, SDP_MIB_ZCOPYMEMREFUSALS);
	return false;
}

/**
 * sdp_zmem_show() - print what is in use now, a name and value a line
 * @seq: file
 */
void sdp_zmem_show(struct seq_file *seq)
{
	seq_printf(seq, "ZcopyPages %ld\n", atomic_long_read(&sdp_zmem_used));
}

/**
 * sdp_zpages_alloc() - begin with a transfer
 * @z: zero copy of a socket
 * @addr: user address
 * @len: bytes
 *
 * Return: a description of the pages, which it does not have yet; NULL if there
 * is no memory, or all transfers use as much as they may.
 */
struct sdp_zpages *sdp_zpages_alloc(struct sdp_zcopy *z, unsigned long addr,
				    u32 len)
{
	u32 nr = DIV_ROUND_UP(offset_in_page(addr) + len, PAGE_SIZE);
	struct sdp_zpages *zp;

	if (!sdp_zmem_charge(z, nr))
		return NULL;
	zp = kvzalloc(struct_size(zp, pages, nr), SDP_GFP_TABLE);
	if (!zp) {
		sdp_zmem_uncharge(nr);
		return NULL;
	}
	init_completion(&zp->over);
	zp->addr = addr;
	zp->len = len;
	zp->charged = nr;
	return zp;
}

/* Describes the pages as the device sees them; the connection may be over by now. */
static bool sdp_zpages_list(const struct sdp_zcopy *z, struct sdp_zpages *zp)
{
	const struct sdp_device *dev = z->st->link->dev;

	sdp_owned(z->st->sk);
	return dev &&
	       !sg_alloc_table_from_pages_segment(&zp->sgt, zp->pages, zp->nr,
						  offset_in_page(zp->addr), zp->len,
						  ib_dma_max_seg_size(dev->ibdev),
						  SDP_GFP_TABLE);
}

/*
 * Whether user space may have pages back that the peer says it has read.  Protected
 * ones stay as they were until the device releases them, too.
 */
static bool sdp_zpages_may_pin(const struct sdp_zcopy *z,
			       enum sdp_zpages_use use)
{
	const struct sdp_device *dev = z->st->link->dev;

	return use == SDP_ZPAGES_RECV ||
	       !(dev && dev->quirks & SDP_QUIRK_SENDS_PAGES);
}

static bool sdp_zpages_get(struct sdp_zpages *zp)
{
	int got = pin_user_pages_fast(zp->addr & PAGE_MASK, zp->charged,
				      zp->write ? FOLL_WRITE : 0, zp->pages);

	zp->nr = max(got, 0);
	return zp->nr == zp->charged;
}

/**
 * sdp_zpages_fill() - get the pages of a transfer, and describe them
 * @z: zero copy of a locked socket; the lock is released meanwhile
 * @zp: what sdp_zpages_alloc() has given, which is still the caller's if this fails
 * @turn: counts calls of this direction that do so; NULL for reads, which find out later
 *	whether another one was quicker
 * @get: gets them; may sleep
 *
 * Context: process context.
 * Return: whether user space has such memory, and there is a device.
 */
bool sdp_zpages_fill(struct sdp_zcopy *z, struct sdp_zpages *zp, unsigned int *turn,
		     bool (*get)(struct sdp_zpages *zp))
{
	bool got;

	sdp_sock_owned_by_me(z->st->sk);
	sdp_turn_leave(z->st->sk, turn);
	got = get(zp);
	sdp_turn_enter(z->st->sk, turn);
	return got && sdp_zpages_list(z, zp);
}

/**
 * sdp_zpages_pin() - keep user pages where they are
 * @z: zero copy of a locked socket with the device that is to use them; the lock is released
 *	meanwhile
 * @addr: user address
 * @len: bytes
 * @use: what they are for
 *
 * Pinned as for direct I/O and not for long: how long it takes is limited by
 * the device's retries, or by what user space is ready to wait.
 *
 * Context: process context.
 * Return: the pages, which are the caller's; NULL if user space has no such
 * memory, may not have it pinned, or there is no memory; or if the device sends
 * from pages that it does not use any more.
 */
struct sdp_zpages *sdp_zpages_pin(struct sdp_zcopy *z, unsigned long addr,
				  u32 len, enum sdp_zpages_use use)
{
	unsigned int *turn = use == SDP_ZPAGES_RECV ? NULL : &z->st->write_turn;
	struct sdp_zpages *zp;

	sdp_sock_owned_by_me(z->st->sk);
	if (!sdp_zpages_may_pin(z, use))
		return NULL;
	zp = sdp_zpages_alloc(z, addr, len);
	if (!zp)
		return NULL;
	zp->write = use == SDP_ZPAGES_RECV;
	if (use != SDP_ZPAGES_MSG && mm_account_pinned_pages(&zp->mmp, len)) {
		sdp_zpages_free(zp);
		return NULL;
	}
	if (sdp_zpages_fill(z, zp, turn, sdp_zpages_get))
		return zp;
	/* Others are not let in amid a write for pages that may be freed anywhere. */
	if (zp->write)
		sdp_zpages_drop(z, zp);
	else
		sdp_zpages_free(zp);
	return NULL;
}

/**
 * sdp_zpages_map() - let the device use pages
 * @z: zero copy of a locked socket that is connected
 * @zp: pages that are not mapped
 * @dir: what it does with them
 *
 * Return: whether it may; then sdp_zpages_unmap() comes before they are freed.
 */
bool sdp_zpages_map(struct sdp_zcopy *z, struct sdp_zpages *zp, enum dma_data_direction dir)
{
	sdp_owned(z->st->sk);
	zp->nents = ib_dma_map_sg(z->st->link->dev->ibdev, zp->sgt.sgl, zp->sgt.orig_nents, dir);
	return zp->nents;
}

/**
 * sdp_zpages_unmap() - the device does not use pages any more
 * @z: zero copy of a locked socket (by its owner or in softirq)
 * @zp: pages, from sdp_zpages_map()
 * @dir: likewise
 */
void sdp_zpages_unmap(struct sdp_zcopy *z, struct sdp_zpages *zp, enum dma_data_direction dir)
{
	sdp_owned(z->st->sk);
	ib_dma_unmap_sg(z->st->link->dev->ibdev, zp->sgt.sgl, zp->sgt.orig_nents, dir);
	zp->nents = 0;
}

/**
 * sdp_zpages_wait() - wait until the device does not use pages any more
 * @z: zero copy of a locked socket; the lock is released meanwhile
 * @zp: pages that it uses
 * @limit: how long that may take, jiffies
 *
 * Needs no application at the peer.  If it takes too long, or if the caller is killed,
 * the connection ends: that ends all that the device does, and needs no peer.  So the
 * device does not use the memory any more when this returns.
 */
void sdp_zpages_wait(struct sdp_zcopy *z, struct sdp_zpages *zp,
		     unsigned long limit)
{
	unsigned long end = jiffies + limit;
	bool killed = false;

	sdp_sock_owned_by_me(z->st->sk);
	while (!completion_done(&zp->over) && time_before(jiffies, end)) {
		if (!killed && fatal_signal_pending(current)) {
			killed = true;
			end = jiffies + min_t(unsigned long, end - jiffies,
					      SDP_ZPAGES_GRACE);
		}
		sdp_release_sock(z->st->sk);
		wait_for_completion_timeout(&zp->over, SDP_ZPAGES_NAP);
		sdp_lock_sock(z->st->sk);
		sdp_zsend_nudge(z);
		sdp_sink_nudge(z);
	}
	if (completion_done(&zp->over))
		return;
	sdp_link_end(z->st->link, killed ? -ECONNABORTED : -ETIMEDOUT);
	sdp_release_sock(z->st->sk);
	wait_for_completion(&zp->over);
	sdp_lock_sock(z->st->sk);
}

/**
 * sdp_zpages_free() - release user pages
 * @zp: pages that no device uses
 *
 * Context: process context; any, if they were not written to.
 */
void sdp_zpages_free(struct sdp_zpages *zp)
{
	sdp_zpages_unpin(zp);
	sg_free_table(&zp->sgt);
	mm_unaccount_pinned_pages(&zp->mmp);
	sdp_zmem_uncharge(zp->charged);
	/* User space hears of it last, when all of it is true. */
	consume_skb(zp->msg);
	kvfree(zp);
}

/**
 * sdp_zpages_drop() - release pages that were read into
 * @z: zero copy of a locked socket; the lock is released meanwhile
 * @zp: pages that no device uses
 *
 * Pages of files are locked for that, by a file system that may be in user space.
 *
 * Context: process context.
 */
void sdp_zpages_drop(struct sdp_zcopy *z, struct sdp_zpages *zp)
{
	sdp_sock_owned_by_me(z->st->sk);
	sdp_release_sock(z->st->sk);
	sdp_zpages_free(zp);
	sdp_lock_sock(z->st->sk);
}
