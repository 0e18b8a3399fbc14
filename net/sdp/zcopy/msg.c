// SPDX-License-Identifier: GPL-2.0
/*
 * MSG_ZEROCOPY: user space leaves its memory alone until the socket's error
 * queue says that it is free, so that it needs no protection.
 *
 * The notifications are the kernel's own (msg_zerocopy), so that their numbers, how
 * they are coalesced, and what they count against are those of TCP; io_uring has
 * notifications of its own kind.
 */
#include <linux/errqueue.h>
#include <linux/mm.h>
#include <linux/skbuff.h>
#include <linux/uio.h>
#include <net/sock.h>

#include "zcopy.h"

/**
 * sdp_zmsg_begin() - see whether a write is one of these
 * @zm: to fill; @uarg is NULL if it is not
 * @z: zero copy of a locked socket
 * @msg: what user space writes
 * @len: bytes
 * @epoch: the connection that it is for, sdp_stream::epoch
 *
 * Return: 0, or -ENOBUFS: too many notifications are unread, or RLIMIT_MEMLOCK
 * is exceeded.
 */
int sdp_zmsg_begin(struct sdp_zmsg *zm, struct sdp_zcopy *z, struct msghdr *msg,
		   size_t len, u32 epoch)
{
	struct sock *sk = z->st->sk;

	sdp_owned(sk);
	*zm = (struct sdp_zmsg){ .epoch = epoch };
	if (likely(!(msg->msg_flags & MSG_ZEROCOPY)) || !len)
		return 0;
	if (msg->msg_ubuf) {
		zm->uarg = msg->msg_ubuf;
		zm->borrowed = true;
	} else if (sock_flag(sk, SOCK_ZEROCOPY)) {
		zm->uarg = msg_zerocopy_realloc(sk, len, NULL, false);
		return zm->uarg ? 0 : -ENOBUFS;
	}
	return 0;
}

/* An skb that delays a notification until it is freed, of whatever kind. */
static struct sk_buff *sdp_zmsg_hold(struct ubuf_info *uarg)
{
	struct sk_buff *skb = alloc_skb(0, GFP_KERNEL);

	skb_zcopy_set(skb, uarg, NULL);
	return skb;
}

/* Without memory for this the notification is only less exact. */
static void sdp_zmsg_copied(struct ubuf_info *uarg)
{
	struct sk_buff *skb = sdp_zmsg_hold(uarg);

	if (!skb)
		return;
	skb_zcopy_clear(skb, false);
	consume_skb(skb);
}

/**
 * sdp_zmsg_end() - the write is over
 * @zm: what sdp_zmsg_begin() has filled
 * @done: bytes that were taken
 *
 * What was copied is free, and a write that failed has no number.
 */
void sdp_zmsg_end(struct sdp_zmsg *zm, size_t done)
{
	if (likely(!zm->uarg))
		return;
	if (done != zm->sent)
		sdp_zmsg_copied(zm->uarg);
	if (zm->borrowed)
		return;
	if (done)
		net_zcopy_put(zm->uarg);
	else
		net_zcopy_put_abort(zm->uarg, true);
}

/**
 * sdp_zmsg_pin() - keep the pages of such a write
 * @zm: the write
 * @z: zero copy of a locked socket with a device; the lock is released meanwhile
 * @addr: user address
 * @len: bytes
 *
 * They are charged to the user with the notification.
 *
 * Context: process context.
 * Return: the pages, whose release sends the notification; NULL if that cannot be
 * done.
 */
struct sdp_zpages *sdp_zmsg_pin(struct sdp_zmsg *zm, struct sdp_zcopy *z,
				unsigned long addr, u32 len)
{
	struct sk_buff *skb = sdp_zmsg_hold(zm->uarg);
	struct sdp_zpages *zp;

	sdp_owned(z->st->sk);
	if (!skb)
		return NULL;
	zp = sdp_zpages_pin(z, addr, len, SDP_ZPAGES_MSG);
	if (!zp) {
		consume_skb(skb);
		return NULL;
	}
	zp->async = true;
	zp->msg = skb;
	return zp;
}

/**
 * sdp_zmsg_recv() - read the error queue (MSG_ERRQUEUE)
 * @z: zero copy of a socket, not locked
 * @msg: where to put what it says
 *
 * Return: 0; -EAGAIN if it is empty.
 */
int sdp_zmsg_recv(struct sdp_zcopy *z, struct msghdr *msg)
{
	struct sk_buff *skb = sock_dequeue_err_skb(z->st->sk);
	struct {
		struct sock_extended_err ee;
		struct sockaddr_in6 offender;
	} err = {};
	int len = sizeof(err);

	if (!skb)
		return -EAGAIN;
	sock_recv_timestamp(msg, z->st->sk, skb);
	err.ee = SKB_EXT_ERR(skb)->ee;
	if (!sdp_base(z->st->sk)->v6)
		len = sizeof(err.ee) + sizeof(struct sockaddr_in);
	put_cmsg(msg, sdp_base(z->st->sk)->v6 ? SOL_IPV6 : SOL_IP,
		 sdp_base(z->st->sk)->v6 ? IPV6_RECVERR : IP_RECVERR, len, &err);
	msg->msg_flags |= MSG_ERRQUEUE;
	consume_skb(skb);
	return 0;
}
