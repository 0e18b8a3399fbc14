/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is being sent and received; the layer "stream" works with it.
 */
#ifndef _IWP_TRANSFER_H
#define _IWP_TRANSFER_H

#include <linux/bvec.h>
#include <linux/hrtimer.h>
#include <linux/mm_types.h>
#include <linux/workqueue.h>
#include <net/sock.h>
#include <rdma/siw-abi.h>

#include "wire/wire.h"

struct iwp_early;
struct iwp_send;

/* Pieces of pages that wait for TCP. */
#define IWP_TX_VECS		128

/**
 * struct iwp_read - a request of the peer to read
 * @req: what it wants, and where it wants it
 */
struct iwp_read {
	struct iwarp_read_req req;
};

/**
 * enum iwp_msg_source - where the payload of a message is
 * @IWP_MSG_NONE: there is no message
 * @IWP_MSG_SEND: in the pieces of a send request
 * @IWP_MSG_READ: in the peer's choice of our memory
 * @IWP_MSG_CONTROL: in the message itself
 */
enum iwp_msg_source {
	IWP_MSG_NONE,
	IWP_MSG_SEND,
	IWP_MSG_READ,
	IWP_MSG_CONTROL,
};

/**
 * struct iwp_msg - the message that is being cut into segments
 * @source: enum iwp_msg_source
 * @opcode: enum iwarp_opcode
 * @stag: tagged: where it goes; or what it invalidates
 * @to: tagged: offset of its first byte
 * @msn: untagged: its number
 * @len: bytes of payload
 * @at: how many are in segments already
 * @send: request that it belongs to, or NULL
 * @control: payload of %IWP_MSG_CONTROL
 */
struct iwp_msg {
	u8 source;
	u8 opcode;
	u32 stag;
	u64 to;
	u32 msn;
	u32 len;
	u32 at;
	struct iwp_send *send;
	u8 control[IWARP_CONTROL_MAX];
};

/**
 * struct iwp_tx - what is being sent
 * @sk: socket
 * @stream: order of messages, in both directions
 * @interval: of markers, or %IWARP_NO_MARKERS
 * @use_crc: checksums are in use
 * @busy: somebody below us in the call stack is sending
 * @rerun: he has to look once more
 * @more: there may be more to send than is in segments
 * @wait_first: nothing may be sent before something was received
 * @send_rtr: an empty write is to be sent first, so that the peer may send
 * @start_seq: TCP's number of the first byte
 * @pos: place in the stream behind the last segment
 * @seg_used: how much of a segment of TCP is in use behind the last whole one
 * @acked: place up to which the peer's TCP has everything
 * @reap_pending: a request is done that no acknowledgment tells of
 * @frag: page in which the next segment begins
 * @spare: the page of before, to be used again
 * @gather: pages of users go to TCP, and not copies
 * @vecs: pieces that TCP has not taken
 * @nr_vecs: how many
 * @nr_ready: how many of them the engine is done with
 * @ready_at: when it is done with the others, by ktime_get_ns()
 * @segs: segments that were written
 * @msg: message that is being sent
 * @reads: requests of the peer
 * @reads_size: room in @reads, a power of two
 * @reads_put: where the next one goes, not wrapped
 * @reads_get: the one to be answered next, not wrapped
 * @orq: places in the send queue of our own requests to read
 * @orq_size: room in @orq, a power of two
 * @orq_put: where the next one goes, not wrapped
 * @orq_get: the one to be answered next, not wrapped
 * @work: sends where post_send() cannot
 * @retry: sends what there was no memory for
 * @timer: goes on sending when the engine is done
 * @term_len: a TERMINATE is to be sent, of that length
 * @term: its payload
 */
struct iwp_tx {
	struct sock *sk;
	struct iwarp_stream stream;
	u32 interval;
	bool use_crc;
	bool busy;
	bool rerun;
	bool more;
	bool wait_first;
	bool send_rtr;
	u32 start_seq;
	u64 pos;
	u32 seg_used;
	u64 acked;
	bool reap_pending;
	struct page_frag frag;
	struct page_frag spare;
	bool gather;
	struct bio_vec vecs[IWP_TX_VECS];
	u32 nr_vecs;
	u32 nr_ready;
	u64 ready_at;
	u32 segs;
	struct iwp_msg msg;
	struct iwp_read *reads;
	u32 reads_size;
	u32 reads_put;
	u32 reads_get;
	u32 *orq;
	u32 orq_size;
	u32 orq_put;
	u32 orq_get;
	struct work_struct work;
	struct delayed_work retry;
	struct hrtimer timer;
	u32 term_len;
	u8 term[IWARP_TERMINATE_MAX];
};

/**
 * struct iwp_hold - what waits for receive requests
 * @enabled: the queue pair's policy; set before it is connected
 * @waiting: something waits; who posts a receive request looks at this
 * @spilling: a segment is arriving that goes to @spill
 * @no_memory: there was none for @spill; it is asked for again after a while
 * @spill: segments that wait; without memory until it is needed
 * @poll: looks for requests of a process, which posts without our knowing
 *
 * Under the socket's lock, but for @enabled.
 */
struct iwp_hold {
	bool enabled;
	bool waiting;
	bool spilling;
	bool no_memory;
	struct iwarp_spill spill;
	struct delayed_work poll;
};

/**
 * struct iwp_rx - what is being received
 * @wire: the segment that is arriving
 * @sink: what the oldest of our requests to read waits for
 * @sink_len: how much that is in all
 * @rqe: receive request that is being filled
 * @rqe_len: room in it
 * @has_rqe: there is one
 * @status: enum siw_wc_status of @rqe, if its user did something wrong
 * @written: bytes of the message that the peer wrote last
 * @write_open: more of it will come
 * @orq_seen: @orq_get of the sender when it was told last
 * @peer_error: the peer has said TERMINATE, and why
 * @hold: what waits for receive requests
 * @early: what was placed ahead of a hole, or NULL if nothing ever is
 */
struct iwp_rx {
	struct iwarp_rx wire;
	struct iwarp_sink sink;
	u32 sink_len;
	struct siw_rqe rqe;
	u64 rqe_len;
	bool has_rqe;
	u8 status;
	u32 written;
	bool write_open;
	u32 orq_seen;
	enum iwarp_error peer_error;
	struct iwp_hold hold;
	struct iwp_early *early;
};

/**
 * struct iwp_ack - when to acknowledge what was received
 * @timer: does it
 * @armed: it will, and has a reference of the queue pair
 * @extended: how often it has waited for more
 * @shift: how often its delay is doubled
 * @received: how far TCP had received when the timer was started, or last ran
 * @sent: how far TCP had sent when it was started
 */
struct iwp_ack {
	struct hrtimer timer;
	bool armed;
	u8 extended;
	u8 shift;
	u32 received;
	u32 sent;
};

#endif /* _IWP_TRANSFER_H */
