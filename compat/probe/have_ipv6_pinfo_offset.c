// SPDX-License-Identifier: GPL-2.0
/*
 * A protocol says where its sockets have their struct ipv6_pinfo, since
 * commit f5f80e32de12 (Linux 6.6).
 */
#include <linux/module.h>
#include <net/sock.h>

const struct proto probe_prot = { .ipv6_pinfo_offset = 8 };
MODULE_LICENSE("GPL");
