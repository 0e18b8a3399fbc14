/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The passive side of connection set-up.
 */
#ifndef _SDP_REQUEST_H
#define _SDP_REQUEST_H

struct rdma_cm_event;
struct rdma_cm_id;
struct sdp_conn;

int sdp_request_event(struct sdp_conn *conn, struct rdma_cm_id *id,
		      const struct rdma_cm_event *event);
int sdp_request_answer(struct sdp_conn *child, struct rdma_cm_id *id);
void sdp_request_check_greeting(struct sdp_conn *conn);

#endif /* _SDP_REQUEST_H */
