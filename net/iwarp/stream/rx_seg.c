// SPDX-License-Identifier: GPL-2.0
/* Arriving segments: checks, placement of payload, and delivery. */
#include "internal.h"

static struct iwp_qp *iwp_rx_qp(struct iwarp_rx *wire)
{
	return container_of(wire, struct iwp_qp, rx.wire);
}

static int iwp_copy_span(void *ctx, void *span, size_t len)
{
	struct iwp_copy *copy = ctx;

	if (copy->src->linear)
		iwp_copy(span, copy->src->linear + copy->off, len);
	else
		copy->src->copy(copy->src, copy->off, span, len);
	copy->off += len;
	return 0;
}

/**
 * iwp_tagged_error() - error code for an RDMA Write that is not allowed
 * @err: result of the access check
 *
 * Return: error code for the Terminate (RFC 5041, section 7.1), or %IWARP_OK.
 */
enum iwarp_error iwp_tagged_error(enum iwp_mem_err err)
{
	switch (err) {
	case IWP_MEM_OK:
		return IWARP_OK;
	case IWP_MEM_PD:
		return IWARP_E_TAGGED_STREAM;
	case IWP_MEM_ACCESS:
		return IWARP_E_PROT_ACCESS;
	case IWP_MEM_BOUNDS:
		return IWARP_E_TAGGED_BOUNDS;
	default:
		return IWARP_E_TAGGED_STAG;
	}
}

/**
 * iwp_write_check() - check whether the peer may write
 * @qp: queue pair
 * @hdr: header of the segment
 *
 * STag 0, which needs no region in local scatter/gather lists, is refused.
 *
 * Return: enum iwp_mem_err.
 */
enum iwp_mem_err iwp_write_check(struct iwp_qp *qp,
				 const struct iwarp_hdr *hdr)
{
	if (!hdr->payload_len)
		return IWP_MEM_OK;
	if (!hdr->stag)
		return IWP_MEM_STAG;
	return iwp_mem_check(qp->ibqp.pd, hdr->stag, hdr->to, hdr->payload_len,
			     IB_ACCESS_REMOTE_WRITE);
}

/**
 * iwp_read_send() - get the send request of an outbound RDMA Read
 * @qp: queue pair
 * @nr: its number, from the sender's @orq_get to before @orq_put
 *
 * Return: the request.
 */
struct iwp_send *iwp_read_send(struct iwp_qp *qp, u32 nr)
{
	u32 index = iwp_read_index(&qp->tx, nr);

	return &qp->sq.ring[index & (qp->sq.size - 1)];
}

static struct iwp_send *iwp_oldest_read(struct iwp_qp *qp)
{
	return iwp_read_send(qp, qp->tx.orq_get);
}

static enum iwarp_error iwp_begin_response(struct iwp_qp *qp,
					   const struct iwarp_hdr *hdr)
{
	/* There is no response to a request that is not completely sent. */
	if (qp->tx.orq_get == qp->tx.orq_put ||
	    qp->tx.msg.send == iwp_oldest_read(qp))
		return IWARP_E_TAGGED_STAG;
	return iwarp_sink_check(&qp->rx.sink, hdr);
}

/**
 * iwp_rqe_len() - get the maximum message length of a receive request
 * @rqe: receive request
 *
 * Return: sum of its elements' lengths.
 */
u64 iwp_rqe_len(const struct siw_rqe *rqe)
{
	u64 len = 0;
	u8 i;

	for (i = 0; i < rqe->num_sge; i++)
		len += rqe->sge[i].length;
	return len;
}

/**
 * iwp_rx_take_rqe() - take a receive request for the arriving message
 * @qp: queue pair
 *
 * Context: socket lock held; with loopback, in the incoming direction's tasklet or its
 * place.
 * Return: false if there is none.
 */
bool iwp_rx_take_rqe(struct iwp_qp *qp)
{
	struct iwp_rx *rx = &qp->rx;

	if (rx->has_rqe)
		return true;
	rx->has_rqe = iwp_rq_take(qp, &rx->rqe);
	rx->rqe_len = iwp_rqe_len(&rx->rqe);
	rx->status = SIW_WC_SUCCESS;
	return rx->has_rqe;
}

/**
 * iwp_rx_send_fits() - check whether a segment fits into the receive request
 * @qp: queue pair with a receive request
 * @hdr: header of a Send message's segment
 *
 * Return: error code or %IWARP_OK.
 */
enum iwarp_error iwp_rx_send_fits(struct iwp_qp *qp,
				  const struct iwarp_hdr *hdr)
{
	struct iwp_rx *rx = &qp->rx;

	if ((u64)hdr->mo + hdr->payload_len <= rx->rqe_len)
		return IWARP_OK;
	rx->status = SIW_WC_LOC_LEN_ERR;
	return IWARP_E_UNTAGGED_LONG;
}

/*
 * siw's ABI cannot express immediate data, and its library looks completions up in a
 * table by opcode: user space never gets any.
 */
static bool iwp_rx_no_imm(const struct iwp_qp *qp,
			  const struct iwarp_hdr *hdr)
{
	return iwarp_opcode_immediate(hdr->opcode) && !iwp_qp_kernel(qp);
}

/* Returns enum iwarp_rx_verdict or enum iwarp_error. */
static u32 iwp_begin_send(struct iwp_qp *qp, const struct iwarp_hdr *hdr)
{
	if (iwp_hold_spills(qp))
		return iwp_hold_begin(qp, hdr);
	if (!iwp_rx_take_rqe(qp))
		return IWARP_E_UNTAGGED_NOBUF;
	return iwarp_opcode_immediate(hdr->opcode) ? IWARP_OK : iwp_rx_send_fits(qp, hdr);
}

static u32 iwp_rx_begin(struct iwarp_rx *wire)
{
	struct iwp_qp *qp = iwp_rx_qp(wire);
	const struct iwarp_hdr *hdr = &wire->hdr;
	u32 error;

	if (qp->state == IWP_QP_ERROR)
		return IWARP_E_RDMAP_LOCAL;
	if (unlikely(qp->rx.iter.over))
		return IWARP_RX_HOLD;
	/* With loopback the only message over TCP is Terminate. */
	if ((qp->loopback.pair && hdr->opcode != IWARP_TERMINATE) ||
	    iwp_rx_no_imm(qp, hdr))
		return IWARP_E_OP_OPCODE;
	qp->tx.wait_first = false;
	switch (hdr->opcode) {
	case IWARP_WRITE:
		error = iwp_tagged_error(iwp_write_check(qp, hdr));
		break;
	case IWARP_READ_RESP:
		error = iwp_begin_response(qp, hdr);
		break;
	case IWARP_ATOMIC_REQ:
	case IWARP_ATOMIC_RESP:
		error = IWARP_E_OP_OPCODE;
		break;
	default:
		error = iwarp_in_check(&qp->tx.stream, hdr);
		if (!error && iwarp_opcode_receives(hdr->opcode))
			error = iwp_begin_send(qp, hdr);
	}
	return error ?: iwp_early_verdict(qp);
}

/**
 * iwp_scatter() - place payload in the consumer's own scatter/gather list
 * @qp: queue pair
 * @pd: protection domain of the list
 * @sge: elements
 * @num_sge: number of elements
 * @at: offset of the payload in the list
 * @len: number of bytes
 * @copy: source; advanced
 *
 * An error here is not the peer's fault.
 *
 * Return: enum iwp_mem_err; after an error some may have been written.
 */
enum iwp_mem_err iwp_scatter(struct iwp_qp *qp, struct ib_pd *pd,
			     const struct siw_sge *sge, u8 num_sge, u32 at,
			     u32 len, struct iwp_copy *copy)
{
	struct iwp_sgl sgl = {
		.pd = pd,
		.sge = sge,
		.num_sge = num_sge,
		.access = IB_ACCESS_LOCAL_WRITE,
		.allow_no_stag = iwp_qp_kernel(qp),
	};

	return iwp_sgl_walk(&sgl, at, len, iwp_copy_span, copy);
}

/**
 * iwp_place_write() - place payload of an RDMA Write
 * @qp: queue pair
 * @hdr: header of the segment
 * @at: offset in the segment's payload
 * @len: number of bytes
 * @copy: source; advanced
 *
 * Return: enum iwp_mem_err.
 */
enum iwp_mem_err iwp_place_write(struct iwp_qp *qp,
				 const struct iwarp_hdr *hdr, u32 at, u32 len,
				 struct iwp_copy *copy)
{
	return iwp_mem_walk(qp->ibqp.pd, hdr->stag, hdr->to + at, len,
			    IB_ACCESS_REMOTE_WRITE, iwp_copy_span, copy);
}

static enum iwarp_error iwp_place_response(struct iwp_qp *qp, u32 at, u32 len,
					   struct iwp_copy *copy)
{
	struct iwp_send *send = iwp_oldest_read(qp);

	if (!iwp_scatter(qp, qp->ibqp.pd, send->sge, send->num_sge,
			 qp->rx.sink_len - qp->rx.sink.left + at, len, copy))
		return IWARP_OK;
	send->status = SIW_WC_LOC_PROT_ERR;
	return IWARP_E_RDMAP_LOCAL;
}

/**
 * iwp_rx_place_send() - place payload in the receive request
 * @qp: queue pair with a receive request
 * @hdr: header of the segment
 * @src: source
 * @off: offset in @src
 * @len: number of bytes
 * @at: offset in the segment's payload
 *
 * Return: error code or %IWARP_OK.
 */
enum iwarp_error iwp_rx_place_send(struct iwp_qp *qp,
				   const struct iwarp_hdr *hdr,
				   const struct iwarp_source *src, u32 off,
				   u32 len, u32 at)
{
	struct iwp_copy copy = { .src = src, .off = off };
	struct iwp_rx *rx = &qp->rx;

	if (!iwp_scatter(qp, iwp_rq_pd(qp), rx->rqe.sge, rx->rqe.num_sge,
			 hdr->mo + at, len, &copy))
		return IWARP_OK;
	rx->status = SIW_WC_LOC_PROT_ERR;
	return IWARP_E_DDP_LOCAL;
}

static enum iwarp_error iwp_rx_data(struct iwarp_rx *wire,
				    const struct iwarp_source *src, u32 off,
				    u32 len, u32 at)
{
	struct iwp_qp *qp = iwp_rx_qp(wire);
	struct iwp_copy copy = { .src = src, .off = off };
	const struct iwarp_hdr *hdr = &wire->hdr;

	switch (hdr->opcode) {
	case IWARP_WRITE:
		return iwp_tagged_error(iwp_place_write(qp, hdr, at, len,
							&copy));
	case IWARP_READ_RESP:
		return iwp_place_response(qp, at, len, &copy);
	default:
		if (!qp->rx.hold.spilling)
			return iwp_iter_place_send(qp, hdr, src, off, len, at);
		iwarp_spill_write(&qp->rx.hold.spill, src, off, len, at);
		return IWARP_OK;
	}
}

/**
 * iwp_rx_complete() - complete the receive request that is being filled
 * @qp: queue pair with a receive request
 * @opcode: of the message that filled it
 * @status: completion status
 * @bytes: number of bytes received
 * @flags: SIW_WQE_REM_INVAL or IWP_CQE_IMM
 * @value: the STag, or the immediate data
 */
void iwp_rx_complete(struct iwp_qp *qp, u8 opcode, enum siw_wc_status status,
		     u32 bytes, u8 flags, u64 value)
{
	struct iwp_rx *rx = &qp->rx;
	struct iwp_completion done = {
		.id = rx->rqe.id,
		.opcode = flags & IWP_CQE_IMM ? IWP_OP_RECEIVE_IMM :
						SIW_OP_RECEIVE,
		.status = status,
		.bytes = bytes,
		.flags = flags,
		.solicited = iwarp_opcode_solicited(opcode),
	};

	if (flags & IWP_CQE_IMM)
		done.imm = cpu_to_be32(value);
	else
		done.stag = value;
	rx->has_rqe = false;
	rx->received++;
	rx->iter.accepted = false;
	rx->iter.over = !!rx->iter.to;
	iwp_rq_complete(qp, &done);
}

/**
 * iwp_rx_end_send() - a segment was placed in the receive request
 * @qp: queue pair with a receive request
 * @hdr: header of the segment
 *
 * Return: error code or %IWARP_OK.
 */
enum iwarp_error iwp_rx_end_send(struct iwp_qp *qp,
				 const struct iwarp_hdr *hdr)
{
	u8 flags = 0;

	if (!hdr->last)
		return IWARP_OK;
	if (iwarp_opcode_invalidates(hdr->opcode)) {
		if (iwp_mem_invalidate(qp->ibqp.pd, hdr->stag, true)) {
			qp->rx.status = SIW_WC_REM_INV_REQ_ERR;
			return IWARP_E_PROT_INVALIDATE;
		}
		flags = SIW_WQE_REM_INVAL;
	}
	iwp_rx_complete(qp, hdr->opcode, SIW_WC_SUCCESS,
			hdr->mo + hdr->payload_len, flags, hdr->stag);
	return IWARP_OK;
}

/**
 * iwp_rx_immediate() - deliver immediate data
 * @qp: queue pair with a receive request
 * @hdr: header of the segment
 * @written: bytes of the RDMA Write message before it
 * @imm: immediate data
 */
void iwp_rx_immediate(struct iwp_qp *qp, const struct iwarp_hdr *hdr,
		      u32 written, u64 imm)
{
	iwp_rx_complete(qp, hdr->opcode, SIW_WC_SUCCESS, written, IWP_CQE_IMM,
			imm);
}

static void iwp_end_write(struct iwp_rx *rx, const struct iwarp_hdr *hdr)
{
	if (!rx->write_open)
		rx->written = 0;
	rx->written += hdr->payload_len;
	rx->write_open = !hdr->last;
}

/**
 * iwp_rx_expect_response() - set the data sink of the oldest outbound RDMA Read
 * @qp: queue pair; no effect if there is none, or it is set
 *
 * Context: socket lock held.
 */
void iwp_rx_expect_response(struct iwp_qp *qp)
{
	struct iwp_tx *tx = &qp->tx;
	struct iwp_rx *rx = &qp->rx;

	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	if (tx->orq_get == tx->orq_put ||
	    (tx->orq_put - tx->orq_get > 1 && rx->sink.stag))
		return;
	rx->sink_len = iwp_oldest_read(qp)->length;
	rx->sink.stag = iwp_read_stag(tx, tx->orq_get);
	rx->sink.to = 0;
	rx->sink.left = rx->sink_len;
}

static enum iwarp_error iwp_end_response(struct iwp_qp *qp,
					 const struct iwarp_hdr *hdr)
{
	struct iwp_send *send = iwp_oldest_read(qp);
	struct iwp_tx *tx = &qp->tx;

	if (!iwarp_sink_advance(&qp->rx.sink, hdr))
		return IWARP_OK;
	if (send->opcode == SIW_OP_READ_LOCAL_INV &&
	    iwp_mem_invalidate(qp->ibqp.pd, send->sge[0].lkey, false)) {
		send->status = SIW_WC_LOC_PROT_ERR;
		return IWARP_E_RDMAP_LOCAL;
	}
	tx->orq_get++;
	iwarp_ord_put(&tx->stream);
	qp->rx.sink.stag = 0;
	iwp_rx_expect_response(qp);
	send->state = IWP_SEND_DONE;
	tx->reap_pending = true;
	iwp_tx_acked(qp);
	return IWARP_OK;
}

/* Access to the memory is checked when it is read. */
static enum iwarp_error iwp_end_request(struct iwp_qp *qp, const u8 *payload)
{
	struct iwp_tx *tx = &qp->tx;
	struct iwarp_read_req *req;
	enum iwarp_error error;

	error = iwarp_ird_take(&tx->stream);
	if (error)
		return error;
	req = &tx->reads[tx->reads_put & (tx->reads_size - 1)].req;
	error = iwarp_read_req_parse(payload, req);
	if (!error)
		tx->reads_put++;
	return error;
}

static void iwp_end_terminate(struct iwp_qp *qp, const u8 *payload, u32 len)
{
	struct iwarp_terminate term;

	if (iwarp_terminate_parse(payload, len, &term))
		term.error = IWARP_E_OP_OTHER;
	iwp_count(qp->dev, IWP_STAT_RX_TERMINATES, 1);
	qp->rx.peer_error = term.error;
	iwp_qp_abort(qp);
}

static enum iwarp_error iwp_end_receive(struct iwp_qp *qp,
					const struct iwarp_hdr *hdr,
					const u8 *control)
{
	if (qp->rx.hold.spilling)
		iwp_hold_store(qp, hdr);
	else if (iwarp_opcode_immediate(hdr->opcode))
		iwp_rx_immediate(qp, hdr, qp->rx.written,
				 iwarp_immediate_parse(control));
	else
		return iwp_rx_end_send(qp, hdr);
	return IWARP_OK;
}

static enum iwarp_error iwp_rx_end(struct iwarp_rx *wire)
{
	struct iwp_qp *qp = iwp_rx_qp(wire);
	const struct iwarp_hdr *hdr = &wire->hdr;

	iwp_count(qp->dev, IWP_STAT_RX_FPDUS, 1);
	if (qp->design == IWP_DESIGN_HOST)
		iwp_count(qp->dev, IWP_STAT_RX_HOST_BYTES, hdr->payload_len);
	if (!iwarp_opcode_tagged(hdr->opcode))
		iwarp_in_advance(&qp->tx.stream, hdr);
	switch (hdr->opcode) {
	case IWARP_WRITE:
		iwp_end_write(&qp->rx, hdr);
		return IWARP_OK;
	case IWARP_READ_RESP:
		return iwp_end_response(qp, hdr);
	case IWARP_READ_REQ:
		return iwp_end_request(qp, iwarp_rx_control(wire));
	case IWARP_TERMINATE:
		iwp_end_terminate(qp, iwarp_rx_control(wire),
				  hdr->payload_len);
		return IWARP_E_RDMAP_LOCAL;
	default:
		return iwp_end_receive(qp, hdr, iwarp_rx_control(wire));
	}
}

const struct iwarp_rx_ops iwp_rx_ops = {
	.begin = iwp_rx_begin,
	.data = iwp_rx_data,
	.end = iwp_rx_end,
};
