/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Urgent data (MSG_OOB).
 */
#ifndef _SDP_OOB_H
#define _SDP_OOB_H

#include <linux/limits.h>
#include <linux/types.h>

struct msghdr;
struct sdp_tx;
struct sdp_stream;

/* Bits of sdp_oob::data; the low byte is the urgent byte itself. */
#define SDP_OOB_VALID	0x0100	/* it is there and unread */
#define SDP_OOB_NOTYET	0x0200	/* it is announced, its position is unknown */
#define SDP_OOB_READ	0x0400	/* it was read with MSG_OOB */

/**
 * struct sdp_oob - urgent data on the receive side
 * @mark: stream position of the urgent byte, unless @data is SDP_OOB_NOTYET
 * @data: 0 when there is none or the reader has passed it
 */
struct sdp_oob {
	u32 mark;
	u16 data;
};

u32 sdp_oob_ahead(const struct sdp_stream *st, u32 pos);
u32 sdp_oob_hole(const struct sdp_stream *st);
u32 sdp_oob_unread(const struct sdp_stream *st);
u32 sdp_oob_inq(const struct sdp_stream *st);
bool sdp_oob_at_mark(const struct sdp_stream *st);
bool sdp_oob_valid(const struct sdp_stream *st);
void sdp_oob_passed(struct sdp_stream *st);
void sdp_oob_announced(struct sdp_stream *st);
void sdp_oob_arrived(struct sdp_stream *st, u8 byte);
int sdp_oob_recv(struct sdp_stream *st, struct msghdr *msg, size_t len, int flags);

u8 sdp_oob_flags(struct sdp_tx *tx, bool urgent);
bool sdp_oob_want_announce(const struct sdp_tx *tx);

#endif /* _SDP_OOB_H */
