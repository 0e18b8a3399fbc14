// SPDX-License-Identifier: GPL-2.0
/* Linux 6.1 has it, and most of what compat/ does not make up for is as old: user_backed_iter(). */
#include <linux/module.h>
#include <linux/uio.h>

bool probe_required(const struct iov_iter *iter);
bool probe_required(const struct iov_iter *iter)
{
	return user_backed_iter(iter);
}
MODULE_LICENSE("GPL");
