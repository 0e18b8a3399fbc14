/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A port for a socket to which any will do.
 */
#ifndef _SDP_PORT_H
#define _SDP_PORT_H

#include <linux/socket.h>

struct rdma_cm_id;
struct sdp_conn;
struct socket;

int sdp_port_bind_tcp(struct socket *tcp, struct sockaddr_storage *addr);
int sdp_port_bind_any(struct sdp_conn *conn, struct rdma_cm_id *id,
		      const struct sockaddr_storage *addr);

#endif /* _SDP_PORT_H */
