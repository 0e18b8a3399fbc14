/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_NET_NET_NAMESPACE_H
#define _SDP_COMPAT_NET_NET_NAMESPACE_H

#include_next <net/net_namespace.h>

#ifndef SDP_HAVE_REGISTER_NET_SYSCTL_SZ
/* Older kernels look for an empty entry at the table's end instead. */
static inline struct ctl_table_header *
register_net_sysctl_sz(struct net *net, const char *path,
		       struct ctl_table *table, size_t size)
{
	return register_net_sysctl(net, path, table);
}
#endif

#endif /* _SDP_COMPAT_NET_NET_NAMESPACE_H */
