// SPDX-License-Identifier: GPL-2.0
/* A socket's owner is read without a lock, since commit e84a4927a404 (Linux 6.17). */
#include <linux/module.h>
#include <net/sock.h>

kuid_t probe_uid(const struct sock *sk);
kuid_t probe_uid(const struct sock *sk)
{
	return sk_uid(sk);
}
MODULE_LICENSE("GPL");
