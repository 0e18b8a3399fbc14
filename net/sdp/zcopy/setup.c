// SPDX-License-Identifier: GPL-2.0
/*
 * Zero copy: user pages, and what a connection has for transfers.
 */
#include <linux/atomic.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uio.h>

#include "base/base.h"
#include "guard/guard.h"
#include "rdma/rdma.h"
#include "stream/stream.h"
#include "zcopy.h"

/* How often a waiter checks for a fatal signal. */
#define SDP_ZPAGES_NAP		max(HZ / 20, 2)
/* How long it then goes on to wait, so that the stream stays whole. */
#define SDP_ZPAGES_GRACE	(HZ / 2)

static const char *const sdp_zcopy_names[] = {
	[SDP_ZCOPY_OFF] = "off",
	[SDP_ZCOPY_SYNC] = "sync",
	[SDP_ZCOPY_ASYNC] = "async",
};

/**
 * sdp_zcopy_mode_name() - the mode's name in settings and statistics
 * @mode: mode
 *
 * Return: its name.
 */
const char *sdp_zcopy_mode_name(enum sdp_zcopy_mode mode)
{
	return sdp_zcopy_names[mode];
}

/**
 * sdp_zcopy_mode_find() - the mode of a name
 * @name: name
 *
 * Return: enum sdp_zcopy_mode, or -EINVAL if there is none.
 */
int sdp_zcopy_mode_find(const char *name)
{
	int i;

	for (i = 0; i < (int)ARRAY_SIZE(sdp_zcopy_names); i++)
		if (!strcmp(sdp_zcopy_names[i], name))
			return i;
	return -EINVAL;
}

/*
 * Memory is registered by work requests, and read by the other end.  What iWARP
 * wants beyond that, a registration of the memory that is read into, the RDMA
 * core sees to (rdma_rw_ctx_init()).
 */
static bool sdp_zcopy_device(const struct sdp_device *dev)
{
	const struct ib_device_attr *attrs = &dev->ibdev->attrs;

	return (attrs->device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS) &&
	       attrs->max_qp_rd_atom && attrs->max_qp_init_rd_atom;
}

/**
 * sdp_zcopy_begin() - decide whether a connection takes part in zero copy
 * @z: zero copy of a socket that nothing else can transmit on yet, whose device is known
 */
void sdp_zcopy_begin(struct sdp_zcopy *z)
{
	enum sdp_zcopy_mode mode = sdp_option_zcopy(z->st->sk);

	memset_after(z, 0, reading);
	z->read_cqe.done = sdp_zrecv_done;
	z->on = mode != SDP_ZCOPY_OFF && sdp_zcopy_device(z->st->link->dev);
	z->async = z->on && mode == SDP_ZCOPY_ASYNC;
	if (mode != SDP_ZCOPY_OFF && !z->on)
		sdp_dbg(z->st->sk, "no zero copy: the device cannot do it");
	if (z->on)
		z->st->features |= SDP_FEAT_MULTI_ADVERT | SDP_FEAT_SINK;
}

/**
 * sdp_zcopy_choose() - the peer's Hello or HelloAck has come
 * @z: zero copy of a socket; the features of both ends are known
 * @ours: the peer has our extension, so that it would say if it took part
 * @cap: SDP_CAP_* that it says
 * @max_adverts: advertisements that the peer says it holds
 */
void sdp_zcopy_choose(struct sdp_zcopy *z, bool ours, u8 cap, u32 max_adverts)
{
	bool several = z->st->features & SDP_FEAT_MULTI_ADVERT;

	if (!several)
		max_adverts = ours ? 0 : min(max_adverts, 1U);
	z->ends_keys = z->on && cap & SDP_CAP_INVALIDATE;
	sdp_zsource_init(&z->source, max_adverts);
	sdp_zsink_init(&z->sink, several ? SDP_ZCOPY_ADVERTS : 1);
	sdp_dbg(z->st->sk, "zero copy %s, the peer holds %u offers",
		sdp_zcopy_mode_name(sdp_zcopy_mode(z)), z->source.max);
}

/**
 * sdp_zcopy_thresh() - from how many bytes on a transfer is worth its price
 * @z: zero copy of a locked socket
 *
 * Return: bytes; U32_MAX for never.
 */
u32 sdp_zcopy_thresh(const struct sdp_zcopy *z)
{
	const struct sdp_net *sn = sdp_net(sock_net(z->st->sk));

	sdp_owned(z->st->sk);
	if (sdp_base(z->st->sk)->opt.zcopy_thresh < 0)
		return READ_ONCE(sn->zcopy_threshold);
	return sdp_base(z->st->sk)->opt.zcopy_thresh ?: U32_MAX;
}

/**
 * sdp_zcopy_segment() - user memory that is contiguous
 * @iter: what user space reads or writes
 * @addr: set to the address of its next byte
 *
 * Return: bytes; 0 if there is none, or if it is the kernel's.
 */
u32 sdp_zcopy_segment(const struct iov_iter *iter, unsigned long *addr)
{
	size_t len;

	if (!user_backed_iter(iter) || !iov_iter_count(iter))
		return 0;
	if (iter_is_ubuf(iter)) {
		*addr = (unsigned long)iter->ubuf + iter->iov_offset;
		len = iov_iter_count(iter);
	} else {
		*addr = (unsigned long)iter_iov_addr(iter);
		len = min_t(size_t, iter_iov_len(iter), iov_iter_count(iter));
	}
	return min_t(size_t, len, INT_MAX);
}

/**
 * sdp_zcopy_wanted() - whether a write is to be tried without a copy
 * @z: zero copy of a locked socket that is connected
 * @msg: what user space writes
 *
 * Return: bytes of user memory that are contiguous; 0 if it is not.
 */
u32 sdp_zcopy_wanted(struct sdp_zcopy *z, const struct msghdr *msg)
{
	unsigned long addr;
	u32 len;

	sdp_owned(z->st->sk);
	if (!z->on || (msg->msg_flags & MSG_OOB))
		return 0;
	len = sdp_zcopy_segment(&msg->msg_iter, &addr);
	return len >= sdp_zcopy_thresh(z) ? len : 0;
}

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
	zp->len = len;
	zp->charged = nr;
	return zp;
}

/**
 * sdp_zpages_list() - describe the pages as the device sees them
 * @z: zero copy of a locked socket, whose connection may be over
 * @zp: pages, all of them there
 * @addr: user address
 *
 * Return: whether there was memory for that, and a device.
 */
bool sdp_zpages_list(const struct sdp_zcopy *z, struct sdp_zpages *zp,
		     unsigned long addr)
{
	const struct sdp_device *dev = z->st->link->dev;

	sdp_owned(z->st->sk);
	return dev &&
	       !sg_alloc_table_from_pages_segment(&zp->sgt, zp->pages, zp->nr,
						  offset_in_page(addr), zp->len,
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

static bool sdp_zpages_get(struct sdp_zpages *zp, unsigned long addr)
{
	int got = pin_user_pages_fast(addr & PAGE_MASK, zp->charged,
				      zp->write ? FOLL_WRITE : 0, zp->pages);

	zp->nr = max(got, 0);
	return zp->nr == zp->charged;
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
	/* Readers find out later whether another one was quicker. */
	unsigned int *turn = use == SDP_ZPAGES_RECV ? NULL : &z->st->write_turn;
	struct sdp_zpages *zp;
	bool got;

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
	sdp_turn_leave(z->st->sk, turn);
	got = sdp_zpages_get(zp, addr);
	sdp_turn_enter(z->st->sk, turn);
	if (got && sdp_zpages_list(z, zp, addr))
		return zp;
	/* Others are not let in amid a write for pages that may be freed anywhere. */
	if (zp->write)
		sdp_zpages_drop(z, zp);
	else
		sdp_zpages_free(zp);
	return NULL;
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

/**
 * sdp_zcopy_free() - release what a connection had for transfers
 * @z: zero copy of a locked socket whose queue pair is gone, with its device
 *
 * Context: process context.
 */
void sdp_zcopy_free(struct sdp_zcopy *z)
{
	sdp_owned(z->st->sk);
	sdp_zsend_free(z);
	sdp_zrecv_free(z);
	sdp_sink_free(z);
	/* What the peer advertised cannot be read any more. */
	sdp_zsink_init(&z->sink, 0);
	z->on = false;
}
