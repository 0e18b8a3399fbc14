/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The second door: AF_INET and AF_INET6 with IPPROTO_SDP.
 */
#ifndef _SDP_INET_H
#define _SDP_INET_H

#include <linux/init.h>

/* af_sdp.c */
extern const struct proto_ops sdp_proto_ops;

int __init sdp_inet_init_module(void);
void sdp_inet_exit_module(void);

#endif /* _SDP_INET_H */
