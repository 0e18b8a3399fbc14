// SPDX-License-Identifier: GPL-2.0
/*
 * Advertised sinks at both ends (IBTA annex A4, pipelined mode's SinkAvail).
 *
 * A reader that finds nothing lets the peer write to its memory.  The peer does so once,
 * and says how much (RdmaWrCompl); or it sends messages as if it had not been asked,
 * which says that it will not.  Only those may have crossed the advertisement, which
 * therefore tells how many have come: the peer forgets one that does not know of all.
 * A reader that can wait no longer asks for the end (SinkAvailCancel), and is answered
 * in any case (SinkCancelAck), behind which nothing is written.
 */
#include <linux/errno.h>

#include "sinkavail.h"

/* Credits that a request for an end takes, whatever else is to be sent. */
#define CREDITS_FOR_CANCEL	2

/**
 * sdp_sinkadvert_begin() - memory is to be advertised
 * @a: advertisement; sdp_sinkadvert_may_begin() said yes
 * @size: bytes, not 0
 */
void sdp_sinkadvert_begin(struct sdp_sinkadvert *a, u32 size)
{
	a->state = SDP_SINKADVERT_DUE;
	a->size = size;
}

/**
 * sdp_sinkadvert_sent() - SinkAvail is sent
 * @a: advertisement that was due
 */
void sdp_sinkadvert_sent(struct sdp_sinkadvert *a)
{
	a->state = SDP_SINKADVERT_OUT;
}

/**
 * sdp_sinkadvert_written() - the peer has written (RdmaWrCompl)
 * @a: advertisement
 * @len: bytes that it reports
 *
 * Return: 0; -EPROTO if it could not have written so much.
 */
int sdp_sinkadvert_written(struct sdp_sinkadvert *a, u32 len)
{
	if (a->state != SDP_SINKADVERT_OUT || len > a->size)
		return -EPROTO;
	sdp_sinkadvert_passed(a);
	return 0;
}

/**
 * sdp_sinkadvert_passed() - the peer writes no more, or may not
 * @a: advertisement, or none
 *
 * It has written, or has sent something that it would have written.
 */
void sdp_sinkadvert_passed(struct sdp_sinkadvert *a)
{
	if (a->state == SDP_SINKADVERT_NONE)
		return;
	a->state = SDP_SINKADVERT_OVER;
	a->cancel_due = false;
}

/**
 * sdp_sinkadvert_cancel() - the reader waits no longer
 * @a: advertisement
 *
 * Until that is answered the peer may write.
 */
void sdp_sinkadvert_cancel(struct sdp_sinkadvert *a)
{
	if (a->state == SDP_SINKADVERT_OUT)
		a->cancel_due = !a->unanswered;
	else
		sdp_sinkadvert_passed(a);
}

/**
 * sdp_sinkadvert_revoke() - the key ends although the peer has not agreed
 * @a: advertisement, or none
 *
 * It is still asked to, and answers, before there is another one.
 */
void sdp_sinkadvert_revoke(struct sdp_sinkadvert *a)
{
	if (a->state != SDP_SINKADVERT_NONE)
		a->state = SDP_SINKADVERT_OVER;
}

/**
 * sdp_sinkadvert_cancel_sent() - SinkAvailCancel is sent
 * @a: advertisement whose @cancel_due is set
 */
void sdp_sinkadvert_cancel_sent(struct sdp_sinkadvert *a)
{
	a->cancel_due = false;
	a->unanswered = true;
}

/**
 * sdp_sinkadvert_cancelled() - the peer has answered (SinkCancelAck)
 * @a: advertisement, which may have ended otherwise meanwhile
 *
 * Return: 0; -EPROTO if it was not asked.
 */
int sdp_sinkadvert_cancelled(struct sdp_sinkadvert *a)
{
	if (!a->unanswered)
		return -EPROTO;
	a->unanswered = false;
	sdp_sinkadvert_passed(a);
	return 0;
}

/**
 * sdp_sinkadvert_end() - no key to the memory is left
 * @a: advertisement that is over
 */
void sdp_sinkadvert_end(struct sdp_sinkadvert *a)
{
	a->state = SDP_SINKADVERT_NONE;
}

/**
 * sdp_sinktarget_advertised() - the peer lets us write (SinkAvail)
 * @t: target
 * @sinkah: what it says
 * @sent: how many messages with payload we have sent
 * @offering: memory that we advertise is outstanding, which the advertisement does not
 *	know of
 *
 * Return: 0; -EPROTO if the peer may not advertise that now.
 */
int sdp_sinktarget_advertised(struct sdp_sinktarget *t, const struct sdp_sinkah *sinkah,
			      u32 sent, bool offering)
{
	if (sdp_sinktarget_usable(t, sent) || t->ack_due)
		return -EPROTO;
	t->held = sinkah->non_disc == sent && !offering;
	t->size = sinkah->size;
	t->rkey = sinkah->rkey;
	t->vaddr = sinkah->vaddr;
	t->sent = sent;
	return 0;
}

/**
 * sdp_sinktarget_drop() - the peer's memory was written to, or will not be
 * @t: target
 */
void sdp_sinktarget_drop(struct sdp_sinktarget *t)
{
	t->held = false;
}

/**
 * sdp_sinktarget_cancelled() - the peer wants its memory back (SinkAvailCancel)
 * @t: target, which may have ended otherwise before
 *
 * Return: 0; -EPROTO if it did not wait for the last answer.
 */
int sdp_sinktarget_cancelled(struct sdp_sinktarget *t)
{
	if (t->ack_due)
		return -EPROTO;
	t->held = false;
	t->ack_due = true;
	return 0;
}

/**
 * sdp_sinktarget_acked() - SinkCancelAck is sent
 * @t: target whose @ack_due is set
 */
void sdp_sinktarget_acked(struct sdp_sinktarget *t)
{
	t->ack_due = false;
}

/**
 * sdp_zcopy_may_send() - whether the credits allow a message
 * @source: what this end lets the peer read
 * @a: what it lets the peer write to
 * @credit: credits of their connection
 * @mid: kind of message
 * @payload_len: bytes of payload
 *
 * As long as memory is outstanding, what the request for its end needs is reserved, for
 * each kind: the memory must come back even if no application reads, at either end, and
 * returns credits.
 */
bool sdp_zcopy_may_send(const struct sdp_zsource *source, const struct sdp_sinkadvert *a,
			const struct sdp_credit *credit, enum sdp_mid mid, u32 payload_len)
{
	u32 reserved = 0;

	if (mid != SDP_MID_SRCAVAILCANCEL)
		reserved += sdp_zsource_reserves(source);
	if (mid != SDP_MID_SINKAVAILCANCEL)
		reserved += sdp_sinkadvert_reserves(a);
	/* What is about to be outstanding is not yet. */
	if (mid == SDP_MID_SINKAVAIL ||
	    (mid == SDP_MID_SRCAVAIL && !sdp_zsource_reserves(source)))
		reserved++;
	return sdp_credit_may_send(credit, mid, payload_len) &&
	       (!reserved || sdp_credit_available(credit) >= CREDITS_FOR_CANCEL + reserved);
}
