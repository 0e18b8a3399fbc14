/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A socket's own address and port, as the connection manager keeps them.
 */
#ifndef _SDP_BIND_H
#define _SDP_BIND_H

#include <linux/types.h>

struct net;
struct sdp_addr;
struct sdp_conn;
struct sockaddr_storage;
struct socket;

void sdp_bind_source(struct net *net, int oif, const struct sdp_addr *peer,
		     struct sdp_addr *local);
int sdp_cm_bind(struct sdp_conn *conn, bool dual);
bool sdp_bind_is_shared(const struct sdp_conn *conn);
int sdp_bind_split(struct sdp_conn *conn);
void sdp_bind_join(struct sdp_conn *conn);
void sdp_bind_end_other(struct sdp_conn *conn);
int sdp_bind_for_peer(struct sdp_conn *conn);
int sdp_port_bind_tcp(struct socket *tcp, struct sockaddr_storage *addr);
int sdp_bind_claim(struct sdp_conn *conn);
int sdp_listen_begin(struct sdp_conn *conn);

#endif /* _SDP_BIND_H */
