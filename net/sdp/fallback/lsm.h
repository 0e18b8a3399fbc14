/* SPDX-License-Identifier: GPL-2.0 */
/*
 * LSM hooks for bind(), listen() and connect() of a TCP socket.
 */
#ifndef _SDP_LSM_H
#define _SDP_LSM_H

#include <linux/init.h>
#include <linux/types.h>

struct sockaddr_storage;
struct socket;

void sdp_lsm_init_module(void) __init;
bool sdp_lsm_known(void);
int sdp_lsm_bind(struct socket *tcp, struct sockaddr_storage *addr, int len);
int sdp_lsm_connect(struct socket *tcp, struct sockaddr_storage *addr, int len);
int sdp_lsm_listen(struct socket *tcp, int backlog);

#endif /* _SDP_LSM_H */
