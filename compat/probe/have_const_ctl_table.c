// SPDX-License-Identifier: GPL-2.0
/*
 * Handlers of sysctls must not change the table, since commit 78eb4ea25cd5 (Linux 6.11).
 */
#include <linux/module.h>
#include <linux/sysctl.h>

static int probe_handler(const struct ctl_table *table, int write, void *buf,
			 size_t *len, loff_t *pos)
{
	return 0;
}

proc_handler *probe = probe_handler;
MODULE_LICENSE("GPL");
