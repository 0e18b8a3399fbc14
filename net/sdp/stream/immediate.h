/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Data messages whose header travels as immediate data.
 */
#ifndef _SDP_IMMEDIATE_H
#define _SDP_IMMEDIATE_H

#include <linux/types.h>

struct ib_rdma_wr;
struct sdp_msg;
struct sdp_rx_buf;

bool sdp_immediate_written(const struct sdp_stream *st);
void sdp_immediate_choose(struct sdp_stream *st);
bool sdp_immediate_saves(const struct sdp_stream *st, const struct sdp_msg *msg);
void sdp_immediate_build(struct sdp_stream *st, const struct sdp_msg *msg,
			 struct sdp_payload *payload, struct ib_rdma_wr *wr);
int sdp_immediate_parse(struct sdp_stream *st, struct sdp_rx_buf *buf,
			struct sdp_msg *msg);

#endif /* _SDP_IMMEDIATE_H */
