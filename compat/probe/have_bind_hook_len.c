// SPDX-License-Identifier: GPL-2.0
/*
 * Programs of control groups are told the length of an address, since
 * commit fefba7d1ae19 (Linux 6.7).
 */
#include <linux/bpf-cgroup.h>
#include <linux/module.h>
#include <net/inet_common.h>
#include <net/sock.h>

int probe(struct sock *sk, struct sockaddr *addr, int *len, u32 *flags);
int probe(struct sock *sk, struct sockaddr *addr, int *len, u32 *flags)
{
	return BPF_CGROUP_RUN_PROG_INET_BIND_LOCK(sk, addr, len,
						  CGROUP_INET4_BIND, flags);
}

MODULE_LICENSE("GPL");
