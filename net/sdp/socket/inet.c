// SPDX-License-Identifier: GPL-2.0
/*
 * The second door: sockets of AF_INET and AF_INET6 with protocol IPPROTO_SDP.
 * Applications that cannot name another family reach the same sockets through it.
 */
#include <linux/build_bug.h>
#include <linux/in.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/sdp.h>
#include <net/inet_common.h>
#include <net/ipv6.h>
#include <net/protocol.h>

#include "inet.h"
#include "socket.h"

static struct inet_protosw sdp_inet_protosw = {
	.type = SOCK_STREAM,
	.protocol = IPPROTO_SDP,
	.prot = &sdp_prot,
	.ops = &sdp_proto_ops,
};

#if IS_ENABLED(CONFIG_IPV6)
static struct inet_protosw sdp_inet6_protosw = {
	.type = SOCK_STREAM,
	.protocol = IPPROTO_SDP,
	.prot = &sdp_prot,
	.ops = &sdp_proto_ops,
};

static int __init sdp_inet6_register(void)
{
	return inet6_register_protosw(&sdp_inet6_protosw);
}

static void sdp_inet6_unregister(void)
{
	inet6_unregister_protosw(&sdp_inet6_protosw);
}
#else
static int __init sdp_inet6_register(void)
{
	return 0;
}

static void sdp_inet6_unregister(void)
{
}
#endif

/**
 * sdp_inet_init_module() - open the door
 *
 * Return: 0 or a negative errno.
 */
int __init sdp_inet_init_module(void)
{
	int err;

	err = sdp_inet6_register();
	if (!err)
		inet_register_protosw(&sdp_inet_protosw);
	return err;
}

/**
 * sdp_inet_exit_module() - close it; returns when no call is in it any more
 */
void sdp_inet_exit_module(void)
{
	sdp_inet6_unregister();
	inet_unregister_protosw(&sdp_inet_protosw);
}

/* The aliases below need digits. */
static_assert(IPPROTO_SDP == 259);

MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_INET, 259 /* IPPROTO_SDP */,
			       1 /* SOCK_STREAM */);
#if IS_ENABLED(CONFIG_IPV6)
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_INET6, 259 /* IPPROTO_SDP */,
			       1 /* SOCK_STREAM */);
#endif
