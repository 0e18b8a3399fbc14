/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The send side of the copy path: ring, messages, work requests.
 */
#ifndef _SDP_TX_H
#define _SDP_TX_H

#include <linux/sdp.h>
#include <linux/socket.h>
#include <linux/types.h>

#include "wire/wire.h"

struct ib_cq;
struct ib_mr;
struct ib_reg_wr;
struct ib_send_wr;
struct ib_sge;
struct ib_wc;
struct msghdr;
struct sdp_tx;

/* How splice() and sendfile() promise more is the kernel's version's affair. */
#define SDP_SEND_MORE	(MSG_MORE | MSG_SENDPAGE_NOTLAST)

/* What a write on a fast path may say; it does not matter whether it would wait. */
#define SDP_SEND_FAST	(MSG_DONTWAIT | MSG_NOSIGNAL)

void sdp_tx_set_peer(struct sdp_stream *st, u32 rcv_size);
int sdp_tx_handle_chrcvbuf_ack(struct sdp_stream *st, u32 rcv_size);
int sdp_tx_ring_avail(struct sdp_stream *st, const struct sdp_ravah *ravah);
int sdp_tx_ring_space(struct sdp_stream *st, u32 tail);

/* workreq.c */
void sdp_tx_prepare(struct sdp_stream *st);
struct sdp_tx_wr *sdp_tx_account(struct sdp_stream *st, u32 len, bool signal);
bool sdp_tx_submit(struct sdp_stream *st, struct ib_send_wr *wr, bool now);
void sdp_tx_add_reg_mr(struct sdp_stream *st, struct ib_reg_wr *reg,
		       struct ib_mr *mr, int access);
bool sdp_tx_post_local_inv(struct sdp_stream *st, struct ib_mr *mr, struct sdp_done *done);
void sdp_tx_done(struct ib_cq *cq, struct ib_wc *wc);
void sdp_tx_reap(struct sdp_stream *st);

/* post.c */
void sdp_tx_number(struct sdp_stream *st, struct sdp_msg *msg);
void sdp_tx_say(struct sdp_stream *st, struct sdp_msg *msg);
void sdp_tx_said(struct sdp_stream *st, const struct sdp_msg *msg);
bool sdp_tx_want_signal(const struct sdp_stream *st, u32 len, bool answer);
bool sdp_tx_post_msg(struct sdp_stream *st, struct sdp_msg *msg, bool signal);
bool sdp_tx_post_done(struct sdp_stream *st, struct sdp_msg *msg, struct sdp_done *done);
bool sdp_tx_post(struct sdp_stream *st, enum sdp_mid mid, u32 len, u8 flags);
bool sdp_tx_post_direct(struct sdp_stream *st, u32 len, struct sdp_payload *payload);
bool sdp_tx_post_empty(struct sdp_stream *st);

/* probe.c */
bool sdp_tx_idle(struct sdp_stream *st, bool reading);
void sdp_tx_probed(struct sdp_done *done);
void sdp_tx_probe(struct sdp_stream *st);
void sdp_tx_nudge(struct sdp_stream *st);

/* peer.c */
/* How often a peer that grants no credits is probed. */
#define SDP_PERSIST_PERIOD	(5 * HZ)

unsigned long sdp_alive_user_limit(const struct sdp_stream *st);
void sdp_alive_stalled(struct sdp_stream *st);
void sdp_alive_written(struct sdp_stream *st);
bool sdp_tx_waiting(const struct sdp_stream *st);
bool sdp_tx_heard(struct sdp_stream *st);
bool sdp_tx_silent(const struct sdp_stream *st);
void sdp_tx_ask_for_room(struct sdp_stream *st);
bool sdp_tx_probe_overdue(const struct sdp_stream *st);

/* sendbuf.c */
/* The ring's memory comes in pieces that the page allocator gives readily. */
#define SDP_TX_CHUNK		SDP_MEM_CHUNK

int sdp_tx_init(struct sdp_stream *st);
void sdp_tx_free(struct sdp_stream *st);
void sdp_tx_trim(struct sdp_stream *st);
int sdp_tx_alloc_chunks(struct sdp_stream *st, u32 index, u32 len);
void sdp_tx_enlarge(struct sdp_stream *st);

/* sendq.c */
u32 sdp_tx_limit(const struct sdp_stream *st);
bool sdp_tx_has_room(const struct sdp_stream *st, size_t left);
bool sdp_tx_writeable(const struct sdp_stream *st);
void sdp_tx_want(struct sdp_stream *st, u32 len);
bool sdp_tx_begin_write(struct sdp_stream *st);
int sdp_tx_write(struct sdp_stream *st, struct msghdr *msg, u32 *want);
bool sdp_tx_end_write(struct sdp_stream *st, bool all, bool more);
u32 sdp_tx_gatherable(const struct sdp_stream *st, u32 len);
int sdp_tx_map(struct sdp_stream *st, u32 off, u32 len, struct ib_sge *sge, bool inlined);

/* integrated.c */
int sdp_integrated_write(struct sdp_stream *st, struct msghdr *msg, u32 *want);
bool sdp_integrated_want_room(struct sdp_stream *st, struct msghdr *msg);
bool sdp_integrated_at_once(struct sdp_stream *st, struct msghdr *msg, size_t len);

/* coalesce.c */
bool sdp_tx_join(struct sdp_stream *st, struct msghdr *msg, size_t len);

/* wait.c */
void sdp_tx_count_flush(struct sdp_stream *st, enum sdp_flush cause);
u32 sdp_tx_fit(const struct sdp_stream *st, u32 len, enum sdp_tx_wait *why);
bool sdp_tx_nagle(const struct sdp_stream *st, u32 len);
bool sdp_tx_want_room(struct sdp_stream *st, u32 len);
void sdp_tx_look_for_room(struct sdp_stream *st);
u32 sdp_tx_ready(struct sdp_stream *st, u32 len, enum sdp_flush cause);
bool sdp_tx_send(struct sdp_stream *st, enum sdp_flush cause, bool asleep);
bool sdp_tx_send_direct(struct sdp_stream *st, u32 len, struct sdp_payload *payload,
			enum sdp_flush cause);

/* Where payload is, from so many bytes on behind what is posted: in pages, or in the ring. */
static inline int sdp_tx_gather(struct sdp_stream *st, struct sdp_payload *payload, u32 off,
				u32 len, struct ib_sge *sge, bool inlined)
{
	if (payload)
		return payload->map(payload, off, len, sge);
	return sdp_tx_map(st, off, len, sge, inlined);
}

/* Whether nothing in the send ring waits. */
static inline bool sdp_tx_is_empty(const struct sdp_tx *tx)
{
	return tx->wait_head == tx->wait_tail;
}

/* Whether what is written is coalesced with a message that waits. */
static inline bool sdp_tx_may_append(const struct sdp_stream *st)
{
	const struct sdp_tx *tx = &st->tx;
	const struct sdp_tx_msg *last = sdp_tx_msg(tx, tx->wait_head - 1);

	sdp_owned(st->sk);
	return !sdp_tx_is_empty(tx) && last->open && last->len < tx->max_payload;
}

/* So many bytes have been written into the peer's ring, or are about to be. */
static inline void sdp_tx_ring_written(struct sdp_tx *tx, u32 len)
{
	sdp_outring_write(&tx->out, len);
	sdp_burst_sent(&tx->burst, len);
}

/* Whether data waits for the peer. */
static inline bool sdp_tx_stalled(const struct sdp_tx *tx)
{
	return sdp_wait_is_stall(tx->waits_for);
}

/*
 * Whether a message waits for something that comes by itself, and that sends it, and
 * not for the caller's next call or for what that has promised: what is appended to it
 * need not look after it.
 */
static inline bool sdp_tx_waits_by_itself(const struct sdp_stream *st)
{
	const struct sdp_tx *tx = &st->tx;

	sdp_owned(st->sk);
	return tx->out.size && tx->intent != SDP_INTENT_MORE &&
	       tx->waits_for >= SDP_WAIT_CORK &&
	       tx->waits_for <= (st->flow->async ? SDP_WAIT_SPACE : SDP_WAIT_QUEUE);
}

/* A write is coalesced with a message that waits. */
static inline void sdp_tx_count_joined(struct sdp_stream *st)
{
	sdp_owned(st->sk);
	st->stats.coalesced++;
	SDP_SOCK_INC_STATS(st->sk, SDP_MIB_COALESCEDWRITES);
	sdp_burst_joined(&st->tx.burst);
}

/* What is in the ring waits for memory that is advertised; sent by copy that may stall. */
static inline void sdp_tx_wait_behind(struct sdp_tx *tx)
{
	if (!sdp_tx_stalled(tx))
		tx->waits_for = sdp_tx_is_empty(tx) ? SDP_WAIT_NONE : SDP_WAIT_ZCOPY;
}

/*
 * The peer has not acknowledged all that has to arrive.  It does not have to do so at once,
 * so that this asks for a probe and not for patience.  The lock is not needed.
 */
static inline bool sdp_tx_unacked(const struct sdp_stream *st)
{
	return (s32)(READ_ONCE(st->credit.tx_acked) - READ_ONCE(st->tx.last_seq)) < 0;
}

/*
 * Bytes that the provider has copied, and that the peer has not acknowledged.  They may have
 * no completion, but then the peer's next message will do.  The lock is not needed.
 */
static inline u32 sdp_tx_integrated(const struct sdp_stream *st)
{
	const struct sdp_tx *tx = &st->tx;

	if (!sdp_tx_unacked(st))
		return 0;
	return READ_ONCE(tx->integrated) - READ_ONCE(tx->integrated_acked);
}

/* Bytes written that the peer has not acknowledged yet; the lock is not needed. */
static inline u32 sdp_tx_outstanding(const struct sdp_stream *st)
{
	return sdp_ring_used(&st->tx.ring) + READ_ONCE(st->async_bytes) + sdp_tx_integrated(st);
}

/* Work requests whose completion was not seen. */
static inline u32 sdp_tx_posted(const struct sdp_tx *tx)
{
	return tx->wr_head - tx->wr_tail;
}

/* Whether there is a work request, beside so many that are kept for others. */
static inline bool sdp_tx_room(const struct sdp_tx *tx, u32 reserved)
{
	return sdp_tx_posted(tx) < SDP_TX_WRS - reserved;
}

#endif /* _SDP_TX_H */
