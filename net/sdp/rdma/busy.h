/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Busy polling: completion queues as NAPI instances.
 */
#ifndef _SDP_BUSY_H
#define _SDP_BUSY_H

#include <linux/types.h>

struct sdp_device;
struct sdp_link;
struct sock;

#ifdef CONFIG_NET_RX_BUSY_POLL
void sdp_busy_init(struct sdp_device *dev);
void sdp_busy_exit(struct sdp_device *dev);
void sdp_busy_attach(struct sdp_link *link);
void sdp_busy_detach(struct sdp_link *link);
void sdp_busy_loop(struct sock *sk, bool (*end)(void *arg, unsigned long start), void *arg);
#else
static inline void sdp_busy_init(struct sdp_device *dev)
{
}

static inline void sdp_busy_exit(struct sdp_device *dev)
{
}

static inline void sdp_busy_attach(struct sdp_link *link)
{
}

static inline void sdp_busy_detach(struct sdp_link *link)
{
}

static inline void sdp_busy_loop(struct sock *sk, bool (*end)(void *arg, unsigned long start),
				 void *arg)
{
}
#endif

#endif /* _SDP_BUSY_H */
