/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Why data that was written has not left yet.
 */
#ifndef _SDP_WAIT_H
#define _SDP_WAIT_H

/*
 * The reason of what is first in line: of the first message in the send ring, or of
 * memory before it that the peer did not read and that is sent by copy.  Only
 * stream/wait.c and stream/tx.h change it.
 */
enum sdp_tx_wait {
	SDP_WAIT_NONE,		/* it does not wait, or is not checked yet */
	SDP_WAIT_WRITE,		/* the write that fills it goes on */
	/* Held back to coalesce. */
	SDP_WAIT_MORE,		/* MSG_MORE */
	SDP_WAIT_CORK,		/* TCP_CORK */
	SDP_WAIT_BURST,		/* the device has its share of the burst */
	SDP_WAIT_NAGLE,		/* a short message is in flight */
	/* There is no way to send it. */
	SDP_WAIT_ZCOPY,		/* memory that is advertised goes before it */
	SDP_WAIT_QUEUE,		/* the send queue is full */
	/* The peer has to act, or had to: a stall. */
	SDP_WAIT_CREDITS,	/* it has no receive buffer */
	SDP_WAIT_SPACE,		/* its ring has no space */
	SDP_WAIT_CALL,		/* either; the engine looks again in a call only */
};

/* Whether the peer was what it waited for. */
static inline bool sdp_wait_is_stall(enum sdp_tx_wait wait)
{
	return wait >= SDP_WAIT_CREDITS;
}

/* Whether it is held back though it could leave. */
static inline bool sdp_wait_is_hold(enum sdp_tx_wait wait)
{
	return wait >= SDP_WAIT_MORE && wait <= SDP_WAIT_NAGLE;
}

#endif /* _SDP_WAIT_H */
