/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The connection manager's side: addresses, routes, Hello and HelloAck.
 */
#ifndef _SDP_CM_H
#define _SDP_CM_H

#include <linux/types.h>

struct rdma_cm_event;
struct rdma_cm_id;
struct sdp_conn;
struct work_struct;

int sdp_cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *event);
int sdp_cm_connect(struct sdp_conn *conn);
void sdp_cm_hello(struct work_struct *work);
void sdp_cm_queue_hello(struct sdp_conn *conn);
void sdp_cm_check_answered(struct sdp_conn *conn);
void sdp_cm_heard(struct sdp_conn *conn);
void sdp_cm_may_wait(void);
void sdp_cm_destroy_id(struct rdma_cm_id *id);

#endif /* _SDP_CM_H */
