/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connections both of whose ends are in this kernel.
 */
#ifndef _SDP_PAIR_H
#define _SDP_PAIR_H

#include <linux/types.h>

struct ib_send_wr;
struct msghdr;
struct sdp_hello;
struct sdp_hello_ack;
struct sdp_pair;
struct sdp_stream;

/* pair.c */
bool sdp_pair_offer(struct sdp_stream *st);
u64 sdp_pair_token(const struct sdp_stream *st);
bool sdp_pair_claim(struct sdp_stream *st, const struct sdp_hello *hello);
bool sdp_pair_confirm(struct sdp_stream *st, const struct sdp_hello_ack *ack);
void sdp_pair_leave(struct sdp_stream *st);

/* local.c */
bool sdp_local_submit(struct sdp_stream *st, const struct ib_send_wr *wr);
bool sdp_local_at_once(struct sdp_stream *st, struct msghdr *msg, size_t len);
u32 sdp_local_write(struct sdp_stream *st, struct msghdr *msg);
bool sdp_local_want_room(struct sdp_stream *st, struct msghdr *msg);

#endif /* _SDP_PAIR_H */
