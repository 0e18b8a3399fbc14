// SPDX-License-Identifier: GPL-2.0
/*
 * IPv6 may be a module, and others come to it by a table of functions, until
 * commit 964870b4b901 (Linux 7.1).
 */
#include <linux/module.h>
#include <net/ipv6_stubs.h>

struct dst_entry *probe_route(struct net *net, struct flowi6 *fl6);
struct dst_entry *probe_route(struct net *net, struct flowi6 *fl6)
{
	return ipv6_stub->ipv6_dst_lookup_flow(net, NULL, fl6, NULL);
}
MODULE_LICENSE("GPL");
