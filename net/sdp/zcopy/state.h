/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Advertised sources (SrcAvail) at both ends: what is outstanding, what may be
 * read, and how an advertisement ends, whatever crosses on the wire.
 *
 * Pure: also compiled in user space by the unit tests.
 * Documentation/protocol/zero-copy.rst explains it.
 */
#ifndef _SDP_ZCOPY_STATE_H
#define _SDP_ZCOPY_STATE_H

#include <linux/types.h>

#include "wire/wire.h"
#include "flow/flow.h"

/* Advertisements that an end holds at once; what Hello and HelloAck say. */
#define SDP_ZCOPY_ADVERTS	4U

/**
 * struct sdp_zadvert - an advertisement that is outstanding
 * @mseq: source: sequence number of its SrcAvail
 * @rkey: sink: key to the memory
 * @vaddr: sink: remote address of the next byte to read
 * @left: bytes that are still to be read, at least one
 */
struct sdp_zadvert {
	u32 mseq;
	u32 rkey;
	u64 vaddr;
	u32 left;
};

/**
 * struct sdp_zfifo - advertisements in the order of the stream
 * @adverts: the advertisements; @head and @tail count them
 * @head: how many have begun
 * @tail: how many have ended
 */
struct sdp_zfifo {
	struct sdp_zadvert adverts[SDP_ZCOPY_ADVERTS];
	u32 head;
	u32 tail;
};

/**
 * struct sdp_zsource - the end that lets the other read
 * @fifo: what is outstanding; the peer may read its memory
 * @max: how many of these the peer holds, 0 = none
 * @done: bytes that the peer has read in all, wraps
 * @cancel_due: SrcAvailCancel is to be sent
 * @cancelled: it was sent, and what is outstanding will end without more ado
 */
struct sdp_zsource {
	struct sdp_zfifo fifo;
	u32 max;
	u32 done;
	bool cancel_due;
	bool cancelled;
};

/**
 * struct sdp_zsink - the end that reads
 * @fifo: what may be read
 * @max: how many of these the peer may have outstanding
 * @reading: bytes that the device is reading, from the oldest on
 * @unreported: bytes that were read and not reported to the peer yet
 * @spent: with these, an advertisement was read to its end
 * @spent_rkey: its key
 * @refusing: SendSm is to be sent, unless all is read before
 * @voids: the peer may not have seen our SendSm, so that what it advertises
 *	is void
 * @refused_mseq: sequence number of that SendSm
 */
struct sdp_zsink {
	struct sdp_zfifo fifo;
	u32 max;
	u32 reading;
	u32 unreported;
	bool spent;
	u32 spent_rkey;
	bool refusing;
	bool voids;
	u32 refused_mseq;
};

/**
 * struct sdp_zpace - how long the peer takes to read what is sent
 * @mean: 8 times the smoothed time, in any unit
 * @dev: 4 times the smoothed deviation from it
 */
struct sdp_zpace {
	u32 mean;
	u32 dev;
};

/* Whether advertisements are outstanding: nothing may be sent behind them. */
static inline bool sdp_zsource_busy(const struct sdp_zsource *z)
{
	return z->fifo.head != z->fifo.tail;
}

/* Whether SrcAvailCancel may have to be sent yet, for which credits are kept. */
static inline bool sdp_zsource_reserves(const struct sdp_zsource *z)
{
	return sdp_zsource_busy(z) && !z->cancelled;
}

/* Whether there is something to read, or to refuse. */
static inline bool sdp_zsink_busy(const struct sdp_zsink *z)
{
	return z->fifo.head != z->fifo.tail;
}

/* Whether the peer is to hear of what was read or is refused, see sdp_zsink_due(). */
static inline bool sdp_zsink_owes(const struct sdp_zsink *z)
{
	return z->unreported || z->refusing;
}

/**
 * sdp_zsink_heard() - a message has come, of whatever kind
 * @z: sink
 * @mseq_ack: what it acknowledges
 *
 * What the peer sends once it has seen our SendSm counts again.
 */
static inline void sdp_zsink_heard(struct sdp_zsink *z, u32 mseq_ack)
{
	if (z->voids && (s32)(mseq_ack - z->refused_mseq) >= 0)
		z->voids = false;
}

/**
 * sdp_zsource_want_answer() - whether the peer may lack credits to answer with
 * @z: source
 * @credit: credits of its connection
 *
 * Like sdp_credit_want_update().
 */
static inline bool sdp_zsource_want_answer(const struct sdp_zsource *z,
					   const struct sdp_credit *credit)
{
	return z->cancelled && sdp_credit_want_answer(credit);
}

void sdp_zpace_learn(struct sdp_zpace *pace, u32 time);
u32 sdp_zpace_bound(const struct sdp_zpace *pace);

void sdp_zsource_init(struct sdp_zsource *z, u32 max);
u32 sdp_zsource_room(const struct sdp_zsource *z);

/**
 * sdp_zsource_may_advertise() - whether SrcAvail may be sent
 * @z: source
 */
static inline bool sdp_zsource_may_advertise(const struct sdp_zsource *z)
{
	return sdp_zsource_room(z);
}

void sdp_zsource_advertise(struct sdp_zsource *z, u32 mseq, u32 len);
int sdp_zsource_read(struct sdp_zsource *z, u32 mseq_ack, u32 len);
int sdp_zsource_refused(struct sdp_zsource *z, u32 mseq_ack);
void sdp_zsource_cancel(struct sdp_zsource *z);
void sdp_zsource_cancel_sent(struct sdp_zsource *z);

void sdp_zsink_init(struct sdp_zsink *z, u32 max);
int sdp_zsink_advertised(struct sdp_zsink *z, const struct sdp_msg *msg);
u32 sdp_zsink_readable(const struct sdp_zsink *z);
struct sdp_zadvert sdp_zsink_read(struct sdp_zsink *z, u32 len);
void sdp_zsink_read_done(struct sdp_zsink *z, u32 len);
void sdp_zsink_refuse(struct sdp_zsink *z);
enum sdp_mid sdp_zsink_due(const struct sdp_zsink *z);
bool sdp_zsink_spent(const struct sdp_zsink *z, u32 *rkey);
void sdp_zsink_told(struct sdp_zsink *z, enum sdp_mid mid, u32 mseq);

#endif /* _SDP_ZCOPY_STATE_H */
