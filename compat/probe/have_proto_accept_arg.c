// SPDX-License-Identifier: GPL-2.0
/*
 * proto_ops.accept() takes its arguments in one structure, since
 * commit 92ef0fd55ac8 (Linux 6.10).
 */
#include <linux/module.h>
#include <linux/net.h>
#include <net/sock.h>

static int probe_accept(struct socket *sock, struct socket *newsock,
			struct proto_accept_arg *arg)
{
	return arg->flags;
}

const struct proto_ops probe_ops = { .accept = probe_accept };
MODULE_LICENSE("GPL");
