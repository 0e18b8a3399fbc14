// SPDX-License-Identifier: GPL-2.0
/* Linux 6.1 has it, and nothing of compat/ makes up for what is older: struct vma_iterator. */
#include <linux/mm_types.h>
#include <linux/module.h>

unsigned long probe_required(const struct vma_iterator *vmi);
unsigned long probe_required(const struct vma_iterator *vmi)
{
	return vmi->mas.index;
}
MODULE_LICENSE("GPL");
