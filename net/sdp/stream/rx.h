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
struct sdp_ravah;
struct sdp_rx;
struct sdp_rx_buf;
struct sdp_rx_slots;
struct sock;
struct vm_area_struct;

void sdp_rx_note(struct sdp_stream *st, const struct ib_wc *wc);
void sdp_rx_done(struct ib_cq *cq, struct ib_wc *wc);
bool sdp_rx_unwanted(const struct sock *sk);
int sdp_rx_data(struct sdp_stream *st, struct sdp_rx_buf *buf,
		const struct sdp_msg *msg);
int sdp_rx_begin(struct sdp_stream *st, struct sdp_rx_buf *buf,
		 struct sdp_msg *msg);
int sdp_stream_control(struct sdp_stream *st, const struct sdp_msg *msg);
bool sdp_rx_full(const struct sdp_stream *st);
bool sdp_rx_readable(const struct sdp_stream *st);

/* rxbuf.c */
u32 sdp_rx_size(struct sdp_stream *st);
int sdp_rx_init(struct sdp_stream *st);
void sdp_rx_unmap(struct sdp_stream *st);
void sdp_rx_unmap_page(struct sdp_stream *st, u64 dma, u32 size);
void sdp_rx_purge(struct sdp_stream *st);
void sdp_rx_retire(struct sdp_stream *st, struct sdp_rx_buf *buf);
void sdp_rx_repost(struct sdp_stream *st, struct sdp_rx_buf *buf);
void sdp_rx_recycle(struct sdp_stream *st, struct sdp_rx_buf *buf);
void sdp_rx_grow(struct sdp_stream *st);
void sdp_rx_exhausted(struct sdp_stream *st);
void sdp_rx_note_need(struct sdp_stream *st, u32 len);
int sdp_rx_handle_chrcvbuf(struct sdp_stream *st, u32 wish);
void sdp_rx_add_spare(struct sdp_stream *st);
bool sdp_rx_spare_get(struct sdp_stream *st, struct sdp_rx_buf *spare, u32 size);
void sdp_rx_spare_put(struct sdp_stream *st, struct sdp_rx_buf *spare);

/* rxmap.c */
u32 sdp_rx_unmappable(const struct sdp_stream *st);
u32 sdp_rx_first(const struct sdp_stream *st);
u32 sdp_rx_map(struct sdp_stream *st, struct vm_area_struct *vma, unsigned long addr,
	       u32 most);

/* rxpost.c */
bool sdp_rx_may_post(const struct sdp_stream *st);
void sdp_rx_post(struct sdp_stream *st, struct sdp_rx_buf *buf);
void sdp_rx_give_or_end(struct sdp_stream *st);
int sdp_rx_post_all(struct sdp_stream *st);

/* rxpack.c */
void sdp_rx_pack_last(struct sdp_stream *st);
void sdp_rx_relieve_later(struct sdp_stream *st);
bool sdp_rx_relieve(struct sdp_stream *st);
void sdp_rx_was_read(struct sdp_stream *st);

/* rxslot.c */
int sdp_rx_slots_alloc(struct sdp_stream *st, struct sdp_rx_slots *slots,
		       u32 count);
void sdp_rx_slots_use(struct sdp_rx *rx, struct sdp_rx_slots *slots);
void sdp_rx_slots_unmap(struct sdp_stream *st, struct sdp_rx_slots *slots);
void sdp_rx_slots_free(struct sdp_rx_slots *slots);

/* rxring.c */
u32 sdp_rx_ring_size(struct sdp_stream *st);
void sdp_rx_ring_want(struct sdp_stream *st);
bool sdp_rx_ring_alloc(struct sdp_stream *st);
void sdp_rx_ring_start(struct sdp_stream *st, struct sdp_ravah *ravah);
void sdp_rx_ring_release(struct sdp_stream *st, struct sdp_rx_buf *buf);
int sdp_rx_ring_receive(struct sdp_stream *st, u32 len, ktime_t time);
void *sdp_rx_ring_room(const struct sdp_stream *st, u64 addr, u32 *len);
u8 sdp_rx_ring_last(const struct sdp_rx *rx);
u32 sdp_rx_ring_peek(const struct sdp_stream *st, u32 skip, const void **from);
ktime_t sdp_rx_ring_time(const struct sdp_stream *st, u32 skip);
u32 sdp_rx_ring_tell(struct sdp_stream *st);
void sdp_rx_ring_read(struct sdp_stream *st, u32 len);
void sdp_rx_ring_unmap(struct sdp_stream *st);
void sdp_rx_ring_purge(struct sdp_stream *st);

/* recvq.c */
/**
 * struct sdp_read - a read in progress
 * @epoch: the connection that it reads from, sdp_stream::epoch
 * @msg: where to put the bytes
 * @left: bytes still wanted
 * @done: bytes delivered
 * @pos: stream position of the next byte
 * @offset: unread bytes to pass over before the first one (SO_PEEK_OFF)
 * @stamp: when the last of the bytes arrived, 0 if not recorded
 * @missing: bytes of @msg that were not there to be copied to
 * @peek: leave the data in the queue
 * @discard: count the data, but copy none (MSG_TRUNC)
 * @zcopy: it may be read without a copy: it waits, and takes what it reads
 * @sink: its memory, while the peer may write to it; NULL if it may not
 */
struct sdp_read {
	u32 epoch;
	struct msghdr *msg;
	size_t left;
	size_t done;
	u32 pos;
	u32 offset;
	ktime_t stamp;
	u32 missing;
	bool peek;
	bool discard;
	bool zcopy;
	struct sdp_zpages *sink;
};

int sdp_recv_queue(struct sdp_stream *st, struct sdp_read *rd);
bool sdp_recv_fast(struct sdp_stream *st, struct msghdr *msg, size_t len, int flags);
void sdp_recv_drop_first(struct sdp_stream *st);
void sdp_recv_consume(struct sdp_stream *st, struct sdp_rx_buf *buf, u32 len);

/* integrated_rx.c */
bool sdp_integrated_read(struct sdp_stream *st, struct sdp_read *rd, bool wait);
int sdp_integrated_arrived(struct sdp_stream *st, u32 *unread);
void sdp_integrated_expect(struct sdp_stream *st, const struct sdp_read *rd, bool wait);
void sdp_integrated_end(struct sdp_stream *st);
void sdp_integrated_pause(struct sdp_stream *st);

/**
 * sdp_integrated_pull() - have what has arrived in the ring, and what arrives from now on
 * @st: stream of a locked socket
 *
 * Context: process context, softirqs enabled.
 */
static inline void sdp_integrated_pull(struct sdp_stream *st)
{
	if (unlikely(READ_ONCE(st->link->flags) & SDP_CONN_LEFT))
		sdp_integrated_end(st);
}

/**
 * sdp_rx_settle() - give the device the receive buffers that were posted, if any were
 * @st: stream of a locked socket (by its owner or in softirq)
 *
 * An error of the provider's ends the connection.
 */
static inline void sdp_rx_settle(struct sdp_stream *st)
{
	if (st->rx.given != st->rx.post_head)
		sdp_rx_give_or_end(st);
}

#endif /* _SDP_RX_H */
