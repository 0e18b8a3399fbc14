// SPDX-License-Identifier: GPL-2.0
/*
 * Zero copy: whether a connection takes part, and from how many bytes on.
 */
#include <linux/string.h>
#include <linux/uio.h>

#include "base/base.h"
#include "guard/guard.h"
#include "rdma/rdma.h"
#include "stream/stream.h"
#include "zcopy.h"

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

/**
 * sdp_zcopy_recv_find() - the mode of reads of a name
 * @name: name
 *
 * Return: SDP_ZCOPY_SYNC or SDP_ZCOPY_ASYNC; -EINVAL if there is none, -EOPNOTSUPP if
 * this kernel cannot do it.
 */
int sdp_zcopy_recv_find(const char *name)
{
	int mode = sdp_zcopy_mode_find(name);

	if (mode == SDP_ZCOPY_OFF)
		return -EINVAL;
	if (mode != SDP_ZCOPY_ASYNC || sdp_guard_access_works())
		return mode;
	pr_notice_once("no zcopy_recv=async: a page fault that waits would stop other threads; needs Linux 6.6 with CONFIG_PER_VMA_LOCK and CONFIG_DEVICE_MIGRATION\n");
	return -EOPNOTSUPP;
}

/**
 * sdp_zcopy_device() - whether zero copy is possible on a device
 * @dev: device
 *
 * Memory is registered by work requests, and read by the other end.  What iWARP
 * wants beyond that, a registration of the memory that is read into, the RDMA
 * core sees to (rdma_rw_ctx_init()).
 *
 * Return: true if it is.
 */
bool sdp_zcopy_device(const struct sdp_device *dev)
{
	return sdp_device_registers(dev) && sdp_device_reads(dev);
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
	bool several;

	/* Two copies within a machine cost less than to pin or to protect pages. */
	if (sdp_link_is_local(z->st->link)) {
		z->async = false;
		z->st->features &= ~(SDP_FEAT_MULTI_ADVERT | SDP_FEAT_SINK);
		ours = true;
	}
	several = z->st->features & SDP_FEAT_MULTI_ADVERT;
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
	if (!z->on || (msg->msg_flags & MSG_OOB) || sdp_link_is_local(z->st->link))
		return 0;
	len = sdp_zcopy_segment(&msg->msg_iter, &addr);
	return len >= sdp_zcopy_thresh(z) ? len : 0;
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
