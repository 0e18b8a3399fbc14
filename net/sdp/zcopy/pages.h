/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pages of user memory that are sent, or read into, without a copy.
 */
#ifndef _SDP_ZCOPY_PAGES_H
#define _SDP_ZCOPY_PAGES_H

#include <linux/completion.h>
#include <linux/dma-direction.h>
#include <linux/list.h>
#include <linux/scatterlist.h>
#include <linux/skbuff.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct ib_mr;
struct page;
struct sdp_guard;
struct sdp_guard_ops;
struct sdp_zcopy;
struct seq_file;

/* How often who waits for pages checks for a fatal signal. */
#define SDP_ZPAGES_NAP		max(HZ / 20, 2)

/* What pages are for. */
enum sdp_zpages_use {
	SDP_ZPAGES_SEND,	/* the peer reads them */
	SDP_ZPAGES_MSG,		/* likewise, and others charge the user */
	SDP_ZPAGES_RECV,	/* the device writes to them */
};

/* How far pages that are sent have come. */
enum sdp_zsend_state {
	SDP_ZSEND_READY,	/* to be advertised */
	SDP_ZSEND_OUT,		/* the peer may read them */
	SDP_ZSEND_REVOKED,	/* it may not any more, as soon as that is done */
	SDP_ZSEND_DIRECT,	/* the rest is sent as messages, or written */
};

/**
 * struct sdp_zpages - user pages that a transfer uses
 * @over: completed when the device does not use them any more; the call that
 *	has pinned them waits for it, and frees them; not if they are @async
 * @addr: user address of their first byte
 * @len: bytes
 * @done: bytes that were transferred, valid once it is over
 * @sent: bytes that were read, sent as messages, or written to a reader's memory
 * @written: of these, those that were written
 * @write: the device writes to them
 * @async: no call waits for them: the connection frees them; if they are read into by
 *	@release
 * @msg: of MSG_ZEROCOPY, whose end notifies user space; NULL for others, which are
 *	protected and not pinned if they are @async
 * @guard_ops: what protects those pages of @pages that are protected
 * @guard: what it needs for that
 * @first: how many are before them, which are copies
 * @guarded: how many they are
 * @changed: entries of page tables that allowed writing to them
 * @mmp: for RLIMIT_MEMLOCK
 * @charged: pages, for net.sdp.zcopy_mem
 * @sgt: the pages as the device sees them
 * @nents: elements that are mapped, 0 = none
 * @node: place among those that are sent
 * @state: how far these have come
 * @straight: they are not advertised, but sent as messages at once, or written
 * @keyed: the peer's key is registered, and not known to have ended
 * @start: value of the source's counter before their first byte
 * @mr: lets the peer read them, or write to them
 * @since: when user space has written them, or cannot reach them any more, jiffies
 * @at: element of @sgt that has the next byte to be sent as a message, or written
 * @at_off: where in it that is
 * @release: frees those that were read into
 * @nr: number of pages
 * @pages: the pages, pinned, or with a reference to each
 */
struct sdp_zpages {
	struct completion over;
	unsigned long addr;
	u32 len;
	u32 done;
	u32 sent;
	u32 written;
	bool write;
	bool async;
	struct sk_buff *msg;
	const struct sdp_guard_ops *guard_ops;
	struct sdp_guard *guard;
	u32 first;
	u32 guarded;
	u32 changed;
	struct mmpin mmp;
	u32 charged;
	struct sg_table sgt;
	u32 nents;
	struct list_head node;
	enum sdp_zsend_state state;
	bool straight;
	bool keyed;
	u32 start;
	struct ib_mr *mr;
	unsigned long since;
	struct scatterlist *at;
	u32 at_off;
	struct work_struct release;
	u32 nr;
	struct page *pages[];
};

/* pages.c */
void sdp_zmem_show(struct seq_file *seq);
struct sdp_zpages *sdp_zpages_alloc(struct sdp_zcopy *z, unsigned long addr,
				    u32 len);
bool sdp_zpages_fill(struct sdp_zcopy *z, struct sdp_zpages *zp, unsigned int *turn,
		     bool (*get)(struct sdp_zpages *zp));
struct sdp_zpages *sdp_zpages_pin(struct sdp_zcopy *z, unsigned long addr,
				  u32 len, enum sdp_zpages_use use);
bool sdp_zpages_map(struct sdp_zcopy *z, struct sdp_zpages *zp,
		    enum dma_data_direction dir);
void sdp_zpages_unmap(struct sdp_zcopy *z, struct sdp_zpages *zp,
		      enum dma_data_direction dir);
void sdp_zpages_wait(struct sdp_zcopy *z, struct sdp_zpages *zp,
		     unsigned long limit);
void sdp_zpages_free(struct sdp_zpages *zp);
void sdp_zpages_drop(struct sdp_zcopy *z, struct sdp_zpages *zp);

#endif /* _SDP_ZCOPY_PAGES_H */
