/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_LINUX_NET_H
#define _SDP_COMPAT_LINUX_NET_H

#include_next <linux/net.h>

#ifdef SDP_HAVE_PROTO_ACCEPT_ARG
#define DEFINE_PROTO_OPS_ACCEPT(name)	struct name##_is_direct
#define PROTO_OPS_ACCEPT(name)	name
#else
struct proto_accept_arg {
	int flags;
	int err;
	int is_empty;
	bool kern;
};

/* Older kernels pass the members one by one: an adapter collects them. */
#define DEFINE_PROTO_OPS_ACCEPT(name)					\
static int name##_unpacked(struct socket *sock, struct socket *newsock,	\
			   int flags, bool kern)			\
{									\
	struct proto_accept_arg arg = { .flags = flags, .kern = kern };	\
									\
	return name(sock, newsock, &arg);				\
}

#define PROTO_OPS_ACCEPT(name)	name##_unpacked
#endif

/* A flag that older kernels do not look at: they keep SOL_SOCKET to themselves. */
#ifndef SOCK_CUSTOM_SOCKOPT
#define SOCK_CUSTOM_SOCKOPT	31
#endif

#endif /* _SDP_COMPAT_LINUX_NET_H */
