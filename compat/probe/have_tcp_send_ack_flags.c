// SPDX-License-Identifier: GPL-2.0
/* A bare ACK may be given flags of the header, since commit 9866884ce8ef (Linux 6.15). */
#include <linux/module.h>
#include <net/tcp.h>

void probe_ack(struct sock *sk);
void probe_ack(struct sock *sk)
{
	__tcp_send_ack(sk, tcp_sk(sk)->rcv_nxt, 0);
}
MODULE_LICENSE("GPL");
