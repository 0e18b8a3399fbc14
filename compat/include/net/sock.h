/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_NET_SOCK_H
#define _SDP_COMPAT_NET_SOCK_H

#include_next <net/sock.h>

/* Older kernels take the end of the object, newer ones want to be told. */
#if defined(SDP_HAVE_IPV6_PINFO_OFFSET) && IS_ENABLED(CONFIG_IPV6)
#define PROTO_IPV6_PINFO_OFFSET(type, member)	\
	.ipv6_pinfo_offset = offsetof(type, member),
#else
#define PROTO_IPV6_PINFO_OFFSET(...)
#endif

/* Older kernels give that of the inode, while there is one. */
#ifndef SDP_HAVE_SK_UID
#define sk_uid(sk)	sock_i_uid(sk)
#endif

#endif /* _SDP_COMPAT_NET_SOCK_H */
