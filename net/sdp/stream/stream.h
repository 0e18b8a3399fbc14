/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The copy path: the send ring and the messages made of it, the receive buffers, the
 * receive ring, urgent data.
 */
#ifndef _SDP_STREAM_H
#define _SDP_STREAM_H

#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>

#include "wire/wire.h"
#include "base/base.h"
#include "flow/flow.h"
#include "rdma/rdma.h"
#include "oob.h"
#include "pair.h"
#include "rcvbuf.h"
#include "ring.h"

/* Send work requests that control messages may use when data has the rest. */
#define SDP_TX_RESERVED		4
/* Messages that may wait, and slots for posted work requests. */
#define SDP_TX_DEPTH		64
/*
 * Work requests that are posted at most.  With the one that marks a drained
 * queue, and the one that providers keep free, that is a power of two, to which
 * they round up.
 */
#define SDP_TX_WRS		62
/* The longest header that we send, that of RingAvail, and of SinkAvail. */
#define SDP_TX_HDR_LEN		(SDP_BSDH_LEN + SDP_RAVAH_LEN)
/* One piece for the header, the others for ranges of the send ring. */
#define SDP_TX_MAX_SGE		6
/* Or for 64 KiB of user space, which seldom begin with a page, where devices allow it. */
#define SDP_TX_DIRECT_SGE	18
/* The header and the payload of a received message go to separate pieces. */
#define SDP_RX_SGE		2

/**
 * struct sdp_rx_buf - one receive buffer
 * @list: place in the queue of unread data, or among those without memory
 * @page: payload memory, NULL = none; then only a header fits in, or what was
 *	written into the ring takes it
 * @size: payload bytes that @page takes
 * @page_dma: DMA address of @page
 * @accounted: @page is charged to a memory control group, and not by way of the socket
 *	alone
 * @bsdh: where the message's header lands
 * @bsdh_dma: DMA address of @bsdh
 * @byte_len: length of the received message, header included
 * @imm: immediate data in place of a header; then @byte_len is the length of
 *	the payload
 * @immediate: the message has such
 * @written: its payload was written into the ring
 * @ended_key: a key that the device has invalidated with the message
 * @ends_key: there is one
 * @stamp: when it arrived, 0 unless user space wants to know
 * @off: where in @page the unread payload starts
 * @len: bytes of unread payload
 */
struct sdp_rx_buf {
	struct list_head list;
	struct page *page;
	u32 size;
	u64 page_dma;
	bool accounted;
	u8 *bsdh;
	u64 bsdh_dma;
	u32 byte_len;
	u32 imm;
	bool immediate;
	bool written;
	bool ends_key;
	u32 ended_key;
	ktime_t stamp;
	u32 off;
	u32 len;
};

/**
 * struct sdp_rx_slots - descriptions of receive buffers
 * @bufs: one for each buffer
 * @count: their number
 * @hdr: memory of their headers
 * @hdr_dma: DMA address of @hdr
 */
struct sdp_rx_slots {
	struct sdp_rx_buf *bufs;
	u32 count;
	void *hdr;
	u64 hdr_dma;
};

/* Arrivals whose time is remembered; if there are more, the last two share. */
#define SDP_RX_STAMPS	16

/**
 * struct sdp_rx_stamp - when data of the ring arrived
 * @end: position behind it
 * @time: when
 */
struct sdp_rx_stamp {
	u32 end;
	ktime_t time;
};

/**
 * struct sdp_rx_ring - the ring that the peer writes to
 * @pos: positions; its size is 0 until the ring is advertised
 * @size: bytes of the memory, or of what is wanted if there is no @mr
 * @told_at: when space was advertised last
 * @spare: receive buffers posted for which there is no window, because messages
 *	took several
 * @window: bytes of a virtual window that the administrator has wanted
 * @wanted: it is to be allocated when there is a reason
 * @need: whether there is one
 * @chunk: bytes in each piece of the memory
 * @sg: the pieces
 * @nr_sg: their number
 * @mr: allows the peer to write to them
 * @slots: receive buffers beyond a connection's first ones
 * @stamps: arrivals, if user space wants to know
 * @stamp_head: count of these ever noted
 * @stamp_tail: count of these that are over
 */
struct sdp_rx_ring {
	struct sdp_inring pos;
	ktime_t told_at;
	u32 size;
	u32 spare;
	u32 window;
	bool wanted;
	struct sdp_need need;
	u32 chunk;
	struct scatterlist *sg;
	u32 nr_sg;
	struct ib_mr *mr;
	struct sdp_rx_slots slots;
	struct sdp_rx_stamp stamps[SDP_RX_STAMPS];
	u32 stamp_head;
	u32 stamp_tail;
};

/**
 * struct sdp_rx_ahead - what was placed in a program's memory, see integrated_rx.c
 * @read: bytes that were read of the message that is coming
 * @last: length of the last messages, which counts for less with each
 * @pause: jiffies until when nothing is placed so
 */
struct sdp_rx_ahead {
	u32 read;
	u32 last;
	unsigned long pause;
};

/**
 * struct sdp_rx - the receive side of a connection
 * @first: all receive buffers as long as there is no ring
 * @unused: those without memory, with a ring its own as well
 * @posted: ring of buffers in the order in which they were posted
 * @mask: size of @posted minus one
 * @slots: how many there may be of all kinds, for so many the queue pair is made
 * @rb: how many buffers have memory, and how much
 * @post_head: count of buffers ever posted (socket lock)
 * @given: of these, how many the device has been given, or the other end in this kernel
 *	(socket lock)
 * @done: count of completions; written by the completion handler only, or by that end
 * @seen: count of completions processed (socket lock)
 * @queue: buffers with unread payload, in the order of the stream; what is in
 *	@ring comes behind it
 * @ring: ring that the peer writes to
 * @ahead: what was read before its message has come
 * @bytes: unread payload in @queue and @ring
 * @copied: stream position of the first unread byte, wraps
 * @relief: SDP_TIMER_RELIEF is about to check whether the peer has room
 * @relief_copied: @copied when it was armed
 * @packing: user space does not read, and payloads share buffers
 * @oob: urgent data
 */
struct sdp_rx {
	struct sdp_rx_slots first;
	struct list_head unused;
	struct sdp_rx_buf **posted;
	u32 mask;
	u32 slots;
	struct sdp_rcvbuf rb;
	u32 post_head;
	u32 given;
	u32 done;
	u32 seen;
	struct list_head queue;
	struct sdp_rx_ring ring;
	struct sdp_rx_ahead ahead;
	u32 bytes;
	u32 copied;
	bool relief;
	u32 relief_copied;
	bool packing;
	struct sdp_oob oob;
};

/**
 * struct sdp_tx_msg - a message that waits for credits
 * @len: payload bytes, which follow those of the message before it in the ring
 * @open: more data may be appended
 * @urgent: the last byte is urgent
 */
struct sdp_tx_msg {
	u32 len;
	bool open;
	bool urgent;
};

struct sdp_stream;

/**
 * struct sdp_done - what is to be done when a work request has completed
 * @done: called with the socket locked, by its owner or in softirq
 *
 * It is part of a structure of the poster, as ib_cqe is.
 */
struct sdp_done {
	void (*done)(struct sdp_done *done);
};

/**
 * struct sdp_payload - where the payload of messages is that is not in the send ring
 * @map: describe so many bytes, from so many on behind those that are posted; returns
 *	how many pieces these are, of which one work request takes all and a header
 * @consume: the bytes are posted; returns what is to be done once they have left, or
 *	NULL
 */
struct sdp_payload {
	int (*map)(struct sdp_payload *payload, u32 off, u32 len, struct ib_sge *sge);
	struct sdp_done *(*consume)(struct sdp_payload *payload, u32 len);
};

/**
 * struct sdp_tx_wr - a posted send work request
 * @len: bytes of the ring that are free once this one completed
 * @direct: bytes of pages that no call waits for, that have arrived then
 * @integrated: bytes in the provider's memory, likewise
 * @data: it has payload, in the ring or elsewhere
 * @signaled: a completion will come
 * @done: what is to be done then, may be NULL
 */
struct sdp_tx_wr {
	u32 len;
	u32 direct;
	u32 integrated;
	bool data;
	bool signaled;
	struct sdp_done *done;
};

/**
 * enum sdp_tx_intent - what user space has said about what it writes next
 * @SDP_INTENT_NONE: nothing
 * @SDP_INTENT_WRITE: a write goes on, and appends to the last message
 * @SDP_INTENT_MORE: it has promised more (MSG_MORE), and nothing has happened since that
 *	would make waiting for it wrong
 */
enum sdp_tx_intent {
	SDP_INTENT_NONE,
	SDP_INTENT_WRITE,
	SDP_INTENT_MORE,
};

/**
 * struct sdp_tx - the send side of a connection
 * @ring: positions of the byte ring that holds unsent and unacknowledged data
 * @chunks: the ring's memory, allocated when first used
 * @chunk_dma: DMA addresses of @chunks
 * @nr_chunks: number of elements of both
 * @nr_used: how many have memory
 * @starved: no memory for more of them, wait until the ring is empty
 * @quiet_head: position of the ring's head when it was last looked at
 * @wait: messages that wait for credits; @wait_head and @wait_tail count them
 * @wr: posted work requests; @wr_head counts posted, @wr_tail completed ones
 * @signaled: count of work requests posted that will have a completion
 * @signaled_done: count of completions; written by the completion handler only, or where
 *	no device is between by who posts
 * @signaled_seen: count of completions processed (socket lock)
 * @hdr: headers, one for each element of @wr
 * @hdr_dma: DMA address of @hdr
 * @peer: the peer's receive buffers
 * @out: the peer's receive ring, size 0 until it is advertised
 * @out_addr: remote address of its first byte
 * @out_rkey: key to it
 * @burst: what the device has been given in one go
 * @waits_for: why what is first in line waits
 * @intent: what user space has said about what it writes next
 * @pushing: sdp_output() is at work
 * @answers: the program has read since the last message with payload was sent
 * @room_wanted: a writer waits until the peer has room for so many bytes, 0 = none does
 * @patient_from: jiffies from when on that is worth it over a wire
 * @integrated: bytes that the provider has copied, ever, wraps
 * @integrated_acked: of these, how many have arrived
 * @ask_again: jiffies when what @peer refused may be asked for once more
 * @max_payload: how long a message may be
 * @packet: how much of it fits into a packet; 0 = its header is never immediate
 *	data
 * @reg_first: registrations that leave with the next message
 * @reg_last: the last of them
 * @since_signal: work requests posted since the last signaled one
 * @bytes_since_signal: bytes posted since the last signaled work request
 * @empty_due: the peer waits for a message, be it an empty one
 * @last_seq: sequence number of the last message that has to arrive: one with
 *	payload, RdmaWrCompl or DisConn
 * @probing: a probe is in flight, see sdp_tx_probe()
 * @probe_at: jiffies when it was posted
 * @since: jiffies when the oldest byte in @ring was written, or @ring's tail
 *	moved
 * @urgent: count of waiting messages that are urgent
 * @announced: the peer knows of them
 */
struct sdp_tx {
	struct sdp_ring ring;
	void **chunks;
	u64 *chunk_dma;
	u32 nr_chunks;
	u32 nr_used;
	bool starved;
	u32 quiet_head;
	struct sdp_tx_msg *wait;
	u32 wait_head;
	u32 wait_tail;
	struct sdp_tx_wr *wr;
	u32 wr_head;
	u32 wr_tail;
	u32 signaled;
	u32 signaled_done;
	u32 signaled_seen;
	u8 (*hdr)[SDP_TX_HDR_LEN];
	u64 hdr_dma;
	struct sdp_peerbuf peer;
	struct sdp_outring out;
	u64 out_addr;
	u32 out_rkey;
	struct sdp_burst burst;
	enum sdp_tx_wait waits_for;
	enum sdp_tx_intent intent;
	bool pushing;
	bool answers;
	u32 room_wanted;
	unsigned long patient_from;
	u32 integrated;
	u32 integrated_acked;
	unsigned long ask_again;
	u32 max_payload;
	u32 packet;
	struct ib_send_wr *reg_first;
	struct ib_send_wr *reg_last;
	u32 since_signal;
	u32 bytes_since_signal;
	bool empty_due;
	u32 last_seq;
	bool probing;
	unsigned long probe_at;
	unsigned long since;
	u32 urgent;
	bool announced;
};

/**
 * struct sdp_conn_stats - what has happened on a connection (socket lock)
 * @bytes_out: payload posted
 * @bytes_acked: payload known to have arrived at the peer
 * @bytes_in: payload received
 * @msgs_out: messages posted
 * @msgs_in: messages received
 * @data_out: of these, with payload
 * @data_in: of these, with payload
 * @credit_updates: messages sent only to return credits
 * @credit_stalls: times that data had to wait for credits, or for space
 * @send_waits: times that a writer had to wait for room
 * @probes: zero-byte writes posted
 * @coalesced: writes that were coalesced with a message that waited
 * @zcopy_out: payload written without a copy
 * @zcopy_in: payload read without a copy
 * @zcopy_refusals: adverts of the peer that came by copy
 * @zcopy_cancels: adverts cancelled
 * @async_out: payload written without a copy or a wait
 * @guard_refusals: writes whose memory could not be protected
 * @guard_faults: pages that were written to before they were sent
 * @guard_waits: of these, those that a writer had to wait for
 * @guard_copies: of these, those that were copied because it took too long
 * @flushes: what has waited for the peer's space has left, by its cause
 * @fill: how full the receive buffers were when data came, in eighths
 * @last_out: jiffies when payload was posted last
 * @last_in: jiffies when payload was received last
 * @last_heard: jiffies of the last sign of life from the peer
 */
struct sdp_conn_stats {
	u64 bytes_out;
	u64 bytes_acked;
	u64 bytes_in;
	u64 msgs_out;
	u64 msgs_in;
	u64 data_out;
	u64 data_in;
	u64 credit_updates;
	u64 credit_stalls;
	u64 send_waits;
	u64 probes;
	u64 coalesced;
	u64 zcopy_out;
	u64 zcopy_in;
	u64 zcopy_refusals;
	u64 zcopy_cancels;
	u64 async_out;
	u64 guard_refusals;
	u64 guard_faults;
	u64 guard_waits;
	u64 guard_copies;
	u64 flushes[__SDP_FLUSH_MAX];
	u64 fill[SDP_FILL_STEPS];
	unsigned long last_out;
	unsigned long last_in;
	unsigned long last_heard;
};

/*
 * How often a call lets completions be processed before it releases the lock.  It ends at
 * last with what there was then, however much the peer sends or reads meanwhile.
 */
#define SDP_CATCH_UPS	16

/**
 * struct sdp_stream_ops - what the layers above do for a stream
 * @may_send: whether the credits allow a message, beside what is kept for others
 * @push: post all that credits and the send queue allow; for entries, which have done
 *	all else
 * @flush: likewise, also what is held back to coalesce
 * @grow: call sdp_rx_grow() in process context; called in any
 * @catch_up: process the completions that came while a call had the socket, for
 *	sdp_stream_catch_up()
 */
struct sdp_stream_ops {
	bool (*may_send)(const struct sock *sk, enum sdp_mid mid, u32 payload_len);
	void (*push)(struct sock *sk);
	void (*flush)(struct sock *sk);
	void (*grow)(struct sock *sk);
	void (*catch_up)(struct sock *sk);
};

/**
 * struct sdp_stream - the bytes of a connection, both ways (socket lock)
 * @sk: the connection's socket
 * @link: its RDMA side
 * @ops: what the layers above do
 * @rx_cqe: completion entry of all receive work requests
 * @tx_cqe: completion entry of all send work requests
 * @probed: what ends a probe that is a work request
 * @pause: sends what is held back to coalesce; holds the socket while it is pending
 * @features: what this side's Hello offers, and once the peer's has come, what
 *	both do, SDP_FEAT_*
 * @flow: engine of flow control; before the peer's Hello the one that is wanted
 * @credit: credits
 * @stats: counters, kept until the next connection
 * @tx: send side
 * @rx: receive side
 * @rx_closed: the peer violated the protocol, its messages are dropped
 * @fin_sent: our DisConn was posted
 * @fin_acked: our DisConn arrived at the peer
 * @fin_received: the peer's DisConn arrived here
 * @fin_queued: DisConn is due as soon as all data has been posted
 * @done: the stream's end has been received, and is there to be read
 * @read_turn: reads that wait for their memory, see usercopy.c
 * @write_turn: likewise writes
 * @epoch: counts what connect() and listen() have begun, wraps: shows a call that has
 *	released the lock whether the socket is still in the same connection
 * @async_out: pieces of user memory that are sent without a copy, and that no
 *	call waits for
 * @async_bytes: bytes of these that have not arrived
 * @direct_acked: bytes of pages that have arrived in messages, wraps
 * @pair: both ends, if the other one may be in this kernel, or is; NULL else
 * @pair_end: which of them this is, enum sdp_pair_end
 */
struct sdp_stream {
	struct sock *sk;
	struct sdp_link *link;
	const struct sdp_stream_ops *ops;
	struct ib_cqe rx_cqe;
	struct ib_cqe tx_cqe;
	struct sdp_done probed;
	struct hrtimer pause;
	u16 features;
	const struct sdp_flow_ops *flow;
	struct sdp_credit credit;
	struct sdp_conn_stats stats;
	struct sdp_tx tx;
	struct sdp_rx rx;
	bool rx_closed;
	bool fin_sent;
	bool fin_acked;
	bool fin_received;
	bool fin_queued;
	bool done;
	unsigned int read_turn;
	unsigned int write_turn;
	u32 epoch;
	u32 async_out;
	u32 async_bytes;
	u32 direct_acked;
	struct sdp_pair *pair;
	u32 pair_end;
};

/* stream.c */
void sdp_stream_init(struct sdp_stream *st, struct sdp_link *link,
		     const struct sdp_stream_ops *ops);
int sdp_stream_alloc(struct sdp_stream *st);
void sdp_stream_choose(struct sdp_stream *st, u32 rcv_size, u32 bufs);
void sdp_stream_free(struct sdp_stream *st);

/* The socket is used for something new, whose epoch this returns. */
static inline u32 sdp_stream_begin(struct sdp_stream *st)
{
	WRITE_ONCE(st->epoch, st->epoch + 1);
	return st->epoch;
}

/* Whether that is still what it is used for; without the lock a hint. */
static inline bool sdp_stream_is(const struct sdp_stream *st, u32 epoch)
{
	return READ_ONCE(st->epoch) == epoch;
}

/**
 * sdp_stream_catch_up() - process the completions that came while a call had the socket
 * @st: stream of a locked socket
 *
 * For long calls, between parts of their work: the peer's credits and space are used, and
 * it is told of ours, before they end.
 *
 * Context: process context, softirqs enabled.
 */
static inline void sdp_stream_catch_up(struct sdp_stream *st)
{
	if (unlikely(test_bit(SDP_CONN_DEFERRED, &st->link->flags)))
		st->ops->catch_up(st->sk);
}

/* The @count-th message that waits for credits. */
static inline struct sdp_tx_msg *sdp_tx_msg(const struct sdp_tx *tx, u32 count)
{
	return &tx->wait[count % SDP_TX_DEPTH];
}

#include "immediate.h"
#include "rx.h"
#include "timestamp.h"
#include "tx.h"
#include "usercopy.h"

#endif /* _SDP_STREAM_H */
