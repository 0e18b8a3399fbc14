/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Copies between user space and a locked socket.
 */
#ifndef _SDP_USERCOPY_H
#define _SDP_USERCOPY_H

#include <linux/types.h>

struct iov_iter;
struct sock;

bool sdp_copy_in(void *to, size_t len, struct iov_iter *from);
size_t sdp_copy_out(const void *from, size_t len, struct iov_iter *to);
void sdp_turn_leave(struct sock *sk, unsigned int *turn);
void sdp_turn_enter(struct sock *sk, unsigned int *turn);
int sdp_fault_in(struct sock *sk, const struct iov_iter *iter, size_t len,
		 unsigned int *turn);
int sdp_turn_wait(struct sock *sk, unsigned int *turn);

#endif /* _SDP_USERCOPY_H */
