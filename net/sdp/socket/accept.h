/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Listeners and their children.
 */
#ifndef _SDP_ACCEPT_H
#define _SDP_ACCEPT_H

#include "wire/wire.h"

struct rdma_cm_id;
struct sdp_sock;
struct sock;

int sdp_listen_start(struct sock *sk, int backlog);
void sdp_listen_stop(struct sock *sk);
struct sdp_sock *sdp_accept_child(struct sdp_sock *parent,
				  struct rdma_cm_id *id,
				  enum sdp_reject_reason *why);
bool sdp_accept_is_full(const struct sdp_sock *parent);
void sdp_accept_answered(struct sdp_sock *child);
void sdp_accept_established(struct sdp_sock *child);
void sdp_accept_first_data(struct sdp_sock *child);
void sdp_accept_ready(struct sdp_sock *child);
void sdp_accept_unlink(struct sdp_sock *child);
void sdp_accept_purge(struct sdp_sock *parent);
bool sdp_accept_waiting(const struct sock *sk);
struct sock *sdp_accept_dequeue(struct sock *sk, int flags, int *err);

#endif /* _SDP_ACCEPT_H */
