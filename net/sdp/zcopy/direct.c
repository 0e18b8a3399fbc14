// SPDX-License-Identifier: GPL-2.0
/*
 * What the peer does not want to read (SendSm), of pages whose write has returned:
 * sent as messages, straight from the pages.
 */
#include "rdma/rdma.h"
#include "zcopy.h"

/* The pages whose bytes are to be sent next; NULL if there are none yet. */
static struct sdp_zpages *sdp_zdirect_pages(const struct sdp_zcopy *z)
{
	const struct sdp_zsend *s;
	u32 i;

	for (i = z->send_tail; i != z->send_head; i++) {
		s = &z->sends[i % SDP_ZCOPY_ADVERTS];
		if (s->state != SDP_ZSEND_DIRECT)
			return NULL;
		if (s->zp->sent != s->zp->len)
			return s->zp;
	}
	return NULL;
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

/* Where the next byte is: the element, and the offset in it. */
static struct scatterlist *sdp_zdirect_at(struct sdp_zpages *zp, u32 *offset)
{
	struct scatterlist *sg;
	u32 left = zp->sent;
	u32 i;

	for_each_sg(zp->sgt.sgl, sg, zp->nents, i) {
		if (left < sg_dma_len(sg))
			break;
		left -= sg_dma_len(sg);
	}
	*offset = left;
	return sg;
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
	sg = sdp_zdirect_at(zp, &offset);
	for (sges = 1; sges < SDP_TX_MAX_SGE && fit < len; sges++) {
		fit += sg_dma_len(sg) - offset;
		offset = 0;
		sg = sg_next(sg);
		if (!sg)
			break;
	}
	return min(fit, len);
}

/* Describes the next bytes, not more than sdp_zdirect_fit() said. */
static int sdp_zdirect_map(struct sdp_payload *payload, u32 len, struct ib_sge *sge)
{
	struct sdp_zcopy *z = container_of(payload, struct sdp_zcopy, direct_payload);
	struct sdp_zpages *zp = sdp_zdirect_pages(z);
	struct scatterlist *sg;
	u32 offset;
	int n = 0;

	sg = sdp_zdirect_at(zp, &offset);
	for (; len; sg = sg_next(sg), offset = 0, n++) {
		sge[n].addr = sg_dma_address(sg) + offset;
		sge[n].length = min(sg_dma_len(sg) - offset, len);
		sge[n].lkey = z->st->link->pd->local_dma_lkey;
		len -= sge[n].length;
	}
	return n;
}

/* The bytes are posted; behind the last one of their pages these are free. */
static struct sdp_done *sdp_zdirect_consume(struct sdp_payload *payload, u32 len)
{
	struct sdp_zcopy *z = container_of(payload, struct sdp_zcopy, direct_payload);
	struct sdp_zpages *zp = sdp_zdirect_pages(z);

	zp->sent += len;
	z->direct += len;
	return zp->sent == zp->len ? &z->finished : NULL;
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
