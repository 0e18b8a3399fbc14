// SPDX-License-Identifier: GPL-2.0
/*
 * Segments: payload is copied once, into pages of the processor with gaps for markers,
 * and the checksum is computed.
 */
#include <net/tcp.h>

#include "offload/offload.h"
#include "internal.h"
#include "user.h"

/* With less space in TCP's segment the header is not worth it. */
#define IWP_SEG_ROOM_MIN	256
/* Payload behind a long segment is where copies are fast. */
#define IWP_SEG_ALIGN		64
/* The longest segment, with its length and checksum. */
#define IWP_SEG_ROOM_MAX	(IWARP_MULPDU_MAX + 8)

/* All pages may be of order 0, behind what is left of another one. */
static_assert(1 + DIV_ROUND_UP(IWP_SEG_ROOM_MAX, SZ_4K) <= IWP_TX_SEG_VECS);

/**
 * struct iwp_out - a segment that is being built
 * @tx: transmit state
 * @gap: where markers go
 * @frag: page that it is in, of this processor
 * @at: next byte, in @frag
 * @room: bytes that fit there
 * @written: bytes before @at that are not in a fragment yet
 * @crc_pending: of these, bytes that are not in @crc yet
 * @crc: checksum so far
 * @err: -ENOMEM after an allocation failure
 */
struct iwp_out {
	struct iwp_tx *tx;
	struct iwarp_gap gap;
	struct page_frag *frag;
	u8 *at;
	u32 room;
	u32 written;
	u32 crc_pending;
	u32 crc;
	int err;
};

static void iwp_vec_add(struct iwp_tx *tx, struct page *page, u32 offset,
			u32 len)
{
	struct bio_vec *last = tx->vecs + tx->nr_vecs - 1;

	if (tx->nr_vecs > tx->nr_submitted && last->bv_page == page &&
	    last->bv_offset + last->bv_len == offset) {
		last->bv_len += len;
		return;
	}
	get_page(page);
	bvec_set_page(&tx->vecs[tx->nr_vecs++], page, len, offset);
}

/* One call for all contiguous bytes, as each call has a fixed cost. */
static void iwp_out_crc(struct iwp_out *out)
{
	if (out->tx->use_crc && out->crc_pending)
		out->crc = iwp_crc32c(out->crc, out->at - out->crc_pending,
				      out->crc_pending);
	out->crc_pending = 0;
}

/* Make a fragment of what was written. */
static void iwp_out_flush(struct iwp_out *out)
{
	struct page_frag *frag = out->frag;

	if (!out->written)
		return;
	iwp_out_crc(out);
	iwp_vec_add(out->tx, frag->page, frag->offset, out->written);
	frag->offset += out->written;
	out->written = 0;
}

static bool iwp_out_next_page(struct iwp_out *out)
{
	iwp_out_flush(out);
	out->frag = iwp_frag_get(1, &out->room);
	if (!out->frag) {
		out->err = -ENOMEM;
		return false;
	}
	out->at = page_address(out->frag->page) + out->frag->offset;
	return true;
}

static void iwp_out_wrote(struct iwp_out *out, u32 len)
{
	out->at += len;
	out->room -= len;
	out->written += len;
	out->crc_pending += len;
}

/* Writes bytes of the stream, no marker in between. */
static void iwp_out_raw(struct iwp_out *out, const u8 *from, u32 len)
{
	while (len && (out->room || iwp_out_next_page(out))) {
		u32 n = min(len, out->room);

		iwp_copy(out->at, from, n);
		iwp_out_wrote(out, n);
		from += n;
		len -= n;
	}
}

/* The same, of what a process writes. */
static void iwp_out_raw_iter(struct iwp_out *out, struct iwp_user *user, u32 len)
{
	while (len && (out->room || iwp_out_next_page(out))) {
		u32 n = min(len, out->room);

		if (iwp_user_copy(user, out->at, n)) {
			out->err = -EFAULT;
			return;
		}
		iwp_out_wrote(out, n);
		len -= n;
	}
}

static void iwp_out_marker(struct iwp_out *out)
{
	u8 marker[IWARP_MARKER_LEN];

	if (!iwarp_marker_at(out->gap.interval, out->gap.pos))
		return;
	iwarp_gap_marker(&out->gap, marker);
	iwp_out_raw(out, marker, sizeof(marker));
}

/* Writes bytes and the markers between them. */
static int iwp_out_bytes(void *ctx, void *from, size_t len)
{
	struct iwp_out *out = ctx;

	while (len && !out->err) {
		u32 n;

		iwp_out_marker(out);
		n = min_t(size_t, len, iwarp_gap_room(&out->gap));
		iwp_out_raw(out, from, n);
		iwarp_gap_advance(&out->gap, n);
		from += n;
		len -= n;
	}
	return out->err;
}

/* As iwp_out_bytes(), of what a process writes. */
static int iwp_out_iter(void *ctx, struct iov_iter *from, size_t len)
{
	struct iwp_out *out = ctx;
	struct iwp_user user;

	iwp_user_begin(&user, from, len);
	while (len && !out->err) {
		u32 n;

		iwp_out_marker(out);
		n = min_t(size_t, len, iwarp_gap_room(&out->gap));
		iwp_out_raw_iter(out, &user, n);
		iwarp_gap_advance(&out->gap, n);
		len -= n;
	}
	iwp_user_end(&user);
	return out->err;
}

/* As iwp_out_bytes(), but passes the pages themselves to TCP where allowed. */
static int iwp_out_pages(void *ctx, void *from, size_t len)
{
	struct iwp_out *out = ctx;

	while (len && !out->err) {
		struct page *page = virt_to_page(from);
		u32 n;

		iwp_out_marker(out);
		n = min_t(size_t, len, iwarp_gap_room(&out->gap));
		n = min_t(size_t, n, PAGE_SIZE - offset_in_page(from));
		if (!sendpage_ok(page)) {
			iwp_out_raw(out, from, n);
		} else {
			iwp_out_flush(out);
			iwp_vec_add(out->tx, page, offset_in_page(from), n);
			if (out->tx->use_crc)
				out->crc = iwp_crc32c(out->crc, from, n);
		}
		iwarp_gap_advance(&out->gap, n);
		from += n;
		len -= n;
	}
	return out->err;
}

/* For a contiguous segment without markers. */
static int iwp_out_linear(void *ctx, void *from, size_t len)
{
	u8 **at = ctx;

	iwp_copy(*at, from, len);
	*at += len;
	return 0;
}

static int iwp_out_linear_iter(void *ctx, struct iov_iter *from, size_t len)
{
	u8 **at = ctx;
	struct iwp_user user;
	int err;

	iwp_user_begin(&user, from, len);
	err = iwp_user_copy(&user, *at, len);
	iwp_user_end(&user);
	*at += len;
	return err;
}

/**
 * struct iwp_payload_ops - writes payload
 * @copy: for memory that is not stable, which must be copied
 * @span: for memory in regions
 * @iter: for memory of a process; -EFAULT if it is not there
 * @ctx: argument of all of them
 */
struct iwp_payload_ops {
	iwp_span_fn copy;
	iwp_span_fn span;
	int (*iter)(void *ctx, struct iov_iter *from, size_t len);
	void *ctx;
};

static void iwp_out_trailer(struct iwp_out *out, u32 ulpdu_len)
{
	static const u8 zeros[4];
	u8 crc[IWARP_CRC_LEN] = {};

	iwp_out_bytes(out, (void *)zeros, iwarp_pad_len(ulpdu_len));
	iwp_out_marker(out);
	iwp_out_crc(out);
	if (out->tx->use_crc)
		iwarp_crc_encode(out->crc, crc);
	iwp_out_raw(out, crc, sizeof(crc));
	out->crc_pending = 0;
	iwarp_gap_advance(&out->gap, sizeof(crc));
	iwp_out_flush(out);
}

/* What the request has with it, and what is left of @from. */
static int iwp_tx_inline(struct iwp_msg *msg, u32 len, const struct iwp_payload_ops *ops)
{
	const struct iwp_send *send = msg->send;
	u32 n = min(len, send->sge[0].length - min(msg->at, send->sge[0].length));

	if (n)
		ops->copy(ops->ctx, (u8 *)&send->sge[1] + msg->at, n);
	if (len == n)
		return IWP_MEM_OK;
	return WARN_ON_ONCE(!msg->from) ? -EFAULT : ops->iter(ops->ctx, msg->from, len - n);
}

static int iwp_tx_gather(struct iwp_qp *qp, struct iwp_msg *msg, u32 len,
			 const struct iwp_payload_ops *ops)
{
	struct iwp_send *send = msg->send;
	struct iwp_sgl sgl = {
		.pd = qp->ibqp.pd,
		.sge = send->sge,
		.num_sge = send->num_sge,
		.allow_no_stag = iwp_qp_kernel(qp),
	};

	if (send->flags & SIW_WQE_INLINE)
		return iwp_tx_inline(msg, len, ops);
	return iwp_sgl_walk(&sgl, msg->at, len, ops->span, ops->ctx);
}

/* Returns enum iwp_mem_err, or -EFAULT. */
static int iwp_tx_payload(struct iwp_qp *qp, u32 len, const struct iwp_payload_ops *ops)
{
	struct iwp_msg *msg = &qp->tx.msg;
	struct iwarp_read_req *req;

	switch (msg->source) {
	case IWP_MSG_SEND:
		return iwp_tx_gather(qp, msg, len, ops);
	case IWP_MSG_READ:
		req = &qp->tx.reads[qp->tx.reads_get % qp->tx.reads_size].req;
		if (len && !req->src_stag)
			return IWP_MEM_STAG;
		return iwp_mem_walk(qp->ibqp.pd, req->src_stag,
				    req->src_to + msg->at, len,
				    IB_ACCESS_REMOTE_READ, ops->span, ops->ctx);
	default:
		ops->copy(ops->ctx, msg->control + msg->at, len);
		return IWP_MEM_OK;
	}
}

static const u8 iwp_qns[] = {
	[IWARP_READ_REQ] = IWARP_QN_READ,
	[IWARP_SEND] = IWARP_QN_SEND,
	[IWARP_SEND_INV] = IWARP_QN_SEND,
	[IWARP_SEND_SE] = IWARP_QN_SEND,
	[IWARP_SEND_SE_INV] = IWARP_QN_SEND,
	[IWARP_TERMINATE] = IWARP_QN_TERMINATE,
	[IWARP_IMMEDIATE] = IWARP_QN_SEND,
	[IWARP_IMMEDIATE_SE] = IWARP_QN_SEND,
};

/*
 * If the end of the previous message has not been sent by TCP, the next segment fills
 * up TCP's segment, so that those after it are aligned again.
 */
static u32 iwp_seg_room(const struct iwp_tx *tx)
{
	u32 mss = tcp_sk(tx->sk)->mss_cache;
	u32 room = mss - tx->seg_used % mss;

	if (room < IWP_SEG_ROOM_MIN)
		room += mss;
	return tx->gather ? min_t(u32, room, IWP_TX_SG_ROOM) : room;
}

/*
 * How long the next ULPDU may be, with a header of @head bytes.
 *
 * One that arrives whole in one of TCP's segments can be checked before it is placed, and
 * placed before others have come, which takes checksums and markers; and an engine needs no
 * memory for a part of it. Without all these it only costs both ends what a packet costs,
 * though TCP gives the network device many at a time (GSO).
 */
static u32 iwp_seg_ulpdu(const struct iwp_tx *tx, u32 head)
{
	if (tx->long_fpdus)
		return head + round_down(IWARP_MULPDU_MAX - head, IWP_SEG_ALIGN);
	return max(iwarp_ulpdu_fit(tx->interval, tx->pos, iwp_seg_room(tx)), IWARP_MULPDU_MIN);
}

/* As much payload as fits there. */
static void iwp_seg_header(const struct iwp_tx *tx, struct iwarp_hdr *hdr)
{
	u32 head = iwarp_hdr_len(tx->msg.opcode) - IWARP_ULPDU_LENGTH_LEN;
	const struct iwp_msg *msg = &tx->msg;
	u32 room, left = msg->len - msg->at;

	room = iwp_seg_ulpdu(tx, head) - head;
	memset(hdr, 0, sizeof(*hdr));
	hdr->opcode = msg->opcode;
	hdr->payload_len = min(room, left);
	hdr->last = left <= room;
	hdr->stag = msg->stag;
	if (iwarp_opcode_tagged(msg->opcode)) {
		hdr->to = msg->to + msg->at;
		return;
	}
	hdr->qn = iwp_qns[msg->opcode];
	hdr->msn = msg->msn;
	hdr->mo = msg->at;
}

/**
 * iwp_vec_truncate() - drop fragments that were added last
 * @tx: transmit state
 * @nr: how many there were before
 * @last_len: length of the last of these
 *
 * Context: socket lock held.
 */
void iwp_vec_truncate(struct iwp_tx *tx, u32 nr, u32 last_len)
{
	while (tx->nr_vecs > nr)
		put_page(tx->vecs[--tx->nr_vecs].bv_page);
	if (nr)
		tx->vecs[nr - 1].bv_len = last_len;
}

/* Returns as iwp_tx_segment(). */
static int iwp_seg_scattered(struct iwp_qp *qp, const struct iwarp_hdr *hdr,
			     u32 *len)
{
	struct iwp_tx *tx = &qp->tx;
	struct iwp_out out = { .tx = tx, .crc = IWARP_CRC_SEED };
	struct iwp_payload_ops ops = {
		.copy = iwp_out_bytes,
		.span = tx->gather ? iwp_out_pages : iwp_out_bytes,
		.iter = iwp_out_iter,
		.ctx = &out,
	};
	u8 head[IWARP_HDR_MAX];
	int err;

	iwarp_gap_init(&out.gap, tx->interval, tx->pos);
	iwp_out_bytes(&out, head, iwarp_hdr_encode(hdr, head));
	err = iwp_tx_payload(qp, hdr->payload_len, &ops);
	if (err)
		return err;
	iwp_out_trailer(&out, iwarp_ulpdu_len(hdr));
	*len = out.gap.pos - (u32)tx->pos;
	return out.err;
}

/* The segment is contiguous, and there is space for it in a page of this processor. */
static int iwp_seg_linear(struct iwp_qp *qp, const struct iwarp_hdr *hdr, u32 len,
			  struct page_frag *frag)
{
	u8 *start = page_address(frag->page) + frag->offset;
	u8 *at = start + iwarp_hdr_encode(hdr, start);
	u8 *trailer = start + len - IWARP_CRC_LEN;
	struct iwp_payload_ops ops = {
		.copy = iwp_out_linear,
		.span = iwp_out_linear,
		.iter = iwp_out_linear_iter,
		.ctx = &at,
	};
	int err;

	err = iwp_tx_payload(qp, hdr->payload_len, &ops);
	if (err)
		return err;
	/* Padding, and 0 if no checksum is in use. */
	put_unaligned_le32(0, at);
	put_unaligned_le32(0, trailer);
	if (qp->tx.use_crc)
		iwarp_crc_encode(iwp_crc32c(IWARP_CRC_SEED, start, trailer - start),
				 trailer);
	iwp_vec_add(&qp->tx, frag->page, frag->offset, len);
	frag->offset += len;
	return 0;
}

/* Softirqs are disabled, as the pages are the processor's. */
static int iwp_seg_write(struct iwp_qp *qp, const struct iwarp_hdr *hdr,
			 u32 *len)
{
	struct iwp_tx *tx = &qp->tx;
	u32 last_len, room, nr = tx->nr_vecs;
	struct page_frag *frag = NULL;
	int err;

	*len = iwarp_fpdu_len(iwarp_ulpdu_len(hdr));
	if (!tx->interval && !tx->gather)
		frag = iwp_frag_get(*len, &room);
	if (frag)
		return iwp_seg_linear(qp, hdr, *len, frag);
	last_len = nr ? tx->vecs[nr - 1].bv_len : 0;
	err = iwp_seg_scattered(qp, hdr, len);
	if (err)
		iwp_vec_truncate(tx, nr, last_len);
	return err;
}

/**
 * iwp_tx_segment() - build the next segment of the message
 * @qp: queue pair with a message, and free entries in @vecs
 *
 * Context: socket lock held.
 * Return: 0; -ENOMEM; -EFAULT if a process's memory is not there; or enum iwp_mem_err if
 * access to the payload is refused. Then nothing was built.
 */
int iwp_tx_segment(struct iwp_qp *qp)
{
	struct iwp_tx *tx = &qp->tx;
	struct iwarp_hdr hdr;
	u32 len;
	int err;

	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	iwp_seg_header(tx, &hdr);
	local_bh_disable();
	err = iwp_seg_write(qp, &hdr, &len);
	local_bh_enable();
	if (err)
		return err;
	tx->seg_used += len;
	tx->pos += len;
	tx->msg.at += hdr.payload_len;
	iwp_count(qp->dev, IWP_STAT_TX_FPDUS, 1);
	if (!iwp_design_offloaded(qp->design))
		iwp_count(qp->dev, IWP_STAT_TX_HOST_BYTES, hdr.payload_len);
	tx->segs++;
	if (hdr.last)
		iwp_tx_msg_sent(qp);
	return 0;
}

/**
 * iwp_tx_release_pages() - release all fragments
 * @tx: transmit state; nothing is sent any more
 */
void iwp_tx_release_pages(struct iwp_tx *tx)
{
	iwp_vec_truncate(tx, 0, 0);
	tx->nr_ready = 0;
	tx->nr_submitted = 0;
	tx->nr_batches = 0;
}
