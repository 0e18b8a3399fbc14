// SPDX-License-Identifier: GPL-2.0
/* nsproxy::count is a refcount_t, since commit 2ddd3cac1fa9 (Linux 6.6). */
#include <linux/module.h>
#include <linux/nsproxy.h>

unsigned int probe_users(const struct nsproxy *nsproxy);

unsigned int probe_users(const struct nsproxy *nsproxy)
{
	return refcount_read(&nsproxy->count);
}
MODULE_LICENSE("GPL");
