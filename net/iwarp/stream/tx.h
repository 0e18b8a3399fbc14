/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is being sent: messages become segments with markers and checksums in
 * pages of our own, and TCP takes the pages as they are.
 *
 * All of it happens under the socket's lock, in one of its two forms: owned by
 * a process, or the spinlock alone.
 */
#ifndef _IWP_TX_H
#define _IWP_TX_H

#include <linux/bvec.h>
#include <linux/mm_types.h>
#include <net/tcp.h>

#include "wire/wire.h"
#include "mem/mem.h"

struct iwp_qp;
struct iwp_send;

/* Pieces of pages that wait for TCP. */
#define IWP_TX_VECS		128
/* How many a segment can need, if memory is so scarce that pages are single. */
#define IWP_TX_SEG_VECS		20
/* How many if the engine gathers data and markers, and how long it is then. */
#define IWP_TX_SG_VECS		56
#define IWP_TX_SG_ROOM		8960

/* Numbers of requests to read begin here: each connection soon wraps them. */
#define IWP_READS_FIRST		(-4u)

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
 * @again: he has to look once more
 * @more: there may be more to send than is in segments
 * @wait_first: nothing may be sent before something was received
 * @send_rtr: an empty write is to be sent first, so that the peer may send
 * @start_seq: TCP's number of the first byte
 * @pos: place in the stream behind the last segment
 * @seg_used: how much of a segment of TCP is in use behind the last whole one
 * @acked: place up to which the peer's TCP has everything
 * @reap: a request is done that no acknowledgment tells of
 * @frag: page in which the next segment begins
 * @spare: the page of before, to be used again
 * @gather: pages of users go to TCP, and not copies
 * @vecs: pieces that TCP has not taken
 * @nr_vecs: how many
 * @due: how many of them the engine is done with
 * @due_at: when it is done with the others, by ktime_get_ns()
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
 * @term_len: a TERMINATE is to be sent, of that length
 * @term: its payload
 */
struct iwp_tx {
	struct sock *sk;
	struct iwarp_stream stream;
	u32 interval;
	bool use_crc;
	bool busy;
	bool again;
	bool more;
	bool wait_first;
	bool send_rtr;
	u32 start_seq;
	u64 pos;
	u32 seg_used;
	u64 acked;
	bool reap;
	struct page_frag frag;
	struct page_frag spare;
	bool gather;
	struct bio_vec vecs[IWP_TX_VECS];
	u32 nr_vecs;
	u32 due;
	u64 due_at;
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
	u32 term_len;
	u8 term[IWARP_TERMINATE_MAX];
};

/* The place in the send queue of one of our requests to read. */
static inline u32 iwp_read_index(const struct iwp_tx *tx, u32 nr)
{
	return tx->orq[nr & (tx->orq_size - 1)];
}

/* The STag that the answer to one of our requests to read goes to. */
static inline u32 iwp_read_stag(const struct iwp_tx *tx, u32 nr)
{
	return iwp_read_index(tx, nr) << 8 | 1;
}

/*
 * How many bytes the peer has acknowledged that we do not know of.  When the first of
 * them is sent the frame before it, our reply, may not be acknowledged yet.
 */
static inline u32 iwp_tx_unheard(const struct iwp_tx *tx)
{
	u32 known = tx->start_seq + (u32)tx->acked;
	u32 una = tcp_sk(tx->sk)->snd_una;

	return after(una, known) ? una - known : 0;
}

/* tx.c */
enum iwarp_error iwp_tx_read_error(enum iwp_mem_err err);
int iwp_tx_start(struct iwp_qp *qp, struct sock *sk, u32 interval, bool crc,
		 u16 ird, u16 ord);
void iwp_tx_ready(struct iwp_qp *qp);
bool iwp_tx_heard(struct iwp_qp *qp);
bool iwp_tx_acked(struct iwp_qp *qp);
void iwp_tx_terminate(struct iwp_qp *qp, enum iwarp_error error,
		      const u8 *fpdu, u32 len);
void iwp_tx_last(struct iwp_qp *qp);

/* tx_work.c */
int iwp_tx_init(void);
void iwp_tx_exit(void);
void iwp_tx_init_work(struct iwp_qp *qp);
void iwp_tx_queue(struct iwp_qp *qp);
void iwp_tx_retry(struct iwp_qp *qp);
bool iwp_tx_queue_later(struct delayed_work *work, unsigned long delay);
void iwp_tx_kick(struct iwp_qp *qp);

/* tx_msg.c */
bool iwp_tx_next_msg(struct iwp_qp *qp);
void iwp_tx_msg_sent(struct iwp_qp *qp);
enum iwp_mem_err iwp_send_here(struct iwp_qp *qp, const struct iwp_send *send);
void iwp_tx_send_failed(struct iwp_qp *qp, struct iwp_send *send,
			enum siw_wc_status status);

/* tx_seg.c */
int iwp_tx_segment(struct iwp_qp *qp);
void iwp_tx_drop_pages(struct iwp_tx *tx);

#endif /* _IWP_TX_H */
