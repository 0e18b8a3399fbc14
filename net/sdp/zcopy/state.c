// SPDX-License-Identifier: GPL-2.0
/*
 * Advertised sources at both ends (IBTA annex A4, combined mode).
 *
 * Every advertisement ends in one of two ways, which the sink decides: all of
 * it was read (RdmaRdCompl), or the rest is refused (SendSm) and comes by copy.
 * The source may ask for an end (SrcAvailCancel), and then waits for one of the
 * two.  SendSm ends all that is outstanding, also what crosses it on the wire.
 */
#include <linux/compiler.h>
#include <linux/errno.h>

#include "state.h"

/**
 * sdp_zpace_learn() - the peer has read what was sent
 * @pace: how long that took before
 * @time: how long it took now, behind all that was sent before
 *
 * As TCP learns how long a segment and its answer travel (RFC 6298).
 */
void sdp_zpace_learn(struct sdp_zpace *pace, u32 time)
{
	s32 off = time - (pace->mean >> 3);

	if (!pace->mean) {
		pace->mean = time << 3;
		pace->dev = time << 1;
		return;
	}
	pace->mean += off;
	pace->dev += (off < 0 ? -off : off) - (pace->dev >> 2);
}

/**
 * sdp_zpace_bound() - how long a peer takes that goes on as it did
 * @pace: how long it took
 *
 * Return: in the unit of what was learned; 0 if nothing was.
 */
u32 sdp_zpace_bound(const struct sdp_zpace *pace)
{
	return (pace->mean >> 3) + pace->dev;
}

static struct sdp_zadvert *sdp_zfifo_at(struct sdp_zfifo *fifo, u32 count)
{
	return &fifo->adverts[count % SDP_ZCOPY_ADVERTS];
}

static u32 sdp_zfifo_count(const struct sdp_zfifo *fifo)
{
	return fifo->head - fifo->tail;
}

static struct sdp_zadvert *sdp_zfifo_oldest(struct sdp_zfifo *fifo)
{
	return sdp_zfifo_at(fifo, fifo->tail);
}

static u32 sdp_zcopy_limit(u32 max)
{
	return max < SDP_ZCOPY_ADVERTS ? max : SDP_ZCOPY_ADVERTS;
}

/**
 * sdp_zsource_init() - start when Hello or HelloAck came in
 * @z: source
 * @max: advertisements that the peer holds, 0 = none
 */
void sdp_zsource_init(struct sdp_zsource *z, u32 max)
{
	*z = (struct sdp_zsource){ .max = sdp_zcopy_limit(max) };
}

/**
 * sdp_zsource_room() - how many SrcAvail may be sent
 * @z: source
 *
 * Credits are another question.
 */
u32 sdp_zsource_room(const struct sdp_zsource *z)
{
	if (z->cancel_due || z->cancelled)
		return 0;
	return z->max - sdp_zfifo_count(&z->fifo);
}

/**
 * sdp_zsource_advertise() - SrcAvail is sent
 * @z: source; sdp_zsource_may_advertise() said yes
 * @mseq: the message's sequence number
 * @len: bytes that the peer is to read, not counting those that the message
 *	brings; at least one
 */
void sdp_zsource_advertise(struct sdp_zsource *z, u32 mseq, u32 len)
{
	*sdp_zfifo_at(&z->fifo, z->fifo.head++) = (struct sdp_zadvert){
		.mseq = mseq,
		.left = len,
	};
}

/* What is outstanding has ended, and a request to cancel it with it. */
static void sdp_zsource_settle(struct sdp_zsource *z)
{
	if (sdp_zsource_busy(z))
		return;
	z->cancel_due = false;
	z->cancelled = false;
}

/* Whether the peer has seen the advertisement that it speaks of. */
static bool sdp_zsource_seen(const struct sdp_zadvert *advert, u32 mseq_ack)
{
	return (s32)(mseq_ack - advert->mseq) >= 0;
}

/* Takes a number of bytes off the oldest; returns those that are too many. */
static u32 sdp_zsource_take(struct sdp_zsource *z, u32 mseq_ack, u32 len)
{
	struct sdp_zadvert *advert;
	u32 part;

	while (len && sdp_zsource_busy(z)) {
		advert = sdp_zfifo_oldest(&z->fifo);
		if (!sdp_zsource_seen(advert, mseq_ack))
			break;
		part = len < advert->left ? len : advert->left;
		len -= part;
		z->done += part;
		advert->left -= part;
		if (!advert->left)
			z->fifo.tail++;
	}
	return len;
}

/**
 * sdp_zsource_read() - the peer has read (RdmaRdCompl)
 * @z: source
 * @mseq_ack: of that message
 * @len: bytes that it reports
 *
 * Return: 0; -EPROTO if that is more than it could have read.
 */
int sdp_zsource_read(struct sdp_zsource *z, u32 mseq_ack, u32 len)
{
	len = sdp_zsource_take(z, mseq_ack, len);
	sdp_zsource_settle(z);
	return len ? -EPROTO : 0;
}

/**
 * sdp_zsource_refused() - the peer wants the rest by copy (SendSm)
 * @z: source
 * @mseq_ack: of that message
 *
 * Nothing is outstanding any more, and @done says what was read.
 *
 * Return: 0; -EPROTO if the peer has seen nothing that it could refuse.
 */
int sdp_zsource_refused(struct sdp_zsource *z, u32 mseq_ack)
{
	if (!sdp_zsource_busy(z) ||
	    !sdp_zsource_seen(sdp_zfifo_oldest(&z->fifo), mseq_ack))
		return -EPROTO;
	z->fifo.tail = z->fifo.head;
	sdp_zsource_settle(z);
	return 0;
}

/**
 * sdp_zsource_cancel() - ask the peer to end what is outstanding
 * @z: source
 *
 * Until it has ended the peer may go on to read.
 */
void sdp_zsource_cancel(struct sdp_zsource *z)
{
	z->cancel_due = sdp_zsource_busy(z) && !z->cancelled;
}

/**
 * sdp_zsource_cancel_sent() - SrcAvailCancel is sent
 * @z: source, whose @cancel_due is set
 */
void sdp_zsource_cancel_sent(struct sdp_zsource *z)
{
	z->cancel_due = false;
	z->cancelled = true;
}

/**
 * sdp_zsink_init() - start when the connection is set up
 * @z: sink
 * @max: advertisements that the peer may have outstanding
 */
void sdp_zsink_init(struct sdp_zsink *z, u32 max)
{
	*z = (struct sdp_zsink){ .max = sdp_zcopy_limit(max) };
}

/**
 * sdp_zsink_advertised() - the peer lets us read (SrcAvail)
 * @z: sink, after sdp_zsink_heard()
 * @msg: the message; payload belongs before what is advertised
 *
 * An advertisement that has crossed our SendSm is void, and its bytes come
 * again.  It has none with it, because it was not the first; as long as one is
 * outstanding there is no place for payload.
 *
 * Return: whether there is something new to read; -EPROTO if the peer may not
 * advertise that now.
 */
int sdp_zsink_advertised(struct sdp_zsink *z, const struct sdp_msg *msg)
{
	const struct sdp_srcah *srcah = &msg->srcah;

	if (sdp_zfifo_count(&z->fifo) >= z->max ||
	    (msg->payload_len && (z->voids || sdp_zsink_busy(z))) ||
	    srcah->len <= msg->payload_len)
		return -EPROTO;
	if (z->voids)
		return 0;
	*sdp_zfifo_at(&z->fifo, z->fifo.head++) = (struct sdp_zadvert){
		.rkey = srcah->rkey,
		.vaddr = srcah->vaddr + msg->payload_len,
		.left = srcah->len - msg->payload_len,
	};
	return 1;
}

/*
 * The first advertisement that is not being read to its end, and how much of it
 * is; NULL if there is none.
 */
static const struct sdp_zadvert *sdp_zsink_next(const struct sdp_zsink *z,
						u32 *begun)
{
	const struct sdp_zadvert *advert;
	u32 i = READ_ONCE(z->fifo.tail);
	u32 head = READ_ONCE(z->fifo.head);

	*begun = z->reading;
	/* Who sleeps looks without the lock: the two may be of different connections. */
	if (head - i > SDP_ZCOPY_ADVERTS)
		return NULL;
	for (; i != head; i++) {
		advert = &z->fifo.adverts[i % SDP_ZCOPY_ADVERTS];
		if (*begun < advert->left)
			return advert;
		*begun -= advert->left;
	}
	return NULL;
}

/**
 * sdp_zsink_readable() - how many bytes may be read in one go
 * @z: sink
 *
 * They are behind those that are being read.
 *
 * Return: bytes; 0 if there is nothing, or if it is to be refused.
 */
u32 sdp_zsink_readable(const struct sdp_zsink *z)
{
	const struct sdp_zadvert *advert;
	u32 begun;

	if (z->refusing)
		return 0;
	advert = sdp_zsink_next(z, &begun);
	return advert ? advert->left - begun : 0;
}

/**
 * sdp_zsink_read() - begin to read
 * @z: sink
 * @len: bytes, at least one and not more than sdp_zsink_readable() said
 *
 * Return: where from.
 */
struct sdp_zadvert sdp_zsink_read(struct sdp_zsink *z, u32 len)
{
	u32 begun;
	struct sdp_zadvert from = *sdp_zsink_next(z, &begun);

	z->reading += len;
	from.vaddr += begun;
	from.left -= begun;
	return from;
}

/* Once all is read there is nothing left to refuse. */
static void sdp_zsink_settle(struct sdp_zsink *z)
{
	if (!sdp_zsink_busy(z))
		z->refusing = false;
}

/**
 * sdp_zsink_read_done() - the first of what is being read has arrived
 * @z: sink
 * @len: bytes, those of one sdp_zsink_read()
 */
void sdp_zsink_read_done(struct sdp_zsink *z, u32 len)
{
	struct sdp_zadvert *advert = sdp_zfifo_oldest(&z->fifo);

	advert->left -= len;
	advert->vaddr += len;
	z->unreported += len;
	z->reading -= len;
	if (!advert->left) {
		z->spent = true;
		z->spent_rkey = advert->rkey;
		z->fifo.tail++;
	}
	sdp_zsink_settle(z);
}

/**
 * sdp_zsink_refuse() - have what is outstanding sent by copy
 * @z: sink
 *
 * That is also the answer to SrcAvailCancel.  What the device is reading is
 * read to its end before.  If nothing is outstanding this does nothing: what
 * the peer means has ended, and it will hear of that.
 */
void sdp_zsink_refuse(struct sdp_zsink *z)
{
	z->refusing = sdp_zsink_busy(z);
}

/**
 * sdp_zsink_due() - which message to the peer is due
 * @z: sink
 *
 * Return: SDP_MID_RDMARDCOMPL, for as many bytes as @unreported says;
 * SDP_MID_SENDSM; or SDP_MID_DATA, which stands for nothing.
 */
enum sdp_mid sdp_zsink_due(const struct sdp_zsink *z)
{
	if (z->unreported)
		return SDP_MID_RDMARDCOMPL;
	if (z->refusing && !z->reading)
		return SDP_MID_SENDSM;
	return SDP_MID_DATA;
}

/**
 * sdp_zsink_spent() - whether a key is not needed any more
 * @z: sink that is about to report what was read
 * @rkey: set to the key
 *
 * Of several advertisements that are reported at once it is the last one's.
 */
bool sdp_zsink_spent(const struct sdp_zsink *z, u32 *rkey)
{
	u32 i;

	for (i = z->fifo.tail; i != z->fifo.head; i++)
		if (z->fifo.adverts[i % SDP_ZCOPY_ADVERTS].rkey ==
		    z->spent_rkey)
			return false;
	*rkey = z->spent_rkey;
	return z->spent;
}

/**
 * sdp_zsink_told() - the message that was due is sent
 * @z: sink
 * @mid: what sdp_zsink_due() said
 * @mseq: the message's sequence number
 */
void sdp_zsink_told(struct sdp_zsink *z, enum sdp_mid mid, u32 mseq)
{
	if (mid == SDP_MID_RDMARDCOMPL) {
		z->unreported = 0;
		z->spent = false;
		return;
	}
	z->fifo.tail = z->fifo.head;
	z->refusing = false;
	z->voids = true;
	z->refused_mseq = mseq;
}
