/* SPDX-License-Identifier: GPL-2.0 */
/* Transmit and receive state of a queue pair; the layer "stream" implements it. */
#ifndef _IWP_TRANSFER_H
#define _IWP_TRANSFER_H

#include <linux/bvec.h>
#include <linux/hrtimer.h>
#include <linux/mm_types.h>
#include <linux/uio.h>
#include <linux/workqueue.h>
#include <net/iw_ulp.h>
#include <net/sock.h>
#include <rdma/siw-abi.h>

#include "wire/wire.h"

struct iwp_early;
struct iwp_send;

/* Page fragments not yet passed to TCP. */
#define IWP_TX_VECS		128

/**
 * struct iwp_read - an inbound RDMA Read Request
 * @req: its payload
 */
struct iwp_read {
	struct iwarp_read_req req;
};

/**
 * enum iwp_msg_source - where a message's payload comes from
 * @IWP_MSG_NONE: there is no message
 * @IWP_MSG_SEND: the scatter/gather list of a send request
 * @IWP_MSG_READ: the region named by the peer's RDMA Read Request
 * @IWP_MSG_CONTROL: @control of struct iwp_msg
 */
enum iwp_msg_source {
	IWP_MSG_NONE,
	IWP_MSG_SEND,
	IWP_MSG_READ,
	IWP_MSG_CONTROL,
};

/**
 * struct iwp_msg - the message that is being segmented
 * @source: enum iwp_msg_source
 * @opcode: enum iwarp_opcode
 * @stag: tagged: data sink; untagged: STag to invalidate
 * @to: tagged: offset of the first byte
 * @msn: untagged: message sequence number
 * @len: payload length
 * @at: payload already in segments
 * @send: send request of the message, or NULL
 * @from: rest of its payload, behind what the request has inline, or NULL
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
	struct iov_iter *from;
	u8 control[IWARP_CONTROL_MAX];
};

/* What the engine may have been given at a time. */
#define IWP_TX_BATCHES		16

/**
 * struct iwp_tx_batch - fragments that the engine works on
 * @ready_at: ktime_get_ns() at which it is done
 * @nr_vecs: how many
 */
struct iwp_tx_batch {
	u64 ready_at;
	u32 nr_vecs;
};

/**
 * struct iwp_tx - transmit state
 * @sk: socket
 * @stream: order of messages, in both directions
 * @interval: marker interval, or %IWARP_NO_MARKERS
 * @use_crc: checksums are in use
 * @long_fpdus: FPDUs are as long as they can be, whatever TCP's segments are
 * @busy: iwp_tx_run() is active, below us in the call stack
 * @rerun: iwp_tx_run() must look for work once more
 * @more: there may be more to send than was segmented
 * @wait_first: send nothing before the peer's first message (RFC 6581)
 * @send_rtr: send the RTR message first, an empty write (RFC 6581)
 * @start_seq: TCP sequence number of the first byte
 * @pos: stream position after the last segment
 * @seg_used: bytes used in TCP's last, partial segment
 * @acked: stream position that the peer's TCP has acknowledged
 * @reap_pending: a request completed without an acknowledgment
 * @gather: pass pages of the consumer's memory to TCP instead of copies
 * @vecs: fragments that TCP has not taken
 * @nr_vecs: number of @vecs
 * @nr_ready: number of @vecs that the engine is done with
 * @nr_submitted: number of @vecs that it was given, or that need none
 * @batches: what it was given and is not done with, in order
 * @nr_batches: number of @batches
 * @segs: segments built so far
 * @msg: message that is being sent
 * @reads: inbound RDMA Read Requests
 * @reads_size: entries of @reads, a power of two
 * @reads_put: next entry of @reads to fill, not wrapped
 * @reads_get: next entry of @reads to respond to, not wrapped
 * @orq: outbound RDMA Read Requests, as indices in the send queue
 * @orq_size: entries of @orq, a power of two
 * @orq_put: next entry of @orq to fill, not wrapped
 * @orq_get: next entry of @orq to be responded to, not wrapped
 * @work: sends where post_send() cannot
 * @retry: sends after a memory shortage
 * @timer: continues when the engine is done
 * @term_len: length of the Terminate to be sent, or 0
 * @term: payload of the Terminate
 */
struct iwp_tx {
	struct sock *sk;
	struct iwarp_stream stream;
	u32 interval;
	bool use_crc;
	bool long_fpdus;
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
	bool gather;
	struct bio_vec vecs[IWP_TX_VECS];
	u32 nr_vecs;
	u32 nr_ready;
	u32 nr_submitted;
	struct iwp_tx_batch batches[IWP_TX_BATCHES];
	u32 nr_batches;
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
 * struct iwp_hold - messages held for receive requests
 * @enabled: the queue pair holds; set before it is connected
 * @waiting: something waits; read by iwp_post_recv()
 * @spilling: the arriving segment goes to @spill
 * @no_memory: allocation of @spill failed; it is retried
 * @spill: held segments; allocated on first use
 * @poll: polls a user receive queue, which user space fills without a system call
 *
 * Under the socket lock, except @enabled.
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
 * struct iwp_rx_iter - payload that goes to a process's memory in place of the consumer's
 * @to: that memory while iwp_rx_iter() is at work, else NULL
 * @recv: what of
 * @left: room in the memory
 * @accepted: the message that is arriving is a send of which it gets the payload; none is
 *	whose first part was held
 * @sent: bytes of that payload placed there, from the first on
 * @placed: bytes put there
 * @over: a receive request has completed: what follows waits
 * @low: bytes that wait in TCP of which the consumer is told, who comes for them; 0 =
 *	nothing waits
 * @suspended: nothing waits until the consumer comes again
 * @told: it was told, and has not come yet
 * @told_at: ktime_get_ns() then
 * @ready: tells it
 * @timer: does not let it wait for long
 * @armed: @timer runs, with a reference to the queue pair
 *
 * Under the socket lock.
 */
struct iwp_rx_iter {
	struct iov_iter *to;
	struct iw_ulp_recv recv;
	u32 left;
	bool accepted;
	u32 sent;
	u32 placed;
	bool over;
	u32 low;
	bool suspended;
	bool told;
	u64 told_at;
	void (*ready)(void *context);
	struct hrtimer timer;
	bool armed;
};

/**
 * struct iwp_rx - receive state
 * @wire: the segment that is arriving
 * @sink: data sink of our oldest RDMA Read Request
 * @sink_len: length of that
 * @rqe: receive request that is being filled
 * @rqe_len: sum of its elements' lengths
 * @has_rqe: @rqe is valid
 * @status: enum siw_wc_status of @rqe, after a local error
 * @written: bytes of the peer's last write message
 * @write_open: that message is not complete
 * @orq_seen: @orq_get of the sender when it last ran
 * @received: receive requests completed
 * @peer_error: error of the peer's Terminate, or %IWARP_OK
 * @hold: messages held for receive requests
 * @early: placement ahead of holes, or NULL if disabled
 * @iter: placement in a process's memory
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
	u32 received;
	enum iwarp_error peer_error;
	struct iwp_hold hold;
	struct iwp_early *early;
	struct iwp_rx_iter iter;
};

/**
 * struct iwp_ack - delayed acknowledgments
 * @timer: sends the acknowledgment
 * @armed: @timer runs, with a reference to the queue pair
 * @extended: how often the delay was extended because more data arrived
 * @shift: log2 of the delay's multiplier
 * @received: TCP's rcv_nxt at the last look
 * @sent: TCP's snd_nxt when the timer was started
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
