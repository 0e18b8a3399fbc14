/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Zero copy: the sender lets the peer read user pages, the receiver reads them straight
 * into user pages of its own.  The sender's call waits for that (ZSDP), or returns at
 * once (AZ-SDP).
 * Documentation/protocol/zero-copy.rst explains it.
 */
#ifndef _SDP_ZCOPY_H
#define _SDP_ZCOPY_H

#include <linux/bits.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/sdp.h>
#include <linux/sizes.h>
#include <linux/skbuff.h>
#include <linux/sockptr.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include <rdma/rw.h>

#include "stream/stream.h"
#include "pages.h"
#include "sinkavail.h"
#include "state.h"

struct iov_iter;
struct msghdr;
struct sock;
struct ubuf_info;

/* Bytes that are advertised at once, and that one read brings. */
#define SDP_ZCOPY_BYTES		SZ_1M
#define SDP_ZCOPY_READ_BYTES	SZ_256K
/* Pages that they may lie in: user memory seldom begins with one. */
#define SDP_ZCOPY_PAGES		(SDP_ZCOPY_BYTES / PAGE_SIZE + 1)
#define SDP_ZCOPY_READ_PAGES	(SDP_ZCOPY_READ_BYTES / PAGE_SIZE + 1)
/* Reads that are in flight at once. */
#define SDP_ZCOPY_READS		4U
/* Work requests for each, even if each page has a place of its own. */
#define SDP_ZCOPY_READ_WRS	12U
/* Work requests that register the memory to read to, where devices need that. */
#define SDP_ZCOPY_REG_WRS	3U

/*
 * How long a peer may take to read some of what is advertised to it.  An application
 * that does not read costs its peer this once; then writes are copied for a while.  One
 * that has taken longer, because it or its host is busy, gets more time, up to a limit.
 */
#define SDP_ZCOPY_PATIENCE	max(HZ / 20, 2)
#define SDP_ZCOPY_PATIENCE_MAX	(10 * SDP_ZCOPY_PATIENCE)

/**
 * struct sdp_backoff - how long to leave alone what has failed
 * @skip: chances that are passed over before the next is taken
 * @step: what @skip was set to
 */
struct sdp_backoff {
	u32 skip;
	u32 step;
};

/* Pieces of memory whose reuse is noticed. */
#define SDP_ZSENT_BITS		4
#define SDP_ZSENT		BIT(SDP_ZSENT_BITS)

/* After a failure one chance is passed over, then two, and so on up to this. */
#define SDP_BACKOFF_STEP_MAX	256U

/* Whether this chance is to be passed over. */
static inline bool sdp_backoff_skips(struct sdp_backoff *b)
{
	if (!b->skip)
		return false;
	b->skip--;
	return true;
}

static inline void sdp_backoff_learn_from(struct sdp_backoff *b, bool good, u32 first)
{
	b->step = good ? 0 : clamp(b->step * 2, first, SDP_BACKOFF_STEP_MAX);
	b->skip = b->step;
}

static inline void sdp_backoff_learn(struct sdp_backoff *b, bool good)
{
	sdp_backoff_learn_from(b, good, 1);
}

/* Says for how long, and why, what was just learned turns zero copy off. */
#define sdp_zcopy_tell(z, why, b)					\
do {									\
	u32 __skip = (b)->skip;						\
									\
	if (__skip)							\
		sdp_dbg((z)->st->sk, "no zero copy for %u writes: %s", __skip, why);	\
} while (0)

/*
 * How long a read that waits has its memory pinned for the peer to write to; then it waits
 * on without.
 */
#define SDP_SINK_HOLD		(5 * HZ)

/**
 * struct sdp_zread - pages that are being read into
 * @zp: the pages
 * @rw: the requests that do it
 */
struct sdp_zread {
	struct sdp_zpages *zp;
	struct rdma_rw_ctx rw;
};

/**
 * struct sdp_zcopy - zero copy of a connection (socket lock)
 * @st: the connection's stream
 * @direct_payload: pages that are sent as messages, or what the peer has refused to read
 * @finished: the last message of these has left, or that says they were written
 * @revoked: a key has been invalidated
 * @writable_ended: likewise, that of @writable
 * @sends: pages that are sent, in the order of the stream.  Either all of them are
 *	asynchronous, or there is one for which a call waits.
 * @readers: calls that sleep and could read without a copy; theirs, whatever
 *	becomes of the connection
 * @takers: calls that sleep until there is something to read, which they take;
 *	likewise
 * @writers: calls that sleep until more pages may be sent; likewise
 * @reading: a call reads without a copy, or gets the memory for it; likewise
 * @settling: calls that wait for what was said to be read, so that no other read returns
 *	early; likewise
 * @on: this end takes part
 * @ends_keys: the peer wants the reader to invalidate its keys
 * @source: what is advertised
 * @sink: what the peer advertises
 * @finishes: how many were, wraps
 * @next: the first of them that are not all posted as messages, NULL if all are
 * @adverts: how many of them are not straight
 * @refused: of these, how many are not to be read any more
 * @mrs: keys of those, which take turns; allocated when first used
 * @mr_turn: whose turn it is, wraps
 * @unsent_bytes: bytes of those that are straight that are not posted yet
 * @advertised: value of the source's counter when all that was advertised is read
 * @reads: pages that are being read into, in the order of the stream; those that are
 *	waited for are one call's; @read_head and @read_tail count them
 * @read_cqe: their completion
 * @reads_done: how many have completed; written by the completion handler only
 * @pace: how long the peer took to read pages, jiffies
 * @unread: large writes that are copied, because the peer did not read one
 * @async: large writes return at once
 * @watched: how far pages that no call waits for had come at the last check
 * @watched_at: when they were first seen there, jiffies
 * @touched: those that are copied, because user space has written to its
 *	memory before it was sent
 * @dear: those that are copied, because protection costs the program more, see
 *	zcopy/cost.c
 * @sent: memory that was sent, see zcopy/cost.c
 * @sender: thread that has sent it last, and @sender_faults, its page faults until then
 * @unshared: pages that reads have made writable since then
 * @dears: writes, one after the other, that were dearer than copies
 * @unsent: reads to memory that is not looked at, because it was not sent before
 * @unhidden: reads that wait, because memory could not be put out of reach
 * @lost: bytes that were said to be read have never come
 * @sinkadvert: memory of a call that reads, which the peer may write to
 * @sinktarget: likewise at the peer
 * @writable: that memory of ours, the call's; NULL if there is none
 * @writable_mr: its key; allocated when first used
 * @writable_ending: the key is being invalidated
 * @turn_out: what had been sent when it was the peer's turn to send
 * @turn_start: and received; and @turn_len, in its turn before
 * @unwritten: calls that do not advertise theirs, because the peer did not write to it
 */
struct sdp_zcopy {
	struct sdp_stream *st;
	struct sdp_payload direct_payload;
	struct sdp_done finished;
	struct sdp_done revoked;
	struct sdp_done writable_ended;
	struct list_head sends;
	u32 readers;
	u32 takers;
	u32 writers;
	u32 settling;
	bool reading;
	bool on;
	bool ends_keys;
	struct sdp_zsource source;
	struct sdp_zsink sink;
	u32 finishes;
	struct sdp_zpages *next;
	u32 adverts;
	u32 refused;
	struct ib_mr *mrs[SDP_ZCOPY_ADVERTS];
	u32 mr_turn;
	u32 unsent_bytes;
	u32 advertised;
	struct sdp_zread reads[SDP_ZCOPY_READS];
	u32 read_head;
	u32 read_tail;
	struct ib_cqe read_cqe;
	u32 reads_done;
	struct sdp_zpace pace;
	struct sdp_backoff unread;
	bool async;
	u32 watched;
	unsigned long watched_at;
	struct sdp_backoff touched;
	struct sdp_backoff dear;
	u32 sent[SDP_ZSENT];
	pid_t sender;
	u32 sender_faults;
	u32 unshared;
	u32 dears;
	struct sdp_backoff unsent;
	struct sdp_backoff unhidden;
	bool lost;
	struct sdp_sinkadvert sinkadvert;
	struct sdp_sinktarget sinktarget;
	struct sdp_zpages *writable;
	struct ib_mr *writable_mr;
	bool writable_ending;
	u64 turn_out;
	u64 turn_start;
	u64 turn_len;
	struct sdp_backoff unwritten;
};

/* Whether there are pages that are being read into. */
static inline bool sdp_zrecv_busy(const struct sdp_zcopy *z)
{
	return z->read_head != z->read_tail;
}

/* Whether more can be read at once. */
static inline bool sdp_zrecv_has_room(const struct sdp_zcopy *z)
{
	return z->read_head - z->read_tail < SDP_ZCOPY_READS;
}

/*
 * Whether a call could begin to read; no second one beside the first, but beside what is
 * read for calls that have returned.
 */
static inline bool sdp_zrecv_ready(const struct sdp_zcopy *z)
{
	return !z->reading && sdp_zrecv_has_room(z) && sdp_zsink_readable(&z->sink);
}

/* Whether reads are to return before what they read is there. */
static inline bool sdp_zasync_read_wanted(const struct sdp_zcopy *z)
{
	return sdp_option_zcopy_recv(z->st->sk) == SDP_ZCOPY_ASYNC;
}

/* Whether there is something to say of memory that either end lets the other write to. */
static inline bool sdp_sink_owes(const struct sdp_zcopy *z)
{
	return z->writable || z->sinkadvert.cancel_due || z->sinktarget.ack_due;
}

/* Whether the peer writes no more to a call's memory; without the lock a hint. */
static inline bool sdp_sink_is_over(const struct sdp_zcopy *z, const struct sdp_zpages *zp)
{
	return READ_ONCE(z->writable) != zp ||
	       READ_ONCE(z->sinkadvert.state) == SDP_SINKADVERT_OVER;
}

/* How much a read that does not wait finds that is only advertised. */
static inline u32 sdp_zasync_read_inq(const struct sdp_zcopy *z)
{
	return unlikely(sdp_zasync_read_wanted(z)) && sdp_zrecv_ready(z) ?
	       sdp_zsink_readable(&z->sink) : 0;
}

/* Whether that is as much as poll() is to report. */
static inline bool sdp_zasync_read_pollable(const struct sdp_zcopy *z)
{
	u32 inq = sdp_zasync_read_inq(z);

	return inq && inq >= (u32)READ_ONCE(z->st->sk->sk_rcvlowat);
}

/* Whether there are pages that are sent. */
static inline bool sdp_zsend_busy(const struct sdp_zcopy *z)
{
	return !list_empty(&z->sends);
}

/* How many bytes have arrived without the send ring, wraps. */
static inline u32 sdp_zsend_passed(const struct sdp_zcopy *z)
{
	return z->source.done + z->st->direct_acked;
}

/*
 * Whether pages go before what is in the send ring.  Those that are posted do not: what
 * is posted behind them arrives behind them.
 */
static inline bool sdp_zsend_ahead(const struct sdp_zcopy *z)
{
	return sdp_zsource_busy(&z->source) || (z->st->async_out && z->next);
}

/* Whether a call waits for them. */
static inline bool sdp_zsend_waited_for(const struct sdp_zcopy *z)
{
	return sdp_zsend_busy(z) && !z->st->async_out;
}

/*
 * Whether so much has left that a waiting writer is woken.  One wake-up for each would
 * have writer and reader wait for each other in turns.
 */
static inline bool sdp_zsend_has_drained(const struct sdp_zcopy *z)
{
	if (!READ_ONCE(z->adverts))
		return READ_ONCE(z->st->async_bytes) <= sdp_tx_limit(z->st) / 2;
	return READ_ONCE(z->adverts) <= READ_ONCE(z->source.max) / 2;
}

/* How long the peer may read nothing before the advert is cancelled. */
static inline u32 sdp_zsend_patience(const struct sdp_zcopy *z)
{
	return clamp_t(u32, sdp_zpace_bound(&z->pace), SDP_ZCOPY_PATIENCE,
		       SDP_ZCOPY_PATIENCE_MAX);
}

/* Those that were sent first, if there are any. */
static inline struct sdp_zpages *sdp_zsend_oldest(const struct sdp_zcopy *z)
{
	return list_first_entry(&z->sends, struct sdp_zpages, node);
}

/**
 * struct sdp_zmsg - a write, which may be one with MSG_ZEROCOPY
 * @epoch: the connection that it goes to, sdp_stream::epoch
 * @uarg: notifies user space when its memory is free; NULL if it is none
 * @borrowed: that is the caller's
 * @straight: what is sent without a copy is not advertised, see sdp_zdirect_suits()
 * @again: its memory was sent before, see zcopy/cost.c
 * @guarded: how many pages of it are protected
 * @changed: entries of page tables that allowed writing to them
 * @flushes: times that another processor was interrupted for that
 * @faults: page faults that the thread had since it has last sent something
 * @sent: bytes that were sent without a copy
 */
struct sdp_zmsg {
	u32 epoch;
	struct ubuf_info *uarg;
	bool borrowed;
	bool straight;
	bool again;
	u32 guarded;
	u32 changed;
	u32 flushes;
	u32 faults;
	size_t sent;
};

/**
 * sdp_zcopy_adverts() - what Hello and HelloAck are to say
 * @z: connection for which sdp_zcopy_begin() was called
 *
 * Return: advertisements that this end holds; a Hello may not say none.
 */
static inline u32 sdp_zcopy_adverts(const struct sdp_zcopy *z)
{
	return z->on ? SDP_ZCOPY_ADVERTS : 1;
}

/**
 * sdp_zcopy_cap() - what else they are to say
 * @z: connection for which sdp_zcopy_begin() was called
 *
 * Return: SDP_CAP_*: devices that register memory by work requests let the peer
 * invalidate it as well.
 */
static inline u8 sdp_zcopy_cap(const struct sdp_zcopy *z)
{
	return z->on ? SDP_CAP_INVALIDATE : 0;
}

/**
 * sdp_zsync_possible() - whether a write may be sent without a copy
 * @z: zero copy of a locked socket; sdp_zcopy_wanted() said yes
 * @timeo: how long it may wait
 *
 * A non-blocking write cannot: the pages are in use until the peer has read them.
 */
static inline bool sdp_zsync_possible(const struct sdp_zcopy *z, long timeo)
{
	sdp_owned(z->st->sk);
	return timeo && !sdp_zsend_busy(z);
}

/**
 * sdp_zasync_possible() - whether a write may return before it is sent
 * @z: zero copy of a locked socket; sdp_zcopy_wanted() said yes
 * @zm: the write, with MSG_ZEROCOPY, which needs no protection, or without
 */
static inline bool sdp_zasync_possible(const struct sdp_zcopy *z,
				       const struct sdp_zmsg *zm)
{
	sdp_owned(z->st->sk);
	return !sdp_zsend_waited_for(z) && (zm->uarg || z->async);
}

u32 sdp_zwrite_size(const struct sdp_zcopy *z);

/* How much memory of a reader's a new write may go to, which is behind all others. */
static inline u32 sdp_zwrite_room(const struct sdp_zcopy *z)
{
	return z->next ? 0 : sdp_zwrite_size(z);
}

/*
 * Whether a reader waits for it with memory of its own, or the peer reads what is
 * advertised to it, and this write is worth a try.
 */
static inline bool sdp_zsend_offers(struct sdp_zcopy *z)
{
	sdp_owned(z->st->sk);
	return sdp_zwrite_room(z) || (z->source.max && !sdp_backoff_skips(&z->unread));
}

/* Shorter writes are always sent straight from their pages; 0 = none is. */
static inline u32 sdp_zdirect_most(const struct sdp_zcopy *z)
{
	return READ_ONCE(sdp_net(sock_net(z->st->sk))->zcopy_direct);
}

/**
 * sdp_zcopy_mode() - what a connection uses
 * @z: zero copy of a socket, locked or not
 *
 * Return: the mode; SDP_ZCOPY_OFF also if the device cannot do it, or, for a write that
 * waits until its memory is read, the peer.
 */
static inline enum sdp_zcopy_mode sdp_zcopy_mode(const struct sdp_zcopy *z)
{
	bool async = READ_ONCE(z->async);

	if (!READ_ONCE(z->on) ||
	    (!READ_ONCE(z->source.max) && !(async && sdp_zdirect_most(z))))
		return SDP_ZCOPY_OFF;
	return async ? SDP_ZCOPY_ASYNC : SDP_ZCOPY_SYNC;
}

/* setup.c */
const char *sdp_zcopy_mode_name(enum sdp_zcopy_mode mode);
int sdp_zcopy_mode_find(const char *name);
int sdp_zcopy_recv_find(const char *name);
bool sdp_zcopy_device(const struct sdp_device *dev);
void sdp_zcopy_begin(struct sdp_zcopy *z);
void sdp_zcopy_choose(struct sdp_zcopy *z, bool ours, u8 cap, u32 max_adverts);
void sdp_zcopy_free(struct sdp_zcopy *z);
u32 sdp_zcopy_thresh(const struct sdp_zcopy *z);
u32 sdp_zcopy_wanted(struct sdp_zcopy *z, const struct msghdr *msg);
u32 sdp_zcopy_segment(const struct iov_iter *iter, unsigned long *addr);

/* advert.c */
u32 sdp_zcopy_max_pages(const struct sdp_zcopy *z);
void sdp_zsend_prepare(struct sdp_zcopy *z);
void sdp_zsend_advance(struct sdp_zcopy *z);
void sdp_zsend_refuse(struct sdp_zcopy *z, struct sdp_zpages *zp, enum sdp_zsend_state state);
u32 sdp_zsend_fit(const struct sdp_zcopy *z, unsigned long addr, u32 len);
bool sdp_zsend_add(struct sdp_zcopy *z, struct sdp_zpages *zp, bool straight);
bool sdp_zsend_open(const struct sdp_zcopy *z);
bool sdp_zsend_may_add(const struct sdp_zcopy *z, bool straight);
bool sdp_zsend_revoke(struct sdp_zcopy *z);
bool sdp_zsend_push(struct sdp_zcopy *z);
void sdp_zsend_key_ended(struct sdp_zcopy *z, u32 key);
int sdp_zcopy_answered(struct sdp_zcopy *z, const struct sdp_msg *msg);
bool sdp_zsend_nudge(struct sdp_zcopy *z);
void sdp_zsend_finish(struct sdp_zcopy *z);
void sdp_zsend_free(struct sdp_zcopy *z);

/* direct.c */
bool sdp_zdirect_suits(struct sdp_zcopy *z, u32 len);
u32 sdp_zdirect_left(const struct sdp_zcopy *z);
u32 sdp_zdirect_fit(const struct sdp_zcopy *z, u32 len);
int sdp_zdirect_take(struct sdp_zcopy *z, u32 len, struct ib_sge *sge);
void sdp_zdirect_prepare(struct sdp_zcopy *z);

/* write.c */
bool sdp_zwrite_possible(const struct sdp_zcopy *z, const struct sdp_zpages *zp);
bool sdp_zwrite_post(struct sdp_zcopy *z);

/* sink.c */
void sdp_sink_prepare(struct sdp_zcopy *z);
struct sdp_zpages *sdp_sink_offer(struct sdp_zcopy *z, const struct iov_iter *iter, u32 epoch);
u32 sdp_sink_withdraw(struct sdp_zcopy *z, struct sdp_zpages *zp, u32 epoch);
bool sdp_sink_push(struct sdp_zcopy *z);
void sdp_sink_key_ended(struct sdp_zcopy *z, u32 key);
void sdp_sink_passed(struct sdp_zcopy *z);
int sdp_sink_heard(struct sdp_zcopy *z, const struct sdp_msg *msg);
void sdp_sink_nudge(struct sdp_zcopy *z);
void sdp_sink_free(struct sdp_zcopy *z);

/* sync.c */
u32 sdp_zsync_send(struct sdp_zcopy *z, struct msghdr *msg,
		   const struct sdp_zmsg *zm, long *timeo);

/* async.c */
bool sdp_zasync_should_copy(struct sdp_zcopy *z, u32 len, const struct sdp_zmsg *zm);
u32 sdp_zasync_send(struct sdp_zcopy *z, struct msghdr *msg,
		    struct sdp_zmsg *zm, long *timeo);
void sdp_zasync_over(struct sdp_zcopy *z, struct sdp_zpages *zp);
void sdp_zasync_watch(struct sdp_zcopy *z);

/* cost.c */
void sdp_zcost_count(struct sdp_zcopy *z, struct sdp_zmsg *zm, const struct sdp_zpages *zp);
void sdp_zcost_learn(struct sdp_zcopy *z, const struct sdp_zmsg *zm);
void sdp_zcost_forget(struct sdp_zcopy *z);

/* msg.c */
int sdp_zmsg_begin(struct sdp_zmsg *zm, struct sdp_zcopy *z, struct msghdr *msg,
		   size_t len, u32 epoch);
void sdp_zmsg_end(struct sdp_zmsg *zm, size_t done);
struct sdp_zpages *sdp_zmsg_pin(struct sdp_zmsg *zm, struct sdp_zcopy *z,
				unsigned long addr, u32 len);
int sdp_zmsg_recv(struct sdp_zcopy *z, struct msghdr *msg);

/* read.c */
void sdp_zrecv_done(struct ib_cq *cq, struct ib_wc *wc);
void sdp_zrecv_reap(struct sdp_zcopy *z);
void sdp_zrecv_unmap_all(struct sdp_zcopy *z);
void sdp_zrecv_free(struct sdp_zcopy *z);
void sdp_zrecv_offered(struct sdp_zcopy *z);
void sdp_zrecv_asked(struct sdp_zcopy *z);
void sdp_zrecv_answer(struct sdp_zcopy *z);
void sdp_zrecv_want_copy(struct sdp_zcopy *z);
u32 sdp_zrecv(struct sdp_zcopy *z, struct iov_iter *iter, bool may, bool wait, u32 want);
bool sdp_zrecv_push(struct sdp_zcopy *z);
void sdp_zrecv_count(struct sdp_zcopy *z, u32 len);
void sdp_zrecv_unshare(struct sdp_zcopy *z, unsigned long addr, u32 len);
void sdp_zrecv_unguard(struct sdp_zcopy *z, const struct iov_iter *iter, u32 len);

/* async_read.c */
bool sdp_zasync_read_possible(const struct sdp_zcopy *z);
struct sdp_zpages *sdp_zasync_read_protect(struct sdp_zcopy *z, unsigned long addr, u32 len);
void sdp_zasync_read_begun(struct sdp_zcopy *z, struct sdp_zpages *zp);
void sdp_zasync_read_over(struct sdp_zcopy *z, struct sdp_zpages *zp);
void sdp_zasync_read_watch(struct sdp_zcopy *z);
bool sdp_zasync_read_has(const struct sdp_zcopy *z, unsigned long addr, size_t len);
void sdp_zasync_read_await(struct sdp_zcopy *z, unsigned long addr, size_t len);
void sdp_zasync_read_settle(struct sdp_zcopy *z);
int sdp_zasync_read_end(struct sdp_zcopy *z, int reason);

#endif /* _SDP_ZCOPY_H */
