// SPDX-License-Identifier: GPL-2.0
/*
 * TCP takes pages in a call of their own, and not with MSG_SPLICE_PAGES, until
 * commit dc97391e6610 (Linux 6.5).
 */
#include <linux/module.h>
#include <net/tcp.h>

int probe_send(struct sock *sk, struct page *page);
int probe_send(struct sock *sk, struct page *page)
{
	return tcp_sendpage_locked(sk, page, 0, 1, MSG_DONTWAIT);
}
MODULE_LICENSE("GPL");
