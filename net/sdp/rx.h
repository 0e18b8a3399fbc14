/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The receive side of the copy path: buffers, completions, messages.
 */
#ifndef _SDP_RX_H
#define _SDP_RX_H

#include <linux/types.h>

struct ib_cq;
struct ib_wc;
struct msghdr;
struct sdp_rx_buf;
struct sdp_sock;
struct sock;
struct socket;
struct work_struct;

void sdp_rx_done(struct ib_cq *cq, struct ib_wc *wc);
void sdp_rx_reap(struct sdp_sock *ssk);
bool sdp_rx_full(const struct sdp_sock *ssk);
bool sdp_rx_readable(const struct sock *sk);

/* rxbuf.c */
u32 sdp_rx_size(struct sdp_sock *ssk);
int sdp_rx_init(struct sdp_sock *ssk);
int sdp_rx_post_all(struct sdp_sock *ssk);
void sdp_rx_unmap(struct sdp_sock *ssk);
void sdp_rx_purge(struct sdp_sock *ssk);
void sdp_rx_repost(struct sdp_sock *ssk, struct sdp_rx_buf *buf);
void sdp_rx_recycle(struct sdp_sock *ssk, struct sdp_rx_buf *buf);
void sdp_rx_grow(struct work_struct *work);
void sdp_rx_exhausted(struct sdp_sock *ssk);
int sdp_rx_asked(struct sdp_sock *ssk, u32 wish);

int sdp_recvmsg(struct socket *sock, struct msghdr *msg, size_t len,
		int flags);
void sdp_recv_consume(struct sdp_sock *ssk, struct sdp_rx_buf *buf, u32 len);

#endif /* _SDP_RX_H */
