// SPDX-License-Identifier: GPL-2.0
/* Sysctl tables are registered with their size, since commit 95d4977876d6 (Linux 6.6). */
#include <linux/module.h>
#include <net/net_namespace.h>

void *probe_register(struct net *net, struct ctl_table *table);
void *probe_register(struct net *net, struct ctl_table *table)
{
	return register_net_sysctl_sz(net, "net/probe", table, 1);
}
MODULE_LICENSE("GPL");
