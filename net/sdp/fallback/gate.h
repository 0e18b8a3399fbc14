/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs of control groups that judge bind() and connect().
 */
#ifndef _SDP_GATE_H
#define _SDP_GATE_H

#include <linux/socket.h>

struct sdp_addr;
struct sdp_fallback;
struct sock;

int sdp_gate_bind(struct sock *sk, struct sdp_addr *addr, bool v6);
int sdp_gate_connect(struct sdp_fallback *fb);
void sdp_gate_inherit(struct sock *child, const struct sock *parent);

#endif /* _SDP_GATE_H */
