// SPDX-License-Identifier: GPL-2.0
/*
 * Debian lets modules clear a range of pages of one mapping, by a function without
 * details, since commit 0326440c3545 (Linux 7.1).
 */
#include <linux/mm.h>
#include <linux/module.h>

void probe_zap(struct vm_area_struct *vma);
void probe_zap(struct vm_area_struct *vma)
{
	zap_vma_range(vma, vma->vm_start, PAGE_SIZE);
}
MODULE_LICENSE("GPL");
