// SPDX-License-Identifier: GPL-2.0
/*
 * Writes that have returned, sent as messages, straight from their pages: into the peer's
 * ring or its receive buffers, by the device's own key, without a rendezvous.  And what the
 * peer does not want to read of pages that were advertised (SendSm).
 */
#include "base/base.h"
#include "rdma/rdma.h"
#include "zcopy.h"

/**
 * sdp_zdirect_suits() - whether pages are better sent as messages than advertised
 * @z: zero copy of a locked socket that is connected
 * @len: bytes of the write
 *
 * An advertisement saves the reader's copy, and takes a rendezvous, a registration and
 * a reader that waits for that much.  Of long writes that follow each other all but the
 * first hide the time that a rendezvous takes.  Not every peer reads, nor every program
 * in such a way.
 */
bool sdp_zdirect_suits(struct sdp_zcopy *z, u32 len)
{
	u32 most = sdp_zdirect_most(z);

	sdp_owned(z->st->sk);
	if (len < most)
		return true;
	return most && (!sdp_zsend_busy(z) || !z->source.max || sdp_backoff_skips(&z->unread));
}

/* The pages whose bytes are to be sent next; NULL if there are none yet. */
static struct sdp_zpages *sdp_zdirect_pages(const struct sdp_zcopy *z)
{
	return z->next && z->next->state == SDP_ZSEND_DIRECT ? z->next : NULL;
}

/**
 * sdp_zdirect_left() - how many bytes of the next pages are to be sent
 * @z: zero copy of a locked socket
 */
u32 sdp_zdirect_left(const struct sdp_zcopy *z)
{
	const struct sdp_zpages *zp = sdp_zdirect_pages(z);

	sdp_owned(z->st->sk);
	return zp ? zp->len - zp->sent : 0;
}

/* Goes on by so many bytes from a place in the list of pages. */
static struct scatterlist *sdp_zdirect_skip(struct scatterlist *sg, u32 len, u32 *offset)
{
	len += *offset;
	for (; sg && len >= sg_dma_len(sg); sg = sg_next(sg))
		len -= sg_dma_len(sg);
	*offset = len;
	return sg;
}

/* The place of the first byte that was not read, when messages begin. */
static void sdp_zdirect_begin(struct sdp_zpages *zp)
{
	zp->at_off = 0;
	zp->at = sdp_zdirect_skip(zp->sgt.sgl, zp->sent, &zp->at_off);
}

/**
 * sdp_zdirect_fit() - how many bytes one work request can describe
 * @z: zero copy of a locked socket with bytes to send
 * @len: bytes wanted
 *
 * Return: bytes, not more than @len.
 */
u32 sdp_zdirect_fit(const struct sdp_zcopy *z, u32 len)
{
	struct sdp_zpages *zp = sdp_zdirect_pages(z);
	struct scatterlist *sg;
	u32 offset, sges;
	u32 fit = 0;

	sdp_owned(z->st->sk);
	if (!zp->at)
		sdp_zdirect_begin(zp);
	offset = zp->at_off;
	for (sg = zp->at, sges = 1; sg && sges < z->st->link->max_sge && fit < len; sges++) {
		fit += sg_dma_len(sg) - offset;
		offset = 0;
		sg = sg_next(sg);
	}
	return min(fit, len);
}

/* Describes the next bytes, or a part of them, not more than sdp_zdirect_fit() said. */
static int sdp_zdirect_map(struct sdp_payload *payload, u32 off, u32 len, struct ib_sge *sge)
{
	struct sdp_zcopy *z = container_of(payload, struct sdp_zcopy, direct_payload);
	struct sdp_zpages *zp = sdp_zdirect_pages(z);
	u32 offset = zp->at_off;
	struct scatterlist *sg = sdp_zdirect_skip(zp->at, off, &offset);
	int n = 0;

	for (; len; sg = sg_next(sg), offset = 0, n++) {
		sge[n].addr = sg_dma_address(sg) + offset;
		sge[n].length = min(sg_dma_len(sg) - offset, len);
		sge[n].lkey = z->st->link->pd->local_dma_lkey;
		len -= sge[n].length;
	}
	return n;
}

/* The bytes are posted, or are about to be. */
static void sdp_zdirect_sent(struct sdp_zcopy *z, struct sdp_zpages *zp, u32 len)
{
	zp->sent += len;
	zp->at = sdp_zdirect_skip(zp->at, len, &zp->at_off);
	if (zp->straight)
		WRITE_ONCE(z->unsent_bytes, z->unsent_bytes - len);
}

/**
 * sdp_zdirect_take() - describe the next bytes, which a request is about to take
 * @z: zero copy of a locked socket
 * @len: bytes, not more than sdp_zdirect_fit() said
 * @sge: scatter elements to fill, as many as a send request may have
 *
 * Return: elements filled.
 */
int sdp_zdirect_take(struct sdp_zcopy *z, u32 len, struct ib_sge *sge)
{
	int n = sdp_zdirect_map(&z->direct_payload, 0, len, sge);

	sdp_owned(z->st->sk);
	sdp_zdirect_sent(z, sdp_zdirect_pages(z), len);
	return n;
}

/* The bytes are posted; behind the last one of their pages these are free. */
static struct sdp_done *sdp_zdirect_consume(struct sdp_payload *payload, u32 len)
{
	struct sdp_zcopy *z = container_of(payload, struct sdp_zcopy, direct_payload);
	struct sdp_zpages *zp = sdp_zdirect_pages(z);

	sdp_zdirect_sent(z, zp, len);
	SDP_SOCK_ADD_STATS(z->st->sk, SDP_MIB_DIRECTBYTESOUT, len);
	if (zp->sent != zp->len)
		return NULL;
	sdp_zsend_advance(z);
	return &z->finished;
}

/**
 * sdp_zdirect_prepare() - prepare a new socket's zero copy
 * @z: zero copy, zeroed
 */
void sdp_zdirect_prepare(struct sdp_zcopy *z)
{
	z->direct_payload.map = sdp_zdirect_map;
	z->direct_payload.consume = sdp_zdirect_consume;
}
