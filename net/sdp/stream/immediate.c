// SPDX-License-Identifier: GPL-2.0
/*
 * Data messages whose header travels as immediate data.
 *
 * Applications like to write whole pages, and so many packets' worth of payload.  A
 * header before it takes a packet more, which costs a packet's time at both ends: a
 * quarter of the time of 4 KiB with Soft-RoCE.  Immediate data has room for what the
 * header of a Data message says, and all packets have room for that.
 *
 * The receiver has posted room for a header and room for payload, and does not
 * know what comes.  So the last bytes of the payload are sent first, where a
 * header would be, and put in their place afterwards.
 */
#include "stream.h"

/**
 * sdp_immediate_written() - whether writes into a ring have immediate data
 * @st: connection
 *
 * Else a message behind each says what it has done.
 */
bool sdp_immediate_written(const struct sdp_stream *st)
{
	return st->link->dev->immediate == SDP_FEAT_IMMEDIATE ||
	       st->features & SDP_FEAT_IW_IMMEDIATE;
}

/**
 * sdp_immediate_choose() - the features of both ends are known
 * @st: stream of a socket; its connection's path is known
 */
void sdp_immediate_choose(struct sdp_stream *st)
{
	const struct sa_path_rec *path = st->link->id->route.path_rec;

	st->tx.packet = 0;
	if (st->features & SDP_FEAT_IMMEDIATE && path && !sdp_link_is_local(st->link))
		st->tx.packet = max(ib_mtu_enum_to_int(path->mtu), 0);
}

/**
 * sdp_immediate_saves() - whether a message needs a packet less without a header
 * @st: stream of a locked socket
 * @msg: message
 *
 * Then it has enough payload to fill the header's place, too.
 */
bool sdp_immediate_saves(const struct sdp_stream *st, const struct sdp_msg *msg)
{
	u32 packet = st->tx.packet;

	sdp_owned(st->sk);
	return packet && msg->payload_len && msg->bsdh.mid == SDP_MID_DATA &&
	       ((msg->payload_len - 1) & (packet - 1)) + SDP_BSDH_LEN >= packet;
}

/**
 * sdp_immediate_build() - the request that sends such a message
 * @st: stream of a locked socket
 * @msg: message for which sdp_immediate_saves()
 * @payload: where its payload is, NULL = in the send ring
 * @wr: request, whose list takes as many elements as a message and its header need
 */
void sdp_immediate_build(struct sdp_stream *st, const struct sdp_msg *msg,
			 struct sdp_payload *payload, struct ib_rdma_wr *wr)
{
	u32 rest = msg->payload_len - SDP_BSDH_LEN;
	struct ib_sge *sge = wr->wr.sg_list;
	int n;

	sdp_owned(st->sk);
	wr->wr.opcode = IB_WR_SEND_WITH_IMM;
	wr->wr.ex.imm_data = cpu_to_be32(sdp_imm_encode(&msg->bsdh));
	n = sdp_tx_gather(st, payload, rest, SDP_BSDH_LEN, sge, false);
	n += sdp_tx_gather(st, payload, 0, rest, sge + n, false);
	wr->wr.num_sge = n;
}

/**
 * sdp_immediate_parse() - a message has come with immediate data
 * @st: stream of a locked socket (by its owner or in softirq)
 * @buf: where it is, not the device's any more
 * @msg: result, a Data message whose payload is where any other's would be
 *
 * Return: 0; -EPROTO if it was not agreed on or has no room for a header's
 * length of payload.
 */
int sdp_immediate_parse(struct sdp_stream *st, struct sdp_rx_buf *buf,
			struct sdp_msg *msg)
{
	const struct sdp_credit *credit = &st->credit;
	u32 len = buf->byte_len;

	sdp_owned(st->sk);
	if (!(st->features & SDP_FEAT_IMMEDIATE) || !buf->page ||
	    len < SDP_BSDH_LEN || len > buf->size)
		return -EPROTO;
	memcpy(page_address(buf->page) + len - SDP_BSDH_LEN, buf->bsdh,
	       SDP_BSDH_LEN);
	sdp_imm_parse(buf->imm, len, credit->rx_mseq, credit->tx_acked, msg);
	return 0;
}
