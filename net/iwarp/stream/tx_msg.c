// SPDX-License-Identifier: GPL-2.0
/* Messages: choice of the next one, and completion of those that were sent. */
#include "internal.h"

static void iwp_msg_control(struct iwp_tx *tx, enum iwarp_opcode opcode,
			    enum iwarp_qn qn, u32 len)
{
	tx->msg.source = IWP_MSG_CONTROL;
	tx->msg.opcode = opcode;
	tx->msg.stag = 0;
	tx->msg.msn = iwarp_out_msn(&tx->stream, qn);
	tx->msg.len = len;
	tx->msg.at = 0;
}

/* RFC 6581, section 9: some peers reject STag 0. */
static void iwp_msg_rtr(struct iwp_tx *tx)
{
	tx->msg = (struct iwp_msg) {
		.source = IWP_MSG_CONTROL,
		.opcode = IWARP_WRITE,
		.stag = 1,
	};
	tx->send_rtr = false;
}

static void iwp_msg_response(struct iwp_tx *tx)
{
	struct iwarp_read_req *req;

	req = &tx->reads[tx->reads_get & (tx->reads_size - 1)].req;
	tx->msg = (struct iwp_msg) {
		.source = IWP_MSG_READ,
		.opcode = IWARP_READ_RESP,
		.stag = req->sink_stag,
		.to = req->sink_to,
		.len = req->len,
	};
}

static u8 iwp_send_opcode(const struct iwp_send *send)
{
	bool solicited = send->flags & SIW_WQE_SOLICITED;

	switch (send->opcode) {
	case SIW_OP_SEND:
		return solicited ? IWARP_SEND_SE : IWARP_SEND;
	case SIW_OP_SEND_REMOTE_INV:
		return solicited ? IWARP_SEND_SE_INV : IWARP_SEND_INV;
	default:
		return IWARP_WRITE;
	}
}

static void iwp_msg_data(struct iwp_tx *tx, struct iwp_send *send)
{
	struct iwp_msg *msg = &tx->msg;

	msg->source = IWP_MSG_SEND;
	msg->opcode = iwp_send_opcode(send);
	msg->stag = msg->opcode == IWARP_SEND || msg->opcode == IWARP_SEND_SE ?
			    0 : send->rkey;
	msg->to = send->raddr;
	msg->len = send->length;
	msg->at = 0;
	msg->send = send;
	if (!iwarp_opcode_tagged(msg->opcode))
		msg->msn = iwarp_out_msn(&tx->stream, IWARP_QN_SEND);
}

/* The data sink may be a scatter/gather list, so its STag is an index. */
static u32 iwp_sink_stag(u32 index)
{
	return index << 8 | 1;
}

static enum iwp_mem_err iwp_read_check(struct iwp_qp *qp,
				       const struct iwp_send *send)
{
	struct iwp_sgl sgl = {
		.pd = qp->ibqp.pd,
		.sge = send->sge,
		.num_sge = send->num_sge,
		.access = IB_ACCESS_LOCAL_WRITE,
		.allow_no_stag = iwp_qp_kernel(qp),
	};

	return iwp_sgl_check(&sgl, send->length);
}

static void iwp_msg_read(struct iwp_tx *tx, struct iwp_send *send, u32 index)
{
	struct iwarp_read_req req = {
		.sink_stag = iwp_sink_stag(index),
		.len = send->length,
		.src_stag = send->rkey,
		.src_to = send->raddr,
	};

	iwp_msg_control(tx, IWARP_READ_REQ, IWARP_QN_READ, IWARP_READ_REQ_LEN);
	iwarp_read_req_encode(&req, tx->msg.control);
	tx->msg.send = send;
	tx->orq[tx->orq_put++ & (tx->orq_size - 1)] = index;
	iwp_rx_expect_response(container_of(tx, struct iwp_qp, tx));
}

/**
 * iwp_tx_send_failed() - a send request failed locally
 * @qp: queue pair
 * @send: request; all after it are flushed
 * @status: completion status
 *
 * Context: socket lock held.
 */
void iwp_tx_send_failed(struct iwp_qp *qp, struct iwp_send *send,
			enum siw_wc_status status)
{
	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	send->status = status;
	send->state = IWP_SEND_DONE;
	iwp_tx_terminate(qp, IWARP_E_RDMAP_LOCAL, NULL, 0);
}

/**
 * iwp_send_exec_local() - execute a request that does not involve the peer
 * @qp: queue pair
 * @send: request for which iwp_send_is_local() is true
 *
 * Return: enum iwp_mem_err.
 */
enum iwp_mem_err iwp_send_exec_local(struct iwp_qp *qp, const struct iwp_send *send)
{
	if (send->opcode == SIW_OP_REG_MR)
		return iwp_mem_register(qp->ibqp.pd, send->mr, send->rkey,
					send->access);
	return iwp_mem_invalidate(qp->ibqp.pd, send->rkey, false);
}

/* Returns whether the next request may start. */
static bool iwp_send_complete_local(struct iwp_qp *qp, struct iwp_send *send)
{
	qp->sq.next++;
	send->end = 0;
	if (iwp_send_exec_local(qp, send)) {
		iwp_tx_send_failed(qp, send, SIW_WC_LOC_PROT_ERR);
		return false;
	}
	send->state = IWP_SEND_DONE;
	qp->tx.reap_pending = true;
	return true;
}

static void iwp_send_read(struct iwp_qp *qp, struct iwp_send *send)
{
	struct iwp_tx *tx = &qp->tx;
	u32 index = qp->sq.next;

	if (!tx->stream.ord.max || iwp_read_check(qp, send)) {
		qp->sq.next++;
		iwp_tx_send_failed(qp, send, tx->stream.ord.max ?
				   SIW_WC_LOC_PROT_ERR : SIW_WC_LOC_QP_OP_ERR);
		return;
	}
	if (!iwarp_ord_take(&tx->stream))
		return;
	qp->sq.next++;
	send->state = IWP_SEND_ACTIVE;
	iwp_msg_read(tx, send, index);
}

static void iwp_send_begin(struct iwp_qp *qp, struct iwp_send *send)
{
	if (iwp_send_reads(send)) {
		iwp_send_read(qp, send);
		return;
	}
	qp->sq.next++;
	if (send->status) {
		iwp_tx_send_failed(qp, send, send->status);
		return;
	}
	send->state = IWP_SEND_ACTIVE;
	iwp_msg_data(&qp->tx, send);
}

static bool iwp_send_fenced(const struct iwp_qp *qp,
			    const struct iwp_send *send)
{
	return send->flags & SIW_WQE_READ_FENCE && qp->tx.stream.ord.used;
}

static void iwp_tx_next_send(struct iwp_qp *qp)
{
	struct iwp_send *send;

	while ((send = iwp_sq_next(qp)) && !iwp_send_fenced(qp, send)) {
		if (!iwp_send_is_local(send)) {
			iwp_send_begin(qp, send);
			return;
		}
		if (!iwp_send_complete_local(qp, send))
			return;
	}
}

/**
 * iwp_tx_next_msg() - choose the message that is sent next
 * @qp: queue pair that sends none; tx.msg.source stays IWP_MSG_NONE if there is none, or none
 *	may be sent now
 *
 * Context: socket lock held.
 */
void iwp_tx_next_msg(struct iwp_qp *qp)
{
	struct iwp_tx *tx = &qp->tx;

	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	if (tx->send_rtr) {
		iwp_msg_rtr(tx);
		return;
	}
	if (tx->wait_first)
		return;
	if (tx->reads_get != tx->reads_put)
		iwp_msg_response(tx);
	else
		iwp_tx_next_send(qp);
}

static void iwp_msg_immediate(struct iwp_tx *tx)
{
	struct iwp_send *send = tx->msg.send;

	iwp_msg_control(tx, send->flags & SIW_WQE_SOLICITED ?
			IWARP_IMMEDIATE_SE : IWARP_IMMEDIATE, IWARP_QN_SEND,
			IWARP_IMMEDIATE_LEN);
	iwarp_immediate_encode(be32_to_cpu(send->imm), tx->msg.control);
}

/* An RDMA Read is complete when its response has arrived. */
static void iwp_send_sent(struct iwp_tx *tx, struct iwp_send *send)
{
	send->end = tx->pos;
	if (!iwp_send_reads(send))
		send->state = IWP_SEND_DONE;
}

/**
 * iwp_tx_msg_sent() - the last segment of the message was built
 * @qp: queue pair
 *
 * Context: socket lock held.
 */
void iwp_tx_msg_sent(struct iwp_qp *qp)
{
	struct iwp_tx *tx = &qp->tx;
	struct iwp_msg *msg = &tx->msg;

	lockdep_assert(lockdep_sock_is_held(qp->tx.sk));
	if (msg->source == IWP_MSG_READ) {
		tx->reads_get++;
		iwarp_ird_put(&tx->stream);
	} else if (msg->send && msg->opcode == IWARP_WRITE &&
		   msg->send->opcode == IWP_OP_WRITE_WITH_IMM) {
		iwp_msg_immediate(tx);
		return;
	} else if (msg->send) {
		iwp_send_sent(tx, msg->send);
	}
	memset(msg, 0, offsetof(struct iwp_msg, control));
}
