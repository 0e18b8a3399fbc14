/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Advertised sinks (SinkAvail) at both ends: memory of a reader that the peer may write
 * to, and how that ends, whatever crosses on the wire.
 *
 * Pure: also compiled in user space by the unit tests.
 * Documentation/protocol/zero-copy.rst explains it.
 */
#ifndef _SDP_ZCOPY_SINKAVAIL_H
#define _SDP_ZCOPY_SINKAVAIL_H

#include <linux/types.h>

#include "flow/flow.h"
#include "state.h"
#include "wire/wire.h"

/* How far an advertisement of our memory has come. */
enum sdp_sinkadvert_state {
	SDP_SINKADVERT_NONE,	/* there is none */
	SDP_SINKADVERT_DUE,	/* it is to be sent */
	SDP_SINKADVERT_OUT,	/* the peer may write */
	SDP_SINKADVERT_OVER,	/* the peer writes no more, its key may live */
};

/**
 * struct sdp_sinkadvert - the end that lets the other write
 * @state: how far it has come
 * @size: bytes of memory
 * @cancel_due: SinkAvailCancel is to be sent
 * @unanswered: it was, and SinkCancelAck has not come
 */
struct sdp_sinkadvert {
	enum sdp_sinkadvert_state state;
	u32 size;
	bool cancel_due;
	bool unanswered;
};

/**
 * struct sdp_sinktarget - the end that writes
 * @held: the peer lets us write, unless we have sent something meanwhile
 * @size: bytes
 * @rkey: key to the memory
 * @vaddr: remote address of its first byte
 * @sent: how many messages with payload we had sent when it came
 * @ack_due: SinkCancelAck is to be sent
 */
struct sdp_sinktarget {
	bool held;
	u32 size;
	u32 rkey;
	u64 vaddr;
	u32 sent;
	bool ack_due;
};

/* Whether memory may be advertised: one at a time, and what was cancelled is answered. */
static inline bool sdp_sinkadvert_may_begin(const struct sdp_sinkadvert *a)
{
	return a->state == SDP_SINKADVERT_NONE && !a->cancel_due && !a->unanswered;
}

/* Whether SinkAvailCancel may have to be sent yet, for which credits are kept. */
static inline bool sdp_sinkadvert_reserves(const struct sdp_sinkadvert *a)
{
	return (a->state == SDP_SINKADVERT_OUT || a->cancel_due) && !a->unanswered;
}

/* Like sdp_zsource_want_answer(). */
static inline bool sdp_sinkadvert_want_answer(const struct sdp_sinkadvert *a,
					      const struct sdp_credit *credit)
{
	return a->unanswered && sdp_credit_want_answer(credit);
}

/* Whether the peer's memory may be written to now, after so many messages with payload. */
static inline bool sdp_sinktarget_usable(const struct sdp_sinktarget *t, u32 sent)
{
	return t->held && t->sent == sent;
}

void sdp_sinkadvert_begin(struct sdp_sinkadvert *a, u32 size);
void sdp_sinkadvert_sent(struct sdp_sinkadvert *a);
int sdp_sinkadvert_written(struct sdp_sinkadvert *a, u32 len);
void sdp_sinkadvert_passed(struct sdp_sinkadvert *a);
void sdp_sinkadvert_cancel(struct sdp_sinkadvert *a);
void sdp_sinkadvert_revoke(struct sdp_sinkadvert *a);
void sdp_sinkadvert_cancel_sent(struct sdp_sinkadvert *a);
int sdp_sinkadvert_cancelled(struct sdp_sinkadvert *a);
void sdp_sinkadvert_end(struct sdp_sinkadvert *a);

int sdp_sinktarget_advertised(struct sdp_sinktarget *t, const struct sdp_sinkah *sinkah,
			      u32 sent, bool offering);
void sdp_sinktarget_drop(struct sdp_sinktarget *t);
int sdp_sinktarget_cancelled(struct sdp_sinktarget *t);
void sdp_sinktarget_acked(struct sdp_sinktarget *t);

bool sdp_zcopy_may_send(const struct sdp_zsource *source, const struct sdp_sinkadvert *a,
			const struct sdp_credit *credit, enum sdp_mid mid, u32 payload_len);

#endif /* _SDP_ZCOPY_SINKAVAIL_H */
