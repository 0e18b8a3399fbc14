// SPDX-License-Identifier: GPL-2.0
/* Modules may clear a range of pages of one mapping, by a function without details. */
#include <linux/mm.h>
#include <linux/module.h>

void probe_zap(struct vm_area_struct *vma);
void probe_zap(struct vm_area_struct *vma)
{
	zap_vma_range(vma, vma->vm_start, PAGE_SIZE);
}
MODULE_LICENSE("GPL");
