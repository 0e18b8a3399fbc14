/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Loopback addresses, by the RDMA device on the loopback interface.
 */
#ifndef _SDP_LOOPBACK_H
#define _SDP_LOOPBACK_H

#include <linux/types.h>

struct rdma_cm_id;
struct sdp_addr;
struct sdp_conn;
struct sockaddr_storage;

bool sdp_loopback_is_addr(const struct sockaddr_storage *addr);
bool sdp_loopback_is_id(const struct rdma_cm_id *id);
int sdp_loopback_bind(struct rdma_cm_id *id, const struct sockaddr_storage *addr);
int sdp_loopback_find_peer(struct sdp_conn *conn);
int sdp_loopback_bind_for_peer(struct sdp_conn *conn);
void sdp_loopback_reveal(struct rdma_cm_id *id);
void sdp_loopback_disguise(struct rdma_cm_id *id);

#endif /* _SDP_LOOPBACK_H */
