/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A socket's own address and port, as the connection manager keeps them.
 */
#ifndef _SDP_BIND_H
#define _SDP_BIND_H

#include <linux/types.h>

struct sdp_addr;
struct sdp_conn;

int sdp_bind_check_scope(const struct sdp_conn *conn,
			 const struct sdp_addr *addr);
int sdp_cm_bind(struct sdp_conn *conn, bool dual);
bool sdp_bind_is_shared(const struct sdp_conn *conn);
int sdp_bind_split(struct sdp_conn *conn);
void sdp_bind_join(struct sdp_conn *conn);
void sdp_bind_end_other(struct sdp_conn *conn);
int sdp_bind_for_peer(struct sdp_conn *conn);
int sdp_bind_claim(struct sdp_conn *conn);

#endif /* _SDP_BIND_H */
