/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The receive side of the copy path: buffers, completions, messages.
 */
#ifndef _SDP_RX_H
#define _SDP_RX_H

#include <linux/ktime.h>
#include <linux/types.h>

struct ib_cq;
struct ib_wc;
struct msghdr;
struct pipe_inode_info;
struct sdp_conn;
struct sdp_ravah;
struct sdp_rx;
struct sdp_rx_buf;
struct sdp_rx_slots;
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
bool sdp_rx_may_post(const struct sdp_conn *conn);
int sdp_rx_post(struct sdp_sock *ssk, struct sdp_rx_buf *buf);
void sdp_rx_retire(struct sdp_sock *ssk, struct sdp_rx_buf *buf);
void sdp_rx_repost(struct sdp_sock *ssk, struct sdp_rx_buf *buf);
void sdp_rx_recycle(struct sdp_sock *ssk, struct sdp_rx_buf *buf);
void sdp_rx_grow(struct work_struct *work);
void sdp_rx_exhausted(struct sdp_sock *ssk);
int sdp_rx_asked(struct sdp_sock *ssk, u32 wish);
void sdp_rx_add_spare(struct sdp_sock *ssk);

/* rxpack.c */
void sdp_rx_pack_last(struct sdp_sock *ssk);
void sdp_rx_relieve_later(struct sdp_sock *ssk);
void sdp_rx_relieve(struct sdp_sock *ssk);
void sdp_rx_was_read(struct sdp_sock *ssk);

/* rxslot.c */
int sdp_rx_slots_alloc(struct sdp_sock *ssk, struct sdp_rx_slots *slots,
		       u32 count);
void sdp_rx_slots_use(struct sdp_rx *rx, struct sdp_rx_slots *slots);
void sdp_rx_slots_unmap(struct sdp_sock *ssk, struct sdp_rx_slots *slots);
void sdp_rx_slots_free(struct sdp_rx_slots *slots);

/* rxring.c */
u32 sdp_rx_ring_size(struct sdp_sock *ssk);
void sdp_rx_ring_want(struct sdp_sock *ssk);
bool sdp_rx_ring_alloc(struct sdp_sock *ssk);
void sdp_rx_ring_start(struct sdp_sock *ssk, struct sdp_ravah *ravah);
void sdp_rx_ring_release(struct sdp_sock *ssk, struct sdp_rx_buf *buf);
int sdp_rx_ring_receive(struct sdp_sock *ssk, u32 len, ktime_t time);
u8 sdp_rx_ring_last(const struct sdp_rx *rx);
u32 sdp_rx_ring_peek(const struct sdp_sock *ssk, u32 skip, const void **from);
ktime_t sdp_rx_ring_time(const struct sdp_sock *ssk, u32 skip);
u32 sdp_rx_ring_tell(struct sdp_sock *ssk);
void sdp_rx_ring_read(struct sdp_sock *ssk, u32 len);
void sdp_rx_ring_unmap(struct sdp_sock *ssk);
void sdp_rx_ring_purge(struct sdp_sock *ssk);

int sdp_recvmsg(struct socket *sock, struct msghdr *msg, size_t len,
		int flags);
ssize_t sdp_splice_read(struct socket *sock, loff_t *ppos,
			struct pipe_inode_info *pipe, size_t len,
			unsigned int flags);
void sdp_recv_drop_first(struct sdp_sock *ssk);

#endif /* _SDP_RX_H */
