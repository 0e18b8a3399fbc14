// SPDX-License-Identifier: GPL-2.0
/*
 * msg_zerocopy_realloc() is told whether the memory is a device's, since
 * commit bd61848900bf (Linux 6.16).
 */
#include <linux/module.h>
#include <linux/skbuff.h>

struct ubuf_info *probe_zerocopy(struct sock *sk);
struct ubuf_info *probe_zerocopy(struct sock *sk)
{
	return msg_zerocopy_realloc(sk, 1, NULL, false);
}
MODULE_LICENSE("GPL");
