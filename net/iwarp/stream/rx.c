// SPDX-License-Identifier: GPL-2.0
/*
 * The receiver: reads TCP's data in order, and ends the connection after a protocol
 * error.
 */
#include <net/tcp.h>

#include "offload/offload.h"
#include "internal.h"

/* Returns the address of a part of an skb, or NULL if it is not contiguous. */
static const u8 *iwp_skb_linear(const struct sk_buff *skb, u32 off, u32 len)
{
	u32 start = skb_headlen(skb);
	int i;

	if (off + len <= start)
		return skb->data + off;
	for (i = 0; i < skb_shinfo(skb)->nr_frags && off >= start; i++) {
		const skb_frag_t *frag = &skb_shinfo(skb)->frags[i];

		if (off + len <= start + skb_frag_size(frag))
			return skb_frag_address(frag) + off - start;
		start += skb_frag_size(frag);
	}
	return NULL;
}

static const u8 *iwp_skb_contiguous(const struct iwarp_source *src, u32 off, u32 len)
{
	return iwp_skb_linear(src->ctx, off, len);
}

/* Callers never exceed the skb. */
static void iwp_skb_pieces(const struct iwarp_source *src, u32 off, u32 len,
			   iwarp_piece_fn piece, void *arg)
{
	struct sk_buff *skb = (struct sk_buff *)src->ctx;
	struct skb_seq_state state;
	unsigned int done = 0;
	const u8 *data;

	skb_prepare_seq_read(skb, off, off + len, &state);
	while (done < len) {
		unsigned int n = skb_seq_read(done, &data, &state);

		if (WARN_ON_ONCE(!n))
			return;
		n = min(n, len - done);
		piece(arg, data, n);
		done += n;
	}
	skb_abort_seq_read(&state);
}

static void iwp_copy_piece(void *arg, const u8 *data, u32 len)
{
	u8 **to = arg;

	iwp_copy(*to, data, len);
	*to += len;
}

/**
 * iwp_skb_copy() - copy from an skb
 * @src: its @ctx is the skb
 * @off: offset in the skb
 * @to: destination
 * @len: number of bytes
 */
void iwp_skb_copy(const struct iwarp_source *src, u32 off, void *to, u32 len)
{
	const u8 *from = src->linear ? src->linear + off : iwp_skb_linear(src->ctx, off, len);

	if (from)
		iwp_copy(to, from, len);
	else
		iwp_skb_pieces(src, off, len, iwp_copy_piece, &to);
}

static void iwp_crc_piece(void *arg, const u8 *data, u32 len)
{
	u32 *crc = arg;

	*crc = iwp_crc32c(*crc, data, len);
}

/**
 * iwp_skb_crc() - checksum a part of an skb
 * @src: its @ctx is the skb
 * @off: offset in the skb
 * @len: number of bytes
 * @crc: checksum of the bytes before
 *
 * Return: the continued checksum.
 */
u32 iwp_skb_crc(const struct iwarp_source *src, u32 off, u32 len, u32 crc)
{
	if (src->linear)
		return iwp_crc32c(crc, src->linear + off, len);
	iwp_skb_pieces(src, off, len, iwp_crc_piece, &crc);
	return crc;
}

static int iwp_rx_actor(read_descriptor_t *desc, struct sk_buff *skb,
			unsigned int offset, size_t len)
{
	const u8 *linear = iwp_skb_linear(skb, offset, len);
	struct iwp_qp *qp = desc->arg.data;
	struct iwarp_source src = {
		.copy = iwp_skb_copy,
		.crc = iwp_skb_crc,
		.pieces = iwp_skb_pieces,
		.contiguous = iwp_skb_contiguous,
		.ctx = skb,
		.linear = linear ? linear - offset : NULL,
	};
	u32 taken;

	if (qp->state == IWP_QP_ERROR)
		return 0;
	if (qp->design == IWP_DESIGN_HOST) {
		taken = iwarp_rx_feed(&qp->rx.wire, &src, offset, len);
	} else {
		iwp_engine_enter(qp);
		taken = iwarp_rx_feed(&qp->rx.wire, &src, offset, len);
		iwp_engine_leave(qp);
	}
	if (taken < len)
		desc->count = 0;
	return taken;
}

/**
 * iwp_rx_flush() - flush the receive request of a partly received message
 * @qp: queue pair in the error state
 */
void iwp_rx_flush(struct iwp_qp *qp)
{
	if (qp->rx.has_rqe)
		iwp_rx_complete(qp, IWARP_SEND,
				qp->rx.status ?: SIW_WC_WR_FLUSH_ERR, 0, 0, 0);
}

static void iwp_rx_read(struct iwp_qp *qp)
{
	struct sock *sk = qp->tx.sk;
	read_descriptor_t desc = {
		.arg.data = qp,
		.count = 1,
	};

	/* TCP delays its acknowledgments in this mode, and ack.c sends them. */
	inet_csk_enter_pingpong_mode(sk);
	tcp_read_sock(sk, &desc, iwp_rx_actor);
	iwp_ack_schedule(qp);
}

/* A process that owns the socket may have disabled softirqs, and TCP sleeps then. */
static void iwp_rx_answer(struct iwp_qp *qp)
{
	if (sock_owned_by_user(qp->tx.sk))
		iwp_tx_queue(qp);
	else
		iwp_tx_ready(qp);
}

/**
 * iwp_rx_ready() - TCP has data, or a held message may be delivered
 * @qp: queue pair
 *
 * Context: socket lock held, Full Operation.
 */
void iwp_rx_ready(struct iwp_qp *qp)
{
	struct iwarp_rx *wire = &qp->rx.wire;
	struct iwp_tx *tx = &qp->tx;
	bool waited = tx->wait_first, held = qp->rx.hold.waiting;
	u32 reads = tx->reads_put;

	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	if (qp->state == IWP_QP_ERROR)
		return;
	iwp_ooo_hole_filled(qp);
	do {
		if (qp->rx.hold.waiting)
			iwp_hold_deliver(qp);
		if (qp->state != IWP_QP_ERROR)
			iwp_rx_read(qp);
		if (qp->state == IWP_QP_ERROR)
			return;
	} while (iwp_hold_can_deliver(qp));
	if (held || qp->rx.hold.waiting)
		iwp_hold_read_done(qp);
	if (wire->error) {
		if (wire->error == IWARP_E_MPA_CRC)
			iwp_count(qp->dev, IWP_STAT_RX_CRC_ERRORS, 1);
		iwp_tx_terminate(qp, wire->error, wire->fpdu, wire->fpdu_len);
		return;
	}
	if (tx->reads_put != reads || waited != tx->wait_first ||
	    tx->orq_get != qp->rx.orq_seen)
		iwp_rx_answer(qp);
	qp->rx.orq_seen = tx->orq_get;
}

static u32 iwp_engine_begin(struct iwarp_rx *wire)
{
	return iwp_rx_ops.begin(wire);
}

static enum iwarp_error iwp_engine_data(struct iwarp_rx *wire,
					const struct iwarp_source *src, u32 off,
					u32 len, u32 at)
{
	return iwp_rx_ops.data(wire, src, off, len, at);
}

/* Completions and their handlers are the host's work. */
static enum iwarp_error iwp_engine_end(struct iwarp_rx *wire)
{
	struct iwp_qp *qp = container_of(wire, struct iwp_qp, rx.wire);
	enum iwarp_error error;

	iwp_engine_leave(qp);
	error = iwp_rx_ops.end(wire);
	iwp_engine_enter(qp);
	return error;
}

/* As iwp_rx_ops, but accounts @end to the host. */
static const struct iwarp_rx_ops iwp_engine_rx_ops = {
	.begin = iwp_engine_begin,
	.data = iwp_engine_data,
	.end = iwp_engine_end,
};

/**
 * iwp_rx_start() - start Full Operation of the receiver
 * @qp: queue pair, whose @rx is empty
 * @interval: marker interval that we asked for, or %IWARP_NO_MARKERS
 * @crc: checksums are in use
 *
 * Context: socket lock held.
 */
void iwp_rx_start(struct iwp_qp *qp, u32 interval, bool crc)
{
	qp->rx.orq_seen = qp->tx.orq_get;
	iwarp_rx_init(&qp->rx.wire, qp->design == IWP_DESIGN_HOST ?
				    &iwp_rx_ops : &iwp_engine_rx_ops,
		      interval, crc, 0);
}
