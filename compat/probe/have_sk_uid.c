// SPDX-License-Identifier: GPL-2.0
/* A socket's owner is read without a lock. */
#include <linux/module.h>
#include <net/sock.h>

kuid_t probe_uid(const struct sock *sk);
kuid_t probe_uid(const struct sock *sk)
{
	return sk_uid(sk);
}
MODULE_LICENSE("GPL");
