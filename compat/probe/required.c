// SPDX-License-Identifier: GPL-2.0
/*
 * Nothing of compat/ makes up for what is older: struct vma_iterator, since
 * commit f39af05949a4 (Linux 6.1).
 */
#include <linux/mm_types.h>
#include <linux/module.h>

unsigned long probe_required(const struct vma_iterator *vmi);
unsigned long probe_required(const struct vma_iterator *vmi)
{
	return vmi->mas.index;
}
MODULE_LICENSE("GPL");
