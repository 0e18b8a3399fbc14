// SPDX-License-Identifier: GPL-2.0
/* A bare ACK may be given flags of the header. */
#include <linux/module.h>
#include <net/tcp.h>

void probe_ack(struct sock *sk);
void probe_ack(struct sock *sk)
{
	__tcp_send_ack(sk, tcp_sk(sk)->rcv_nxt, 0);
}
MODULE_LICENSE("GPL");
