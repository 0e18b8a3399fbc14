/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_NET_IPV6_H
#define _SDP_COMPAT_NET_IPV6_H

#include_next <net/ipv6.h>

/* Where IPv6 may be a module, it is not called by name: it need not be there. */
#ifdef SDP_HAVE_IPV6_STUB
#include <net/ipv6_stubs.h>

#define ip6_dst_lookup_flow(net, sk, fl6, final_dst)	\
	ipv6_stub->ipv6_dst_lookup_flow(net, sk, fl6, final_dst)
#endif

#endif /* _SDP_COMPAT_NET_IPV6_H */
