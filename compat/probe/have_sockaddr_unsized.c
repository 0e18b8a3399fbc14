// SPDX-License-Identifier: GPL-2.0
/*
 * proto_ops.bind() and connect() take struct sockaddr_unsized, since
 * commit 0e50474fa514 (Linux 6.19).
 */
#include <linux/module.h>
#include <linux/net.h>
#include <linux/socket.h>

static int probe_bind(struct socket *sock, struct sockaddr_unsized *addr,
		      int len)
{
	return len;
}

const struct proto_ops probe_ops = { .bind = probe_bind };
MODULE_LICENSE("GPL");
