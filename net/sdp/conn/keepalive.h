/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether the peer is still there.
 */
#ifndef _SDP_KEEPALIVE_H
#define _SDP_KEEPALIVE_H

#include <linux/types.h>

struct sdp_conn;
struct sock;

void sdp_alive_start(struct sdp_conn *conn);
void sdp_alive_keep(struct sdp_conn *conn);
void sdp_alive_options_changed(struct sdp_conn *conn);
void sdp_alive_begin_user_timeout(struct sdp_conn *conn);
void sdp_alive_set_keepalive(struct sock *sk, int on);

/* Handlers of deadlines. */
void sdp_alive_persist(struct sdp_conn *conn);
void sdp_alive_user_timeout(struct sdp_conn *conn);
void sdp_alive_keepalive(struct sdp_conn *conn);
void sdp_alive_greet(struct sdp_conn *conn);

#endif /* _SDP_KEEPALIVE_H */
