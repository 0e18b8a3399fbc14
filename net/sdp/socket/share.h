/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SO_REUSEPORT: sockets that share an address and a port.
 */
#ifndef _SDP_SHARE_H
#define _SDP_SHARE_H

#include <linux/types.h>

struct sdp_sock;

bool sdp_share_wanted(const struct sdp_sock *ssk);
int sdp_share_bind(struct sdp_sock *ssk, bool dual);
int sdp_share_listen(struct sdp_sock *ssk);
void sdp_share_rollback(struct sdp_sock *ssk);
void sdp_share_leave(struct sdp_sock *ssk);
void sdp_share_check(struct sdp_sock *ssk);
struct sdp_sock *sdp_share_pick(struct sdp_sock *ssk, int netdev);

#endif /* _SDP_SHARE_H */
